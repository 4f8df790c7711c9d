"""The lists of a game: its players by rating, and the games that are over."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from math import ceil
from textwrap import wrap
from typing import Any

from pbm import letters
from pbm.actions import finding, lists
from pbm.blocks import Block, Paragraph, Preformatted
from pbm.board.ratings import Rating
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import PlayerRow, Robot, Section
from pbm.texts import WIDTH, ZONELESS_TIME_FORMAT, counted

SECTIONS = {
    "Established": Section(established=True, inactive=False),
    "Provisional": Section(established=False, inactive=False),
    "Inactive (established)": Section(established=True, inactive=True),
    "Inactive (provisional)": Section(established=False, inactive=True),
}
"""The parts of the standings, by title."""
ALL_RATED = "All (E established, P provisional, I inactive)"
"""The title of the table of all players."""
NUMBERS = frozenset("Rank Rating Won Lost Ties Active Seeking Pts Moves".split())
"""The columns that hold numbers."""
RARE = frozenset({"Robot", "Ties", "Rated", "Reason"})
"""The columns that are left out where all their cells are empty."""
LONGEST = 16
"""How many characters a userid may have."""
POINTS = 1
"""How many points a won game counts in the history: the same in all games that there are."""
HEIGHT = 16
"""How many lines the drawing of a rating has at most."""


def standings(session: Session, game: str, page: str, named: Mapping[str, str | None]) -> list[Letter]:
    """The players of a game by rating, the tables of its tournaments, and seekers who have no rating yet.

    If ``plot`` names a player, it is a drawing of their ratings instead.
    """
    if userid := named["plot"]:
        return plotted(session, game, userid)
    name, number = game.capitalize(), lists.page_number(session, page)
    found, following = lists.on_page(session, page, partial(_lines, session, game), _no_page(game, "standings"))
    is_nobody = number < 2 and not session.store.players.by_rating(game, most=1)
    tables = []
    for title, part in groupby(found, lambda line: line[0]):
        lines = [*part]
        names = [one.userid for *_, one in lines if isinstance(one, PlayerRow)]
        active, robots = session.store.boards.active_counts(names, game), session.store.robots.among(names)
        rows = [
            _row(rank, one, active[one.userid][game], robots) | ({"": _mark(one)} if title == ALL_RATED else {})
            if isinstance(one, PlayerRow)
            else one
            for _, rank, one in lines
        ]
        tables.append(f"{title}\n{lists.aligned(rows, NUMBERS, RARE if 'Rank' in rows[0] else ()).text}")
    told: list[Block] = [Paragraph(f"Nobody has a rating in {name} yet.")] if is_nobody else []
    told += [Preformatted("\n\n".join(tables))] if tables else []
    data = {"game": game} if number else _data(session, game)
    letter = letters.plain_letter(told, subject=f"{name} Standings", answer=f"{game} challenge USERID1 USERID2", **data)
    return [lists.with_next(letter, f"{game} standings", following)]


def _no_page(game: str, command: str) -> str:
    """The text about a page that does not exist, in which ``{page}`` is its number."""
    return f"There is no page {{page}}. The command is written:\n\n  {game} {command} [PAGE]"


def plotted(session: Session, game: str, userid: str) -> list[Letter]:
    """A drawing of all ratings that a player has had. Raises Refused if there are none."""
    player, name = userid.lower(), game.capitalize()
    results = session.store.players.results_of_user(game, player)
    if not results:
        known = session.store.users.is_taken(player)
        raise Refused(f"{player} has no rated game of {name}." if known else finding.no_user(session, player))
    ratings = [results[0].before, *(result.after for result in results)]
    last = results[-1]
    kind = "established" if Rating(last.after, last.games).is_established else "provisional"
    count = counted(len(results), "rated game")
    said = f"{player}: {last.after} ({kind})\n{count} of {name}, highest {max(ratings)}, lowest {min(ratings)}"
    drawn = drawing(ratings, f"{results[0].ended:%Y-%m-%d}", f"{last.ended:%Y-%m-%d}")
    shown = [
        {
            "board": one.board,
            "outcome": one.outcome,
            "before": one.before,
            "after": one.after,
            "ended": one.ended.isoformat(),
        }
        for one in results
    ]
    told = Paragraph(said), Preformatted(drawn)
    subject, answer = f"{name} Standings", f"{game} standings"
    return [letters.plain_letter(told, subject=subject, answer=answer, game=game, userid=player, results=shown)]


def history(session: Session, game: str, page: str) -> list[Letter]:
    """The games that are over, the oldest first; page 1 has the latest ones."""
    name, history = game.capitalize(), partial(session.store.boards.history, game)
    found, following = lists.on_page(session, page, history, _no_page(game, "history"), is_backwards=True)
    zone = session.zone(None)
    rows = [
        {
            f"Ended ({zone})": f"{(row.ended or row.started).astimezone(zone):{ZONELESS_TIME_FORMAT}}",
            "Board": row.board,
            "Winner": row.winner or "TIE",
            "Pts": str(POINTS),
            "Moves": str(row.moves),
            "Rated": "" if is_rated else "unrated",
            "Reason": row.reason or "",
            "Players": f"{row.first_player} {row.second_player}",
        }
        for row, is_rated in found
    ]
    shown = [
        {
            "board": row.board,
            "ended": row.ended and row.ended.isoformat(),
            "winner": row.winner or "draw",
            "points": POINTS,
            "moves": row.moves,
            "rated": is_rated,
            "reason": row.reason,
            "players": [*row.players],
        }
        for row, is_rated in found
    ]
    letter = letters.plain_letter(
        [_fitting(lists.aligned(rows, NUMBERS, RARE).text)] if rows else f"No game of {name} is over yet.",
        subject=f"Historical List of {name} games",
        answer=f"{game} standings",
        game=game,
        games=shown,
    )
    return [lists.with_next(letter, f"{game} history", following)]


def drawing(ratings: Sequence[int], first: str, last: str) -> str:
    """A drawing of ratings as asterisks, the lowest one at the bottom, above the dates of the *first* and *last* game.

    If there are more ratings than columns, a column shows several.
    """
    step = 10 * max(1, ceil((max(ratings) - min(ratings)) / (10 * (HEIGHT - 2))))
    lowest = min(ratings) // step
    heights = [round(rating / step) - lowest for rating in ratings]
    labels = [str((lowest + height) * step) for height in range(max(heights) + 1)]
    margin = max(map(len, labels))
    width = WIDTH - margin - 2
    grid = [[" "] * width for _ in labels]
    column, height = 0, heights[0]
    for number, new in enumerate(heights):
        left, column = column, number * (width - 1) // (len(heights) - 1)
        for at in range(left + 1, column):
            grid[height][at] = "-"
        for at in range(min(height, new), max(height, new)):
            if grid[at][column] != "*":
                grid[at][column] = "|"
        grid[new][column] = "*"
        height = new
    lines = [f"{label:>{margin}} |{''.join(row).rstrip()}" for label, row in zip(labels, grid, strict=True)]
    axis = f"{'':{margin}} +{'-' * width}"
    dates = f"{'':{margin}}  {first}{last:>{width - len(first)}}"
    return "\n".join([*reversed(lines), axis, dates])


def _lines(session: Session, game: str, most: int) -> Iterator[tuple[str, int, PlayerRow | lists.Row]]:
    """The lines of all tables of the standings: the title of the table, the rank, and the player or a row.

    Each of SECTIONS comes first, then all players if there is more than one section, then pools and seekers. At most
    *most* lines are of players; -1 is no limit.
    """
    store = session.store
    parts: dict[str, Section | None] = {
        title: one for title, one in SECTIONS.items() if store.players.by_rating(game, one, most=1)
    }
    if len(parts) > 1:
        parts[ALL_RATED] = None
    for title, section in parts.items():
        players = store.players.by_rating(game, section, most)
        most -= len(players)  # below 0, there is no limit
        for rank, player in enumerate(players, 1):
            yield title, rank, player
    for row in store.tournaments.pool_players(game):
        yield "Tournaments", 0, dict(zip(("Pool", "Name", "Won", "Lost", "Ties"), map(str, row), strict=True))
    for player in store.players.seekers(game, session.now.date()):
        yield "Not rated yet, seeking challenges", 0, {"Name": player.userid, "Seeking": str(player.seeking)}


def _mark(player: PlayerRow) -> str:
    """The character that says in which of SECTIONS a player is: `E`, `P` or `I`."""
    return "I" if player.inactive else "E" if Rating(games=player.games).is_established else "P"


def _data(session: Session, game: str) -> dict[str, Any]:
    """The standings for programs."""
    store = session.store
    rated = store.players.by_rating(game)
    names = [player.userid for player in rated]
    active, robots = store.boards.active_counts(names, game), store.robots.among(names)
    pools = store.tournaments.pool_players(game)
    seekers = store.players.seekers(game, session.now.date())
    return {
        "game": game,
        "players": [_of_player(one, active[one.userid][game], is_robot=one.userid in robots) for one in rated],
        "pools": [dict(zip(("pool", "userid", "won", "lost", "tied"), pool, strict=True)) for pool in pools],
        "seekers": [{"userid": player.userid, "seeking": player.seeking} for player in seekers],
    }


def _row(rank: int, player: PlayerRow, active: int, robots: Mapping[str, Robot]) -> dict[str, str]:
    """A row of the standings."""
    robot = robots.get(player.userid)
    limit = "" if player.most is None else f"/ {player.most}" if player.most else "/reject"
    return {
        "Rank": str(rank),
        "Name": player.userid,
        "Robot": "" if robot is None else f"level {robot.level}" if robot.level else "program",
        "Rating": str(player.rating),
        "Won": str(player.won),
        "Lost": str(player.lost),
        "Ties": str(player.tied),
        "Active": str(active or ""),
        "Limit": limit,
        "Seeking": str(player.seeking or ""),
    }


def _fitting(table: str) -> Preformatted:
    """A table of games; a second player who does not fit into the line goes below the first one."""
    below = " " * min(table.index("Players"), WIDTH - LONGEST)
    lines = (part for line in table.split("\n") for part in wrap(line, WIDTH, subsequent_indent=below))
    return Preformatted("\n".join(lines))


def _of_player(player: PlayerRow, active: int, *, is_robot: bool) -> dict[str, Any]:
    """A row of the standings for programs."""
    return {
        "userid": player.userid,
        "rating": player.rating,
        "established": Rating(games=player.games).is_established,
        "inactive": player.inactive,
        "won": player.won,
        "lost": player.lost,
        "tied": player.tied,
        "active": active,
        "limit": player.most,
        "seeking": player.seeking,
        **({"robot": True} if is_robot else {}),
    }
