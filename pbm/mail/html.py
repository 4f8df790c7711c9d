"""The HTML part of a mail: what has happened, the board, one button, and the rest below, on a screen of any width.

Nothing in it comes from elsewhere or runs. Text wraps. The style sheet scales boards and tables to the width of the
screen. In programs that drop the style sheet, they scroll.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import takewhile
from typing import NamedTuple
from urllib.parse import quote

from pbm import texts
from pbm.blocks import (
    Block,
    Comment,
    Curve,
    Drawing,
    Moves,
    NextCommand,
    Paragraph,
    Preformatted,
    Rule,
    Table,
    from_json,
    spaced,
)
from pbm.letters.contests import hypertext
from pbm.letters.headings import LAST_TURN, MOVE_ON_SITE, ON_SITE, TAP
from pbm.letters.letter import EASY
from pbm.mail import own_mails
from pbm.mail.illustrations import Illustration, SeatLine
from pbm.names import display_name
from pbm.store import Mail

LONGEST_LINK = 900
"""How many characters a link may have, so that its line can be mailed."""
LETTER = 0.61
"""The width of a letter of a fixed-pitch font, at most, as a part of its height."""
MARGINS = 46
"""Pixels of the screen that are not for letters: margins, and a scroll bar where there is one."""
TABLE_SIZE = 13
"""The height of letters in pixels, at most, in text and tables."""
BOARD_SIZE = 16
"""The height of letters in pixels, at most, on boards."""
WIDEST = 640
"""How many pixels wide the mail is, at most."""
LONGEST_PART = 40
"""How many characters of a turn are kept on one line; this is what a telephone shows."""

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
<div
style="max-width: 640px; margin: 0 auto">
"""
"""The head of the page. It keeps Apple from making links of throws and dates, and Outlook from scaling pictures."""
LETTERS = "font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace; font-size: 13px"
# a line of HTML may break inside a tag, and so stays short however many pieces stand in a line of the board
FIXED = f"{LETTERS}; line-height: 1.25; white-space: pre; overflow-x: auto"
WRAPPING = f"{LETTERS}; white-space: pre-wrap; overflow-wrap: anywhere"
SANS = "font-family: -apple-system, system-ui, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
WRAPS = "white-space: pre-wrap; overflow-wrap: anywhere"
PROSE_STYLE = f"{SANS};\nfont-size: 16px; line-height: 1.45; {WRAPS}"
LABEL_STYLE = f"{SANS};\nfont-size: 14px; line-height: 1.45; opacity: 0.8; {WRAPS}"
SAID_STYLE = f"{PROSE_STYLE};\npadding: 4px 12px; border-left: 4px solid #b0a896"
SERIF = "font-family: Charter, 'Iowan Old Style', Georgia, serif; font-weight: bold"
TITLE_STYLE = f"{SERIF};\nfont-size: 22px; line-height: 1.25; {WRAPS}"
PARAGRAPH = '<pre\nclass="{name}" style="margin: 0 0 {gap}px; {style}">\n{text}</pre>\n'
"""Browsers drop the line end behind the tag."""
PICTURE = (
    '<img\nsrc="cid:{name}"\nalt="{text}"\nwidth="{width}" style="display: block; width: 100%; max-width: {width}px; '
    'height: auto; margin: 0 0 12px">\n'
)
"""The picture is as wide as the screen, but no wider than its own pixels."""
TURN_LINK = (
    '<a\nhref="{link}"\nstyle="display: inline-block; margin: 3px 6px 3px 0; padding: 6px 10px; '
    'border: 1px solid; border-radius: 6px">{turn}</a> '
)
TEXT_LINK = '<a\nhref="{link}">{text}</a>'
BEGIN_ANSWER = "Begin an answer"
ONLY_WRITE = "Only write to {}"
BUTTON = (
    '<a\nhref="{link}"\nclass="go" style="display: block; max-width: {width}px; box-sizing: border-box; '
    "padding: 12px; border-radius: 8px; "
    'background: #1d4f9c;\ncolor: #ffffff; text-align: center; text-decoration: none; font-weight: bold">{text}</a>'
)
DARK_BUTTON = (
    "@media (prefers-color-scheme: dark) { .go { background: #93b8f7 !important; color: #0e1a2e !important; } }\n"
)
SEAT = (
    '<span\nstyle="display: inline-block; width: 13px; height: 13px; border: 1px solid #8a7f6c; border-radius: 7px; '
    'background: {colour}; vertical-align: -2px; margin-right: 7px"></span>{text}'
)
"""A player: a stone of their colour, their name, and how they stand."""
DIVIDER = '<div\nstyle="margin: 16px 0; border-top: 1px solid #b0a896"></div>\n'
GAP = 12
"""How many pixels there are between the parts of a mail with a picture."""
PLAINER = (
    "The {1} in this mail is a picture that has come with it. The command `mail {0} PASSWORD html` gets you "
    "mails without pictures, and `mail {0} PASSWORD text` text alone; `mail {0} PASSWORD pictures` brings them back."
)
WHOLE = '<span\nclass="whole" style="white-space: nowrap">{}</span>'
NOT_PLAIN = re.compile(r"(?<!\S)[^\s&<>,-]*+[&<>,-]\S*")
"""A word that is not shown as it is, or that may break."""


class _Part(NamedTuple):
    """Lines of a page that are shown in one way."""

    html: str
    size: int = 0
    """The height of their letters in pixels, at most, if they do not wrap."""
    columns: int = 0
    """How many letters the longest line has, if they do not wrap."""
    is_whole: bool = False
    """Whether it is a table or a picture, and stands in no paragraph."""
    style: str = WRAPPING
    """The style of the paragraph, if its lines wrap."""
    gap: int = 0
    """How many pixels are empty below it."""

    @property
    def name(self) -> str:
        """The name of their class in HTML, such as ``w13-64``."""
        return f"w{self.size}-{self.columns}" if self.size else "text"

    @property
    def rule(self) -> str:
        """The rule of the style sheet by which the longest line fits the screen; empty if they wrap."""
        if not self.size:
            return ""
        width = f"calc((min(100vw, {WIDEST + MARGINS}px) - {MARGINS}px) / {self.columns * LETTER:.2f})"
        return f".{self.name} {{ font-size: min({self.size}px, {width}) !important; }}\n"

    @property
    def shown(self) -> str:
        """The lines in their paragraph."""
        if self.is_whole:
            return self.html
        style = FIXED if self.size else self.style
        return PARAGRAPH.format(name=self.name, gap=self.gap, style=style, text=self.html)


def page(mail: Mail, server_address: str, illustration: Illustration | None = None, name: str = "") -> str:
    """The HTML of a mail, in ASCII.

    It shows an *illustration*, if there is any, below what has happened; its picture is the part of the mail of that
    *name*. The board in text stands below the picture, for readers who see no pictures. Filters also distrust a mail
    that is little else than a picture.
    """
    mail_blocks = from_json(mail.blocks)
    if illustration:
        parts = list(_illustrated(mail_blocks, illustration, name, mail, server_address))
    else:
        parts = list(_with_gaps(mail_blocks, mail, server_address))
        if parts and parts[0].style == PROSE_STYLE:
            parts[0] = parts[0]._replace(style=TITLE_STYLE)

    rules = sorted({part.rule for part in parts})
    if illustration and illustration.page:
        rules.append(DARK_BUTTON)
    body = "".join(part.shown for part in parts)
    whole = f"{HEAD.format(''.join(rules))}{body}</div>\n</body>\n</html>\n"
    return whole.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _with_gaps(mail_blocks: Sequence[Block], mail: Mail, server_address: str) -> Iterator[_Part]:
    """Blocks one below the other, with the same empty lines between them as in the text."""
    for block, behind in spaced(mail_blocks):
        *before, last = _parts(block, mail, server_address)
        yield from before
        yield last._replace(html=f"{last.html}{behind}")


class _Sorted(NamedTuple):
    """The blocks of a mail with a picture, by where they stand."""

    above: Sequence[Block]
    """What has happened."""
    turns: Sequence[Block]
    """The last turn."""
    comments: Sequence[Comment]
    hints: Sequence[Block]
    """How to answer with a move."""
    rest: Sequence[Block]


def _sort(mail_blocks: Sequence[Block]) -> _Sorted:
    """Sort the blocks of a mail with a picture. In a digest all that stands below its picture keeps its order."""
    above = list(takewhile(lambda block: isinstance(block, Paragraph | Comment | Rule), mail_blocks))
    below = mail_blocks[len(above) :]
    if any(isinstance(block, Rule) and block.sign == "=" for block in mail_blocks):
        return _Sorted(above, [], [], [], below)
    turns: list[Block] = []
    comments: list[Comment] = []
    hints: list[Block] = []
    rest: list[Block] = []
    for block in below:
        if isinstance(block, Comment):
            comments.append(block)
        elif isinstance(block, Paragraph) and block.text.startswith(LAST_TURN):
            turns.append(block)
        elif isinstance(block, Paragraph) and block.text.startswith(EASY):
            hints.append(block)
        else:
            rest.append(block)
    return _Sorted(above, turns, comments, hints, rest)


def _illustrated(
    mail_blocks: Sequence[Block], illustration: Illustration, name: str, mail: Mail, server_address: str
) -> Iterator[_Part]:
    """What has happened, the board, who plays it, what was said, one button, how to answer, and the rest."""
    ordered = _sort(mail_blocks)
    yield from _beginning(ordered.above, illustration)
    text = f"{mail.subject}, as a picture; the {illustration.what} stands below in letters."
    yield _Part(PICTURE.format(name=escape(name), text=escape(text), width=illustration.width), is_whole=True)
    lines = [_seat(seat, illustration.reader) for seat in illustration.seats]
    lines += [_escaped(remark) for remark in illustration.remarks]
    if lines:
        yield _Part("\n".join(lines), style=PROSE_STYLE, gap=GAP)
    for block in ordered.turns:
        yield _prose(block.text)._replace(gap=GAP)
    for comment in ordered.comments:
        yield _prose(comment.said)._replace(style=SAID_STYLE, gap=GAP)

    if illustration.page:
        label = MOVE_ON_SITE if illustration.is_to_mover else ON_SITE
        button = BUTTON.format(link=escape(illustration.page), width=illustration.width, text=label)
        yield _Part(button, style=PROSE_STYLE, gap=GAP)
    if illustration.turns:
        links = ""
        for turn in illustration.turns:
            links += TURN_LINK.format(link=escape(_answer(turn, mail)), turn=_escaped(turn))
        yield _Part(f"{TAP}\n{links}", style=PROSE_STYLE, gap=GAP)
    for block in ordered.hints:
        yield _prose(block.text)._replace(gap=GAP)
    if beginnings := _links_to_answer(illustration, mail):
        yield _Part("   ".join(beginnings), style=PROSE_STYLE, gap=GAP)

    yield _Part(DIVIDER, is_whole=True)
    yield from _with_gaps(ordered.rest, mail, server_address)
    plainer = PLAINER.format(mail.userid or "USERID", illustration.what)
    yield _Part(f"\n{plainer}", style=LABEL_STYLE)


def _links_to_answer(illustration: Illustration, mail: Mail) -> list[str]:
    """The links that begin an answer with a turn, unless turns are links already, or a chat to the opponent."""
    links = []
    if mail.reply_to and illustration.is_to_mover and not illustration.turns:
        links.append(TEXT_LINK.format(link=escape(_answer("", mail)), text=BEGIN_ANSWER))
    if mail.reply_to and illustration.opponent:
        text = ONLY_WRITE.format(_escaped(illustration.opponent))
        links.append(TEXT_LINK.format(link=escape(_answer("chat\r\n\r\n", mail)), text=text))
    return links


def _beginning(above: Sequence[Block], illustration: Illustration) -> Iterator[_Part]:
    """What has happened. Who is to move, or has won, is the largest line; above it the name of the board is small."""
    statuses = [block for block in above if isinstance(block, Paragraph) and own_mails.STATUS.fullmatch(block.text)]
    title = statuses[0] if statuses else above[0]
    for block in above:
        if isinstance(block, Rule):
            yield _fixed(block.text, TABLE_SIZE)._replace(gap=GAP)
            continue
        part = _prose(block.text)._replace(gap=GAP)
        if block is title:
            words = block.text
            if illustration.is_to_mover:
                mover = display_name(illustration.mover or "")
                words = words.replace(f"{mover}'s turn", "Your turn", 1)
            yield part._replace(html=_wrapping(words), style=TITLE_STYLE, gap=4)
        elif block is above[0]:
            yield part._replace(style=LABEL_STYLE, gap=4)
        else:
            yield part


def _seat(seat: SeatLine, reader: str) -> str:
    """A player next to the board, such as ``You (white): stones 15, groups 3, score -9``."""
    name = "You" if seat.player == reader else display_name(seat.player)
    text = f"<b>{_escaped(name)}</b> ({_escaped(seat.side)})"
    if seat.standing:
        text += f": {_escaped(seat.standing).replace(' -', '&nbsp;-')}"  # a sign stays with its number
    return SEAT.format(colour=seat.colour, text=text)


def _answer(text: str, mail: Mail) -> str:
    """The mailto link that begins an answer with nothing but a text in it, such as a move."""
    return (
        f"mailto:{quote(mail.reply_to or '', safe='@+')}?subject={_quoted(f'Re: {mail.subject}')}&body={_quoted(text)}"
    )


def link(command: NextCommand, mail: Mail, server_address: str) -> str:
    """The mailto link that begins an answer: with the move alone if the mail has a reply address."""
    if command.bare and mail.reply_to:
        return _answer(command.bare, mail)
    return f"mailto:{quote(server_address, safe='@+')}?subject={_quoted(command.text)}"


def _quoted(text: str) -> str:
    return quote(text, safe=":")


# Blocks


def _parts(block: Block, mail: Mail, server_address: str) -> Iterator[_Part]:
    """A block as it is shown. What is wider than a mail is broken as in its text."""
    match block:
        case NextCommand():
            target = link(block, mail, server_address)
            shown = _wrapping(texts.wrapped_text(block.text))
            if len(target) <= LONGEST_LINK:
                shown = TEXT_LINK.format(link=escape(target), text=shown)
            yield _Part(shown)
        case Moves():
            yield _Part(_wrapping("\n".join(_turn_by_turn(block))))
        case Comment():
            yield _fixed(f"{Rule().text}\n", TABLE_SIZE)
            yield _prose(block.said)
        case Table(rows, repeated=[_, *_]):
            yield _Part(f"{hypertext(rows)}\n", is_whole=True)
        case Table() | Preformatted() | Rule():
            yield _fixed(texts.wrapped_text(block.text), TABLE_SIZE)
        case Curve():
            yield _fixed(block.text, TABLE_SIZE)
        case Drawing():
            lines = texts.wrapped_text(block.text).split("\n")
            board = lines[: block.height]  # all of them, if there is no height
            legend = lines[len(board) :]
            if not legend:
                yield _fixed("\n".join(board), BOARD_SIZE)
            else:
                board.append("")
                yield _fixed("\n".join(board), BOARD_SIZE)
                yield _fixed("\n".join(legend), TABLE_SIZE)
        case _:
            yield _prose(block.text)


def _prose(text: str) -> _Part:
    """A text that wraps, in letters that are read with ease; but columns of blanks keep the letters that align."""
    style = WRAPPING if "  " in text else PROSE_STYLE
    return _Part(_wrapping(texts.wrapped_text(text)), style=style)


def _fixed(text: str, size: int) -> _Part:
    return _Part(_escaped(text), size, max(1, *map(len, text.split("\n"))))


def _turn_by_turn(moves: Moves) -> Iterator[str]:
    """The moves with a line for each turn, where the text has a column for each player."""
    yield f"Moves of {' and '.join(moves.sides)}"
    indent = max(len(f"{number}.") for number, *_ in moves.rounds)
    width = max(map(len, moves.players))
    for number, *turns in moves.rounds:
        shown = f"{number}."
        for name, turn in zip(moves.players, turns, strict=True):
            if turn:
                yield f"{shown:{indent}} {name:{width}}  {turn}"
                shown = ""


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def _wrapping(text: str) -> str:
    """A text that wraps, but in turns only behind commas and in front of cells to be removed."""
    return NOT_PLAIN.sub(_breaking, text)


def _breaking(word: re.Match[str]) -> str:
    parts: list[str] = []
    for part in re.split("(?<=,)(?=.)", word[0]):
        if len(part) > LONGEST_PART:
            parts += re.split(texts.FRONT_OF_CELL, part)
        else:
            parts.append(part)
    return "<wbr>".join(_unbroken(part) for part in parts)


def _unbroken(part: str) -> str:
    """A part of a word, on one line: browsers break lines behind a hyphen."""
    html = _escaped(part)
    if "-" in part[:-1] and len(part) <= LONGEST_PART:
        return WHOLE.format(html)
    return html
