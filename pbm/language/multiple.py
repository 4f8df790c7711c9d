"""Several commands in the body of one mail."""

from collections.abc import Iterator
from typing import Any

from pbm import delivery, letters, texts
from pbm.budget import Budget
from pbm.language import words
from pbm.language.dispatch import run
from pbm.language.front import Front
from pbm.language.grammar import Root
from pbm.language.line import Line
from pbm.language.quoting import refusal
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import WouldWrite

MOST_COMMANDS = 50
"""How many commands one mail may have."""
MOST_ANSWERED = 200_000
"""How long the gathered answer may grow before no more commands are taken."""
LAST_LINES = "end", "quit", "--"


def each_line(session: Session, tree: Root) -> list[Letter]:
    """Carry out the commands in the body, a line each; one that is refused does not stop the others.

    What answers them directly is one letter. All is one transaction.
    """
    if session.gathered is not None:
        raise Refused("A line of `multiple` cannot be `multiple` again.")
    lines = list(_lines(session.body))
    if not lines:
        raise Refused("`multiple` needs commands: a line each in the body of the mail, or --comment=- in a shell.")
    if len(lines) > MOST_COMMANDS:
        raise Refused(f"These are {len(lines)} commands; one mail may have {MOST_COMMANDS}.")
    if not session.in_shell and not session.is_from_user:
        raise Refused("`multiple` by mail is for users, from an address that they have confirmed.")
    with session.store.transaction():
        parts: list[str] = []
        answered: list[dict[str, Any]] = []
        budget = Budget(in_shell=session.in_shell)
        for typed in lines:
            if budget.is_spent or sum(map(len, parts)) > MOST_ANSWERED:
                parts.append("This has grown too much; the commands from here on are not carried out.")
                answered.append({"error": parts[-1], "status": 1})
                break
            line = Line.read(tree, typed)
            answers = _answers(session, line)
            answered.append(letters.as_one(letter.data for letter in answers))
            told = (letter.data.get("error") or "".join([letter.body, *letter.rest]) for letter in answers)
            text = "\n\n".join(told) or "Done."
            parts.append(f"> {line.masked(session.store.is_taken).text}\n\n{text}")
        session.begin_writing()
        data = {"answers": answered, "status": max(int(one.get("status", 0)) for one in answered)}
        text = f"\n\n{texts.ASTERISKS}\n".join(parts)
        return delivery.answer(session, None, letters.note(text, subject="multiple", answer="help multiple", data=data))


def _answers(session: Session, line: Line) -> list[Letter]:
    """What one command answers directly, be it a refusal."""
    gathered: list[Letter] = []
    alone = session._replace(comment="", body="", gathered=gathered)
    try:
        with session.store.transaction():
            printed = run(line, Front(lambda: alone, prints=session.in_shell))
    except Refused as why:
        return [refusal(why, line, is_user=session.store.is_taken)]
    except WouldWrite:  # in a rehearsal, which goes on to the passwords of the other lines
        return []
    return [*printed, *gathered]


def _lines(body: str) -> Iterator[str]:
    """The commands in a body."""
    lines, at = [line for line in body.splitlines() if not line.lstrip().startswith("#")], 0
    while at < len(lines):
        line, count = words.whole_turn(lines, at)
        if line.lower() in LAST_LINES:
            return
        if line:
            yield line
        at += count
