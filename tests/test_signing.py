"""Mails are signed by DKIM when they leave; a key that cannot be used lets them wait, and says so."""

import json
import sys

import pytest

from pbm.mail.sending import flush
from pbm.mail.signing import Signer, zone_line
from pbm.mail.transports import Signed, Smtp
from pbm.service.health import word_for_fault

from helpers.club import PASSWORDS
from helpers.keys import new_key, write_key
from helpers.mail import ADDRESS
from helpers.relays import Relay, left, running
from helpers.zones import answering_for, record_sets, text_records

dkim = pytest.importorskip("dkim", reason="dkimpy, of the extra dkim, is not installed")
DOMAIN = ADDRESS.rpartition("@")[2]


@pytest.fixture(scope="module")
def made():
    return new_key()


@pytest.fixture
def key(made, tmp_path):
    """The file of a key."""
    return write_key(made, tmp_path / "dkim.key")


def line(key):
    """The line of the zone with that key."""
    signer = Signer(key, DOMAIN, "pbm")
    return zone_line(signer.record_name, "TXT", signer.record())


def sent(club, relay, key):
    """Send what is due to the relay, signed. Returns how many mails were sent, and how many were not."""
    return flush(club.server, Signed(Smtp("smtp", "127.0.0.1", relay.port), Signer(key, DOMAIN, "pbm")))[:2]


def are_signed(key, *messages):
    """Whether each message has a signature that is right by the zone."""
    with answering_for(line(key)) as port:
        return [dkim.verify(message, dnsfunc=text_records(port)) for message in messages]


# Signatures


def test_a_mail_arrives_with_a_signature_that_the_zone_confirms(waiting, key):
    with running(Relay()) as relay:
        assert sent(waiting, relay, key) == (4, 0)
    messages = [mail.original_content for mail in relay.mails]
    assert are_signed(key, *messages) == [True] * 4
    assert messages[0].startswith(b"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=pbm.example;")


def test_pictures_and_letters_outside_ascii_are_signed_as_they_go(board, key):
    board.say(f"message alice {PASSWORDS['alice']} bob", comment="Gr\u00fc\u00dfe")
    with running(Relay()) as relay:
        sent(board, relay, key)
    messages = [mail.original_content for mail in relay.mails]
    whole = b"".join(messages)
    assert b"image/png" in whole
    assert b"Gr=C3=BC=C3=9Fe" in whole
    assert all(are_signed(key, *messages))


def test_a_mail_that_is_tried_again_is_signed_again(waiting, key):
    with running(Relay(DATA="451 4.3.0 later")) as relay:
        assert sent(waiting, relay, key) == (0, 4)
        relay.replies.clear()
        waiting.pass_time(minutes=5)
        assert sent(waiting, relay, key) == (4, 0)
    assert are_signed(key, *[mail.original_content for mail in relay.mails]) == [True] * 8


CHANGES = {
    "another subject": (b"Subject: Help", b"Subject: Money"),
    "another text": (b"\r\n\r\n", b"\r\n\r\nSend money.\r\n"),
    "a second From": (b"From: ", b"From: evil@elsewhere.example\r\nFrom: "),
    "an address for answers": (b"Subject: ", b"Reply-To: evil@elsewhere.example\r\nSubject: "),
    "a button": (b"Subject: ", b"List-Unsubscribe: <https://elsewhere.example>\r\nSubject: "),
}


def test_nobody_on_the_way_can_change_what_a_signature_covers(waiting, key):
    with running(Relay()) as relay:
        sent(waiting, relay, key)
    message = relay.mails[0].original_content
    changed = [message.replace(old, new, 1) for old, new in CHANGES.values()]
    assert message not in changed
    assert are_signed(key, message, *changed) == [True, *[False] * len(CHANGES)]


# A key that cannot be used


def expose(key):
    key.chmod(0o644)


def cut_off(key):
    key.write_text(key.read_text()[:400])


def lose_a_letter(key):
    key.write_text(key.read_text().replace("\nMI", "\nM", 1))


def remove(key):
    key.unlink()


UNUSABLE = {
    remove: "There is no key",
    expose: "Everybody on this machine can read the key",
    cut_off: "holds no key of RSA",
    lose_a_letter: "holds no key of RSA",
}


@pytest.mark.parametrize("fault", UNUSABLE)
def test_without_a_usable_key_all_mails_wait_unsigned_ones_never_leave_and_nothing_is_lost(waiting, key, fault):
    text = key.read_text()
    fault(key)
    with running(Relay()) as relay:
        assert sent(waiting, relay, key) == (0, 4)
        assert [(name, tries, is_tried_again) for name, tries, is_tried_again, _ in left(waiting)] == [
            *[("alice", 1, True), ("bob", 0, True), ("carol", 0, True), ("dave", 0, True)]
        ]
        assert all(UNUSABLE[fault] in problem for *_, problem in left(waiting))
        waiting.wait(minutes=31)
        assert word_for_fault(waiting.store, waiting.time) == "mail"
        key.write_text(text)
        key.chmod(0o600)
        assert sent(waiting, relay, key) == (4, 0)
    assert are_signed(key, *[mail.original_content for mail in relay.mails]) == [True] * 4


@pytest.mark.parametrize("fault", UNUSABLE)
def test_status_doctor_and_settings_say_what_is_wrong_with_a_key_and_nothing_begins_to_send(shell, key, fault):
    shell.sign_up("alice")
    shell.environment["PBM_DKIM_KEY"] = str(key)
    assert "PBM_DKIM_KEY:" not in shell.run("doctor").stdout
    fault(key)
    said = UNUSABLE[fault]
    needs = json.loads(shell.run("status", "--json").stdout)["needs"]
    assert [said in need for need in needs if need.startswith("No mail goes out: ")] == [True]
    findings = json.loads(shell.run("doctor", "--json").stdout)["findings"]
    assert [said in finding["what"] for finding in findings if finding["where"] == "PBM_DKIM_KEY"] == [True]
    assert said in shell.run("settings").stdout
    assert said in shell.refused("serve", "--listen=127.0.0.1:0")


def test_a_selector_that_can_be_none_is_refused(shell, key):
    shell.sign_up("alice")
    why = shell.refused("outbox", "flush", PBM_DKIM_KEY=str(key), PBM_DKIM_SELECTOR="my key")
    assert why == "PBM_DKIM_SELECTOR is no selector, such as pbm: 'my key'.\n"


def test_without_the_extra_one_sentence_names_it(shell, key, monkeypatch):
    shell.sign_up("alice", "bob", has_mail=True)
    shell.run("symple", "challenge", "alice", "bob")
    shell.environment["PBM_DKIM_KEY"] = str(key)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    assert "pip install '.[dkim]'" in shell.refused("serve", "--listen=127.0.0.1:0")
    monkeypatch.setitem(sys.modules, "dkim", None)
    assert "pip install '.[dkim]'" in shell.run("outbox", "flush").stdout


def test_mails_of_a_shell_are_signed_where_the_settings_name_a_key(shell, key):
    shell.sign_up("alice", "bob", has_mail=True)
    shell.run("symple", "challenge", "alice", "bob")
    with running(Relay()) as relay:
        way = f"smtp://127.0.0.1:{relay.port}"
        shell.done("outbox", "flush", PBM_TRANSPORT=way, PBM_DKIM_KEY=str(key), PBM_DKIM_SELECTOR="pbm")
    assert are_signed(key, relay.mails[0].original_content) == [True]


# pbm mail key


def test_mail_key_makes_a_key_for_its_owner_alone_and_prints_the_line_for_the_zone(shell):
    shown = shell.json("mail", "key")
    path = shell.folder / "dkim.key"
    assert shown["key"] == str(path)
    assert path.stat().st_mode & 0o777 == 0o600
    ((name, _), records) = record_sets(shown["line"]).popitem()
    strings = records[0].strings
    assert str(name) == "pbm._domainkey.pbm.example."
    assert len(strings[0]) == 255
    assert b"".join(strings).decode() == shown["record"]
    assert shown["record"].startswith("v=DKIM1; k=rsa; p=MIIB")


def test_mail_key_keeps_a_key_that_is_there(shell, key):
    before = key.read_text()
    shell.environment["PBM_DKIM_KEY"] = str(key)
    text = shell.done("mail", "key")
    assert text.startswith(f"The key is {key}, as before; --new makes the one that follows it.")
    assert line(key) in text.splitlines()
    assert key.read_text() == before


@pytest.mark.parametrize(
    ("selector", "following"), [("pbm", "pbm2"), ("pbm2", "pbm3"), ("s9.mail", "s9.mail2"), ("2026", "2027")]
)
def test_a_new_key_has_a_selector_of_its_own_and_the_present_one_stays(shell, key, selector, following):
    before = key.read_text()
    shell.environment |= {"PBM_DKIM_KEY": str(key), "PBM_DKIM_SELECTOR": selector}
    new = key.with_name(f"dkim-{following}.key")
    text = shell.done("mail", "key", "--new")
    assert text.startswith(f"The new key is {new}.\n")
    assert f"\n{following}._domainkey.pbm.example. IN TXT " in text
    assert f"\nPBM_DKIM_KEY={new}\nPBM_DKIM_SELECTOR={following}\n" in text
    assert f"Keep {selector}._domainkey.pbm.example in the zone for another week." in text
    assert key.read_text() == before != new.read_text()
    assert new.stat().st_mode & 0o777 == 0o600


def test_no_key_is_made_for_a_selector_that_is_too_long_for_dns(shell, key):
    shell.environment |= {"PBM_DKIM_KEY": str(key), "PBM_DKIM_SELECTOR": "a" * 63}
    assert "is too long; set PBM_DKIM_SELECTOR to a shorter one." in shell.refused("mail", "key", "--new")
    assert [*key.parent.glob("dkim-*")] == []


def test_a_new_key_that_no_setting_names_yet_is_kept(shell, key):
    shell.environment["PBM_DKIM_KEY"] = str(key)
    made, kept = [shell.json("mail", "key", "--new") for _ in range(2)]
    assert (made["made"], kept["made"]) == (True, False)
    assert kept["line"] == made["line"]
    assert shell.done("mail", "key", "--new").startswith(f"The new key is {made['key']}, as before.\n")


def test_mails_signed_by_the_old_and_the_new_key_are_believed_while_the_zone_has_both(shell, key):
    shell.sign_up("alice", "bob", has_mail=True)
    shell.environment["PBM_DKIM_KEY"] = str(key)
    new = shell.json("mail", "key", "--new")
    with running(Relay()) as relay:
        shell.environment["PBM_TRANSPORT"] = f"smtp://127.0.0.1:{relay.port}"
        shell.run("symple", "challenge", "alice", "bob")
        shell.done("outbox", "flush")
        shell.environment |= {"PBM_DKIM_KEY": new["key"], "PBM_DKIM_SELECTOR": "pbm2"}
        shell.run("symple", "challenge", "bob", "alice")
        shell.done("outbox", "flush")
    messages = [mail.original_content for mail in relay.mails]
    assert [b"s=pbm;" in message for message in messages] == [True, True, False, False]
    with answering_for(f"{line(key)}\n{new['line']}") as port:
        assert all(dkim.verify(message, dnsfunc=text_records(port)) for message in messages)


def test_mail_key_overwrites_no_file_that_is_no_key(shell, tmp_path):
    path = tmp_path / "notes"
    path.write_text("not a key")
    path.chmod(0o600)
    assert "holds no key of RSA" in shell.refused("mail", "key", PBM_DKIM_KEY=str(path))
    assert path.read_text() == "not a key"


def test_the_second_word_tells_the_operators_mail_key_from_a_players_mail(shell):
    shell.sign_up("carol")
    assert shell.done("mail", "carol", "carol-secret", "text") == "Mails come as text alone.\n"
    assert "zone" in shell.done("mail", "key")
    assert "key" in shell.refused("signup", "key", "key-secret")
