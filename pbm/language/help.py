"""Help: texts from the folder ``help``, and what the commands say of themselves."""

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill, indent

import games
from pbm import letters, texts
from pbm.blocks import Paragraph, Preformatted
from pbm.language import words
from pbm.language.commands import root
from pbm.language.grammar import Explained
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session

EMPTY_LINE = "\n\n"
HELP_FOLDER = Path(__file__).parents[2] / "help"
"""The folder of the texts: beside the packages, in a checkout as in an installation."""
SPACED = r"\S {2,}\S"
"""Two blanks between words: in the texts of help they stand only in tables."""
TOPICS = {
    "Play": "challenge rematch move plan queue submit confirm preview resign swap",
    "Look at boards and lists": "show showas note games history analyse standings all-show all-games list dice",
    "Write to others": "chat nag give message broadcast block unblock",
    "Follow games of others": "subscribe unsubscribe notify",
    "Find opponents": "seek all-seekers accept reject limit",
    "Take part in tournaments": "table join leave bye tournament",
    "Choose your mails, times and days off": "GAME-mail mail puzzles timezone vacation",
    "Your userid, password and addresses": "signup confirm-address change-password change-address reset signoff",
    "Help, and several commands at once": "help GAME-help multiple",
}
"""The commands by topic, for `help commands`. Hyphens join the words of a name, and GAME stands only where it must."""
MOST_SUBJECTS = 10
"""How many subjects are explained at a time."""


def explain(_: Session | None, subjects: Sequence[str]) -> list[Letter]:
    """Help on some subjects; several words can be one command."""
    phrase = " ".join(subjects).lower()
    once = dict.fromkeys([phrase] if _commands(phrase) else map(str.lower, subjects or [""]))
    return [help_letter(subject) for subject in [*once][:MOST_SUBJECTS]]


def help_of_game(_: Session | None, game: str, command: str) -> list[Letter]:
    """Help on a game, or on one of its commands."""
    return [help_letter(command.lower() or game)]


def help_letter(subject: str) -> Letter:
    """Help on a subject: a game, a command, a text of its own, or nothing for the overview. Raises Refused."""
    title = f"Help {subject}".strip()
    parts = _text(subject).split(EMPTY_LINE)
    # what has more than one blank between words keeps its lines
    told = [(Preformatted if re.search(SPACED, part) else Paragraph)(part) for part in parts]
    return letters.plain_letter(told, subject=title, answer="help commands" if subject else "help tutorial")


def subjects() -> list[str]:
    """The subjects that have a text of their own, and are no games."""
    return sorted(path.stem for path in HELP_FOLDER.glob("*.txt") if not games.exists(path.stem))


def _text(subject: str) -> str:
    if not subject:
        return f"{_read('overview')}\n\nGames: {', '.join(games.names())}"
    if subject == "commands":
        return _all()
    if games.exists(subject):
        return of_game(subject)
    if subject in subjects():
        return _read(subject)
    meant = "move" if subject in words.MEANT_AS_MOVES else words.command(subject)
    found = _commands(meant) or [one for one in root.explained() if meant in one.name.split()]
    if not found:
        known = {*subjects(), *games.names(), *(one.name.removeprefix("GAME ") for one in root.explained())}
        near = games.nearest(words.MEANT.get(subject, subject), known - {"help"})
        what = f"did you mean `help {near}`?" if near else "`help` lists the subjects."
        raise Refused(f"There is no help on {subject!r}; {what}")
    return "\n\n\n".join(f"  {one.syntax}\n\n{_filled(one.text)}" for one in found)


def _commands(name: str) -> list[Explained]:
    """The commands of that name, with or without GAME in front."""
    return [one for one in root.explained() if name in {one.name, one.name.removeprefix("GAME ")}]


def _all() -> str:
    """The commands that every player needs, then all commands by topic, each with its first paragraph."""
    named = {one.name.replace(" ", "-"): one for one in root.explained()}
    parts = [_read("commands")]
    for topic, names in TOPICS.items():
        parts.append(topic.upper())
        for name in names.split():
            one = named.get(name) or named[f"GAME-{name}"]
            short = _filled(one.text.partition(EMPTY_LINE)[0], texts.WIDTH - 4)
            parts.append(f"{one.syntax}\n{indent(short, '    ')}")
    return EMPTY_LINE.join([*parts, _read("grammar"), _read("operator")])


def _filled(text: str, width: int = texts.WIDTH) -> str:
    """A help text with its paragraphs broken into lines of that many columns."""
    return EMPTY_LINE.join(fill(paragraph, width) for paragraph in text.split(EMPTY_LINE))


def of_game(name: str) -> str:
    """The help file of a game; that of a game from another package stands beside its module."""
    module = games.load(name)
    beside = Path(getattr(module, "__file__", "")).with_name(f"{name}.txt")
    for path in (HELP_FOLDER / f"{name}.txt", beside):
        if path.is_file():
            return path.read_text().rstrip()
    return (module.__doc__ or "").rstrip()


def _read(name: str) -> str:
    return (HELP_FOLDER / f"{name}.txt").read_text().rstrip()
