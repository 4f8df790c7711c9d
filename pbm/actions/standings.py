"""The lists of a game: its players by rating, and the games that are over."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from functools import partial
from itertools import groupby
from math import ceil
from textwrap import wrap
from typing import Any, NamedTuple

from pbm import letters
from pbm.actions import finding, lists
from pbm.blocks import Block, Content, Paragraph, Preformatted
from pbm.board.ratings import Rating
from pbm.letters import Letter
from pbm.names import LONGEST_USERID
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow, PlayerRow, Robot, Section
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
POINTS = 1
"""How many points a won game counts in the history: the same in all games that there are."""
HEIGHT = 16
"""How many lines the drawing of a rating has at most."""


class StandingsLine(NamedTuple):
    """A line of one of the tables of the standings."""

    title: str
    """The title of its table."""
    rank: int
    """The place by rating; 0 for a line that is about no rating."""
    content: PlayerRow | lists.Row
    """A rated player, or the cells of a line about anybody else."""


def standings(session: Session, game: str, page: str, named: Mapping[str, str | None]) -> list[Letter]:
    """The players of a game by rating, the tables of its tournaments, and seekers who have no rating yet.

    If ``plot`` names a player, it is a drawing of their ratings instead.
    """
    userid = named["plot"]
    if userid:
        return plotted(session, game, userid)
    number = lists.page_number(session, page)
    lines, following = lists.on_page(session, page, partial(_lines, session, game), _no_page(game, "standings"))
    blocks: list[Block] = []
    if number < 2 and not session.store.players.by_rating(game, most=1):
        blocks.append(Paragraph(f"Nobody has a rating in {game.capitalize()} yet."))
    tables = [_table(session, game, title, list(part)) for title, part in groupby(lines, lambda line: line.title)]
    if tables:
        blocks.append(Preformatted("\n\n".join(tables)))
    letter = letters.plain_letter(
        blocks,
        subject=f"{game.capitalize()} Standings",
        answer=f"{game} challenge USERID1 USERID2",
        **_data(session, game, number),
    )
    return [lists.with_next(letter, f"{game} standings", following)]


def _table(session: Session, game: str, title: str, lines: Sequence[StandingsLine]) -> str:
    """One of the tables of the standings below its title."""
    userids = [line.content.userid for line in lines if isinstance(line.content, PlayerRow)]
    active = session.store.boards.active_counts(userids, game)
    robots = session.store.robots.among(userids)
    rows = []
    for line in lines:
        if not isinstance(line.content, PlayerRow):
            rows.append(line.content)
            continue
        player = line.content
        row = _row(line.rank, player, active[player.userid][game], robots)
        if title == ALL_RATED:
            row[""] = _mark(player)
        rows.append(row)
    rare = RARE if "Rank" in rows[0] else ()  # a table of a pool has all its columns
    return f"{title}\n{lists.aligned(rows, NUMBERS, rare).text}"


def _no_page(game: str, command: str) -> str:
    """The text about a page that does not exist, in which ``{page}`` is its number."""
    return f"There is no page {{page}}. The command is written:\n\n  {game} {command} [PAGE]"


def plotted(session: Session, game: str, userid: str) -> list[Letter]:
    """A drawing of all ratings that a player has had. Raises Refused if there are none."""
    player = userid.lower()
    title = game.capitalize()
    results = session.store.players.results_of_user(game, player)
    if not results:
        if session.store.users.is_taken(player):
            raise Refused(f"{player} has no rated game of {title}.")
        raise Refused(finding.no_user(session, player))
    first = results[0]
    last = results[-1]
    ratings = [first.before]
    ratings += [result.after for result in results]
    kind = "established" if Rating(last.after, last.games).is_established else "provisional"
    count = counted(len(results), "rated game")
    summary = f"{player}: {last.after} ({kind})\n{count} of {title}, highest {max(ratings)}, lowest {min(ratings)}"
    graph = drawing(ratings, f"{first.ended:%Y-%m-%d}", f"{last.ended:%Y-%m-%d}")
    results_data = [
        {
            "board": result.board,
            "outcome": result.outcome,
            "before": result.before,
            "after": result.after,
            "ended": result.ended.isoformat(),
        }
        for result in results
    ]
    letter = letters.plain_letter(
        [Paragraph(summary), Preformatted(graph)],
        subject=f"{title} Standings",
        answer=f"{game} standings",
        game=game,
        userid=player,
        results=results_data,
    )
    return [letter]


def history(session: Session, game: str, page: str) -> list[Letter]:
    """The games that are over, the oldest first; page 1 has the latest ones."""
    title = game.capitalize()
    find_games = partial(session.store.boards.history, game)
    ended_games, following = lists.on_page(session, page, find_games, _no_page(game, "history"), is_backwards=True)
    zone = session.zone(None)
    rows = [_ended_row(row, zone, is_rated=is_rated) for row, is_rated in ended_games]
    content: Content = f"No game of {title} is over yet."
    if rows:
        content = [_fitting(lists.aligned(rows, NUMBERS, RARE).text)]
    letter = letters.plain_letter(
        content,
        subject=f"Historical List of {title} games",
        answer=f"{game} standings",
        game=game,
        games=[_ended_data(row, is_rated=is_rated) for row, is_rated in ended_games],
    )
    return [lists.with_next(letter, f"{game} history", following)]


def _ended_row(row: BoardRow, zone: tzinfo, *, is_rated: bool) -> lists.Row:
    """A line of the history, with its time in a *zone*."""
    ended = (row.ended or row.started).astimezone(zone)
    return {
        f"Ended ({zone})": f"{ended:{ZONELESS_TIME_FORMAT}}",
        "Board": row.board,
        "Winner": row.winner or "TIE",
        "Pts": str(POINTS),
        "Moves": str(row.moves),
        "Rated": "" if is_rated else "unrated",
        "Reason": row.reason or "",
        "Players": f"{row.first_player} {row.second_player}",
    }


def _ended_data(row: BoardRow, *, is_rated: bool) -> dict[str, Any]:
    """A line of the history for programs."""
    return {
        "board": row.board,
        "ended": row.ended and row.ended.isoformat(),
        "winner": row.winner or "draw",
        "points": POINTS,
        "moves": row.moves,
        "rated": is_rated,
        "reason": row.reason,
        "players": list(row.players),
    }


def drawing(ratings: Sequence[int], first: str, last: str) -> str:
    """A drawing of ratings as asterisks, the lowest one at the bottom, above the dates of the *first* and *last* game.

    If there are more ratings than columns, a column shows several.
    """
    span = max(ratings) - min(ratings)
    step = 10 * max(1, ceil(span / (10 * (HEIGHT - 2))))  # rating points to a line; rounding adds up to two lines
    lowest = min(ratings) // step
    heights = [round(rating / step) - lowest for rating in ratings]
    labels = [str((lowest + height) * step) for height in range(max(heights) + 1)]
    margin = max(map(len, labels))
    width = WIDTH - margin - 2
    grid = [[" "] * width for _ in labels]
    """The characters of each line, from the lowest one up."""

    column = 0
    height = heights[0]
    for number, new_height in enumerate(heights):
        new_column = number * (width - 1) // (len(heights) - 1)
        for between in range(column + 1, new_column):
            grid[height][between] = "-"
        column = new_column
        for between in range(min(height, new_height), max(height, new_height)):
            if grid[between][column] != "*":
                grid[between][column] = "|"
        height = new_height
        grid[height][column] = "*"

    lines = []
    for label, row in zip(labels, grid, strict=True):
        line = "".join(row).rstrip()
        lines.append(f"{label:>{margin}} |{line}")
    lines.reverse()
    lines.append(f"{'':{margin}} +{'-' * width}")
    lines.append(f"{'':{margin}}  {first}{last:>{width - len(first)}}")
    return "\n".join(lines)


def _lines(session: Session, game: str, most: int) -> Iterator[StandingsLine]:
    """The lines of all tables of the standings.

    Each of SECTIONS comes first, then all players if there is more than one section, then pools and seekers. At most
    *most* lines are of players; -1 is no limit.
    """
    store = session.store
    sections: dict[str, Section | None] = {}
    for title, section in SECTIONS.items():
        if store.players.by_rating(game, section, most=1):
            sections[title] = section
    if len(sections) > 1:
        sections[ALL_RATED] = None
    for title, part in sections.items():
        players = store.players.by_rating(game, part, most)
        most -= len(players)  # below 0, there is no limit
        for rank, player in enumerate(players, 1):
            yield StandingsLine(title, rank, player)
    for pool, userid, won, lost, tied in store.tournaments.pool_players(game):
        cells = {"Pool": pool, "Name": userid, "Won": str(won), "Lost": str(lost), "Ties": str(tied)}
        yield StandingsLine("Tournaments", 0, cells)
    for player in store.players.seekers(game, session.now.date()):
        cells = {"Name": player.userid, "Seeking": str(player.seeking)}
        yield StandingsLine("Not rated yet, seeking challenges", 0, cells)


def _mark(player: PlayerRow) -> str:
    """The character that says in which of SECTIONS a player is: `E`, `P` or `I`."""
    if player.inactive:
        return "I"
    if Rating(games=player.games).is_established:
        return "E"
    return "P"


def _data(session: Session, game: str, page: int) -> dict[str, Any]:
    """The standings for programs, if one asks: all for page 0, else as much of each list as a page has lines.

    The text has a table for each list, so no list goes on behind its last page.
    """
    if not session.as_json:
        return {"game": game}
    store = session.store
    on_page = slice(None)
    most = -1
    if page:
        most = page * lists.LINES_OF_PAGE
        on_page = slice(most - lists.LINES_OF_PAGE, most)
    rated = store.players.by_rating(game, most=most)[on_page]
    userids = [player.userid for player in rated]
    active = store.boards.active_counts(userids, game)
    robots = store.robots.among(userids)
    return {
        "game": game,
        "players": [
            _player_data(player, active[player.userid][game], is_robot=player.userid in robots) for player in rated
        ],
        "pools": [
            {"pool": pool, "userid": userid, "won": won, "lost": lost, "tied": tied}
            for pool, userid, won, lost, tied in list(store.tournaments.pool_players(game))[on_page]
        ],
        "seekers": [
            {"userid": player.userid, "seeking": player.seeking}
            for player in list(store.players.seekers(game, session.now.date()))[on_page]
        ],
    }


def _row(rank: int, player: PlayerRow, active: int, robots: Mapping[str, Robot]) -> lists.Row:
    """A line of the standings about a player with a number of *active* boards."""
    return {
        "Rank": str(rank),
        "Name": player.userid,
        "Robot": _kind_of_robot(robots.get(player.userid)),
        "Rating": str(player.rating),
        "Won": str(player.won),
        "Lost": str(player.lost),
        "Ties": str(player.tied),
        "Active": str(active or ""),
        "Limit": _limit(player),
        "Seeking": str(player.seeking or ""),
    }


def _kind_of_robot(robot: Robot | None) -> str:
    """What the standings say of a robot, such as ``level 3``; ``program`` without a level, nothing for a person."""
    if robot is None:
        return ""
    if robot.level:
        return f"level {robot.level}"
    return "program"


def _limit(player: PlayerRow) -> str:
    """On how many boards a player plays at most, behind the number of active ones; empty without a limit."""
    if player.most is None:
        return ""
    if player.most == 0:
        return "/reject"
    return f"/ {player.most}"


def _fitting(table: str) -> Preformatted:
    """A table of games; a second player who does not fit into the line goes below the first one."""
    indent = " " * min(table.index("Players"), WIDTH - LONGEST_USERID)
    lines: list[str] = []
    for line in table.split("\n"):
        lines += wrap(line, WIDTH, subsequent_indent=indent)
    return Preformatted("\n".join(lines))


def _player_data(player: PlayerRow, active: int, *, is_robot: bool) -> dict[str, Any]:
    """A line of the standings for programs, about a player with a number of *active* boards."""
    data = {
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
    }
    if is_robot:
        data["robot"] = True
    return data
