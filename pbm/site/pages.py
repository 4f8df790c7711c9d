"""The pages of the site. What stands there is what any stranger may see: no address, no queued move, no open secret."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property, partial
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import games
from pbm import letters, texts
from pbm.actions import tournaments
from pbm.admin import records
from pbm.board import ratings
from pbm.board.board import NOTHING, Board
from pbm.drawing import svg
from pbm.drawing.boards import board_png, board_svg
from pbm.language.help import of_game
from pbm.session import Session
from pbm.site.build import Gone, Page, digested
from pbm.site.steps import steps
from pbm.store import BoardRow, MarkedBoard, PlayerRow, ResultRow

ON_PAGE = 100
"""How many boards or players a page of a list has."""
RECENT = 20
"""How many boards a page or a feed names of those that changed last."""
MOST_PLACES = 60
"""How many points a curve has at most."""
POLICY = "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy under which all pages work."""
ASSETS = "site.css", "board.js"
MOST_LOCATIONS = 50_000
"""How many addresses a file of a sitemap has at most (sitemaps.org)."""


class Contents(NamedTuple):
    """What is looked up before any page is made: of all boards as little as that needs."""

    boards: Sequence[MarkedBoard]
    players: Mapping[str, Sequence[PlayerRow]]
    """Of each game, those who have a rating, the best one first."""
    pools: Mapping[str, Mapping[str, str]]
    """Of each game, its tournaments, each with what is stored of it and of who takes part, digested."""
    analyses: Mapping[tuple[str, str], str]
    """When boards were analysed."""


class Look(NamedTuple):
    """What all pages have in common."""

    url: str
    """Where the site will stand, with a slash at its end; empty if that is not known, and all links are relative."""
    has_pictures: bool
    """Whether each board has a PNG, for those who link to it; that needs to know where the site is."""


class Site:
    """The pages of a server's site."""

    def __init__(self, session: Session, look: Look) -> None:
        """Make pages from what is stored now."""
        self.session, self.look = session, look
        self.games = games.names()
        with session.reading():
            self.found = _found(session, self.games)
        self.by_game: dict[str, list[MarkedBoard]] = {game: [] for game in self.games}
        self.by_user: dict[str, list[MarkedBoard]] = defaultdict(list)
        for board in self.found.boards:
            if board.game in self.by_game:
                self.by_game[board.game].append(board)
                self.by_user[board.first_player].append(board)
                if board.second_player != board.first_player:
                    self.by_user[board.second_player].append(board)

    @cached_property
    def version(self) -> str:
        """What all pages are made of."""
        folder = files("pbm.site")
        sources = [item.read_text() for part in ("templates", "assets") for item in _items(folder / part)]
        return digested(sources, svg.STYLE, POLICY, self.look, self.session.server.address)

    def pages(self) -> Iterator[Page]:
        """All files of the site."""
        for name in ASSETS:
            yield Page(name, "", partial((files("pbm.site") / "assets" / name).read_text))
        yield Page("board.css", "", lambda: svg.STYLE)
        yield Page("index.html", digested(self.found.boards[-1:], *map(self._marks, self.games)), self._index)
        for game in self.games:
            yield from self._of_game(game)
        for userid, boards in self.by_user.items():
            key = digested([board.mark for board in boards], self._player_key(userid))
            yield Page(f"users/{userid}.html", key, partial(self._user, userid))
        yield from self._sitemap()

    # Pages of a game

    def _of_game(self, game: str) -> Iterator[Page]:
        boards, players = self.by_game[game], self.found.players[game]
        yield Page(f"{game}/rules.html", "", partial(self._rules, game))
        pools, mark = self.found.pools[game], self._marks(game)
        yield Page(f"{game}/index.html", digested(mark, [*pools]), partial(self._game, game))
        yield Page(f"{game}/feed.atom", mark, partial(self._feed, f"{game}/feed.atom", texts.title(game), boards))
        for number, count, some in _leaves(players):
            path = f"{game}/{_leaf(number, 'standings')}"
            yield Page(path, digested(some, count), partial(self._standings, game, path, number, count, some))
        for name, is_over in (("running", False), ("finished", True)):
            listed = [board for board in reversed(boards) if board.is_over == is_over]
            for number, count, some in _leaves(listed):
                path = f"{game}/{_leaf(number, name)}"
                key = digested([board.mark for board in some], count)
                yield Page(path, key, partial(self._list, game, name, path, number, count, some))
        for pool in pools:
            yield from self._of_pool(game, pool)
        for board in boards:
            key = digested(board.mark, self.found.analyses.get((game, board.board)))
            yield Page(f"{game}/{board.board}.html", key, partial(self._board, board))
            if board.is_over:
                yield Page(f"{game}/{board.board}.json", key, partial(self._record, board))
            if self.look.has_pictures:
                yield Page(f"{game}/{board.board}.png", key, partial(self._png, board))

    def _of_pool(self, game: str, pool: str) -> Iterator[Page]:
        boards = [board for board in self.by_game[game] if board.pool == pool]
        marks = [board.mark for board in boards]
        key = digested(marks, self.found.pools[game][pool])
        yield Page(f"{game}/pool-{pool}.html", key, partial(self._pool, game, pool, boards))
        path = f"{game}/pool-{pool}.atom"
        title = f"{texts.title(game)}, tournament {pool}"
        yield Page(path, digested(marks), partial(self._feed, path, title, boards))

    def _board(self, marked: MarkedBoard) -> str:
        """A board, move by move."""
        board = self._load(marked)
        point, row, turns = board.present, board.row, board.turns
        path = f"{marked.game}/{marked.board}.html"
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
            curve=self._chances(marked),
            curve_of=row.first_player,
            ratings=[ratings.described(result) for result in board.about.results],
            proof=_proof(board),
            record=f"{row.board}.json" if marked.is_over else "",
            image=f"{marked.game}/{marked.board}.png" if self.look.has_pictures else "",
            steps=_script(steps(board)),
        )

    def _chances(self, marked: MarkedBoard) -> list[int]:
        """How far down from 100 the chances of the first player lie in a curve, move by move; nothing if unknown."""
        stored = self.session.store.analysis(marked.game, marked.board)
        return [round(100 - 100 * chance) for chance in json.loads(stored)["curve"]] if stored else []

    def _record(self, marked: MarkedBoard) -> str:
        """The record of a finished game."""
        board = self._load(marked)
        record = records.write(records.Record(board.row, board.turns), [*board.about.results])
        return f"{json.dumps(record, indent=1)}\n"

    def _png(self, marked: MarkedBoard) -> bytes:
        return board_png(self._load(marked).present, 1)

    def _load(self, marked: MarkedBoard) -> Board:
        """A board with all its turns, and what it did to ratings."""
        store = self.session.store
        with self.session.reading():
            row = store.board(marked.game, marked.board)
            if row is None:
                raise Gone
            about = NOTHING._replace(results=store.results_of_board(row.game, row.board))
            return Board(row, store.turns(row.game, row.board), {}, about)

    def _game(self, game: str) -> str:
        """What there is of a game."""
        boards, rules = self.by_game[game], games.load(game)
        over = sum(board.is_over for board in boards)
        return self._render(
            "game.html",
            f"{game}/index.html",
            title=texts.title(game),
            brief=(rules.__doc__ or "").partition("\n")[0],
            picture=self._diagrams(game)[0] if self._diagrams(game) else "",
            running=len(boards) - over,
            finished=over,
            pools=[*self.found.pools[game]],
            rows=self._rows(_latest(boards)),
        )

    def _rules(self, game: str) -> str:
        """The help of a game, with its board."""
        title = f"Rules of {texts.title(game)}"
        return self._render(
            "rules.html", f"{game}/rules.html", title=title, text=of_game(game), pictures=self._diagrams(game)
        )

    def _diagrams(self, game: str) -> list[Markup]:
        """The board at the start, if the game has figures."""
        rules = games.load(game)
        figure = getattr(rules, "figure", None)
        if not figure:
            return []
        start = rules.new(**games.read_options(rules, []))
        picture = svg.svg(figure(start, None), rules.SIDES, f"The board of {texts.title(game)} at the start", style="")
        return [Markup(picture)]

    def _list(self, game: str, name: str, path: str, number: int, count: int, some: Sequence[MarkedBoard]) -> str:
        """A page of the list of running or finished boards, the newest one first."""
        title = f"{name.capitalize()} boards of {texts.title(game)}"
        return self._render(
            "list.html", path, title=title, rows=self._rows(some), number=number, count=count, name=name
        )

    def _standings(self, game: str, path: str, number: int, count: int, some: Sequence[PlayerRow]) -> str:
        """A page of the standings."""
        with self.session.reading():
            robots = self.session.store.robots_among([player.userid for player in some])
            players = [
                {
                    "place": place,
                    "player": player,
                    "robot": player.userid in robots,
                    "curve": _curve(self.session.store.results_of_user(game, player.userid)),
                }
                for place, player in enumerate(some, ON_PAGE * (number - 1) + 1)
            ]
        title = f"Standings of {texts.title(game)}"
        return self._render("standings.html", path, title=title, players=players, number=number, count=count)

    def _pool(self, game: str, pool: str, boards: Sequence[MarkedBoard]) -> str:
        """The table of a tournament, and its boards."""
        found = tournaments.of_pool(self.session, game, pool)
        head, lines = found.sheet(found.lines, fits=False)
        title = f"Tournament {pool} of {texts.title(game)}"
        rows = self._rows(boards[:ON_PAGE])
        path = f"{game}/pool-{pool}.html"
        return self._render("pool.html", path, title=title, pool=pool, head=head, lines=lines, rows=rows)

    def _feed(self, path: str, title: str, boards: Sequence[MarkedBoard]) -> str:
        """The boards that have changed last, for programs that watch."""
        rows = self._rows(_latest(boards))
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
        counts = [
            {
                "game": game,
                "running": sum(not board.is_over for board in self.by_game[game]),
                "finished": sum(board.is_over for board in self.by_game[game]),
            }
            for game in self.games
        ]
        host = self.session.server.host
        rows = self._rows(_latest(self.found.boards))
        return self._render("index.html", "index.html", title=f"Games at {host}", counts=counts, rows=rows)

    def _user(self, userid: str) -> str:
        """A player: his ratings and his boards."""
        boards = sorted(self.by_user[userid], key=lambda board: board.changed, reverse=True)
        running = [board for board in boards if not board.is_over]
        finished = [board for board in boards if board.is_over]
        with self.session.reading():
            ratings_of = [
                {"game": game, "player": player, "curve": _curve(self.session.store.results_of_user(game, userid))}
                for game in self.games
                if (player := self.session.store.player(game, userid)).rating is not None
            ]
        return self._render(
            "user.html",
            f"users/{userid}.html",
            title=userid,
            ratings=ratings_of,
            running=self._rows(running[:ON_PAGE]),
            finished=self._rows(finished[:ON_PAGE]),
            more=max(0, len(running) - ON_PAGE) + max(0, len(finished) - ON_PAGE),
        )

    def _sitemap(self) -> Iterator[Page]:
        """Where all boards are, for search engines; in parts if they are many."""
        parts = [self.found.boards[at : at + MOST_LOCATIONS] for at in range(0, len(self.found.boards), MOST_LOCATIONS)]
        if len(parts) < 2:
            boards = parts[0] if parts else []
            yield Page("sitemap.xml", digested([board.changed for board in boards]), partial(self._locations, boards))
            return
        names = [f"sitemap-{number}.xml" for number in range(1, len(parts) + 1)]
        for name, boards in zip(names, parts, strict=True):
            yield Page(name, digested([board.changed for board in boards]), partial(self._locations, boards))
        yield Page("sitemap.xml", str(len(names)), lambda: _locations("sitemapindex", "sitemap", self.look.url, names))

    def _locations(self, boards: Sequence[MarkedBoard]) -> str:
        fixed = ["index.html"] * (boards[:1] == self.found.boards[:1])
        fixed += [f"{game}/{name}.html" for game in self.games for name in ("index", "rules", "standings") if fixed]
        paths = [*fixed, *(f"{board.game}/{board.board}.html" for board in boards)]
        return _locations("urlset", "url", self.look.url, paths)

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

    def _rows(self, boards: Sequence[MarkedBoard]) -> list[BoardRow]:
        with self.session.reading():
            rows = [self.session.store.board(board.game, board.board) for board in boards]
        return [row for row in rows if row]

    def _marks(self, game: str) -> str:
        return digested([board.mark for board in self.by_game[game]])

    def _player_key(self, userid: str) -> str:
        return self._players_by_name.get(userid, "")

    @cached_property
    def _players_by_name(self) -> Mapping[str, str]:
        """What is stored of each rated player."""
        found: dict[str, list[PlayerRow]] = defaultdict(list)
        for players in self.found.players.values():
            for player in players:
                found[player.userid].append(player)
        return {userid: digested(rows) for userid, rows in found.items()}


@cache
def _environment() -> Environment:
    """The templates, in which all that is no markup of ours is escaped."""
    made = Environment(loader=PackageLoader("pbm.site"), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.filters |= {
        "status": letters.status,
        "minutes": lambda moment: f"{moment:{texts.MINUTES}}",
        "iso": _iso,
        "leaf": _leaf,
        "leaves": _near,
        "quoted": partial(quote, safe="@+"),
    }
    return made


def _found(session: Session, names: Sequence[str]) -> Contents:
    store = session.store
    return Contents(
        store.marked_boards(),
        {game: [*store.rated_players(game)] for game in names},
        {
            game: {one.pool: digested(one, store.entrants(game, one.pool)) for one in store.tournaments(game)}
            for game in names
        },
        store.analysed_boards(),
    )


def _latest(boards: Sequence[MarkedBoard]) -> list[MarkedBoard]:
    """The boards that have changed last, the last one first."""
    return sorted(boards, key=lambda board: board.changed, reverse=True)[:RECENT]


def _leaves(listed: Sequence[Any]) -> Iterator[tuple[int, int, Sequence[Any]]]:
    """The pages of a list: their numbers from 1, how many there are, and what is on each; an empty list has one."""
    count = max(1, -(-len(listed) // ON_PAGE))
    for number in range(1, count + 1):
        yield number, count, listed[ON_PAGE * (number - 1) : ON_PAGE * number]


def _leaf(number: int, name: str) -> str:
    """The file of a page of a list."""
    return f"{name}.html" if number == 1 else f"{name}-{number}.html"


def _near(number: int, count: int) -> list[int]:
    """The pages of a list to which one of them leads."""
    return sorted({1, count} | {other for other in range(number - 3, number + 4) if 1 <= other <= count})


def _curve(results: Sequence[ResultRow]) -> list[int]:
    """Ratings as how far down from 100 they lie, between the lowest and the highest one."""
    values = [results[0].before, *(result.after for result in results)] if results else []
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
    """What a script reads, in a form that ends no element, whatever stands in it."""
    written = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace(">", "\\u003e")
    return Markup(written.replace("&", "\\u0026"))


def _locations(kind: str, part: str, url: str, paths: Sequence[str]) -> str:
    lines = (f"<{part}><loc>{url}{path}</loc></{part}>\n" for path in paths)
    start = f'<?xml version="1.0" encoding="UTF-8"?>\n<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{start}{''.join(lines)}</{kind}>\n"


def _iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _items(folder: Any) -> list[Any]:
    """What lies in a folder of the package, by name."""
    return sorted((item for item in folder.iterdir() if item.is_file()), key=lambda item: item.name)
