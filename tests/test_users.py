"""Signing up, addresses, passwords."""

import re
from types import SimpleNamespace

import pytest
from argon2.exceptions import VerificationError

from pbm import letters
from pbm.language.commands import root
from pbm.passwords import Passwords
from pbm.refusals import Refused
from pbm.store.boards import BoardFilter
from pbm.texts import CONTROLS

from helpers.club import begin_symple
from helpers.grammar import commands_of
from helpers.mail import ADDRESS, handle, mail_of

STRANGER = "dave@players.example"


def code(mail):
    return re.search("confirm-address ([0-9a-f]{32})", mail.text)[1]


def test_by_mail_nothing_goes_to_the_address_before_it_is_answered_but_a_welcome_and_one_thing_to_do(club):
    assert club.say("signup dave dave-secret", "read this, victim", sender=STRANGER) == []
    [mail] = club.mails()
    assert mail.thread is None  # the Message-ID of the sender is his own text, too
    welcome, about, to_do, otherwise, command = mail.text.rstrip("\n").split("\n\n")
    assert welcome == "Welcome, dave!"
    assert " ".join(about.split()).startswith("This is a play-by-mail server for board games: Papagra, Spiro, ")
    assert to_do.startswith("There is one thing to do now: answer this mail as it is")
    assert otherwise.startswith("If it was not you")
    assert command == f"confirm-address {code(mail)}"


def test_the_question_is_all_even_if_the_address_was_written_in_another_case(club):
    assert club.say(f"signup dave dave-secret {STRANGER.upper()}", sender=STRANGER) == []
    assert len(club.mails()) == 1


def test_a_user_who_changes_his_address_is_not_welcomed_again(club):
    club.signed_up("alice")
    club.say("change address alice alice-secret new@players.example", sender="alice@players.example")
    [question] = [mail for mail in club.mails() if mail.address == "new@players.example"]
    assert question.text.startswith("Somebody gave this address for the user alice of this play-by-mail server.")


@pytest.mark.parametrize(
    ("subject", "body", "fields", "is_confirmed"),
    [
        ("Re: ", "", {}, True),
        ("AW: ", "Yes, that is me.", {}, True),
        ("Re: ", "Sorry for the delay, I was on vacation.", {}, True),
        ("Antwort: ", "I had been out of the office\nfor a week.\n\nHere I am.", {"X-Autoreply": "no"}, True),
        ("Re: ", "I reacted to your message too late.", {}, True),
        ("Re: ", "I was asked to answer. I am on vacation until Monday.", {}, False),
        ("Re: ", "Your request has been received.", {"X-Precedence": "bulk"}, False),
        ("Read: ", "Your message was read.", {}, False),
        *(
            (f"{prefix}: ", "", {}, True)
            for prefix in ("R", "I", "BLS", "Vá", "ΑΠ", "Отв", "תשובה", "رد", "返信", "İLT")
        ),
        ("Re: ", "", {"Auto-Submitted": "auto-replied"}, False),
        ("Re: ", "I am out of the office until Monday.", {}, False),
        ("Re: ", "Hello,\n\nI am away until Monday, 3 May.", {"X-Vacation": "yes"}, False),
        ("Re: ", "Ich bin zurzeit nicht im Büro.", {"X-Auto-Response-Suppress": "All"}, False),
        ("[Auto-Reply] Re: ", "Thank you for your mail.", {}, False),
    ],
)
def test_a_program_that_answers_while_somebody_is_away_confirms_nothing(club, subject, body, fields, is_confirmed):
    club.say("signup dave dave-secret", sender=STRANGER)
    raw = mail_of(STRANGER, f"{subject}{club.mails()[0].subject}", body, **fields)
    assert handle(club.server, raw, STRANGER, [ADDRESS]) == ("command" if is_confirmed else "automatic")
    assert bool(club.store.users.addresses("dave")[0].confirmed) == is_confirmed
    assert len(club.mails()) == 1 + is_confirmed  # a program gets no answer


def test_a_code_is_good_once_and_a_wrong_one_never(club):
    club.say("signup dave dave-secret", sender=STRANGER)
    answer = f"confirm-address {code(club.mails()[0])}"
    club.say(answer, sender=STRANGER)
    assert f"{STRANGER} is confirmed: mails for dave go there from now on." in club.mails()[-1].text
    for text in (answer, "confirm-address 0", "confirm-address"):
        assert club.why_refused(text, sender=STRANGER)


def test_who_signs_up_with_another_address_hears_of_it_at_his_own(club):
    club.say("signup dave dave-secret elsewhere@players.example", sender=STRANGER)
    assert [mail.address for mail in club.mails()] == ["elsewhere@players.example", STRANGER]


ADDRESSES = [
    "nobody", "a@", "@b", "a b@c", "a@b,c@d", "<a@b>", "a@b\x00", "../x@y", 'a"b@c', "pbm@pbm.example", "ü@x", "a@b.",
    "a@b..c", "a@-b", "a\x01@b",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_address_that_cannot_be_one_is_refused(club, address):
    assert "cannot be a player's mail address" in club.why_refused(f"signup alice alice-secret {address}")
    assert club.store.users.password_of("alice") is None


def test_passwords_are_stored_as_argon2_hashes_of_the_strength_that_owasp_asks_for(club, real_hashes):
    club.signed_up("alice")
    assert club.store.users.password_of("alice").startswith("$argon2id$v=19$m=7168,t=5,p=1$")


@pytest.mark.parametrize(("passes", "kilobytes"), [(1, 1024), (2, 19 * 1024)])
def test_a_hash_with_other_parameters_is_good_and_renewed_when_the_password_is_given(
    club, real_hashes, passes, kilobytes
):
    from argon2 import PasswordHasher

    club.signed_up("alice")
    other = PasswordHasher(time_cost=passes, memory_cost=kilobytes, parallelism=1)
    club.store.users.change("alice", password=other.hash("alice-secret"))
    club.say("change address alice alice-secret a@players.example")
    assert "m=7168,t=5" in club.store.users.password_of("alice")


def test_a_change_by_mail_is_told_once_to_each_address(club):
    club.say("signup alice alice-secret a@players.example b@players.example")
    club.say("change address alice alice-secret b@players.example c@players.example", sender="A@players.example")
    assert sorted(mail.address for mail in club.mails()) == [f"{name}@players.example" for name in "abc"]


def test_a_user_with_several_addresses_gets_each_mail_at_all_of_them(club):
    club.say("signup alice alice-secret a@players.example b@players.example")
    club.signed_up("bob")
    club.say("spiro challenge alice bob")
    assert [mail.address for mail in club.mails("alice")] == ["a@players.example", "b@players.example"]


def test_hashes_that_were_prepared_in_vain_are_forgotten(monkeypatch):
    hashed = []
    monkeypatch.setattr("pbm.passwords.REMEMBERED", 2)
    hasher = SimpleNamespace(hash=lambda password: hashed.append(password) or "hash")
    monkeypatch.setattr("pbm.passwords.HASHER", hasher)
    passwords = Passwords()
    for password in ("one", "two", "three"):
        passwords.prepare(password)
    for password in ("three", "one"):
        passwords.hash(password)
    assert hashed == ["one", "two", "three", "one"]


def test_a_userid_that_there_is_not_takes_as_long_as_a_wrong_password(monkeypatch):
    class Hasher:
        hashed = verified = 0

        def hash(self, _):
            Hasher.hashed += 1

        def verify(self, *_):
            Hasher.verified += 1
            raise VerificationError

    monkeypatch.setattr("pbm.passwords.HASHER", Hasher())
    assert not Passwords().is_right(None, "secret")
    assert not Passwords().is_right("$argon2id$", "secret")
    assert (Hasher.hashed, Hasher.verified) == (1, 1)


def test_nothing_but_names_and_games_is_kept_of_a_user_who_has_signed_off(club):
    def tables_with_alice():
        with_users = "SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) t WHERE t.name = 'userid'"
        found = club.store.health.column(f"{with_users} AND m.type = 'table'")
        return {one for one in found if club.store.health.value(f"SELECT 1 FROM {one} WHERE userid = 'alice'")}

    club.signed_up("alice", "bob")
    for _ in range(2):
        club.say("symple challenge -size=5 alice bob")
    for words in "101 alice alice-secret c3", "102 alice alice-secret c3", "102 bob bob-secret a1":
        club.say(f"symple move {words}")
    club.say("symple resign 102 alice alice-secret")
    club.pass_time(days=6)
    for line in (
        "symple note 101 ME",
        "symple nag 101 ME",
        "symple analyse 102 ME",
        "block ME bob",
        "vacation ME 2026-12-01",
    ):
        club.say(line.replace("ME", "alice alice-secret"), "Watch the corner")
    club.say("signoff alice alice-secret")
    assert tables_with_alice() == {"users", "players", "turns", "results", "events", "outbox"}


def test_a_damaged_board_does_not_keep_a_user_from_signing_off(club, monkeypatch):
    club.signed_up("alice", "bob", "carol")
    for _ in range(2):
        club.say("symple challenge -size=5 alice bob")
        club.say(f"symple move {club.store.boards.names(BoardFilter(['symple']))[-1][1]} alice alice-secret c3")
    club.store.db.execute("UPDATE turns SET text = 'x9' WHERE board = '101'")
    club.say("signoff bob bob-secret")
    assert club.store.users.missing("bob")
    assert club.store.boards.names(BoardFilter(["symple"])) == [("symple", "101")]
    for line in "challenge -size=5 carol alice", "move 103 carol carol-secret c3", "move 103 alice alice-secret a1":
        club.say(f"symple {line}")
    monkeypatch.setattr("games.symple.draw", lambda *_: {}["x"])
    club.say("signoff carol carol-secret")
    assert club.store.users.missing("carol")


# The answer to the mail with a code for a new password


RESET = "Re: pbm reset"


def asked(club):
    """alice, who has asked for a new password; the address at which that mail is answered."""
    club.signed_up("alice", "bob")
    club.say("reset alice", sender="alice@players.example")
    return next(mail for mail in club.mails("alice") if mail.subject == "pbm reset").reply_to


def answered(club, reply_to, body, subject=RESET, sender="alice@players.example", **fields):
    """What becomes of an answer to it, and the mails that this causes."""
    before = len(club.mails())
    raw = mail_of(
        sender, subject, body, reply_to, message_id=f"<{club.random_bytes(8).hex()}@players.example>", **fields
    )
    word = handle(club.server, raw, sender, [reply_to])
    return word, club.mails()[before:]


def is_password(club, password):
    return Passwords().is_right(club.store.users.password_of("alice"), password)


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        (RESET, "Str4nge.word\n"),
        ("AW: pbm reset [EXTERNAL]", "Str4nge.word\n\nOn Fri, 20 Nov 2026, pbm wrote:\n> Somebody asked\n> for it.\n"),
        (
            RESET,
            "\n  Str4nge.word\n\nSomebody asked for a new password of the user alice of this play-by-mail\nserver.",
        ),
        (RESET, "Str4nge.word\n-- \nAlice\n"),
        ("", "Str4nge.word"),
    ],
)
def test_the_mail_with_a_code_can_be_answered_with_the_new_password_alone(club, subject, body):
    word, mails = answered(club, asked(club), body, subject)
    assert (word, is_password(club, "Str4nge.word")) == ("command", True)
    [told] = mails
    assert told.address == "alice@players.example"
    assert told.text.startswith("The password of alice was changed.")


def test_a_command_at_that_address_counts_as_anywhere_else(club):
    reply_to = asked(club)
    code = reply_to.partition("-")[2].partition("@")[0]
    answered(club, reply_to, "", f"reset alice {code} Str4nge.word")
    assert is_password(club, "Str4nge.word")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("My new password is Str4nge.word", "Please answer with the new password alone: one word"),
        ("Str4nge.word\nThank you!", "Please answer with the new password alone: one word"),
        ("Hello,\n\nI am on a boat.", "Please answer with the new password alone: one word"),
        ("", "NEWPASSWORD is missing."),
        ("NEWPASSWORD", "NEWPASSWORD is a placeholder"),
        ("short", "A password is one word of 6 to 256 characters"),
    ],
)
def test_any_other_answer_is_refused_without_a_word_of_it_and_the_code_stays_good(club, body, why):
    reply_to = asked(club)
    _, [told] = answered(club, reply_to, body)
    assert why in " ".join(told.text.split())
    assert (
        not {*body.replace(".", " ").split()} & {"Str4nge", "Hello", "short"} & {*told.text.replace(".", " ").split()}
    )
    assert reply_to.partition("-")[2].partition("@")[0] not in told.text
    assert is_password(club, "alice-secret")
    answered(club, reply_to, "Str4nge.word")
    assert is_password(club, "Str4nge.word")


def test_the_address_is_good_once_for_one_user_and_for_a_day(club):
    reply_to = asked(club)
    answered(club, reply_to, "Str4nge.word")
    word, mails = answered(club, reply_to, "An0ther.word")
    assert (word, mails) == ("unknown", [])
    other = re.sub(r"\+p\d+", "+p2", reply_to)
    assert answered(club, other, "An0ther.word")[0] == "unknown"
    club.say("reset alice", sender="alice@players.example")
    late = next(mail.reply_to for mail in reversed(club.mails("alice")) if mail.subject == "pbm reset")
    club.pass_time(hours=25)
    assert "too old" in answered(club, late, "An0ther.word")[1][0].text
    assert is_password(club, "Str4nge.word")


@pytest.mark.parametrize(
    ("subject", "fields"),
    [
        (RESET, {"Auto-Submitted": "auto-replied"}),
        ("Automatic reply: pbm reset", {}),
        ("Out of office: pbm reset", {}),
    ],
)
def test_no_program_sets_a_password_by_the_first_word_of_its_answer(club, subject, fields):
    assert answered(club, asked(club), "Vacation!", subject, **fields) == ("automatic", [])
    assert is_password(club, "alice-secret")


def test_a_new_password_mails_once(club):
    club.signed_up("alice")
    for line in ("change password alice alice-secret Str4nge.word", f"reset alice {code_for(club)} An0ther.word"):
        before = len(club.mails())
        handle(club.server, mail_of("alice@players.example", line, message_id=f"<{before}@x.example>"), None)
        assert [mail.address for mail in club.mails()[before:]] == ["alice@players.example"]


def test_whoever_sets_a_new_password_from_elsewhere_is_answered_and_the_user_is_told(club):
    club.signed_up("alice")
    line = f"reset alice {code_for(club)} An0ther.word"
    before = len(club.mails())
    handle(club.server, mail_of(STRANGER, line), None)
    assert {mail.address for mail in club.mails()[before:]} == {"alice@players.example", STRANGER}


def code_for(club):
    club.say("reset alice")
    return next(mail for mail in reversed(club.mails("alice")) if mail.subject == "pbm reset").text.split()[-2]


# Characters that command a terminal

GIVEN = {
    "board": "101", "boards": "101", "followed": "101", "userid": "alice", "password": "alice-secret",
    "new_password": "alice-secret9", "pool": "s", "move": "c3", "moves": "c3", "other": "bob", "lines": "if a1 then b2",
}  # fmt: skip
COMMANDS = [*commands_of(root), *commands_of(root.game, "symple ")]


def test_a_word_that_can_be_no_userid_gets_no_code_and_is_not_repeated(club):
    for line in ("reset \x1b[2J", "reset \x1b[2J abc alice-secret9", "reset a", "reset alice@players.example"):
        assert club.why_refused(line).startswith("A userid is 2 to 16 letters, digits, ")


@pytest.mark.parametrize("word", ["\x1b[2J", "-x\x1b", "--name=\x9b2J", "alice\u202e"])
def test_no_answer_to_any_command_has_a_character_that_commands_a_terminal(club, word):
    begin_symple(club)
    for name, command in COMMANDS:
        for way in command.ways:
            words = [GIVEN.get(what, "x1") for what in way]
            lines = [[*words[:at], word, *words[at + 1 :]] for at in range(len(words) + 1)]
            for line in (*lines, [word, *words]):
                try:
                    answer = letters.printed(club.say(f"{name} {' '.join(line)}"))
                except Refused as why:
                    answer = str(why)
                assert not re.search(CONTROLS, answer), (name, line)
