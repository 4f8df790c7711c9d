"""Answers to mails about a board: those of alice and bob on board 101 of Symple, which the fixture `board` begins.

    def test_an_answer_is_a_move(board):
        answer(board, "c3")
        assert turns(board) == ["c3"]

`answer` writes to the address of the board; `send` to the server, or to the address that is given.
"""

from pbm.access import tokens

from helpers.database import stored_board
from helpers.mail import ADDRESS, ALICE, handle, mail_of


def new(club, before):
    """The mails in the outbox behind the first so many."""
    return club.mails()[before:]


def written(subject, body="", sender=ALICE, recipient=ADDRESS, **fields):
    """A mail of a user."""
    return mail_of(sender, subject, body, recipient, **fields)


def send(club, subject, body="", sender=ALICE, recipient=ADDRESS):
    """What comes of a mail of a user."""
    message_id = f"<{club.random_bytes(12).hex()}@players.example>"
    before = len(club.mails())
    handle(club.server, written(subject, body, sender, recipient, message_id=message_id), None, [recipient])
    return new(club, before)


def answer_to(club, name="alice"):
    """The address at which that user answers the mails about the board."""
    with club.store.writing():
        return tokens.reply_address(club.server, "symple", "101", name)


def answer(club, body, name="alice", subject="Re: Symple Board 101 alice"):
    """What comes of an answer to a mail about the board: ``answer(board, "c3", "bob")``."""
    sender = f"{name}@players.example"
    return send(club, subject, body, sender, answer_to(club, name))


def turns(club, game="symple"):
    """The turns that were played on board 101, such as ``["c3", "b1"]``."""
    return [turn.text for turn in stored_board(club.store, game, "101").turns]


def moves(club):
    """How many moves were made on board 101 of Spiro, on which `helpers.mail.answer` answers."""
    return stored_board(club.store, "spiro", "101").row.moves
