"""The lists of a game: who plays it how well, and what was played."""

from collections.abc import Sequence
from itertools import islice
from math import ceil
from textwrap import wrap
from typing import Any

from pbm import letters
from pbm.letters import Letter
from pbm.ratings import Rating
from pbm.session import Refused, Session
from pbm.store import BoardRow, Player, ResultRow
from pbm.words import WIDTH

SECTIONS = {
    "Established": "E",
    "Provisional": "P",
    "Inactive (established)": "I",
    "Inactive (provisional)": "I",
}
"""The parts of the standings, each with the letter that marks its players in the list of all."""
NUMBERS = frozenset("Rank Rating Won Lost Ties Active Seeking Pts Moves".split())
"""The columns that hold numbers."""
RARE = frozenset({"Ties", "Rated"})
"""The columns that are left out where they say nothing."""
LONGEST = 16
"""How many characters a userid may have."""
MOST_GAMES = 1000
"""How many games are listed in a mail."""
POINTS = 1
"""What a game is worth, in all games that there are."""
HEIGHT = 16
"""How many lines a rating takes at most when it is drawn."""


def standings(session: Session, game: str) -> list[Letter]:
    """The players of a game by rating, the tables of its tournaments, and who seeks challenges before he is rated."""
    name = letters.title(game)
    with session.reading():
        players = session.store.players(game)
        active = session.store.active_counts(game)
        pools = session.store.pool_players(game)
        rated = [player for player in players if player.rating is not None]
        seekers = [player for player in players if player.rating is None and player.seeking]
        parts = _sections(rated, active) if rated else [f"Nobody has a rating in {name} yet."]
        if pools:
            lines = [(pool, userid, *map(str, counts)) for pool, userid, *counts in pools]
            table = letters.table([("Pool", "Name", "Won", "Lost", "Ties"), *lines], NUMBERS)
            parts.append(f"Tournaments\n{table}")
        if seekers:
            lines = [(player.userid, str(player.seeking)) for player in seekers]
            parts.append(f"Not rated yet, seeking challenges\n{letters.table([('Name', 'Seeking'), *lines], NUMBERS)}")
        data = {
            "game": game,
            "players": [_of_player(player, active) for player in rated],
            "pools": [dict(zip(("pool", "userid", "won", "lost", "tied"), pool, strict=True)) for pool in pools],
            "seekers": [{"userid": player.userid, "seeking": player.seeking} for player in seekers],
        }
        return _answered(session, f"{name} Standings", parts, f"{game} challenge USERID1 USERID2", data)


def plotted(session: Session, game: str, userid: str) -> list[Letter]:
    """How the rating of a player has gone, drawn. Raises Refused if he has none."""
    player, name = userid.lower(), letters.title(game)
    with session.reading():
        results = session.store.results_of_user(game, player)
        if not results:
            known = session.store.is_taken(player)
            raise Refused(f"{player} has no rated game of {name}." if known else f"There is no user {player!r}.")
        ratings = [results[0].before, *(result.after for result in results)]
        last = results[-1]
        kind = "established" if Rating(last.after, last.games).is_established else "provisional"
        count = f"{len(results)} rated game{'s' if len(results) > 1 else ''}"
        said = f"{player}: {last.after} ({kind})\n{count} of {name}, highest {max(ratings)}, lowest {min(ratings)}"
        drawn = drawing(ratings, f"{results[0].ended:%Y-%m-%d}", f"{last.ended:%Y-%m-%d}")
        data = {"game": game, "userid": player, "results": [_of_result(result) for result in results]}
        return _answered(session, f"{name} Standings", [said, drawn], f"{game} standings", data)


def history(session: Session, game: str) -> list[Letter]:
    """The games that are over, the oldest first; in a mail only the last ones."""
    name = letters.title(game)
    most = None if session.in_shell else MOST_GAMES
    with session.reading():
        played = session.store.history(game, most and most + 1)
        parts = []
        if most and len(played) > most:
            del played[0]
            parts.append(f"These are the last {most} games; older ones are left out.")
        rows = [_row_of_game(row, is_rated=is_rated) for row, is_rated in played]
        parts.append(_fitting(_table(rows)) if rows else f"No game of {name} is over yet.")
        data = {"game": game, "games": [_of_game(row, is_rated=is_rated) for row, is_rated in played]}
        return _answered(session, f"Historical List of {name} games", parts, f"{game} standings", data)


def drawing(ratings: Sequence[int], first: str, last: str) -> str:
    """Ratings as a line of asterisks, lowest below, with the dates of the *first* and the *last* change under it.

    Where there are more ratings than columns, a column shows all that fall into it.
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


def _sections(rated: Sequence[Player], active: dict[str, int]) -> list[str]:
    """A table for each part of the standings, and one of all players if there is more than one part."""
    groups = {title: [player for player in rated if _section(player) == title] for title in SECTIONS}
    rows = [_row(rank, player, active) for group in groups.values() for rank, player in enumerate(group, 1)]
    heading, *lines = _table(rows)
    rest = iter(lines)
    parts = ["\n".join([title, heading, *islice(rest, len(group))]) for title, group in groups.items() if group]
    if len(parts) > 1:
        rows = [_row(rank, player, active) | {"": SECTIONS[_section(player)]} for rank, player in enumerate(rated, 1)]
        parts.append("\n".join(["All (E established, P provisional, I inactive)", *_table(rows)]))
    return parts


def _section(player: Player) -> str:
    """In which part of the standings a player stands."""
    is_established = Rating(games=player.games).is_established
    if player.inactive:
        return "Inactive (established)" if is_established else "Inactive (provisional)"
    return "Established" if is_established else "Provisional"


def _row(rank: int, player: Player, active: dict[str, int]) -> dict[str, str]:
    """What the standings tell of a player, under the headings of their columns."""
    limit = "" if player.most is None else f"/ {player.most}" if player.most else "/reject"
    return {
        "Rank": str(rank),
        "Name": player.userid,
        "Rating": str(player.rating),
        "Won": str(player.won),
        "Lost": str(player.lost),
        "Ties": str(player.tied),
        "Active": str(active[player.userid] or ""),
        "Limit": limit,
        "Seeking": str(player.seeking or ""),
    }


def _table(rows: Sequence[dict[str, str]]) -> list[str]:
    """The heading and the lines of a table; some columns are left out where they say nothing."""
    headings = tuple(name for name in rows[0] if name not in RARE or any(row[name] not in {"", "0"} for row in rows))
    lines = [tuple(row[heading] for heading in headings) for row in rows]
    return letters.table([headings, *lines], NUMBERS).splitlines()


def _row_of_game(row: BoardRow, *, is_rated: bool) -> dict[str, str]:
    """What the history tells of a game, under the headings of its columns."""
    return {
        "Ended (UTC)": f"{row.ended:%Y-%m-%d %H:%M}",
        "Board": row.board,
        "Winner": row.winner or "TIE",
        "Pts": str(POINTS),
        "Moves": str(row.moves),
        "Rated": "" if is_rated else "no",
        "Players": f"{row.first_player} {row.second_player}",
    }


def _fitting(table: Sequence[str]) -> str:
    """A table of games, in which the second player stands below the first one where both do not fit."""
    below = min(table[0].index("Players"), WIDTH - LONGEST)
    return "\n".join(part for line in table for part in wrap(line, WIDTH, subsequent_indent=" " * below))


def _of_player(player: Player, active: dict[str, int]) -> dict[str, Any]:
    """What a program is told of a player."""
    return {
        "userid": player.userid,
        "rating": player.rating,
        "established": Rating(games=player.games).is_established,
        "inactive": player.inactive,
        "won": player.won,
        "lost": player.lost,
        "tied": player.tied,
        "active": active[player.userid],
        "limit": player.most,
        "seeking": player.seeking,
    }


def _of_result(result: ResultRow) -> dict[str, Any]:
    """What a program is told of what a game did to a rating."""
    ended = result.ended.isoformat()
    return {
        "board": result.board,
        "outcome": result.outcome,
        "before": result.before,
        "after": result.after,
        "ended": ended,
    }


def _of_game(row: BoardRow, *, is_rated: bool) -> dict[str, Any]:
    """What a program is told of a game that is over."""
    return {
        "board": row.board,
        "ended": row.ended and row.ended.isoformat(),
        "winner": row.winner or "draw",
        "points": POINTS,
        "moves": row.moves,
        "rated": is_rated,
        "players": [row.first_player, row.second_player],
    }


def _answered(session: Session, subject: str, parts: Sequence[str], answer: str, data: dict[str, Any]) -> list[Letter]:
    return session.answer(None, letters.note("\n\n".join(parts), subject=subject, answer=answer, data=data))
