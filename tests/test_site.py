"""The site: pages that anybody may see, written when something has changed, and then only what that concerns."""

import gzip
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from unittest.mock import patch
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from pbm import letters, runner
from pbm.access import tokens
from pbm.actions import cleanup, directing, tournaments, users
from pbm.board import clocks
from pbm.board.board import Board
from pbm.drawing.images import board_svg
from pbm.language.help import of_game
from pbm.mail import html, own_mails
from pbm.mail.illustrations import Illustrator
from pbm.mail.incoming import handle_prepared, posted, prepare_mail
from pbm.refusals import Refused
from pbm.session import Session
from pbm.site.boards import page_canvas, page_figure
from pbm.site.build import MANIFEST, NAMES, build
from pbm.site.markup import TEMPLATES
from pbm.site.pages import ON_PAGE, Pages, SiteSettings, paginated
from pbm.store import BoardRow, PlayerRow
from pbm.store.boards import BoardFilter
from pbm.store.robots import Puzzle
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Entrant, Tournament

from helpers import helptexts
from helpers.club import PASSWORDS, Club
from helpers.database import stored_board
from helpers.examples import examples, play_at_random
from helpers.fixtures import set_up
from helpers.mail import ADDRESS
from helpers.patience import PATIENCE, until
from helpers.servers import running

URL = "https://games.example/boards/"
PLAIN, SITED = SiteSettings(), SiteSettings(URL)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" 'too'"


class Elements(HTMLParser):
    """The elements of a page, and the text between them."""

    def __init__(self, source):
        super().__init__()
        self.found, self.texts = [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag, **wanted):
        return [
            attributes
            for name, attributes in self.found
            if name == tag and all(attributes.get(key.strip("_")) == value for key, value in wanted.items())
        ]


def written(club, folder, site=PLAIN):
    """Bring the site in a folder up to date, and say which files that has changed."""
    before = {path: path.stat().st_mtime_ns for path in files(folder)}
    build(folder, Session(club.server), site)
    after = {path: path.stat().st_mtime_ns for path in files(folder)}
    return {str(path.relative_to(folder)) for path in after if before.get(path) != after[path]}


def files(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file() and path.name not in {MANIFEST, NAMES}]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "site"


def end_one_of_two(club):
    """alice and bob on a running and on a finished board of Symple."""
    club.signed_up("alice", "bob", "carol")
    for _ in range(2):
        club.say("symple challenge -size=5 alice bob")
    for line in ("101 alice a1", "102 alice a1", "101 bob c3", "102 bob c3"):
        move(club, line)
    club.say(f"symple resign 102 alice {PASSWORDS['alice']}")


played = set_up(end_one_of_two)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """The folder of their site when nothing has changed since, for tests that only read it."""
    top = tmp_path_factory.mktemp("first")
    club = Club(top / "pbm.db")
    club.become(end_one_of_two)
    written(club, top / "site", SITED)
    club.store.close()
    return top / "site"


def move(club, line, comment=""):
    """A move on a board of Symple, such as ``101 alice a2``."""
    board, name, cell = line.split()
    club.say(f"symple move {board} {name} {PASSWORDS[name]} {cell}", comment)


def steps_of(source):
    [script] = re.findall(r'<script type="application/json" id="steps">(.*?)</script>', source, re.DOTALL)
    assert "<" not in script  # whatever it holds, it ends no element
    return json.loads(script)


def test_there_are_pages_of_boards_games_and_players_which_say_what_they_are_about_and_feeds_and_a_map(first):
    names = {str(path.relative_to(first)) for path in files(first)}
    of_symple = "index.html 101.html 102.html 102.json rules.html standings.html running.html finished.html feed.atom"
    assert {f"symple/{name}" for name in of_symple.split()} <= names
    assert {"index.html", "users/alice.html", "users/bob.html", "sitemap.xml"} <= names
    assert {"site.css", "board.css", "board.js", "favicon.svg"} <= names
    assert "symple/101.json" not in names  # a record is told when the game is over
    described = set()
    for page in first.rglob("*.html"):
        elements = Elements(page.read_text())
        [description] = elements.all("meta", name="description")
        [icon] = elements.all("link", rel="icon")
        assert (page.parent / icon["href"]).resolve() == first / "favicon.svg"
        described.add(description["content"])
    assert len(described) == len([*first.rglob("*.html")])
    assert "Symple board 102: alice (white) against bob (black). Won by bob (alice resigned)." in described
    assert ET.parse(first / "favicon.svg").getroot().tag.endswith("}svg")
    source = (first / "symple" / "finished.html").read_text()
    assert "<th>Board</th><th>Status</th><th>Players</th>" in source
    assert "102</a></td><td>won by bob</td><td><a" in source
    elements = Elements((first / "symple" / "101.html").read_text())
    assert elements.all("link", rel="canonical") == [{"rel": "canonical", "href": f"{URL}symple/101.html"}]
    assert elements.all("meta", property="og:title")
    assert {"symple/101.html", "index.html"} <= {*locations(first / "sitemap.xml")}
    assert f"<loc>{URL}symple/101.html</loc>" in (first / "sitemap.xml").read_text()


def test_all_links_lead_to_a_file_or_to_our_address_and_what_has_not_changed_is_not_made_again(
    played, folder, monkeypatch
):
    written(played, folder)
    for page in folder.rglob("*.html"):
        elements = Elements(page.read_text())
        links = [one["href"] for one in elements.all("a") + elements.all("link") if "href" in one]
        links += [one["src"] for one in elements.all("script") if "src" in one]
        for link in links:
            if link.startswith("#"):
                assert f'id="{link[1:]}"' in page.read_text()
                continue
            file = page.parent / link.partition("#")[0]
            assert link.startswith("mailto:pbm@") or file.resolve().is_file(), f"{page.name}: {link}"
    assert written(played, folder) == set()  # nothing has changed
    with played.store.writing():
        played.store.users.add("a..b", "no password", played.time)
    played.say("symple challenge -size=5 a..b alice")
    written(played, folder)
    monkeypatch.setattr("pbm.site.build._write", lambda file, _: pytest.fail(str(file)))
    assert written(played, folder) == set()


def test_search_engines_are_kept_from_private_pages_also_where_the_site_knows_no_address_of_its_own(played, folder):
    written(played, folder)
    lines = (folder / "robots.txt").read_text().splitlines()
    assert lines[:3] == ["User-agent: *", "Disallow: /answer", "Disallow: /calendar/"]
    assert not [line for line in lines if "Sitemap" in line]


def test_a_game_that_cannot_be_loaded_takes_no_other_page_away(played, folder, monkeypatch):
    load = games.load

    def load_others(name):
        if name == "spora":
            raise games.Unloadable("Spora cannot be loaded.")
        return load(name)

    monkeypatch.setattr("games.load", load_others)
    written(played, folder, SITED)
    assert "index.html" in {path.name for path in files(folder)}
    assert (folder / "symple" / "101.html").exists()
    assert not (folder / "spora" / "rules.html").exists()


def test_a_new_item_changes_only_the_first_page_of_a_list_whose_newest_come_first():
    count = 3 * ON_PAGE
    before = paginated("symple", "finished", [*range(count, 0, -1)], is_last_numbered_first=True)
    after = paginated("symple", "finished", [*range(count + 1, 0, -1)], is_last_numbered_first=True)
    assert [len(list_page.items) for list_page in before] == [ON_PAGE, ON_PAGE, ON_PAGE]
    assert (after[0] != before[0], after[1:]) == (True, before[1:])


def test_a_move_and_a_wish_to_play_rewrite_the_pages_that_tell_them(played, folder):
    written(played, folder)
    move(played, "101 alice a2")
    of_symple = {f"symple/{name}" for name in ("index.html", "101.html", "101.svg", "running.html", "feed.atom")}
    assert written(played, folder) == {"index.html", *of_symple, "users/alice.html", "users/bob.html"}
    assert "Who wants to play" not in (folder / "index.html").read_text()
    played.say("spiro seek carol carol-secret 2")
    played.say("symple seek alice alice-secret 1")
    assert "index.html" in written(played, folder)
    texts = [text.strip() for text in Elements((folder / "index.html").read_text()).texts]
    shown = list(filter(None, texts[texts.index("Who wants to play") :]))
    spiro = ["Spiro", "with carol", "no rating yet, seeks 2", "Play carol"]
    symple = ["Symple", "with", "alice", "rating 1424, seeks 1", "Play alice"]
    assert shown[1:11] == [*spiro, *symple, "Just finished"]


@pytest.mark.parametrize(("moves", "words"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns")])
def test_lists_count_the_turns_of_a_board_in_words(played, moves, words):
    row = played.store.boards.get("symple", "102")._replace(moves=moves)
    macros = TEMPLATES.get_template("macros.html").module
    assert f"Symple 102, {words}, <" in str(macros.over([row], ""))


def test_a_running_board_has_a_small_picture_on_the_pages_that_name_it_and_loses_it_at_its_end(played, folder):
    played.say("symple challenge -size=5 carol alice")  # 103, on which nothing has happened
    written(played, folder)
    of_boards = {path.name for path in (folder / "symple").glob("1*.svg")}
    of_game = {path.name for path in (folder / "symple").glob("*.svg")} - of_boards
    assert of_boards == {"101.svg", "103.svg"}
    assert of_game == {"example.svg", "lesson-1.svg", "lesson-2.svg", "lesson-3.svg"}
    assert len(Elements((folder / "symple" / "101.svg").read_text()).all("path")) == 6  # the grid, stones, edges, a dot
    for page, mover in (("index", ""), ("symple/index", ""), ("users/alice", "own"), ("users/bob", "")):
        source = (folder / f"{page}.html").read_text()
        pictures = [image for image in Elements(source).all("img") if not re.search("example|lesson|103", image["src"])]
        assert [(image["src"].rpartition("/")[2], image["alt"]) for image in pictures] == [("101.svg", "")]
        assert "<b>alice to move</b></a><br>against bob<br>" in source
        assert ('<li class="mini own">' in source) == bool(mover)  # a ring: this player is to move
    played.say(f"symple resign 101 alice {PASSWORDS['alice']}")
    written(played, folder)
    assert not (folder / "symple" / "101.svg").exists()
    assert "bob</a> won against" in (folder / "index.html").read_text()


def test_a_game_that_is_over_says_by_which_score_it_was_won_and_has_its_puzzle_and_an_analysis_to_ask_for(club, folder):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=5 alice bob")
    board = play_some(club, "symple", 60)
    scores = sorted(board.state.scores, reverse=True)  # White and Black
    assert board.is_over
    with club.store.writing():
        club.store.robots.save_puzzle(Puzzle("symple", "101", 3, "c3", proven=True), club.time)
    written(club, folder)
    page = (folder / "symple" / "101.html").read_text()
    assert f"{board.winner} won by {scores[0]:g} to {scores[1]:g}</p>" in page
    assert 'After <a href="101.html#3">3 turns</a> one turn wins, and no other.' in page
    assert "<summary>Answer</summary><p><b>c3</b></p>" in page
    news = Pages(Session(club.server), PLAIN, board.winner).news("symple", "101", [], "")
    assert news["headline"] == f"You won by {scores[0]:g} to {scores[1]:g}"
    buttons = 'value="rematch">Rematch</button><button type="button" value="analyse">Analyse</button>'
    assert buttons in news["html"]["offers"]


def test_the_home_page_and_all_pictures_on_it_are_small_also_with_the_largest_boards(club, folder):
    club.signed_up("alice", "bob")
    rng = Random(1)
    for number in range(101, 113):
        row = BoardRow("symple", str(number), "-size=19", "alice", "bob", b"secret", club.time, turn="alice")
        board = Board(row, [], {})
        play_at_random(board, rng, 60)
        with club.store.writing():
            club.store.boards.add(board.row)
            club.store.boards.save(board.row._replace(moves=len(board.turns), turn=board.mover), 1, board.turns)
    written(club, folder)
    home = folder / "index.html"
    pictures = [folder / image["src"] for image in Elements(home.read_text()).all("img")]
    assert len(pictures) == 12 + len(helptexts.GAMES)
    parts = [home, folder / "site.css", *pictures]
    assert sum(len(gzip.compress(path.read_bytes(), 6)) for path in parts) < 60_000


def test_a_player_has_the_course_of_each_rating_and_results_with_what_they_gained(first):
    alice = (first / "users" / "alice.html").read_text()
    assert "Symple, 1424</a></h2><svg" in alice
    assert "1 rated game, from 1600 to 1424: 0 won, 1 lost." in alice
    [line] = re.findall("<tr><td><b>.*?</tr>", alice)
    assert re.sub("<[^>]*>", " ", line).split()[:5] == ["Lost", "Symple", "102", "with", "bob"]
    assert '<td class="number">-176</td>' in line


def test_the_page_of_a_player_begins_with_who_they_are_and_how_to_play_them(played, folder):
    played.say("symple seek alice alice-secret 1")
    played.say("spora seek alice alice-secret 1")
    written(played, folder)
    source = (folder / "users" / "alice.html").read_text()
    said = "Rated 1424 in Symple. Seeks a game of Spora and Symple."
    assert f'<p class="lead">{said}</p>' in source
    assert f'<meta name="description" content="alice. {said}">' in source
    [button] = re.findall('<a class="btn go" href="([^"]+)">Play alice</a>', source)
    assert unquote(button) == "mailto:pbm@pbm.example?subject=symple challenge alice USERID"
    played.say("spora seek alice alice-secret 0")
    assert "users/alice.html" in written(played, folder)


def test_the_page_of_a_board_that_was_removed_goes_and_other_files_stay(club, folder):
    club.signed_up("alice", "bob")
    club.say("symple challenge alice bob")
    written(club, folder)
    (folder / "symple" / "own.html").write_text("mine")
    club.say(f"symple resign 101 alice {PASSWORDS['alice']}")  # before it has begun
    written(club, folder)
    assert not (folder / "symple" / "101.html").exists()
    assert (folder / "symple" / "own.html").read_text() == "mine"


def test_what_somebody_has_put_into_the_folder_leads_to_nothing_outside(played, folder, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    folder.mkdir()
    (folder / ".index.html.new").symlink_to(precious)
    names = ["../precious", str(precious), "symple/../../precious", "", ".", "\0"]
    (folder / MANIFEST).write_text(json.dumps({"version": "", "seen": [1, 1, ""], "digests": {}}))
    (folder / NAMES).write_text("\n".join(names))
    written(played, folder)
    assert not (folder / "index.html").is_symlink()
    (folder / "symple" / "running-0").mkdir()
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["digests"]["symple/running-0/../../../precious"] = "one that goes"
    (folder / MANIFEST).write_text(json.dumps(manifest))
    move(played, "101 alice e5")
    assert "symple/101.html" in written(played, folder)
    assert precious.read_text() == "mine"


SEEN = [1, 2], ["x", {}, None], [10**30, 1, "x"], [1, 10**30, "x"]


@pytest.mark.parametrize("wrong", ["", "[]", "{}", {"digests": 5}, *({"seen": seen} for seen in SEEN)])
def test_a_folder_whose_memory_is_damaged_is_written_as_a_whole(played, folder, wrong):
    written(played, folder)
    (folder / "symple" / "101.html").write_text("something else")
    memory = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(wrong if isinstance(wrong, str) else json.dumps(memory | wrong))
    assert written(played, folder) == {"symple/101.html"}


@pytest.mark.parametrize("kind", ["board", "pool", "user"])
def test_a_database_of_somebody_else_removes_nothing_outside(played, folder, tmp_path, kind):
    (tmp_path / "precious.html").write_text("mine")
    written(played, folder)
    (folder / "symple" / "pool-").mkdir()
    name = "/../../../precious" if kind == "pool" else "../../precious"
    played.store.changes.insert("changes", {"kind": kind, "game": "" if kind == "user" else "symple", "name": name})
    written(played, folder)
    assert (tmp_path / "precious.html").read_text() == "mine"


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_each_step_of_a_game_is_the_picture_of_its_position(club, folder, game):
    club.signed_up("alice", "bob")
    club.say(f"{game} challenge alice bob")
    board = play_some(club, game, 12)
    written(club, folder)
    figures = [page_figure(board.after(moves)) for moves in range(len(board.turns) + 1)]
    pictures = [page_canvas(board, each).picture(each, "", style="", has_notes=False) for each in figures]
    assert len(set(pictures)) > 8
    found = steps_of((folder / game / "101.html").read_text())
    for shapes, picture in zip(shown_steps(found), pictures, strict=True):
        on_cells = picture.split("</g>\n", 1)[1]
        assert f"{shapes}</svg>\n" == on_cells
    notes = [[note.get("text", "") for note in step["notes"]] for step in found["steps"]]
    names = "|".join(side.title() for side in board.rules.SIDES)
    # the seat shows the side and its score
    told = rf"^({names}): (-?[\d.]+$)?|, score -?[\d.]+"
    assert notes == [[re.sub(told, "", note.text) for note in each.notes] for each in figures]


PHONE_PIXELS = 360


@pytest.mark.parametrize(
    ("options", "least_pixels"), [("symple -size=19", 17.9), ("spora -size=25", 13.8), ("sprout -board=cairo-2", 16)]
)
def test_a_page_shows_each_coordinate_once_so_that_points_are_large_on_a_telephone(club, options, least_pixels):
    club.signed_up("alice", "bob")
    game, option = options.split()
    club.say(f"{game} challenge {option} alice bob")
    board = stored_board(club.store, game, "101")
    figure = page_figure(board.present)
    written = Counter(label.text for label in figure.labels)
    assert written
    assert {*written.values()} == {1}
    canvas = page_canvas(board, figure)
    assert canvas.scale * PHONE_PIXELS / canvas.width >= least_pixels


def shown_steps(found):
    """What stands on the cells at each step, as a page puts it together."""
    parts = {}
    for step in found["steps"]:
        parts |= {int(number): shapes for number, shapes in step["parts"].items()}
        shapes = [found["shapes"][shape] for _, shapes in sorted(parts.items()) for shape in shapes]
        yield "".join(shapes)


def test_a_game_that_cannot_draw_takes_no_page_of_another_along(shell, monkeypatch):
    site = str(shell.folder / "site")
    shell.sign_up("alice")
    for game in ("symple", "spora"):
        shell.run(game, "challenge", "-size=5", "alice", "alice")
    shell.done("site", site)
    before = (Path(site) / "symple/101.html").read_bytes()
    monkeypatch.setattr(games.load("symple"), "figure", lambda *_: 1 / 0)
    shell.run("spora", "move", "101", "alice", PASSWORDS["alice"], "c3")
    shell.run("symple", "move", "101", "alice", PASSWORDS["alice"], "c3")
    for _ in range(2):
        done = shell.run("site", site, "--json")
        assert (done.returncode, "symple/101.html" in json.loads(done.stdout)["failed"]) == (1, True)
        assert "symple/101.html could not be made (ZeroDivisionError: division by zero); its next" in done.stderr
        assert (Path(site) / "symple/101.html").read_bytes() == before
        assert "c3" in (Path(site) / "spora/101.html").read_text()
        (Path(site) / MANIFEST).unlink()
    monkeypatch.undo()
    shell.done("site", site)
    assert (Path(site) / "symple/101.html").read_bytes() != before


def largest_kinds():
    """Each game on its usual board, and with the highest value or each choice of each of its options."""
    for game in helptexts.GAMES:
        yield game
        for option in games.load(game).OPTIONS:
            values = option.values or [""]
            some = [values[-1]] if isinstance(values, range) else values
            yield from (f"{game} -{option.name}{'=' * (value != '')}{value}" for value in some)
    yield "papagra -size=10 -removals=3"


@pytest.mark.parametrize(
    "line",
    [pytest.param(line, marks=[] if line in {"papagra", "spora"} else pytest.mark.long) for line in largest_kinds()],
)
def test_the_page_of_a_long_game_is_small_when_it_is_compressed(club, line):
    game, _, options = line.partition(" ")
    club.signed_up("alice", "bob")
    board = Board(BoardRow(game, "101", options, "alice", "bob", b"secret", club.time, turn="alice"), [], {})
    play_at_random(board, Random(1), 300)
    with club.store.writing():
        club.store.boards.add(board.row)
        club.store.boards.save(board.row._replace(moves=len(board.turns), turn=board.mover), 1, board.turns)
    source = Pages(Session(club.server), SITED).board(game, "101")
    assert board.mover is None or len(board.turns) == 300
    assert len(gzip.compress(source.encode(), 6)) < 60_000
    assert len(source) < 800_000


def play_some(club, game, moves):
    """Play at random on board 101, and return it."""
    rng = Random(1)
    for _ in range(moves):
        board = stored_board(club.store, game, "101")
        if board.mover is None:
            break
        club.say(f"{game} move 101 {board.mover} {PASSWORDS[board.mover]} {board.state.random(rng)}")
    return stored_board(club.store, game, "101")


SCRIPTS = "board.js", "turns.js"


def test_a_comment_and_a_page_full_of_markup_do_no_harm(played, folder):
    move(played, "101 alice a2", HOSTILE)
    written(played, folder)
    source = (folder / "symple" / "101.html").read_text()
    elements = Elements(source)
    own = [{"type": "application/json", "id": "steps"}, *({"src": f"../{name}", "defer": None} for name in SCRIPTS)]
    assert elements.all("script") == own
    assert {image["src"] for image in elements.all("img")} == {"lesson-1.svg", "lesson-2.svg", "lesson-3.svg"}
    assert [name for _, attributes in elements.found for name in attributes if name.startswith("on")] == []
    assert HOSTILE in "".join(elements.texts)


def test_nothing_stands_there_that_a_stranger_may_not_see(club, folder):
    club.signed_up("alice", "bob")
    club.say("spiro challenge -small alice bob")
    club.say(f"spiro queue 101 bob {PASSWORDS['bob']} e3")
    move = next(stored_board(club.store, "spiro", "101").state.moves())
    club.say(f"spiro submit 101 alice {PASSWORDS['alice']} {move}")
    said = "between you and me"
    club.say(f"spiro chat 101 bob {PASSWORDS['bob']}", comment=said)
    club.say(f"message bob {PASSWORDS['bob']} alice", comment=said)
    assert sum(said in mail.text for mail in club.mails()) > 1
    written(club, folder, SITED)
    row = club.store.boards.get("spiro", "101")
    tokens = [mail.reply_to.partition("+")[2].partition("@")[0] for mail in club.mails() if mail.reply_to]
    secrets = [row.secret.hex(), row.submitted, "players.example", *PASSWORDS.values(), *tokens, said]
    assert tokens
    for path in files(folder):
        text = path.read_text() if path.name != "rules.html" else ""  # there the same move may be an example
        assert [secret for secret in secrets if secret in text] == [], path


def test_the_throws_can_be_checked_when_the_game_is_over_and_not_before(club, folder):
    club.signed_up("alice", "bob")
    club.say("spiro challenge -small alice bob")
    secret = club.store.boards.get("spiro", "101").secret.hex()
    play_some(club, "spiro", 3)
    written(club, folder)
    assert secret not in (folder / "spiro" / "101.html").read_text()
    club.say(f"spiro resign 101 bob {PASSWORDS['bob']}")
    written(club, folder)
    assert secret in (folder / "spiro" / "101.html").read_text()
    assert json.loads((folder / "spiro" / "101.json").read_text())["dice"]["secret"] == secret


def test_a_list_that_is_long_has_pages_of_which_a_new_board_changes_the_first_one_alone(club, folder, monkeypatch):
    monkeypatch.setattr("pbm.site.pages.ON_PAGE", 3)
    club.signed_up("alice", "bob")
    for _ in range(11):
        club.say("symple challenge -size=5 alice bob")
    written(club, folder)
    names = "running.html", "running-2.html", "running-1.html"
    pages = [(folder / "symple" / name).read_text() for name in names]
    numbers = [[int(found) for found in re.findall(r'/symple/(\d+)\.html"', page)] for page in pages]
    assert numbers == [[111, 110, 109, 108, 107], [106, 105, 104], [103, 102, 101]]
    links = [re.findall(r'href="([\w.-]+)" rel', page) for page in pages]
    assert links == [["running-2.html"], ["running.html", "running-1.html"], ["running-2.html"]]
    club.say("symple challenge -size=5 alice bob")
    rewritten = {path for path in written(club, folder) if "running" in path}  # a page has split off the first one
    assert rewritten == {f"symple/running{number}.html" for number in ("", "-2", "-3")}
    club.say("symple challenge -size=5 alice bob")
    assert {path for path in written(club, folder) if "running" in path} == {"symple/running.html"}
    for board in range(108, 114):
        club.say(f"symple resign {board} alice {PASSWORDS['alice']}")
    written(club, folder)
    assert not (folder / "symple" / "running-2.html").exists()


def test_a_map_names_the_newest_boards_and_no_more_than_search_engines_read(club, folder, monkeypatch):
    pages = 1 + 3 * len(helptexts.GAMES)
    monkeypatch.setattr("pbm.site.build.MOST_ON_MAP", pages + 2)
    club.signed_up("alice", "bob")
    for game in ("symple", "symple", "spora"):
        club.say(f"{game} challenge -size=5 alice bob")
    written(club, folder, SITED)
    assert locations(folder / "sitemap.xml")[pages:] == ["spora/101.html", "symple/102.html"]
    club.say("symple challenge -size=5 alice bob")
    assert "sitemap.xml" in written(club, folder, SITED)
    assert locations(folder / "sitemap.xml")[pages:] == ["symple/103.html", "spora/101.html"]
    club.say(f"symple resign 103 alice {PASSWORDS['alice']}")  # before it has begun
    written(club, folder, SITED)
    assert locations(folder / "sitemap.xml")[pages:] == ["spora/101.html", "symple/102.html"]
    assert [path.name for path in files(folder) if "sitemap" in path.name] == ["sitemap.xml"]


def locations(file):
    return [one.text.removeprefix(URL) for one in ET.parse(file).iter() if one.tag.endswith("loc")]


def test_a_page_that_was_made_by_a_build_that_was_killed_goes_with_its_board(club, folder):
    club.signed_up("alice", "bob")
    written(club, folder)
    club.say("symple challenge alice bob")
    with patch.object(Pages, "record", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        written(club, folder)
    assert (folder / "symple" / "101.html").exists()
    club.say(f"symple resign 101 alice {PASSWORDS['alice']}")
    (folder / MANIFEST).unlink()
    written(club, folder)
    assert not (folder / "symple" / "101.html").exists()


OFTEN = ["start"] * 6 + ["play"] * 8 + ["resign", "join", "begin"]
DEEDS = {
    "start": "{game} challenge {options} {one} {other}",
    "play": "{game} move {board} {mover} {secret} {move}",
    "again": "{game} move {board} {mover} {secret} {move}",
    "resign": "{game} resign {board} {mover} {secret}",
    "submit": "{game} submit {board} {mover} {secret} {move}",
    "draw": "{game} move {board} {one} {secret_of_one} propose",
    "undo": "{game} move {board} {one} {secret_of_one} undo",
    "yes": "{game} move {board} {one} {secret_of_one} accept",
    "join": "{game} join cup {one} {secret_of_one}",
    "leave": "{game} leave cup {one} {secret_of_one}",
    "sign off": "signoff {one} {secret_of_one}",
    "sign up": "signup {one} {secret_of_one}",
    **dict.fromkeys(["open", "begin", "analyse", "puzzle", "remove", "wait"], ""),
}


A_DEED = st.tuples(st.sampled_from([*DEEDS, *OFTEN]), st.integers(0, 10**6), st.booleans())


@examples(40)
@given(deeds=st.lists(A_DEED, min_size=5, max_size=40))
def test_what_is_written_after_each_change_is_what_is_written_at_once(tmp_path_factory, deeds):
    top = tmp_path_factory.mktemp("both")
    club = Club(top / "pbm.db")
    with pytest.MonkeyPatch.context() as patched, closing(club.store):
        patched.setattr("pbm.site.pages.ON_PAGE", 2)
        patched.setattr("pbm.site.build.MOST_ON_MAP", 22)
        club.signed_up(*PASSWORDS)
        for deed, seed, looks in deeds:
            do(club, deed, Random(seed))
            if looks:
                written(club, top / "step by step")
        written(club, top / "step by step")
        written(club, top / "at once")
    one, other = (
        {str(path.relative_to(top / name)): path.read_bytes() for path in files(top / name)}
        for name in ("step by step", "at once")
    )
    assert one == other
    assert len(one) > 20


def do(club, deed, rng):
    """Do something at random; what is refused does no harm."""
    club.pass_time(hours=rng.choice([1, 30, 24 * 20]))
    game = rng.choice(["symple", "spiro"])
    one, other = rng.sample(list(PASSWORDS), 2)
    boards = club.store.boards.names(BoardFilter([game]))
    board = rng.choice(boards)[1] if boards else "101"
    with suppress(Refused):
        if DEEDS[deed]:
            say(club, deed, game, board, (one, other), rng)
        elif deed in {"open", "begin"}:
            direct(club, deed, game, one)
        elif deed == "wait":
            cleanup.clean_up(Session(club.server))
        elif boards:
            with club.store.writing():
                file(club.store, deed, game, board, rng, club.time)


def say(club, deed, game, board, players, rng):
    """Somebody gives a command."""
    row = club.store.boards.get(game, board)
    one, other = players
    if row and deed in {"draw", "undo", "yes"}:
        one, other = row.first_player, row.second_player
        if row.voter == one or (row.vote is None and rng.random() < 0.5):
            one, other = other, one
    state = stored_board(club.store, game, board).state if row else None
    mover = row.turn if row and row.turn else one
    words = {"game": game, "options": OPTIONS[game], "one": one, "other": other, "board": board}
    words |= {"mover": mover, "secret": PASSWORDS[mover], "secret_of_one": PASSWORDS[one]}
    words["move"] = state.random(rng) if state and not state.result() else "a1"
    club.say(DEEDS[deed].format_map(words))


def direct(club, deed, game, name):
    """The director opens a tournament, or begins one that is open."""
    cup = club.store.tournaments.get(game, "cup")
    if deed == "open" and cup is None:
        open_cup(club, game, "cup", name)
    if deed == "begin" and cup and cup.state == "open":
        with club.store.writing():
            directing.direct(Session(club.server), game, "cup", ["start"], dry_run=False)


def file(store, deed, game, board, rng, time):
    """An analysis of a board is kept, or a puzzle from it, or it is removed."""
    if deed == "analyse":
        store.robots.save_analysis(game, board, json.dumps({"curve": [rng.random(), rng.random()]}), time)
    elif deed == "puzzle" and board not in {puzzle.board for puzzle in store.robots.puzzles(game, 99)}:
        store.robots.save_puzzle(Puzzle(game, board, 1, "a1", proven=True), time)
    elif deed == "remove":
        store.boards.remove(game, board, time)


OPTIONS = {"symple": "-size=5", "spiro": "-small -pieces=2"}


def open_cup(club, game, pool, *names):
    """Announce a Swiss tournament of a round, which these players have joined. Returns it."""
    kind = TOURNAMENT_KINDS["swiss"]
    one = Tournament(game, pool, kind, club.time, rounds=1, options=OPTIONS[game], tie_breaks="cut1,sb")
    with club.store.writing():
        return tournaments.announce(Session(club.server), one, [*map(Entrant, names)])


def test_all_pages_are_made_again_on_a_database_that_was_put_back(played, folder, tmp_path):
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(copy)) as db:
        played.store.db.backup(db)
    played.say("symple challenge -size=5 alice carol")
    written(played, folder)
    before = Club(copy)
    before.pass_time(hours=1)
    for _ in range(4):  # more has happened there since, and the numbers of its changes are higher
        before.say("symple challenge -size=5 alice bob")
    assert written(before, folder) >= {"symple/103.html", "symple/104.html"}
    assert "carol" not in (folder / "symple" / "103.html").read_text()
    assert not (folder / "users" / "carol.html").exists()
    before.store.close()


def test_all_pages_are_made_again_after_a_restore_though_what_that_has_undone_was_no_event(players, folder):
    shell = players
    shell.run("symple", "challenge", "alice", "bob")
    copy, record = str(shell.folder / "copy"), shell.done("export", "symple", "101")
    shell.run("backup", copy)
    shell.run("import", stdin=record.replace('"board": "101"', '"board": "150"'))
    shell.run("site", str(folder))
    assert (folder / "symple" / "150.html").exists()
    shell.run("restore", copy, "--yes")
    shell.run("symple", "challenge", "alice", "bob")
    shell.run("site", str(folder))
    assert (folder / "symple" / "102.html").exists()
    assert not (folder / "symple" / "150.html").exists()


def test_in_a_first_build_pictures_are_of_those_boards_that_have_changed_last_and_come_last(
    played, folder, monkeypatch
):
    pytest.importorskip("resvg_py")
    monkeypatch.setattr("pbm.site.build.MOST_DRAWN", 1)
    played.pass_time(hours=1)
    move(played, "101 alice a2")
    site = SiteSettings(URL, has_pictures=True)
    made = sorted(written(played, folder, site), key=lambda path: (folder / path).stat().st_mtime_ns)
    pictures = [path for path in made if path.endswith(".png") and not path.endswith("example.png")]
    assert made[-1:] == ["symple/101.png"] == pictures
    assert image_of(folder / "symple" / "101.html") == f"{URL}symple/101.png"
    assert (folder / "symple" / "101.png").read_bytes().startswith(b"\x89PNG")
    assert "og:image" not in (folder / "symple" / "102.html").read_text()
    assert written(played, folder, site) == set()
    played.pass_time(hours=1)
    played.say("symple challenge -size=5 alice bob")
    assert written(played, folder, site) >= {"symple/103.png"}
    assert image_of(folder / "symple" / "103.html") == f"{URL}symple/103.png"


def test_a_link_to_any_page_shows_its_title_and_a_board_in_a_chat_and_no_token(played, folder):
    pytest.importorskip("resvg_py")
    written(played, folder, SiteSettings(URL, has_pictures=True, can_post=True))
    for page, picture in (
        ("index", "papagra/example"),
        ("spora/index", "spora/example"),
        ("spiro/rules", "spiro/example"),
        ("users/alice", "papagra/example"),
        ("symple/101", "symple/101"),
    ):
        source = (folder / f"{page}.html").read_text()
        assert image_of(folder / f"{page}.html") == f"{URL}{picture}.png"
        assert (folder / f"{picture}.png").read_bytes().startswith(b"\x89PNG")
        shared = [tag["content"] for tag in Elements(source).all("meta") if tag.get("property", "").startswith("og:")]
        assert f"{URL}{page}.html" in shared
        assert not any("#" in content for content in shared)
    described = Elements((folder / "symple" / "101.html").read_text()).all("meta", property="og:description")
    assert described[0]["content"].endswith("alice's turn (white).")


def test_the_home_page_begins_with_what_this_is_a_robot_to_play_and_boards_that_are_played_now(played, folder):
    for _ in range(4):
        played.say("symple challenge -size=5 carol alice")
    for board in ("103", "104", "105", "106"):
        move(played, f"{board} carol c3")
    written(played, folder, SiteSettings(URL, can_post=True))
    source = (folder / "index.html").read_text()
    order = ["Good games are worth", "Try one against a robot", 'action="guest"', "Being played now"]
    order += ['src="symple/106.svg"', 'src="symple/104.svg"', "How a game goes", 'src="papagra/example.svg"']
    places = [source.index(part) for part in [*order, "More boards of now"]]
    assert places == sorted(places)
    assert source.count('class="mini"') == 5


def test_the_button_at_the_top_of_the_home_page_starts_the_game_that_is_played_most_there(club, folder):
    club.signed_up("alice", "bob")
    for game in ("symple", "sprout", "sprout"):
        club.say(f"{game} challenge alice bob")
    written(club, folder, SiteSettings(URL, can_post=True))
    [top, *_] = re.findall('name="game" value="([a-z]+)"', (folder / "index.html").read_text())
    assert top == "sprout"


def test_the_name_of_a_button_begins_with_what_is_read_on_it(played, folder):
    written(played, folder, SiteSettings(URL, can_post=True))
    source = (folder / "index.html").read_text()
    named = re.findall(r'<(?:button|a)[^>]* aria-label="([^"]*)"[^>]*>([^<]+)<', source)
    assert ("Play now: Symple", "Play now") in named
    assert ("See it: Symple 102", "See it") in named
    assert all(name.startswith(read) for name, read in named)


def play_as_guest(club):
    """A board of Symple on which a guest and robot1 have moved, the guest with a comment. Returns place and address."""
    reply, token = users.begin_as_guest(club.server, "symple", "1", ["-size=5"], None)
    address = tokens.address_with(club.server, token)
    say_as_guest(club, address, "e5", "hello")
    with club.store.writing():
        runner.play(Session(club.server), reply._replace(userid="robot1"), "a1", "robot1")
    return reply, address


def say_as_guest(club, address, text, comment=""):
    """What a guest posts on the page of their board. Returns the answer, as it is printed."""
    _, mail = posted(club.server, address, text, comment, text)
    return letters.printed(handle_prepared(club.server, prepare_mail(club.server, mail)).letters)


def test_no_page_names_a_guest_otherwise_than_a_guest(club, folder):
    _, address = play_as_guest(club)
    written(club, folder)
    board = (folder / "symple" / "101.html").read_text()
    for words in (
        '<p class="say" role="status" tabindex="-1">a guest is to move</p>',
        "<p><b>a guest</b>",
        '<small class="soft">a guest, turn 1, ',
        '<span class="sr by">a guest</span>',
        "<title>Symple board 101: a guest (white) against robot1 (black)</title>",
    ):
        assert words in board
    assert "<b>a guest to move</b></a><br>against robot1" in (folder / "index.html").read_text()
    assert "a guest&#39;s turn" in (folder / "symple" / "running.html").read_text()

    say_as_guest(club, address, "resign")
    written(club, folder)
    assert "robot1 won: a guest resigned</p>" in (folder / "symple" / "101.html").read_text()
    assert "won against a guest<br>" in (folder / "symple" / "index.html").read_text()
    assert "with a guest, 3 turns" in (folder / "users" / "robot1.html").read_text()
    named = [path.name for path in files(folder) if re.search("guest-[0-9a-f]", path.read_text())]
    assert named == ["101.json"]  # the record, by which programs tell players apart
    assert not [path for path in files(folder) if "guest" in path.name]


def test_a_guest_is_called_you_on_their_own_page(club):
    reply, address = play_as_guest(club)
    pages = Pages(Session(club.server), PLAIN, reply.userid, address)
    news = pages.news("symple", "101", [], "")
    assert news["headline"] == "Your turn"
    assert "<b>You</b>" in news["html"]["seats"]
    assert '<span class="sr by">you</span>' in news["turns"]
    assert '<small class="soft">you, turn 1, ' in news["talk"]["html"]
    shown = "".join([*news["html"].values(), news["turns"], news["talk"]["html"], news["title"]])
    assert "guest-" not in shown
    say_as_guest(club, address, "resign")
    pages = Pages(Session(club.server), PLAIN, reply.userid, address)
    assert pages.news("symple", "101", [], "")["headline"] == "robot1 won: you resigned"


def test_a_mail_about_the_board_of_a_guest_calls_them_a_guest_and_is_known_when_it_is_quoted(club):
    _, address = play_as_guest(club)
    shown = say_as_guest(club, address, "show")
    assert shown.startswith(
        "Summary: Symple board 101, a guest (white) against robot1 (black)\n\na guest's turn (white)."
    )
    assert "1.    e5               a1" in shown
    assert "a guest writes:\n\nmine" in say_as_guest(club, address, "e4", "mine")
    assert "guest-" not in shown.partition("symple move 101 ")[0]
    assert own_mails.STATUS.fullmatch("a guest's turn (white).")
    assert own_mails.is_beginning(["a guest is reminded of Symple board 101."])


def mails_about_guest(club, *answers):
    """What carol, who subscribes to the board of a guest, is mailed when the guest posts these answers."""
    club.signed_up("carol")
    _, address = play_as_guest(club)
    club.say("symple subscribe 101 carol carol-secret")
    before = len(club.mails("carol"))
    for text in answers:
        say_as_guest(club, address, text, "mine")
    return club.mails("carol")[before:]


def test_a_subscriber_reads_of_a_guest_whatever_that_guest_does(club):
    mails = mails_about_guest(club, "propose", "reject", "undo", "chat", "resign")
    proposed, rejected, undone, chat, resigned = mails
    assert "a guest proposes a draw.\nWaiting for robot1 to `accept`" in proposed.text
    assert "a guest has rejected the proposal: a draw." in rejected.text
    assert "a guest proposes to take back e5 and robot1's answer a1." in undone.text
    assert chat.subject == "Symple chat 101 a guest"
    assert "a guest writes:\n\nmine" in chat.text
    assert "Won by robot1 (a guest resigned)." in resigned.text
    assert "Time of a guest  " in resigned.text
    assert resigned.text.endswith("\nsymple show 101\n")  # nobody can challenge a guest
    assert "guest-" not in "".join(f"{mail.subject}\n{mail.text}" for mail in mails)


def test_a_proposal_to_take_back_names_no_guest(club):
    mails_about_guest(club, "e4")
    board = stored_board(club.store, "symple", "101")
    board.change(vote="undo", voter="robot1")
    assert letters.proposal(board, "robot1") == "to take back a guest's move e4"


def test_next_to_the_picture_in_a_mail_a_guest_is_a_guest(club):
    pytest.importorskip("resvg_py")
    [mail] = mails_about_guest(club, "propose")
    illustration = Illustrator(club.server).of(mail)
    page = html.page(mail, ADDRESS, illustration, "board.png")
    assert "<b>a guest</b> (white)" in page
    assert "guest-" not in page
    own_page = html.page(mail, ADDRESS, illustration._replace(reader=illustration.mover), "board.png")
    assert "Your turn (white)." in own_page


def test_a_guest_who_leaves_is_not_to_be_challenged(club):
    club.signed_up("carol")
    _, token = users.begin_as_guest(club.server, "symple", "1", ["-size=5"], None)
    club.say("symple subscribe 101 carol carol-secret")
    say_as_guest(club, tokens.address_with(club.server, token), "resign")
    mail = club.mails("carol")[-1]
    assert mail.text.startswith("a guest has left Symple board 101 before it began.")
    assert mail.text.endswith("\nsymple games\n")


def test_a_page_asks_once_until_when_there_is_time(played):
    pages = Pages(Session(played.server), PLAIN)
    with patch("pbm.site.boards.clocks.time_left", wraps=clocks.time_left) as time_left:
        page = pages.board("symple", "101")
    assert 'data-until="' in page
    assert time_left.call_count == 1


def test_the_page_of_a_game_shows_a_position_in_the_middle_of_it(first):
    for game in helptexts.GAMES:
        [picture] = Elements((first / game / "index.html").read_text()).all("img", src="example.svg")
        assert picture["class"] == "pic"
        assert "fill=" in (first / game / "example.svg").read_text()


def rate(club, userid, rating, **fields):
    """Give a user, who need not be there yet, a rating in Symple."""
    if not club.store.users.is_taken(userid):
        club.store.users.add(userid, "", club.time)
    club.store.players.save("symple", PlayerRow(userid, rating, **{"rated": club.time, **fields}))


def test_the_page_of_a_game_names_the_ten_best_of_those_whose_rating_is_established(played, folder):
    for number in range(12):
        rate(played, f"p{number}", 1500 + number, won=15, lost=5)
    rate(played, "provisional", 2000, won=19)
    rate(played, "inactive", 2000, won=20, inactive=True)
    written(played, folder)
    page = (folder / "symple" / "index.html").read_text()
    table = page.partition("<h2>Top ten</h2>")[2].partition("</table>")[0]
    assert re.findall(r"users/(\w+)\.html", table) == [f"p{number}" for number in range(11, 1, -1)]
    assert '<td class="number">1511</td><td class="number">15</td><td class="number">5</td>' in table
    assert '<a href="standings.html">All players by rating</a>' in page

    rate(played, "robot1", 1600, won=20)
    assert "symple/index.html" in written(played, folder)  # though no board has changed
    page = (folder / "symple" / "index.html").read_text()
    assert 'robot1</a> <span class="soft">robot</span></td><td class="number">1600</td>' in page
    assert "Top ten" not in (folder / "spora" / "index.html").read_text()


def image_of(file):
    [image] = Elements(file.read_text()).all("meta", property="og:image")
    return image["content"]


def test_a_feed_tells_what_has_changed_last_and_a_player_who_signs_off_leaves_the_standings(played, folder):
    played.pass_time(hours=1)
    played.say(f"symple resign 101 alice {PASSWORDS['alice']}")
    written(played, folder)
    entries = [one for one in ET.parse(folder / "symple" / "feed.atom").iter() if one.tag.endswith("}entry")]
    titles = [next(part.text for part in entry if part.tag.endswith("}title")) for entry in entries]
    assert titles[0].startswith("Symple board 101: alice against bob, won by bob")
    assert len(titles) == 2
    assert ">bob<" in (folder / "symple" / "standings.html").read_text()
    played.say(f"signoff bob {PASSWORDS['bob']}")
    assert "symple/standings.html" in written(played, folder)
    assert ">bob<" not in (folder / "symple" / "standings.html").read_text()


def test_the_table_of_a_tournament_links_its_players_and_explains_its_signs(club, folder):
    club.signed_up(*PASSWORDS)
    session = Session(club.server)
    cup = Tournament("symple", "cup", TOURNAMENT_KINDS["roundrobin"], club.time, options="-size=5", tie_breaks="sb")
    swiss = open_cup(club, "symple", "open", "alice", "bob")
    with session.store.writing():
        for each in (tournaments.set_up(session, cup, [*map(Entrant, PASSWORDS)]), swiss):
            tournaments.start_tournament(session, each)
    written(club, folder)
    cup, swiss = ((folder / "symple" / f"pool-{pool}.html").read_text() for pool in ("cup", "open"))
    for name in PASSWORDS:
        assert f'<td><a href="../users/{name}.html">{name}</a></td>' in cup
        assert f">{name}</a></td>" in swiss or name == "carol"
    heads = re.findall(r'<th scope="col" title="(\w+)" aria-label="\w+">(\d)</th>', cup)
    assert heads == [("alice", "1"), ("bob", "2"), ("carol", "3")]  # narrow, whatever the players are called
    game = r'<td><a href="cup\d.html" aria-label="bob plays against alice">\.</a></td>'
    bob = '<th scope="row">2 <a href="../users/bob.html">bob</a></th>'
    assert re.search(f'{bob}{game}<td class="self"></td>', cup)
    assert '<th scope="col" title="Round 1" aria-label="Round 1">R1</th>' in swiss
    assert "Pool cup of Symple, 0 of 3 games played" in cup
    assert (folder / "symple" / "pool-cup.atom").exists()
    assert "1 won, = tied, 0 lost, . still to be played, x cancelled." in cup
    legend = "R1 is round 1; 5:1 in it is a game won against No 5, bye a point without a game, bye= half a point"
    assert legend in swiss
    assert "Buchholz score without the lowest opponent (BH-1)" in swiss


def test_each_sign_in_the_table_of_a_tournament_opens_its_game_and_says_how_it_ended(club, folder):
    club.signed_up(*PASSWORDS)
    session = Session(club.server)
    cup = Tournament("symple", "cup", TOURNAMENT_KINDS["roundrobin"], club.time, options="-size=5", tie_breaks="sb")
    swiss = open_cup(club, "symple", "open", "alice", "bob", "carol")
    with session.store.writing():
        for tournament in (tournaments.set_up(session, cup, [*map(Entrant, PASSWORDS)]), swiss):
            tournaments.start_tournament(session, tournament)
    players = {row.board: row.players for row in club.store.boards.of_tournament("symple", "cup")}
    board = next(number for number, pair in players.items() if set(pair) == {"alice", "bob"})
    mover = stored_board(club.store, "symple", board).mover
    club.say(f"symple resign {board} {mover} {PASSWORDS[mover]}")
    winner = "bob" if mover == "alice" else "alice"
    written(club, folder)
    page, other_page = ((folder / "symple" / f"pool-{pool}.html").read_text() for pool in ("cup", "open"))
    assert f'<td class="w"><a href="{board}.html" aria-label="{winner} won against {mover}">1</a></td>' in page
    assert f'<td><a href="{board}.html" aria-label="{mover} lost to {winner}">0</a></td>' in page
    # voice control finds a link by what is read on it, so that its name has the sign
    named = r'<td><a href="open1.html" aria-label="(\d:.), \w+ plays against \w+">\1</a></td>'
    assert re.search(named, other_page)
    assert '<td class="w">bye</td>' in other_page


def test_a_game_that_was_cancelled_has_a_sign_and_no_page(club, folder):
    club.signed_up("alice", "bob")
    session = Session(club.server)
    cup = Tournament("symple", "cup", TOURNAMENT_KINDS["roundrobin"], club.time, options="-size=5", tie_breaks="sb")
    with session.store.writing():
        tournaments.start_tournament(session, tournaments.set_up(session, cup, [Entrant("alice"), Entrant("bob")]))
        directing.direct(session, "symple", "cup", ["adjudicate", "cup1", "cancel"], dry_run=False)
    written(club, folder)
    page = (folder / "symple" / "pool-cup.html").read_text()
    assert "<td>x</td>" in page
    assert "cup1.html" not in page


def test_the_page_of_a_tournament_shows_only_games_that_are_under_way_as_still_on(club, folder):
    club.signed_up(*PASSWORDS)
    session = Session(club.server)
    cup = Tournament("symple", "cup", TOURNAMENT_KINDS["roundrobin"], club.time, options="-size=5", tie_breaks="sb")
    with session.store.writing():
        tournaments.start_tournament(session, tournaments.set_up(session, cup, [*map(Entrant, PASSWORDS)]))
    for board in ("cup1", "cup2"):
        name = club.store.boards.get("symple", board).turn
        club.say(f"symple move {board} {name} {PASSWORDS[name]} a1")
    name = club.store.boards.get("symple", "cup1").turn
    club.say(f"symple resign cup1 {name} {PASSWORDS[name]}")
    written(club, folder)
    page = (folder / "symple" / "pool-cup.html").read_text()
    still_on = page.partition("<h2>Still on</h2>")[2].partition("<h2>Boards</h2>")[0]
    assert set(re.findall(r"cup\d", still_on)) == {"cup2"}


def test_the_page_of_a_tournament_of_teams_has_their_table_and_who_is_in_which(club, folder):
    club.signed_up("alice", "bob")
    session = Session(club.server)
    cup = Tournament("symple", "cup", TOURNAMENT_KINDS["roundrobin"], club.time, options="-size=5", tie_breaks="sb")
    with session.store.writing():
        players = [Entrant("alice", team="red"), Entrant("bob", team="blue")]
        tournaments.start_tournament(session, tournaments.set_up(session, cup, players))
    written(club, folder)
    page = (folder / "symple" / "pool-cup.html").read_text()
    assert "<th>Place</th><th>Team</th><th>Points</th><th>Board points</th>" in page
    assert "<td>1</td><td>red</td><td>0</td>" in page
    assert '<a href="../users/alice.html">alice</a></td><td>red</td>' in page


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_the_rules_have_all_words_of_the_help_and_their_prose_wraps(first, game):
    main = (first / game / "rules.html").read_text().partition("<main")[2]
    source = main.partition("</svg>")[2].partition("</main>")[0]
    text = re.sub(r"(?m)^[-=]{4,}$", "", of_game(game))
    assert " ".join("".join(Elements(source).texts).split()).lower() == " ".join(text.split()).lower()
    fixed = "\n".join(re.findall(r'(?s)<pre class="text" tabindex="0">(.*?)</pre>', source))
    assert 0 < fixed.count("\n") < text.count("\n") / 1.5
    assert text.split("\n\n", 1)[1].lstrip().startswith("Aim   ")
    assert '<p class="item"><b>Aim</b> ' in source


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_the_picture_of_a_finished_board_says_who_won_and_not_whose_turn_it_is(club, folder, game):
    club.signed_up("alice", "bob")
    club.say(f"{game} challenge alice bob")
    loser = play_some(club, game, 6).mover
    winner = "bob" if loser == "alice" else "alice"
    before = board_svg(stored_board(club.store, game, "101").present)
    club.say(f"{game} resign 101 {loser} {PASSWORDS[loser]}")
    board = stored_board(club.store, game, "101")
    written(club, folder)
    picture = board_svg(board.present)
    words = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture))
    assert f"Won by {winner} ({loser} resigned)." in words
    assert not re.search(r"to move|class=\"turn\" d=\"M12|class=\"die|'s turn", picture)
    page = (folder / game / "101.html").read_text()
    assert f"{winner} won: {loser} resigned</p>" in page
    last_notes = steps_of(page)["steps"][-1]["notes"]
    assert last_notes[-1] == {"text": f"Won by {winner} ({loser} resigned)."}
    assert not any("dice" in note for note in last_notes)
    assert "to move" not in page.partition('<script type="application/json"')[0]
    assert 'class="turn" d="M12' in before
    assert board_svg(board.after(6)).partition("</title>")[2] == before.partition("</title>")[2]


def test_a_game_of_another_package_shows_its_text(played, folder, monkeypatch):
    monkeypatch.delattr(games.load("symple"), "figure")
    written(played, folder)
    source = (folder / "symple" / "101.html").read_text()
    [step] = steps_of(source)["steps"]
    assert [*step] == ["id"]
    assert "<svg" in source


def test_the_command_writes_a_site_and_says_what_it_did(players, folder):
    done = players.json("site", str(folder))
    assert done["written"] == done["pages"] > 20
    assert players.done("site", str(folder)).endswith("0 of them new or changed; 0 removed.\n")


NO_SITES = "games.example", "ftp://games.example/", "https://games.example/?x=1", "javascript:x"


@pytest.mark.parametrize("url", [*NO_SITES, 'https://x"y', "https://x y/"])
def test_what_is_no_address_of_a_site_is_refused(players, folder, url):
    assert "is no address of a site" in players.refused("site", str(folder), f"--url={url}")
    assert "PBM_SITE is no address of a site" in players.refused("list", PBM_SITE=url)
    assert not folder.exists()


def test_what_changes_is_written_within_seconds_until_the_input_ends(players, folder):
    with running(players, "site", str(folder), "--follow") as following:
        until((folder / "sitemap.xml").exists)
        players.run("symple", "challenge", "alice", "bob")
        until((folder / "symple" / "101.html").exists)
        said, _ = following.communicate(timeout=PATIENCE)
    assert following.returncode == 0
    assert "new or changed" in said


def test_a_server_writes_the_site_by_itself(players, folder):
    with players.serving(f"--site={folder}", "--url=https://games.example/"):
        until((folder / "sitemap.xml").exists)
        players.run("symple", "challenge", "alice", "bob")
        until((folder / "symple" / "101.html").exists)
    assert "https://games.example/symple/101.html" in (folder / "symple" / "101.html").read_text()


def test_the_page_of_a_tournament_that_is_open_names_who_joins_later(played, folder):
    open_cup(played, "symple", "s", "alice")
    written(played, folder)
    played.say(f"symple join s bob {PASSWORDS['bob']}")
    assert written(played, folder) == {"symple/pool-s.html"}
    assert "bob" in (folder / "symple" / "pool-s.html").read_text()


def test_the_page_of_a_board_says_who_wrote_the_comment_also_where_only_the_role_is_known(club, folder):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=9 alice bob", "Good luck!")
    written(club, folder)
    said = r'<p>Good luck!</p><small class="soft">the challenger, <time'
    assert re.search(said, (folder / "symple" / "101.html").read_text())
    move(club, "101 alice a2", "Thanks!")
    written(club, folder)
    said = r'<p>Thanks!</p><small class="soft">alice, turn 1, <time'
    assert re.search(said, (folder / "symple" / "101.html").read_text())
