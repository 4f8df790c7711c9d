"""What stands in an answer to a board mail: a move, or a word for something else that a player wants on that board."""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from pbm import delivery, letters
from pbm.actions import votes
from pbm.actions.finding import find_board, player_at_sender
from pbm.actions.plans import CLEAR
from pbm.language import typed_plans, words
from pbm.language.commands import MOVES, OF_GAME, ON_BOARD, PAGE, argument
from pbm.language.grammar import MOST_CHARACTERS, Call, Command
from pbm.language.line import Line
from pbm.refusals import Misused
from pbm.session import Session
from pbm.store import Reply

AROUND = " \t\"'`*_()[]«»"
"""What people and mail programs put around a move."""
BEHIND = ".!:;\u2026"
"""What people and telephones put behind a move or a word."""
ONE_MOVE = "MOVE"
SEVERAL_MOVES = "MOVE ..."
"""The syntax of what some words need behind them: one move, or several."""


def bare(line: str) -> str:
    """A line without what people, links and mail programs put around a move and behind it.

    Angle brackets are never part of a move, at any place: ``<c3>#1`` was made of ``<move>#1``.
    """
    return line.replace("<", "").replace(">", "").strip(AROUND + BEHIND)


def needed_behind(line: str) -> str | None:
    """What has to follow a line that is a word of ANSWERS, such as ``DAYS`` behind ``give``; None for another line."""
    word = words.command(bare(line))
    if word in ANSWERS:
        return _syntax_behind(ANSWERS[word]).partition("[")[0]  # what is in brackets need not follow
    if word in votes.INSTEAD_OF_A_MOVE:
        return ""
    return None


def read(reply: Reply, line: str) -> Call:
    """The command that a line to a reply address gives. Raises Misused."""
    first, _, rest = bare(line).partition(" ")
    name = words.command(bare(first))
    given: dict[str, object] = {**reply._asdict(), "password": ""}
    if name == "plan" or typed_plans.is_line(line):
        text = rest if name == "plan" else line
        if bare(text).lower() == CLEAR:
            text = CLEAR
        return Call(ANSWERS["plan"], given | {"lines": [text]})

    if name not in ANSWERS or (name == "move" and not rest):  # MOVE is the placeholder of our mails
        name = "move"
        rest = bare(line)
    command = ANSWERS[name]
    syntax = _syntax_behind(command)
    if syntax == SEVERAL_MOVES:
        behind = [bare(move) for move in words.moves(rest)]
    else:
        behind = words.one_move(bare(rest))
    if len(line) > MOST_CHARACTERS or not _fits(behind, syntax):
        raise Misused(_misused(name, syntax, has_words=bool(behind)))
    if name == "help":
        return Call(command, {"game": reply.game, "command": ""})
    if syntax == SEVERAL_MOVES:
        given[str(command.params[-1].name)] = behind
    elif syntax:
        given[str(command.params[-1].name)] = "".join(behind)
    return Call(command, given)


def _fits(behind: Sequence[str], syntax: str) -> bool:
    """Whether these words can stand behind a word with that syntax, as of `_syntax_behind`."""
    if syntax == "":
        return not behind
    if syntax == ONE_MOVE:
        return len(behind) == 1
    if syntax == SEVERAL_MOVES:
        return len(behind) > 0
    if syntax == PAGE.metavar and not all(word.isdecimal() for word in behind):
        return False  # else `Talk later!` would be an answer
    return len(behind) < 2  # whether the other word may be missing, its command says


def _syntax_behind(command: Command) -> str:
    """What stands behind the word of a command: nothing, ONE_MOVE, SEVERAL_MOVES, or another word, such as DAYS."""
    last = command.params[-1]
    if last in ON_BOARD:
        return ""
    if last.name == "move":
        return ONE_MOVE
    if last.name == "moves":
        return SEVERAL_MOVES
    return str(last.metavar)


def refuse_lost_answer(session: Session, title: Line, why: Misused) -> NoReturn:
    """Refuse an answer with the *title* of a board mail that came to the address for commands. Raises Misused.

    A player who wrote from an address that they have confirmed gets the board mailed once more, which stands. Everybody
    else is told *why* the title is no command, and how to go on.
    """
    game, _, number, *_ = (word.lower() for word in title.words)
    how = "answer the mail about the board itself, at its reply address."
    if session.store.boards.get(game, number) is None:
        raise why
    board = find_board(session, game, number)
    name = player_at_sender(session, board)
    if name is None or board.is_over:
        raise Misused(f"{why}\n\nOr {how}")
    if not session.take("board sent again"):
        raise Misused(f"{why}\n\nOr {how}", point=board.present, reader=name)
    [letter] = letters.of_board(session, board.present, name)
    delivery.queue(session, letter._replace(to=None, reader=name))
    lost = "Your answer did not go to the reply address of the mail about the board, and nothing was done."
    once_more = f"{lost} Please {how} It comes once more with this one."
    raise Misused(once_more, point=board.present, reader=name, stands=True)


def _misused(name: str, syntax: str, *, has_words: bool) -> str:
    """How a line should be written that begins with the *name* of a command, which has that *syntax* behind it."""
    if name != "move":
        if not syntax:
            return f"`{name}` stands alone in the first line."
        sentence = f"This is written `{name} {syntax}`."
        if name == "note":
            return f"{sentence} The text of a note stands below it."
        return sentence
    what = "Write your move alone on the first line, without blanks between its parts."
    if has_words:
        what += " A comment stands below it."
    else:
        what += " Yours is empty."
    others = [f"{word} {_syntax_behind(command)}".rstrip() for word, command in ANSWERS.items() if word != "move"]
    others += votes.INSTEAD_OF_A_MOVE
    return f"{what}\nIt can also be {', '.join(others)}."


LOST_ANSWER = Command("", [], "language.answers.refuse_lost_answer")
"""The command for an answer that has lost its address."""
OWN = {
    "show": Command("show", ON_BOARD, "actions.lists.show_own", reads=True),
    "preview": Command("preview", ON_BOARD + [MOVES], "actions.play.preview_own", reads=True),
    "talk": Command("talk", ON_BOARD + [PAGE], "actions.talk.list_talk", reads=True),
    "history": Command("history", ON_BOARD, "actions.lists.turns", reads=True),
    "block": Command("block", ON_BOARD + [argument("other", "[OTHER]")], "actions.messages.block_in_answer"),
    "unblock": Command("unblock", ON_BOARD + [argument("other", "OTHER")], "actions.messages.unblock_in_answer"),
    "unsubscribe": Command("unsubscribe", ON_BOARD, "actions.subscriptions.stop"),
}
"""The words that stand for another command here than behind the name of a game."""
ANSWERS: Mapping[str, Command] = {
    name: OWN.get(name) or OF_GAME[name]
    for name in (
        "move show preview queue plan submit confirm chat talk history help nag give note rematch analyse block "
        "unblock unsubscribe"
    ).split()
}
"""The words that an answer can begin with if it is no move, and their commands."""
