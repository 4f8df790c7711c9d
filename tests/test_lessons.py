"""The lessons of the games: a turn that shows each rule, and who is shown them on which page."""

import gzip
import importlib.util
import re

import pytest

import games
from games import Illegal, papagra, symple
from games.lessons import MOST_RULES, lesson_states, lessons_of
from pbm.access import tokens
from pbm.actions import users
from pbm.drawing.thumbnails import before_and_after
from pbm.mail.incoming import handle_prepared, posted, prepare_mail
from pbm.session import Session
from pbm.site.build import build
from pbm.site.lessons import lessons_view
from pbm.site.pages import Pages, SiteSettings

from helpers import helptexts
from helpers.plugins import FILES, PAGE


def cells(text):
    """Cells by what stands on them, such as ``W:b2,b4 B:d4``."""
    by_piece = [part.partition(":") for part in text.split()]
    return {cell: piece for piece, _, names in by_piece for cell in names.split(",")}


# by hand: what stands before the turn of each lesson, the turn, and what stands after it
LESSONS = [
    ("symple", "a stone founds a group", "W:b2 B:d4", "b4", "W:b2,b4 B:d4"),
    ("symple", "each group grows by a stone", "W:b2,b4 B:d3,d4", "a4,c2", "W:b2,b4,a4,c2 B:d3,d4"),
    ("symple", "a stone joins groups", "W:b1,b2,b4,b5 B:d1,d2,d3,d4", "b3", "W:b1,b2,b3,b4,b5 B:d1,d2,d3,d4"),
    ("spora", "pieces are dropped", "B1:b2,d4 W1:b4,d2", "c3:3", "B1:b2,d4 B3:c3 W1:b4,d2"),
    ("spora", "a stack is sown and captures", "B4:b2 B1:d4 W1:d2,b5,e3", "a4,b2@eenw",
     "B1:a4,c2,d2,d3,c3,d4 W1:b5,e3"),
    ("spora", "what is cut off is captured", "B1:a2,d3 W1:a1,c4,d5", "b1:2", "B1:a2,d3 B2:b1 W1:c4,d5"),
    ("papagra", "stones come and go", "P:b3,e1 B:c3,d2", "+c4,-e1", "P:b3,c4 B:c3,d2"),
    ("papagra", "a group is like a region", "P:b3,e1 B:b1,b2,d4", "+a3,+e2", "P:b3,e1,a3,e2 B:b1,b2,d4"),
    ("papagra", "a shape can be turned", "P:d1,e1,b3 B:b1,b2,d4,e3", "+b4,+c1", "P:d1,e1,b3,b4,c1 B:b1,b2,d4,e3"),
    ("sprout", "each group is answered", "W:b2,d5", "b3,d4", "W:b2,d5 B:b3,d4"),
    ("sprout", "what has no answer is taken off", "W:a1,b3,c1", "a3,c2,xa1", "W:b3,c1 B:a3,c2"),
    ("sprout", "a group makes an eye", "B:a2,b1 W:e4", "b2,e3", "B:a2,b1,b2,e3 W:e4"),
    ("spiro", "a piece steps and pins", "X:f3,e1 O:d1,e4", "f3:4,e1:1", "X:f1 OX:d1 O:e4"),
    ("spiro", "a piece jumps and sends home", "X:f3,e1 O:f4,e2", "f3:+,e1:1", "X:f4,d1 OO:e2"),
    ("spiro", "pieces leave the board", "X:b4,c4 O:d2,e4", "b4:x,c4:x", "O:d2,e4"),
]  # fmt: skip
OF_GAME = {game: [lesson for lesson in LESSONS if lesson[0] == game] for game in helptexts.GAMES}
NUMBERED = [(lesson, number) for lessons in OF_GAME.values() for number, lesson in enumerate(lessons)]


@pytest.mark.parametrize(("lesson", "number"), NUMBERED, ids=[f"{lesson[0]}: {lesson[1]}" for lesson, _ in NUMBERED])
def test_a_lesson_is_a_turn_from_one_position_to_another(lesson, number):
    game, _, before, turn, after = lesson
    shown = lessons_of(game).rules[number]
    states = lesson_states(games.load(game), shown)
    assert shown.turn == turn
    assert states.before.view()["cells"] == cells(before)
    assert states.after.view()["cells"] == cells(after)


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_each_game_has_three_lessons_of_a_sentence_and_says_how_a_turn_is_tapped(game):
    lessons = lessons_of(game)
    assert len(lessons.rules) == len(OF_GAME[game]) == MOST_RULES
    for text in (*[lesson.rule for lesson in lessons.rules], lessons.tapping):
        assert re.fullmatch(r"[A-Z][^.]+\.", text)
        assert len(text.split()) <= 25


@pytest.fixture
def unkept():
    """No lessons are kept from another test, nor for one."""
    lessons_view.cache_clear()
    yield
    lessons_view.cache_clear()


def states_of(game, number):
    return lesson_states(games.load(game), lessons_of(game).rules[number - 1])


def refused(game, number, turn):
    """Why a turn is not legal before that of a lesson."""
    with pytest.raises(Illegal) as why:
        states_of(game, number).before.parse(turn)
    return str(why.value)


def test_what_the_lessons_of_symple_say_is_true():
    assert states_of("symple", 1).after.count_groups(0) == 2
    assert "has to grow every group it can" in refused("symple", 2, "a4")
    before, after = states_of("symple", 3)
    assert (before.count_groups(0), after.count_groups(0)) == (2, 1)
    assert (before.scores[0], after.scores[0]) == (4 - 2 * 8, 5 - 8)


def test_what_the_lessons_of_spora_say_is_true():
    assert states_of("spora", 1).before.parse("c3:4") == "c3:4"
    assert states_of("spora", 1).before.parse("b2:1") == "b2"
    assert refused("spora", 1, "c3:5")
    # the hand that comes to d2 has three pieces, which is more than twice one; the last piece captures nothing
    assert "only a hand of 2 or more captures" in refused("spora", 2, "a4,b2@ee")
    assert "a1" not in states_of("spora", 3).after.view()["cells"]
    assert states_of("spora", 3).after.scores == (3 + 1, 2 + 3.5)  # a1 is empty, and only black stacks are beside it


def test_what_the_lessons_of_papagra_say_is_true():
    assert "A turn is two actions" in refused("papagra", 1, "c4")
    assert [states_of("papagra", number).after.marks for number in (1, 2, 3)] == [(0, 0), (2, 0), (3, 0)]


def test_what_the_lessons_of_sprout_say_is_true():
    assert "enemy groups are left, on d5" in refused("sprout", 1, "b3")
    for cell in ("a2", "b1", "b2"):  # all that are beside a1
        assert f"{cell} is next to 2 enemy groups" in refused("sprout", 2, cell)
    assert states_of("sprout", 3).after.scores == (4, 0)  # the group of three stones and its eye, a1


def test_what_the_lessons_of_spiro_say_is_true():
    assert states_of("spiro", 1).before.dice == (4, 1)
    assert states_of("spiro", 2).after.view()["cells"]["e2"] == "OO"  # the home of O
    assert states_of("spiro", 3).after.view()["winner"] == "X"


def test_the_lessons_of_the_page_about_adding_a_game_are_turns_of_its_game(tmp_path):
    code = re.search(r"^## Tell strangers the rules\n.*?^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    path = tmp_path / "hex_game.py"
    path.write_text(FILES["hex_game/__init__.py"] + code[1])
    spec = importlib.util.spec_from_file_location("hex_game_with_lessons", path)
    hex_game = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hex_game)
    put, win = [lesson_states(hex_game, lesson) for lesson in hex_game.LESSONS.rules]
    assert put.after.view()["cells"] == cells("R:b1,b2 B:c1")
    assert (win.before.view()["winner"], win.after.view()["winner"]) == (None, "red")


FAULTY_LESSONS = {
    "another type": {"b4": "A stone founds a group."},
    "an illegal turn": symple.LESSONS._replace(rules=(symple.LESSONS.rules[0]._replace(turn="b2"),)),
    "an unknown option": symple.LESSONS._replace(rules=(symple.LESSONS.rules[0]._replace(options="-wide"),)),
    "a position without cells": symple.LESSONS._replace(rules=(symple.LESSONS.rules[0]._replace(position={}),)),
    "no rules": symple.LESSONS._replace(rules=None),
}


@pytest.mark.parametrize("lessons", FAULTY_LESSONS.values(), ids=FAULTY_LESSONS)
def test_a_game_with_faulty_lessons_has_all_its_pages_without_lessons(club, tmp_path, monkeypatch, unkept, lessons):
    club.signed_up("alice", "bob")
    club.say("symple challenge alice bob")
    monkeypatch.setattr(symple, "LESSONS", lessons)
    assert build(tmp_path, Session(club.server), SiteSettings()).failed == {}
    for name in ("101", "index"):
        assert "How to play" not in (tmp_path / "symple" / f"{name}.html").read_text()
    assert list(tmp_path.glob("symple/lesson-*")) == []


# Pictures


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_each_lesson_has_a_picture_of_less_than_a_kilobyte_and_is_told_in_words(club, tmp_path, game):
    build(tmp_path / "site", Session(club.server), SiteSettings())
    for number, rule in enumerate(lessons_view(game).rules, 1):
        picture = tmp_path / "site" / game / f"lesson-{number}.svg"
        assert len(gzip.compress(picture.read_bytes())) < 1000
        assert rule.picture == picture.name
        assert f"plays {OF_GAME[game][number - 1][3]}. After: " in rule.description
    page = (tmp_path / "site" / game / "index.html").read_text()
    assert re.findall(r'src="(lesson-\d.svg)"', page) == ["lesson-1.svg", "lesson-2.svg", "lesson-3.svg"]


def test_a_picture_has_the_position_before_a_turn_at_the_left_and_the_one_after_it_at_the_right():
    before, after = states_of("symple", 1)
    picture = before_and_after(symple.figure(before), symple.figure(after, before), symple.SIDES)
    left, arrow, right = picture.partition("<g transform=")
    white = '<path stroke="#fbfaf6"'
    assert arrow
    assert [re.findall(f'{white}.* d="(.*)"', part)[0].count("M") for part in (left, right)] == [1, 2]


# Pages


def page_part(club, reply, part="lessons"):
    """A part of the page of a board, as its reader is told it."""
    pages = Pages(Session(club.server), SiteSettings(), reply.userid)
    return pages.news(reply.game, reply.board, [], "")["html"][part]


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_the_page_of_a_guest_tells_the_rules_in_three_lines_with_pictures_and_how_to_tap(club, game):
    reply, _ = users.begin_as_guest(club.server, game, "1", [], None)
    shown = page_part(club, reply)
    assert "<details open>" in shown
    assert shown.count("<li><img ") == 3
    assert "Tap " in shown
    assert len(gzip.compress(shown.encode())) < 1000


def test_the_lessons_are_folded_when_the_guest_has_moved_and_for_all_others(club):
    reply, token = users.begin_as_guest(club.server, "symple", "1", ["-size=9"], None)
    stranger = reply._replace(userid="")
    assert "<details>" in page_part(club, stranger)
    assert "Tap " not in page_part(club, stranger)
    _, delivery = posted(club.server, tokens.address_with(club.server, token), "e5", "", "1")
    handle_prepared(club.server, prepare_mail(club.server, delivery))
    assert "<details>" in page_part(club, reply)
    assert page_part(club, reply).count("<li><img ") == 3


def test_a_game_without_lessons_leads_to_all_its_rules_and_one_without_pictures_tells_them_in_words(
    club, monkeypatch, unkept
):
    club.signed_up("alice", "bob")
    for game in ("symple", "papagra"):
        club.say(f"{game} challenge alice bob")
    monkeypatch.delattr(symple, "LESSONS")
    monkeypatch.delattr(papagra, "figure")
    pages = Pages(Session(club.server), SiteSettings())
    without, in_words = pages.board("symple", "101"), pages.board("papagra", "101")
    for page in (without, in_words):
        assert '<a class="btn" href="rules.html">Rules</a>' in page
    assert "How to play" not in without + pages.game("symple")
    assert "<li>A turn is two actions" in in_words
    assert "lesson-1.svg" not in in_words
