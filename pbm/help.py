"""Help: texts from the folder ``help``, and what the commands say of themselves."""

from pathlib import Path
from textwrap import fill, indent
from typing import TYPE_CHECKING

import games
from pbm import letters, words
from pbm.letters import Letter
from pbm.session import Refused

if TYPE_CHECKING:
    from pbm.commands import Root

FOLDER = Path(__file__).parent.parent / "help"
"""Beside the packages, in a checkout as in an installation."""
EMPTY_LINE = "\n\n"


def letter(subject: str, root: "Root") -> Letter:
    """Help on a subject: a game, a command, a text of its own, or nothing for the overview. Raises Refused."""
    title = f"Help {subject}".strip()
    return letters.note(_text(subject, root), subject=title, answer="help commands" if subject else "help tutorial")


def _text(subject: str, root: "Root") -> str:
    if not subject:
        return f"{_read('overview')}\n\nGames: {', '.join(games.names())}"
    if subject == "tutorial":
        return _read(subject)
    if subject == "commands":
        return _commands(root)
    if games.exists(subject):
        return _of_game(subject)
    meant = words.command(subject)
    found = [f"  {line.syntax(name)}\n\n{_filled(line.help)}" for name, line in root.lines() if meant in name.split()]
    if not found:
        raise Refused(f"There is no help on {subject!r}; `help` lists the subjects.")
    return "\n\n\n".join(found)


def _commands(root: "Root") -> str:
    """All commands with the first line of their help."""
    parts = [
        f"{line.syntax(name)}\n{indent(_filled(str(line.help).partition(EMPTY_LINE)[0], 74), '    ')}"
        for name, line in root.lines()
    ]
    return "\n\n".join([_read("grammar"), *parts])


def _filled(text: str | None, width: int = letters.WIDTH) -> str:
    """A help text with its paragraphs broken into lines of that many columns."""
    return EMPTY_LINE.join(fill(paragraph, width) for paragraph in str(text).split(EMPTY_LINE))


def _of_game(name: str) -> str:
    """The help file of a game; that of a game from another package stands beside its module."""
    own = FOLDER / f"{name}.txt"
    module = games.load(name)
    beside = Path(getattr(module, "__file__", "")).with_suffix(".txt")
    for path in (own, beside):
        if path.is_file():
            return path.read_text().rstrip()
    return (module.__doc__ or "").rstrip()


def _read(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text().rstrip()
