"""Robots as programs, and matches between programs."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from random import SystemRandom
from typing import Any, NamedTuple

import click

import games
from games import Illegal
from pbm.console import INTERRUPTED
from pbm.console.usage import WHOLE_NUMBER, Commands, Seconds
from pbm.lab.evidence import bounds, elo, expected, likelihood_ratio, wilson
from pbm.lab.matches import Match, Spent, TwoGames, run_here, run_on_cluster
from pbm.refusals import Misused, Refused
from pbm.robot_players.program import command_words, insist_on
from pbm.terminal import say
from pbm.texts import counted, table, title

commands = Commands("pbm")
MOST_FAULTS = 10
"""How many faults are told to people."""
SEEDS = 2**32
"""A seed that nobody has chosen is below that."""


class Hypotheses(click.ParamType["tuple[float, float]"]):
    """Two differences of ratings."""

    name = "pair of differences of ratings, such as 0,50"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """The lower one and the higher one."""
        found = re.fullmatch(r"([+-]?\d{1,4}(?:\.\d+)?),([+-]?\d{1,4}(?:\.\d+)?)", str(value))
        low, high = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
        if low >= high:
            self.fail(f"{value!r} is no {self.name}.", param, ctx)
        return low, high


class Tally(NamedTuple):
    """What a match has come to."""

    match: Match
    pairs: Sequence[TwoGames]
    hypotheses: tuple[float, float] | None
    """The differences of ratings between which the match shall decide."""

    @property
    def outcomes(self) -> Counter[float]:
        """How many games were worth that much for the first program."""
        return Counter(game.points for pair in self.pairs for game in pair.played)

    @property
    def ratio(self) -> float:
        """How much likelier the second hypothesis is, as a logarithm."""
        if not self.hypotheses:
            return 0
        low, high = map(expected, self.hypotheses)
        shares = Counter(pair.points / 2 for pair in self.pairs)
        return likelihood_ratio({share: shares[share] for share in (0, 0.25, 0.5, 0.75, 1)}, low, high)

    @property
    def accepted(self) -> float | None:
        """The hypothesis that was accepted."""
        if not self.hypotheses:
            return None
        low, high = bounds()
        return self.hypotheses[0] if self.ratio <= low else self.hypotheses[1] if self.ratio >= high else None

    @property
    def data(self) -> dict[str, Any]:
        """The same for programs."""
        outcomes, total = self.outcomes, 2 * len(self.pairs)
        points = sum(share * count for share, count in outcomes.items())
        interval = wilson(points, total)
        programs = []
        for index, words in enumerate(self.match.programs):
            won, lost = (outcomes[1], outcomes[0]) if index == 0 else (outcomes[0], outcomes[1])
            spent = sum((pair.spent[index] for pair in self.pairs), Spent())
            programs.append(
                {
                    "program": " ".join(words),
                    "won": won,
                    "drawn": outcomes[0.5],
                    "lost": lost,
                    "points": won + outcomes[0.5] / 2,
                    "moves": spent.moves,
                    "seconds": round(spent.seconds / (spent.moves or 1), 4),
                    "longest": round(spent.longest, 4),
                }
            )
        differences = elo(points / total), *map(elo, interval)
        return {
            "game": self.match.game,
            "options": list(self.match.options),
            "seed": self.match.seed,
            "programs": programs,
            "elo": dict(zip(("difference", "low", "high"), map(_finite, differences), strict=True)),
            "sprt": self._sprt(),
            "faults": [
                {"pair": pair.number, "game": number, "program": game.by, "fault": game.fault}
                for pair in self.pairs
                for number, game in enumerate(pair.played, 1)
                if game.fault
            ],
        }

    def _sprt(self) -> dict[str, Any] | None:
        if not self.hypotheses:
            return None
        names = "ratio", "lower_bound", "upper_bound"
        numbers = dict(zip(names, (round(one, 3) for one in (self.ratio, *bounds())), strict=True))
        return {"hypotheses": list(self.hypotheses), **numbers, "accepted": self.accepted}


def _finite(number: float) -> float | None:
    """A number as JSON can have it, which knows no infinite ones."""
    return round(number, 1) if isfinite(number) else None


def _text(data: Mapping[str, Any]) -> str:
    """A tally for people."""
    lines = [("", "Program", "Won", "Drawn", "Lost", "Score", "Seconds a move", "At most")]
    programs = data["programs"]
    number = sum(programs[0][what] for what in ("won", "drawn", "lost"))
    for name, one in zip("AB", programs, strict=True):
        share = f"{one['points'] / (number or 1):.1%}"
        counts = (str(one[what]) for what in ("won", "drawn", "lost"))
        lines.append((name, one["program"], *counts, share, f"{one['seconds']:.3f}", f"{one['longest']:.3f}"))
    difference, low, high = (_signed(data["elo"][what]) for what in ("difference", "low", "high"))
    beyond = "infinity" if programs[0]["points"] else "-infinity"
    game = " ".join([title(data["game"]), *data["options"]])
    parts = [
        f"{game}: {counted(number, 'game')}",
        table(lines, ["Won", "Drawn", "Lost", "Score", "Seconds a move", "At most"]),
        f"Elo difference {difference or beyond}; 95 % lie between {low or '-infinity'} and {high or 'infinity'}.",
    ]
    if test := data["sprt"]:
        first, second = map(_signed, test["hypotheses"])
        accepted = test["accepted"]
        outcome = f"{_signed(accepted)} is accepted" if accepted is not None else "neither is accepted yet"
        parts.append(
            f"SPRT of {first} against {second}: {outcome}; the logarithm of the ratio of their likelihoods is "
            f"{test['ratio']:.2f},\nand it ends at {test['lower_bound']:.2f} and at {test['upper_bound']:.2f}."
        )
    faults = data["faults"]
    told = [f"Pair {one['pair']}, game {one['game']}: {_who(one['program'])}{one['fault']}" for one in faults]
    if len(told) > MOST_FAULTS:
        told[MOST_FAULTS:] = [f"and {len(told) - MOST_FAULTS} more"]
    return "\n\n".join([*parts, *(["\n".join(told)] if told else [])])


def _signed(number: float | None) -> str:
    return "" if number is None else f"{number:+.0f}"


def _who(program: int | None) -> str:
    return "" if program is None else f"{'AB'[program]} has lost. "


def _named(words: Sequence[str], ctx: click.Context) -> tuple[str, list[str], tuple[list[str], list[str]]]:
    """The game, its options and the programs that these words name. Raises Refused or UsageError."""
    options = [word for word in words if word.startswith("-")]
    if unknown := next((option for option in options if option.startswith("--")), None):
        raise click.NoSuchOption(unknown, ctx=ctx)
    named = [word for word in words if not word.startswith("-")]
    if not games.exists(named[0].lower() if named else ""):
        raise Misused(games.unknown(named[0]) if named else "No game is named.")
    if len(named) != 3:
        raise click.UsageError(f"A duel is between 2 programs; {len(named) - 1} of them are named.", ctx)
    game, first, second = named

    try:
        games.read_options(games.load(game.lower()), options)
    except Illegal as why:
        raise Refused(str(why)) from why
    return game.lower(), options, (command_words(first), command_words(second))


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
    "--timeout", type=Seconds(), default=60, show_default=True, metavar="SECONDS", help="How long a move may take."
)
SEED = click.option("--seed", metavar="SEED", help="Make the dice repeat.")


@commands.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="GAME PROGRAM PROGRAM [-options]")
@number_of_games(20, "How many games; an odd number is one more.")
@WORKERS
@TIMEOUT
@SEED
@click.option(
    "--sprt", type=Hypotheses(), metavar="ELO,ELO", help="Stop as soon as one of these differences is likely enough."
)
@click.option("--dask", "cluster", metavar="ADDRESS", help="Play on the workers of this Dask scheduler.")
@click.option("--verbose", is_flag=True, help="Show what the programs write on standard error.")
@click.pass_context
def duel(
    ctx: click.Context,
    words: Sequence[str],
    number: int,
    workers: int,
    timeout: float,
    seed: str | None,
    sprt: tuple[float, float] | None,
    cluster: str | None,
    *,
    verbose: bool,
) -> int:
    """Let two programs play many games against each other, and tell which one is stronger.

    The programs are asked as by `pbm play`, each of them for both sides of a pair of games, one after the other, and in
    games with dice they get the same ones in both. `pbm robot` is such a program. A program goes on through all games
    of a worker; when a new game begins, its `history` is shorter. It loses a game in which it ends, takes too long, or
    has three moves in a row refused, and by the answer `resign`. After 5000 turns a game is a draw.

    The difference of ratings comes with an interval of 95 %, from Wilson's interval of the score. --sprt=0,50 stops as
    soon as the pairs decide between a difference of 0 and one of 50, each with a risk of 5 % (a generalized sequential
    probability ratio test).

    With --dask the games are played on the workers of a cluster, on which pbm has to be installed, and both programs.
    """
    game, options, programs = _named(words, ctx)
    for program in () if cluster else programs:
        insist_on(program)
    seed = seed or str(SystemRandom().randrange(SEEDS))
    match = Match(game, options, programs, timeout, seed, is_quiet=not verbose)
    tally, status = Tally(match, [], sprt), 0
    pairs = (number + 1) // 2
    is_seen = not ctx.obj and not verbose and sys.stderr.isatty()
    with click.progressbar(length=pairs, file=sys.stderr, hidden=not is_seen, show_eta=True) as bar:

        def report(pair: TwoGames) -> bool:
            nonlocal tally
            tally = tally._replace(pairs=[*tally.pairs, pair])
            won, lost = tally.outcomes[1], tally.outcomes[0]
            bar.label = f"{won} : {lost}"
            bar.update(1)
            return tally.accepted is not None

        try:
            if cluster:
                run_on_cluster(match, pairs, cluster, report)
            else:
                run_here(match, pairs, min(workers, pairs), report)
        except KeyboardInterrupt:  # what has been played until then is told
            status = INTERRUPTED
    if not tally.pairs:
        return status
    data = tally.data
    say(_text(data), data, as_json=ctx.obj)
    return status
