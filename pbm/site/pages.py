"""The pages of the site. What stands there is what any stranger may see: no address, no queued move, no open secret."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache, cached_property, partial
from html import escape
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import games
from pbm import letters, texts
from pbm.actions import tournaments
from pbm.board import ratings, records
from pbm.board.board import NOTHING, Board
from pbm.drawing import raster, svg
from pbm.drawing.boards import board_png, board_svg
from pbm.language.help import of_game
from pbm.letters.contests import Shown
from pbm.session import Session
from pbm.site.build import Gone, Memory, Page, digested
from pbm.site.steps import steps
from pbm.store import Among, BoardRow, Change, Seen

ON_PAGE = 80
"""How many boards or players a page of a list has; the first page of boards has up to twice as many."""
RECENT = 20
"""How many boards a page or a feed names of those that changed last."""
MOST_PLACES = 60
"""How many points a curve has at most."""
POLICY = "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy under which all pages work."""
MOST_DRAWN = 500
"""Of how many boards a first build makes a PNG: those that have changed last. One takes as long as ten pages."""
ASSETS = "site.css", "board.js"
UNDRAWN = "board"
"""What the picture of a game is called, for boards that have none; the name of a board has a digit."""
MOST_LOCATIONS = 50_000
"""How many addresses a file of a sitemap has at most (sitemaps.org)."""


class Look(NamedTuple):
    """What all pages have in common."""

    url: str
    """Where the site will stand, with a slash at its end; empty if that is not known, and all links are relative."""
    has_pictures: bool
    """Whether boards have a PNG, for those who link to them; that needs to know where the site is."""


class Concerned(NamedTuple):
    """What pages have to be made about."""

    boards: Iterable[tuple[str, str]]
    """Games and numbers."""
    games: Iterable[str]
    """The games of these boards, and those of the pools."""
    ranked: Iterable[str]
    """The games in which the standings may have changed."""
    users: Iterable[str]
    pools: Iterable[tuple[str, str]]


class Leaf(NamedTuple):
    """A page of a list."""

    path: str
    items: Sequence[Any]
    """What stands on it: the numbers of boards, the last one first, or players, the best one first."""
    first: int
    """How many stand on the pages before it."""
    before: str
    """The name of the page before it; empty for the first one, and so is the next for the last one."""
    after: str


class Site:
    """The pages of a server's site."""

    def __init__(self, session: Session, look: Look) -> None:
        """Make pages from what is stored now."""
        self.session, self.store, self.look = session, session.store, look
        self.games = games.names()
        self.seen = self.store.seen()
        self.drawn: set[tuple[str, str]] = set()
        """The boards that have a PNG of their own; the others show that of their game."""

    @cached_property
    def version(self) -> str:
        """What all pages are made of."""
        sources = [item.read_bytes() for part in ("", "templates", "assets") for item in _items(part)]
        helps = [(game, of_game(game)) for game in self.games]
        return digested(sources, helps, svg.STYLE, self.look, self.session.server.address)

    def remembers(self, seen: Seen) -> bool:
        """Whether it is known what has changed since then."""
        return self.store.has_gone_on_since(seen)

    def pages(self, memory: Memory) -> list[Page]:
        """The files that are to be made: what has changed, or all; pictures for those who link come last."""
        with self.session.reading():
            concerned = self._concerned(self.store.changes_since(memory.seen)) if memory.seen else self._all()
            found = [] if memory.seen else [*self._fixed()]
            if concerned.games:
                found.append(Page("index.html", self._index))
            for game in concerned.games:
                found += self._of_game(game, concerned, memory)
            for game in concerned.ranked:
                found += self._listed(game, "standings", self._ranked(game), memory)
            found += [Page(f"users/{userid}.html", partial(self._user, userid)) for userid in concerned.users]
            for game, pool in concerned.pools:
                found += self._of_pool(game, pool)
            if self.look.has_pictures:
                latest = self.store.latest_boards(Among(self.games), MOST_DRAWN)
                self.drawn = {*concerned.boards} if memory.seen else {(row.game, row.board) for row in latest}
            for game, board in concerned.boards:
                found += self._of_board(game, board)
            if memory.seen is None or any(self._is_new_or_gone(*place, memory) for place in concerned.boards):
                found += self._sitemap(memory)
        return sorted(found, key=lambda page: page.path.endswith(".png"))

    def _all(self) -> Concerned:
        """All that pages are about."""
        return Concerned(
            self.store.all_boards(self.games),
            self.games,
            self.games,
            self.store.all_players(self.games),
            [(one.game, one.pool) for one in self.store.tournaments() if one.game in self.games],
        )

    def _concerned(self, changes: Sequence[Change]) -> Concerned:
        """What these changes are about, and what else is told of that on other pages."""
        known = [change for change in changes if change.game in self.games or not change.game]
        boards = [(change.game, change.name) for change in known if change.kind == "board"]
        users = {change.name for change in known if change.kind in {"player", "user"}}
        pools = {(change.game, change.name) for change in known if change.kind == "pool"}
        ranked = {change.game for change in known if change.kind == "player"}
        for game, board in boards:
            if row := self.store.board(game, board):
                users |= {row.first_player, row.second_player}
                pools |= {(game, row.pool or "")}
        listed = {game for game, _ in {*boards, *pools}}
        is_any_user = any(change.kind == "user" for change in known)
        return Concerned(
            boards,
            [game for game in self.games if game in listed],
            self.games if is_any_user else [game for game in self.games if game in ranked],
            sorted(users),
            sorted(place for place in pools if place[1]),
        )

    def _is_new_or_gone(self, game: str, board: str, memory: Memory) -> bool:
        return (f"{game}/{board}.html" in memory.paths) != (self.store.board(game, board) is not None)

    # Pages of a game

    def _fixed(self) -> Iterator[Page]:
        """The pages on which nothing changes."""
        for name in ASSETS:
            yield Page(name, partial((files("pbm.site") / "assets" / name).read_text))
        yield Page("board.css", lambda: svg.STYLE)
        for game in self.games:
            yield Page(f"{game}/rules.html", partial(self._rules, game))
            if self.look.has_pictures:
                yield Page(f"{game}/{UNDRAWN}.png", partial(_plain_png, game))

    def _of_game(self, game: str, concerned: Concerned, memory: Memory) -> Iterator[Page]:
        yield Page(f"{game}/index.html", partial(self._game, game))
        yield Page(f"{game}/feed.atom", partial(self._feed, f"{game}/feed.atom", texts.title(game), Among([game])))
        changed = {board for other, board in concerned.boards if other == game}
        for name, over in (("running", False), ("finished", True)):
            leaves = _leaves(game, name, self.store.boards_in_order(game, over=over)[::-1], is_last_numbered_first=True)
            yield from self._listed(game, name, leaves, memory, changed)

    def _listed(
        self, game: str, name: str, leaves: Sequence[Leaf], memory: Memory, changed: Collection[str] = ()
    ) -> Iterator[Page]:
        """The pages of a list on which something else stands than is remembered, or one of the *changed* boards."""
        make = self._standings if name == "standings" else self._list
        for leaf in leaves:
            part = digested(leaf)
            if memory.parts.get(leaf.path) != part or any(item in changed for item in leaf.items):
                yield Page(leaf.path, partial(make, game, name, leaf), part)
        here = {leaf.path for leaf in leaves}
        for path in memory.parts:
            if path.startswith(f"{game}/{name}") and path not in here:
                yield Page(path, _nothing)

    def _of_board(self, game: str, board: str) -> Iterator[Page]:
        yield Page(f"{game}/{board}.html", partial(self._board, game, board))
        yield Page(f"{game}/{board}.json", partial(self._record, game, board))
        if (game, board) in self.drawn:
            yield Page(f"{game}/{board}.png", partial(self._png, game, board))

    def _of_pool(self, game: str, pool: str) -> Iterator[Page]:
        yield Page(f"{game}/pool-{pool}.html", partial(self._pool, game, pool))
        yield Page(f"{game}/pool-{pool}.atom", partial(self._pool_feed, game, pool))

    def _board(self, game: str, number: str) -> str:
        """A board, move by move."""
        board = self._load(game, number)
        point, row, turns = board.present, board.row, board.turns
        path = f"{game}/{number}.html"
        title = f"{texts.title(row.game)} board {row.board}: {' against '.join(letters.sides(point))}"
        about = [f"options {row.options}"] if row.options else []
        about += [f"tournament {row.pool}"] if row.pool else []
        about += [f"started {row.started:%Y-%m-%d}"] + ([f"ended {row.ended:%Y-%m-%d}"] if row.ended else [])
        taps = getattr(board.rules, "TAPS", None)
        is_open = not board.is_over
        return self._render(
            "board.html",
            path,
            title=title,
            status=letters.status_of(point),
            players=dict.fromkeys(board.players),
            about=about,
            picture=Markup(board_svg(point, style="")),
            moves=[{"text": letters.turn_text(turn), "userid": turn.userid, "dice": turn.dice} for turn in turns],
            taps=json.dumps(taps and taps._asdict()) if is_open else None,
            subject=f"Re: {texts.title(row.game)} Board {row.board}",
            notation=games.notation(row.game),
            commenter=row.commenter,
            comment=row.comment,
            curve=self._chances(game, number),
            curve_of=row.first_player,
            ratings=[ratings.described(result) for result in board.about.results],
            proof=_proof(board),
            record=f"{number}.json" if board.is_over else "",
            image=f"{game}/{number if (game, number) in self.drawn else UNDRAWN}.png" if self.look.has_pictures else "",
            steps=_script(steps(board)),
        )

    def _chances(self, game: str, number: str) -> list[int]:
        """How far down from 100 the chances of the first player lie in a curve, move by move; nothing if unknown."""
        stored = self.store.analysis(game, number)
        return [round(100 - 100 * chance) for chance in json.loads(stored)["curve"]] if stored else []

    def _record(self, game: str, number: str) -> str:
        """The record of a finished game."""
        row = self.store.board(game, number)
        if row is None or row.ended is None:
            raise Gone
        board = self._load(game, number)
        record = records.write(records.Record(board.row, board.turns), [*board.about.results])
        return f"{json.dumps(record, indent=1)}\n"

    def _png(self, game: str, number: str) -> bytes:
        return board_png(self._load(game, number).present, 1)

    def _load(self, game: str, number: str) -> Board:
        """A board with all its turns, and what it did to ratings."""
        with self.session.reading():
            row = self.store.board(game, number)
            if row is None:
                raise Gone
            about = NOTHING._replace(results=self.store.results_of_board(game, number))
            return Board(row, self.store.turns(game, number), {}, about)

    def _game(self, game: str) -> str:
        """What there is of a game."""
        rules = games.load(game)
        running, finished = self._counts(game)
        return self._render(
            "game.html",
            f"{game}/index.html",
            title=texts.title(game),
            brief=(rules.__doc__ or "").partition("\n")[0],
            picture=_diagram(game),
            image=f"{game}/{UNDRAWN}.png" if self.look.has_pictures else "",
            running=running,
            finished=finished,
            pools=[one.pool for one in self.store.tournaments(game)],
            rows=self.store.latest_boards(Among([game]), RECENT),
        )

    def _counts(self, game: str) -> tuple[int, int]:
        """How many boards of a game are running, and how many are over."""
        running, finished = (self.store.count_among(Among([game], over=over)) for over in (False, True))
        return running, finished

    def _rules(self, game: str) -> str:
        """The help of a game, with its board."""
        title = f"Rules of {texts.title(game)}"
        return self._render("rules.html", f"{game}/rules.html", title=title, text=of_game(game), picture=_diagram(game))

    def _list(self, game: str, name: str, leaf: Leaf) -> str:
        """A page of the list of running or finished boards, the last one first."""
        title = f"{name.capitalize()} boards of {texts.title(game)}"
        rows = self.store.boards_named(game, leaf.items)
        return self._render("list.html", leaf.path, title=title, rows=rows, leaf=leaf)

    def _ranked(self, game: str) -> list[Leaf]:
        """The pages of the standings."""
        robots = {one.userid for one in self.store.robots()}
        players = [(player, player.userid in robots) for player in self.store.rated_players(game)]
        return _leaves(game, "standings", players)

    def _standings(self, game: str, name: str, leaf: Leaf) -> str:
        """A page of the standings."""
        curves = self.store.ratings_of(game, [player.userid for player, _ in leaf.items])
        players = [
            {"place": place, "player": player, "robot": robot, "curve": _curve(curves.get(player.userid, []))}
            for place, (player, robot) in enumerate(leaf.items, leaf.first + 1)
        ]
        title = f"{name.capitalize()} of {texts.title(game)}"
        return self._render("standings.html", leaf.path, title=title, players=players, leaf=leaf)

    def _pool(self, game: str, pool: str) -> str:
        """The table of a tournament, and its boards."""
        found = self._tournament(game, pool)
        head, lines = found.sheet(found.lines, fits=False)
        title = f"Tournament {pool} of {texts.title(game)}"
        rows = self.store.tournament_boards(game, pool)[:ON_PAGE]
        path = f"{game}/pool-{pool}.html"
        return self._render("pool.html", path, title=title, pool=pool, head=head, lines=lines, rows=rows)

    def _tournament(self, game: str, pool: str) -> Shown:
        with self.session.reading():
            if self.store.tournament(game, pool) is None:
                raise Gone
            return tournaments.of_pool(self.session, game, pool)

    def _pool_feed(self, game: str, pool: str) -> str:
        if self.store.tournament(game, pool) is None:
            raise Gone
        path, title = f"{game}/pool-{pool}.atom", f"{texts.title(game)}, tournament {pool}"
        return self._feed(path, title, Among([game], pool=pool))

    def _feed(self, path: str, title: str, among: Among) -> str:
        """The boards that have changed last, for programs that watch."""
        rows = self.store.latest_boards(among, RECENT)
        updated = max((row.ended or row.changed or row.started for row in rows), default=None)
        return self._render(
            "feed.atom",
            path,
            title=title,
            name=path.rpartition("/")[2],
            rows=rows,
            updated=_iso(updated) if updated else "1970-01-01T00:00:00Z",
        )

    # Other pages

    def _index(self) -> str:
        """Where a visitor begins."""
        counts = []
        for game in self.games:
            running, finished = self._counts(game)
            counts.append({"game": game, "running": running, "finished": finished})
        host = self.session.server.host
        rows = self.store.latest_boards(Among(self.games), RECENT)
        return self._render("index.html", "index.html", title=f"Games at {host}", counts=counts, rows=rows)

    def _user(self, userid: str) -> str:
        """A player: his ratings and his boards."""
        running, finished = (Among(self.games, userid, over=over) for over in (False, True))
        rated = [(game, self.store.player(game, userid)) for game in self.games]
        ratings_of = [
            {"game": game, "player": player, "curve": _curve(self.store.ratings_of(game, [userid]).get(userid, []))}
            for game, player in rated
            if player.rating is not None
        ]
        rows = [self.store.latest_boards(among, ON_PAGE) for among in (running, finished)]
        if not (ratings_of or any(rows)):
            raise Gone
        more = sum(self.store.count_among(among) for among in (running, finished)) - sum(map(len, rows))
        return self._render(
            "user.html",
            f"users/{userid}.html",
            title=userid,
            ratings=ratings_of,
            running=rows[0],
            finished=rows[1],
            more=more,
        )

    def _sitemap(self, memory: Memory) -> Iterator[Page]:
        """Where all boards are, for search engines; in parts if they are many."""
        paths = ["index.html"]
        paths += [f"{game}/{name}.html" for game in self.games for name in ("index", "rules", "standings")]
        paths += [f"{game}/{board}.html" for game, board in self.store.all_boards(self.games)]
        parts = [paths[at : at + MOST_LOCATIONS] for at in range(0, len(paths), MOST_LOCATIONS)]
        names = [f"sitemap-{number}.xml" for number in range(1, len(parts) + 1)] if len(parts) > 1 else []
        for name, part in zip(names, parts, strict=False):
            yield Page(name, partial(_locations, "urlset", "url", self.look.url, part))
        top = ("sitemapindex", "sitemap", self.look.url, names) if names else ("urlset", "url", self.look.url, paths)
        yield Page("sitemap.xml", partial(_locations, *top))
        for path in memory.paths:
            if path.startswith("sitemap-") and path not in names:
                yield Page(path, _nothing)

    # What pages have in common

    def _render(self, template: str, path: str, **what: Any) -> str:
        server = self.session.server
        return (
            _environment()
            .get_template(template)
            .render(
                site=server.host,
                host=server.host,
                address=server.address,
                games=self.games,
                up="../" * path.count("/"),
                url=self.look.url,
                path=path,
                policy=POLICY,
                **what,
            )
        )


@cache
def _environment() -> Environment:
    """The templates, in which all that is no markup of ours is escaped."""
    made = Environment(loader=PackageLoader("pbm.site"), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.filters |= {
        "status": letters.status,
        "lines": _lines,
        "way": lambda values: f"M{'L'.join(f'{at} {value}' for at, value in enumerate(values))}",
        "iso": _iso,
        "quoted": partial(quote, safe="@+"),
    }
    return made


def _lines(rows: Iterable[BoardRow], up: str, *, with_game: bool) -> Markup:
    """Lines of a table of boards. A template would take longer for them than for all the rest of a site."""
    lines = []
    for row in rows:
        name, game, board = texts.title(row.game), escape(row.game), escape(row.board)
        front = f'<td><a href="{up}{game}/index.html">{escape(name)}</a></td>' if with_game else ""
        players = ", ".join(_user_link(userid, up) for userid in (row.first_player, row.second_player))
        lines.append(
            f'<tr>{front}<td><a href="{up}{game}/{board}.html">{board}</a></td><td>{players}</td>'
            f'<td class="number">{row.moves}</td><td>{escape(letters.status(row))}</td>'
            f"<td>{row.changed or row.started:{texts.MINUTES}}</td></tr>\n"
        )
    return Markup("".join(lines))


def _user_link(userid: str, up: str) -> str:
    name = escape(userid)
    return f'<a href="{up}users/{name}.html">{name}</a>'


@cache
def _diagram(game: str, style: str = "") -> Markup:
    """The board of a game at the start."""
    rules = games.load(game)
    start = rules.new(**games.read_options(rules, []))
    told = f"The board of {texts.title(game)} at the start"
    if not hasattr(rules, "figure"):
        return Markup(svg.text_svg(rules.draw(start, None), told, style=style))
    return Markup(svg.svg(rules.figure(start, None), rules.SIDES, told, style=style))


def _plain_png(game: str) -> bytes:
    return raster.png(_diagram(game, svg.fixed_style(games.load(game).SIDES)), 1)


def _leaves(game: str, name: str, items: Sequence[Any], *, is_last_numbered_first: bool = False) -> list[Leaf]:
    """The pages of a list; an empty list has one.

    If new items come first, the pages are numbered from the last one, and the first one, which has no number, has more
    than the others: so what comes, or is one of the newest to go, changes no other page.
    """
    count = max(1, len(items) // ON_PAGE if is_last_numbered_first else -(-len(items) // ON_PAGE))
    others = range(count - 1, 0, -1) if is_last_numbered_first else range(2, count + 1)
    files = [f"{name}.html", *(f"{name}-{number}.html" for number in others)]
    first = len(items) - ON_PAGE * (count - 1) if is_last_numbered_first else ON_PAGE
    starts = [0, *range(first, first + ON_PAGE * (count - 1), ON_PAGE)]
    return [
        Leaf(f"{game}/{file}", items[start:end], start, before, after)
        for file, before, after, (start, end) in zip(
            files, ["", *files], [*files[1:], ""], pairwise([*starts, len(items)]), strict=False
        )
    ]


def _nothing() -> str:
    """What stands on a page that goes."""
    raise Gone


def _curve(values: Sequence[int]) -> list[int]:
    """Ratings as how far down from 100 they lie, between the lowest and the highest one."""
    step = max(1, -(-len(values) // MOST_PLACES))
    some = values[::-1][::step][::-1]
    lowest, highest = min(some, default=0), max(some, default=0)
    return [round(95 - 90 * (value - lowest) / max(1, highest - lowest)) for value in some]


def _proof(board: Board) -> dict[str, str] | None:
    """How the dice of a board can be checked, as its mails say it."""
    for part in letters.dice_part(board, is_told=True, is_over=board.is_over):
        said, _, code = part.rpartition("\n")
        return {"said": said, "code": code}
    return None


def _script(data: Any) -> Markup:
    """What a script reads, in a form that neither begins nor ends an element or a comment, whatever stands in it."""
    return Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"))


def _locations(kind: str, part: str, url: str, paths: Sequence[str]) -> str:
    lines = (f"<{part}><loc>{url}{path}</loc></{part}>\n" for path in paths)
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{start}{''.join(lines)}</{kind}>\n"


def _iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _items(part: str) -> list[Any]:
    """What lies in a folder of this package, by name."""
    folder = files("pbm.site") / part
    return sorted((item for item in folder.iterdir() if item.is_file()), key=lambda item: item.name)
