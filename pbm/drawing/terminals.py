"""Pictures on the screen of a terminal, if it knows the protocol of Kitty, that of iTerm, or Sixel.

Its environment tells which one it knows, or the terminal itself when it is asked. Sixel is made with Pillow, which the
extra `sixel` brings.
"""

import os
import re
import termios
import tty
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from fcntl import ioctl
from functools import partial
from io import BytesIO
from select import select
from struct import unpack
from time import monotonic

from pbm.refusals import Refused

CHARACTERS_AT_ONCE = 4096
"""How many characters of a picture one command to Kitty may have."""
KITTY_PROGRAMS = frozenset({"ghostty", "WezTerm", "kitty"})
ITERM_PROGRAMS = frozenset({"iTerm.app", "mintty", "vscode"})
"""What programs that know one of the two protocols call themselves."""
SECONDS_TO_ANSWER = 1.0
"""How long a terminal has to say what it can; one that is far away takes a fifth of a second."""
ATTRIBUTES = re.compile(rb"\x1b\[\?\d+((?:;\d+)*)c")
"""The answer of a terminal, its class and what it can, such as ``ESC[?62;4;22c``."""
UNTOLD_WIDTH, MOST_OF_SIXEL = 800, 1000
"""Pixels: the width of a terminal that does not tell it; the greatest width and height of Sixel that xterm shows."""
OPAQUE = 128
"""The least opacity, of 255, of a pixel that is drawn."""
SIXEL_EXTRA = "Sixel is made with Pillow, which is not installed: pip install '.[sixel]' brings it."
BAND = 6
"""The height in pixels of a character of Sixel."""
SIXELS = bytes((pixels + 63) % 256 for pixels in range(256))
"""The character that colours some pixels of a column: 1 is the highest one, 2 the one below it, 3 both."""


def picture_protocol(environment: Mapping[str, str], terminal: int) -> Callable[[bytes], str] | None:
    """A function that writes a PNG for a terminal (a file descriptor) in its protocol; None if it shows no pictures."""
    program, kind = environment.get("TERM_PROGRAM", ""), environment.get("TERM", "dumb")
    if not kind.startswith(("screen", "tmux")):  # these drop pictures
        is_kitty = "KITTY_WINDOW_ID" in environment or "KONSOLE_VERSION" in environment
        if is_kitty or kind == "xterm-kitty" or program in KITTY_PROGRAMS:
            return to_kitty
        if program in ITERM_PROGRAMS or environment.get("LC_TERMINAL") == "iTerm2":
            return to_iterm
    if kind != "dumb" and knows_sixel(terminal):
        return partial(to_sixel, width=_width(terminal))
    return None


def knows_sixel(terminal: int) -> bool:
    """Whether a terminal says that it knows Sixel (``4`` among its primary device attributes).

    It is not asked if we are in the background, or if somebody has typed something already.
    """
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp() and b"4" in _attributes(terminal)
    except (OSError, termios.error):
        return False


def _attributes(terminal: int) -> list[bytes]:
    """The primary device attributes of a terminal; none if it does not answer."""
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal, termios.TCSANOW)  # the answer is neither shown nor waits for the end of a line
    try:
        if select([terminal], [], [], 0)[0]:
            return []
        os.write(terminal, b"\x1b[c")
        told, end = b"", monotonic() + SECONDS_TO_ANSWER
        while select([terminal], [], [], max(0, end - monotonic()))[0] and (some := os.read(terminal, 1024)):
            told += some
            if found := ATTRIBUTES.search(told):
                return found[1].split(b";")
        return []
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def _width(terminal: int) -> int:
    """The width of a terminal in pixels."""
    *_, width, _ = unpack("4H", ioctl(terminal, termios.TIOCGWINSZ, bytes(8)))
    return int(width) or UNTOLD_WIDTH


def to_kitty(png: bytes) -> str:
    """A picture for Kitty, Ghostty, WezTerm or Konsole (https://sw.kovidgoyal.net/kitty/graphics-protocol)."""
    text = b64encode(png).decode()
    chunks = [text[at : at + CHARACTERS_AT_ONCE] for at in range(0, len(text), CHARACTERS_AT_ONCE)]
    commands = []
    for number, chunk in enumerate(chunks, 1):
        begin = "a=T,f=100,q=2," if number == 1 else ""
        commands.append(f"\x1b_G{begin}m={int(number < len(chunks))};{chunk}\x1b\\")
    return "".join(commands) + "\n"


def to_iterm(png: bytes) -> str:
    """A picture for iTerm, and for others that know its protocol (https://iterm2.com/documentation-images.html)."""
    return f"\x1b]1337;File=inline=1;size={len(png)}:{b64encode(png).decode()}\x07\n"


def to_sixel(png: bytes, width: int = MOST_OF_SIXEL) -> str:
    """A picture in Sixel, for a terminal that is *width* pixels wide. Raises Refused if Pillow is not installed.

    The VT330/VT340 Programmer Reference Manual, volume 2, chapter 14, describes Sixel.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise Refused(SIXEL_EXTRA) from error
    picture = Image.open(BytesIO(png)).convert("RGBA")
    picture.thumbnail((min(width, MOST_OF_SIXEL), MOST_OF_SIXEL))
    picture = picture.quantize()
    palette, indices = picture.getpalette("RGBA") or [], picture.tobytes()
    opaque = {number for number, alpha in enumerate(palette[3::4]) if alpha >= OPAQUE}
    percents = [round(part / 2.55) for part in palette]
    colours = [f"#{n};2;{';'.join(map(str, percents[4 * n : 4 * n + 3]))}" for n in opaque]
    rows = [indices[at : at + picture.width] for at in range(0, len(indices), picture.width)]
    bands = ["$".join(_band(rows[at : at + BAND], opaque)) for at in range(0, len(rows), BAND)]
    return f'\x1bP0;1q"1;1;{picture.width};{picture.height}{"".join(colours)}{"-".join(bands)}\x1b\\\n'


def _band(rows: Sequence[bytes], colours: set[int]) -> Iterator[str]:
    """At most `BAND` rows of pixels: a line of Sixel for each colour in them."""
    for colour in sorted(colours & {*b"".join(rows)}):
        is_it = bytes(colour) + b"\1" + bytes(255 - colour)
        pixels = sum(int.from_bytes(row.translate(is_it)) << number for number, row in enumerate(rows))
        line = pixels.to_bytes(len(rows[0])).translate(SIXELS).decode().rstrip("?")
        yield f"#{colour}" + re.sub(r"(.)\1{3,}", lambda run: f"!{len(run[0])}{run[1]}", line)
