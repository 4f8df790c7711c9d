"""The operator asks for something by mail, and confirms it by the code that is mailed to their own address."""

import pytest

from pbm.actions import cleanup
from pbm.mail.incoming import is_known

from helpers.database import stored
from helpers.mail import mail_of, outcome_of

OPERATOR = "operator@home.example"


@pytest.fixture
def operated(league):
    """A server whose operator has an address, with an open tournament of four players."""
    league.club.server = league.club.server._replace(operator=OPERATOR)
    league.open(names=league.signed_up(4))
    league.club.send_all()
    return league


def write(operated, subject, body="", to="pbm@pbm.example", sender=OPERATOR, **fields):
    """A mail from the operator, or from somebody who says so. Returns the outcome, and what is mailed then."""
    club = operated.club
    club.send_all()
    fields.setdefault("message_id", f"<{club.random_bytes(12).hex()}@home.example>")
    outcome = outcome_of(club.server, mail_of(sender, subject, body, to, **fields), sender, [to])
    return outcome, club.mails()


def ask(operated, line):
    """Ask for something. Returns the address to which the code was mailed, for the answer."""
    _, [mail] = write(operated, line)
    assert mail.address == OPERATOR
    assert mail.subject == f"pbm: {line}"
    assert " ".join(mail.text.split()).startswith(
        f"Somebody has asked this play-by-mail server from your address: {line} Nothing is done yet."
    )
    return mail.reply_to


def state(operated):
    return operated.club.store.tournaments.get("symple", "s").state


# Asking and confirming


def test_a_tournament_is_directed_when_the_code_comes_back_and_the_operator_reads_what_happened(operated):
    address = ask(operated, "tournament symple s start")
    assert state(operated) == "open"
    outcome, mails = write(operated, "Re: pbm", "yes\n\n> quoted", address)
    assert (outcome.word, outcome.reason) == ("operator", "")
    assert state(operated) == "running"
    to_operator = [mail for mail in mails if mail.address == OPERATOR]
    assert [mail.subject for mail in to_operator] == ["Symple tournament s: start"]
    assert {mail.address for mail in mails} == {OPERATOR, *(f"player0{n}@players.example" for n in range(1, 5))}


def test_a_line_of_the_text_counts_where_the_subject_asks_for_nothing(operated):
    _, [mail] = write(operated, "Hello", "tournament symple s start\n\n-- \nOperator")
    assert mail.subject == "pbm: tournament symple s start"


@pytest.mark.parametrize("text", ["Status quo, I think.", "tournament next week?", "status"])
def test_a_command_of_a_player_is_carried_out_whatever_its_comment_begins_with(operated, text):
    club = operated.club
    club.say(f"signup op swordfish {OPERATOR}")
    club.say("symple challenge -size=5 op player01")
    outcome, _ = write(operated, "symple move 101 op swordfish a1", text)
    assert (outcome.word, outcome.shown_word) == ("command", "done")
    assert club.store.boards.get("symple", "101").moves == 1


def test_status_answers_counts_and_no_names_of_users(operated):
    address = ask(operated, "status")
    _, [mail] = write(operated, "Re: pbm: status", "Yes.", address)
    assert mail.address == OPERATOR
    assert "Users:" in mail.text
    assert "4\n" in mail.text.partition("Users:")[2]
    assert "player0" not in mail.text


def test_the_answer_may_come_from_another_address_of_the_operator_and_is_never_answered_there(operated):
    address = ask(operated, "status")
    _, [mail] = write(operated, "Re: pbm: status", "yes", address, sender="operator@work.example")
    assert mail.address == OPERATOR


# The code


def test_a_code_counts_once(operated):
    address = ask(operated, "tournament symple s withdraw player01")
    write(operated, "Re:", "yes", address)
    assert not is_known(operated.club.server, address)
    outcome, mails = write(operated, "Re:", "yes", address)
    assert (outcome.word, mails) == ("unknown", [])


def test_a_code_counts_for_an_hour_and_then_says_so(operated):
    address = ask(operated, "tournament symple s start")
    operated.club.wait(minutes=61)
    outcome, [mail] = write(operated, "Re:", "yes", address)
    assert outcome.reason == "this code was mailed more than an hour ago. Please ask once more."
    assert mail.address == OPERATOR
    assert state(operated) == "open"


def test_a_code_counts_for_what_it_was_asked_for_whatever_the_answer_says(operated):
    address = ask(operated, "tournament symple s status")
    outcome, _ = write(operated, "tournament symple s cancel", "tournament symple s cancel", address)
    assert outcome.reason == "the first line of the answer has to be `yes`."
    write(operated, "tournament symple s cancel", "yes", address)
    assert state(operated) == "open"


def test_the_clean_up_forgets_what_was_asked_for_more_than_a_day_ago(operated):
    address = ask(operated, "status")
    for hours, is_left in ((23, True), (2, False)):
        operated.club.wait(hours=hours)
        cleanup.clean_up(operated.session)
        assert is_known(operated.club.server, address) == is_left


def test_another_code_is_no_address_of_ours(operated):
    address = ask(operated, "status")
    last = address.partition("@")[0][-1]
    forged = address.replace(f"{last}@", f"{'1' if last == '0' else '0'}@")
    assert is_known(operated.club.server, address)
    assert not is_known(operated.club.server, forged)
    [code] = [row["code"] for row in stored(operated.club.store, "requests")]
    assert code not in address  # only its hash is stored


def test_an_answer_that_does_not_say_yes_does_nothing_and_the_code_still_counts(operated):
    address = ask(operated, "tournament symple s start")
    _, [mail] = write(operated, "Re:", "What is that?", address)
    assert "the first line of the answer has to be `yes`" in mail.text
    assert mail.reply_to == address
    assert state(operated) == "open"
    write(operated, "Re:", "yes", address)
    assert state(operated) == "running"


# Strangers and programs


def test_a_forged_from_only_has_a_code_mailed_to_the_operator(operated):
    outcome, [mail] = write(operated, "tournament symple s cancel", sender=f"Operator <{OPERATOR.upper()}>")
    assert (outcome.word, mail.address) == ("operator", OPERATOR)
    assert state(operated) == "open"


def test_mails_with_codes_are_limited_in_a_day(operated):
    for _ in range(10):
        assert len(write(operated, "status")[1]) == 1
    outcome, mails = write(operated, "status")
    assert mails == []
    assert outcome.reason == "10 mails about requests were sent today already"
    operated.club.wait(hours=24)
    assert len(write(operated, "status")[1]) == 1


def test_somebody_else_who_asks_is_answered_as_for_any_line_that_is_no_command(operated):
    outcome, _ = write(operated, "tournament symple s start", sender="mallory@elsewhere.example")
    assert outcome.word == "command"
    assert stored(operated.club.store, "requests") == []


def test_where_the_operator_has_no_address_nobody_can_ask(operated):
    operated.club.server = operated.club.server._replace(operator=None)
    assert write(operated, "status")[0].word == "command"


@pytest.mark.parametrize(
    "fields", [{"Auto-Submitted": "auto-replied"}, {"X-Autoreply": "yes"}, {"Precedence": "bulk"}], ids=repr
)
def test_automatic_mail_neither_asks_nor_confirms_and_is_not_answered(operated, fields):
    outcome, mails = write(operated, "status", **fields)
    assert (outcome.word, mails) == ("automatic", [])
    address = ask(operated, "tournament symple s start")
    outcome, mails = write(operated, "Re:", "yes", address, **fields)
    assert (outcome.word, mails) == ("automatic", [])
    assert state(operated) == "open"


def test_a_mail_that_comes_twice_asks_once(operated):
    write(operated, "status", message_id="<1@home.example>")
    assert write(operated, "status", message_id="<1@home.example>")[0].word == "repeated"
    assert len(stored(operated.club.store, "requests")) == 1


# What cannot be done


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("status now", "`status` stands alone."),
        ("tournament", "`tournament` is written `tournament GAME POOL DIRECTION`"),
        ("tournament chess s start", "There is no game 'chess'"),
        ("tournament symple t start", "There is no pool 't' of Symple."),
        ("tournament symple s begin", "There is no direction 'begin'"),
        ("tournament symple s add nobody", "nobody"),
        (f"tournament symple s add {'x' * 300}", "x" * 40),
    ],
)
def test_what_cannot_be_done_is_refused_at_once_without_a_code(operated, line, why):
    _, [mail] = write(operated, line)
    assert mail.address == OPERATOR
    assert mail.text.startswith("Nothing was done: ")
    assert why in mail.text.replace("\n", " ")
    assert mail.reply_to is None
    assert stored(operated.club.store, "requests") == []


def test_what_cannot_be_done_any_more_is_refused_when_it_is_confirmed(operated):
    address = ask(operated, "tournament symple s start")
    operated.do("cancel")
    outcome, [mail] = write(operated, "Re:", "yes", address)
    assert mail.text.startswith("Nothing was done: ")
    assert outcome.reason
    assert stored(operated.club.store, "requests") == []
