"""The HTML part of a mail: its text with the boards in colours, and a link to answer with, on a screen of any width.

Nothing in it comes from elsewhere or runs. Text wraps; boards and tables are scaled to the width of the screen by the
style sheet, and scroll by themselves where that is thrown away. Each piece stands on a tile of its own, and each board
on wood or felt, so that colours need no other ones in dark mode.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from html import escape
from itertools import groupby
from operator import not_
from urllib.parse import quote

import games
from pbm import texts
from pbm.language import words
from pbm.letters import painting, pictures
from pbm.letters.painting import Brush
from pbm.letters.pictures import Span
from pbm.mail.illustrations import Illustration
from pbm.store import Mail

LONGEST_LINK = 900
"""How many characters a link may have, so that its line can be mailed."""
LETTER = 0.61
"""How wide a letter of a fixed-pitch font is, at most, as a part of its height."""
MARGINS = 46
"""Pixels of the screen that are not for letters, with a scroll bar beside the page where there is one."""
TABLE_SIZE, BOARD_SIZE = 13, 16
"""How high letters are at most, in pixels: in tables, which text goes with, and on boards."""
LONGEST_PART = 40
"""How many characters of a turn are kept on one line; this is what a telephone shows."""
KEPT_PARTS = 32
"""How many parts of pages are kept that were made last: most of a mail to a player stands in that to the other one."""
KEPT_TEXTS = 1000
"""How many lines that wrap are kept that were made last; most of them stand in several mails."""

HEAD = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="us-ascii">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<meta name="x-apple-disable-message-reformatting">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>pbm</title>
<!--[if mso]><xml xmlns:o="urn:schemas-microsoft-com:office:office">
<o:OfficeDocumentSettings><o:AllowPNG/><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings>
</xml><![endif]-->
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 8px; -webkit-text-size-adjust: none; text-size-adjust: none; }}
{}</style>
</head>
<body>
"""
"""Apple makes no links of throws and dates; Outlook does not scale pictures by the settings of its screen."""
LETTERS = "font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; font-size: 13px"
# a line of HTML may break inside a tag, and so stays short however many pieces stand in a line of the board
FIXED = f"margin: 0; {LETTERS}; line-height: 1.25; white-space: pre; overflow-x: auto"
WRAPPING = f"margin: 0; {LETTERS}; white-space: pre-wrap; overflow-wrap: anywhere"
PARAGRAPH = '<pre\nclass="{name}" style="{style}">\n{text}</pre>\n'
"""Browsers drop a line end at its very beginning."""
TILE = '<b\nclass="{name}" style="background: {tile.paper}; color: {tile.ink}">{{}}</b>'
LATEST_SPAN = (
    f'<span\nclass="latest" style="background: {painting.LATEST.paper}; color: {painting.LATEST.ink}; '
    'text-decoration: underline{frame}">{text}</span>'
)
FRAME = f"; outline: 0.15em solid {painting.LATEST.paper}"
"""Around a piece that has no other mark, and would cover what is behind it."""
PICTURE = (
    '<img\nsrc="cid:{name}"\nalt="{text}"\nwidth="{width}" style="display: block; width: 100%; max-width: {width}px; '
    'height: auto; margin: 0 0 8px">\n'
)
"""As wide as the screen, and no wider than it is."""
TURN_LINK = (
    '<a\nhref="{link}"\nstyle="display: inline-block; margin: 3px 6px 3px 0; padding: 6px 10px; '
    'border: 1px solid; border-radius: 6px">{turn}</a> '
)
PLAINER = (
    "The board above all this is a picture that has come with the mail. The command `mail {0} PASSWORD html` gets you "
    "mails without pictures, and `mail {0} PASSWORD text` text alone; `mail {0} PASSWORD pictures` brings them back."
)
WHOLE = '<span\nclass="whole" style="white-space: nowrap">{}</span>'

MOVES = re.compile(r"(Move  )((\S+) \(.+?\) *)  ((\S+) \(.+?\))")
"""The heading of the list of moves, in columns."""
NOT_PLAIN = re.compile(r"(?<!\S)[^\s&<>,-]*+[&<>,-]\S*")
"""A word that is not shown as it is, or that may break."""
GAP = re.compile(r"\S {2,}\S")
"""What is only in lines that have columns."""
Block = tuple[str, int, int]
"""Lines that are shown in one way: ``text``, which wraps; ``table`` or ``rule``, which do not; or ``moves``. Behind it
stand the number of the first one, and that of the one behind the last."""


def page(mail: Mail, server_address: str, illustration: Illustration | None = None, name: str = "") -> str:
    """The HTML of a mail, in ASCII. Its last paragraph is the command to answer with.

    It begins with an *illustration*, if there is any, whose picture is the part of the mail of that *name*. The board
    in text stands below it all the same: for those who see no pictures, and for filters that distrust a mail of little
    else.
    """
    before, blank, command = mail.text.strip("\n").rpartition("\n\n")
    lines = f"{before}{blank}".split("\n")[:-1]
    game, places = pictures.read(mail.picture)
    parts = [*_illustrated(illustration, name, mail)] if illustration else []
    at = 0
    for first, end, changes, _ in places:
        parts += [_text(*lines[at:first]), _drawn(game, changes, *lines[first:end])]
        at = end
    parts.append(_text(*lines[at:]))
    parts.append(_wrapping(_linked(command, mail, server_address)))
    if illustration:
        parts.append(_wrapping(f"\n{PLAINER.format(mail.userid or 'USERID')}\n"))
    body = "".join(parts)
    whole = f"{HEAD.format(_scales(body))}{body}</body>\n</html>\n"
    return whole.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _illustrated(illustration: Illustration, name: str, mail: Mail) -> Iterator[str]:
    """The picture of a board, and below it what can be tapped."""
    text = f"{mail.subject}, as a picture; the board stands below in letters."
    yield PICTURE.format(name=escape(name), text=escape(text), width=illustration.width)
    if illustration.turns:
        links = (TURN_LINK.format(link=escape(_answer(turn, mail)), turn=_escaped(turn)) for turn in illustration.turns)
        yield _wrapping("".join(["Your turn; each of these begins the answer:\n", *links, "\n\n"]))
    elif illustration.page:
        yield _wrapping(f'<a\nhref="{escape(illustration.page)}">The board on its page</a>\n\n')


def _answer(move: str, mail: Mail) -> str:
    """The address that begins an answer with nothing but a move in it."""
    return (
        f"mailto:{quote(mail.reply_to or '', safe='@+')}?subject={_quoted(f'Re: {mail.subject}')}&body={_quoted(move)}"
    )


def link(command: str, mail: Mail, server_address: str) -> str:
    """The address that begins an answer: with the move alone where the mail has an address for that."""
    line = words.unfolded(command)
    match line.split()[1:2]:
        case ["move" | "show" | "confirm" | "chat" as word] if mail.reply_to:
            bare = line.partition(" PASSWORD ")[2].partition("#")[0] or word
            return _answer(bare, mail)
    return f"mailto:{quote(server_address, safe='@+')}?subject={_quoted(line)}"


def _linked(command: str, mail: Mail, server_address: str) -> str:
    target = link(command, mail, server_address)
    if len(target) > LONGEST_LINK:
        return _worded(command)
    return f'<a\nhref="{escape(target)}">{_worded(command)}</a>'


def _quoted(text: str) -> str:
    return quote(text, safe=":")


# Text


@lru_cache(maxsize=KEPT_PARTS)
def _text(*lines: str) -> str:
    return "".join([_shown(kind, lines[first:end]) for kind, first, end in _blocks(_text_kinds(lines))])


def _shown(kind: str, lines: Sequence[str]) -> str:
    if kind in {"table", "rule"}:
        return _scaled(TABLE_SIZE, lines, map(_escaped, lines))
    return _wrapping(_ended(map(_worded, _turn_by_turn(lines) if kind == "moves" else lines)))


def _text_kinds(lines: Sequence[str]) -> Iterator[str]:
    """How each line of a text is shown, paragraph by paragraph."""
    kind = ""
    for is_blank, paragraph in groupby(lines, not_):
        found = [*paragraph]
        between = "table" if kind == "table" else "text"  # two parts of one picture are scaled alike
        kinds = [between] * len(found) if is_blank else _kinds(found)
        kind = kinds[-1]
        yield from kinds


def _kinds(paragraph: list[str]) -> list[str]:
    """How each line of a paragraph is shown."""
    heading = MOVES.fullmatch(paragraph[0])
    if heading and all(_is_round(line, heading) for line in paragraph[1:]):
        return ["moves"] * len(paragraph)
    has_columns = any(map(GAP.search, paragraph)) and all(map(str.isascii, paragraph))
    kind = "table" if has_columns else "text"
    return [kind if line.strip("*") else "rule" for line in paragraph]


def _is_round(line: str, heading: re.Match[str]) -> bool:
    """Whether a line has nothing between the columns of the list of moves, which anybody could have written."""
    number, between = line[: heading.end(1)], line[heading.end(2) : heading.start(4)]
    return re.fullmatch(r"(\d+\.)? +", number) is not None and not between.strip()


def _blocks(kinds: Iterable[str]) -> Iterator[Block]:
    """The lines of one kind in a row together."""
    at = 0
    for kind, run in groupby(kinds):
        end = at + len([*run])
        yield kind, at, end
        at = end


def _wrapping(text: str, colours: str = "") -> str:
    return PARAGRAPH.format(name="text", style=WRAPPING + colours, text=text)


def _turn_by_turn(lines: Sequence[str]) -> Iterator[str]:
    """The list of moves, in columns for two players, as one with a line for each turn."""
    heading = MOVES.fullmatch(lines[0])
    if heading is None:
        return
    first, second = heading[3], heading[5]
    width = max(len(first), len(second))
    yield f"Moves of {heading[2].strip()} and {heading[4]}"
    rounds: list[tuple[str, list[str], list[str]]] = []
    for line in lines[1:]:
        number, left, right = line[: heading.end(1)], line[heading.end(1) : heading.end(2)], line[heading.end(2) :]
        if number.strip() or not rounds:
            rounds.append((number.strip(), [], []))
        rounds[-1][1].append(left)
        rounds[-1][2].append(right)
    indent = max((len(number) for number, _, _ in rounds), default=0)
    for number, *sides in rounds:
        shown = number
        for name, parts in zip((first, second), sides, strict=True):
            if turn := words.unfolded(" ".join(parts)):
                yield f"{shown:{indent}} {name:{width}}  {turn}"
                shown = ""


def _escaped(text: str) -> str:
    return escape(text, quote=False)


@lru_cache(maxsize=KEPT_TEXTS)
def _worded(text: str) -> str:
    """A text that wraps, but in turns only behind commas and in front of cells to be removed."""
    return NOT_PLAIN.sub(lambda word: _breaking(word[0]), text)


def _breaking(word: str) -> str:
    return "<wbr>".join(map(_kept, _parts(word)))


def _parts(word: str) -> Iterator[str]:
    for part in re.split("(?<=,)(?=.)", word):
        yield from re.split(texts.FRONT_OF_CELL, part) if len(part) > LONGEST_PART else [part]


def _kept(part: str) -> str:
    """A part of a word, on one line: browsers break lines behind a hyphen."""
    html = _escaped(part)
    return WHOLE.format(html) if "-" in part[:-1] and len(part) <= LONGEST_PART else html


# Boards and tables


def _scaled(most: int, lines: Sequence[str], shown: Iterable[str], colours: str = "") -> str:
    """Lines that do not wrap, and what is shown of them, in letters as large as the widest line allows."""
    name = f"w{most}-{max(1, *map(len, lines))}"
    return PARAGRAPH.format(name=name, style=FIXED + colours, text=_ended(shown))


def _ended(lines: Iterable[str]) -> str:
    return "\n".join([*lines, ""])


def _scales(body: str) -> str:
    """The rules of the style sheet for what is scaled on a page."""
    found = sorted({part.partition('"')[0] for part in body.split('<pre\nclass="w')[1:]})
    return "".join(
        f".w{most}-{columns} {{ font-size: min({most}px, calc((100vw - {MARGINS}px) / {int(columns) * LETTER:.2f})) "
        "!important; }\n"
        for most, columns in (name.split("-") for name in found)
    )


@lru_cache(maxsize=KEPT_PARTS)
def _drawn(game: str, changes: Sequence[Span], *lines: str) -> str:
    """A picture in colours, as far as the game tells how its pieces look: the board, and its legend, which wraps."""
    return "".join(_parts_of_drawing(game, lines, changes)) if games.exists(game) else _text(*lines)


def _parts_of_drawing(game: str, lines: Sequence[str], changes: Sequence[Span]) -> Iterator[str]:
    found = painting.colours(games.load(game).SIDES)
    colours = f"; padding: 0 6px; background: {found.paper}; color: {found.ink}"
    shown = painting.painted(game, lines, changes, _brush(game))
    height = painting.height(lines)
    if height:
        yield _scaled(BOARD_SIZE, lines[:height], shown[:height], colours)
    legend, its_html = lines[height:], shown[height:]
    for kind, first, end in _blocks(_legend_kinds(legend)):
        if kind == "table":
            yield _scaled(TABLE_SIZE, legend[first:end], its_html[first:end], colours)
        else:
            yield _wrapping(_ended(its_html[first:end]), colours)


def _legend_kinds(lines: Sequence[str]) -> Iterator[str]:
    """How the lines below a board are shown: as a table where two or more in a row have columns and no lists."""
    for has_columns, run in groupby(lines, lambda line: "," not in line and bool(GAP.search(line.strip()))):
        found = list(run)
        yield from ["table" if has_columns and len(found) > 1 else "text"] * len(found)


@cache
def _brush(game: str) -> Brush:
    """What makes HTML of the parts of a game's picture."""
    found = painting.colours(games.load(game).SIDES)

    def latest(text: str, *, is_bare: bool) -> str:
        return LATEST_SPAN.format(text=text, frame=FRAME if is_bare else "")

    tiles = [TILE.format(name=name, tile=tile) for name, tile in (("first", found.first), ("second", found.second))]
    return Brush("[&<>]", _escaped, lambda side, text: tiles[side].format(_escaped(text)), latest)
