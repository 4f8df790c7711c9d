"""Mail that comes in is handled once: its command is carried out and answered. No sockets here.

What is posted on a page of the web counts as an answer to a board mail; the reply is printed, not mailed.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from email.utils import getaddresses
from ipaddress import ip_address, ip_network
from typing import Any, NamedTuple

from pbm import delivery, letters, runner, texts
from pbm.access import bars, quotas, tokens
from pbm.access.guesses import Guesses
from pbm.access.quotas import most
from pbm.access.tokens import Meaning
from pbm.actions import subscriptions
from pbm.blocks import Paragraph
from pbm.budget import SECONDS_OF_MAIL, limited
from pbm.delivery.mail import add_to_outbox
from pbm.language import answers, masking, typed_plans
from pbm.language.commands import root
from pbm.language.grammar import Call
from pbm.language.line import Line
from pbm.letters import Letter
from pbm.mail import operator_requests, quotes, reading
from pbm.mail.automatic import (
    MOST_HEADER,
    is_address_of_program,
    is_subject_of_program,
    is_text_of_program,
    says_absent,
)
from pbm.mail.reading import Incoming
from pbm.mail.typed import Typed, is_title, plain_line, typed_answer, typed_command, typed_password
from pbm.names import SHORTEST_PASSWORD, is_guest
from pbm.refusals import Misused, Refused
from pbm.runner import Effect, Ready
from pbm.server import Server
from pbm.session import Session
from pbm.store import Reply
from pbm.store.outbox import REFUSED_POST
from pbm.texts import reason_without, without

MOST_BYTES = 1_000_000
"""The largest mail that is taken."""
NOT_ASCII = "No answer can be sent to an address with letters outside ASCII; please write from another address."
LAST_REFUSAL = (
    f"That was mistake number {most('error', 'address')} today, the last that is answered before tomorrow.\n"
    "Correct commands still get an answer."
)
MOST_PASSED_ON = 10_000
"""How many characters of the text of a mail for the postmaster are passed on."""
MOST_LOGGED = 200
"""How many characters of a mail for the postmaster are logged, if the operator has no address."""
MOST_BOUNCES = 5
BOUNCING_FOR = timedelta(days=3)
"""An address that has bounced so often in a row, and for so long, gets no more mail."""
BOUNCES_COUNT_FOR = timedelta(days=60)
"""How long a row of bounces lasts. The next bounce after that begins another row: mails have arrived in between."""
DOUBTFUL = "Nothing was done: the command has characters that cannot be decoded. Please write it once more."
GUESTS = "A command with a userid comes by mail, or from a page of a user who has a mail address."


class Printed(NamedTuple):
    """The answer to a command that was posted over HTTP."""

    code: int
    """The status of the response."""
    text: str
    data: Mapping[str, Any]
    """What ``--json`` prints."""
    wait: float = 0
    """After how many seconds it may come again; 0 if that would not help."""


class Outcome(NamedTuple):
    """The result of a mail, or of a command that was posted."""

    word: str
    """The result in a word, as it is recorded."""
    command: str = ""
    """The command without secrets, if there was one."""
    reason: str = ""
    """Why it was refused; empty if it was not."""
    letters: Sequence[Letter] = ()
    """What a page prints."""
    printed: Printed | None = None
    """The answer to a command that was posted over HTTP; None for a mail, and for a page."""
    waiting: Session | None = None
    """With the boards of that command on which robots have to move, if its answer waits for them."""

    @property
    def shown_word(self) -> str:
        """The word for people: that of a command is ``done`` or ``refused``."""
        if self.word in {"command", "capped"}:
            return "refused" if self.reason else "done"
        return self.word


class MailedCommand(NamedTuple):
    """The command of a mail, prepared."""

    reply: Reply | None
    """The player and the board of the reply address that it came to; None if it came to no such address."""
    typed: Typed
    ready: Ready
    is_probably_automatic: bool
    """Whether a program may have sent it; then a mistake is not answered."""


class ReceivedMail(NamedTuple):
    """A mail as it comes in."""

    raw: bytes
    sender: str | None
    """The sender of the envelope: empty for a bounce, and None if it is not known."""
    recipients: Sequence[str] = ()
    """The recipients of the envelope; a reply address among them counts."""
    peer: str | None = None
    """The address of the machine that brought it; None if it came by a local socket or through a pipe."""
    post: Incoming | None = None
    """The mail as it is read, if it was posted on a page of the web."""


class PreparedMail(NamedTuple):
    """A mail that is read, and its command prepared, if it is one."""

    received: ReceivedMail
    mail: Incoming
    meanings: Sequence[Meaning]
    """What each of our addresses that it came to is for, and the user of the mail that it reports as failed."""
    kind: str
    """What it is, in a word such as ``command`` or ``bounce``."""
    command: MailedCommand | None = None
    outcome: Outcome | None = None
    """The outcome, if the command is done already: a page has only asked something, and nothing of that is stored."""


def envelope(raw: bytes, environment: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Sender and recipient of a mail that comes through a pipe; None where they are not known.

    The sender is empty for a bounce, which Postfix calls MAILER-DAEMON.
    """
    message = reading.header(raw)
    sender = _bare_address(environment.get("SENDER", message["Return-Path"]))
    recipient = _bare_address(environment.get("RECIPIENT", message["Delivered-To"]))
    if sender and sender.upper() == "MAILER-DAEMON":
        sender = ""
    return sender, recipient


def _bare_address(field: object) -> str | None:
    """The address in a field or a variable without its angle brackets; None if there is no such field."""
    if field is None:
        return None
    return str(field).strip().strip("<>")


def is_ours(recipient: str, server_address: str) -> bool:
    """Whether a mail is for the server: its own address or one of the form ``pbm+TOKEN@host``, in any case."""
    local, _, host = recipient.lower().rpartition("@")
    own, _, own_host = server_address.lower().rpartition("@")
    return host == own_host and (local == own or local.startswith(f"{own}+"))


def addressed(raw: bytes, server_address: str) -> list[str]:
    """Our addresses that the header of a mail names, if its envelope is not known."""
    fields = [
        str(value)[:MOST_HEADER]
        for name, value in reading.header(raw).raw_items()
        if name.lower() in {"delivered-to", "x-original-to", "envelope-to", "to", "cc"}
    ]
    return _ours_among(fields, server_address)


def _ours_among(fields: Sequence[str], server_address: str) -> list[str]:
    """Our addresses in the values of header fields."""
    try:
        return [address for _, address in getaddresses(list(fields)) if is_ours(address, server_address)]
    except (RecursionError, ValueError, LookupError):  # what Python's parser raises for odd fields
        return []


def is_known(server: Server, recipient: str) -> bool:
    """Whether mail is taken for an address: our own, the postmaster's, a reply address, or one of our bounces."""
    return tokens.meaning(server, recipient) is not None


def player_of(server: Server, recipient: str) -> Reply | None:
    """The player of a reply address, with their board; None if it is no such address.

    Raises Refused if the board has been removed.
    """
    meaning = tokens.meaning(server, recipient)
    if meaning is None or meaning.kind != tokens.REPLY:
        return None
    if server.store.boards.was_removed(meaning.reply.game, meaning.reply.board):
        raise Refused("This board has been removed.")
    return meaning.reply


def posted(
    server: Server, recipient: str, text: str, comment: str, key: str, peer: str | None = None
) -> tuple[Reply, ReceivedMail] | None:
    """The player of a reply address, and what is posted on a page as a mail to it; None if it is no such address.

    The mail is from the player's first address that is not barred, if they have one. What has the same *key* is done
    once. Raises Refused if the board of the page has been removed.
    """
    player = player_of(server, recipient)
    if player is None:
        return None
    game, board, userid = player
    addresses = [row.address for row in server.store.users.addresses(userid) if row.confirmed]
    addresses.sort(key=lambda address: bars.bar_on(server.store, address) is not None)  # those that are barred last
    posted_text = texts.clean(f"{text}\n{comment}".replace("\r\n", "\n").replace("\r", "\n"))
    mail = Incoming(
        sender=addresses[0] if addresses else None,
        message_id=f"<{key}.{game}-{board}-{userid}.page@{server.host}>",
        subject=f"Re: {game.capitalize()} Board {board}",  # as our own mails make a mail program write
        body=quotes.own(posted_text)[: reading.MOST_BODY],
        quoted=quotes.lone_quotation(posted_text),
    )
    raw = f"{recipient}\n{text}\n{comment}".encode()
    return player, ReceivedMail(raw, mail.sender, (recipient,), peer, mail)


def handle_prepared(server: Server, prepared: PreparedMail) -> Outcome:
    """Do what a mail says, answer it, and note that it was handled: all in one transaction, and only once.

    Returns what was done. Raises Unusable if the database cannot be used; then the mail has to come again.
    """
    mail = prepared.mail
    sender = (mail.sender or "").lower()
    with server.store.writing():
        if prepared.meanings != _meanings(server, mail, prepared.received.recipients):  # one was revoked since
            prepared = prepare_mail(server, prepared.received)
        if not server.store.handled.record(sender, mail.message_id, prepared.kind, server.now()):
            return Outcome("repeated")
        if prepared.command:
            outcome = _finish(server, mail, prepared.command)
            word = REFUSED_POST if prepared.received.post and outcome.reason else outcome.word
            if word != "command":
                server.store.handled.note_outcome(sender, mail.message_id, word)
            return outcome
        return _handle_other(server, prepared)


def _handle_other(server: Server, prepared: PreparedMail) -> Outcome:
    """Do what a mail is for that is no command of a player."""
    mail = prepared.mail
    match prepared.kind:
        case "bounce":
            _count_bounce(server, prepared.meanings)
        case "unsubscribe":
            _unsubscribe(server, (mail.sender or "").lower(), prepared.meanings)
        case "unreadable":
            _refuse_sender(server, mail, prepared.received.sender or "")
        case "operator":
            return _answer_operator(server, mail, prepared.meanings)
        case "postmaster":
            return _pass_on(server, mail)
        case "barred":
            bar = _bar_on(server, mail, prepared.received) or ""
            server.store.trust.note_use(bar, server.now())
            return Outcome("barred", reason=bar)
    return Outcome(prepared.kind)


def handle_within_limits(server: Server, raw: bytes, envelope_sender: str | None, recipients: Sequence[str]) -> Outcome:
    """Do what a mail says, unless that takes too long; in the main thread only.

    Raises TimeoutError if the mail has to come again.
    """
    try:
        with limited(2 * SECONDS_OF_MAIL):
            return handle_prepared(server, prepare_mail(server, ReceivedMail(raw, envelope_sender, recipients)))
    except TimeoutError as why:
        return give_up(server, raw, why)


def give_up(server: Server, raw: bytes, why: TimeoutError) -> Outcome:
    """Refuse a mail that takes too long, for the second time. The first time, raises *why*: the mail may come again.

    It is recognised by its content, because its Message-ID may be that of another mail.
    """
    with server.store.writing():
        is_new = server.store.handled.record("", f"too long: {reading.fingerprint(raw)}", "refused", server.now())
    if is_new:
        raise why
    return Outcome("refused", reason=f"{why}, for the second time")


def prepare_mail(server: Server, received: ReceivedMail) -> PreparedMail:
    """Read a mail, and prepare its command: all that is slow is done here, without a lock that others wait for.

    Raises Unusable if the database cannot be used.
    """
    post = received.post
    mail = post or reading.read(received.raw, received.sender)
    meanings = _meanings(server, mail, received.recipients)
    kind = _kind(server, mail, received, meanings)
    if kind != "command":
        return PreparedMail(received, mail, meanings, kind)
    replies = list(dict.fromkeys(meaning.reply for meaning in meanings if meaning.kind == tokens.REPLY))
    reply = replies[0] if replies else None
    resets = [meaning for meaning in meanings if meaning.kind == tokens.RESET]
    is_user = server.store.users.is_taken

    def try_out(typed: Typed) -> runner.Trial:
        return runner.try_out(_ready(server, received, mail, replies, typed))

    if reply:
        typed = typed_answer(mail, reply, is_user, try_out)
    elif resets:
        typed = typed_password(mail, resets[0].reply.userid, resets[0].code, is_user)
    else:
        typed = typed_command(mail, is_user)
    ready = _ready(server, received, mail, replies, typed)

    is_probably_automatic = False
    if post is None:
        is_probably_automatic = _has_mark_of_program(server, mail) or _reads_like_program(mail, typed)
    # a program must not set a password by the first word of its answer
    if is_probably_automatic and (typed.is_new_password or not _is_proved(ready, typed)):
        return PreparedMail(received, mail, meanings, "automatic")

    command = MailedCommand(reply, typed, ready, is_probably_automatic)
    outcome = None
    # a guess of a password is counted, which has to be stored
    if post and ready.done and isinstance(ready.call, Call) and not ready.call.passwords:
        outcome = _outcome(server, command, ready.done)
    return PreparedMail(received, mail, meanings, kind, command, outcome)


def _is_request(server: Server, received: ReceivedMail, mail: Incoming, kinds: Collection[str]) -> bool:
    """Whether a mail says that it is from the operator, and asks for something that is reserved for them."""
    if received.post or not server.operator or (mail.sender or "").lower() != server.operator.lower():
        return False
    if typed_command(mail, server.store.users.is_taken).line.command:
        return False  # operators play, too, and the text below their move may begin with such a word
    if mail.fault or mail.doubtful or not set(kinds) <= {tokens.COMMANDS}:
        return False
    return bool(operator_requests.request_of(mail))


def _ready(server: Server, received: ReceivedMail, mail: Incoming, replies: Sequence[Reply], typed: Typed) -> Ready:
    """Prepare what a mail says, which came to some reply addresses or to none."""
    reply = replies[0] if replies else None
    answered = None  # a whole command needs its password, also at a reply address
    if typed.line.command is None:
        answered = reply

    call = _call(typed, replies if answered else ())
    if mail.fault or _is_doubtful(mail, typed):
        call = Refused(mail.fault or DOUBTFUL)
    if received.post and not answered and not mail.sender:
        call = Refused(GUESTS)

    message_id = None  # an odd one is never repeated in our own headers
    if re.fullmatch(r"<[!-;=?-~]{1,240}>", mail.message_id):
        message_id = mail.message_id
    guest = None
    if reply and is_guest(reply.userid) and typed.line.names == "signup":
        guest = reply
    machine = machine_of(received.peer)
    session = Session(
        server,
        mail.sender,
        tokens.masked(masking.comment(typed.body, server.store.users.is_taken)),
        body=typed.body,
        message_id=message_id,
        guesses=Guesses(server.store, (machine or mail.sender or "").lower(), server.now()),
        proved=answered,
        peer=machine,
        guest=guest,
        is_trusted=False,
        is_printed=received.post is not None,
    )
    return runner.prepare(session, call, None if answered else typed.line)


def _has_mark_of_program(server: Server, mail: Incoming) -> bool:
    """Whether a mark says that a program may have sent a mail. A confirmed address is a person's, whatever its name."""
    if mail.is_probably_automatic:
        return True
    sender = mail.sender or ""
    return is_address_of_program(sender) and not server.store.users.ids_at(sender)


def _reads_like_program(mail: Incoming, typed: Typed) -> bool:
    """Whether a mail reads as if a program had written it."""
    if typed.line.names == "confirm-address":  # a program that answers may have left the subject as it was
        return is_subject_of_program(mail.subject) or is_text_of_program(mail.body) or says_absent(mail.body)
    if is_subject_of_program(mail.subject) and not typed.reads_as_command:
        return True
    return is_text_of_program(mail.body) and not typed.is_from_title  # a chat may say anything


def _is_proved(ready: Ready, typed: Typed) -> bool:
    """Whether a mail has a password, or somebody has typed an answer to a board mail; that may still be a mistake."""
    if ready.session.proved:
        return not typed.is_from_title
    calls = [ready.call]
    calls += [call for _, call in ready.lines]
    return any(isinstance(call, Call) and call.passwords for call in calls)


def _meanings(server: Server, mail: Incoming, recipients: Sequence[str]) -> list[Meaning]:
    """What the recipients of a mail are for, and the Message-ID of the mail from us that it reports as failed.

    A mail to our own address and to a reply address may come as two copies, one for each. Both are for the reply
    address: what came first is carried out, and the other one is known as the same mail.
    """
    meanings = []
    for recipient in recipients:
        if meaning := tokens.meaning(server, recipient):
            meanings.append(meaning)
    kinds = {meaning.kind for meaning in meanings}
    if tokens.COMMANDS in kinds and tokens.REPLY not in kinds:
        for address in _ours_among(mail.recipients, server.address):
            meaning = tokens.meaning(server, address)
            if meaning and meaning.kind == tokens.REPLY:
                meanings.append(meaning)
    if mail.report and mail.report.has_failed:
        failed = tokens.meaning(server, mail.report.message_id.strip("<>"), ".")
        if failed:
            meanings.append(failed)
    return meanings


def _kind(server: Server, mail: Incoming, received: ReceivedMail, meanings: Sequence[Meaning]) -> str:
    """What a mail is; only a command is carried out and answered. No person writes to an address for bounces.

    Mail that unsubscribes may be automatic: a mail program sends it when its user presses a button. Barred senders can
    do that, too, and write to the postmaster.
    """
    kinds = {meaning.kind for meaning in meanings}
    if tokens.BOUNCE in kinds and mail.report and mail.report.has_failed:
        return "bounce"
    if tokens.UNSUBSCRIBE in kinds:
        return "unsubscribe"
    if mail.is_automatic or tokens.BOUNCE in kinds or is_ours(mail.sender or "", server.address):
        return "automatic"
    if received.recipients and not meanings:
        return "unknown"
    is_for_postmaster = kinds == {tokens.POSTMASTER}
    if not is_for_postmaster and _bar_on(server, mail, received):
        return "barred"
    if tokens.REQUEST in kinds or _is_request(server, received, mail, kinds):
        return "automatic" if _has_mark_of_program(server, mail) else "operator"
    if (mail.sender or received.post) and not is_for_postmaster:
        return "command"  # a whole one is carried out even if a program may have sent it
    if _has_mark_of_program(server, mail):
        return "automatic"
    if is_for_postmaster:
        return "postmaster"
    return "unreadable"  # it is not known who wrote it, so nobody could have signed a command


def _bar_on(server: Server, mail: Incoming, received: ReceivedMail) -> str | None:
    """The bar that holds the writer or the envelope of a mail; None if there is none."""
    return bars.bar_on(server.store, mail.sender or "", *mail.senders, received.sender or "")


def _call(typed: Typed, answered: Sequence[Reply]) -> Call | Refused:
    """The command that somebody has typed, which may answer the mail of one board, or why it is none."""
    line = typed.line
    if typed.objection:
        return Refused(typed.objection)
    if len(answered) > 1:
        boards = [f"{reply.game.capitalize()} board {reply.board} ({reply.userid})" for reply in answered]
        return Refused(
            f"This answer went to several addresses, those of {texts.enumerated(boards)}; nothing was done. "
            "Please answer each mail by itself."
        )
    try:
        if answered:
            return answers.read(answered[0], line.typed)
        return runner.read(line)
    except Misused as why:
        if is_title(line) and not answered:
            return Call(answers.LOST_ANSWER, {"title": line, "why": why})
        return why
    except Refused as why:
        return why


def _is_doubtful(mail: Incoming, typed: Typed) -> bool:
    """Whether a line of a mail that is carried out has characters that could not be decoded."""
    if not mail.doubtful:
        return False
    comment_lines = {line for line in typed.body.split("\n") if not typed_plans.is_line(line)}
    if typed.line.command and typed.line.command.name in {"multiple", "plan"}:
        comment_lines.clear()  # their text is commands
    carried_out = set(mail.body.split("\n")) - comment_lines
    if typed.body == mail.body:  # no line of it was the command, so the subject is
        carried_out.add(mail.subject)
    return not mail.doubtful.isdisjoint(carried_out)


def _unsubscribe(server: Server, sender: str, meanings: Sequence[Meaning]) -> None:
    """End the mails that the recipients of a mail name, whatever else it says."""
    for meaning in meanings:
        if meaning.kind == tokens.UNSUBSCRIBE:
            subscriptions.end_mails(Session(server, sender, is_trusted=False, is_printed=False), meaning.reply)


def _pass_on(server: Server, mail: Incoming) -> Outcome:
    """Send the operator a mail with what somebody has written to the postmaster.

    It makes no loop if the operator's address leads back here: our mails say that a program has written them.
    """
    sender = mail.sender or ""
    is_user = server.store.users.is_taken
    written = texts.clean(f"{mail.subject}\n{mail.fault or mail.body}")[:MOST_PASSED_ON]
    subject, _, text = tokens.masked(masking.without_passwords(written, is_user).text).partition("\n")
    # one with a character that is not seen, as some emojis have it, could not be sent
    subject = "".join(filter(str.isprintable, " ".join(subject.split())))[:MOST_LOGGED]
    if not server.operator:
        logged = f"{subject}: {text[:MOST_LOGGED]}"
        logged = without(logged, masking.behind_users(logged.split(), is_user))
        return Outcome("postmaster", reason=f"PBM_OPERATOR is not set; {logged}")
    if not Session(server).take("postmaster", address=server.operator):
        return Outcome("postmaster", reason=f"{most('postmaster', 'address')} were passed on today already")
    passed_on = f"From: {sender or 'unknown'}\nSubject: {subject}\n\n{text}"
    letter = letters.plain_letter(passed_on, subject=f"For the postmaster: {subject}", answer="")
    add_to_outbox(Session(server), server.operator, letter, reply_to=sender or None)
    return Outcome("postmaster")


def _answer_operator(server: Server, mail: Incoming, meanings: Sequence[Meaning]) -> Outcome:
    """Mail the operator a code for what they ask for, or do it if the mail has brought the code."""
    for meaning in meanings:
        if meaning.kind == tokens.REQUEST:
            return Outcome("operator", reason=operator_requests.carry_out_request(server, mail, meaning))
    return Outcome("operator", operator_requests.request_of(mail), operator_requests.answer_request(server, mail))


def _count_bounce(server: Server, meanings: Sequence[Meaning]) -> None:
    """Count that mails to an address bounce, and send it no more if they have done so for long."""
    address = next(meaning.number for meaning in meanings if meaning.kind == tokens.BOUNCE)
    bounces, since = server.store.users.count_bounce(address, server.now(), server.now() - BOUNCES_COUNT_FOR)
    if bounces >= MOST_BOUNCES and server.now() - since >= BOUNCING_FOR:
        server.store.users.suspend_address(address, server.now())


def _finish(server: Server, mail: Incoming, command: MailedCommand) -> Outcome:
    """Carry out the command of a mail and answer it. Returns what was done."""
    reply = command.reply
    line = command.typed.line
    session = command.ready.session
    if not (session.is_printed or command.is_probably_automatic):  # somebody reads the mail of that address
        server.store.users.revive_address(mail.sender or "", server.now())
    done = runner.finish(command.ready)
    server.store.events.count_command(server.now(), refused=done.why is not None)
    if session.guesses:
        session.guesses.save()
    outcome = _outcome(server, command, done)
    if done.why is None:
        return outcome

    # It was refused. What comes from a page is proved by its reply address, and no mail answers it: no mistake counts.
    if session.is_printed:
        return outcome
    # A person hears why; a program, or a newsletter that looks like no command, does not.
    if command.is_probably_automatic:
        return Outcome("automatic", outcome.command)
    is_close = command.typed.reads_as_command or any(map(root.knows, line.words[:2]))
    if mail.wants_no_answer and isinstance(done.why, Misused) and not reply and not is_close:
        return Outcome("automatic", outcome.command)
    session = replace(session, proved=reply)
    if not session.take("error", is_own=True):
        capped = f"mistake after the {most('error', 'address')} of a day that are answered"
        return Outcome("capped", outcome.command, capped)
    if not quotas.is_left(server.store, "error", session.holders, server.now()):
        [letter] = outcome.letters
        last_letter = letter._replace(blocks=(Paragraph(LAST_REFUSAL),) + letter.blocks)
        outcome = outcome._replace(letters=[last_letter])
    delivery.queue(session, *outcome.letters)
    return outcome


def _outcome(server: Server, command: MailedCommand, done: Effect) -> Outcome:
    """The outcome of a command, with the letters for its sender.

    The log says nothing of a line that is no command, because a password may stand anywhere in it.
    """
    reply = command.reply
    line = command.typed.line
    is_user = server.store.users.is_taken
    logged = _logged(server, command, done)
    if done.why is None:
        return Outcome("command", logged, letters=done.letters)
    game = reply.game if reply else ""
    letter = line.refusal(done.why, command.ready.session.comment, game, is_user)
    return Outcome("command", logged, logged_reason(line, letter, logged), [letter])


def _logged(server: Server, command: MailedCommand, done: Effect) -> str:
    """A command as the log may hold it, without secrets; empty if it is neither a command nor an answer."""
    line = command.typed.line
    reply = command.reply
    if line.command:
        return logged_line(server, line, command.ready.call, done.why)
    if reply is None:
        return ""
    answer = "..."
    if done.why is None:
        answer = answers.bare(line.typed)
    return f"{reply.game} {reply.board} {reply.userid}: {answer}"


def logged_line(server: Server, line: Line, call: Call | Refused, why: Refused | None) -> str:
    """The line of a command as the log has it, without secrets; *why* it was refused, None if it was not."""
    # After a success it is known which words are passwords, unless they may stand in several orders.
    if why is None and isinstance(call, Call) and call.passwords and not call.command.in_any_order:
        return tokens.masked(without(line.typed, call.passwords))
    return tokens.masked(line.logged(server.store.users.is_taken))


def logged_reason(line: Line, refusal: Letter, logged: str) -> str:
    """Why a line was refused, as the log has it."""
    if not logged:
        return "it begins with no command"
    # The reason may quote words of the line that the log does not have: these may be passwords.
    unlogged = set(line.typed.split()) - set(logged.split())
    secrets = [word for word in unlogged if len(word) >= SHORTEST_PASSWORD and not root.knows(word)]
    return reason_without(str(refusal.data["error"]).partition("\n")[0], secrets)


def _refuse_sender(server: Server, mail: Incoming, envelope_sender: str) -> None:
    """Tell a user that nothing was done, because the From of their mail has several addresses.

    One of these has to be the sender of the envelope, who is told.
    """
    sender = envelope_sender.lower()
    session = Session(server, sender, is_trusted=False, is_printed=False)
    if sender in mail.senders and session.senders and session.take("error", is_own=True):
        why = Refused("Nothing was done, because this mail is from several addresses; a command comes from one alone.")
        delivery.queue(session, plain_line(mail.subject).refusal(why, is_user=server.store.users.is_taken))


def machine_of(peer: str | None) -> str | None:
    """The machine or the network of IPv6 that a mail came from; None for our own relay, which brings all mails."""
    try:
        address = ip_address(peer or "")
    except ValueError:
        return None
    address = getattr(address, "ipv4_mapped", None) or address  # as a proxy that listens for both writes IPv4
    if not address.is_global:
        return None
    return network_of(str(address))


def network_of(peer: str) -> str:
    """What counts as one peer: an address of IPv4, a network of 64 bits of IPv6, or all of a local socket."""
    if ":" in peer:
        return str(ip_network((peer, 64), strict=False))
    return peer
