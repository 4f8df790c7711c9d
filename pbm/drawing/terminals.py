"""A picture on the screen of a terminal, where the terminal has a protocol for that."""

from base64 import b64encode
from collections.abc import Callable, Mapping

CHARACTERS_AT_ONCE = 4096
"""How many characters of a picture a command to Kitty may have."""
KITTY_PROGRAMS = frozenset({"ghostty", "WezTerm", "kitty"})
ITERM_PROGRAMS = frozenset({"iTerm.app", "mintty", "vscode"})
"""What programs that know one of the two protocols call themselves."""


def picture_protocol(environment: Mapping[str, str]) -> Callable[[bytes], str] | None:
    """How the terminal with these environment variables is told to show a PNG; None if it cannot."""
    if environment.get("TERM", "").startswith(("screen", "tmux")):  # what is between swallows it
        return None
    program = environment.get("TERM_PROGRAM", "")
    is_kitty = "KITTY_WINDOW_ID" in environment or "KONSOLE_VERSION" in environment
    if is_kitty or environment.get("TERM") == "xterm-kitty" or program in KITTY_PROGRAMS:
        return to_kitty
    if program in ITERM_PROGRAMS or environment.get("LC_TERMINAL") == "iTerm2":
        return to_iterm
    return None


def to_kitty(png: bytes) -> str:
    """What makes Kitty, Ghostty, WezTerm or Konsole show a picture (https://sw.kovidgoyal.net/kitty/graphics-protocol)."""
    text = b64encode(png).decode()
    chunks = [text[at : at + CHARACTERS_AT_ONCE] for at in range(0, len(text), CHARACTERS_AT_ONCE)]
    commands = []
    for number, chunk in enumerate(chunks, 1):
        begin = "a=T,f=100,q=2," if number == 1 else ""
        commands.append(f"\x1b_G{begin}m={int(number < len(chunks))};{chunk}\x1b\\")
    return "".join(commands) + "\n"


def to_iterm(png: bytes) -> str:
    """What makes iTerm, or a terminal that learned it from there, show one (https://iterm2.com/documentation-images.html)."""
    return f"\x1b]1337;File=inline=1;size={len(png)}:{b64encode(png).decode()}\x07\n"
