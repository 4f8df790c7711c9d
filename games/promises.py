"""Whether a game keeps its promises, found out by playing it at random.

`broken` lists the promises that a game breaks, a sentence for each. `Game` and `State` say what is promised. The same
random numbers find the same faults again.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice, takewhile, zip_longest
from random import Random
from typing import Any

import games
from games import SKIP, Game, Illegal, Option, Options, Result, State, needs_dice, quoted
from games.lessons import LONGEST_RULE, MOST_RULES, Lessons, lesson_states
from games.tapping import is_legal, next_taps

WIDTH = 78
"""The columns that a line of a picture or of a help text can have."""
LISTED = 30
"""How many of the moves of a position are looked at."""
TURNS = 50
"""How many turns are played with the usual options; not every random game ends by itself."""
FEW_TURNS = 6
"""How many turns are played with each extreme value of an option."""
MOST_TAPS = 100
"""How many taps are followed."""
RUBBISH = (
    "",
    " ",
    ",",
    "--",
    "hello",
    "a1,",
    "-",
    "x",
    "a0",
    "zz99",
    "(R)",
    "a1:9",
    "\0",
    "\u0661",
    "\u212a1",
    "9" * 2000,
)
"""What is written instead of a move."""
VIEWS: tuple[Mapping[str, Any], ...] = ({}, {"cells": 3}, {"cells": {"nowhere": "?"}}, {"cells": {"a1": []}},
                          {"cells": {}, "turn": "nobody"}, {"cells": {}, "turn": []})  # fmt: skip
"""JSON objects that are no positions, and that `setup` has to refuse."""
REQUEST, REFUSAL, FURTHER = "    > ", "    ? ", "      "
"""How lines of a help text begin: a request to the referee, a refusal, and a further line of a refusal."""

Replies = Callable[[Iterable[str]], Iterable[str]]
"""Sends requests to the referee of a game, and returns its replies."""


class Broken(Exception):
    """A promise that is not kept. Its text is a sentence that says which promise, and where."""


def broken(game: Game[Any], rng: Random, text: str, replies: Replies | None = None) -> Iterator[str]:
    """The promises that a game breaks, a sentence each; *text* is its help.

    With *replies*, the examples of the help are put to the referee. A broken promise can end a check early: mend what
    was found, and try the game again.
    """
    if why := _why_broken(partial(_check_names, game)):
        yield why
        return
    checks: list[Callable[[], object]] = [partial(_check_help, game, text)]
    if replies:
        checks.append(partial(check_examples, text, replies))
    checks.append(partial(_check_lessons, game))
    checks.append(partial(_check_views, game))
    checks.append(partial(_check_play, game, [], rng, TURNS))
    checks += [partial(_check_play, game, [word], rng, FEW_TURNS) for word in _extremes(game)]
    # a promise that is broken with several options is told once
    yield from dict.fromkeys(filter(None, map(_why_broken, checks)))


def _why_broken(check: Callable[[], object]) -> str:
    """The sentence with which a check says that a promise is broken; empty if none is."""
    try:
        check()
    except Broken as why:
        return str(why)
    except Illegal as why:
        return f"It refuses what it should take: {why}"
    except Exception as why:  # a promise is that there is none
        return f"It raised {_named(why)}, where only Illegal may be raised."
    return ""


def _turns(number: int) -> str:
    """So many turns in words: `1 turn`, `2 turns`."""
    if number == 1:
        return "1 turn"
    return f"{number} turns"


def _named(why: Exception) -> str:
    """An exception in one line, such as `KeyError ('a1')`."""
    return " ".join(f"{type(why).__name__} ({why})".split())


def _extremes(game: Game[Any]) -> Iterator[str]:
    """Each option with its extreme values, or with each of its words, such as ``-size=5``."""
    for option in game.OPTIONS:
        if option.values is None:
            yield f"-{option.name}"
            continue
        values: list[object] = list(option.values)
        if isinstance(option.values, range):
            values = list(dict.fromkeys([values[0], values[-1]]))  # one value alone is tried once
        for value in values:
            yield f"-{option.name}={value}"


def _keep(is_kept: object, otherwise: str) -> None:
    """Raise Broken unless a promise is kept; *otherwise* is the sentence that says what is wrong."""
    if not is_kept:
        raise Broken(otherwise)


# The module


def _check_names(game: Game[Any]) -> None:
    for name in ("SIDES", "OPTIONS", "new", "setup", "draw"):
        _keep(hasattr(game, name), f"The module has no {name}.")
    sides = tuple(game.SIDES)
    _keep(len(sides) == len(set(sides)) == 2 and all(isinstance(side, str) and side for side in sides),
          "SIDES are not two different names.")  # fmt: skip
    _keep(all(isinstance(option, Option) for option in game.OPTIONS), "OPTIONS has something that is no games.Option.")
    glyphs = games.glyphs(game)
    for pattern in glyphs.sides + (glyphs.latest,):
        try:
            matches_nothing = pattern and re.compile(pattern).fullmatch("")
        except re.error as why:
            raise Broken(f"GLYPHS has {quoted(pattern)}, which is no regular expression: {why}.") from why
        _keep(not matches_nothing, f"GLYPHS has {quoted(pattern)}, which finds pieces where nothing is.")
    notation = getattr(game, "NOTATION", "-")
    _keep(isinstance(notation, str) and notation.isprintable() and 0 < len(notation) <= games.LONGEST_NOTATION,
          f"NOTATION is not one line of at most {games.LONGEST_NOTATION} columns.")  # fmt: skip


# The help


def _check_help(game: Game[Any], text: str) -> None:
    _keep(text.strip(), "There is no help text.")
    for number, line in enumerate(text.splitlines(), 1):
        _keep(len(line) <= WIDTH, f"Line {number} of the help has {len(line)} columns, and {WIDTH} fit into a mail.")
        _keep(line.isascii(), f"Line {number} of the help has something that is not ASCII.")
        _keep(line == line.rstrip(), f"Line {number} of the help ends with a blank.")
    for option in game.OPTIONS:
        _keep(f"-{option.name}" in text, f"The help does not name the option {option.syntax}.")


def check_examples(text: str, replies: Replies) -> None:
    """Put the examples of a help text to the referee. Raises Broken.

    A line that is indented by four and begins with ``>`` is a request. Below ``board`` stands the board, indented by
    at least one blank. Below a request that is refused stands the refusal: it begins with ``?``, and goes on in lines
    that are indented by six. Nothing stands below other requests.
    """
    lines = text.splitlines()
    examples = [(line.removeprefix(REQUEST), lines[number + 1 :]) for number, line in enumerate(lines)
                if line.startswith(REQUEST)]  # fmt: skip
    for (request, below), reply in zip(examples, replies([request for request, _ in examples]), strict=False):
        answer, *drawn = reply.splitlines()
        expected = _refusal(below)
        if expected:
            _keep(
                answer == f"? {expected}", f"The help has {quoted(request)} refused differently; the answer is {answer}"
            )
        _keep(expected or answer.startswith("= "), f"The help has {quoted(request)}, which is answered {answer}")
        if drawn:
            blanks = below[0][: len(below[0]) - len(drawn[0])] if below else ""
            shown = [line.removeprefix(blanks) for line in below[: len(drawn)]]
            differing = [line for line, in_help in zip_longest(drawn, shown) if line != in_help]
            line = differing[0] if differing else drawn[0]
            _keep(
                blanks.isspace() and shown == drawn,
                f"A board in the help is drawn differently; it has a line {line!r}.",
            )
        elif not expected:
            _keep(
                not (below and below[0].startswith(FURTHER)),
                f"Below {quoted(request)} the help has an answer, and there is none.",
            )


def _refusal(below: list[str]) -> str:
    """The refusal with which these lines begin, in one line; empty if they begin with none."""
    if not below or not below[0].startswith(REFUSAL):
        return ""
    further = takewhile(lambda line: line.startswith(FURTHER), below[1:])
    parts = [below[0].removeprefix(REFUSAL)]
    parts += map(str.strip, further)
    return " ".join(parts)


# Views that are no positions


def _check_views(game: Game[Any]) -> None:
    options = games.read_options(game, [])
    for view in VIEWS:
        try:
            game.setup(view, **options)
        except Illegal as why:
            _check_sentence(str(why), f"setup({view!r})")
        except Exception as why:
            raise Broken(f"setup({view!r}) raised {_named(why)} and not Illegal.") from why
        else:
            raise Broken(f"setup({view!r}) made a position, and should raise Illegal.")


def _check_lessons(game: Game[Any]) -> None:
    """Check that the lessons are short sentences about turns that are legal, if the game has any."""
    lessons = getattr(game, "LESSONS", None)
    if lessons is None:
        return
    _keep(isinstance(lessons, Lessons), "LESSONS is no games.lessons.Lessons.")
    _keep(1 <= len(lessons.rules) <= MOST_RULES, f"LESSONS has {len(lessons.rules)} rules, and 1 to {MOST_RULES} fit.")
    texts = [lesson.rule for lesson in lessons.rules]
    texts.append(lessons.tapping)
    for text in texts:
        is_sentence = text.isprintable() and text.endswith(".") and len(text) <= LONGEST_RULE
        _keep(is_sentence, f"LESSONS has {quoted(text)}, which is no sentence of at most {LONGEST_RULE} characters.")
    for lesson in lessons.rules:
        try:
            before, after = lesson_states(game, lesson)
        except Illegal as why:
            raise Broken(f"The lesson with the turn {quoted(lesson.turn)} is not possible: {why}") from why
        _keep(before.result() is None, f"The lesson with the turn {quoted(lesson.turn)} begins when the game is over.")
        canonical = before.parse(lesson.turn)
        _keep(
            canonical == lesson.turn,
            f"A lesson has the turn {quoted(lesson.turn)}, which the game writes {quoted(canonical)}.",
        )
        _check_figure(game, before, None, 0)
        _check_figure(game, after, before, 1)


def _check_sentence(text: str, what: str) -> None:
    is_sentence = "\n" not in text and len(text.split()) > 2 and text.rstrip("\"')").endswith((".", "?", "!"))
    _keep(is_sentence and len(text) <= 600, f"{what} is refused by {quoted(text)}, which is no sentence for a player.")


# Play


def _check_play(game: Game[Any], words: list[str], rng: Random, most: int) -> None:
    """Play a game with these options, check every position, and at the end that none of them has changed."""
    options = games.read_options(game, words)
    state = _thrown(game.new(**options), rng)
    _check_notation(game, state, words)
    positions: list[tuple[State, State | None, tuple[Any, ...]]] = []
    pictures: dict[str, Any] = {}
    is_drawn = [False, False]
    """Whether a picture has had a piece of each side."""
    before = None
    for turns in range(most):
        seen = _shown(game, state, before)
        positions.append((state, before, seen))
        plain, marked = seen[-2:]
        _check_picture(game, plain)
        _check_picture(game, marked)
        cells = state.view()["cells"]
        alike = pictures.setdefault(plain, cells)
        _keep(
            alike == cells,
            f"The picture after {_turns(turns)} cannot be read: a position before, with other cells, has the same.",
        )
        for side, glyph in enumerate(games.glyphs(game).sides):
            if re.search(glyph, plain):
                is_drawn[side] = True
        _check_figure(game, state, before, turns)
        _check_view(game, state, options, turns)
        if state.result() is not None:
            _check_end(state)
            break
        move = _check_moves(state, rng)
        _check_taps(state, rng)
        before = state
        state = _thrown(state.play(move), rng)
    if hasattr(game, "GLYPHS") and len(positions) > 4:
        for name, is_found in zip(game.SIDES, is_drawn, strict=True):
            _keep(is_found, f"No picture has a piece of {name}, as GLYPHS describe them.")
    for turns, (state, before, seen) in enumerate(positions):
        has_changed = _shown(game, state, before) != seen
        _keep(not has_changed, f"The position after {_turns(turns)} has changed while others were played from it.")


def _thrown(state: State, rng: Random) -> State:
    """The position with dice, if its turn needs any. Checks that wrong dice are refused."""
    if not needs_dice(state):
        return state
    _keep(not state.dice, f"A new position has the dice {state.dice}, which were not thrown.")
    for wrong in ((), (7,) * state.dice_needed, (1,) * (state.dice_needed + 1)):
        try:
            state.roll(wrong)
        except Illegal:
            continue
        raise Broken(f"The dice {wrong} are taken where {state.dice_needed} from 1 to 6 are needed.")
    return games.thrown(state, rng)


def _shown(game: Game[Any], state: State, before: State | None) -> tuple[Any, ...]:
    """All that a position tells and shows."""
    return (
        json.dumps(state.view(), sort_keys=True),
        state.turn,
        state.seats,
        state.dice_needed,
        state.must_skip,
        state.result(),
        tuple(islice(state.moves(), LISTED)),
        game.draw(state),
        game.draw(state, before),
    )


def _check_picture(game: Game[Any], drawn: str) -> None:
    for line in drawn.split("\n"):
        _keep(len(line) <= WIDTH, f"draw makes lines of {len(line)} columns, and {WIDTH} fit into a mail.")
        _keep(line == line.rstrip(), f"draw makes a line that ends with a blank: {quoted(line)}.")
        _keep(line.isascii() and line.isprintable(), f"draw makes a line that is not plain ASCII: {quoted(line)}.")
    first, second = games.glyphs(game).sides
    pieces_of_first = {match.span() for match in re.finditer(first, drawn)}
    pieces_of_second = {match.span() for match in re.finditer(second, drawn)}
    _keep(not pieces_of_first & pieces_of_second, "GLYPHS takes one piece for one of both sides.")


def _check_notation(game: Game[Any], state: State, words: list[str]) -> None:
    """Check that the examples of the notation name cells of this board, if the game has figures."""
    if not hasattr(game, "figure"):
        return
    named = re.findall("[a-z][0-9]+", getattr(game, "NOTATION", ""))
    missing = set(named) - {cell.name for cell in game.figure(state).cells}
    _keep(not missing, f"NOTATION names {', '.join(sorted(missing))}, and not all boards have that "
                       f"({' '.join(words) or 'the usual options'}).")  # fmt: skip


def _check_figure(game: Game[Any], state: State, before: State | None, turns: int) -> None:
    """Check the figure of a position, if the game has figures."""
    if not hasattr(game, "figure"):
        return
    figure = game.figure(state, before)
    names = [cell.name for cell in figure.cells]
    cells = state.view()["cells"]
    _keep(len(set(names)) == len(names), f"The figure after {_turns(turns)} has two cells of one name.")
    _keep({piece.cell for piece in figure.pieces} == set(cells),
          f"The figure after {_turns(turns)} has pieces on other cells than view().")  # fmt: skip
    named = set(cells) | set(figure.latest)
    _keep(
        named <= set(names), f"The figure after {_turns(turns)} lacks a cell: {', '.join(sorted(named - set(names)))}."
    )
    sides = {figure.turn}
    for shapes in (figure.pieces, figure.marks, figure.notes):
        sides |= {shape.side for shape in shapes}
    _keep(sides <= {0, 1, None}, f"The figure after {_turns(turns)} has a side that is no index of SIDES.")


def _check_view(game: Game[Any], state: State, options: Options, turns: int) -> None:
    view, result = state.view(), state.result()
    for name in ("cells", "turn", "over", "winner", "scores"):
        _keep(name in view, f"A view has no {name!r}.")
    _keep(json.loads(json.dumps(view)) == view, "A view is not the same when it has been JSON.")
    _keep(sorted(state.seats) == [0, 1], f"seats are {state.seats}, and should be 0 and 1.")
    _keep(
        view["turn"] == game.SIDES[state.turn],
        f"A view has the turn {view['turn']!r}, and it is {game.SIDES[state.turn]}'s.",
    )
    thrown = list(state.dice) if needs_dice(state) else []
    _keep(
        not thrown or view.get("dice") == thrown, f"A view has the dice {view.get('dice')}, and {thrown} were thrown."
    )
    _keep(result is None or isinstance(result, Result), f"result() gives {result!r}, which is no games.Result.")
    if result is None:
        winner = None
    elif result.winner is None:
        winner = "draw"
    else:
        winner = game.SIDES[result.winner]
    _keep((view["over"], view["winner"]) == (result is not None, winner),
          f"A view has over {view['over']} and winner {view['winner']!r}, but result() is {result}.")  # fmt: skip
    try:
        again = game.setup({**view, "moves": turns}, **options).view()
    except Illegal as why:
        raise Broken(f"setup refuses what view() gave after {_turns(turns)}: {why}") from why
    except Exception as why:
        raise Broken(f"setup raised {_named(why)} at what view() gave after {_turns(turns)}.") from why
    for name, value in view.items():  # how the game ended may follow from the turns before
        if name not in {"over", "winner"} and not (view["over"] and name == "dice"):
            _keep(again.get(name) == value, f"What view() gave after {_turns(turns)} is set up with other {name}.")


def _check_end(state: State) -> None:
    _keep(not list(islice(state.moves(), 1)), "There are moves after the end.")
    _keep(not state.must_skip, "A turn is skipped after the end.")
    _keep(state.dice_needed == 0, "Dice are needed after the end.")
    for text in (SKIP, *RUBBISH):
        _check_rubbish(state, text, {})


def _check_moves(state: State, rng: Random) -> str:
    """Check the moves of a position, and return one that was chosen at random."""
    listed = list(islice(state.moves(), LISTED))
    _keep(listed, "There is no move, not even a skip, before the end.")
    _keep(len(set(listed)) == len(listed), "A move is listed twice.")
    _keep(
        state.must_skip == (listed == [SKIP]),
        f"must_skip is {state.must_skip}, and the moves are {', '.join(listed[:3])}.",
    )
    chosen = state.random(rng)
    _keep(len(listed) == LISTED or chosen in listed, f"random chose {quoted(chosen)}, which is not one of the moves.")
    tried = set(rng.sample(listed, min(len(listed), 3)))
    tried.add(chosen)
    for move in tried - {SKIP}:
        _keep(isinstance(move, str) and move.isprintable() and move, f"The move {move!r} is no text of one line.")
        try:
            canonical = state.parse(move)
        except Illegal as why:
            raise Broken(f"The move {quoted(move)} is listed, and refused when it is written: {why}") from why
        _keep(
            canonical == move, f"The move {quoted(move)} is listed, and becomes {quoted(canonical)} when it is written."
        )
    known = dict.fromkeys(listed) if len(listed) < LISTED else {}
    for text in (*RUBBISH, f"{chosen},{chosen}", chosen[:-1], f"{chosen}?"):
        _check_rubbish(state, text, known)
    return chosen


def _check_taps(state: State, rng: Random) -> None:
    """Follow taps at random: each of them has to lead on, and together they have to make a legal move."""
    if state.must_skip:
        return
    text = ""
    for _ in range(MOST_TAPS):
        try:
            taps = next_taps(state, text)
        except Illegal as why:
            raise Broken(f"A tap makes {quoted(text)}, which next_taps refuses: {why}") from why
        cells = [cell for tap in taps.taps for cell in tap.cells]
        _keep(len(cells) == len(set(cells)), f"After {quoted(text)}, next_taps has two taps on one cell.")
        _keep(
            taps.is_whole == is_legal(state, text), f"next_taps is wrong about whether {quoted(text)} is a legal move."
        )
        texts = [tap.text.replace("*", cell) for tap in taps.taps for cell in tap.cells or ("",)]
        if taps.is_whole or not (text or texts):  # it lists no move that can be tapped
            return
        _keep(texts, f"No tap leads on from {quoted(text)}, which is no legal move.")
        text = rng.choice(texts)


def _check_rubbish(state: State, text: str, known: Mapping[str, None]) -> None:
    """Check a text that is probably no move: it has to be refused in a sentence, or else read as one of the moves."""
    try:
        canonical = state.parse(text)
    except Illegal as why:
        _check_sentence(str(why), quoted(text))
    except Exception as why:
        raise Broken(f"{quoted(text)}, written as a move, raised {_named(why)} and not Illegal.") from why
    else:
        _keep(state.result() is None, f"{quoted(text)} is taken for a move after the end.")
        is_move = not known or canonical in known or _end(state, canonical) in {_end(state, move) for move in known}
        _keep(is_move, f"{quoted(text)} is read as {quoted(canonical)}, which is not one of the moves.")
        _keep(
            canonical == SKIP or state.parse(canonical) == canonical,
            f"{quoted(text)} is read as {quoted(canonical)}, and that as another move.",
        )


def _end(state: State, move: str) -> str | None:
    """The view after a move, by which turns are compared that can be written in several ways; None if it is no move."""
    try:
        return json.dumps(state.play(move).view(), sort_keys=True)
    except Exception:
        return None
