"""What a stranger can make the server do, and what he cannot: limits, pages, and no waiting for his passwords."""

import sqlite3
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

import pytest

from pbm import passwords
from pbm.access import quotas
from pbm.mail.incoming import ReceivedMail, handle_prepared, prepare_mail
from pbm.mail.writing import compose
from pbm.session import Session
from pbm.store import PlayerRow, Store

from helpers.club import Club, pair_up
from helpers.examples import IS_QUICK
from helpers.fixtures import set_up
from helpers.mail import handle, mail_of, numbered_mail
from helpers.patience import PATIENCE

ALICE = "alice@players.example"


def hostile(number: int) -> bytes:
    """One of many mails of all kinds that cause mail, from many addresses of many domains."""
    lines = (
        ("help spiro", ""),
        ("help commands help tutorial symple spiro", ""),
        ("nonsense and more", ""),
        (f"spiro move 101 alice wrong{number} e3:5", ""),
        (f"signup mallory{number} good-secret", ""),
        (f"signup evil{number} good-secret {' '.join(f'v{number}.{at}@third{at}.example' for at in range(5))}", ""),
        ("multiple", "help spiro\n" * 50),
        (f"reset {('alice', 'bob', 'carol', 'nobody')[number % 4]}", ""),
        ("symple games", ""),
        ("spiro show 101", ""),
    )
    senders = (f"victim+{number}@one.example", f"x{number}@domain{number % 97}.example", f"v{number}@two.example")
    return numbered_mail(*lines[number % 10], sender=senders[number % 3])


@set_up
def flooded(pair: Club) -> None:
    """Half of the flood comes from one machine, half through a relay of ours."""
    pair_up(pair)
    for mail in pair.mails():
        pair.store.outbox.drop([mail])
    for number in range(300 if IS_QUICK else 1000):
        handle(pair.server, hostile(number), None, peer="8.8.8.8" if number % 2 else None)


def test_hundreds_of_hostile_mails_cause_few_mails_few_bytes_and_few_questions(flooded):
    mails = flooded.mails()
    assert len(mails) <= 120
    assert sum(len(compose(mail, flooded.server.address)) for mail in mails) <= 1_000_000
    assert sum(mail.subject.startswith("confirm-address") for mail in mails) <= 60
    assert sum(mail.subject == "pbm reset" for mail in mails) <= 9


@pytest.mark.long
def test_a_flood_keeps_no_user_waiting_and_a_newcomer_for_an_hour(flooded):
    before = len(flooded.mails())
    handle(flooded.server, numbered_mail("spiro show 101"), None)
    assert flooded.mails()[before].address == ALICE
    handle(flooded.server, numbered_mail("spiro move 101 bob bob-secret resign", sender="bob@elsewhere.example"), None)
    assert len(flooded.mails()) > before + 1
    newcomer = numbered_mail("signup newcomer good-secret", sender="newcomer@far.example")
    handle(flooded.server, newcomer, None)
    assert not flooded.store.users.is_taken("newcomer")
    flooded.pass_time(hours=1)
    handle(flooded.server, numbered_mail("signup newcomer good-secret", "again", "newcomer@far.example"), None)
    assert flooded.store.users.is_taken("newcomer")


def test_a_tag_makes_no_other_address(pair):
    for number in range(110):
        handle(pair.server, numbered_mail("list", sender=f"victim+{number}@v.example"), None)
        pair.pass_time(minutes=5)
    assert sum("victim" in str(mail.address) for mail in pair.mails()) == 100
    for number in range(3):
        handle(pair.server, numbered_mail(f"signup vic{number} good-secret", sender=f"vic+{number}@v.example"), None)
    assert sum(mail.subject.startswith("confirm-address") for mail in pair.mails()) == 1


def test_a_confirmed_address_gets_500_answers_a_day_and_as_many_to_what_its_user_signs(pair):
    alice, before = "alice@players.example", len(pair.mails())
    for kind in "answer", "signed answer":
        pair.store.trust.use(kind, alice, "2026-11-20", 499)
    for line in "help", "spiro showas alice alice-secret 101":
        for number, answers in enumerate([1, 0]):
            raw = mail_of(alice, line, message_id=f"<{line.replace(' ', '-')}-{number}@players.example>")
            handle(pair.server, raw, alice)
            assert (line, len(pair.mails()) - before) == (line, answers)
            before = len(pair.mails())


def test_a_domain_and_a_machine_have_limits_of_their_own(pair):
    for number in range(240):
        handle(pair.server, numbered_mail("list", sender=f"x{number}@big.example"), None)
        pair.pass_time(minutes=2)
    assert sum("big.example" in str(mail.address) for mail in pair.mails()) == 200
    pair.pass_time(days=1)
    for number in range(40):
        handle(
            pair.server,
            numbered_mail("list", sender=f"y{number}@d{number}.example"),
            None,
            peer=f"2a00:1:2:3::{number:x}",
        )
    assert sum(str(mail.address).startswith("y") for mail in pair.mails()) == 30


def test_multiple_by_mail_is_for_confirmed_addresses_and_an_answer_to_a_stranger_has_at_most_20_kb(pair, monkeypatch):
    handle(pair.server, numbered_mail("multiple", "list\nhelp\n", "x@far.example"), None)
    assert "`multiple` by mail is for users" in pair.mails()[-1].text
    handle(pair.server, numbered_mail("multiple", "list\nsignup dave dave-secret\n"), None)
    assert "> list" in pair.mails()[-1].text
    assert "needs a mail of its own" in pair.mails()[-1].text
    assert not pair.store.users.is_taken("dave")
    monkeypatch.setattr("pbm.language.help._text", lambda *_: "A line of this help.\n" * 5000)
    handle(pair.server, numbered_mail("help", sender="x@far.example"), None)
    raw = compose(pair.mails()[-1], pair.server.address)
    assert 15_000 < len(raw) <= 20_000
    assert b"has at most 20 kB" in raw
    handle(pair.server, numbered_mail("help"), None)
    assert len(pair.mails()[-1].text) > 100_000


@pytest.mark.parametrize("body", [f"{'你好世界' * 70}\n" * 60, "😀" * 20_000, f"{'größer als öde ' * 5}\n" * 400])
def test_an_answer_that_quotes_letters_outside_ascii_to_a_stranger_has_at_most_20_kb(pair, body):
    sender = f"{'a' * 60}@{'.'.join(['b' * 60] * 3)}.example"
    handle(pair.server, mail_of(sender, "spiro move 101 alice secret-1", body, message_id=f"<{'m' * 230}@x>"), None)
    mail = pair.mails()[-1]
    assert len(compose(mail, pair.server.address)) <= 20_000
    assert "has at most 20 kB" in mail.text


class Counting:
    """Counts what argon2 hashes, and waits while that is done for as long as it is told to."""

    def __init__(self) -> None:
        self.hasher = passwords.HASHER
        self.hashed = 0
        self.begun, self.goes_on = Event(), Event()
        self.goes_on.set()

    def __getattr__(self, name: str) -> Any:
        if name in {"hash", "verify"}:
            self.hashed += name == "hash"
            self.begun.set()
            assert self.goes_on.wait(PATIENCE)
        return getattr(self.hasher, name)


@pytest.fixture
def counting(pair: Club, monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting()
    monkeypatch.setattr(passwords, "HASHER", counting)
    pair.server = pair.server._replace(passwords=passwords.Passwords())
    return counting


def test_a_sign_up_that_is_one_too_many_is_refused_before_its_password_is_hashed(pair, counting):
    for number in range(15):
        sender = f"s{number}@d{number}.example"
        handle(pair.server, numbered_mail(f"signup new{number} good-secret", sender=sender), None, peer="8.8.8.8")
    assert counting.hashed == 10 == quotas.most("sign-up", "peer")


@pytest.mark.parametrize("what", [
    "text", "joining", "shown", "digest", "analysis", "reset",
    "answer", "bytes of answers", "error", "challenge", "asked", "confirmation", "postmaster", "answer to a stranger",
])  # fmt: skip
def test_no_quota_is_used_up_without_a_name_of_whose_it_is(club, what):
    with club.store.writing(), pytest.raises(ValueError, match="none is named"):
        Session(club.server).take(what)


def test_what_a_machine_may_cause_does_not_limit_one_of_ours(club):
    with club.store.writing():
        assert all(Session(club.server, peer=None).take("guest") for _ in range(6))
        assert not all(Session(club.server, peer="8.8.8.8").take("guest") for _ in range(6))


@pytest.mark.parametrize("line", [
    "spiro move 101 alice alice-secret e3:5", "spiro showas alice alice-secret 101", "multiple",
    "change password alice alice-secret better-secret", "signup dave dave-secret dave@players.example",
])  # fmt: skip
@pytest.mark.parametrize("by_mail", [True, False])
def test_others_write_while_a_password_is_checked(pair, counting, line, by_mail):
    body = "spiro move 101 alice alice-secret e3:5"

    def give() -> None:
        if by_mail:
            handle(pair.server, numbered_mail(line, body), None)
        elif line != "multiple":
            pair.say(line)
        else:
            counting.begun.set()
            counting.goes_on.wait(PATIENCE)

    counting.goes_on.clear()
    giving = Thread(target=give)
    giving.start()
    assert counting.begun.wait(PATIENCE)
    with sqlite3.connect(pair.store.path, timeout=0) as other:
        other.execute("UPDATE users SET hears_broadcasts = 1 WHERE userid = 'carol'")
    other.close()
    counting.goes_on.set()
    giving.join()


def test_wrong_passwords_that_come_together_are_all_counted(pair):
    raws = [numbered_mail(f"spiro showas alice wrong-secret{n} 101") for n in range(8)]
    for prepared in [prepare_mail(pair.server, ReceivedMail(raw, None)) for raw in raws]:
        handle_prepared(pair.server, prepared)
    assert "Too many wrong passwords" in pair.mails()[-1].text


def many_boards(pair: Club, how_many: int) -> None:
    with pair.store.writing():
        pair.store.db.executemany(
            "INSERT INTO boards (game, board, options, first_player, second_player, secret, started, moves, turn)"
            " VALUES ('symple', ?, '', 'alice', 'bob', x'00', '2026-11-19T00:00:00.000000+00:00', 1, 'alice')",
            ([str(101 + number)] for number in range(how_many)),
        )


@pytest.mark.parametrize("line", ["symple games", "symple games alice", "list symple", "symple games next alice"])
def test_a_list_by_mail_is_pages_of_200_lines_each_of_which_names_the_next(pair, line):
    many_boards(pair, 450)
    found, sizes = [], []
    while line and len(sizes) < 9:
        handle(pair.server, numbered_mail(line), None)
        text = pair.mails()[-1].text
        rows = [part.split()[0] for part in text.splitlines() if " alice bob " in part]
        found += rows
        sizes.append(len(rows))
        line = text.splitlines()[-1] if "the next one:" in text else ""
    assert sizes == [200, 200, 50]
    assert found == [str(101 + number) for number in range(450)]


@pytest.mark.parametrize("command", ["history", "standings"])
def test_lists_of_what_is_over_are_not_cut_either(shell, command):
    day = datetime(2026, 11, 2, tzinfo=UTC)
    with Store(shell.folder / "pbm.db") as store, store.writing():
        for number in range(2500):
            store.users.add(f"u{number:04}", "", day)
            store.players.save("symple", PlayerRow(f"u{number:04}", rating=1600, won=1, rated=day))
        store.db.execute(
            "INSERT INTO boards "
            "(game, board, options, first_player, second_player, secret, started, moves, ended, winner)"
            " SELECT 'symple', CAST(substr(userid, 2) AS INTEGER) + 101, '', userid, 'u0000', x'', ?1, 2, ?1, userid"
            " FROM users WHERE userid > 'u0000'",
            [day.isoformat(timespec="microseconds")],
        )
    done = shell.process("symple", command)
    assert (done.returncode, done.stderr) == (0, "")
    assert {f"u{number:04}" for number in range(1, 2500)} <= {*done.stdout.split()}


def test_a_page_that_is_not_there_is_refused(pair):
    assert "no page 2" in pair.why_refused("symple standings 2")
    assert "no page 3" in pair.why_refused("spiro games alice 3")
