"""Clients of a server that is killed, who keep book of what it has acknowledged.

    with serving() as (process, port):
        client.work(port, acknowledged, most=10)
        process.kill()
    check_done(store, [client])

A command that was not answered is mailed once more by the next ``client.work``.
"""

import smtplib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from random import Random
from typing import NamedTuple

import games
from games import SKIP, symple
from pbm.board.board import FIRST_MOVES, RESIGN, Board
from pbm.settings import database_path
from pbm.store import Store

from helpers.database import stored, stored_board
from helpers.mail import mail_of
from helpers.patience import PATIENCE
from helpers.reference import plans as reference

PLAYERS = ("alice", "bob", "carol")
SERVER = "pbm@pbm.example"
PBM = (sys.executable, "-m", "pbm")
CLIENTS = 4
KINDS = "spiro challenge -small -pieces=2", "symple challenge -size=5"
"""How boards begin; on every second one, players plan."""


def pbm(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `pbm` with these arguments as a process, in the environment of this one."""
    return subprocess.run([*PBM, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)


def password(name: str) -> str:
    """The password of a player."""
    return f"{name}-likes-games"


def address(name: str) -> str:
    """The address of a player."""
    return f"{name}@players.example"


def played(store: Store, name: str = "spiro 101") -> Board:
    """A board as it stands."""
    with store.reading():
        board = stored_board(store, *name.split())
    assert board is not None
    return board


def some_move(board: Board, rng: Random) -> str:
    """A legal move, as the board will list it."""
    return board.state.parse(board.state.random(rng))


def typed(board: Board) -> list[tuple[int, str, str]]:
    """The turns that players made themselves."""
    return [(number, turn.userid, turn.text) for number, turn in enumerate(board.turns, 1) if not turn.automatic]


@contextmanager
def serving() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A mail server, which goes on with the file `log`, and its port; it is killed in the end."""
    command = [*PBM, "serve", "--listen=127.0.0.1:0", "--robots=0"]
    with (
        database_path().with_name("log").open("a") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            yield process, int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.kill()


def send(smtp: smtplib.SMTP, name: str, subject: str, message_id: str, body: str = "") -> None:
    """Mail a command; no error means that the server took it."""
    smtp.sendmail(address(name), [SERVER], mail_of(address(name), subject, body, SERVER, message_id=message_id))


def thread(board: Board, name: str) -> str:
    """The Message-ID of the first mail about a board to a player."""
    return f"<{board.thread}.{name}@pbm.example>"


class Command(NamedTuple):
    """A command, and what it has to cause."""

    message_id: str
    sender: str
    subject: str
    board: Board | None = None
    turn: tuple[int, str, str] | None = None
    readers: tuple[str, ...] = ()
    is_refused: bool = False
    removes: bool = False
    lines: Sequence[reference.Line] = ()
    """What is planned with it."""

    @property
    def body(self) -> str:
        """What the mail says below its subject."""
        planned = [" ".join(f"if {theirs} then {mine}" for theirs, mine in line) for line in self.lines]
        return "\n".join([*planned, "", self.message_id])


class Client:
    """Plays both sides of boards of its own over a connection of its own, and keeps book of what was acknowledged."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.rng = Random(number)
        self.store = Store(database_path())
        self.done: list[Command] = []
        self.unanswered: Command | None = None
        self.active: list[str] = []
        self.removed: set[str] = set()
        self.turns: dict[str, list[tuple[int, str, str]]] = {}
        """What players typed, by the name of the board."""
        self.planned: dict[str, reference.Board] = {}
        """The boards on which they plan."""
        self.mails: Counter[tuple[str, str]] = Counter()

    def work(self, port: int, acknowledged: SimpleQueue[None], most: int) -> None:
        """Mail the last command that was acknowledged once more, and then *most* others, first one that was not."""
        with suppress(smtplib.SMTPServerDisconnected, ConnectionError), smtplib.SMTP("127.0.0.1", port) as smtp:
            for command in self.done[-1:]:
                self.mail(smtp, command)
            for _ in range(most):
                self.unanswered = self.unanswered or self.command()
                self.mail(smtp, self.unanswered)
                self.note(self.unanswered)
                self.unanswered = None
                acknowledged.put(None)

    @property
    def planned_turns(self) -> int:
        """How many turns the server has played as planned."""
        return sum(turn.is_planned for there in self.planned.values() for turn in there.turns)

    def mail(self, smtp: smtplib.SMTP, command: Command) -> None:
        """Mail a command; no error means that the server took it."""
        send(smtp, command.sender, command.subject, command.message_id, command.body)

    def command(self) -> Command:
        """A command on a board that is going on, or a new board."""
        message_id = f"<{self.number}.{len(self.done)}@test.example>"
        while self.active and self.rng.random() > 0.1:
            name = self.rng.choice(self.active)
            board = played(self.store, name)
            if not board.is_over:
                return self.command_on(board, message_id)
            self.active.remove(name)
        first, second = self.rng.sample(PLAYERS, 2)
        kind = KINDS[len(self.turns) % len(KINDS)]
        return Command(message_id, first, f"{kind} {first} {second}", readers=(first, second))

    def command_on(self, board: Board, message_id: str) -> Command:
        """Mostly a move; now and then a resignation, in turn or not, or a move of a wrong number."""
        chance = self.rng.random()
        players = board.players
        turn = board.mover or ""
        number = len(board.turns) + 1
        if board.name in self.planned and len(board.turns) >= FIRST_MOVES and chance > 0.02:
            return self.command_with_plan(board, message_id)
        if chance < 0.06:
            name = turn if board.name in self.planned else self.rng.choice(players)
            subject = f"{board.row.game} resign {board.row.board} {name} {password(name)}"
            if len(board.turns) < FIRST_MOVES:
                return Command(message_id, name, subject, board, readers=players, removes=True)
            if name == turn:
                return Command(message_id, name, subject, board, (number, name, RESIGN), readers=players)
            if board.plans:
                return Command(message_id, name, subject, board, is_refused=True)
            return Command(message_id, name, subject, board, readers=(name,))
        move = some_move(board, self.rng)
        subject = f"{board.row.game} move {board.row.board} {turn} {password(turn)} {move}"
        if chance < 0.12:
            return Command(message_id, turn, f"{subject}#{number + 1}", board, is_refused=True)
        return Command(message_id, turn, f"{subject}#{number}", board, (number, turn, move), readers=players)

    def command_with_plan(self, board: Board, message_id: str) -> Command:
        """A move, often one that the other has planned for, with a plan below it; or a plan of the other."""
        there = self.planned[board.name]
        turn = board.mover or ""
        name = board.row.opponent(turn) if self.rng.random() < 0.3 else turn
        subject = f"{board.row.game} WORD {board.row.board} {name} {password(name)}"
        if name != turn:
            lines = self.lines(there.state)
            return Command(message_id, name, subject.replace("WORD", "plan"), board, readers=(name,), lines=lines)
        known = [*there.trees[board.players.index(board.row.opponent(turn))].keys() - {reference.ANY}]
        move = self.rng.choice(known) if known and self.rng.random() < 0.8 else some_move(board, self.rng)
        number, after = len(there.turns) + 1, there.state.play(move)
        lines = [] if after.result() or self.rng.random() < 0.5 else self.lines(after)
        subject = f"{subject.replace('WORD', 'move')} {move}#{number}"
        return Command(message_id, name, subject, board, (number, name, move), board.players, lines=lines)

    def lines(self, state: symple.State) -> list[reference.Line]:
        """A plan of a few steps from a position in which the other is to move; perhaps one step for any move, too."""
        line: list[tuple[str, str]] = []
        for _ in range(self.rng.randrange(1, 4)):
            theirs = state.parse(state.random(self.rng))
            after = state.play(theirs)
            if after.result():
                break
            line.append((theirs, after.parse(after.random(self.rng))))
            state = after.play(line[-1][1])
            if state.result():
                break
        return [*filter(None, [line]), *([[(reference.ANY, "c3")]] if not line or self.rng.random() < 0.3 else [])]

    def note(self, command: Command) -> None:
        """Keep book of a command that the server has taken."""
        self.done.append(command)
        board = command.board
        if board is None:
            rows = self.store.boards.current(command.subject.split()[0])
            (name,) = (f"{row.game} {row.board}" for row in rows if row.comment == command.message_id)
            board = played(self.store, name)
            self.active.append(name)
            self.turns[name] = []
            if name.startswith("symple"):
                self.planned[name] = reference.Board(symple, {"size": 5}, lambda *_: ())
        if command.turn:
            self.turns[board.name].append(command.turn)
        there = self.planned.get(board.name)
        if there and not command.is_refused:
            player = board.players.index(command.sender)
            if command.turn and command.turn[2] != RESIGN:
                there.move(player, command.turn[2], command.lines)
            elif command.lines:
                there.plan(player, command.lines)
        if command.removes:
            self.active.remove(board.name)
            self.removed.add(board.name)
        if command.is_refused:
            self.mails[command.message_id, command.sender] += 1
        self.mails.update((thread(board, reader), reader) for reader in command.readers)


def check_done(store: Store, clients: Sequence[Client]) -> None:
    """Whether what was acknowledged has happened once, and nothing else."""
    assert not any(client.unanswered for client in clients)
    done = [command for client in clients for command in client.done]
    assert Counter(row["message_id"] for row in stored(store, "handled")) == Counter(each.message_id for each in done)
    challenges = [command for command in done if command.board is None]
    taken = [row for row in stored(store, "quotas") if row["kind"] == "challenge"]
    assert sum(row["used"] for row in taken) == len(challenges)
    turns = {name: turns for client in clients for name, turns in client.turns.items()}
    begun = Counter(command.subject.split()[0] for command in challenges)
    assert {*turns} == {f"{game} {101 + number}" for game, count in begun.items() for number in range(count)}
    removed = set().union(*(client.removed for client in clients))
    assert {f"{row['game']} {row['board']}" for row in stored(store, "boards")} == turns.keys() - removed
    for name in turns.keys() - removed:
        assert typed(played(store, name)) == turns[name]
        check_replay(store, name)
    for name, there in (one for client in clients for one in client.planned.items() if one[0] not in removed):
        check_plans(played(store, name), there)


def check_plans(board: Board, there: reference.Board) -> None:
    """Whether what was planned is kept as in the book of the reference, and was played once."""
    turns = [(board.players[turn.player], turn.move, turn.is_automatic) for turn in there.turns]
    assert [(turn.userid, turn.text, turn.automatic) for turn in board.turns if turn.text != RESIGN] == turns
    if not board.is_over:
        for name, tree in zip(board.players, there.trees, strict=True):
            lines = {" ".join(f"if {theirs} then {mine}" for theirs, mine in line) for line in reference.branches(tree)}
            assert {*board.plans.get(name, "").split("\n")} - {""} == lines


def check_replay(store: Store, name: str) -> None:
    """Whether a board's turns are legal, its dice those of its secret, and its row what follows from them."""
    board = played(store, name)
    for state, turn in zip(board.states, board.turns, strict=False):
        assert turn.dice == (state.dice if games.needs_dice(state) else ())
        assert turn.userid == board.player(state, state.turn)
        if turn.text != RESIGN:
            assert state.must_skip == (turn.text == SKIP)
            assert state.must_skip or state.parse(turn.text) == turn.text
            assert turn.automatic == state.must_skip or (turn.automatic and name.startswith("symple"))  # as planned
    row = board.row
    assert (row.moves, row.turn, row.winner) == (len(board.turns), board.mover, board.winner)
    assert (row.ended is not None) == board.is_over
