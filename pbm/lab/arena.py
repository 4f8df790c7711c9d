"""An arena: programs play each other, and the table is printed; the games can be stored as boards."""

import re
from collections.abc import Sequence
from itertools import combinations
from random import SystemRandom
from typing import TYPE_CHECKING

import click

import games
from games import Illegal
from pbm import texts
from pbm.console.usage import Commands
from pbm.lab.duel import SEED, SEEDS, TIMEOUT, WORKERS, number_of_games
from pbm.lab.matches import Match, TwoGames, run_here
from pbm.refusals import Refused
from pbm.robot_players.program import command_words, insist_on
from pbm.robot_players.scripts import known
from pbm.settings import open_server
from pbm.terminal import say
from pbm.tournaments import tables
from pbm.tournaments.meetings import Meeting

if TYPE_CHECKING:
    from pbm.lab.storing import Filing

ORDER = "sb", "direct"
"""What decides between equal points."""
OUTCOMES = {1.0: 1, 0.5: 0, 0.0: -1}

commands = Commands("pbm")


@commands.command(context_settings={"ignore_unknown_options": True})
@click.argument(
    "words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="GAME NAME=PROGRAM NAME=PROGRAM... [-options]"
)
@number_of_games(2, "How many games each two play; an odd number is one more.")
@click.option("--save", "pool", metavar="POOL", help="Store the games as boards of a new pool; names are userids.")
@click.option("--rated", is_flag=True, help="Let these games count in the ratings.")
@WORKERS
@TIMEOUT
@SEED
@click.pass_context
def arena(
    ctx: click.Context,
    /,
    words: Sequence[str],
    number: int,
    *,
    pool: str | None,
    rated: bool,
    workers: int,
    timeout: float,
    seed: str | None,
) -> None:
    """Let programs play each other, each two as many games with each side, and print the table.

    The programs are asked as by `pbm play` and `pbm duel`; they stay alive from game to game, the rules are looked
    after here, and no database is used, so that it takes no longer than the programs think. A program loses a game in
    which it ends, takes too long, or has three moves in a row refused, and by the answer `resign`.

    With --save, programs have the names of users or robots of the server, and each game is stored when it ends, to be
    looked at like any other; nobody is mailed. Such games are not rated, but with --rated.
    """
    if rated and not pool:
        raise Refused("--rated is for games that are stored, with --save=POOL.")
    options = [word for word in words if word.startswith("-")]
    if unknown := next((option for option in options if option.startswith("--")), None):
        raise click.NoSuchOption(unknown, ctx=ctx)
    game, *named = [word for word in words if not word.startswith("-")] or [""]
    game = known(game)
    programs = _programs(named)
    try:
        games.read_options(games.load(game), options)
    except Illegal as why:
        raise Refused(str(why)) from why
    seed = seed or str(SystemRandom().randrange(SEEDS))
    filing = _filing(game, pool.lower(), options, [*programs], is_rated=rated) if pool else None
    pairs = (number + 1) // 2
    meetings: list[Meeting] = []
    faults: list[str] = []
    for one, other in combinations(programs, 2):

        def report(two: TwoGames, one: str = one, other: str = other) -> bool:
            for at, played in enumerate(two.played):
                outcome = OUTCOMES[played.points]
                meetings.append(Meeting(1, one, other, outcome) if at == 0 else Meeting(1, other, one, -outcome))
                if played.fault:
                    loser = "" if played.by is None else f"{(one, other)[played.by]} has lost: "
                    faults.append(f"{one} against {other}: {loser}{played.fault}")
            return False

        match = Match(game, options, (programs[one], programs[other]), timeout, f"{seed} {one} {other}")
        run_here(match, pairs, min(workers, pairs), report, filing.of((one, other)) if filing else None)
    lines = tables.places_of(programs, meetings, ORDER)
    sheet = tables.sheet(lines, ORDER, tables.Sheet((), [()] * len(lines)), numbered=False)
    shown = texts.table([tuple(sheet.heading), *map(tuple, sheet.rows)])
    heading = f"{texts.title(game)}: {texts.counted(len(meetings), 'game')}"
    data = {
        "game": game,
        "options": options,
        "seed": seed,
        "table": [
            {"place": line.place, "name": line.name, "points": line.points, "sonneborn_berger": line.scores["sb"],
             "won": line.won, "lost": line.lost, "tied": line.tied}
            for line in lines
        ],
        "faults": faults,
    }  # fmt: skip
    stored = ""
    if filing:
        data |= {"pool": filing.pool, "boards": filing.boards}
        stored = f"Stored: {texts.counted(len(filing.boards), 'board')} of pool {filing.pool}."
    parts = [heading, shown, tables.explained(ORDER), "\n".join(faults), stored]
    say("\n\n".join(filter(None, parts)), data, as_json=ctx.obj)


def _filing(game: str, pool: str, options: Sequence[str], names: Sequence[str], *, is_rated: bool) -> "Filing":
    """Where games are stored. Raises Refused."""
    from pbm.lab.storing import Filing  # no database without --save

    return Filing(open_server(), game, pool, options, names, is_rated=is_rated)


def _programs(named: Sequence[str]) -> dict[str, list[str]]:
    """The words of each program, by its name. Raises Refused."""
    programs: dict[str, list[str]] = {}
    for word in named:
        name, equals, program = word.partition("=")
        if not (re.fullmatch(r"[\w.-]{1,16}", name) and equals and program.strip()):
            raise Refused(f"{word!r} is not NAME=PROGRAM with a name of 1 to 16 letters or digits.")
        if name in programs:
            raise Refused(f"Two programs are called {name}.")
        programs[name] = [*command_words(program)]
        insist_on(programs[name])
    if len(programs) < 2:
        raise Refused("An arena needs two programs or more: NAME=PROGRAM NAME=PROGRAM.")
    return programs
