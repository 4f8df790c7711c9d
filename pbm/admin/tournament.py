"""Tournaments: a pool of players, its boards, and its table."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import click

import games
from games import Illegal
from pbm import delivery, texts
from pbm.actions import challenges
from pbm.admin.robots import known
from pbm.admin.usage import Commands
from pbm.board import clocks
from pbm.names import LONGEST_POOL, is_pool
from pbm.refusals import Refused
from pbm.session import Session
from pbm.settings import open_server
from pbm.store import BoardRow, Store
from pbm.terminal import say

MOST_PLAYERS = 32
"""How many players a pool may have: to start the boards of more would hold up everybody else for too long."""
SIGNS = {1: "1", 0: "=", -1: "0", None: "."}
"""How the table shows a game that was won, tied or lost, and one that is still to be played."""
WORTH = {1: 1.0, 0: 0.5, -1: 0.0, None: None}
"""What a game is worth."""

Pair = tuple[str, str]
"""Two players, of whom the first one begins."""
Results = Mapping[str, Mapping[str, Sequence[int | None]]]
"""For each player and each of his opponents, their games: 1 for a win, 0 for a tie, -1 for a loss, None if unplayed."""


class Plan(NamedTuple):
    """A tournament that is to be started."""

    game: str
    pool: str
    options: Sequence[str]
    players: Sequence[str]
    pairs: Sequence[Pair]
    times: Mapping[str, str | None]
    """The clock options of the boards, as they are written."""

    @property
    def boards(self) -> list[tuple[str, Pair]]:
        """The boards by name, each with its players."""
        return [(f"{self.pool}{number}", pair) for number, pair in enumerate(self.pairs, 1)]


class Standing(NamedTuple):
    """A line of a pool's table."""

    place: int
    """1 for the best; players who are equal also in their games against each other share a place."""
    userid: str
    points: float
    """1 for each win, 0.5 for each tie."""
    sonneborn_berger: float
    """For each win the points of the opponent, for each tie half of them."""
    won: int
    lost: int
    tied: int
    to_play: int


# Who meets whom


def round_robin(players: Sequence[str], *, double: bool = False) -> list[Pair]:
    """Each two players once, round by round; *double* adds them all again with the other one beginning.

    No player begins more than one game more, or less, than he does not begin.
    """
    seats = len(players) + len(players) % 2
    last = seats - 1  # keeps his seat while all others move on; nobody sits there if the players are odd in number
    pairs = []
    for turn in range(last):
        meetings = [(turn, last), *(((turn + step) % last, (turn - step) % last) for step in range(1, seats // 2))]
        for low, high in map(sorted, meetings):
            if high < len(players):
                pair = players[low], players[high]
                pairs.append(pair if (high - low) % 2 else pair[::-1])
    return pairs + [(second, first) for first, second in pairs] if double else pairs


def neighbours(players: Sequence[str]) -> list[Pair]:
    """The first two players, the next two, and so on."""
    return list(zip(players[::2], players[1::2], strict=True))


# The table


def results(players: Iterable[str], boards: Iterable[BoardRow]) -> Results:
    """What each player has reached against each other; games against oneself do not count."""
    found: dict[str, dict[str, list[int | None]]] = {name: {} for name in players}
    for row in boards:
        for me, other in ((row.first_player, row.second_player), (row.second_player, row.first_player)):
            if me != other:
                outcome = None if row.ended is None else 0 if row.winner is None else 1 if row.winner == me else -1
                found.setdefault(me, {}).setdefault(other, []).append(outcome)
    return found


def table(found: Results) -> list[Standing]:
    """The players by points, then by Sonneborn-Berger score, then by their games against each other, then by name."""
    points = {name: sum(WORTH[outcome] or 0 for outcome in _outcomes(found[name])) for name in found}
    tie_breaks = {
        name: sum(
            (WORTH[outcome] or 0) * points[other] for other, against in found[name].items() for outcome in against
        )
        for name in found
    }
    lines: list[Standing] = []
    for scored in _equals(found, lambda name: (points[name], tie_breaks[name])):
        for equals in _by_encounter(found, scored):
            place = len(lines) + 1
            for name in sorted(equals):
                outcomes = _outcomes(found[name])
                counts = (outcomes.count(outcome) for outcome in (1, -1, 0, None))
                lines.append(Standing(place, name, points[name], tie_breaks[name], *counts))
    return lines


def _by_encounter(found: Results, names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Players who are equal otherwise, parted by what they have reached against each other, the best ones first.

    Those who stay together are parted by their games among themselves alone, until nothing parts them.
    """
    reached = {
        name: sum(WORTH[outcome] or 0 for other in names for outcome in found[name].get(other, ())) for name in names
    }
    parts = _equals(names, lambda name: reached[name])
    for part in parts:
        if len(parts) > 1:
            yield from _by_encounter(found, part)
        else:
            yield part


def _equals(names: Iterable[str], value: Callable[[str], Any]) -> list[list[str]]:
    """The names of the same value together, the highest value first."""
    return [list(same) for _, same in groupby(sorted(names, key=value, reverse=True), value)]


def _outcomes(games_of: Mapping[str, Sequence[int | None]]) -> list[int | None]:
    return [outcome for against in games_of.values() for outcome in against]


# What the command says


class Overview(NamedTuple):
    """A list for people, for spreadsheets and for programs."""

    text: str
    rows: Sequence[Sequence[object]]
    """As CSV has it; the first one is the heading."""
    data: Mapping[str, object]


def pools(session: Session, game: str) -> Overview:
    """The pools of a game."""
    with session.reading():
        players = Counter(pool for pool, *_ in session.store.pool_players(game))
    lines = [("Pool", "Players"), *((pool, str(count)) for pool, count in players.items())]
    text = texts.table(lines) if players else f"There are no tournaments of {texts.title(game)}."
    return Overview(text, [("pool", "players"), *players.items()], {"game": game, "pools": players})


def standing(session: Session, game: str, pool: str) -> Overview:
    """The table of a pool. Raises Refused if there is no such pool."""
    with session.reading():
        players = [userid for _, userid, *_ in session.store.pool_players(game, pool)]
        boards = session.store.tournament_boards(game, pool)
    if not players and not boards:
        raise Refused(f"There is no pool {pool!r} of {texts.title(game)}.")
    found = results(players, boards)
    lines = table(found)
    names = [line.userid for line in lines]
    shown = [("Place", "Player", "Points", "SB", "Won", "Lost", "Tied", "To play", *names)]
    rows = [(*Standing._fields, *names)]
    for line in lines:
        against = [found[line.userid].get(name, []) for name in names]
        signs = ("".join(SIGNS[outcome] for outcome in outcomes) for outcomes in against)
        numbers = [f"{value:g}" if isinstance(value, float) else str(value) for value in line]
        shown.append((*numbers, *signs))
        rows.append((*numbers, *(" ".join(_worth(outcome) for outcome in outcomes) for outcomes in against)))
    over = sum(row.ended is not None for row in boards)
    heading = f"Pool {pool} of {texts.title(game)}, {over} of {len(boards)} games played"
    data = [
        {
            **line._asdict(),
            "results": {name: [WORTH[one] for one in outcomes] for name, outcomes in found[line.userid].items()},
        }
        for line in lines
    ]
    return Overview(f"{heading}\n\n{texts.table(shown)}", rows, {"game": game, "pool": pool, "table": data})


def _worth(outcome: int | None) -> str:
    points = WORTH[outcome]
    return "-" if points is None else f"{points:g}"


def pool_begun(session: Session, plan: Plan, *, dry_run: bool) -> Overview:
    """Start a tournament, or say only what it would be. Raises Refused, with all that stands against it."""
    with session.reading() if dry_run else session.writing():
        times, wrong = clocks.read(plan.times, is_tournament=True)
        if problems := [*_problems(plan), *wrong, *_collisions(session.store, plan)]:
            raise Refused("\n".join(problems))
        if not dry_run:
            for userid in plan.players:
                session.store.add_pool_player(plan.game, plan.pool, userid)
            for name, pair in plan.boards:
                board = challenges.start(session, plan.game, plan.options, pair, times=times, name=name)
                delivery.answer(session, None, *challenges.announced(session, board))
    rows = [("board", "first", "second"), *((name, *pair) for name, pair in plan.boards)]
    count = f"{texts.counted(len(plan.pairs), 'board')} of {texts.title(plan.game)}"
    done = f"{count} would be started." if dry_run else f"{count} {'are' if len(plan.pairs) > 1 else 'is'} started."
    text = f"{texts.table([('Board', 'First', 'Second'), *rows[1:]])}\n\n{done}"
    schedule = [{"board": name, "players": pair} for name, pair in plan.boards]
    data = {"game": plan.game, "pool": plan.pool, "dry_run": dry_run, "schedule": schedule}
    return Overview(text, rows, data)


def _problems(plan: Plan) -> Iterator[str]:
    """What is wrong with a plan in itself."""
    if not 2 <= len(plan.players) <= MOST_PLAYERS:
        yield f"A tournament has 2 to {MOST_PLAYERS} players, not {len(plan.players)}."
    yield from (f"{name} is named twice." for name, count in Counter(plan.players).items() if count > 1)
    try:
        games.read_options(games.load(plan.game), plan.options)
    except Illegal as why:
        yield str(why)


def _collisions(store: Store, plan: Plan) -> Iterator[str]:
    """What of a plan does not fit with what is stored."""
    if not is_pool(plan.pool):
        yield f"The name of a pool is 1 to {LONGEST_POOL} letters, not {plan.pool!r}."
        return
    yield from (f"There is no user {name!r}." for name in plan.players if store.password_of(name) is None)
    yield from challenges.not_of_robots(store, plan.game, plan.players)
    if store.pool_players(plan.game, plan.pool) or store.tournament_boards(plan.game, plan.pool):
        yield f"There is a pool {plan.pool} of {texts.title(plan.game)} already."
        return
    for name, _ in plan.boards:
        if store.is_taken(name):
            yield f"A board {name} would have the name of a user; choose another pool."
        if store.board(plan.game, name):
            yield f"There is a board {name} already."


commands = Commands("pbm")


@commands.command(context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="GAME [POOL [USERID... [-options]]]")
@click.option("--double", is_flag=True, help="Each two players meet twice, and each of them begins once.")
@click.option("--pairs", is_flag=True, help="Only the first two players meet, the next two, and so on.")
@click.option("--dry-run", is_flag=True, help="List the boards, and start none.")
@click.option("--nagtime", metavar="DAYS", help="Until the player to move is reminded.")
@click.option("--forfeittime", metavar="DAYS", help="Until he has lost.")
@click.option("--totaltime", metavar="DAYS", help="What a player has for all his moves.")
@click.option("--novacation", flag_value="yes", help="Vacations do not stop the clocks.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the list as CSV.")
@click.pass_context
def tournament(
    ctx: click.Context,
    /,
    words: Sequence[str],
    *,
    double: bool,
    pairs: bool,
    dry_run: bool,
    as_csv: bool,
    **times: str | None,
) -> None:
    """Start the boards of a tournament, or show how it stands.

    With players, a pool of them is made, and each two of them get a board: a1, a2 and so on in the pool a. Each
    player begins half of his games. Options of the game are written as in a challenge. Whoever rejects or limits
    challenges plays nevertheless.

    Without players, the table of the pool: a win is 1 point, a tie 0.5. SB is the Sonneborn-Berger score, which
    decides between equal points: for each win the points of the opponent, for each tie half of them. Between players
    who are equal in that, too, direct encounter decides: the points of their games against each other. Only who is
    equal even there shares a place. Then what each player has reached against each other: 1 won, 0 lost, = tied, and
    a dot for a game that is still to be played.

    Without a pool, the pools there are.
    """
    options = [word for word in words if word.startswith("-")]
    unknown = next((option for option in options if option.startswith("--")), None)
    if unknown:
        raise click.NoSuchOption(unknown, ctx=ctx)
    others = [word.lower() for word in words if not word.startswith("-")]
    if not others:
        raise click.UsageError("No game is named.", ctx)
    game, pool, players = known(others[0]), "".join(others[1:2]), others[2:]
    if not players and (options or any(times.values()) or double or pairs or dry_run):
        raise click.UsageError("These options are for a tournament that begins; its players are missing.", ctx)
    if double and pairs:
        raise Refused("Choose one of --double and --pairs.")
    if pairs and len(players) % 2:
        raise Refused(f"{texts.counted(len(players), 'player')} cannot be paired.")
    session = Session(open_server())
    if players:
        met = neighbours(players) if pairs else round_robin(players, double=double)
        listing = pool_begun(session, Plan(game, pool, options, players, met, times), dry_run=dry_run)
    else:
        listing = standing(session, game, pool) if pool else pools(session, game)
    if as_csv and not ctx.obj:
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows(listing.rows)
        say(written.getvalue().rstrip("\n"), {})
    else:
        say(listing.text, listing.data, as_json=ctx.obj)
