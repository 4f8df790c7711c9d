"""What stands in an answer to a board mail: a move, or a word for something else that a player wants on that board."""

from collections.abc import Mapping
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
ONE, SOME = "MOVE", "MOVE ..."
"""The syntax of what some words need behind them: one move, or several."""


def bare(line: str) -> str:
    """A line without what people, links and mail programs put around a move and behind it.

    Angle brackets are part of no move, wherever they stand: ``<c3>#1`` was made of ``<move>#1``.
    """
    return line.replace("<", "").replace(">", "").strip(AROUND + BEHIND)


def takes(line: str) -> str | None:
    """What has to follow a line that is a word of ANSWERS, such as ``DAYS`` behind ``give``; None for another line."""
    word = words.command(bare(line))
    if word in ANSWERS:
        return _takes(ANSWERS[word]).partition("[")[0]  # what is in brackets need not follow
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
        return Call(ANSWERS["plan"], given | {"lines": [CLEAR if bare(text).lower() == CLEAR else text]})
    if name not in ANSWERS or (name == "move" and not rest):  # MOVE is the placeholder of our mails
        name, rest = "move", bare(line)
    command = ANSWERS[name]
    takes = _takes(command)
    if takes == SOME:
        behind = [bare(move) for move in words.moves(rest)]
    else:
        behind = words.one_move(bare(rest))
    is_right = _is_right_number(len(behind), takes)
    if takes == PAGE.metavar:
        is_right = is_right and all(word.isdecimal() for word in behind)  # else `Talk later!` would be an answer
    if not is_right or len(line) > MOST_CHARACTERS:
        raise Misused(_misused(name, takes, has_words=bool(behind)))
    if name == "help":
        return Call(command, {"game": reply.game, "command": ""})
    if takes == SOME:
        given[str(command.params[-1].name)] = behind
    elif takes:
        given[str(command.params[-1].name)] = "".join(behind)
    return Call(command, given)


def _is_right_number(count: int, takes: str) -> bool:
    """Whether so many words can stand behind a word that takes nothing, ONE, SOME, or another word."""
    if takes == "":
        return count == 0
    if takes == ONE:
        return count == 1
    if takes == SOME:
        return count > 0
    return count < 2  # whether the other word may be missing, its command says


def _takes(command: Command) -> str:
    """What stands behind the word that gives a command: nothing, ONE, SOME, or another word, such as DAYS."""
    last = command.params[-1]
    if last in ON_BOARD:
        return ""
    if last.name == "move":
        return ONE
    if last.name == "moves":
        return SOME
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


def _misused(name: str, takes: str, *, has_words: bool) -> str:
    """How the line should be written."""
    if name != "move":
        if not takes:
            return f"`{name}` stands alone in the first line."
        syntax = f"This is written `{name} {takes}`."
        if name == "note":
            return f"{syntax} The text of a note stands below it."
        return syntax
    what = "Write your move alone on the first line, without blanks between its parts."
    if has_words:
        what += " A comment stands below it."
    else:
        what += " Yours is empty."
    others = [f"{word} {_takes(command)}".rstrip() for word, command in ANSWERS.items() if word != "move"]
    others += votes.INSTEAD_OF_A_MOVE
    return f"{what}\nIt can also be {', '.join(others)}."


LOST_ANSWER = Command("", [], "language.answers.refuse_lost_answer")
"""The command for an answer that has lost its address."""
OWN = {
    "show": Command("show", ON_BOARD, "actions.lists.show_own", reads=True),
    "preview": Command("preview", [*ON_BOARD, MOVES], "actions.play.preview_own", reads=True),
    "talk": Command("talk", [*ON_BOARD, PAGE], "actions.talk.list_talk", reads=True),
    "history": Command("history", ON_BOARD, "actions.lists.turns", reads=True),
    "block": Command("block", [*ON_BOARD, argument("other", "[OTHER]")], "actions.messages.block_in_answer"),
    "unblock": Command("unblock", [*ON_BOARD, argument("other", "OTHER")], "actions.messages.unblock_in_answer"),
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
"""The words that an answer can begin with in place of a move, and their commands."""
