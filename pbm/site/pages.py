"""The contents of the pages of the site. Strangers may see them: no address, no queued move, no secret of dice."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from math import ceil
from random import Random
from typing import Any, NamedTuple

from markupsafe import Markup

import games
from pbm import letters, texts
from pbm.actions import finding, talk, tournaments
from pbm.actions.standings import SECTIONS
from pbm.board import records
from pbm.board.board import Board
from pbm.drawing import images, svg, thumbnails
from pbm.language.help import of_game
from pbm.names import is_former, is_guest
from pbm.server import Server
from pbm.session import Session
from pbm.site import markup
from pbm.site.boards import BoardView, pictured
from pbm.site.lessons import lesson_picture, lessons_view
from pbm.site.results import result_table
from pbm.store import BoardRow, Reply, TalkRow
from pbm.store.boards import BoardFilter
from pbm.tournaments import tables

ON_PAGE = 80
"""How many boards or players a page of a list has; the first page of boards has up to twice as many."""


class Gone(LookupError):
    """The subject of a page does not exist, or no longer."""


class ListPage(NamedTuple):
    """A page of a list."""

    path: str
    items: Sequence[Any]
    """What stands on it: the numbers of boards, the last one first, or players, the best one first."""
    first: int
    """How many items stand on the pages before it; 0 if pages are numbered from the last one."""
    before: str
    """The name of the page before it; empty for the first page. `after` is empty for the last page."""
    after: str


def paginated(game: str, name: str, items: Sequence[Any], *, is_last_numbered_first: bool = False) -> list[ListPage]:
    """The pages of a list; an empty list has one.

    If new items come first, the pages are numbered from the last one. The first page has no number, and more items than
    the others; so an item that comes, or goes soon, changes only this page.
    """
    if is_last_numbered_first:
        count = max(1, len(items) // ON_PAGE)
        numbers = range(count - 1, 0, -1)
        on_first_page = len(items) - ON_PAGE * (count - 1)
    else:
        count = max(1, ceil(len(items) / ON_PAGE))
        numbers = range(2, count + 1)
        on_first_page = ON_PAGE
    files = [f"{name}.html"]
    files += [f"{name}-{number}.html" for number in numbers]

    pages = []
    start = 0
    end = on_first_page
    for number, file in enumerate(files):
        page = ListPage(
            path=f"{game}/{file}",
            items=items[start:end],
            first=0 if is_last_numbered_first else start,
            before=files[number - 1] if number > 0 else "",
            after=files[number + 1] if number + 1 < count else "",
        )
        pages.append(page)
        start = end
        end += ON_PAGE
    return pages


ABOUT = "Abstract board games for two, played by mail or on these pages, with days to think about a turn."
"""What the site is, in a sentence."""
RECENT = 20
"""How many boards a feed names of those that changed last."""
MOST_THUMBNAILS = 12
"""How many running boards the home page and the page of a game show as small pictures."""
MOST_FINISHED = 8
"""How many games that ended last the home page and the page of a game name."""
MOST_OF_TOURNAMENT = 24
"""How many running boards the page of a tournament shows as small pictures."""
EXAMPLE_TURNS = 24
"""How many random turns the position has that stands for a game, if the game does not end earlier."""
EXAMPLE_SEED = 4
"""The seed of the random turns that lead to the position that stands for a game."""
EXAMPLE_ZOOM = 3
"""How many times as large as in lists that position is as a PNG."""
MOST_AT_TOP = 4
"""How many running boards stand at the top of the home page."""
MOST_AT_TOP_OF_STANDINGS = 10
"""How many players with an established rating the page of a game names."""
POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'"
)
"""The Content-Security-Policy under which all pages work."""


PREVIEW = "preview "
"""With this begins what a page posts to be told what a move would lead to."""


class RatingView(NamedTuple):
    """The rating of a player in a game, and its course."""

    game: str
    rating: int
    games: int
    summary: str
    """The rated games in words, such as ``12 rated games, from 1500 to 1650: 8 won, 4 lost``."""
    curve: Sequence[int]


class ResultView(NamedTuple):
    """A game that is over, as its row in the list of a player."""

    row: BoardRow
    outcome: str
    """``Won``, ``Lost`` or ``Tied``."""
    gain: str
    """By how much their rating has changed, such as ``+17``; empty if the game was not rated."""


class SiteSettings(NamedTuple):
    """What all pages have in common."""

    url: str = ""
    """Where the site will stand, with a slash at its end; empty if that is not known, and all links are relative."""
    has_pictures: bool = False
    """Whether boards have a PNG, for those who link to them; that needs to know where the site is."""
    can_post: bool = False
    """Whether `pbm serve --web` takes what pages post, at the same address."""


class Pages:
    """Makes the pages of a server's site from what is stored now."""

    def __init__(self, session: Session, site: SiteSettings, reader: str = "", address: str = "") -> None:
        """Make pages of a *site*, for all; or for one *reader*, with their reply *address*."""
        self.session = session
        self.store = session.store
        self.site = site
        self.reader = reader
        self.address = address or session.server.address
        self.games = games.names()
        self.drawn: set[tuple[str, str]] = set()
        """The boards that have a PNG."""
        self._loaded: Board | None = None
        self._said = list[TalkRow]()
        """What was said on that board that the reader may see."""

    def board(self, game: str, number: str) -> str:
        """A board, move by move."""
        board = self._load(game, number)
        view = self._view(board)
        picture, steps = pictured(board)
        return self.render(
            "board.html",
            f"{game}/{number}.html",
            title=letters.title(board.present, ":"),
            status=view.status,
            view=view,
            picture=Markup(picture),
            has_dice=board.has_dice,
            subject=f"Re: {board.row.game.capitalize()} Board {board.row.board}",
            notation=games.notation(game),
            image=f"{game}/{number}.png" if (game, number) in self.drawn else "",
            steps=markup.script(steps),
        )

    def news(self, game: str, number: str, known: Sequence[str], seen: str) -> dict[str, Any]:
        """What a page of a board that is open lacks, as of `BoardView.news`."""
        return self._view(self._load(game, number)).news(known, seen)

    def preview(self, game: str, number: str, words: Sequence[str]) -> dict[str, Any]:
        """What a page of the board can do with the text of a turn, as of `BoardView.preview`."""
        return self._view(self._load(game, number)).preview(words)

    def _view(self, board: Board) -> BoardView:
        return BoardView(self.session, board, self._said, self.reader, self.address)

    def record(self, game: str, number: str) -> str:
        """The record of a finished game."""
        board = self._load(game, number)
        if board.row.ended is None:
            raise Gone
        record = records.write(records.Record(board.row, board.turns, self._said), list(board.about.results))
        return f"{json.dumps(record)}\n"

    def png(self, game: str, number: str) -> bytes:
        """The picture of a board, for those who link to it."""
        return images.board_png(self._load(game, number).present, 1)

    def thumbnail(self, game: str, number: str) -> str:
        """The small picture of a running board, for lists. Raises Gone when the game is over."""
        board = self._load(game, number)
        if board.row.ended:
            raise Gone
        figure = images.figure(board.present)
        if figure is None:
            raise Gone
        return thumbnails.thumbnail(figure, board.rules.SIDES)

    def example(self, game: str) -> str:
        """The small picture that stands for a game: a position after random turns, the same ones each time."""
        rules: Any = games.load(game)
        if not hasattr(rules, "figure"):
            raise Gone
        rng = Random(EXAMPLE_SEED)
        state = games.thrown(rules.new(**games.read_options(rules, [])), rng)
        before = state
        for _ in range(EXAMPLE_TURNS):
            after = games.thrown(state.play(state.random(rng)), rng)
            if after.result():
                break
            before = state
            state = after
        return thumbnails.thumbnail(rules.figure(state, before), rules.SIDES)

    def example_png(self, game: str) -> bytes:
        """The picture of `example`, for those who link to a page that is about no board."""
        return images.png(self.example(game), EXAMPLE_ZOOM)

    def lesson(self, game: str, number: int) -> str:
        """The small picture of a turn that shows a rule of a game."""
        picture = lesson_picture(game, number)
        if not picture:
            raise Gone
        return picture

    def _running(self, among: BoardFilter, most: int) -> list[BoardRow]:
        """The running boards with a turn that have changed last."""
        rows = self.store.boards.latest(among._replace(over=False), RECENT)
        return [row for row in rows if is_under_way(row)][:most]

    def _load(self, game: str, number: str) -> Board:
        """A board with all its turns, and what it did to ratings; its pages are made one after the other.

        To load it for each of them makes a first build a fifth slower.
        """
        if self._loaded is None or (game, number) != self._loaded.row.place:
            with self.store.reading():
                row = self.store.boards.get(game, number)
                if row is None:
                    raise Gone
                self._loaded = finding.board_of(self.session, row)
                self._said = talk.readable(self.store, row, self.reader)
        return self._loaded

    def game(self, game: str) -> str:
        """The page of a game."""
        boards, running = self.store.boards.totals(game)
        among = BoardFilter([game])
        best_players = self.store.players.by_rating(game, SECTIONS["Established"], MOST_AT_TOP_OF_STANDINGS)
        return self.render(
            "game.html",
            f"{game}/index.html",
            title=game.capitalize(),
            brief=_brief(game),
            lessons=lessons_view(game),
            running=running,
            finished=boards - running,
            pools=[tournament.pool for tournament in self.store.tournaments.all(game)],
            rows=self._running(among, MOST_THUMBNAILS),
            top=[(player, self.store.robots.get(player.userid) is not None) for player in best_players],
            over=self.store.boards.latest(among._replace(over=True), MOST_FINISHED),
        )

    def rules(self, game: str) -> str:
        """The help of a game, with its board."""
        return self.render(
            "rules.html",
            f"{game}/rules.html",
            title=f"Rules of {game.capitalize()}",
            game=game,
            text=of_game(game),
            picture=_diagram(game),
        )

    def puzzles(self, game: str, list_page: ListPage) -> str:
        """Puzzles with their answers folded."""
        puzzles = []
        for puzzle in list_page.items:
            point = self._load(game, puzzle.board).after(puzzle.moves)
            picture = Markup(images.board_svg(point, style=""))
            puzzles.append((puzzle, (images.caption(point), picture)))
        title = f"Puzzles of {game.capitalize()}"
        return self.render("puzzles.html", list_page.path, title=title, puzzles=puzzles)

    def boards(self, game: str, name: str, list_page: ListPage) -> str:
        """A page of the list of running or finished boards, the last one first."""
        title = f"{name.capitalize()} boards of {game.capitalize()}"
        rows = self.store.boards.named(game, list_page.items)
        return self.render("list.html", list_page.path, title=title, rows=rows, list_page=list_page)

    def standings(self, game: str, list_page: ListPage) -> str:
        """A page of the standings."""
        curves = self.store.players.ratings_of(game, [player.userid for player, _ in list_page.items])
        title = f"Standings of {game.capitalize()}"
        return self.render("standings.html", list_page.path, title=title, list_page=list_page, curves=curves)

    def pool(self, game: str, pool: str) -> str:
        """The table of a tournament, and its boards."""
        with self.store.reading():
            if self.store.tournaments.get(game, pool) is None:
                raise Gone
            table = tournaments.find(self.session, game, pool)
        *teams, places = table.tables(fits=False)
        head = places[0]
        rows = self.store.boards.of_tournament(game, pool)
        end_of_places = head.index("To play") + 1
        signs = tables.signs_explained(is_numbered=head[0] == "No")
        return self.render(
            "pool.html",
            f"{game}/pool-{pool}.html",
            title=f"Tournament {pool} of {game.capitalize()}",
            pool=pool,
            status=table.heading,
            teams=teams,
            places=[line[:end_of_places] for line in places],
            results=result_table(table),
            at=head.index("Player"),
            linked={userid for row in rows for userid in row.players},  # they have pages
            legend=[f"{signs} Each sign of a game opens it.", table.legend],
            running=[row for row in rows if is_under_way(row)][:MOST_OF_TOURNAMENT],
            rows=rows[:ON_PAGE],
        )

    def pool_feed(self, game: str, pool: str) -> str:
        """The boards of a tournament that have changed last."""
        if self.store.tournaments.get(game, pool) is None:
            raise Gone
        title = f"{game.capitalize()}, tournament {pool}"
        return self._feed(f"{game}/pool-{pool}.atom", title, BoardFilter([game], pool=pool))

    def feed(self, game: str) -> str:
        """The boards of a game that have changed last, for programs that watch."""
        return self._feed(f"{game}/feed.atom", game.capitalize(), BoardFilter([game]))

    def _feed(self, path: str, title: str, among: BoardFilter) -> str:
        """The feed at that path: the boards that have changed last."""
        rows = self.store.boards.latest(among, RECENT)
        times = [row.happened for row in rows]
        return self.render(
            "feed.atom",
            path,
            title=title,
            name=path.rpartition("/")[2],
            rows=rows,
            updated=markup.iso(max(times)) if times else "1970-01-01T00:00:00Z",
        )

    # Other pages

    def sitemap(self, paths: Sequence[str]) -> str:
        """Where pages are, for search engines."""
        return self.render("sitemap.xml", "sitemap.xml", title="Sitemap", paths=paths)

    def index(self) -> str:
        """The home page."""
        among = BoardFilter(self.games)
        rows = self._running(among, MOST_THUMBNAILS)
        counts = {game: self.store.boards.totals(game) for game in self.games}
        return self.render(
            "index.html",
            "index.html",
            title=f"Games at {self.session.server.host}",
            brief=ABOUT,
            briefs={game: _brief(game) for game in self.games},
            counts=counts,
            first_game=max(self.games, key=lambda game: counts[game]),  # the one that is played most here
            now=rows[:MOST_AT_TOP],
            rows=rows[MOST_AT_TOP:],
            over=self.store.boards.latest(among._replace(over=True), MOST_FINISHED),
            seekers=self.store.players.all_seekers(self.session.now.date(), ON_PAGE),
        )

    def user(self, userid: str) -> str:
        """A player: their ratings and boards. Guests have no page."""
        if is_guest(userid):
            raise Gone
        all_running = BoardFilter(self.games, [userid], over=False)
        all_finished = BoardFilter(self.games, [userid], over=True)
        running = self.store.boards.latest(all_running, ON_PAGE)
        finished = self.store.boards.latest(all_finished, ON_PAGE)
        ratings = self._ratings(userid)
        if not (ratings or running or finished):
            raise Gone
        more = self.store.boards.count(all_running) + self.store.boards.count(all_finished)
        more -= len(running) + len(finished)
        return self.render(
            "user.html",
            f"users/{userid}.html",
            title=userid,
            brief=self._about(userid, ratings),
            is_former=is_former(userid),
            best=ratings[0].game if ratings else "",
            ratings=ratings,
            running=running,
            results=self._results(userid, finished),
            more=more,
        )

    def _about(self, userid: str, ratings: Sequence[RatingView]) -> str:
        """Who a player is, in sentences such as ``A robot, level 3. Rated 1645 in Symple and 1824 in Spora.``."""
        sentences = []
        if robot := self.store.robots.get(userid):
            level = f", level {robot.level}" if robot.level else ""
            sentences.append(f"A robot{level}.")
        if ratings:
            rated = texts.enumerated([f"{view.rating} in {view.game.capitalize()}" for view in ratings])
            sentences.append(f"Rated {rated}.")
        if sought := [game.capitalize() for game in self.games if self.store.players.get(game, userid).seeking]:
            sentences.append(f"Seeks a game of {texts.enumerated(sought)}.")
        return " ".join(sentences)

    def _ratings(self, userid: str) -> list[RatingView]:
        """The ratings of a player, first in the game that they have finished most often."""
        views = []
        for game in self.games:
            player = self.store.players.get(game, userid)
            if player.rating is None:
                continue
            curve = self.store.players.ratings_of(game, [userid]).get(userid, [])
            parts = [f"{player.won} won", f"{player.lost} lost"]
            if player.tied:
                parts.append(f"{player.tied} tied")
            summary = ", ".join(parts)
            if curve:
                summary = f"{texts.counted(len(curve) - 1, 'rated game')}, from {curve[0]} to {curve[-1]}: {summary}"
            views.append(RatingView(game, player.rating, player.games, summary, curve))
        views.sort(key=lambda view: view.games, reverse=True)
        return views

    def _results(self, userid: str, rows: Sequence[BoardRow]) -> list[ResultView]:
        """The games of a player that are over, each with its outcome for them."""
        gains = {}
        for game in {row.game for row in rows}:
            for result in self.store.players.results_of_user(game, userid):
                gains[game, result.board] = f"{result.after - result.before:+d}"
        views = []
        for row in rows:
            if row.winner is None:
                outcome = "Tied"
            elif row.winner == userid:
                outcome = "Won"
            else:
                outcome = "Lost"
            views.append(ResultView(row, outcome, gains.get(row.place, "")))
        return views

    # What pages have in common

    def render(self, template: str, path: str, *, title: str, **what: Any) -> str:
        """A page at a path below the site."""
        image = what.pop("image", None)
        if image is None:
            image = self._picture_of(path.partition("/")[0])
        return markup.TEMPLATES.get_template(template).render(
            games=self.games,
            has_pictures=_has_pictures,
            host=self.session.server.host,
            address=self.address,
            can_post=self.site.can_post,
            up="../" * path.count("/"),
            url=self.site.url,
            path=path,
            policy=POLICY,
            title=title,
            image=image,
            description=f"{title}. {what.get('status') or what.get('brief') or ABOUT}",
            **what,
        )

    def _picture_of(self, game: str) -> str:
        """The path of a PNG for those who link to a page that is about no board; empty if there is none."""
        pictured = [name for name in self.games if _has_pictures(name)]
        if not self.site.has_pictures or not pictured:
            return ""
        if game not in pictured:  # such as the home page, or that of a player
            game = pictured[0]
        return f"{game}/example.png"


def is_question(fields: Mapping[str, str]) -> bool:
    """Whether a page asks for news or a preview, which is no command."""
    text = fields.get("text", "")
    return not text or text.startswith(PREVIEW)


def answer_page(server: Server, player: Reply, address: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """What the page of a board, at which a *player* answers to an *address*, is told.

    The *fields* are those that the page has posted: ``known`` and ``seen`` as of `BoardView.news`, and in ``text``
    perhaps ``preview MOVE``. The answer is empty if the board is gone.
    """
    text = fields.get("text", "")
    with suppress(Gone):
        pages = Pages(Session(server), SiteSettings(), player.userid, address)
        if text.startswith(PREVIEW):
            return pages.preview(player.game, player.board, text.removeprefix(PREVIEW).split(" "))
        return pages.news(player.game, player.board, fields["known"].split(), fields.get("seen", ""))
    return {}


def is_under_way(row: BoardRow) -> bool:
    """Whether lists show a board to strangers: something has happened on it, and it goes on."""
    return row.ended is None and row.moves > 0


@cache
def _brief(game: str) -> str:
    """What a game is about, in the first sentence of its rules; empty if the game cannot be loaded."""
    with suppress(games.Unloadable):
        first_line = (games.load(game).__doc__ or "").partition("\n")[0]
        sentence = first_line.partition(": ")[2] or first_line
        return f"{sentence[:1].upper()}{sentence[1:]}"
    return ""


@cache
def _has_pictures(game: str) -> bool:
    """Whether a game has pictures for lists."""
    with suppress(games.Unloadable):
        return hasattr(games.load(game), "figure")
    return False


@cache
def _diagram(game: str) -> Markup:
    """The board of a game at the start."""
    rules = games.load(game)
    start = rules.new(**games.read_options(rules, []))
    title = f"The board of {game.capitalize()} at the start"
    if not hasattr(rules, "figure"):
        return Markup(svg.text_svg(rules.draw(start, None), title, style=""))
    return Markup(svg.svg(rules.figure(start, None), rules.SIDES, title, style=""))
