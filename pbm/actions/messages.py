"""What users write to each other, their own notes on a board, and their lists of blocked users."""

from collections.abc import Sequence
from datetime import timedelta

import games
from games import Illegal
from pbm import delivery, letters, texts
from pbm.access.quotas import most
from pbm.actions.comments import keep_chat
from pbm.actions.finding import board_of, no_user
from pbm.actions.plans import CLEAR
from pbm.blocks import Comment
from pbm.board.board import Board
from pbm.letters import Letter
from pbm.names import display_name
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow

MOST_READERS = 10
"""How many users one message can go to."""
BETWEEN_BROADCASTS = timedelta(days=7)
MOST_NOTED_BYTES = 4000
"""How many bytes the notes of a user on one board may have."""
MOST_BLOCKED = 200


def chat(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Write to the players and the subscribers of a board. Raises Illegal for an onlooker while the game goes on."""
    board = board_of(session, row)
    writers = _writers(session, board)
    if name not in writers and not board.is_over:
        raise Illegal(
            "Onlookers do not advise: while the game goes on, only its players and the director of its tournament can "
            "chat. You can when it is over."
        )
    text = _text(session, name, "chat")
    playing = [player for player in board.players if player != board.resigned]
    followers = list(dict.fromkeys(playing + list(board.about.subscribers)))
    readers = _readers_of_chat(session, name, followers)
    if not board.is_over:
        for robot in board.about.robots:
            session.store.robots.let_talk(row, robot, "once")

    chats = []
    for reader in readers:
        word = "chat" if board.is_over or reader in writers else "show"
        signed = f" {reader} PASSWORD" if word == "chat" else ""
        letter = letters.plain_letter(
            [Comment(display_name(name), text)],
            subject=f"{row.game.capitalize()} chat {row.board} {display_name(name)}",
            answer=f"{row.game} {word} {row.board}{signed}",
            bare=word,
            userid=name,
            game=row.game,
            board=row.board,
            readers=readers,
        )
        letter = letter._replace(
            to=reader,
            thread=board.thread,
            game=row.game,
            # A user who only writes does not follow the board, so their copy has no reply address.
            board=row.board if reader in followers else "",
            is_subscribed=reader in board.about.subscribers,
            is_urgent=True,
        )
        chats.append(letter)
    keep_chat(session, board, name, text)
    return chats


def _readers_of_chat(session: Session, name: str, followers: Sequence[str]) -> list[str]:
    """Those who follow a board and take what a user writes there, and the user. Raises Refused if they are alone."""
    recipients = list(followers)
    if name not in followers:
        recipients.append(name)
    blocking = [recipient for recipient in recipients if name in session.store.users.blocked_by(recipient)]
    readers = [recipient for recipient in recipients if recipient not in blocking]
    if blocking and readers in ([], [name]):
        raise Refused("Nobody on this board takes your chat.")
    return readers


def _writers(session: Session, board: Board) -> list[str]:
    """The users who may chat on a board while the game goes on: its players, and the director of its tournament."""
    row = board.row
    writers = list(board.players)
    if row.pool:
        tournament = session.store.tournaments.get(row.game, row.pool)
        if tournament and tournament.director:
            writers.append(tournament.director)
    return writers


def message(session: Session, name: str, readers: Sequence[str]) -> list[Letter]:
    """Write to some users; nobody sees an address of another."""
    users = session.store.users
    recipients = list(dict.fromkeys(reader.lower() for reader in readers))
    text = _text(session, name, "message")
    if len(recipients) > MOST_READERS:
        raise Refused(f"These are {len(recipients)} users; a message goes to at most {MOST_READERS}.")
    if unknown := users.missing(*recipients):
        raise Refused("\n".join(no_user(session, recipient) for recipient in unknown))

    reached = []
    blocking = []
    without_address = []
    for recipient in recipients:
        if name in users.blocked_by(recipient):
            blocking.append(recipient)
        elif users.addresses(recipient):
            reached.append(recipient)
        else:
            without_address.append(recipient)
    unreached = [f"{recipient} takes no messages." for recipient in blocking]
    unreached += [f"{recipient} has no mail address." for recipient in without_address]
    if not reached:
        raise Refused("\n".join(unreached + ["Nothing was sent."]))

    for recipient in reached:
        letter = letters.plain_letter(
            [Comment(name, text)],
            subject=f"Message from {name}",
            answer=f"message {recipient} PASSWORD {name}",
            to=recipient,
        )
        delivery.queue(session, letter)
    done = "\n".join([f"Your message is on its way to {', '.join(reached)}."] + unreached)
    return [letters.plain_letter(done, subject="Message", answer="help message", userid=name, readers=reached)]


def broadcast(session: Session, name: str, switch: str) -> list[Letter]:
    """Write to all users who want broadcasts; or, with a *switch*, store whether this user wants them."""
    if switch:
        return _switch(session, name, switch.lower())
    check_not_muted(session, name)
    if not session.comment:
        raise Refused("A broadcast needs a text: the body of the mail, or --comment=TEXT in a shell.")
    users = session.store.users
    last = users.last_broadcast(name)
    if last and session.now < last + BETWEEN_BROADCASTS:
        raise Refused(f"You may write to all once a week, again from {last + BETWEEN_BROADCASTS:%Y-%m-%d} on.")
    users.change(name, last_broadcast=session.now)
    readers = [reader for reader in users.hearing("broadcasts") if name not in users.blocked_by(reader)]
    for reader in readers:
        letter = letters.plain_letter(
            [Comment(name, session.comment)],
            subject=f"Broadcast from {name}",
            answer=f"broadcast {reader} PASSWORD off",
            to=reader,
        )
        delivery.queue(session, letter._replace(is_subscribed=True))
    done = f"Your text is on its way to {texts.counted(len(readers), 'user')}."
    return [letters.plain_letter(done, subject="Broadcast", answer="help broadcast", userid=name, count=len(readers))]


def _switch(session: Session, name: str, switch: str) -> list[Letter]:
    """Store whether a user gets broadcasts. Raises Refused."""
    if switch not in {"on", "off"}:
        raise Refused(f"`broadcast` is followed by nothing, by `on` or by `off`, and not by {switch!r}.")
    is_on = switch == "on"
    session.store.users.change(name, hears_broadcasts=is_on)
    text = "You do not get what users write to all."
    if is_on:
        text = "You get what users write to all."
    return [letters.to_user(name, text, answer="help broadcast", broadcasts=is_on)]


def check_not_muted(session: Session, name: str) -> None:
    """Raises Refused if the operator has muted a user."""
    if session.store.users.is_muted(name):
        raise Refused("The operator of this server has muted you: your moves are played, but you write to nobody.")


def _text(session: Session, name: str, what: str) -> str:
    """The text of a message or a chat.

    Raises Refused if there is none, if the user has written too many today, or if they are muted.
    """
    check_not_muted(session, name)
    if not session.comment:
        raise Refused(f"A {what} needs a text: the body of the mail, or --comment=TEXT in a shell.")
    if not session.is_trusted and not session.take("text", user=name):
        raise Refused(f"You have written {most('text', 'user')} texts today; that is the most.")
    return session.comment


# Notes


def add_note(session: Session, row: BoardRow, name: str, word: str = "") -> list[Letter]:
    """Add the comment to a user's notes on a board, or forget the notes (CLEAR). Shows the notes in any case."""
    if word and word.lower() != CLEAR:
        raise Illegal(
            f"{word!r} is not `{CLEAR}`; a note stands in the body of a mail, or in --comment=TEXT in a shell."
        )
    notes = session.store.boards.notes(*row.place).get(name, "")
    if word:
        notes = ""
    elif session.comment:
        when = f"Move {row.moves}" if row.moves else "The start"
        note = f"{when}, {session.now:%Y-%m-%d}: {session.comment}"
        notes = f"{notes}\n{note}" if notes else note
    if len(notes.encode()) > MOST_NOTED_BYTES:
        raise Illegal(
            f"Your notes on a board have at most {MOST_NOTED_BYTES} bytes; `{CLEAR}` forgets those that there are."
        )
    if word or session.comment:
        session.store.boards.keep_notes(*row.place, name, notes)
    board = board_of(session, row)
    remarks = [] if notes else ["You have no notes on this board."]
    [letter] = letters.of_board(session, board.present, name, notes=remarks, kind="Notes")
    return [letter._replace(to=None)]


# Blocking


def block(session: Session, name: str, word: str) -> list[Letter]:
    """Block another user, who can no longer challenge this one or write to them; without a word, list the blocked."""
    users = session.store.users
    userid = word.lower()
    if userid == name:
        raise Refused("You cannot block yourself.")
    if userid:
        if users.missing(userid):
            raise Refused(no_user(session, word))
        if len(users.blocked_by(name)) >= MOST_BLOCKED:
            raise Refused(f"You block {MOST_BLOCKED} users already.")
        users.block(name, userid)
    return [_blocked(session, name)]


def unblock(session: Session, name: str, word: str) -> list[Letter]:
    """Let another user challenge this one and write to them again."""
    users = session.store.users
    userid = word.lower()
    blocked = users.blocked_by(name)
    if userid not in blocked:
        raise Refused(f"You do not block {word!r}{games.suggestion(word, blocked)}")
    users.unblock(name, userid)
    return [_blocked(session, name)]


def block_in_answer(session: Session, _: BoardRow, name: str, word: str) -> list[Letter]:
    """Block a user in answer to a mail about a board."""
    return block(session, name, word)


def unblock_in_answer(session: Session, _: BoardRow, name: str, word: str) -> list[Letter]:
    """Unblock a user in answer to a mail about a board."""
    return unblock(session, name, word)


def _blocked(session: Session, name: str) -> Letter:
    """The letter that lists the users that a user blocks."""
    blocked = session.store.users.blocked_by(name)
    if blocked:
        text = f"You block {', '.join(blocked)}."
        answer = f"unblock {name} PASSWORD OTHER"
    else:
        text = "You block nobody."
        answer = "help block"
    letter = letters.settled(text, answer, blocked=blocked)
    return letter._replace(to=name, data={**letter.data, "userid": name})
