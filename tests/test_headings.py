"""How mails of ours begin, and that an answer is not taken to hold one that its mail program quotes without marks."""

import re
from textwrap import fill
from typing import get_args

import pytest

from pbm.actions import cleanup, endings
from pbm.letters import headings
from pbm.mail import html, quotes
from pbm.mail.illustrations import Illustration
from pbm.mail.unhtml import to_text
from pbm.service import devices
from pbm.session import Session

from helpers.answers import answer, send
from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.mail import ADDRESS, ALICE, message, outcome_of

TYPED = "e5\n\nGood luck, and sorry that you had to wait.\nalice"
CAROL = "carol@players.example"
RULE = "*" * 60


def move(club, name, text, comment=""):
    club.say(f"symple move 101 {name} {PASSWORDS[name]} {text}", comment)


def remove(club):
    session = Session(club.server)
    with club.store.writing():
        board = stored_board(club.store, "symple", "101")
        endings.remove_and_tell(session, board, "was removed by the operator of this server.", "symple games")


def clean_up(club):
    club.say("symple mail bob bob-secret digest")
    move(club, "alice", "e5")
    club.pass_time(days=1)
    cleanup.clean_up(Session(club.server))


def play_and_resign(club):
    for name, text in (("alice", "e5"), ("bob", "a1"), ("alice", "c3")):
        move(club, name, text)
    answer(club, "resign", "bob")


DEEDS = {
    "Summary: ": lambda club: answer(club, "e5\n\nHello"),
    "New: ": lambda club: club.say("symple challenge alice bob"),
    "Notes: ": lambda club: answer(club, "note\nRemember e6."),
    "Submit: ": lambda club: answer(club, "submit e5"),
    "Preview: ": lambda club: answer(club, "preview e5 a1"),
    "History: ": lambda club: answer(club, "history"),
    "Summary: Symple board 101 after 0 of its 1 move,": lambda club: [
        answer(club, "e5"),
        send(club, "symple show 101#0"),
    ],
    "Subscription Summary: ": lambda club: send(club, "symple subscribe 101 carol carol-secret", sender=CAROL),
    "Notification: ": lambda club: [club.say("symple notify carol carol-secret 101 on"), play_and_resign(club)],
    f"{RULE}\nalice writes:": lambda club: answer(club, "chat\nShall we call it a draw?"),
    f"{RULE}\nbob writes:": lambda club: club.say("message bob bob-secret alice", "Another game?"),
    "bob has left Symple board 101": lambda club: answer(club, "resign\n\nNo time, sorry.", "bob"),
    "Symple board 101 was removed by": remove,
    "bob is reminded of Symple": lambda club: [answer(club, "e5"), club.pass_time(days=8), answer(club, "nag")],
    "Digest: 1 mail about Symple boards, ": clean_up,
    "SYMPLE\n\nAim ": lambda club: answer(club, "help"),
    "There is no point q33": lambda club: answer(club, "q33"),
    "Write your move alone on the first": lambda club: answer(club, "I do not know yet, to be honest"),
    "Too many words": lambda club: answer(club, "symple move 101 alice alice-secret e5 a1"),
    "`undo` belongs in the place": lambda club: answer(club, "symple undo 101 alice alice-secret"),
    "It is not your turn": lambda club: answer(club, "e5", "bob"),
    "The userid or the password is wrong": lambda club: send(club, "symple move 101 alice alice-secrot e5"),
    "There is no command": lambda club: send(club, "symple mve 101 alice alice-secret e5"),
    "MOVE[#n] is missing. The command is": lambda club: send(club, "symple move 101 alice alice-secret"),
    "Somebody has asked this play-by-mail server": lambda club: outcome_of(
        club.server._replace(operator=ALICE), message("status"), ALICE
    ),
    "This link makes a browser a device of alice": lambda club: devices.mail_link(club.server, "alice", "https://x.y"),
}
"""Mails by how they begin, and what makes one."""


def digest_with_comment(club):
    club.say("symple mail bob bob-secret digest")
    move(club, "alice", "e5", "Hello")
    club.pass_time(days=1)
    cleanup.clean_up(Session(club.server))
    return club.mails("bob")[-1]


def mail_that_begins(club, beginning):
    club.store.db.execute("DELETE FROM outbox")
    DEEDS[beginning](club)
    return next(mail for mail in club.mails() if mail.text.startswith(beginning))


@pytest.mark.parametrize("beginning", DEEDS)
def test_a_mail_of_ours_that_is_quoted_without_marks_is_no_comment(board, beginning):
    mail = mail_that_begins(board, beginning)
    assert quotes.own(f"{TYPED}\n\n{mail.text}") == TYPED
    assert quotes.own(f"e5\n\n{mail.text}") == "e5"
    broken = "\n".join(fill(line, 64, drop_whitespace=False) for line in mail.text.split("\n"))
    assert quotes.own(f"e5\n\n\n{broken}") == "e5"


@pytest.mark.parametrize("beginning", DEEDS)
def test_nor_is_one_that_is_quoted_as_html(board, beginning):
    page = html.page(mail_that_begins(board, beginning), ADDRESS)
    assert quotes.own(f"{TYPED}\n\n{to_text(page)}") == TYPED


def test_nor_are_a_picture_and_the_links_below_it(board, monkeypatch):
    monkeypatch.setattr(Illustration, "width", 300)
    mail = mail_that_begins(board, "Summary: ")
    for turns_to_tap, page in ((("a1", "a2"), ""), ((), "https://pbm.example/#a"), (("a1",), "https://pbm.example/#a")):
        shown = html.page(mail, ADDRESS, Illustration(b"", turns=turns_to_tap, page=page, opponent="bob"), "board.png")
        assert quotes.own(f"{TYPED}\n\n{to_text(shown)}") == TYPED


@pytest.mark.parametrize("kind", get_args(headings.HeadingKind))
def test_every_kind_of_board_mail_is_known_by_its_heading(kind):
    told = headings.heading("board", kind=kind, title="Sprout board a1, alice (black) against bob (white)")
    assert quotes.own(f"{TYPED}\n\n{told}\n\nbob's turn (white).") == TYPED


def test_the_first_line_of_a_mail_about_a_round_of_a_tournament_is_known():
    told = headings.heading("round", number=2, pool="s", game="Symple", boards="3 boards")
    assert quotes.own(f"{TYPED}\n\n{told}\n\n{'=' * 60}\nNew: Symple board s3, x") == TYPED


@pytest.mark.parametrize(
    "comment",
    [
        "It is bob's turn (black).",
        "New: I have a dog! Its name is Summary.",
        "Notes: I should have played e5 on board 102.",
        "I have left the house before it began to rain.",
        "bob's turn (black).\n\nThat is what the mail says. Is it wrong?",
        "Symple board games are fun.\n\nAim high!",
        "********\nalice writes:\nhello",
        "> Do you know how?\n\nNo, I need help",
        "Won by a mile.",
        "Preview: my next mail will be longer.",
    ],
)
def test_a_comment_that_only_resembles_a_mail_of_ours_stays(comment):
    assert quotes.own(f"e5\n\n{comment}") == f"e5\n\n{comment}".replace("> Do you know how?\n", "")


def test_what_is_typed_just_above_a_refusal_is_never_dropped(board):
    for line in ("q33", "symple move 101 alice alice-secrot e5"):
        [refusal] = answer(board, line) if line == "q33" else send(board, line)
        assert quotes.own(f"e5\n{refusal.text}").startswith("e5")


# A rule below a comment


@pytest.mark.parametrize("beginning", ["Summary: ", f"{RULE}\nalice writes:", f"{RULE}\nbob writes:", "Digest: 1 mail"])
def test_a_rule_ends_a_comment_so_that_nothing_below_it_reads_as_if_its_writer_had_said_it(board, beginning):
    mail = mail_that_begins(board, beginning) if beginning in DEEDS else digest_with_comment(board)
    _, comment = mail.text.split(f"{RULE}\n", 1)
    said, below = comment.replace("\n\n", "\n").split(f"\n{RULE}\n", 1)
    assert said.split("\n")[1:] in (["Hello"], ["Shall we call it a draw?"], ["Another game?"])
    assert below
    page = to_text(html.page(mail, ADDRESS))
    assert "\n".join([said, RULE, below[:12]]) in re.sub(r"\n+", "\n", page)


def test_there_is_one_rule_below_a_comment_where_the_clocks_stand_there(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge --nagtime=3 alice bob", "Hello")
    assert club.mails("bob")[-1].text.count(f"Hello\n\n{RULE}\nStart ") == 1
