"""The site: pages that anybody may see, written when something has changed, and then only what that concerns."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import games
from pbm.actions import tournaments
from pbm.session import Session
from pbm.site.build import MANIFEST, build
from pbm.site.pages import Look, Site
from pbm.store import Tournament

import helptexts
from conftest import PASSWORDS
from patience import PATIENCE, until

URL = "https://games.example/boards/"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" 'too'"


class Elements(HTMLParser):
    """The elements of a page, and the text between them."""

    VOID = frozenset("meta link input rect circle path line img br".split())

    def __init__(self, source):
        super().__init__()
        self.found, self.texts, self.open = [], [], []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag, **wanted):
        return [
            attributes
            for name, attributes in self.found
            if name == tag and all(attributes.get(key.strip("_")) == value for key, value in wanted.items())
        ]


def written(club, folder, look=None):
    """Bring the site in a folder up to date, and say which files that has changed."""
    before = {path: path.stat().st_mtime_ns for path in files(folder)}
    for path in before:
        assert path.exists()
    site = Site(Session(club.server), look or Look("", has_pictures=False))
    build(folder, site.pages(), site.version, iter)
    after = {path: path.stat().st_mtime_ns for path in files(folder)}
    return {str(path.relative_to(folder)) for path in after if before.get(path) != after[path]}


def files(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file() and path.name != MANIFEST]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "site"


@pytest.fixture
def played(club):
    """alice and bob on a running and on a finished board of Symple."""
    club.become(end_one_of_two)
    return club


def end_one_of_two(club):
    club.signed_up("alice", "bob", "carol")
    for _ in range(2):
        club.say("symple challenge -size=5 alice bob")
    for move in ("a1", "c3"):
        for board in ("101", "102"):
            name = "alice" if move == "a1" else "bob"
            club.say(f"symple move {board} {name} {PASSWORDS[name]} {move}", comment="")
    club.say(f"symple resign 102 alice {PASSWORDS['alice']}")


def steps_of(source):
    return json.loads(re.search(r'<script type="application/json" id="steps">(.*?)</script>', source, re.DOTALL)[1])


def test_there_are_pages_of_boards_of_games_of_players_and_feeds_and_a_map(played, folder):
    assert written(played, folder) >= {
        "index.html",
        "symple/index.html",
        "symple/101.html",
        "symple/102.html",
        "symple/102.json",
        "symple/rules.html",
        "symple/standings.html",
        "symple/running.html",
        "symple/finished.html",
        "symple/feed.atom",
        "users/alice.html",
        "users/bob.html",
        "sitemap.xml",
        "site.css",
        "board.css",
        "board.js",
    }
    assert not (folder / "symple" / "101.json").exists()  # a record is told when the game is over


def test_all_links_lead_to_a_file_or_to_our_address(played, folder):
    written(played, folder)
    for page in folder.rglob("*.html"):
        elements = Elements(page.read_text())
        links = [one["href"] for one in elements.all("a") + elements.all("link") if "href" in one]
        links += [one["src"] for one in elements.all("script") if "src" in one]
        for link in links:
            assert link.startswith("mailto:pbm@") or (page.parent / link).resolve().is_file(), f"{page.name}: {link}"


def test_without_a_change_nothing_is_written(played, folder):
    written(played, folder)
    assert written(played, folder) == set()


def test_a_move_rewrites_its_page_and_what_lists_it(played, folder):
    written(played, folder)
    played.say(f"symple move 101 alice {PASSWORDS['alice']} a2")
    assert written(played, folder) == {
        "index.html",
        "symple/index.html",
        "symple/101.html",
        "symple/running.html",
        "symple/feed.atom",
        "users/alice.html",
        "users/bob.html",
    }


def test_the_page_of_a_board_that_was_removed_goes_and_other_files_stay(club, folder):
    club.signed_up("alice", "bob")
    club.say("symple challenge alice bob")
    written(club, folder)
    (folder / "symple" / "own.html").write_text("mine")
    club.say(f"symple resign 101 alice {PASSWORDS['alice']}")  # before it has begun
    written(club, folder)
    assert not (folder / "symple" / "101.html").exists()
    assert (folder / "symple" / "own.html").read_text() == "mine"


def test_a_link_that_waits_for_a_page_is_not_written_through(played, folder, tmp_path):
    (tmp_path / "precious").write_text("mine")
    folder.mkdir()
    (folder / ".index.html.new").symlink_to(tmp_path / "precious")
    written(played, folder)
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (folder / "index.html").is_symlink()


def test_a_manifest_of_somebody_else_removes_nothing_outside(played, folder, tmp_path):
    (tmp_path / "precious").write_text("mine")
    folder.mkdir()
    (folder / MANIFEST).write_text(json.dumps({"version": "", "pages": {"../precious": "", "/etc/hostname": ""}}))
    written(played, folder)
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_each_step_of_a_game_has_what_its_position_has(club, folder, game):
    club.signed_up("alice", "bob")
    club.say(f"{game} challenge alice bob")
    board = play_some(club, game, 12)
    written(club, folder)
    found = steps_of((folder / game / "101.html").read_text())
    cells = dict(found["start"])
    positions = [dict(cells)]
    for changes in found["turns"]:
        cells = {name: what for name, what in (cells | changes).items() if what}
        positions.append(cells)
    assert positions == [state.view()["cells"] for state in board.states]
    assert {what for position in positions for what in position.values()} <= found["piles"].keys()
    assert {name for position in positions for name in position} <= found["cells"].keys()
    assert len(found["texts"]) == len(found["movers"]) == len(found["turns"])


def play_some(club, game, moves):
    """Play at random on board 101, and return it."""
    from random import Random

    from pbm.board.board import Board

    rng = Random(1)
    for _ in range(moves):
        board = Board.load(club.store, game, "101")
        if board.turn is None:
            break
        club.say(f"{game} move 101 {board.turn} {PASSWORDS[board.turn]} {board.state.random(rng)}")
    return Board.load(club.store, game, "101")


def test_a_comment_and_a_page_full_of_markup_do_no_harm(played, folder):
    played.say(f"symple move 101 alice {PASSWORDS['alice']} a2", comment=HOSTILE)
    written(played, folder)
    source = (folder / "symple" / "101.html").read_text()
    elements = Elements(source)
    assert len(elements.all("script")) == 2
    assert elements.all("img") == []
    assert [name for _, attributes in elements.found for name in attributes if name.startswith("on")] == []
    assert HOSTILE in "".join(elements.texts)


def test_nothing_stands_there_that_a_stranger_may_not_see(club, folder):
    club.signed_up("alice", "bob")
    club.say("spiro challenge -small alice bob")
    club.say(f"spiro queue 101 bob {PASSWORDS['bob']} e3")
    club.say(f"spiro submit 101 alice {PASSWORDS['alice']} {club_move(club)}")
    written(club, folder, Look(URL, has_pictures=False))
    row = club.store.board("spiro", "101")
    tokens = [mail.reply_to.partition("+")[2].partition("@")[0] for mail in club.mails() if mail.reply_to]
    secrets = [row.secret.hex(), row.submitted, "players.example", *PASSWORDS.values(), *tokens]
    assert tokens
    for path in files(folder):
        text = path.read_text() if path.name != "rules.html" else ""  # there the same move may be an example
        assert [secret for secret in secrets if secret in text] == [], path


def club_move(club):
    from pbm.board.board import Board

    return next(Board.load(club.store, "spiro", "101").state.moves())


def test_the_throws_can_be_checked_when_the_game_is_over_and_not_before(club, folder):
    club.signed_up("alice", "bob")
    club.say("spiro challenge -small alice bob")
    secret = club.store.board("spiro", "101").secret.hex()
    play_some(club, "spiro", 3)
    written(club, folder)
    assert secret not in (folder / "spiro" / "101.html").read_text()
    club.say(f"spiro resign 101 bob {PASSWORDS['bob']}")
    written(club, folder)
    assert secret in (folder / "spiro" / "101.html").read_text()
    assert json.loads((folder / "spiro" / "101.json").read_text())["dice"]["secret"] == secret


def test_a_list_has_a_hundred_boards_a_page(club, folder):
    club.signed_up("alice", "bob")
    for _ in range(101):
        club.say("symple challenge -size=5 alice bob")
    written(club, folder)
    leaves = ((folder / "symple" / name).read_text() for name in ("running.html", "running-2.html"))
    numbers = [re.findall(r'/symple/(\d+)\.html"', leaf) for leaf in leaves]
    assert [len(found) for found in numbers] == [100, 1]
    assert numbers[0][0] == "201"  # the newest one comes first


def test_with_an_address_of_its_own_the_site_tells_it(played, folder):
    written(played, folder, Look(URL, has_pictures=False))
    elements = Elements((folder / "symple" / "101.html").read_text())
    assert elements.all("link", rel="canonical") == [{"rel": "canonical", "href": f"{URL}symple/101.html"}]
    assert elements.all("meta", property="og:title")
    locations = [one.text for one in ET.parse(folder / "sitemap.xml").iter() if one.tag.endswith("loc")]
    assert f"{URL}symple/101.html" in locations
    assert f"{URL}index.html" in locations


def test_a_picture_of_each_board_is_for_those_who_link_to_it(played, folder):
    pytest.importorskip("resvg_py")
    written(played, folder, Look(URL, has_pictures=True))
    [image] = Elements((folder / "symple" / "101.html").read_text()).all("meta", property="og:image")
    assert image["content"] == f"{URL}symple/101.png"
    assert (folder / "symple" / "101.png").read_bytes().startswith(b"\x89PNG")


def test_a_feed_tells_what_has_changed_last(played, folder):
    played.pass_time(hours=1)
    played.say(f"symple resign 101 alice {PASSWORDS['alice']}")
    written(played, folder)
    entries = [one for one in ET.parse(folder / "symple" / "feed.atom").iter() if one.tag.endswith("}entry")]
    titles = [next(part.text for part in entry if part.tag.endswith("}title")) for entry in entries]
    assert titles[0].startswith("Symple board 101: alice against bob, won by bob")
    assert len(titles) == 2


def test_the_table_of_a_tournament_stands_there(club, folder):
    club.signed_up("alice", "bob", "carol")
    names, session = ["alice", "bob", "carol"], Session(club.server)
    one = Tournament("symple", "cup", "roundrobin", club.time, tie_breaks="sb,direct")
    with session.writing():
        tournaments.set_going(session, one, names, {})
    written(club, folder)
    text = " ".join(Elements((folder / "symple" / "pool-cup.html").read_text()).texts)
    assert all(name in text for name in names)
    assert (folder / "symple" / "pool-cup.atom").exists()


def test_a_game_of_another_package_shows_its_text(played, folder, monkeypatch):
    monkeypatch.delattr(games.load("symple"), "figure")
    written(played, folder)
    source = (folder / "symple" / "101.html").read_text()
    assert steps_of(source) == {}
    assert "<svg" in source


def test_the_command_writes_a_site_and_says_what_it_did(shell, tmp_path):
    shell.run("signup", "alice", PASSWORDS["alice"])
    shell.run("signup", "bob", PASSWORDS["bob"])
    shell.run("symple", "challenge", "alice", "bob")
    done = shell.run("site", str(tmp_path / "site"), "--json")
    assert json.loads(done.stdout)["written"] == json.loads(done.stdout)["pages"] > 20
    again = shell.run("site", str(tmp_path / "site"))
    assert again.stdout.endswith("0 of them new or changed; 0 removed.\n")


@pytest.mark.parametrize("url", ["games.example", "ftp://games.example/", "https://games.example/?x=1", "javascript:x"])
def test_what_is_no_address_of_a_site_is_refused(shell, tmp_path, url):
    shell.run("signup", "alice", PASSWORDS["alice"])
    done = shell.run("site", str(tmp_path / "site"), f"--url={url}")
    assert done.returncode == 1
    assert "is no address of a site" in done.stderr
    assert not (tmp_path / "site").exists()


def test_what_changes_is_written_within_seconds_until_the_input_ends(players, tmp_path):
    folder = tmp_path / "site"
    command = [sys.executable, "-m", "pbm", "site", str(folder), "--follow"]
    following = subprocess.Popen(command, env=players.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        until((folder / "sitemap.xml").exists)
        players.run("symple", "challenge", "alice", "bob")
        until((folder / "symple" / "101.html").exists)
    finally:
        said, _ = following.communicate(timeout=PATIENCE)
    assert following.returncode == 0
    assert b"new or changed" in said


def test_a_server_writes_the_site_by_itself(players, tmp_path):
    folder = tmp_path / "site"
    with players.serving(f"--site={folder}", "--url=https://games.example/"):
        until((folder / "sitemap.xml").exists)
        players.run("symple", "challenge", "alice", "bob")
        until((folder / "symple" / "101.html").exists)
    assert "https://games.example/symple/101.html" in (folder / "symple" / "101.html").read_text()


def test_the_page_of_a_tournament_that_is_open_names_who_joins_later(played, folder):
    session = Session(played.server)
    with session.writing():
        one = Tournament("symple", "s", "swiss", played.time, rounds=1, options="-size=5", tie_breaks="sb")
        tournaments.announce(session, one, ["alice"], {})
    written(played, folder)
    played.say(f"symple join s bob {PASSWORDS['bob']}")
    assert written(played, folder) == {"symple/pool-s.html"}
    assert "bob" in (folder / "symple" / "pool-s.html").read_text()


def test_a_page_of_a_player_with_two_dots_in_his_name_is_known_again(played, folder):
    with played.store.transaction():
        played.store.add_user("a..b", "no password", played.time)
    played.say("symple challenge -size=5 a..b alice")
    written(played, folder)
    site = Site(Session(played.server), Look("", has_pictures=False))
    made = []
    build(folder, site.pages(), site.version, lambda stale: made.extend(stale) or [])
    assert made == []
