"""Mail that comes in: a message becomes a command. No sockets here."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from email.parser import BytesHeaderParser
from ipaddress import ip_address, ip_network
from typing import NamedTuple, Self

from pbm import delivery, letters, texts
from pbm.access import quotas, tokens
from pbm.access.guesses import Guesses
from pbm.access.quotas import most
from pbm.actions import subscriptions
from pbm.budget import SECONDS_OF_MAIL, limited
from pbm.language import answers, dispatch, masking, quoting, words
from pbm.language.commands import root
from pbm.language.front import Front
from pbm.language.grammar import Misused
from pbm.language.line import Line
from pbm.mail import reading, typography
from pbm.mail.reading import Incoming
from pbm.names import SHORTEST_PASSWORD, is_board
from pbm.refusals import Refused
from pbm.rehearsal import Rehearsal
from pbm.server import Server
from pbm.session import Session
from pbm.store import Reply
from pbm.texts import without

MOST_BYTES = 1_000_000
"""The largest mail that is taken."""
NOT_ASCII = "No answer can be sent to an address with letters outside ASCII; please write from another address."
LAST_REFUSAL = (
    f"That was mistake number {most('error', 'address')} today, the last that is answered before tomorrow.\n"
    "Commands that are right are answered as ever."
)
MOST_OF_ONE = 10_000
"""How many characters of the text of a mail for the postmaster are passed on."""
MOST_LOGGED = 200
"""How many of a mail that is only logged, because the operator has no address."""
MOST_BOUNCES = 5
BOUNCING_FOR = timedelta(days=3)
"""An address that has bounced so often in a row, and for so long, gets no more mail."""


class Outcome(str):
    """What became of a mail, in a word, as it is recorded; and for the log its command, and why that was refused."""

    __slots__ = "command", "reason"
    command: str
    reason: str

    def __new__(cls, word: str, command: str = "", reason: str = "") -> Self:
        """The word; the *command* without secrets, if there was one; and the *reason* if it was refused."""
        outcome = super().__new__(cls, word)
        outcome.command, outcome.reason = command, reason
        return outcome

    @property
    def told(self) -> str:
        """The word for people, to whom a command was done or refused."""
        if self in {"command", "capped"}:
            return "refused" if self.reason else "done"
        return str(self)


class Typed(NamedTuple):
    """What a mail says."""

    line: Line
    """The line that is its command, or taken for one."""
    body: str
    """The text that goes with it."""
    is_meant: bool
    """Whether the subject is meant as a command, whatever its words."""


class Order(NamedTuple):
    """The command of a mail, carried out as far as it needs no write lock."""

    typed: Typed
    session: Session
    rehearsal: Rehearsal
    why: Refused | None
    """Why it is refused, if nothing needs to be written to know that."""
    masked: str
    """Its line as it may be seen in the log; empty if it begins with no command."""


class Heard(NamedTuple):
    """A mail that is read."""

    mail: Incoming
    kind: str
    """What it is, in a word."""
    order: Order | None = None
    """Its command, if it is one."""


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


def is_postmaster(recipient: str, server_address: str) -> bool:
    """Whether a mail is for whoever runs the server (RFC 5321, 4.5.1)."""
    return recipient.lower() in {"postmaster", f"postmaster@{server_address.rpartition('@')[2].lower()}"}


def is_known(server: Server, recipient: str) -> bool:
    """Whether mail is taken for an address: our own, the postmaster's, a reply address, or one of our bounces."""
    if recipient.lower() == server.address.lower() or is_postmaster(recipient, server.address):
        return True
    ours = tokens.reply, tokens.bounced, tokens.unsubscribed
    return any(find(server, recipient) is not None for find in ours)


def handle(
    server: Server,
    raw: bytes,
    envelope_sender: str | None,
    recipients: Sequence[str] = (),
    peer: str | None = None,
    heard: Heard | None = None,
) -> Outcome:
    """Do what a mail says, answer it, and note that it was handled: all in one transaction, and only once.

    *recipients* are those of its envelope; a reply address among them counts. *peer* is the machine that it came from.
    What was *heard* of the mail before is not done again. Returns what was done. Raises Unusable if the database cannot
    be used; then the mail has to come again.
    """
    heard = heard or hear(server, raw, envelope_sender, recipients, peer)
    mail = heard.mail
    sender = (mail.sender or "").lower()
    with server.store.transaction():
        bounced = _bounced(server, mail, recipients)
        outcome = Outcome("bounce" if bounced is not None else heard.kind)
        if not server.store.record(sender, mail.message_id, outcome, server.now()):
            return Outcome("repeated")
        if bounced is not None:
            _count_bounce(server, bounced)
        if outcome == "unsubscribe":
            _unsubscribe(server, sender, recipients)
        if outcome == "unreadable":
            _refuse_sender(server, mail, envelope_sender or "")
        if outcome == "postmaster":
            outcome = _pass_on(server, mail)
        if outcome == "command" and heard.order:
            outcome = _do(server, mail, heard.order, recipients)
            if outcome != "command":
                server.store.note_outcome(sender, mail.message_id, outcome)
    return outcome


def handle_within_limits(
    server: Server, raw: bytes, envelope_sender: str | None, recipients: Sequence[str] = ()
) -> Outcome:
    """Do what a mail says, as `handle` does, unless that takes too long; in the main thread only.

    Raises TimeoutError for a mail that may come again.
    """
    try:
        with limited(2 * SECONDS_OF_MAIL):
            return handle(server, raw, envelope_sender, recipients)
    except TimeoutError as why:
        return give_up(server, raw, why)


def give_up(server: Server, raw: bytes, why: TimeoutError) -> Outcome:
    """Refuse a mail that takes too long, if it has come before. Raises the reason why if it has not: it may come again.

    It is known by its content, for its Message-ID may be that of another mail.
    """
    with server.store.transaction():
        is_new = server.store.record("", f"too long: {reading.fingerprint(raw)}", "refused", server.now())
    if is_new:
        raise why
    return Outcome("refused", reason=f"{why}, for the second time")


def hear(
    server: Server,
    raw: bytes,
    envelope_sender: str | None,
    recipients: Sequence[str] = (),
    peer: str | None = None,
) -> Heard:
    """Read a mail, and rehearse its command: all that is slow is done here, and nobody has to wait for it.

    Raises Unusable if the database cannot be used.
    """
    mail = reading.read(raw, envelope_sender)
    kind = _kind(server, mail, recipients)
    if kind != "command":
        return Heard(mail, kind)
    replies, machine = _replies(server, recipients), _peer(peer)
    reply = replies[0] if replies else None
    typed = _typed(mail, reply)
    if typed.line.names == "confirm-address" and mail.tells_of_absence:
        return Heard(mail, "automatic")
    rehearsal = Rehearsal(server.passwords)
    session = Session(
        server,
        mail.sender,
        tokens.masked(quoting.comment(root, typed.body, server.store.is_taken)),
        body=typed.body,
        message_id=mail.message_id if re.fullmatch(r"<[!-;=?-~]{1,240}>", mail.message_id) else None,
        guesses=Guesses(server.store, machine or mail.sender or "", server.now()),
        proved=None if typed.line.command else reply,
        peer=machine,
        rehearsal=rehearsal,
    )
    refused = None
    try:
        rehearsal.run(server.store, lambda: _carry_out(session, typed.line, replies))
    except Refused as why:
        refused = why
    masked = ""
    if typed.line.command:
        masked = tokens.masked(typed.line.logged(server.store.is_taken))
    return Heard(mail, kind, Order(typed, session, rehearsal, refused, masked))


def _kind(server: Server, mail: Incoming, recipients: Sequence[str]) -> str:
    """What a mail is; only a command is carried out and answered. People do not write to where our mails bounce to.

    Mail that unsubscribes may be automatic: a mail program sends it when its user presses a button.
    """
    if any(tokens.unsubscribed(server, recipient) for recipient in recipients):
        return "unsubscribe"
    is_bounced = any(tokens.bounced(server, recipient) is not None for recipient in recipients)
    if mail.is_automatic or is_bounced or is_ours(mail.sender or "", server.address):
        return "automatic"
    if recipients and not any(is_known(server, recipient) for recipient in recipients):
        return "unknown"
    if recipients and all(is_postmaster(recipient, server.address) for recipient in recipients):
        return "postmaster"
    return "command" if mail.sender else "unreadable"


def _unsubscribe(server: Server, sender: str, recipients: Sequence[str]) -> None:
    """End what the recipients of a mail say, whatever else it says."""
    for mails in filter(None, (tokens.unsubscribed(server, recipient) for recipient in recipients)):
        subscriptions.end_mails(Session(server, sender), mails)


def _pass_on(server: Server, mail: Incoming) -> Outcome:
    """Write to the operator what somebody has written to the postmaster. It is a mail of ours, and not automatic ones.

    An operator whose own mail comes back here makes no loop, for ours says that a program has written it.
    """
    sender = mail.sender or ""
    text, subject = (
        tokens.masked(masking.without_passwords(root, texts.clean(said)[:MOST_OF_ONE], server.store.is_taken).text)
        for said in (mail.body, mail.subject)
    )
    subject = " ".join(subject.split())[:MOST_LOGGED]
    if not server.operator:
        return Outcome("postmaster", reason=f"PBM_OPERATOR is not set; {subject}: {text[:MOST_LOGGED]}")
    if not Session(server).take("postmaster", address=server.operator):
        return Outcome("postmaster", reason=f"{most('postmaster', 'address')} were passed on today already")
    said = f"From: {sender or 'unknown'}\nSubject: {subject}\n\n{text}"
    letter = letters.note(said, subject=f"For the postmaster: {subject}", answer="")
    delivery.mail(Session(server), server.operator, letter, reply_to=sender or None)
    return Outcome("postmaster")


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


def _do(server: Server, mail: Incoming, order: Order, recipients: Sequence[str]) -> Outcome:
    """Carry out the command of a mail and answer it. Returns what was done."""
    sender = mail.sender or ""
    line, _, is_meant = order.typed
    server.store.revive_address(sender, server.now())
    # as it stands now: what was rehearsed may have been revoked since
    reply = next(iter(_replies(server, recipients)), None)
    session = order.session._replace(proved=order.session.proved and reply)
    if _is_written(session, order):
        why = None
    else:
        session = session._replace(guesses=Guesses(server.store, session.peer or sender, server.now()))
        why = _refused(session, order)
    server.store.count_command(server.now(), refused=why is not None)
    if session.guesses:
        session.guesses.save()
    command = _told(order, None if line.command else reply, is_done=why is None)
    if why is None:
        return Outcome("command", command)
    is_close = is_meant or any(map(root.knows, line.words[:2]))
    is_bulk = mail.wants_no_answer and isinstance(why, Misused) and not (reply or is_close)
    if (mail.is_absence and not is_meant) or is_bulk:
        return Outcome("automatic", command)
    session = session._replace(proved=reply)
    if not session.take_own("error"):
        return Outcome("capped", command, f"mistake after the {most('error', 'address')} of a day that are answered")
    letter = quoting.refusal(why, line, session.comment, reply.game if reply else "", server.store.is_taken)
    if not quotas.is_left(server.store, "error", session.holders, server.now()):
        letter = letter._replace(body=f"{LAST_REFUSAL}\n\n{letter.body}")
    delivery.queue(session, letter)
    return Outcome("command", command, _reason(line, str(letter.data["error"]), command))


def _reason(line: Line, error: str, command: str) -> str:
    """Why a line was refused, for the log."""
    if not command:
        return "it begins with no command"
    secrets = [] if line.command else [word for word in line.typed.split() if len(word) >= SHORTEST_PASSWORD]
    return without(error.partition("\n")[0], secrets)


def _told(order: Order, reply: Reply | None, *, is_done: bool) -> str:
    """What the log says of a command; of a line that is none, nothing, for nobody knows what stands in it."""
    said = answers.bare(order.typed.line.typed) if is_done else "..."
    answered = f"{reply.game} {reply.board} {reply.userid}: {said}" if reply else ""
    return order.masked or answered


def _refuse_sender(server: Server, mail: Incoming, envelope_sender: str) -> None:
    """Tell a user that his mail is from several addresses, of which the envelope says that it is from his."""
    sender = envelope_sender.lower()
    session = Session(server, sender)
    if sender in mail.senders and session.is_from_user and session.take_own("error"):
        why = Refused("Nothing was done, because this mail is from several addresses; a command comes from one alone.")
        delivery.queue(session, quoting.refusal(why, _plain(mail.subject), is_user=server.store.is_taken))


def _replies(server: Server, recipients: Sequence[str]) -> list[Reply]:
    """What the reply addresses among the recipients of a mail speak for, each once."""
    return list(dict.fromkeys(filter(None, (tokens.reply(server, recipient) for recipient in recipients))))


def _check_one(replies: Sequence[Reply]) -> None:
    """Raises Refused if an answer went to several reply addresses, for it can be meant for one board alone."""
    if len(replies) > 1:
        boards = [f"{texts.title(reply.game)} board {reply.board} ({reply.userid})" for reply in replies]
        raise Refused(
            f"This answer went to several addresses, those of {texts.enumerated(boards)}; nothing was done. "
            "Please answer each mail by itself."
        )


def _is_written(session: Session, order: Order) -> bool:
    """Write what was drafted, if the command has a draft that is still true."""
    rehearsal = order.rehearsal
    if rehearsal.draft is None or rehearsal.is_enough or session.proved != order.session.proved:
        return False
    is_written = session.store.carry_out(rehearsal.draft)
    for letter in rehearsal.letters if is_written else ():
        delivery.queue(session, letter)
    return is_written


def _refused(session: Session, order: Order) -> Refused | None:
    """Carry out a command, as far as that has not been done. If it is refused, why: then nothing was done."""
    rehearsal = order.rehearsal
    if order.why and not rehearsal.signed:
        return order.why
    try:
        with session.store.transaction():
            if order.why or not rehearsal.is_enough:
                _carry_out(session, order.typed.line)
            else:
                for userid, password in rehearsal.signed:  # it may have got another password since
                    session.signed(userid, password)
                for letter in rehearsal.letters:
                    delivery.queue(session, letter)
    except Refused as why:
        return why
    return None


def _carry_out(session: Session, line: Line, replies: Sequence[Reply] = ()) -> None:
    """Do what the line of a mail says that came to these reply addresses."""
    if session.proved:
        _check_one(replies)
        answers.run(session, session.proved, line.typed)
        return
    try:
        dispatch.run(line, Front(lambda: session))
    except Misused as why:
        if not _is_title(line):
            raise
        raise answers.send_again(session, line, why) from why


def _typed(mail: Incoming, reply: Reply | None) -> Typed:
    """The command of a mail: its subject, or the first line of its body where the subject is none.

    The subject that we gave to a board mail is none. In an answer to one, which came to a *reply* address, any line is
    taken for a move, and a word that means something there is no command. An answer to a chat is one.
    """
    subject = _plain(mail.subject)
    is_meant, is_title = subject.command is not None, _is_title(subject)
    word = answers.takes(subject.typed) if reply else None
    is_chat = reply is not None and answers.is_to_chat(reply, subject.words)
    if is_meant and not (is_title or is_chat) and word is None:
        return Typed(_without_placeholder(subject, reply), mail.body, is_meant)
    lines = (mail.body.lstrip() or (mail.quoted if reply else "")).split("\n")
    chat = answers.chat_text(lines) if reply else None
    if is_chat:
        return Typed(_answer("chat"), mail.body if chat is None else chat, is_meant)
    first, count = words.whole_turn(lines)
    line, rest = _plain(first), "\n".join(lines[count:])
    if word is not None:
        typed, body = (f"{subject.typed} {line.typed}", rest) if word else (subject.typed, mail.body)
        return Typed(_answer(typed), body, is_meant)
    if line.command and not (reply and answers.takes(line.typed) is not None):
        return Typed(_without_placeholder(line, reply), rest, is_meant)
    if reply and (line.typed or is_title):
        return Typed(_answer(line.typed), rest, is_meant) if chat is None else Typed(_answer("chat"), chat, is_meant)
    return Typed(subject, mail.body, is_meant)


def _without_placeholder(line: Line, reply: Reply | None) -> Line:
    """A command as it is, or what it says as an answer if it was copied from the mail that is answered."""
    typed = answers.as_answer(reply, line.words) if reply else None
    return _answer(typed) if typed else line


def _answer(typed: str) -> Line:
    """The line of an answer to a board mail, whose words mean nothing else."""
    return Line.read(root, typed)._replace(command=None)


def _is_title(subject: Line) -> bool:
    """Whether a subject is that of a board mail: the game, the board, and whose turn it is."""
    title = subject.words
    return len(title) in {3, 4} and title[1].lower() == "board" and is_board(title[2])


def _plain(beautified: str) -> Line:
    """A line as it was typed, before a program beautified it; passwords are taken as they are."""
    if beautified.isascii():
        return Line.read(root, beautified)
    written = typography.words(beautified)
    plain = [typography.plain(word) for word in written]
    line = Line.read(root, " ".join(plain))
    secrets = line.passwords() or []
    typed = " ".join(word if meant in secrets else meant for word, meant in zip(written, plain, strict=True))
    return line if typed == line.typed else Line.read(root, typed)


def _peer(peer: str | None) -> str | None:
    """The machine or the network of IPv6 that a mail came from; None if that is one of ours, which brings all mails."""
    try:
        if not peer or not ip_address(peer).is_global:
            return None
        return str(ip_network((peer, 64), strict=False)) if ":" in peer else peer
    except ValueError:
        return None
