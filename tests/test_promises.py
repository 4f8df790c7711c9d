"""What every game promises, and how it is found out: games that break one promise each, and the command."""

from random import Random
from textwrap import indent
from types import SimpleNamespace

import pytest

from games import Glyphs, Illegal, Option, promises, spiro, symple
from games.tapping import NextTaps, Tap
from pbm import referee

from helpers import helptexts

HELP = helptexts.read("symple")
BOARD = symple.draw(symple.new(size=5)).replace(" 3  . .", " 3  . b")
WRONG_BOARD = f"    > new -size=5\n    > board\n{indent(BOARD, ' ' * 10)}\n"


def lessons(**changes):
    """The lessons of Symple with some changes."""
    return symple.LESSONS._replace(**changes)


def lesson(**changes):
    """The first lesson of Symple, in which a stone on b4 founds a group, with some changes."""
    return symple.LESSONS.rules[0]._replace(**changes)


def broken(state=None, text=HELP, **names):
    """What is found of Symple with some of its names replaced: those of its positions, and those of the module."""
    usual = {name: getattr(symple, name) for name in ("SIDES", "new", "setup", "draw")}
    option = symple.OPTIONS[0]._replace(default=5, values=range(5, 8, 2))
    game = SimpleNamespace(**usual | {"OPTIONS": (option, symple.OPTIONS[1])} | names)
    if state:
        made = type("Made", (symple.State,), state)
        game.new = lambda **options: made._make(symple.new(**options))
        game.setup = lambda view, **options: made._make(symple.setup(view, **options))
    return list(promises.broken(game, Random(1), text))


def test_a_game_that_keeps_its_promises_breaks_none_and_a_setup_that_forgets_whose_turn_it_is_is_found():
    assert broken() == []
    assert broken({}) == []

    def setup(view, **options):
        return symple.setup(view, **options)._replace(turn=0)

    assert any("is set up with other turn" in sentence for sentence in broken(setup=setup))

    def setup(view, **options):
        return symple.setup(dict(view.items()), **options)  # as a game may that takes only objects

    assert broken(setup=setup) == []


def replies(requests):
    return referee.replies("symple", requests)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("    > new -size=5\n    > play c3\n    ? There is a stone.\n", "'play c3' refused differently"),
        ("    > new -size=5\n    > play zz\n", "'play zz', which is answered ? "),
        ("    > new -size=5\n    > board\n        a b c d e\n     5  . . .\n", "it has a line ' 5  . . . . .  5'."),
        (WRONG_BOARD, "A board in the help is drawn differently; it has a line ' 3  . . . . .  3'."),
        ("    > new -size=5\n    > board\n", "A board in the help is drawn differently; it has"),
        ("    > new -size=5\n    > play c3\n      c3\n", "Below 'play c3' the help has an answer"),
    ],
)
def test_examples_of_the_help_are_what_the_referee_answers(text, why):
    with pytest.raises(promises.Broken) as found:
        promises.check_examples(text, replies)
    assert why in str(found.value)
    found = list(promises.broken(symple, Random(1), f"-size -penalty\n{text}", replies))
    assert [why in sentence for sentence in found] == [True]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "There is no help text."),
        ("-size", "The help does not name the option -penalty=n."),
        (f"{HELP}{'x' * 79}\n", "of the help has 79 columns"),
        (f"{HELP}x \n", "ends with a blank"),
        (f"{HELP}\u00e9\n", "not ASCII"),
    ],
)
def test_there_is_a_help_that_fits_a_mail_and_names_every_option(text, why):
    [found] = broken(text=text)
    assert why in found


def refuses(why):
    def read(self, text):
        try:
            return symple.State.read(self, text)
        except Illegal:
            raise Illegal(why) from None

    return {"read": read}


def fails(self, text):
    return symple.State.read(self, text) if "," in text or len(text) == 2 else int(text)


def wrong(self, text):
    symple.State.read(self, text)
    return text[::-1]


def twice(self):
    for move in symple.State.moves(self):
        yield from (move, move)


def remembers(self, move):
    after = symple.State.play(self, move)
    SEEN.append(after)
    return after


def leads_astray(self, text):
    taps = symple.State.next_taps(self, text)
    return taps._replace(taps=(Tap("zz", ("a1",)),))


SEEN = []


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (refuses("No."), "is no sentence for a player"),
        (refuses("This cannot be\nplayed here."), "is no sentence for a player"),
        ({"read": fails}, "raised ValueError"),
        ({"read": wrong}, "becomes"),
        ({"read": lambda _, text: text}, "is not one of the moves"),
        ({"moves": twice}, "A move is listed twice."),
        ({"moves": lambda _: iter([])}, "There is no move, not even a skip"),
        ({"random": lambda _, _rng: "z9"}, "random chose 'z9', which is not one of the moves."),
        ({"must_skip": True}, "must_skip is True, and the moves are"),
        ({"seats": (0, 0)}, "seats are (0, 0)"),
        ({"scores": property(lambda _: (len(SEEN), 0)), "play": remembers}, "has changed while others were played"),
        ({"cells": {"a1": {1, 2}}}, "raised TypeError"),
        ({"view": lambda _: {"cells": {}}}, "A view has no 'turn'."),
        ({"view": lambda self: symple.State.view(self) | {"winner": "draw"}}, "winner 'draw', but result() is None."),
        ({"view": lambda self: symple.State.view(self) | {"cells": {}}}, "look"),
        (
            {"next_taps": lambda _, _text: NextTaps(is_whole=True)},
            "next_taps is wrong about whether '' is a legal move.",
        ),
        ({"next_taps": leads_astray}, "A tap makes 'zz', which next_taps refuses"),
    ],
)
def test_a_broken_promise_of_a_position_is_found(state, why):
    SEEN.clear()
    found = broken(state)
    if why == "look":
        assert any("is set up with other" in sentence for sentence in found)
    else:
        assert any(why in sentence for sentence in found), found


def test_the_dice_stand_in_a_view():
    blind = type("Blind", (spiro.State,), {"view": lambda self: {**spiro.State.view(self), "dice": []}})
    game = SimpleNamespace(
        SIDES=spiro.SIDES, OPTIONS=(), setup=spiro.setup, draw=spiro.draw, new=lambda: blind._make(spiro.new())
    )
    assert list(promises.broken(game, Random(1), "The help.")) == ["A view has the dice [], and [2] were thrown."]


@pytest.mark.parametrize(
    ("names", "why"),
    [
        ({"draw": lambda *states: f"{symple.draw(*states)}\n{'x' * 79}"}, "draw makes lines of 79 columns"),
        ({"draw": lambda *states: f"{symple.draw(*states)}\n "}, "draw makes a line that ends with a blank"),
        ({"draw": lambda state, _=None: symple.draw(state) + "\u265f"}, "not plain ASCII"),
        ({"draw": lambda *_: "a board of which nothing is shown"}, "cannot be read"),
        ({"GLYPHS": Glyphs(sides=("(", "B"))}, "which is no regular expression"),
        ({"GLYPHS": Glyphs(sides=("W*", "B"))}, "which finds pieces where nothing is"),
        ({"GLYPHS": Glyphs(sides=("[WB]", "B"))}, "GLYPHS takes one piece for one of both sides"),
        ({"GLYPHS": Glyphs(sides=("Q", "B"))}, "No picture has a piece of white, as GLYPHS describe them."),
        ({"NOTATION": "c3\nd4"}, "NOTATION is not one line of at most 68 columns."),
        ({"NOTATION": "c3 " * 23}, "NOTATION is not one line of at most 68 columns."),
        ({"NOTATION": "k10 is one stone", "figure": symple.figure}, "NOTATION names k10, and not all boards"),
        ({"LESSONS": lessons(rules=())}, "LESSONS has 0 rules, and 1 to 3 fit."),
        ({"LESSONS": lessons(tapping="Tap")}, "LESSONS has 'Tap', which is no sentence"),
        ({"LESSONS": lessons(rules=(lesson(rule=f"{'x' * 160}."),))}, "no sentence of at most 160 characters."),
        ({"LESSONS": lessons(rules=(lesson(turn="b2"),))}, "The lesson with the turn 'b2' is not possible: "),
        ({"LESSONS": lessons(rules=(lesson(turn="B4"),))}, "A lesson has the turn 'B4', which the game writes 'b4'."),
        ({"LESSONS": lessons(rules=(lesson(position={"cells": {"z9": "W"}}),))}, "is not possible: There is no"),
        ({"LESSONS": {}}, "LESSONS is no games.lessons.Lessons."),
        ({"SIDES": ("white", "white")}, "SIDES are not two different names."),
        ({"SIDES": None}, "It raised TypeError ('NoneType' object is not iterable), where only Illegal may be raised."),
        ({"OPTIONS": ("size",)}, "OPTIONS has something that is no games.Option."),
        ({"OPTIONS": (*symple.OPTIONS, Option("deep", "", ("Very",)))}, "It refuses what it should take: -deep=NAME"),
        ({"OPTIONS": (*symple.OPTIONS, Option("pie", ""))}, "The help does not name the option -pie."),
        ({"setup": lambda _, **__: symple.setup({"cells": {}})}, "made a position, and should raise Illegal"),
        ({"setup": lambda view, **_: view["cells"]}, "raised KeyError"),
    ],
)
def test_a_broken_promise_of_a_module_is_found(names, why):
    found = broken(**names)
    assert any(why in sentence for sentence in found), found
    assert all(sentence.endswith((".", "!", "?")) for sentence in found)


def test_the_command_says_that_a_game_keeps_its_promises_and_knows_no_other_game(shell):
    assert shell.done("promises", "papagra") == "papagra keeps all its promises.\n"
    assert shell.json("promises", "papagra") == {"game": "papagra", "ok": True, "broken": []}
    assert "There is no game 'chess'; there are " in shell.refused("promises", "chess", status=2)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda figure: figure._replace(cells=(*figure.cells, figure.cells[0])), "has two cells of one name."),
        (lambda figure: figure._replace(pieces=figure.pieces[1:]), "has pieces on other cells than view()."),
        (lambda figure: figure._replace(cells=()), "lacks a cell: "),
        (lambda figure: figure._replace(latest=("z9",)), "lacks a cell: z9."),
        (lambda figure: figure._replace(turn=2), "has a side that is no index of SIDES."),
    ],
)
def test_a_figure_has_what_the_view_has(change, why):
    assert any(why in sentence for sentence in broken(figure=lambda *states: change(symple.figure(*states))))
    assert broken(figure=symple.figure) == []
