"""What stands in an answer to a board mail: a move, or a word for something else that a player wants on that board."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from games import Illegal
from pbm import delivery, letters
from pbm.actions import lists, messages, play, previews, reminders, subscriptions
from pbm.actions.finding import find_board, player_at_sender
from pbm.language import words
from pbm.language.grammar import MOST_CHARACTERS, Misused
from pbm.language.help import help_letter
from pbm.language.line import Line
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import Reply, Settled
from pbm.texts import MASK

AROUND = " \t\"'`*_()[]«»"
"""What people and mail programs put around a move."""
BEHIND = ".!:;\u2026"
"""What people and telephones put behind one, or behind a word."""
ONE, SOME = "MOVE", "MOVE ..."
"""What stands behind a word that is about moves."""


class SentAgain(Misused, Settled):
    """An answer that has lost its address; the board has been mailed once more."""


class Word(NamedTuple):
    """What the first word of an answer can mean."""

    do: Callable[[Session, Reply, Sequence[str]], list[Letter]]
    """Done on a board for a user, with the moves behind the word."""
    takes: str = ""
    """What stands behind it: nothing, ONE or SOME."""


def run(session: Session, reply: Reply, line: str) -> list[Letter]:
    """Do what a line says that came to a reply address. Raises Refused, with the board while the game goes on."""
    try:
        return _run(session, reply, line)
    except Illegal as why:
        raise Refused(str(why)) from why
    except Refused as why:
        if why.point is None and not isinstance(why, Settled):
            point = find_board(session, reply.game, reply.board).present
            why.point, why.reader = (None, None) if point.is_over else (point, reply.userid)
        raise


def bare(line: str) -> str:
    """A line without what people, links and mail programs put around a move and behind it.

    Angle brackets are part of no move, wherever they stand: ``<c3>#1`` was made of ``<move>#1``.
    """
    return line.replace("<", "").replace(">", "").strip(AROUND + BEHIND)


def chat_text(lines: Sequence[str]) -> str | None:
    """The text of an answer that is a chat, below that word and beside it; None if it is something else."""
    first, _, beside = lines[0].strip().partition(" ")
    if bare(first).lower() != "chat":
        return None
    return "\n".join([*filter(None, [beside.strip()]), *lines[1:]])


def is_to_chat(reply: Reply, subject: Sequence[str]) -> bool:
    """Whether the words of a subject are those that we gave to a chat on the board of a reply."""
    return len(subject) == 4 and [word.lower() for word in subject[:3]] == [reply.game, "chat", reply.board]


def takes(line: str) -> str | None:
    """What has to stand behind a line that is one of the words; None if it is something else."""
    word = bare(line).lower()
    found = DEEDS.get(words.command(word))
    return found.takes if found else "" if word in play.INSTEAD_OF_A_MOVE else None


def as_answer(reply: Reply, typed: Sequence[str]) -> str | None:
    """What a command of that player for that board says whose password is the placeholder; None if it is another one.

    Every board mail ends with such a command. At the address for answers it needs no password.
    """
    game, word, number, userid, password, *rest = [*typed, *[""] * 5]
    named = (game.lower(), number.lower(), userid.lower(), password)
    if named != (reply.game, reply.board, reply.userid, MASK) or takes(word) is None:
        return None
    return " ".join([words.command(word), *filter(None, rest)])


def send_again(session: Session, title: Line, why: Misused) -> Misused:
    """What is said of an answer with the *title* of a board mail that came to the address for commands.

    The board is mailed once more to a player who wrote from an address that he has confirmed, and to nobody else;
    that is raised as SentAgain. Otherwise *why* it is no command is said, and how to go on.
    """
    game, _, number, *_ = (word.lower() for word in title.words)
    how = "answer the mail about the board itself, at the address for answers that it brings."
    if session.store.board(game, number) is None:
        return why
    board = find_board(session, game, number)
    name = player_at_sender(session, board)
    if name is None or board.is_over:
        return Misused(f"{why}\n\nOr {how}")
    with session.writing(signs=False):
        if not session.take("board sent again"):
            return Misused(f"{why}\n\nOr {how}", point=board.present, reader=name)
        [letter] = letters.of_board(board.present, name, now=session.now(), zones=session.zone)
        delivery.queue(session, letter._replace(to=None, reader=name))
        lost = "This answer came without the address that tells whose it is, and nothing was done."
        raise SentAgain(f"{lost} Please {how} It comes once more with this one.", point=board.present, reader=name)


def _run(session: Session, reply: Reply, line: str) -> list[Letter]:
    first, _, rest = bare(line).partition(" ")
    name = words.command(bare(first))
    if name not in DEEDS or (name == "move" and not rest):  # MOVE is what our mails have in the place of one
        name, rest = "move", bare(line)
    word = DEEDS[name]
    given = [bare(one) for one in words.moves(rest)] if word.takes == SOME else words.one_move(bare(rest))
    fits = {"": not given, ONE: len(given) == 1, SOME: bool(given)}[word.takes]
    if not fits or len(line) > MOST_CHARACTERS:
        raise Misused(_misused(name, word, has_words=bool(given)))
    return word.do(session, reply, given)


def _misused(name: str, word: Word, *, has_words: bool) -> str:
    """What the line should be."""
    if name != "move":
        return f"This is written `{name} {word.takes}`." if word.takes else f"`{name}` stands alone in the first line."
    what = "The first line of a mail to this address is your move and no more, without blanks between its parts."
    what += " A comment stands below it." if has_words else " Yours is empty."
    others = [f"{one} {other.takes}".rstrip() for one, other in DEEDS.items() if one != "move"]
    return f"{what}\nIt can also be {', '.join([*others, *play.INSTEAD_OF_A_MOVE])}."


def _move(session: Session, reply: Reply, moves: Sequence[str]) -> list[Letter]:
    return play.move(session, reply.game, reply.board, moves[0], userid=reply.userid, password="")


def _show(session: Session, reply: Reply, _: Sequence[str]) -> list[Letter]:
    return lists.show(session, reply.game, [reply.board], reader=reply.userid)


def _preview(session: Session, reply: Reply, moves: Sequence[str]) -> list[Letter]:
    return previews.preview(session, reply.game, [], [reply.board, *moves], reply.userid)


def _queue(session: Session, reply: Reply, moves: Sequence[str]) -> list[Letter]:
    return play.queue(session, reply.game, reply.board, moves[0], userid=reply.userid, password="")


def _submit(session: Session, reply: Reply, moves: Sequence[str]) -> list[Letter]:
    return play.submit(session, reply.game, reply.board, moves[0], userid=reply.userid, password="")


def _confirm(session: Session, reply: Reply, _: Sequence[str]) -> list[Letter]:
    return play.confirm(session, reply.game, reply.board, userid=reply.userid, password="")


def _chat(session: Session, reply: Reply, _: Sequence[str]) -> list[Letter]:
    return messages.chat(session, reply.game, reply.board, reply.userid, "")


def _history(session: Session, reply: Reply, _: Sequence[str]) -> list[Letter]:
    return lists.turns(session, reply.game, reply.board, reply.userid)


def _help(session: Session, reply: Reply, _: Sequence[str]) -> list[Letter]:
    return delivery.answer(session, None, help_letter(reply.game, ()))


def _nag(session: Session, reply: Reply, _: Sequence[str]) -> list[Letter]:
    return reminders.nag(session, reply.game, reply.board, userid=reply.userid, password="")


def _unsubscribe(session: Session, reply: Reply, _: Sequence[str]) -> list[Letter]:
    return subscriptions.stop(session, reply.game, reply.userid, reply.board)


DEEDS: Mapping[str, Word] = {
    "move": Word(_move, ONE),
    "show": Word(_show),
    "preview": Word(_preview, SOME),
    "queue": Word(_queue, ONE),
    "submit": Word(_submit, ONE),
    "confirm": Word(_confirm),
    "chat": Word(_chat),
    "history": Word(_history),
    "help": Word(_help),
    "nag": Word(_nag),
    "unsubscribe": Word(_unsubscribe),
}
"""What an answer can say but a move, and what may stand in the place of one."""
