"""Which pages the site has, and which of them are to be made again after a change."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import NamedTuple

import games
from pbm.drawing import svg
from pbm.language.help import of_game
from pbm.session import Session
from pbm.site import markup
from pbm.site.build import Gone, Memory, Page, digested
from pbm.site.markup import Ranked
from pbm.site.pages import UNDRAWN, ListPage, Look, Pages, list_pages, plain_png
from pbm.store import BoardRow
from pbm.store.boards import Among
from pbm.store.changes import Change, Seen

MOST_DRAWN = 500
"""Of how many boards a first build makes a PNG: those that have changed last. One takes as long as ten pages."""
ASSETS = "site.css", "board.js", "favicon.svg"
FOR_ALL = "index", "rules", "standings"
"""The pages of each game of which search engines are told."""
MOST_ON_MAP = 50_000
"""How many pages a file tells search engines of; they read no more (https://www.sitemaps.org/protocol.html)."""


class Concerned(NamedTuple):
    """What pages have to be made about."""

    boards: Sequence[tuple[str, str]]
    """Games and numbers."""
    rows: dict[tuple[str, str], BoardRow | None]
    """Those of them that are looked at anyway; None for one that is gone."""
    games: Iterable[str]
    """The games of these boards, and those of the pools."""
    ranked: Iterable[str]
    """The games in which the standings may have changed."""
    users: Iterable[str]
    pools: Iterable[tuple[str, str]]


class Site:
    """The pages of a server's site."""

    def __init__(self, session: Session, look: Look) -> None:
        """Make pages from what is stored now."""
        self.session, self.store, self.look = session, session.store, look
        self.games = games.names()
        self.seen = self.store.changes.seen()
        self.made = Pages(session, look)

    @cached_property
    def version(self) -> str:
        """What all pages are made of."""
        return digested(_sources(), self.games, self.look, self.session.server.address)

    def remembers(self, seen: Seen) -> bool:
        """Whether it is known what has changed since then."""
        return self.store.changes.has_gone_on_since(seen)

    def pages(self, memory: Memory) -> list[Page]:
        """The files that are to be made: what has changed, or all; pictures for those who link come last."""
        with self.session.store.reading():
            concerned = self._concerned(self.store.changes.since(memory.seen)) if memory.seen else self._all()
            found = [] if memory.seen else [*self._fixed()]
            if concerned.games or concerned.ranked:
                found.append(Page("index.html", self.made.index))
            for game in concerned.games:
                found += self._of_game(game, concerned, memory)
            for game in concerned.ranked:
                found += self._standings(game, memory)
            found += [Page(f"users/{userid}.html", partial(self.made.user, userid)) for userid in concerned.users]
            for game, pool in concerned.pools:
                found += self._of_pool(game, pool)
            if self.look.has_pictures:
                latest = self.store.boards.latest(Among(self.games), MOST_DRAWN)
                self.made.drawn = {*concerned.boards} if memory.seen else {(row.game, row.board) for row in latest}
            for game, board in concerned.boards:
                found += self._of_board(game, board)
            found += self._map(concerned, memory)
        return sorted(found, key=lambda page: page.path.endswith(".png"))

    def _all(self) -> Concerned:
        """All that pages are about."""
        pools = [(one.game, one.pool) for one in self.store.tournaments.all() if one.game in self.games]
        boards, players = self.store.boards.names(self.games), self.store.players.names(self.games)
        return Concerned(boards, {}, self.games, self.games, players, pools)

    def _concerned(self, changes: Sequence[Change]) -> Concerned:
        """What these changes are about, and what else is told of that on other pages."""
        known = [change for change in changes if change.game in self.games or not change.game]
        boards = [(change.game, change.name) for change in known if change.kind == "board"]
        users = {change.name for change in known if change.kind in {"player", "user"}}
        pools = {(change.game, change.name) for change in known if change.kind == "pool"}
        ranked = {change.game for change in known if change.kind == "player"}
        rows = {place: self.store.boards.get(*place) for place in boards}
        for row in filter(None, rows.values()):
            users |= {row.first_player, row.second_player}
            pools |= {(row.game, row.pool or "")}
        listed = {game for game, _ in {*boards, *pools}}
        is_any_user = any(change.kind == "user" for change in known)
        return Concerned(
            boards,
            rows,
            [game for game in self.games if game in listed],
            self.games if is_any_user else [game for game in self.games if game in ranked],
            sorted(users),
            sorted(place for place in pools if place[1]),
        )

    def _fixed(self) -> Iterator[Page]:
        """The pages on which nothing changes."""
        for name in ASSETS:
            yield Page(name, partial((files("pbm.site") / "assets" / name).read_text))
        yield Page("board.css", lambda: svg.STYLE)
        for game in self.games:
            yield Page(f"{game}/rules.html", partial(self.made.rules, game))
            if self.look.has_pictures:
                yield Page(f"{game}/{UNDRAWN}.png", partial(plain_png, game))

    def _of_game(self, game: str, concerned: Concerned, memory: Memory) -> Iterator[Page]:
        yield Page(f"{game}/index.html", partial(self.made.game, game))
        yield Page(f"{game}/feed.atom", partial(self.made.feed, game))
        changed = {board for other, board in concerned.boards if other == game}
        for name, over in (("running", False), ("finished", True)):
            if over and memory.seen and not any(self._ends(game, board, concerned, memory) for board in changed):
                continue
            numbers = self.store.boards.in_order(game, over=over)[::-1]
            found = list_pages(game, name, numbers, is_last_numbered_first=True)
            parts = [(leaf, digested(leaf.items, leaf.before, leaf.after)) for leaf in found]
            yield from _listed(parts, f"{game}/{name}", partial(self.made.boards, game, name), memory, changed)

    def _ends(self, game: str, board: str, concerned: Concerned, memory: Memory) -> bool:
        """Whether a board is over, or was so."""
        row = concerned.rows[game, board]
        return row is None or row.ended is not None or memory.has(f"{game}/{board}.json")

    def _standings(self, game: str, memory: Memory) -> Iterator[Page]:
        """The pages of the standings on which something else stands than is remembered."""
        robots = {one.userid for one in self.store.robots.all()}
        players = [Ranked(player, player.userid in robots) for player in self.store.players.rated(game)]
        parts = [
            (leaf, digested(leaf.first, leaf.before, leaf.after, [(*player, robot) for player, robot in leaf.items]))
            for leaf in list_pages(game, "standings", players)
        ]
        yield from _listed(parts, f"{game}/standings", partial(self.made.standings, game), memory)

    def _of_board(self, game: str, board: str) -> Iterator[Page]:
        yield Page(f"{game}/{board}.html", partial(self.made.board, game, board))
        yield Page(f"{game}/{board}.json", partial(self.made.record, game, board))
        if (game, board) in self.made.drawn:
            yield Page(f"{game}/{board}.png", partial(self.made.png, game, board))

    def _of_pool(self, game: str, pool: str) -> Iterator[Page]:
        yield Page(f"{game}/pool-{pool}.html", partial(self.made.pool, game, pool))
        yield Page(f"{game}/pool-{pool}.atom", partial(self.made.pool_feed, game, pool))

    def _map(self, concerned: Concerned, memory: Memory) -> Iterator[Page]:
        """Where the boards are that were started last, for search engines; it changes with each that comes or goes."""
        is_as_before = (
            (row is not None) == memory.has(f"{game}/{board}.html") for (game, board), row in concerned.rows.items()
        )
        if memory.seen and all(is_as_before):
            return
        paths = ["index.html", *(f"{game}/{name}.html" for game in self.games for name in FOR_ALL)]
        boards = self.store.boards.newest(self.games, MOST_ON_MAP - len(paths))
        paths += [f"{game}/{board}.html" for game, board in boards]
        yield Page("sitemap.xml", partial(markup.locations, self.look.url, paths))


def _listed(
    parts: Sequence[tuple[ListPage, str]],
    start: str,
    make: Callable[[ListPage], str],
    memory: Memory,
    changed: Collection[str] = (),
) -> Iterator[Page]:
    """The pages of a list on which something else stands than is remembered, or one of the *changed* boards."""
    for leaf, part in parts:
        if memory.parts.get(leaf.path) != part or any(item in changed for item in leaf.items):
            yield Page(leaf.path, partial(make, leaf), part)
    here = {leaf.path for leaf, _ in parts}
    for path in memory.parts:
        if path.startswith(start) and path not in here:
            yield Page(path, _nothing)


def _nothing() -> str:
    """What stands on a page that goes."""
    raise Gone


@cache
def _sources() -> str:
    """What makes the pages, digested; it stays the same while a program runs."""
    folders = [files("pbm.site"), *(files("pbm.site") / part for part in ("templates", "assets"))]
    folders += [files("pbm.drawing"), files("games")]
    items = [item for folder in folders for item in folder.iterdir() if item.is_file()]
    helps = [of_game(game) for game in games.names()]
    return digested([item.read_bytes() for item in sorted(items, key=lambda item: item.name)], helps)
