"""Boards for people who see some colours alike: what lies on each other differs in lightness, too.

How people see who lack one of the three kinds of cones is computed as in G. M. Machado, M. M. Oliveira and L. A. F.
Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), for severity 1. Contrasts
are those of WCAG 2.
"""

import re
from importlib import resources

import pytest

import games
from pbm.drawing import svg

EYES = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
SITE_STYLE = (resources.files("pbm.site") / "assets" / "site.css").read_text()
SURROUNDINGS = "light", "dark"
LETTERS, SHAPES, SIDES = 4.5, 3, 6
"""The least contrasts: of letters and of shapes, as WCAG has them; and of the stones of both sides, twice as much."""


def seen(colour, eyes):
    """How light a colour such as ``#fff`` is to these eyes, from 0 to 1."""
    digits = colour.removeprefix("#")
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    red, green, blue = (
        min(1, max(0, sum(weight * part for weight, part in zip(row, linear, strict=True)))) for row in EYES[eyes]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other, eyes):
    low, high = sorted((seen(one, eyes), seen(other, eyes)))
    return (high + 0.05) / (low + 0.05)


def in_board_style(selector, property_name="fill"):
    """The colour that the style sheet of boards gives to a class, the same in light and in dark."""
    rule = rf"\.board \.{selector}(?:,[^{{}}]*)?{{[^}}]*{property_name}:(#\w+)"
    return re.search(rule, svg.STYLE)[1]


def grounds(sides, surroundings):
    """What lies below the stones of a game."""
    light, _, dark = svg.STYLE.partition("@media")
    sheet = light if surroundings == "light" else dark
    [properties] = re.findall(rf"(?m)^\.{svg.ground(sides)}{{(.*)}}$", sheet)
    colours = dict(part.split(":") for part in properties.split(";"))
    return [colours["--panel"], colours["--field"]]


def over_the_board(surroundings):
    """The colour of what lies over a board while a turn is put together."""
    return re.findall(r"--mark:(#\w+)", SITE_STYLE)[SURROUNDINGS.index(surroundings)]


def test_the_computed_eyes_see_red_as_dark_and_green_as_light_as_people_do():
    assert seen("#fff", "protanopia") == pytest.approx(1, abs=0.01)
    assert seen("#f00", "protanopia") < 0.6 * seen("#f00", "usual")  # red looks dark without the cones for it
    assert contrast("#c00000", "#006a00", "usual") < 1.2


@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("name", games.names())
def test_stones_of_both_sides_and_what_stands_on_them_differ_in_lightness(name, eyes):
    first, second = svg.hues(games.load(name).SIDES)
    assert contrast(in_board_style(first), in_board_style(second), eyes) >= SIDES
    for hue in (first, second):
        stone = in_board_style(hue)
        assert contrast(in_board_style(rf"count\.{hue}"), stone, eyes) >= LETTERS
        assert contrast(in_board_style(rf"latest\.{hue}", "stroke"), stone, eyes) >= SHAPES


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("name", games.names())
def test_what_lies_over_a_board_can_be_told_from_the_board_and_a_cross_from_each_stone(name, eyes, surroundings):
    sides = games.load(name).SIDES
    mark = over_the_board(surroundings)
    assert min(contrast(mark, ground, eyes) for ground in grounds(sides, surroundings)) >= SHAPES
    cross = re.search(r"\.over \.gone{stroke:(#\w+)", SITE_STYLE)[1]
    edge = re.search(r"\.over \.edge{stroke:(#\w+)", SITE_STYLE)[1]
    assert contrast(cross, edge, eyes) >= SHAPES
    for hue in svg.hues(sides):
        stone = in_board_style(hue)
        assert max(contrast(cross, stone, eyes), contrast(edge, stone, eyes)) >= SHAPES
