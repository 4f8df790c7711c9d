"""Several commands in the body of one mail."""

from collections.abc import Iterator
from typing import Any

from pbm import letters
from pbm.budget import Budget
from pbm.grammar import Front, Root, quoted, refusal, run
from pbm.letters import Letter
from pbm.session import Refused, Session

MOST_LINES = 50
"""How many commands one mail may have."""
MOST_CHARACTERS = 200_000
"""How long the gathered answer may grow before no more commands are taken."""
ENDS = "end", "quit", "--", "-- "


def multiple(session: Session, tree: Root) -> list[Letter]:
    """Carry out the commands in the body, a line each; one that is refused does not stop the others.

    What answers them directly is one letter. All is one transaction.
    """
    if session.gathered is not None:
        raise Refused("A line of `multiple` cannot be `multiple` again.")
    lines = list(_lines(session.body))
    if not lines:
        raise Refused("`multiple` needs commands: a line each in the body of the mail, or --comment=- in a shell.")
    if len(lines) > MOST_LINES:
        raise Refused(f"These are {len(lines)} commands; one mail may have {MOST_LINES}.")
    with session.writing():
        parts: list[str] = []
        answered: list[dict[str, Any]] = []
        budget = Budget()
        for line in lines:
            if budget.is_spent or sum(map(len, parts)) > MOST_CHARACTERS:
                parts.append("This has grown too much; the commands from here on are not carried out.")
                answered.append({"error": parts[-1], "status": 1})
                break
            answers = _answers(session, tree, line)
            answered.append(letters.as_one(letter.data for letter in answers))
            text = "\n\n".join(letter.data.get("error", letter.body) for letter in answers) or "Done."
            parts.append(f"> {quoted(tree, line)}\n\n{text}")
        data = {"answers": answered, "status": max(int(one.get("status", 0)) for one in answered)}
        text = f"\n\n{letters.ASTERISKS}\n".join(parts)
        return session.answer(None, letters.note(text, subject="multiple", answer="help multiple", data=data))


def _answers(session: Session, tree: Root, line: str) -> list[Letter]:
    """What one command answers directly, be it a refusal."""
    gathered: list[Letter] = []
    alone = session._replace(comment="", body="", gathered=gathered)
    try:
        with session.store.transaction():
            printed = run(tree, [line], Front(lambda: alone, prints=session.in_shell))
    except Refused as why:
        return [refusal(why, tree, [line])]
    return [*printed, *gathered]


def _lines(body: str) -> Iterator[str]:
    """The commands in a body."""
    for line in body.splitlines():
        if line.strip().lower() in ENDS or line == "-- ":
            return
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()
