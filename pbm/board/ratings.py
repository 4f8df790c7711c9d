"""Ratings: how a game that has ended changes the ratings of its players. `pbm help ratings` explains the system."""

from datetime import datetime
from typing import NamedTuple

import games
from pbm.names import is_guest
from pbm.store import ESTABLISHED, BoardRow, PlayerRow, ResultRow, Store

START = 1600
"""The rating of a player before their first rated game."""
LOWEST = 100
"""No rating falls below this."""
CENTRE = 1720
"""With every game, a provisional rating moves a fifth of the way to this one."""
K_FACTOR = 32
"""How much is at stake in a game between players of established ratings: Elo's K."""

COUNT_OF_OUTCOME = {1: "won", 0: "tied", -1: "lost"}
"""The column in which a game with that outcome is counted."""


class Rating(NamedTuple):
    """A rating, and the number of rated games that it comes from."""

    rating: int = START
    games: int = 0

    @property
    def is_established(self) -> bool:
        """Whether it comes from enough games to be changed by Elo's rule."""
        return self.games >= ESTABLISHED


def new_rating(own: Rating, opponent: Rating, outcome: int) -> int:
    """The rating *own* after a game against an *opponent*; *outcome* is 1 for a win, 0 for a tie, -1 for a loss."""
    if own.is_established:
        new = _established(own, opponent, outcome)
    else:
        new = _provisional(own, opponent, outcome)
    return max(LOWEST, new)


def _provisional(own: Rating, opponent: Rating, outcome: int) -> int:
    """The mean of the worths of all games, moved towards CENTRE. Quotients are rounded toward zero."""
    worth = opponent.rating + 400 * outcome
    if not opponent.is_established:
        worth = int((own.rating + opponent.rating) / 2) + 200 * outcome
    mean = int((own.rating * own.games + worth) / (own.games + 1))
    return mean + int((CENTRE - own.rating) / 5)


def _established(own: Rating, opponent: Rating, outcome: int) -> int:
    """Elo's rule, with less at stake against a player with a provisional rating."""
    stake = K_FACTOR * min(opponent.games, ESTABLISHED) / ESTABLISHED
    gap = min((opponent.rating - own.rating) / 400, 300)  # a larger power of 10 would be no float
    expected = 1 / (1 + 10**gap)
    scored = (outcome + 1) / 2
    return own.rating + int(stake * (scored - expected))


def settle(store: Store, row: BoardRow, now: datetime, *, has_begun: bool) -> list[ResultRow]:
    """Count a game that has just ended in the table of its pool and, if it is rated, in the ratings of its players.

    Its players become active. Returns the changes of ratings; nothing for an unrated game, or one that has not begun.
    """
    userids = list(dict.fromkeys(row.players))
    for userid in userids:
        store.players.set_inactive(row.game, userid, inactive=False)
        if row.pool and len(userids) == 2:
            store.tournaments.count_result(row.game, row.pool, userid, _outcome(row, userid))
    if why_unrated(row) or not has_begun:
        return []
    first, second = (store.players.get(row.game, userid) for userid in userids)
    # both before either is stored, because each rating is changed by what the other one was before
    results = [_result(row, first, second, now), _result(row, second, first, now)]
    _store_result(store, first, results[0])
    _store_result(store, second, results[1])
    return results


def take_back(store: Store, row: BoardRow) -> None:
    """Take back what the end of a game has changed: in the table of its pool, and in the ratings of its players."""
    if row.pool and row.first_player != row.second_player:
        for userid in row.players:
            store.tournaments.count_result(row.game, row.pool, userid, _outcome(row, userid), -1)
    for result in store.players.results_of_board(*row.place):
        player = store.players.get(row.game, result.userid)
        store.players.take_back_result(result, LOWEST)
        rest = store.players.results_of_user(row.game, result.userid)
        rating = None
        rated = None
        if rest:
            rating = rest[-1].after
            rated = rest[-1].ended
        counts = _counts_with(player, result.outcome, -1)
        store.players.change(row.game, result.userid, rating=rating, rated=rated, **counts)


def _store_result(store: Store, player: PlayerRow, result: ResultRow) -> None:
    """Store what a game has changed for a player."""
    counts = _counts_with(player, result.outcome, 1)
    store.players.change(result.game, player.userid, rating=result.after, rated=result.ended, **counts)
    store.players.add_result(result)


def _counts_with(player: PlayerRow, outcome: int, games: int) -> dict[str, int]:
    """What a player has won, lost and tied, with so many *games* more of this outcome; -1 takes one back."""
    counts = {"won": player.won, "lost": player.lost, "tied": player.tied}
    counts[COUNT_OF_OUTCOME[outcome]] += games
    return counts


def why_unrated(row: BoardRow) -> str:
    """Why a game is not rated; empty if it is rated as soon as both players have moved."""
    rules = games.load(row.game)
    if row.source:
        return "it began with an old position"
    if row.first_player == row.second_player:
        return "it is against oneself"
    if row.reason == "withdrawn":
        return "a player has withdrawn from the tournament"
    if any(map(is_guest, row.players)):
        return "a guest plays it"
    if row.unrated:
        return "it is against a robot that is not rated"
    if any(games.find_option(rules, word).name.startswith("handicap") for word in row.options.split()):
        return "it has a handicap"
    if not row.board[-1].isdigit():
        return "the name of its board ends in no digit"
    return ""


def described(result: ResultRow) -> str:
    """A line about the change of a rating, such as ``alice  1600 -> 1824  up 224 (provisional)``."""
    gain = result.after - result.before
    change = "equal"
    if gain > 0:
        change = f"up {gain}"
    elif gain < 0:
        change = f"down {-gain}"
    kind = "" if Rating(result.after, result.games).is_established else " (provisional)"
    return f"{result.userid}  {result.before} -> {result.after}  {change}{kind}"


def _outcome(row: BoardRow, userid: str) -> int:
    """The outcome for a player: 1 for a win, 0 for a tie, -1 for a loss."""
    if row.winner is None:
        return 0
    if row.winner == userid:
        return 1
    return -1


def _result(row: BoardRow, player: PlayerRow, opponent: PlayerRow, now: datetime) -> ResultRow:
    """The change of a player's rating by a game."""
    outcome = _outcome(row, player.userid)
    before = _rating(player)
    after = new_rating(before, _rating(opponent), outcome)
    return ResultRow(*row.place, player.userid, outcome, before.rating, after, before.games + 1, now)


def _rating(player: PlayerRow) -> Rating:
    if player.rating is None:
        return Rating(START, player.games)
    return Rating(player.rating, player.games)
