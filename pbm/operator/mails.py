"""The operator's commands for the outbox."""

from typing import Any

import click

from pbm import texts
from pbm.console import answer, answer_list, open_existing, prepare_helper, time_text, wait_for_end
from pbm.console.usage import WHOLE_NUMBER, Commands
from pbm.refusals import Refused
from pbm.server import Server
from pbm.settings import open_server, transport
from pbm.store import Mail

commands = Commands("pbm")


@commands.group()
def outbox() -> None:
    """Look at the mails that have still to go out, and send them."""


@outbox.command("flush")
def flush_mails() -> int:
    """Send all mails that are due."""
    from pbm.mail.sending import flush

    server = open_server()
    done = flush(server, transport())
    answer(*done.told(server))
    return 1 if done.failed else 0


@outbox.command("keep-sending", hidden=True)
def send_mails() -> None:
    """Send mails as they come, until standard input ends; `pbm serve` runs this."""
    from pbm.mail.sending import keep_sending

    prepare_helper()
    keep_sending(open_existing(), transport(), wait_for_end)


@outbox.command("list")
def list_mails() -> None:
    """List the mails that have not gone out, with what went wrong."""
    server = open_existing()
    data = [_data(server, mail) for mail in server.store.outbox.all()]
    lines = [("Mail", "To", "Subject", "Written", "Tries", "Next try", "Problem")]
    for one in data:
        to = one["to"] or str(one["userid"])
        when = time_text(one["due"]) if one["state"] == "retry" else NEXT_TRY[one["state"]]
        written, tries = time_text(one["queued"]), str(one["tries"])
        lines.append((str(one["id"]), to, one["subject"], written, tries, when, one["problem"] or ""))
    answer_list(lines, {"mails": data}, "The outbox is empty.")


@outbox.command("show")
@click.argument("number", type=WHOLE_NUMBER, metavar="ID")
def show_mail(number: int) -> None:
    """Show a mail as it will go out, and what has become of it so far."""
    server = open_existing()
    mail = _mail(server, number)
    data = _data(server, mail)
    is_again = data["state"] == "retry"
    lines = [
        ("To:", f"{mail.address or 'no address yet'}{f' ({mail.userid})' if mail.userid else ''}"),
        ("Subject:", mail.subject),
        ("Written:", time_text(mail.queued)),
        ("State:", f"tried again at {time_text(mail.due)}" if is_again else NEXT_TRY[data["state"]]),
        ("Tries:", f"{mail.tries}{f', {mail.problem}' if mail.problem else ''}"),
    ]
    answer(f"{texts.table(lines)}\n\n{mail.text.rstrip()}", {**data, "text": mail.text})


@outbox.command("retry")
@click.argument("numbers", nargs=-1, type=WHOLE_NUMBER, metavar="[ID]...")
@click.option("--all", "wants_all", is_flag=True, help="All that have an address.")
def retry_mails(numbers: tuple[int, ...], *, wants_all: bool) -> None:
    """Try mails again now, also those that were given up: they become due, and the next flush sends them."""
    server = open_existing()
    if bool(numbers) == wants_all:
        raise click.UsageError("Name mails by their numbers, or all by --all.")
    with server.store.writing():
        for number in numbers:
            mail = _mail(server, number)
            if mail.address is None:
                raise Refused(f"Mail {number} has nowhere to go; `pbm addresses {mail.userid}` tells why.")
        count = server.store.outbox.retry(numbers, server.now())
    answer(f"{count} due now.", {"due": count})


@outbox.command("drop")
@click.argument("numbers", nargs=-1, type=WHOLE_NUMBER, required=True, metavar="ID...")
def drop_mails(numbers: tuple[int, ...]) -> None:
    """Drop mails; they are not sent."""
    server = open_existing()
    with server.store.writing():
        server.store.outbox.drop([_mail(server, number) for number in numbers])
    count = len(set(numbers))
    answer(f"{count} dropped.", {"dropped": count})


NEXT_TRY = {
    "due": "now",
    "given up": "never (given up)",
    "unconfirmed": "when an address is confirmed",
    "suspended": "when they write to us: their address bounces",
}
"""When a mail is tried next, by its state; a mail in the state ``retry`` has a time instead."""


def _mail(server: Server, number: int) -> Mail:
    """A mail in the outbox. Raises Refused if there is none."""
    found = server.store.outbox.get(number)
    if found is None:
        raise Refused(f"There is no mail {number} in the outbox.")
    return found


def _data(server: Server, mail: Mail) -> dict[str, Any]:
    """A mail for programs."""
    if mail.is_suspended:
        state = "suspended"
    elif mail.address is None:
        state = "unconfirmed"
    elif mail.due is None:
        state = "given up"
    else:
        state = "due" if mail.due <= server.now() else "retry"
    return {
        "id": mail.id,
        "to": mail.address,
        "userid": mail.userid,
        "subject": mail.subject,
        "state": state,
        "queued": mail.queued,
        "tries": mail.tries,
        "due": mail.due,
        "problem": mail.problem,
    }
