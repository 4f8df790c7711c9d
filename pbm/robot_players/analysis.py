"""What a robot thinks of every turn of a game that is over, and the command that asks for it."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from textwrap import fill
from typing import Any, NamedTuple

import click

from games import SKIP, Effects, State, thrown
from pbm import delivery, letters, texts
from pbm.actions.analyses import choices
from pbm.actions.finding import find_board, find_row
from pbm.blocks import Block, Content, Curve, Paragraph, Table, text_of
from pbm.board.board import Board
from pbm.console import answer, open_existing, shows_progress
from pbm.console.usage import BOARD_ARGUMENT, GAME_ARGUMENT, SECONDS, Commands
from pbm.letters.letter import OVER
from pbm.robot_players.cluster import Cluster, ElsewhereError
from pbm.robots import Player
from pbm.session import Session
from pbm.store import BoardRow, TurnRow, Unusable
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
SECONDS_ON_CLUSTER = 10 * SECONDS_OF_ANALYSIS
"""How long it may take on a cluster, where it may have to wait."""
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

    A turn is compared with the best turn that was found: ?? stands behind it if the player has lost 20 % or more of
    their chance, and ? if they have lost 10 %. Where dice are thrown, what a turn leads to is looked at with several
    throws. Turns without another legal one are left out. Nobody gets such hints while a game goes on. What was found
    last is kept with the board. `GAME help analyse` explains the command of players.
    """
    session = Session(open_existing())
    with session.store.reading():
        replayed = find_board(session, game, board)
    numbers = choices(replayed)
    critic = Critic(replayed, seconds)
    with click.progressbar(numbers, label="Turns", file=sys.stderr, hidden=not shows_progress()) as shown:
        judged = [critic.judge(number) for number in shown]
    data = as_data(replayed, judged, seconds)
    with session.store.writing():
        find_row(session, *replayed.row.place)  # it may have been removed meanwhile
        session.store.robots.save_analysis(*replayed.row.place, json.dumps(data), session.now)
    answer(text_of(as_blocks(replayed, data, session.server.site)), data)


def analyse_for_readers(session: Session, game: str, number: str, cluster: Cluster | None = None) -> None:
    """Analyse a game, here or on a cluster, and mail the analysis to all who have asked for it, in one transaction.

    If a robot fails at the game, or the board is damaged, the readers are told so, and the operator is told why. It is
    not tried again. Raises ElsewhereError if the cluster is lost.
    """
    title = f"{game.capitalize()} board {number}"
    board: Board | None = None
    data: dict[str, Any] | None = None
    try:
        with session.store.reading():
            board = find_board(session, game, number)
        numbers = choices(board)
        seconds = min(SECONDS_OF_TURN, SECONDS_OF_ANALYSIS / len(numbers))
        if cluster:
            tasks = [(board.row, board.turns, number, seconds) for number in numbers]
            judged = list(cluster.compute(judge_apart, tasks, SECONDS_ON_CLUSTER))
        else:
            critic = Critic(board, seconds, time.process_time)  # others may compute meanwhile
            judged = [critic.judge(number) for number in numbers]
        data = as_data(board, judged, seconds)
    except (ElsewhereError, Unusable):
        raise
    except Exception as why:
        warn(f"{title} could not be analysed ({type(why).__name__}: {why}).")
    content: Content = f"{title} could not be analysed."
    if board and data:
        content = as_blocks(board, data, session.server.site)
    thread = board.thread if board else ""
    letter = letters.plain_letter(content, subject=f"{title} analysis", answer=f"{game} show {number}")
    letter = letter._replace(game=game, board=number, thread=thread, is_urgent=True, hint=OVER)
    with session.store.writing():
        readers = session.store.robots.take_analysis_requests(game, number)
        if data and readers:  # without readers, the board was removed meanwhile
            session.store.robots.save_analysis(game, number, json.dumps(data), session.now)
        for reader in readers:
            delivery.queue(session, letter._replace(to=reader))


def judge_apart(row: BoardRow, turns: list[TurnRow], number: int, seconds: float) -> Judged:
    """What a turn of a board did, on a machine that has no database; *number* turns were played before it."""
    return Critic(Board(row, turns, {}), seconds, time.thread_time).judge(number)


class Critic:
    """Judges the turns of a board: finds the best turn, and thinks in the same way about what both turns lead to."""

    def __init__(self, board: Board, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """Take so many seconds for a turn, by the *clock*."""
        self.board = board
        self.clock = clock
        self.throws = THROWS if board.has_dice else 1
        # a third to find the best turn; the rest for what it and the turn that was played lead to
        self.finder = self._player(seconds / 3)
        self.valuer = self._player(seconds / 3 / self.throws)

    def _player(self, seconds: float) -> Player:
        """A player who thinks for so long about a position. It plays by chance, and for the same board alike."""
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
        before = after
        best_reply = reply
        if best != turn.text:
            before, best_reply = self._chance(states, best, turn.userid)
        if before <= after:  # the longer look at both turns finds the one that was played as good
            before = after
            best = turn.text
        before = round(before, 3)
        after = round(after, 3)
        judged = Judged(
            number=number + 1,
            player=turn.userid,
            turn=turn.text,
            before=before,
            after=after,
            best=best,
            mark=next((mark for least, mark in MARKS.items() if before - after >= least), ""),
            why="",
        )
        if before - after < COSTLY:
            return judged
        return judged._replace(why=self._why(states[-1], judged, reply, best_reply))

    def _chance(self, states: Sequence[State], text: str, userid: str) -> tuple[float, str]:
        """The chance of a player after their own turn, and the opponent's answer, which is empty in games with dice.

        The chance is a mean over throws of dice, which are the same for all turns.
        """
        rng = Random(f"{self.board.name} {len(states)}")
        played = states[-1].play(text)
        chances = []
        reply = ""
        for _ in range(self.throws):
            chance, reply = self._valued(list(states) + [played], userid, rng)
            chances.append(chance)
        if self.throws > 1:
            reply = ""  # it was the answer to one throw of several
        return sum(chances) / len(chances), reply

    def _valued(self, line: list[State], userid: str, rng: Random) -> tuple[float, str]:
        """The chance of a player in the last of some positions, where dice are thrown, and the opponent's answer.

        A player who has to skip does so first. The answer is empty if it is this player's turn then, or the game is
        over.
        """
        answer = ""
        while (result := line[-1].result()) is None:
            state = thrown(line[-1], rng)
            line[-1] = state
            if not state.must_skip:
                thought = self.valuer.think(line)
                if self.board.player(state, state.turn) == userid:
                    return thought.chance, ""
                return 1 - thought.chance, answer or thought.move
            answer = SKIP
            line.append(state.play(SKIP))
        if result.winner is None:
            return 0.5, ""
        return float(self.board.player(line[-1], result.winner) == userid), ""

    def _why(self, state: State, judged: Judged, reply: str, best_reply: str) -> str:
        """A sentence that says, in the words of the game, what makes the better turn better than the one played.

        That may be the opponent's answer: *reply* or, after the better turn, *best_reply*.
        """
        after = state.play(judged.turn)
        better = state.play(judged.best)
        mover = state.seats[state.turn]
        if _winner(better) == mover:
            return "The better turn wins at once."
        if _winner(after) == 1 - mover:
            return "The turn that was played loses at once."
        if reply not in {"", SKIP} and _winner(after.play(reply)) == 1 - mover:
            return f"The turn that was played lets the opponent win at once by {reply}."
        better_effects = self._effects(state, better)
        own_effects = self._effects(state, after)
        # The opponent's answers explain more where the first effect of both turns is the same.
        if reply not in {"", SKIP} and best_reply not in {"", SKIP} and better_effects[:1] == own_effects[:1]:
            spared_effects = self._effects(better, better.play(best_reply))
            suffered_effects = self._effects(after, after.play(reply))
            if threat := _differing(spared_effects[:1], suffered_effects[:1]):
                spared, suffered = threat
                return (
                    f"After the turn that was played, {reply} {suffered}; after the better one, {best_reply} {spared}."
                )
        if ways := _differing(better_effects, own_effects):
            return f"The better turn {ways[0]}; the one that was played {ways[1]}."
        return f"The better turn leaves {judged.before:.0%} of the chances, the one that was played {judged.after:.0%}."

    def _effects(self, before: State, after: State) -> Effects:
        """What a turn does, as the game tells it; empty if the game tells nothing."""
        effects: Callable[[State, State], Effects] | None = getattr(self.board.rules, "effects", None)
        if effects is None:
            return []
        return effects(before, after)


def _winner(state: State) -> int | None:
    """The player who has won in a position; None if none has."""
    result = state.result()
    if result is None or result.winner is None:
        return None
    return state.seats[result.winner]


def _differing(first: Effects, second: Effects) -> tuple[str, str] | None:
    """What each of two turns does where they differ, such as ``captures 2 stacks``; None if they do not differ."""
    pairs = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]][:MOST_EFFECTS]
    if not pairs:
        return None
    first_effects, second_effects = zip(*pairs, strict=True)
    return _effects_text(first_effects), _effects_text(second_effects)


def _effects_text(effects: Iterable[tuple[str, str, int]]) -> str:
    """Effects in words, such as ``captures 2 stacks and leaves no eyes``."""
    parts = []
    for verb, noun, count in effects:
        counted = texts.counted(count, noun) if count else f"no {noun}s"
        parts.append(f"{verb} {counted}")
    return texts.enumerated(parts)


def curve(board: Board, judged: Sequence[Judged]) -> list[float]:
    """The chance of the first player to win, before each turn and at the end."""
    first = board.players[0]
    chances = []
    for turn in judged:
        if turn.player == first:
            chances.append(turn.before)
        else:
            chances.append(1 - turn.before)
    if board.winner is None:
        chances.append(0.5)
    elif board.winner == first:
        chances.append(1.0)
    else:
        chances.append(0.0)
    return [round(chance, 3) for chance in chances]


def as_data(board: Board, judged: Sequence[Judged], seconds: float) -> dict[str, Any]:
    """The analysis as JSON, for programs and as it is stored."""
    return {
        **board.row.place_data,
        "players": list(board.players),
        "seconds": seconds,
        "turns": [turn._asdict() for turn in judged],
        "curve": curve(board, judged),
    }


def as_blocks(board: Board, data: Mapping[str, Any], site: str | None) -> list[Block]:
    """The analysis for people, with links to the positions before the turns that cost most, if there is a *site*."""
    judged = [Judged(**turn) for turn in data["turns"]]
    blocks: list[Block] = [
        Paragraph(letters.heading("board", kind="Analysis", title=letters.title(board.present))),
        Paragraph(letters.status_of(board.present)),
        Curve(f"How likely {board.players[0]} was to win:", data["curve"]),
    ]
    explained = [turn for turn in judged if turn.why]
    costliest = sorted(explained, key=lambda turn: turn.after - turn.before)[:MOST_COSTLY]
    if costliest:
        blocks.append(Paragraph("The turns that cost most:"))
    else:
        blocks.append(Paragraph(f"No turn cost {COSTLY:.0%} or more."))
    for turn in costliest:
        lines = [f"Move {turn.number}, {turn.player}: {turn.before:.0%} before it, {turn.after:.0%} after it."]
        lines.append(texts.wrapped_turns(f"Played: {turn.turn}"))
        lines.append(texts.wrapped_turns(f"Better: {turn.best}"))
        lines.append(fill(turn.why, texts.WIDTH))
        if site:
            lines.append(f"{site}/{board.row.game}/{board.number}.html#{turn.number - 1}")
        blocks.append(Paragraph("\n".join(lines)))

    rows = [("Move", "Player", "Before", "After", "", "Turn", "Better")]
    for turn in judged:
        better = turn.best if turn.mark else ""
        row = (
            str(turn.number),
            turn.player,
            f"{turn.before:4.0%}",
            f"{turn.after:4.0%}",
            turn.mark,
            _short(turn.turn),
            _short(better),
        )
        rows.append(row)
    blocks.append(Table(rows))
    return blocks


def _short(text: str) -> str:
    """A turn, cut to what fits into the table."""
    if len(text) <= LONGEST_TURN:
        return text
    return f"{text[: LONGEST_TURN - 3]}..."
