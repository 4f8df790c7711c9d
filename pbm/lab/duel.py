"""The command that lets two programs play many games, to tell which one is stronger."""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from random import SystemRandom
from typing import Any

import click
from click.core import ParameterSource

import games
from games import Illegal
from pbm.console import INTERRUPTED, answer, progress_bar
from pbm.console.usage import SECONDS, WHOLE_NUMBER, Commands, game_name, split_options
from pbm.lab.evidence import BOUND, decision, elo, wilson
from pbm.lab.matches import Match, TwoGames, play_on_cluster, play_pairs
from pbm.refusals import Misused, Refused
from pbm.robot_players.program import TERMINATED, command_words, run_until_terminated, startable_words
from pbm.texts import counted, table

commands = Commands("pbm")
LOSERS = {None: "", 0: "A has lost. ", 1: "B has lost. "}
MOST_FAULTS = 10
"""How many faults are listed for people."""
MOST_REPORTS = 4
"""How many different reports of failures they read."""


def _hypotheses(text: str) -> tuple[float, float]:
    """Two differences of ratings, the lower one and the higher one. At 6,400 the expected share would be exactly 1."""
    found = re.fullmatch(r"([+-]?\d{1,3}(?:\.\d+)?),([+-]?\d{1,3}(?:\.\d+)?)", text)
    low, high = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    if low >= high:
        raise click.BadParameter("it is a pair of differences of ratings below 1000, such as 0,50.")
    return low, high


def tally(match: Match, pairs: Sequence[TwoGames], hypotheses: tuple[float, float] | None) -> dict[str, Any]:
    """The results of a match, for programs. If there are *hypotheses*, a sequential test decides between them."""
    outcomes = Counter(game.points for pair in pairs for game in pair.played)
    number = 2 * len(pairs)
    drawn = outcomes[0.5]
    programs = []
    for index, (win, loss) in enumerate([(1, 0), (0, 1)]):
        seconds = [spent for pair in pairs for spent in pair.seconds[index]]
        programs.append(
            {
                "program": " ".join(match.programs[index]),
                "won": outcomes[win],
                "drawn": drawn,
                "lost": outcomes[loss],
                "points": outcomes[win] + drawn / 2,
                "moves": len(seconds),
                "seconds": round(sum(seconds) / (len(seconds) or 1), 4),
                "longest": round(max(seconds, default=0), 4),
            }
        )
    points = outcomes[1] + drawn / 2
    share = points / number
    low, high = wilson(points, number)
    differences = {"difference": elo(share), "low": elo(low), "high": elo(high)}
    sprt = None
    if hypotheses:
        ratio, accepted = decision(hypotheses, (pair.points for pair in pairs))
        sprt = {
            "hypotheses": list(hypotheses),
            "ratio": round(ratio, 3),
            "lower_bound": round(-BOUND, 3),
            "upper_bound": round(BOUND, 3),
            "accepted": accepted,
        }
    return {
        "game": match.game,
        "options": list(match.options),
        "seed": match.seed,
        "programs": programs,
        "elo": {name: _finite(difference) for name, difference in differences.items()},
        "sprt": sprt,
        "faults": [
            {"pair": pair.number, "game": place, "program": game.by, "fault": game.fault, "report": game.report}
            for pair in pairs
            for place, game in enumerate(pair.played, 1)
            if game.fault
        ],
    }


def _finite(difference: float) -> float | None:
    """A difference of ratings as JSON has it, where no number is infinite: None."""
    if isfinite(difference):
        return round(difference, 1)
    return None


def _text(data: Mapping[str, Any]) -> str:
    """The results of a match, as of `tally`, for people."""
    figures = ["Won", "Drawn", "Lost", "Score", "Seconds a move", "At most"]
    programs = data["programs"]
    number = sum(programs[0][what] for what in ("won", "drawn", "lost"))
    lines = [("", "Program", *figures)]
    for name, program in zip("AB", programs, strict=True):
        line = (
            name,
            program["program"],
            str(program["won"]),
            str(program["drawn"]),
            str(program["lost"]),
            f"{program['points'] / number:.1%}",
            f"{program['seconds']:.3f}",
            f"{program['longest']:.3f}",
        )
        lines.append(line)
    difference, low, high = (_signed(data["elo"][what]) for what in ("difference", "low", "high"))
    beyond = "infinity" if programs[0]["points"] else "-infinity"
    game = " ".join([data["game"].capitalize(), *data["options"]])
    parts = [
        f"{game}: {counted(number, 'game')}",
        table(lines, figures),
        f"Elo difference {difference or beyond}; 95 % lie between {low or '-infinity'} and {high or 'infinity'}.",
    ]
    if test := data["sprt"]:
        first, second = map(_signed, test["hypotheses"])
        outcome = "neither is accepted yet"
        if test["accepted"] is not None:
            outcome = f"{_signed(test['accepted'])} is accepted"
        parts.append(
            f"SPRT of {first} against {second}: {outcome}; the logarithm of the ratio of their likelihoods is "
            f"{test['ratio']:.2f},\nand it ends at {test['lower_bound']:.2f} and at {test['upper_bound']:.2f}."
        )
    faults = []
    reports: dict[tuple[int, str], str] = {}  # each once: a program that fails again mostly reports the same
    for fault in data["faults"]:
        program = fault["program"]
        report = fault["report"]
        which = f"Pair {fault['pair']}, game {fault['game']}"
        faults.append(f"{which}: {LOSERS[program]}{fault['fault']}")
        if report:
            reports.setdefault((program, report), f"{which}, {'AB'[program]}: {report}")
    if len(faults) > MOST_FAULTS:
        faults[MOST_FAULTS:] = [f"and {len(faults) - MOST_FAULTS} more"]
    parts.append("\n".join(faults))
    parts += list(reports.values())[:MOST_REPORTS]
    return "\n\n".join(filter(None, parts))


def _signed(number: float | None) -> str:
    return "" if number is None else f"{number:+.0f}"


def read_words(words: Sequence[str], ctx: click.Context) -> tuple[str, list[str], list[str]]:
    """The game that is the first of these words, its options, and the other words. Raises Refused or UsageError."""
    options, others = split_options(words, ctx)
    if not others:
        raise Misused("No game is named.")
    game = game_name(others.pop(0))
    try:
        games.read_options(games.load(game), options)
    except Illegal as why:
        raise Refused(str(why)) from why
    return game, options, others


def number_of_games(usual: int, meaning: str) -> Callable[[Any], Any]:
    """The option that says how many games are played."""
    return click.option(
        "--games", "number", type=WHOLE_NUMBER, default=usual, show_default=True, metavar="NUMBER", help=meaning
    )


WORKERS = click.option(
    "--workers",
    type=WHOLE_NUMBER,
    default=1,
    show_default=True,
    metavar="NUMBER",
    help="How many games are played side by side.",
)
TIMEOUT = click.option(
    "--timeout", type=SECONDS, default=60, show_default=True, metavar="SECONDS", help="How long a move may take."
)
SEED = click.option(
    "--seed", default=lambda: str(SystemRandom().randrange(2**32)), metavar="SEED", help="Make the dice repeat."
)


@commands.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="GAME PROGRAM PROGRAM [-options]")
@number_of_games(20, "How many games; an odd number is one more.")
@WORKERS
@TIMEOUT
@SEED
@click.option(
    "--sprt",
    type=_hypotheses,
    metavar="ELO,ELO",
    help="Stop as soon as one of these differences is likely enough.",
)
@click.option("--dask", "cluster", metavar="ADDRESS", help="Play on the workers of this Dask scheduler.")
@click.pass_context
def duel(
    ctx: click.Context,
    words: Sequence[str],
    number: int,
    workers: int,
    timeout: float,
    seed: str,
    sprt: tuple[float, float] | None,
    cluster: str | None,
) -> int:
    """Let two programs play many games against each other, and tell which one is stronger.

    The programs are asked as by `pbm play`, each of them for both sides of a pair of games, one after the other. In
    games with dice, both games have the same ones. `pbm robot` is such a program. A program goes on through all games
    of a worker; when a new game begins, its `history` is shorter. It loses a game in which it ends, takes too long, or
    has three moves in a row refused, and by the answer `resign`. After 5000 turns a game is a draw. If it fails, its
    exit status or signal is told, and the last that it has written to standard error.

    The difference of ratings comes with an interval of 95 %, from Wilson's interval of the score. --sprt=0,50 stops as
    soon as the pairs decide between a difference of 0 and one of 50. The risk of either mistake is 5 % (a generalized
    sequential probability ratio test).

    With --dask the games are played on the workers of a cluster. Each worker needs pbm and both programs.
    """
    game, options, named = read_words(words, ctx)
    if len(named) != 2:
        raise click.UsageError(f"A duel is between 2 programs, not {len(named)}.", ctx)
    if cluster and ctx.get_parameter_source("workers") is not ParameterSource.DEFAULT:
        raise click.UsageError("--workers is for games that are played here, and not with --dask.", ctx)
    first, second = map(command_words if cluster else startable_words, named)
    match = Match(game, options, (first, second), timeout, seed)
    status = 0
    pairs = (number + 1) // 2
    done = list[TwoGames]()
    with progress_bar("Pairs") as progress:

        def report(pair: TwoGames) -> bool:
            done.append(pair)
            progress(1, pairs)
            return sprt is not None and decision(sprt, (pair.points for pair in done)).accepted is not None

        try:
            if cluster:
                play_on_cluster(match, pairs, cluster, report)
            else:
                run_until_terminated(play_pairs(match, range(1, pairs + 1), workers, report))
        except KeyboardInterrupt:  # what has been played until then is told
            status = INTERRUPTED
        except asyncio.CancelledError:
            status = TERMINATED
    if done:
        data = tally(match, done, sprt)
        answer(_text(data), data)
    return status
