"""Pictures on the screen of a terminal, if its environment says that it knows the protocol of Kitty or of iTerm."""

from base64 import b64encode
from collections.abc import Callable, Mapping

CHARACTERS_AT_ONCE = 4096
"""How many characters of a picture one command to Kitty may have."""
KITTY_PROGRAMS = frozenset({"ghostty", "WezTerm", "kitty"})
ITERM_PROGRAMS = frozenset({"iTerm.app", "mintty", "vscode"})
"""What programs that know one of the two protocols call themselves."""


def picture_protocol(environment: Mapping[str, str]) -> Callable[[bytes], str] | None:
    """A function that writes a PNG for a terminal with this environment; None if it shows no pictures."""
    program = environment.get("TERM_PROGRAM", "")
    kind = environment.get("TERM", "")
    if kind.startswith(("screen", "tmux")):  # these drop pictures
        return None
    is_kitty = "KITTY_WINDOW_ID" in environment or "KONSOLE_VERSION" in environment
    if is_kitty or kind == "xterm-kitty" or program in KITTY_PROGRAMS:
        return to_kitty
    if program in ITERM_PROGRAMS or environment.get("LC_TERMINAL") == "iTerm2":
        return to_iterm
    return None


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
