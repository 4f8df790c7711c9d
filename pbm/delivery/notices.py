"""Notices: one sentence for a user by another way than mail, such as a telephone or the user's own program.

A notice is stored for each target of its reader that they have confirmed. `pbm.notices.sending` sends it.
"""

from typing import NamedTuple

from pbm.blocks import Comment
from pbm.letters import Letter, status_of, title
from pbm.server import Server
from pbm.session import Session
from pbm.store.notices import Target

WEBHOOK = "https"
"""The kind of targets that are programs of the user."""
MOST_WAITING_NOTICES = 100
"""How many notices wait for one target; older ones are forgotten."""
LONGEST_DETAIL = 2000
"""How many characters of what somebody has written a notice has."""


class Occasion(NamedTuple):
    """What a letter is about, for a notice."""

    about: str
    """``turn``, ``end`` or ``text``, as in `store.notices.Notice`."""
    text: str
    """A sentence about it, without a word that anybody has written."""
    detail: str | None
    """What somebody has written with it."""


def schemes(server: Server) -> frozenset[str]:
    """What may stand in front of ``://``: each kind that the operator allows, also encrypted, as ``ntfys`` is."""
    kinds = server.notice_kinds
    encrypted = [f"{kind}s" for kind in kinds]
    return frozenset(kinds).union(encrypted)


def deliver(session: Session, letter: Letter) -> None:
    """Store a notice for each target of the reader: that it is their turn, a game is over, or somebody has written.

    Whether mails come at once, in a digest or not at all makes no difference: who adds a target wants notices there.
    """
    if letter.to is None:
        return
    targets = [target for target in session.store.notices.targets(letter.to) if target.confirmed and target.due]
    occasion = _occasion(letter) if targets else None
    if occasion is None:
        return
    for target in targets:
        session.store.notices.queue(
            target.id,
            occasion.about,
            occasion.text,
            session.now,
            detail=occasion.detail if target.is_full else None,
            game=letter.game or None,
            board=letter.board or None,
            moves=letter.point.moves if letter.point else None,
        )
        session.store.notices.trim(target.id, MOST_WAITING_NOTICES)


def queue_code(session: Session, target: Target, code: str) -> None:
    """Store the notice with the code that confirms a target."""
    # the userid is all it quotes of what a stranger has written
    text = (
        f"Somebody wants notices for the user {target.userid} of the play-by-mail server {session.server.host} to come "
        f"here. If it was you: notices {target.userid} PASSWORD confirm {code}"
    )
    session.store.notices.queue(target.id, "code", text, session.now, detail=code)


def _occasion(letter: Letter) -> Occasion | None:
    """What a letter is about; None if it is no occasion for a notice."""
    writer = ""
    detail = None
    for block in letter.blocks:
        if isinstance(block, Comment) and block.writer != letter.to:
            writer = block.writer or "Somebody"
            detail = block.words[:LONGEST_DETAIL]
    point = letter.point
    if point and point.is_present and letter.board and letter.kind == "board":
        text = f"{title(point)}: {status_of(point)}"
        if letter.reminds:
            text = f"Reminder: {text}"
        if writer:
            text += f" {writer} has written something."
        if point.is_over:
            return Occasion("end", text, detail)
        if point.mover == letter.to:
            return Occasion("turn", text, detail)
    if not writer:
        return None
    if letter.board:
        return Occasion("text", f"{writer} has written on {letter.game.capitalize()} board {letter.board}.", detail)
    return Occasion("text", f"{writer} has written to you.", detail)
