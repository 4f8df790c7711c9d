"""Help: texts from the folder ``help``, and what the commands say of themselves."""

import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill, indent

import games
from pbm import letters, texts
from pbm.blocks import Block, Paragraph, Preformatted
from pbm.language import words
from pbm.language.commands import root
from pbm.language.grammar import Explained
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session

EMPTY_LINE = "\n\n"
HELP_FOLDER = Path(__file__).parents[2] / "help"
"""The folder of the texts: next to the packages, in a checkout and in an installation."""
SPACED = r"\S {2,}\S"
"""Two blanks between words: in the texts of help they stand only in tables."""
TOPICS = {
    "Play": "challenge rematch move plan queue submit confirm preview resign swap",
    "Look at boards and lists": "show showas note games history analyse standings all-show all-games list dice",
    "Write to others": "chat talk nag give message broadcast block unblock",
    "Follow games of others": "subscribe unsubscribe notify",
    "Find opponents": "seek all-seekers accept reject limit",
    "Take part in tournaments": "table join leave bye tournament",
    "Choose your mails, times and days off": "GAME-mail mail notices puzzles timezone vacation",
    "Your userid, password and addresses": "signup confirm-address change-password change-address reset signoff",
    "Let programs play for you": "token tokens",
    "Help, and several commands at once": "help GAME-help multiple",
}
"""The commands by topic, for `help commands`. Hyphens join the words of a name, and GAME stands only where it must."""
MOST_SUBJECTS = 10
"""How many subjects are explained at a time."""


def explain(_: Session | None, subjects: Sequence[str]) -> list[Letter]:
    """Help on some subjects; several words can be one command."""
    phrase = " ".join(subjects).lower()
    wanted = [subject.lower() for subject in subjects]
    if _commands(phrase):
        wanted = [phrase]
    if not wanted:
        wanted = [""]  # the overview
    once = list(dict.fromkeys(wanted))
    return [help_letter(subject) for subject in once[:MOST_SUBJECTS]]


def help_of_game(_: Session | None, game: str, command: str) -> list[Letter]:
    """Help on a game, or on one of its commands."""
    return [help_letter(command.lower() or game)]


def help_letter(subject: str) -> Letter:
    """Help on a subject: a game, a command, a text of its own, or nothing for the overview. Raises Refused."""
    title = f"Help {subject}".strip()
    parts = _text(subject).split(EMPTY_LINE)
    blocks: list[Block] = []
    for part in parts:
        if re.search(SPACED, part):
            blocks.append(Preformatted(part))
        else:
            blocks.append(Paragraph(part))
    answer = "help commands" if subject else "help tutorial"
    return letters.plain_letter(blocks, subject=title, answer=answer)


def subjects() -> list[str]:
    """The subjects that have a text of their own, and are no games."""
    return sorted(path.stem for path in HELP_FOLDER.glob("*.txt") if not games.exists(path.stem))


def _text(subject: str) -> str:
    """The text about a subject. Raises Refused, with a subject that is near, if there is none."""
    if not subject:
        return f"{_read('overview')}\n\nGames: {', '.join(games.names())}"
    if subject == "commands":
        return _all()
    if games.exists(subject):
        return of_game(subject)
    if subject in subjects():
        return _read(subject)
    meant = "move" if subject in words.MEANT_AS_MOVES else words.command(subject)
    commands = _commands(meant)
    if not commands:  # those of which it is one word, as of `change password`
        commands = [command for command in root.explained() if meant in command.name.split()]
    if not commands:
        known = {command.name.removeprefix("GAME ") for command in root.explained()}
        known.update(subjects(), games.names())
        near = games.nearest(words.MEANT.get(subject, subject), known - {"help"})
        what = f"did you mean `help {near}`?" if near else "`help` lists the subjects."
        raise Refused(f"There is no help on {subject!r}; {what}")
    return "\n\n\n".join(f"  {command.syntax}\n\n{_filled(command.text)}" for command in commands)


def _commands(name: str) -> list[Explained]:
    """The commands of that name, with or without GAME in front."""
    return [command for command in root.explained() if name in {command.name, command.name.removeprefix("GAME ")}]


def _all() -> str:
    """The commands that every player needs, then all commands by topic, each with its first paragraph."""
    by_name = {command.name.replace(" ", "-"): command for command in root.explained()}
    parts = [_read("commands")]
    for topic, names in TOPICS.items():
        parts.append(topic.upper())
        for name in names.split():
            command = by_name.get(name) or by_name[f"GAME-{name}"]
            summary = _filled(command.text.partition(EMPTY_LINE)[0], texts.WIDTH - 4)
            parts.append(f"{command.syntax}\n{indent(summary, '    ')}")
    parts.append(_read("grammar"))
    parts.append(_read("operator"))
    return EMPTY_LINE.join(parts)


def _filled(text: str, width: int = texts.WIDTH) -> str:
    """A help text with its paragraphs broken into lines of that many columns."""
    return EMPTY_LINE.join(fill(paragraph, width) for paragraph in text.split(EMPTY_LINE))


def of_game(name: str) -> str:
    """The help file of a game; for a game from another package, it is in the folder of its module."""
    module = games.load(name)
    beside = Path(getattr(module, "__file__", "")).with_name(f"{name}.txt")
    for path in (HELP_FOLDER / f"{name}.txt", beside):
        if path.is_file():
            return path.read_text().rstrip()
    return (module.__doc__ or "").rstrip()


def _read(name: str) -> str:
    """A text of the folder."""
    return (HELP_FOLDER / f"{name}.txt").read_text().rstrip()
