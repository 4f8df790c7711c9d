"""Address letters as mail: their recipients, the addresses of these, and what waits for a digest."""

import quopri

from pbm import blocks, letters, texts
from pbm.access import tokens
from pbm.blocks import Paragraph
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import HeldMail, Mail, Reply

MOST_WAITING = 200
"""How many mails wait for a user who has no address that works; older ones are forgotten."""
MOST_BYTES_TO_STRANGER = 20_000
"""How many bytes an answer may have to an address that is no user's."""
HEADER_BYTES = 1200
"""How many bytes the header of our mails has at most."""
CUT = "The rest is left out: an answer to a stranger has at most 20 kB."


def deliver(session: Session, letter: Letter) -> None:
    """Put a letter into the outbox: to the sender of the command, or to all addresses of a user.

    If a user has addresses, but all of them bounce or are not yet confirmed, it waits for one; a user without an
    address gets nothing. Mails about a board reach a user as they have chosen for its game, unless they are urgent. A
    sender who has used up their quota of answers gets none.
    """
    if letter.to is None:
        _answer_sender(session, letter)
        return
    addresses = session.store.users.addresses(letter.to)
    if not addresses:
        return
    if letter.board and not letter.is_urgent:
        wanted = session.store.players.get(letter.game, letter.to).mail
        if wanted == "digest":
            _hold(session, letter, letter.to)
        if wanted != "each":
            return

    thread = f"<{letter.thread}.{letter.to}@{session.server.host}>" if letter.thread else None
    usable = [address for address in addresses if address.is_usable]
    for address in usable:
        mark = tokens.bounce_token(session.server, address.number, f"{letter.to} {address.address}")
        unsubscribe = None
        if letter.is_subscribed:
            subscription = Reply(letter.game, letter.board, letter.to)
            unsubscribe = tokens.unsubscribe_address(session.server, subscription, address.number)
        add_to_outbox(session, address.address, letter, thread, mark=f".{mark}", unsubscribe=unsubscribe)
    if not usable:
        add_to_outbox(session, None, letter, thread)
        session.store.outbox.trim_waiting(letter.to, MOST_WAITING)


def _answer_sender(session: Session, letter: Letter) -> None:
    """Mail a letter to the sender of the command, unless their quota of answers is used up."""
    if session.senders:
        if not session.take("answer", 1, is_own=True):
            return
        if not session.take("bytes of answers", _size(letter), is_own=True):
            return
    else:
        letter = _cut(letter)
        # asked before anything is taken, so that a stranger without answers uses up no bytes of others
        if not session.is_left("answer to a stranger"):
            return
        if not session.take("bytes to strangers", _size(letter)):
            return
        if not session.take("answer to a stranger"):
            return
    add_to_outbox(session, session.sender, letter, session.message_id)


def _hold(session: Session, letter: Letter, userid: str) -> None:
    """Keep a letter about a board for the next digest of a user."""
    text = blocks.to_json(letter.blocks + (Paragraph(letter.command.text),))
    session.store.outbox.hold(HeldMail(userid, letter.game, letter.subject, text, session.now))


def _place(session: Session, letter: Letter) -> Reply | None:
    """The player and the board for which an answer to a letter counts; None if it has no such address."""
    if session.proved and not letter.to:
        return session.proved
    if not letter.board:
        return None
    if letter.to:
        return Reply(letter.game, letter.board, letter.to)
    # From can be forged; but the mail goes to that very address, which gets the player's board mails, too
    if letter.reader in session.senders:
        return Reply(letter.game, letter.board, letter.reader)
    return None


def add_to_outbox(
    session: Session,
    address: str | None,
    letter: Letter,
    thread: str | None = None,
    *,
    reply_to: str | None = None,
    mark: str = "",
    unsubscribe: str | None = None,
) -> None:
    """Put a letter into the outbox for one address, None if it has to wait for one.

    *thread* is the Message-ID that it answers, or that of the first letter about a board. *reply_to* is where the
    answer goes; a letter about a board is answered at the reply address of its reader there. The *mark* in the
    Message-ID tells which address bounces. A mail to *unsubscribe* ends the subscription to which it belongs.
    """
    place = _place(session, letter)
    row = session.store.boards.get(place.game, place.board) if place else None
    is_easy = False
    deadline = ""
    if place and row:  # the board may have been removed meanwhile
        if letter.kind == "board" and not letter.reminds:  # a reminder says it by itself
            deadline = letters.deadline(session, row, place.userid)
        is_easy = row.turn == place.userid and bool(letter.notation)
        if row.turn or letter.hint:
            reply_to = tokens.reply_address(session.server, *place)
    message_id = f"<{session.server.random_bytes(12).hex()}{mark}@{session.server.host}>"
    if thread and letter.to and letter.begins_thread:
        message_id = thread  # the later letters about the board name it
    mail = Mail(
        userid=letter.to,
        address=address,
        subject=letter.subject,
        blocks=blocks.to_json(letter.mailed(is_easy=is_easy, deadline=deadline)),
        message_id=message_id,
        thread=thread,
        queued=session.now,
        due=session.now,
        unsubscribe=unsubscribe,
        reply_to=reply_to or letter.reply_to,
        reminds=letter.reminds or None,
    )
    session.store.outbox.add(mail)


def _size(letter: Letter) -> int:
    """How many bytes a letter has as a mail, or a little more."""
    raw = blocks.mailed(letter.mailed(is_easy=True)).encode()
    written = raw if raw.isascii() else quopri.encodestring(raw)
    return HEADER_BYTES + len(written) + written.count(b"\n")


def _cut(letter: Letter) -> Letter:
    """A letter with as many of its lines as a stranger may get, or a few less."""
    lines = texts.wrapped_text(letter.body).split("\n")
    while lines and _size(letter) > MOST_BYTES_TO_STRANGER:
        lines = lines[: len(lines) * 9 // 10]
        letter = letter._replace(blocks=(Paragraph("\n".join(lines + ["", CUT])),))
    return letter
