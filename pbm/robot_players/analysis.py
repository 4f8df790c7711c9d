"""What a robot thinks of every turn of a game that is over, and the command that asks for it."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from random import Random
from textwrap import fill
from typing import Any, NamedTuple

import click

from games import SKIP, Effects, State, thrown
from pbm import delivery, letters, texts
from pbm.actions.analyses import choices
from pbm.actions.finding import find_board, find_row
from pbm.blocks import Block, Curve, Paragraph, Table, text_of
from pbm.board.board import Board
from pbm.console import answer, open_existing, shows_progress
from pbm.console.usage import BOARD_ARGUMENT, GAME_ARGUMENT, SECONDS, Commands
from pbm.letters.letter import OVER
from pbm.robots import Player
from pbm.session import Session
from pbm.store import Unusable
from pbm.terminal import warn

MARKS = {0.2: "??", 0.1: "?"}
"""What stands behind a turn that loses so much of the chance to win, the worst first."""
THROWS = 4
"""How many throws of the dice are tried after a turn, so that luck is not counted."""
COSTLY = 0.05
"""A turn that loses so much of the chance to win is explained, if it is one of the worst."""
MOST_COSTLY = 3
"""How many turns are explained at most."""
MOST_EFFECTS = 2
"""How many effects that differ are named at most when two turns are compared."""
LONGEST_TURN = 16
"""How many characters of a turn the table shows."""
SECONDS_OF_ANALYSIS = 240.0
"""How long an analysis takes at most that a user has asked for."""
SECONDS_OF_TURN = 2.0
"""How long such an analysis thinks about a turn at most."""

commands = Commands("pbm")


class Judged(NamedTuple):
    """A turn, and what it did to the chance of its player to win."""

    number: int
    player: str
    turn: str
    before: float
    """The chance of the player before the turn, which is that after the best turn that was found."""
    after: float
    best: str
    mark: str
    """One of MARKS, or empty."""
    why: str
    """A sentence that says what makes the better turn better; empty unless the turn was COSTLY."""


@commands.command()
@GAME_ARGUMENT
@BOARD_ARGUMENT
@click.option(
    "--seconds", type=SECONDS, default=1.0, show_default=True, metavar="S", help="How long it thinks about a turn."
)
def analyse(game: str, board: str, seconds: float) -> None:
    """Let a robot think about each position of a game that is over: how likely its player was to win, before and after.

    ?? stands behind a turn that has lost 20 % or more of their chance beside the best turn that was found, and ? behind
    one that has lost 10 %. Where dice are thrown, what a turn leads to is looked at with several throws. Turns
    without another legal one are left out. Nobody gets such hints while a game goes on. What was found last is kept
    with the board. `GAME help analyse` explains the command of players.
    """
    session = Session(open_existing())
    with session.store.reading():
        found = find_board(session, game, board)
    numbers, critic = choices(found), Critic(found, seconds)
    with click.progressbar(numbers, label="Turns", file=sys.stderr, hidden=not shows_progress()) as shown:
        judged = [critic.judge(number) for number in shown]
    data = as_data(found, judged, seconds)
    with session.store.writing():
        find_row(session, *found.row.place)  # it may have been removed meanwhile
        session.store.robots.save_analysis(*found.row.place, json.dumps(data), session.now)
    answer(text_of(as_blocks(found, data, session.server.site)), data)


def analyse_for_readers(session: Session, game: str, number: str) -> None:
    """Analyse a game, and mail the analysis to all who have asked for it, in one transaction.

    If a robot fails at the game, or the board is damaged, the readers are told so, the operator is told why, and it is
    not tried again.
    """
    title, board, found = f"{game.capitalize()} board {number}", None, None
    try:
        with session.store.reading():
            board = find_board(session, game, number)
        numbers = choices(board)
        seconds = min(SECONDS_OF_TURN, SECONDS_OF_ANALYSIS / len(numbers))
        critic = Critic(board, seconds, time.process_time)  # others may compute meanwhile
        found = as_data(board, [critic.judge(number) for number in numbers], seconds)
    except Unusable:
        raise
    except Exception as why:
        warn(f"{title} could not be analysed ({type(why).__name__}: {why}).")
    told = as_blocks(board, found, session.server.site) if board and found else f"{title} could not be analysed."
    letter = letters.plain_letter(told, subject=f"{title} analysis", answer=f"{game} show {number}")
    letter = letter._replace(game=game, board=number, thread=board.thread if board else "", is_urgent=True, hint=OVER)
    with session.store.writing():
        readers = session.store.robots.take_analysis_requests(game, number)
        if found and readers:  # or the board was removed meanwhile
            session.store.robots.save_analysis(game, number, json.dumps(found), session.now)
        for reader in readers:
            delivery.queue(session, letter._replace(to=reader))


class Critic:
    """Judges the turns of a board: finds the best turn, and thinks in the same way about what both turns lead to."""

    def __init__(self, board: Board, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """Take so many seconds for a turn, by the *clock*."""
        self.board, self.clock = board, clock
        self.throws = THROWS if board.has_dice else 1
        self.finder = self._player(seconds / 3)
        self.judge_of_one = self._player(seconds / 3 / self.throws)

    def _player(self, seconds: float) -> Player:
        return Player(
            self.board.row.game, self.board.options, seconds=seconds, rng=Random(self.board.name), clock=self.clock
        )

    def judge(self, number: int) -> Judged:
        """What a turn did to the chance of its player; *number* turns were played before it."""
        board = self.board
        turn = board.turns[number]
        states = board.states[: number + 1]
        best = self.finder.think(states).move
        after, reply = self._chance(states, turn.text, turn.userid)
        before, other_reply = (after, reply) if best == turn.text else self._chance(states, best, turn.userid)
        if before <= after:
            before, best = after, turn.text
        before, after = round(before, 3), round(after, 3)
        mark = next((mark for least, mark in MARKS.items() if before - after >= least), "")
        judged = Judged(number + 1, turn.userid, turn.text, before, after, best, mark, "")
        is_costly = before - after >= COSTLY
        return judged._replace(why=self._why(states[-1], judged, reply, other_reply)) if is_costly else judged

    def _chance(self, states: Sequence[State], text: str, userid: str) -> tuple[float, str]:
        """The chance of a player after a turn of theirs, and the opponent's answer, which is empty in games with dice.

        The chance is a mean over throws of dice, which are the same for all turns.
        """
        rng = Random(f"{self.board.name} {len(states)}")
        found = [self._valued([*states, states[-1].play(text)], userid, rng) for _ in range(self.throws)]
        return sum(chance for chance, _ in found) / len(found), found[0][1] if self.throws == 1 else ""

    def _valued(self, line: list[State], userid: str, rng: Random) -> tuple[float, str]:
        """The chance of a player in the last of some positions, where dice are thrown, and the opponent's answer."""
        answer = ""
        while (result := line[-1].result()) is None:
            line[-1] = state = thrown(line[-1], rng)
            if not state.must_skip:
                thought = self.judge_of_one.think(line)
                is_own = self.board.player(state, state.turn) == userid
                return (thought.chance, "") if is_own else (1 - thought.chance, answer or thought.move)
            answer = SKIP
            line.append(state.play(SKIP))
        if result.winner is None:
            return 0.5, ""
        return float(self.board.player(line[-1], result.winner) == userid), ""

    def _why(self, state: State, judged: Judged, reply: str, other_reply: str) -> str:
        """A sentence that says, in the words of the game, what makes the better turn better than the one played.

        That may be the opponent's answer: *reply* or, after the better turn, *other_reply*.
        """
        after, better = state.play(judged.turn), state.play(judged.best)
        mover = state.seats[state.turn]
        if _winner(better) == mover:
            return "The better turn wins at once."
        if _winner(after) == 1 - mover:
            return "The turn that was played loses at once."
        if reply not in {"", SKIP} and _winner(after.play(reply)) == 1 - mover:
            return f"The turn that was played lets the opponent win at once by {reply}."
        ways = _differing(self._effects(state, better), self._effects(state, after))
        if SKIP not in {reply or SKIP, other_reply or SKIP}:
            answers = self._effects(better, better.play(other_reply)), self._effects(after, after.play(reply))
            threat, told = _differing(*(each[:1] for each in answers)), self._effects(state, better)[:1]
            if threat and told == self._effects(state, after)[:1]:
                spared, suffered = threat
                return (
                    f"After the turn that was played, {reply} {suffered}; after the better one, {other_reply} {spared}."
                )
        if ways:
            return f"The better turn {ways[0]}; the one that was played {ways[1]}."
        return f"The better turn leaves {judged.before:.0%} of the chances, the one that was played {judged.after:.0%}."

    def _effects(self, before: State, after: State) -> Effects:
        """What a turn does, as the game tells it; empty if the game tells nothing."""
        effects = getattr(self.board.rules, "effects", None)
        return effects(before, after) if effects else []


def _winner(state: State) -> int | None:
    """The player who has won in a position; None if none has."""
    result = state.result()
    return None if result is None or result.winner is None else state.seats[result.winner]


def _differing(first: Effects, second: Effects) -> tuple[str, str] | None:
    """What each of two turns does where they differ, such as ``captures 2 stacks``; None if they do not differ."""
    pairs = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]][:MOST_EFFECTS]
    if not pairs:
        return None
    one, other = (
        texts.enumerated(
            [f"{verb} {texts.counted(count, noun) if count else f'no {noun}s'}" for verb, noun, count in each]
        )
        for each in zip(*pairs, strict=True)
    )
    return one, other


def curve(board: Board, judged: Sequence[Judged]) -> list[float]:
    """The chance of the first player to win, before each turn and at the end."""
    first = board.players[0]
    chances = [one.before if one.player == first else 1 - one.before for one in judged]
    end = 0.5 if board.winner is None else float(board.winner == first)
    return [round(chance, 3) for chance in [*chances, end]]


def as_data(board: Board, judged: Sequence[Judged], seconds: float) -> dict[str, Any]:
    """The analysis as JSON, for programs and as it is stored."""
    return {
        **board.row.place_data,
        "players": list(board.players),
        "seconds": seconds,
        "turns": [one._asdict() for one in judged],
        "curve": curve(board, judged),
    }


def as_blocks(board: Board, data: Mapping[str, Any], site: str | None) -> list[Block]:
    """The analysis for people, with links to the positions before the turns that cost most, if there is a *site*."""
    row, judged = board.row, [Judged(**turn) for turn in data["turns"]]
    lines = [("Move", "Player", "Before", "After", "", "Turn", "Better")]
    for one in judged:
        chances = f"{one.before:4.0%}", f"{one.after:4.0%}"
        better = one.best if one.mark else ""
        lines.append((str(one.number), one.player, *chances, one.mark, _short(one.turn), _short(better)))
    told: list[Block] = [
        Paragraph(letters.heading("board", kind="Analysis", title=letters.title(board.present))),
        Paragraph(letters.status_of(board.present)),
        Curve(f"How likely {board.players[0]} was to win:", data["curve"]),
    ]
    costly = sorted((one for one in judged if one.why), key=lambda one: one.after - one.before)[:MOST_COSTLY]
    told += [Paragraph("The turns that cost most:" if costly else f"No turn cost {COSTLY:.0%} or more.")]
    for one in costly:
        head = f"Move {one.number}, {one.player}: {one.before:.0%} before it, {one.after:.0%} after it."
        link = f"{site}/{row.game}/{row.board}.html#{one.number - 1}" if site else ""
        shown = [texts.wrapped_turns(f"{name}: {turn}") for name, turn in (("Played", one.turn), ("Better", one.best))]
        told.append(Paragraph("\n".join(filter(None, [head, *shown, fill(one.why, texts.WIDTH), link]))))
    return [*told, Table(lines)]


def _short(text: str) -> str:
    """A turn, cut to what fits into the table."""
    return text if len(text) <= LONGEST_TURN else f"{text[: LONGEST_TURN - 3]}..."
