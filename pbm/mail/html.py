"""The HTML part of a mail: its text, word for word, with the boards in colours and a link to answer with.

Nothing in it comes from elsewhere or runs. Programs that know dark mode choose the colours by the style sheet; where it
is thrown away, those that stand beside each piece are seen on a background that stands beside the board.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from html import escape
from typing import NamedTuple
from urllib.parse import quote

import games
from pbm import pictures
from pbm.pictures import Span
from pbm.store import Mail

LONGEST_LINK = 900
"""How many characters a link may have, so that its line can be mailed."""


class Colours(NamedTuple):
    """What a board is painted with."""

    board: str
    ink: str
    first: str
    """The pieces of the side that moves first."""
    second: str
    latest: str
    """Behind what the last turn has changed."""


LIGHT = Colours(board="#f6f6f2", ink="#33332e", first="#a3004c", second="#0047b3", latest="#ffdf70")
DARK = Colours(board="#1c1c1a", ink="#d8d8d0", first="#ff9dc4", second="#93c5ff", latest="#5a4700")

HEAD = f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="us-ascii">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>pbm</title>
<style>
:root {{ color-scheme: light dark; }}
@media (prefers-color-scheme: dark) {{
.board {{ background: {DARK.board} !important; color: {DARK.ink} !important; }}
.first {{ color: {DARK.first} !important; }}
.second {{ color: {DARK.second} !important; }}
.latest {{ background: {DARK.latest} !important; }}
}}
</style>
</head>
<body>
"""
# a line of HTML may break inside a tag, and so stays short however many pieces stand in a line of the board
TEXT = '<pre\nstyle="font-family: monospace; white-space: pre-wrap">{}</pre>\n'
BOARD = (
    f'<pre\nclass="board" style="font-family: monospace; white-space: pre; overflow-x: auto; padding: 8px; '
    f'background: {LIGHT.board}; color: {LIGHT.ink}">{{}}</pre>\n'
)
PIECES = {
    name: f'<b\nclass="{name}" style="color: {colour}">{{}}</b>'
    for name, colour in (("first", LIGHT.first), ("second", LIGHT.second))
}
LATEST = f'<span\nclass="latest" style="background: {LIGHT.latest}">{{}}</span>'


def page(mail: Mail, server_address: str) -> str:
    """The HTML of a mail, in ASCII. Its last paragraph is the command to answer with."""
    lines = mail.text.split("\n")
    game, places = pictures.read(mail.picture)
    parts, at = [], 0
    for first, end, changes in places:
        parts.append(_text(lines[at:first]))
        parts.append(BOARD.format(_board(game, lines[first:end], changes)))
        at = end
    rest, _, command = "\n".join(lines[at:]).strip("\n").rpartition("\n\n")
    parts.append(_text(rest.split("\n")))
    parts.append(TEXT.format(_linked(command, mail, server_address)))
    whole = f"{HEAD}{''.join(parts)}</body>\n</html>\n"
    return whole.encode("ascii", "xmlcharrefreplace").decode("ascii")


def link(command: str, mail: Mail, server_address: str) -> str:
    """The address that begins an answer: with the move alone where the mail has an address for that."""
    line = " ".join(command.split()).replace(", ", ",")  # it may have been broken into lines
    match line.split()[1:2]:
        case ["move" | "show" as word] if mail.reply_to:
            bare = line.partition(" PASSWORD ")[2].partition("#")[0] or word
            subject = _quoted(f"Re: {mail.subject}")
            return f"mailto:{quote(mail.reply_to, safe='@+')}?subject={subject}&body={_quoted(bare)}"
    return f"mailto:{quote(server_address, safe='@+')}?subject={_quoted(line)}"


def _linked(command: str, mail: Mail, server_address: str) -> str:
    target = link(command, mail, server_address)
    if len(target) > LONGEST_LINK:
        return escape(command, quote=False)
    return f'<a\nhref="{escape(target)}">{escape(command, quote=False)}</a>'


def _quoted(text: str) -> str:
    return quote(text, safe=":")


def _text(lines: Sequence[str]) -> str:
    text = "\n".join(lines).strip("\n")
    return TEXT.format(escape(text, quote=False)) if text else ""


def _board(game: str, lines: Sequence[str], changes: Sequence[Span]) -> str:
    """A picture in colours, as far as the game tells how its pieces look."""
    if not games.exists(game):
        return escape("\n".join(lines), quote=False)
    paint = _painter(game)
    if not changes:
        return paint("\n".join(lines))
    painted = []
    for number, line in enumerate(lines):
        at, parts = 0, []
        for _, first, end in (span for span in changes if span[0] == number):
            parts += [paint(line[at:first]), LATEST.format(paint(line[first:end]))]
            at = end
        painted.append("".join([*parts, paint(line[at:])]))
    return "\n".join(painted)


@cache
def _painter(game: str) -> Callable[[str], str]:
    """What turns a part of a game's picture into HTML."""
    (first, second), latest, _ = games.glyphs(games.load(game))
    pieces = re.compile(f"(?P<first>{first})|(?P<second>{second})|[&<>]")
    every = re.compile(f"(?P<latest>{latest})|{pieces.pattern}" if latest else pieces)

    def painted(match: re.Match[str]) -> str:
        if match.lastgroup == "latest":
            return LATEST.format(pieces.sub(painted, match[0]))
        return PIECES[match.lastgroup].format(escape(match[0])) if match.lastgroup else escape(match[0])

    return partial(every.sub, painted)
