"""Writes the pages of the site.

A folder remembers how far it has seen the database, so that only what has changed since then is made again.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from hashlib import blake2b
from importlib.resources import files
from io import FileIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import games
from games.lessons import MOST_RULES
from pbm.drawing import svg
from pbm.language.help import of_game
from pbm.session import Session
from pbm.site.lessons import picture_path
from pbm.site.pages import Gone, ListPage, Pages, SiteSettings, paginated
from pbm.store import Unusable
from pbm.store.boards import BY_END, BY_NUMBER, BoardFilter
from pbm.store.events import Changes, DatabaseState

MANIFEST = ".pbm-site.json"
"""Where in its folder a site keeps how far it has seen the database, and what stands on the pages of its lists."""
NAMES = ".pbm-site.pages"
"""Where it keeps the names of all its pages, each on a line; one that is made is added before it is there."""
MOST_DRAWN = 500
"""How many boards get a PNG in a first build: those that have changed last. A PNG takes as long as ten pages."""
ADDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
"""How NAMES is opened: not through a link that somebody has put in its place."""
ASSETS = "site.css", "board.js", "turns.js", "favicon.svg"
NOT_FOR_ROBOTS = "answer", "calendar/", "device", "me", "unsubscribe/"
"""The paths of `pbm serve --web` that are no pages, and are meant for people only."""
FOR_ALL = "index", "rules", "standings"
"""The pages of each game of which search engines are told."""
MOST_PUZZLES = 20
"""How many puzzles of a game are shown, those that were found last."""
MOST_ON_MAP = 50_000
"""How many pages `sitemap.xml` has; search engines read no more (https://www.sitemaps.org/protocol.html)."""


class Page(NamedTuple):
    """A file of the site that has to be made or removed."""

    path: str
    """Within the folder of the site, such as ``symple/101.html``."""
    content: Callable[[], str | bytes]
    """Makes it. Raises Gone if there is nothing to make it of."""
    digest: str = ""
    """A digest of what stands on it, if it is a page of a list."""


class Built(NamedTuple):
    """The result of a build."""

    pages: int
    """How many files the site has."""
    written: int
    removed: int
    failed: Mapping[str, str]
    """Why pages could not be made, by their paths. They stay as they were."""


class Subjects(NamedTuple):
    """The boards, games, users and tournaments for which pages are made."""

    boards: Sequence[tuple[str, str]]
    """Games and numbers."""
    listed: Collection[str]
    """The games with lists of boards that may have changed."""
    ranked: Collection[str]
    """The games with standings that may have changed."""
    users: Iterable[str]
    pools: Iterable[tuple[str, str]]


def build(
    folder: Path,
    session: Session,
    site: SiteSettings,
    progress: Callable[[int, int], object] = lambda *_: None,
) -> Built:
    """Write the pages that have changed, and remove those about what is no longer there.

    All pages are made if it is not known what has changed. One that cannot be made keeps no other from being made.
    *progress* is called for each page, with the number of all pages to make. Raises OSError if the folder cannot be
    written, and Unusable if the database cannot be read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = _names(folder)
    seen = session.store.changes.seen()
    version = _digest(_sources(), games.names(), site, session.server.address)
    before, digests = _remembered(folder, version, session.store.changes)
    stale = StalePages(session, site, digests).since(before)
    made: set[str] = set()
    gone: set[str] = set()
    failed: dict[str, str] = {}
    written = 0
    with FileIO(os.open(folder / NAMES, ADDING, 0o666), "ab") as list_of_names:
        for page in stale:
            progress(1, len(stale))
            try:
                content = page.content()
            except Gone:
                gone.add(page.path)
                continue
            except (OSError, Unusable):
                raise
            except Exception as why:  # a game that has a fault must not take the pages of all others along
                failed[page.path] = f"{type(why).__name__}: {why}"
                continue
            if page.path not in names:
                list_of_names.write(f"{page.path}\n".encode())
            data = content.encode() if isinstance(content, str) else content
            written += _write(folder / page.path, data)
            made.add(page.path)
            if page.digest:
                digests[page.path] = page.digest
    if before is None:  # all pages were to be made: what was not is about nothing any more
        gone |= names - made - failed.keys()
    removed = sum(_remove(folder / path) for path in gone)
    left = (names | made) - gone
    if gone & names:
        _write(folder / NAMES, "".join(f"{path}\n" for path in sorted(left)).encode())
    if before != seen:
        digests = {path: digest for path, digest in digests.items() if path not in gone}
        _write(folder / MANIFEST, json.dumps({"version": version, "seen": seen, "digests": digests}).encode())
    return Built(len(left), written, removed, failed)


class StalePages:
    """Finds the pages of a server's site that have to be made again."""

    def __init__(self, session: Session, site: SiteSettings, digests: Mapping[str, str]) -> None:
        """Begin with a site, in which *digests* are the digests of the pages of lists, by their paths."""
        self.store = session.store
        self.site = site
        self.digests = digests
        self.games = games.names()
        self.pages = Pages(session, site)

    def since(self, seen: DatabaseState | None) -> list[Page]:
        """The pages that have to be made again, or all if nothing was *seen*; PNG pictures come last."""
        with self.store.reading():
            inside = [page for page in self._stale(seen) if _is_inside(page.path)]
        return sorted(inside, key=lambda page: page.path.endswith(".png"))

    def _stale(self, seen: DatabaseState | None) -> Iterator[Page]:
        """The pages that have to be made again, also those of names that lead out of the folder."""
        if seen:
            about = self._changed(seen)
        else:
            about = self._everything()
            yield from self._fixed()
        if about.listed or about.ranked:
            yield Page("index.html", self.pages.index)
        yield from self._of_games(about)
        for userid in about.users:
            yield Page(f"users/{userid}.html", partial(self.pages.user, userid))
        for game, pool in about.pools:
            yield Page(f"{game}/pool-{pool}.html", partial(self.pages.pool, game, pool))
            yield Page(f"{game}/pool-{pool}.atom", partial(self.pages.pool_feed, game, pool))
        self.pages.drawn = self._drawn(about.boards, is_first=seen is None)
        for game, board in about.boards:
            yield Page(f"{game}/{board}.html", partial(self.pages.board, game, board))
            yield Page(f"{game}/{board}.json", partial(self.pages.record, game, board))
            yield Page(f"{game}/{board}.svg", partial(self.pages.thumbnail, game, board))
            if (game, board) in self.pages.drawn:
                yield Page(f"{game}/{board}.png", partial(self.pages.png, game, board))
        if about.listed:
            yield self._map()

    def _drawn(self, boards: Sequence[tuple[str, str]], *, is_first: bool) -> set[tuple[str, str]]:
        """The boards that get a PNG: all that have changed, but in a first build only the latest ones."""
        if not self.site.has_pictures:
            return set()
        if not is_first:
            return set(boards)
        return {row.place for row in self.store.boards.latest(BoardFilter(self.games), MOST_DRAWN)}

    def _everything(self) -> Subjects:
        """Everything that has a page."""
        pools = [tournament.place for tournament in self.store.tournaments.all() if tournament.game in self.games]
        return Subjects(
            boards=self.store.boards.names(BoardFilter(self.games)),
            listed=self.games,
            ranked=self.games,
            users=self.store.players.names(self.games),
            pools=pools,
        )

    def _changed(self, seen: DatabaseState) -> Subjects:
        """What has changed since then, and what other pages say of it."""
        changes = [change for change in self.store.changes.since(seen) if change.game in self.games or not change.game]
        boards = [(change.game, change.name) for change in changes if change.kind == "board"]
        users = {change.name for change in changes if change.kind in {"player", "user"}}
        pools = {(change.game, change.name) for change in changes if change.kind == "pool"}
        ranked = {change.game for change in changes if change.kind == "player"}
        for game, board in boards:
            if row := self.store.boards.get(game, board):
                users.update(row.players)
                if row.pool:
                    pools.add((game, row.pool))
        listed = {game for game, _ in boards}
        listed |= {game for game, _ in pools}
        return Subjects(boards, sorted(listed), sorted(ranked), sorted(users), sorted(pools))

    def _fixed(self) -> Iterator[Page]:
        """The pages on which nothing changes."""
        for name in ASSETS:
            yield Page(name, partial((files("pbm.site") / "assets" / name).read_text))
        yield Page("board.css", lambda: svg.STYLE)
        yield Page("robots.txt", partial(_robots, self.site.url))
        for game in self.games:
            yield Page(f"{game}/rules.html", partial(self.pages.rules, game))
            yield Page(f"{game}/example.svg", partial(self.pages.example, game))
            for number in range(1, MOST_RULES + 1):
                yield Page(picture_path(game, number), partial(self.pages.lesson, game, number))
            if self.site.has_pictures:
                yield Page(f"{game}/example.png", partial(self.pages.example_png, game))

    def _of_games(self, about: Subjects) -> Iterator[Page]:
        """The pages of the games with lists of boards or standings that may have changed."""
        for game in sorted(set(about.listed).union(about.ranked)):
            yield Page(f"{game}/index.html", partial(self.pages.game, game))
        for game in about.listed:
            changed = {board for game_of_board, board in about.boards if game_of_board == game}
            yield from self._of_lists(game, changed)
        for game in about.ranked:
            yield from self._standings(game)

    def _of_lists(self, game: str, changed: Collection[str]) -> Iterator[Page]:
        """The feed of a game, and the pages of its lists of boards, of which these have *changed*."""
        yield Page(f"{game}/feed.atom", partial(self.pages.feed, game))
        for name, over, order in (("running", False, BY_NUMBER), ("finished", True, BY_END)):
            boards = self.store.boards.names(BoardFilter([game], over=over), order)
            numbers = [board for _, board in reversed(boards)]
            list_pages = paginated(game, name, numbers, is_last_numbered_first=True)
            yield from self._of_list(f"{game}/{name}", list_pages, partial(self.pages.boards, game, name), changed)
        puzzles = paginated(game, "puzzles", self.store.robots.puzzles(game, MOST_PUZZLES))
        yield from self._of_list(f"{game}/puzzles", puzzles, partial(self.pages.puzzles, game))

    def _standings(self, game: str) -> Iterator[Page]:
        """The pages of the standings of a game, which mark robots."""
        robots = {robot.userid for robot in self.store.robots.all()}
        players = [(player, player.userid in robots) for player in self.store.players.by_rating(game)]
        list_pages = paginated(game, "standings", players)
        yield from self._of_list(f"{game}/standings", list_pages, partial(self.pages.standings, game))

    def _of_list(
        self, start: str, list_pages: Sequence[ListPage], make: Callable[[ListPage], str], changed: Collection[str] = ()
    ) -> Iterator[Page]:
        """The pages of a list that have other items than before, or one of the *changed* boards."""
        for list_page in list_pages:
            digest = _digest(list_page)
            if self.digests.get(list_page.path) != digest or any(item in changed for item in list_page.items):
                yield Page(list_page.path, partial(make, list_page), digest)
        here = {list_page.path for list_page in list_pages}
        for path in self.digests:
            if path.startswith(start) and path not in here:
                yield Page(path, _nothing)

    def _map(self) -> Page:
        """The addresses of the newest boards, for search engines."""
        paths = ["index.html"]
        paths += [f"{game}/{name}.html" for game in self.games for name in FOR_ALL]
        boards = self.store.boards.names(BoardFilter(self.games), "rowid DESC", MOST_ON_MAP - len(paths))
        paths += [f"{game}/{board}.html" for game, board in boards]
        return Page("sitemap.xml", partial(self.pages.sitemap, paths))


def _nothing() -> str:
    """Say that there is nothing to make a page of. Raises Gone."""
    raise Gone


def _digest(*parts: object) -> str:
    """A short text that changes with any of these parts."""
    return blake2b(repr(parts).encode(), digest_size=9).hexdigest()


@cache
def _sources() -> str:
    """A digest of the code, the help texts and the files of which pages are made."""
    site = files("pbm.site")
    folders = [site, site / "templates", site / "assets", files("pbm.drawing"), files("games")]
    items = [item for folder in folders for item in folder.iterdir() if item.is_file()]
    helps = []
    for game in games.names():
        with suppress(games.Unloadable):  # its pages are not made, but all others are
            helps.append(of_game(game))
    return _digest([item.read_bytes() for item in sorted(items, key=lambda item: item.name)], helps)


# The folder


def _remembered(folder: Path, version: str, changes: Changes) -> tuple[DatabaseState | None, dict[str, str]]:
    """How far the pages in a folder show the database, and a digest of each page of a list.

    Nothing if another version of pbm has written them, or if it is not known what has changed since then.
    """
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        manifest = json.loads((folder / MANIFEST).read_text())
        number, event, *times = manifest["seen"]
        seen = DatabaseState(int(number), int(event), *map(str, times))
        if manifest["version"] == version and changes.has_gone_on_since(seen):
            return seen, dict(manifest["digests"])
    return None, {}


def _names(folder: Path) -> set[str]:
    """The pages that a folder has; names that lead out of it are left alone."""
    with suppress(FileNotFoundError):
        lines = (folder / NAMES).read_text(errors="replace").split("\n")
        return {name for name in lines if name and _is_inside(name)}
    return set()


def _robots(url: str) -> str:
    """What search engines may not ask for, and where the map of the site is."""
    root = urlsplit(url).path or "/"
    lines = ["User-agent: *"]
    lines += [f"Disallow: {root}{path}" for path in NOT_FOR_ROBOTS]
    if url:
        lines.append(f"Sitemap: {url}sitemap.xml")
    return "".join(f"{line}\n" for line in lines)


def _is_inside(path: str) -> bool:
    """Whether a name stays inside the folder of the site, even if somebody has put links or odd names there."""
    return path.isprintable() and path[:1] != "/" and ".." not in path.split("/")


def _remove(file: Path) -> bool:
    """Remove a file. Returns False if there is none."""
    if not file.is_file():
        return False
    file.unlink()
    return True


def _write(file: Path, data: bytes) -> bool:
    """Write a file as a whole or not at all. Returns False if it has that content already."""
    with suppress(FileNotFoundError):
        if file.read_bytes() == data:
            return False
    file.parent.mkdir(exist_ok=True)
    copy = file.with_name(f".{file.name}.new")
    copy.unlink(missing_ok=True)  # of a build that was killed; or a link that somebody has put there
    with copy.open("xb") as made:
        made.write(data)
    copy.replace(file)
    return True
