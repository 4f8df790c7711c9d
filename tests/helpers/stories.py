"""Stories, the language in which the tests of the command language say what happens: steps between slashes.

    follow(four, "challenge alice bob / alice: move c3 / told alice bob / bob reads c3 / played c3 / turn bob")

Steps that do something, each with an example:

    challenge alice bob               begin a board of small Symple; what follows is about this board
    challenge spora -pie alice bob    begin one of another game; in Spiro the first throws are 5, and then 4 2
    plays c3 b1                       play moves, each by the player whose turn it is
    alice: move c3                    give a command on the board, without its game, its number, userid and password
    alice: vacation ME off            give a command of another kind; ME stands for userid and password
    alice refused: move c3            give a command that is refused, which changes nothing and is told nobody else
    bob answers: b1                   answer the mail about the board; `⏎` ends a line
    3 days                            let time pass
    clean up                          do what `pbm cleanup` does

Steps that check what the last deed told, or what is stored:

    told alice bob                    alice and bob are told something, and nobody else
    bob gets Symple Board 101 bob     a mail or a printed answer has this subject; `all get` is of everybody who is told
    bob reads c3                      this text is in what he is told
    bob reads no c3                   it is not; `all read` is of everybody who is told
    played c3 b1                      the turns of the board; those of the server stand in brackets
    turn bob                          a field of the stored board, see `ROW`; without a value it is empty
    plan alice if b1 then c2          what is planned on it; likewise `seats 0 1` and `subscribers carol`
    bob has tied 1                    a field of the stored player
    gone                              the board is stored no more
"""

import re

import games
from pbm.board.board import Board

from helpers.members import Members, Told, text_to, to

ON_BOARD = frozenset("move queue submit confirm resign swap plan nag give talk".split())
"""Commands that a story gives without the game, the board and `ME`."""
ROW = "turn", "winner", "vote", "voter", "submitted", "reason", "weekends"
"""What a story tells of the stored row of a board."""
LINE_END = "\u23ce"
"""Where a line ends in a command, or in an answer, of a story."""


def follow(members: Members, story: str) -> list[Told]:
    """Do what a story says, step by step, and check what it tells. Returns what is told at its end.

    ``follow(four, "challenge alice bob / alice: move c3 / turn bob")``; the module names all kinds of steps.
    """
    told = list[Told]()
    game = "symple"
    board = "101"
    for step in story.split(" / "):
        what, _, value = step.partition(" ")
        if command := re.fullmatch(r"(\w+)( refused)?: (.*)", step):
            name, is_refused, typed = command.groups()
            line, _, body = typed.replace(LINE_END, "\n").partition("\n")
            word, _, rest = line.partition(" ")
            line = f"{game} {word} {board} ME {rest}" if word in ON_BOARD else line
            told = [members.refused(name, line, body)] if is_refused else members.signs(name, line, body)
        elif answer := re.fullmatch(r"(\w+) answers: (.*)", step):
            told = members.answers(answer[1], game, board, answer[2].replace(LINE_END, "\n"))
        elif what.isdecimal():
            members.pass_time(**{value: int(what)})
        elif step == "clean up":
            members.clean()
            told = [Told(str(mail.userid), mail.subject, mail.text) for mail in members.mails()]
        elif what == "challenge":
            game = value.partition(" ")[0] if games.exists(value.partition(" ")[0]) else "symple"
            members.made = 12 if game == "spiro" else members.made
            size = "-size=5" if game == "symple" else ""
            board = members.begin(f"{game} challenge {size} {value.removeprefix(game)}")
        elif what == "plays":
            members.plays(*value.split(), board=board, game=game)
        else:
            check(members, told, game, board, step)
    return told


def check(members: Members, told: list[Told], game: str, board: str, step: str) -> None:
    """Check a step of a story that does nothing, such as ``told alice bob``; *told* is what the last deed told."""
    what, _, value = step.partition(" ")
    if says := re.fullmatch(r"(\w+) (read|get)s? (no )?(.*)", step):
        name, verb, no, value = says.groups()
        for one in {one.to for one in told} if name == "all" else {name}:
            text = " ".join(text_to(one, told).split())
            assert (value in text if verb == "read" else (one, value) in to(told)) == (no is None), (to(told), text)
    elif has := re.fullmatch(r"(\w+) has (\w+) (.*)", step):
        assert str(getattr(members.store.players.get(game, has[1]), has[2])) == has[3]
    elif what == "told":
        assert " ".join(sorted({one.to for one in told})) == value
    elif what == "gone":
        assert members.store.boards.get(game, board) is None
    else:
        assert seen(members, members.at(board, game))[what] == value


def seen(members: Members, board: Board) -> dict[str, str]:
    """What a story can tell of a board; empty where there is none."""
    row, followers = board.row, members.store.boards.followers(*board.row.place)
    of_row = {what: getattr(row, what) or "" for what in ROW}
    turns = " ".join(f"({turn.text})" if turn.automatic else turn.text for turn in board.turns)
    plan = " ".join(map(" ".join, board.plans.items())).replace("\n", "; ")
    seats = " ".join(map(str, board.state.seats))
    return of_row | {
        "played": turns, "plan": plan, "seats": seats, "subscribers": " ".join(followers["subscriber"])
    }  # fmt: skip
