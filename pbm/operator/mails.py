"""The commands by which an operator looks after the mails that have still to go out."""

import sys
from typing import Any

import click

from pbm import texts
from pbm.console import answer, end_with_input_alone, let_server_go_first, open_existing
from pbm.console.listing import LIMIT, more, time_data, time_text
from pbm.console.usage import Commands, WholeNumber
from pbm.refusals import Refused
from pbm.server import Server
from pbm.settings import open_server, transport
from pbm.store import Mail

commands = Commands("pbm")
MAIL_NUMBERS = click.argument("numbers", nargs=-1, type=WholeNumber(), metavar="[ID]...")


@commands.group()
def outbox() -> None:
    """Look at the mails that have still to go out, and send them."""


@outbox.command("flush")
def flush_mails() -> int:
    """Send all mails that are due."""
    from pbm.mail.outbox import flush

    server = open_server()
    done = flush(server, transport())
    answer(*done.told(server))
    return 1 if done.failed else 0


@outbox.command("keep-sending", hidden=True)
def send_mails() -> None:
    """Send mails as they come, until standard input ends; `pbm serve` runs this."""
    from pbm.mail.outbox import keep_sending

    end_with_input_alone()
    let_server_go_first()
    keep_sending(open_existing(), transport(), sys.stdin.fileno())


@outbox.command("list")
@LIMIT
def list_mails(limit: int) -> None:
    """List the mails that have not gone out, with what went wrong."""
    server = open_server()
    mails = list(server.store.outbox.listed(limit + 1))
    lines = [("Mail", "To", "Subject", "Written", "Tries", "Next try", "Problem")]
    for mail, is_suspended in mails[:limit]:
        state = _state_of_mail(server, mail, is_suspended=is_suspended)
        to = mail.address or str(mail.userid)
        when = time_text(mail.due) if state == "retry" else WHEN_TRIED[state]
        lines.append(
            (str(mail.id), to, mail.subject, time_text(mail.queued), str(mail.tries), when, mail.problem or "")
        )
    text = "\n".join([texts.table(lines), *more(mails, limit)])
    data = [_mail_data(server, mail, is_suspended=is_suspended) for mail, is_suspended in mails[:limit]]
    answer(text if mails else "The outbox is empty.", {"mails": data})


@outbox.command("show")
@click.argument("number", type=WholeNumber(), metavar="ID")
def show_mail(number: int) -> None:
    """Show a mail as it will go out, and what has become of it so far."""
    server = open_existing()
    mail, is_suspended = _mail(server, number)
    data = _mail_data(server, mail, is_suspended=is_suspended)
    state = data["state"]
    lines = [
        ("To:", f"{mail.address or 'no address yet'}{f' ({mail.userid})' if mail.userid else ''}"),
        ("Subject:", mail.subject),
        ("Written:", time_text(mail.queued)),
        ("State:", f"tried again at {time_text(mail.due)}" if state == "retry" else WHEN_TRIED[state]),
        ("Tries:", f"{mail.tries}{f', {mail.problem}' if mail.problem else ''}"),
    ]
    answer(f"{texts.table(lines)}\n\n{mail.text.rstrip()}", {**data, "text": mail.text})


@outbox.command("retry")
@MAIL_NUMBERS
@click.option("--all", "wants_all", is_flag=True, help="All that have an address.")
def retry_mails(numbers: tuple[int, ...], *, wants_all: bool) -> None:
    """Try mails again now, also such as were given up: they become due, and go out with the next flush."""
    server = open_existing()
    if bool(numbers) == wants_all:
        raise click.UsageError("Name mails by their numbers, or all by --all.")
    with server.store.writing():
        for number in numbers:
            mail, _ = _mail(server, number)
            if mail.address is None:
                raise Refused(f"Mail {number} has nowhere to go; `pbm addresses {mail.userid}` tells why.")
        count = server.store.outbox.retry(numbers, server.now())
    answer(f"{count} due now.", {"due": count})


@outbox.command("drop")
@click.argument("numbers", nargs=-1, type=WholeNumber(), required=True, metavar="ID...")
def drop_mails(numbers: tuple[int, ...]) -> None:
    """Drop mails; they are not sent."""
    server = open_existing()
    with server.store.writing():
        for number in numbers:
            _mail(server, number)
        server.store.outbox.drop(numbers)
    count = len(set(numbers))
    answer(f"{count} dropped.", {"dropped": count})


WHEN_TRIED = {
    "due": "now",
    "retry": "later",
    "given up": "never (given up)",
    "unconfirmed": "when an address is confirmed",
    "suspended": "after a mail from them; theirs bounces",
}
"""When a mail is tried next, by its state."""


def _mail(server: Server, number: int) -> tuple[Mail, bool]:
    found = server.store.outbox.get(number)
    if found is None:
        raise Refused(f"There is no mail {number} in the outbox.")
    return found


def _state_of_mail(server: Server, mail: Mail, *, is_suspended: bool) -> str:
    if is_suspended:
        return "suspended"
    if mail.address is None:
        return "unconfirmed"
    if mail.due is None:
        return "given up"
    return "due" if mail.due <= server.now() else "retry"


def _mail_data(server: Server, mail: Mail, *, is_suspended: bool) -> dict[str, Any]:
    return {
        "id": mail.id,
        "to": mail.address,
        "userid": mail.userid,
        "subject": mail.subject,
        "state": _state_of_mail(server, mail, is_suspended=is_suspended),
        "queued": time_data(mail.queued),
        "tries": mail.tries,
        "due": time_data(mail.due),
        "problem": mail.problem,
    }
