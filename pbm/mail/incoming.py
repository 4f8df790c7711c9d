"""Mail that comes in: a message becomes a command. No sockets here."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from email.parser import BytesHeaderParser
from ipaddress import ip_address
from typing import NamedTuple

import games
from games import Illegal
from pbm import follow, grammar, lists, look, play, tokens, words
from pbm.commands import root
from pbm.grammar import Front, Misused
from pbm.guesses import Guesses
from pbm.mail import reading, typography
from pbm.mail.reading import Incoming
from pbm.server import Server
from pbm.session import Refused, Session
from pbm.store import Reply

MOST_BYTES = 1_000_000
"""The largest mail that is taken."""
MOST_ERRORS = 20
"""How many refusals a day are mailed to one address."""
LAST_REFUSAL = (
    f"That was mistake number {MOST_ERRORS} today, the last that is answered before tomorrow.\n"
    "Commands that are right are answered as ever."
)
MOST_BOUNCES = 5
BOUNCING_FOR = timedelta(days=3)
"""An address that has bounced so often in a row, and for so long, gets no more mail."""


class Typed(NamedTuple):
    """The line of a mail that is its command."""

    line: str
    body: str
    """The text that goes with it."""
    is_command: bool
    """Whether it begins with the words of one."""


def envelope(raw: bytes, environment: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Sender and recipient of a mail that comes through a pipe; None where they are not known.

    The sender is empty for a bounce, which Postfix calls MAILER-DAEMON.
    """
    message = BytesHeaderParser().parsebytes(raw)
    sender = environment.get("SENDER", message["Return-Path"])
    recipient = environment.get("RECIPIENT", message["Delivered-To"])
    if sender is not None:
        sender = str(sender).strip().strip("<>")
        sender = "" if sender.upper() == "MAILER-DAEMON" else sender
    return sender, None if recipient is None else str(recipient).strip().strip("<>")


def is_ours(recipient: str, server_address: str) -> bool:
    """Whether a mail is for the server: its own address or one of the form ``pbm+TOKEN@host``, in any case."""
    local, _, host = recipient.lower().rpartition("@")
    own, _, own_host = server_address.lower().rpartition("@")
    return host == own_host and (local == own or local.startswith(f"{own}+"))


def addressed(raw: bytes, server_address: str) -> list[str]:
    """Our addresses that the header of a mail names, for one whose envelope is not known."""
    return [recipient for recipient in reading.recipients(raw) if is_ours(recipient, server_address)]


def is_known(server: Server, recipient: str) -> bool:
    """Whether mail is taken for an address: our own, a good reply address, or one that our mails bounce to."""
    if recipient.lower() == server.address.lower():
        return True
    return tokens.reply(server, recipient) is not None or tokens.bounced(server, recipient) is not None


def handle(
    server: Server,
    raw: bytes,
    envelope_sender: str | None,
    recipients: Sequence[str] = (),
    peer: str | None = None,
) -> str:
    """Do what a mail says, answer it, and note that it was handled: all in one transaction, and only once.

    *recipients* are those of its envelope; a reply address among them counts. *peer* is the machine that it came from.
    Returns what was done, in a word. Raises Unusable if the database cannot be used; then the mail has to come again.
    """
    mail = reading.read(raw, envelope_sender)
    sender = (mail.sender or "").lower()
    with server.store.transaction():
        bounced = _bounced(server, mail, recipients)
        outcome = "bounce" if bounced is not None else _kind(server, mail, recipients)
        if not server.store.record(sender, mail.message_id, outcome, server.now()):
            return "repeated"
        if bounced is not None:
            _count_bounce(server, bounced)
        if outcome == "command":
            outcome = _do(server, mail, recipients, peer)
            if outcome != "command":
                server.store.note_outcome(sender, mail.message_id, outcome)
    return outcome


def _kind(server: Server, mail: Incoming, recipients: Sequence[str]) -> str:
    """What a mail is; only a command is carried out and answered."""
    if mail.is_automatic or is_ours(mail.sender or "", server.address):
        return "automatic"
    if recipients and not any(is_known(server, recipient) for recipient in recipients):
        return "unknown"
    return "command" if mail.sender else "unreadable"


def _bounced(server: Server, mail: Incoming, recipients: Sequence[str]) -> int | None:
    """Which address of a user a mail reports to be dead; None if it reports nothing, or nothing that we can believe."""
    if mail.report is None or not mail.report.has_failed:
        return None
    found = [tokens.bounced(server, recipient) for recipient in recipients]
    found.append(tokens.bounced_mail(server, mail.report.message_id))
    return next((number for number in found if number is not None), None)


def _count_bounce(server: Server, address: int) -> None:
    bounces, since = server.store.count_bounce(address, server.now())
    if bounces >= MOST_BOUNCES and server.now() - since >= BOUNCING_FOR:
        server.store.suspend_address(address, server.now())


def _do(server: Server, mail: Incoming, recipients: Sequence[str], peer: str | None) -> str:
    """Carry out the command of a mail and answer it. Returns what was done, in a word."""
    sender = mail.sender or ""
    server.store.revive_address(sender, server.now())
    reply = next(filter(None, (tokens.reply(server, recipient) for recipient in recipients)), None)
    typed = _typed(mail, is_answer=reply is not None)
    guesses = Guesses(server.store, _peer(peer) or sender, server.now())
    session = Session(
        server,
        sender,
        tokens.masked(grammar.without_passwords(root, words.written(typed.body))),
        body=typed.body,
        message_id=mail.message_id if re.fullmatch(r"<[!-;=?-~]{1,240}>", mail.message_id) else None,
        guesses=guesses,
        proved=None if typed.is_command else reply,
    )
    why = _refused(session, typed.line)
    guesses.save()
    if why is None:
        return "command"
    if mail.is_absence or (mail.wants_no_answer and isinstance(why, Misused)):
        return "automatic"
    session = session._replace(proved=reply)
    kind = session.counted_as("error")
    if not server.store.take(kind, sender, MOST_ERRORS, server.now()):
        return "capped"
    letter = grammar.refusal(why, root, [typed.line], session.comment, reply.game if reply else "")
    if server.store.is_used_up(kind, sender, MOST_ERRORS, server.now()):
        letter = letter._replace(body=f"{LAST_REFUSAL}\n\n{letter.body}")
    session.queue(letter)
    return "command"


def _refused(session: Session, line: str) -> Refused | None:
    """Carry out a command. If it is refused, why: then nothing was done."""
    try:
        with session.store.transaction():
            if session.proved:
                _play(session, session.proved, line)
            else:
                grammar.run(root, [line], Front(lambda: session))
    except Refused as why:
        return why
    return None


def _play(session: Session, reply: Reply, line: str) -> None:
    """Do what a line says that came to a reply address: show the board, or what may stand in the place of a move."""
    game, board, userid = reply
    move = re.sub(r"\s*,\s*", ",", _bare(line)).split()
    if [word.lower() for word in move] == ["show"]:
        lists.show(session, game, [board], reader=userid)
        return
    if [word.lower() for word in move] == ["unsubscribe"]:
        follow.stop(session, game, userid, board)
        return
    if len(move) != 1 or len(line) > grammar.MOST_CHARACTERS:
        what = "The first line of a mail to this address is your move and no more, without blanks between its parts."
        what += " A comment stands below it." if move else " Yours is empty."
        raise Misused(what, point=look.find_board(session, game, board).present, reader=userid)
    try:
        play.move(session, game, board, move[0], userid=userid, password="")
    except Illegal as why:
        raise Refused(str(why)) from why


def _bare(line: str) -> str:
    """A line without the brackets around what our links suggest, and without the full stop that a telephone adds."""
    return line.strip().removeprefix("<").rstrip(".!").removesuffix(">").strip()


def _typed(mail: Incoming, *, is_answer: bool) -> Typed:
    """The command of a mail: its subject, or the first line of its body where the subject is none.

    In an *answer* to a board mail, the subject that we gave it is none either, and any line is taken for a move.
    """
    subject = _plain(mail.subject)
    if grammar.is_command(root, [subject]) and not (is_answer and _is_title(subject)):
        return Typed(subject, mail.body, is_command=True)
    first, _, rest = mail.body.lstrip().partition("\n")
    line = _plain(first)
    if grammar.is_command(root, [line]):
        return Typed(line, rest, is_command=True)
    if is_answer and (line or _is_title(subject)):
        return Typed(line, rest, is_command=False)
    return Typed(subject, mail.body, is_command=False)


def _is_title(subject: str) -> bool:
    """Whether a subject is that of a board mail: the game, the board, and whose turn it is."""
    title = words.tidied([subject], games.exists)
    return len(title) in {3, 4} and title[1].lower() == "board" and look.is_board(title[2])


def _plain(line: str) -> str:
    """A line as it was typed, before a program beautified it; passwords are taken as they are."""
    if line.isascii():
        return line
    written = typography.words(line)
    plain = [typography.plain(word) for word in written]
    secrets = grammar.passwords(root, [" ".join(plain)]) or []
    return " ".join(word if meant in secrets else meant for word, meant in zip(written, plain, strict=True))


def _peer(peer: str | None) -> str | None:
    """The machine that a mail came from; None if that is one of ours, through which all mails come."""
    try:
        return peer if peer and ip_address(peer).is_global else None
    except ValueError:
        return None
