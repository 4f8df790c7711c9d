"""How people type plans: a line begins with `if`, as in ``If C3, then D4.`` or ``- if c3 d4 if e5 -> f6``."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from games import Illegal
from pbm.actions import plans
from pbm.board.plan_lines import ANY_MOVE, Conditional, PlanLine
from pbm.language import words
from pbm.language.masking import is_turn
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import BoardRow
from pbm.texts import NARROWEST, latin, written

MARKS_AROUND = " \t\"'`*_()[]<>\xab\xbb\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u300c\u300d"
"""What people put around a move, or around a whole line."""
MARKS_BEHIND = ".!;:,\u2026"
"""What people put behind a move."""
BEGIN = r"(?i)[^\w\n]*(?:(?:\d{1,3}|[a-z])[.)]\s*)?if\b[^\S\n]*"
"""The beginning of a line of a plan, with a bullet, a number or a quotation mark in front: ``1. If`` or ``- "if``."""
THEN = (
    r"(?i) ?,? ?\bthen\b ?[,:]? ?| ?(?:(?<![-=])[-=]+>|[\u2190-\u21ff\u2794-\u27bf\u27f0-\u27ff]) ?"
    r"| [-\u2013\u2014](?: |$)|: "
)
"""What stands between a move and its answer: ``, then``, ``->``, ``→``, a dash between blanks, or a colon."""
MOVE_BEGIN = (
    r"(?i)\S*\d|--|\W*(any|pass|swap|black|white|x|resign|unresign|undo|propose|accept|reject|then)\b"
    r"|(?>.*?\bthen\b).*\d"
)
"""What begins a condition, and not prose: a word with a digit, one of these words, or any with a `then` and a digit."""
WHO_PLAYS = r"(?i)\b(?:(?!then\b|any\b)[a-z'\u2019]{1,20} )?(?:plays?|answers?) "
"""What people put in front of a move: ``plays``, ``bob answers``."""
BROKEN_WITHIN = r"(?i)(?:\b(?:then|if(?:\s+\S+)?)|[->\u2010-\u2015\u2190-\u21ff])\n|\n\W*then\b"
"""Where a line of a plan was broken within a step: behind ``then``, ``if``, ``if c3`` or an arrow, or at a ``then``."""
BROKEN_AT_IF = r"(?i)\b(?:and|then)\s*\n\s*if\b|(?:^|;)[^\w\n;]*(?:(?:\d{1,3}|[a-z])[.)]\s*)?(?:and\s+)?if\s*\n"
"""Where two rows are one, although the second one begins a line, or the first one seems to be whole.

Examples are ``if c3 d4 and`` above ``if e5 f6``, and ``If`` alone above ``c3 d4``.
"""
ROW_GOES_ON = r"(?i)\W*(?:then\s+if\b|(?:then|and\s+if)\s+(?:\S*\d|any\b|--))"
"""What begins a row that goes on with a whole line, as ``then if e5`` does, and prose such as ``Then so be it`` not."""
ROW_END = r"(?i)\n|;(?=[^\S\n]*if\b)"
"""Where another row begins: a semicolon in front of `if` is as good as the end of a line."""
SENTENCE_END = r"(?i)[.!]\s+if\s+"
"""Where it is not clear whether another line begins: ``if c3 then d4. if e5 then f6``."""
MOST_READINGS = 9
"""How many readings are told of a line that has several."""
HOW = "a line of a plan is written `if THEIRS then MINE`"


def plan_typed(session: Session, row: BoardRow, name: str, typed: Sequence[str]) -> list[Letter]:
    """Store, show or forget a plan, as the words behind `plan` and the body say. Raises Illegal."""
    first = " ".join(typed)
    text = f"{first}\n{session.body}".strip()
    if plans.CLEAR in {first.lower(), text.lower()}:
        return plans.forget(session, row, name)
    lines, rest = split_plan(text)
    if rest and not lines:
        quoted = f"{first}\n{session.comment}".strip().partition("\n")[0]  # unlike in the body, passwords are masked
        raise Illegal(f"{quoted!r} is no line of a plan; {HOW}.")
    notes = ["The text below your plan was sent to nobody; `chat` sends one."] if rest else []
    return plans.plan(session, row, name, [read(line) for line in lines], *notes)


def without_plan(session: Session) -> tuple[Session, list[PlanLine]]:
    """The session with what stands below the plan as its comment, and the plan. Raises Illegal."""
    if not session.body:  # as with most moves
        return session, []
    lines, rest = split_plan(session.body)
    above = written(session.body.removesuffix(rest)) if lines else ""
    if above:  # these lines of the comment, in which long ones are broken
        comment = "\n".join(session.comment.split("\n")[above.count("\n") + 1 :])
        session = replace(session, comment=comment.strip("\n"))
    return session, [read(line) for line in lines]


def is_line(row: str) -> bool:
    """Whether a row begins like a line of a plan, and not like prose, such as ``If only I had seen that!``."""
    begin = re.match(BEGIN, row)
    return bool(begin and re.compile(MOVE_BEGIN).match(row, begin.end()))


def split_plan(text: str) -> tuple[list[str], str]:
    """The lines of a plan at the beginning of a text, and the text below them. A semicolon begins another line.

    A line that a mail program has broken is put together: its second part begins with `then` or goes on with a turn, or
    the first part lacks an answer.
    """
    lines: list[str] = []
    moves = 0  # in the last step of the line so far; 2 if it has its answer
    above = ""  # the row above, if it is of the same line
    joined = "\n".join(_joined(text.split("\n")))  # as long as the text
    starts = [0]
    ends = []
    for row_end in re.finditer(ROW_END, joined):
        ends.append(row_end.start())
        starts.append(row_end.end())
    ends.append(len(joined))
    for start, end in zip(starts, ends, strict=True):
        row = joined[start:end]
        part = row.strip()
        if not part:
            continue
        if is_line(row):
            lines.append(row)
            moves = 0
            above = ""
        elif lines and (
            joined[start - 1] == ";"  # prose there is refused with the line: it is no line of the comment
            or re.match(ROW_GOES_ON, row)
            or moves < 2
            or (re.match(MOVE_BEGIN, part) and words.goes_on(above, part))
        ):
            lines[-1] += f" {row}"
        else:
            return lines, text[start:]

        # Count the moves of this row alone, and not of the whole line again: it may have many rows.
        *steps_before, last_step = _steps(f"if {row}" if above else row)
        count = sum(map(len, last_step))
        if not steps_before:  # the row goes on with the step of the row above
            count += moves
            begins_within_move = moves > 0 and any(last_step[:1]) and words.goes_on(above, part)
            if begins_within_move:
                count -= 1
        moves = count
        above = part
    return lines, ""


def _joined(rows: Sequence[str]) -> list[str]:
    """The rows of a text, joined where a mail program has broken them in front of `if` because that word had no room.

    They are joined only if another row is broken within a step: that shows that a program has broken rows.
    """
    width = max(map(len, rows))
    is_broken = any(
        len(above) >= NARROWEST and re.search(BROKEN_WITHIN, f"{above}\n{row}") for above, row in pairwise(rows)
    )
    joined = [rows[0]]
    for above, row in pairwise(rows):
        has_no_room = is_broken and len(above) + len(" if") > width and re.match(r"if\b", row, re.IGNORECASE)
        if has_no_room or re.search(BROKEN_AT_IF, f"{above}\n{row}"):
            joined[-1] += f" {row}"
        else:
            joined.append(row)
    return joined


def read(text: str) -> PlanLine:
    """A line of a plan. Raises Illegal, with the readings of a line that has several."""
    pieces = re.split(SENTENCE_END, re.sub(BEGIN, "if ", text.strip(), count=1))
    if len(pieces) > 1:
        raise Illegal(f"This can be `{' if '.join(pieces)}` or `{'; if '.join(pieces)}`; please write one of these.")
    return tuple(_step(sides, text.strip()) for sides in _steps(text))


def _steps(text: str) -> list[list[list[str]]]:
    """The moves on both sides of `then`, for each step: ``[[["c3"], ["d4"]]]``. Without `then`, each move is a side."""
    plain = re.sub(r"\s+", " ", latin(text))
    text = re.sub(r"[\u2010-\u2015\u2212](?=[a-z]\d)", "-", plain, flags=re.IGNORECASE)  # mail programs write dashes
    text_alone = re.sub(WHO_PLAYS, "", re.sub(BEGIN, "", text, count=1))
    parts = re.split(r"\b(?:(?:and|then) ){0,2}if\b", text_alone, flags=re.IGNORECASE)
    steps = []
    for part in parts:
        alone = part.lstrip(MARKS_AROUND).rstrip(f" {MARKS_BEHIND}")  # an arrow may end it
        sides = [_moves(side) for side in re.split(THEN, alone)]
        steps.append(sides)
        if len(sides) == 1:
            moves = sides.pop()
            if len(moves) == 3 and moves[1] == "--":
                del moves[1]  # a dash, as some type it, and not the pass
            sides += [[move] for move in moves]
    return steps


def _step(sides: list[list[str]], line: str) -> Conditional:
    """A move of the opponent and its answer. Raises Illegal."""
    if [len(side) for side in sides] == [1, 1]:
        [theirs], [mine] = sides
        if theirs.lower() == ANY_MOVE:
            theirs = ANY_MOVE
        return Conditional(theirs, mine)
    if not sides or len(sides[0]) != 1 or any(sides[1:]):
        raise Illegal(f"{line!r} cannot be read; {HOW}, without blanks within a move.")
    [theirs] = sides[0]
    if "," not in theirs:
        shown = theirs if is_turn(theirs) else repr(theirs)
        raise Illegal(f"{line!r} has no answer to {shown}; {HOW}.")
    cells = theirs.split(",", MOST_READINGS)
    readings = []
    for count in range(1, len(cells)):
        readings.append(f"`if {','.join(cells[:count])} then {','.join(cells[count:])}`")
    raise Illegal(f"{line!r} can be {', '.join(readings)} or `if {theirs} then MINE`; please write `then`.")


def _moves(text: str) -> list[str]:
    """The moves in a text, without what people put around and behind them."""
    return [
        word.strip(MARKS_AROUND).rstrip(MARKS_BEHIND)
        for word in words.one_move(text.strip(MARKS_AROUND + MARKS_BEHIND))
    ]
