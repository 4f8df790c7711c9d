"""The command that looks for puzzles: positions of games that are over in which a single turn wins."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations_with_replacement, islice
from random import Random

import click

from games import State, needs_dice
from pbm import texts
from pbm.actions.analyses import choices
from pbm.actions.finding import find_board
from pbm.board.board import Board
from pbm.console import answer, let_server_go_first, open_existing, shows_progress
from pbm.console.usage import GAME_ARGUMENT, Commands
from pbm.levels import USUAL_LEVEL, levels
from pbm.refusals import Refused
from pbm.robot_players.cluster import Cluster, ElsewhereError
from pbm.robots import Player
from pbm.robots.thinking import Thought
from pbm.session import Session
from pbm.store import BoardRow, TurnRow
from pbm.store.robots import Puzzle
from pbm.terminal import warn

MOST_PLAYED = 100_000
"""How many turns of a game are tried at most to prove puzzles."""
LONGER = 100
"""How many times as many playouts the long search has, which confirms the turn that the quick one has found."""
PROMISING = 0.6
"""A position is searched long only if the quick search finds at least this chance to win."""
MOST_SEARCHED = 5
"""How many positions of a game are searched long at most."""
WINNING = 0.9
"""The least chance of the turn that solves a puzzle, by the long search."""
LOSING = 0.4
"""The greatest chance of any other turn, by the long search."""
SECONDS_OF_BOARD = 600.0
"""Seconds for each board that a cluster looks at, for all of them together: its workers share them."""
BOARDS_FOR_CLUSTER = 500
"""How many boards a cluster gets at once; more would wait in the memory of this process."""

commands = Commands("pbm")


class TooLongError(Exception):
    """There are too many turns to try, so that nothing was proven."""


@commands.command()
@GAME_ARGUMENT
@click.option("--dask", "scheduler", metavar="ADDRESS", help="Look for them on the workers of this Dask scheduler.")
def puzzles(game: str, scheduler: str | None) -> None:
    """Look for puzzles in games that are over: positions in which a single turn wins, and no other.

    That is proven by the rules; or else two searches agree, one of them a hundred times as long as the other. What was
    found is kept: the site shows it, and each week one puzzle is mailed to those who want that. Each board is looked at
    once, which can take a minute, and a command that was ended goes on where it was. Boards are left out if a game that
    goes on may have the same positions.
    """
    session = Session(open_existing())
    let_server_go_first()
    new_puzzles = []
    numbers = session.store.robots.boards_without_puzzles(game)
    cluster = Cluster(scheduler) if scheduler else None
    looked_at = puzzles_of(sound_boards(session, game, numbers), cluster)
    bar = click.progressbar(looked_at, len(numbers), label="Boards", file=sys.stderr, hidden=not shows_progress())
    with bar as shown:
        for puzzle in shown:
            with session.store.writing():
                # that can have changed meanwhile
                if puzzle.board in session.store.robots.boards_without_puzzles(game):
                    session.store.robots.save_puzzle(puzzle, session.now)
                    if puzzle.answer:
                        new_puzzles.append(puzzle)
    lines = [f"{puzzle.board}#{puzzle.moves} {puzzle.answer}" for puzzle in new_puzzles]
    lines.append(f"{texts.counted(len(new_puzzles), 'puzzle')} in {texts.counted(len(numbers), 'board')}.")
    data = {"game": game, "boards": len(numbers), "puzzles": [puzzle._asdict() for puzzle in new_puzzles]}
    answer("\n".join(lines), data)


def sound_boards(session: Session, game: str, numbers: Iterable[str]) -> Iterator[Board]:
    """The boards of these numbers. Standard error says why one is left out."""
    for number in numbers:
        try:
            with session.store.reading():
                board = find_board(session, game, number)
        except Refused as why:  # it is damaged, or was removed meanwhile
            warn(f"{game} {number} is left out: {why}")
        else:
            yield board


def puzzles_of(boards: Iterable[Board], cluster: Cluster | None) -> Iterator[Puzzle]:
    """The puzzle in each of some games, looked for here or on a cluster. Raises Refused if the cluster is lost."""
    if cluster is None:
        yield from map(puzzle_of, boards)
        return
    rest = iter(boards)
    try:
        while tasks := [(board.row, board.turns) for board in islice(rest, BOARDS_FOR_CLUSTER)]:
            yield from cluster.compute(puzzle_apart, tasks, SECONDS_OF_BOARD * len(tasks))
    except ElsewhereError as why:
        raise Refused(f"{why} What was found until now is kept.") from why
    finally:
        cluster.close()


def puzzle_apart(row: BoardRow, turns: list[TurnRow]) -> Puzzle:
    """The puzzle in a game that is over, on a machine that has no database."""
    return puzzle_of(Board(row, turns, {}))


def puzzle_of(board: Board) -> Puzzle:
    """The puzzle in a game that is over; without an answer if there is none.

    If puzzles can be proven, it is the earliest of these; if not, the last one on which two searches agree.
    """
    no_puzzle = Puzzle(*board.row.place, 0, "", proven=True)
    with suppress(Refused):
        numbers = choices(board)
        proven = dict(_proven(board, numbers))
        for moves, turns in reversed(proven.items()):
            if len(turns) == 1:
                return no_puzzle._replace(moves=moves, answer=turns[0])

        unproven = [moves for moves in reversed(numbers) if moves not in proven]
        for moves, guess in islice(_promising(board, unproven), MOST_SEARCHED):
            thought = _searched(board, moves, LONGER)
            if thought.move == guess.move and thought.chance >= WINNING and thought.rival <= LOSING:
                return no_puzzle._replace(moves=moves, answer=thought.move, proven=False)
    return no_puzzle


def _promising(board: Board, numbers: Iterable[int]) -> Iterator[tuple[int, Thought]]:
    """The positions after these numbers of moves that are worth a long search, with the thoughts of a quick one."""
    for moves in numbers:
        thought = _searched(board, moves, 1)
        if thought.chance >= PROMISING and thought.rival < 1:
            yield moves, thought


def _proven(board: Board, numbers: Sequence[int]) -> Iterator[tuple[int, list[str]]]:
    """The turns that win for certain after each number of moves, from the last one on, as long as they can be tried."""
    solver = Solver()
    with suppress(TooLongError):
        for moves in reversed(numbers):
            yield moves, solver.winning(board.states[moves])


def _searched(board: Board, moves: int, times: int) -> Thought:
    """What a robot thinks of the position after so many turns, with *times* as many playouts as usual."""
    game = board.row.game
    playouts = levels(game)[USUAL_LEVEL - 1].playouts or 1
    robot = Player(game, board.options, playouts=playouts * times, rng=Random(board.name))
    return robot.think(board.states[: moves + 1])


class Solver:
    """Finds out by the rules alone which turns win, whatever the other side does and however the dice fall."""

    def __init__(self) -> None:
        """Know nothing yet, and have all turns to try."""
        self.left = MOST_PLAYED
        self.known: dict[tuple[State, int], bool] = {}

    def winning(self, state: State) -> list[str]:
        """The turns that win for certain; if there are several, at least two of them. Raises TooLongError.

        Of the turns that lead to the same position, only the last one counts.
        """
        moves = list(islice(state.moves(), self.left))  # a large board has too many
        if len(moves) == self.left:
            raise TooLongError
        turns = {state.play(turn): turn for turn in moves}
        wins: dict[str, bool | None] = dict.fromkeys(moves)
        depth = 0
        while None in wins.values() and list(wins.values()).count(True) < 2:
            wins = {turn: self._wins(after, state.seats[state.turn], depth) for after, turn in turns.items()}
            depth += 1
        return [turn for turn, is_won in wins.items() if is_won]

    def _wins(self, state: State, player: int, depth: int) -> bool | None:
        """Whether a player wins for certain; None if *depth* turns and throws do not tell."""
        if result := state.result():
            return result.winner is not None and state.seats[result.winner] == player
        if depth == 0 or (state, player) in self.known:
            return self.known.get((state, player))
        nexts: Iterator[State]
        if needs_dice(state) and not state.dice:
            nexts = map(state.roll, combinations_with_replacement(range(1, 7), state.dice_needed))
            decisive = False
        else:
            nexts = map(state.play, state.moves())
            decisive = state.seats[state.turn] == player
        # A single turn of the player that wins decides; of the opponent's turns, and of dice, one that does not win.
        verdict: bool | None = not decisive
        for after in nexts:
            self.left -= 1
            if self.left < 0:
                raise TooLongError
            is_won = self._wins(after, player, depth - 1)
            if is_won is decisive:
                verdict = is_won
                break
            if is_won is None:
                verdict = None
        if verdict is not None:
            self.known[state, player] = verdict
        return verdict
