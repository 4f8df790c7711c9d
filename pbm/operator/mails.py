"""The operator's commands for mail: the outbox, the key that signs, and the login at a provider."""

import os
from collections.abc import Mapping
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pbm import texts
from pbm.console import answer, answer_list, open_existing, prepare_helper, time_text, wait_for_end
from pbm.console.usage import WHOLE_NUMBER, Commands
from pbm.disk import whole
from pbm.mail import signing
from pbm.refusals import Refused, refusing_os_errors
from pbm.server import Server
from pbm.settings import (
    inner_networks,
    mailbox_tokens,
    make_data_folder,
    open_server,
    signed_transport,
    signer_with,
)
from pbm.store import Mail
from pbm.terminal import read_line, read_secret, say

if TYPE_CHECKING:
    from pbm.mail.oauth import Login, Tokens

commands = Commands("pbm")


@commands.group("mail")
def mail_setup() -> None:
    """Prepare the server for mail."""


@mail_setup.command("key")
@click.option("--new", is_flag=True, help="Make the key that follows the one that is there.")
def make_key(*, new: bool) -> None:
    """Make the key that signs the server's mails (DKIM), and print the line that publishes it in the zone.

    PBM_DKIM_KEY names its file. Without that setting, it is dkim.key in the folder of the database. A key that is there
    is kept, and its line is printed again. --new makes another file, for the next selector, and leaves the present key
    as it is.
    """
    chosen = os.environ.get("PBM_DKIM_KEY")
    path = Path(chosen or Path(make_data_folder()).with_name("dkim.key")).absolute()
    present = signer_with(path)
    with refusing_os_errors(f"The key cannot be written beside {path}"):
        follows = new and path.exists()
        signer = present.successor() if follows else present
        is_made = not signer.path.exists()
        if is_made:
            signing.make_key(signer.path)
    record = signer.record()
    line = signing.zone_line(signer.record_name, "TXT", record)
    if is_made:
        what = f"The new key is {signer.path}."
    elif follows:
        what = f"The new key is {signer.path}, as before."
    else:
        what = f"The key is {path}, as before; --new makes the one that follows it."
    lines = [what, "", f"The line for the zone of {signer.domain}:", "", line]
    if follows:
        lines += ["", "The settings with which mails are signed by it, once the zone has that line:"]
        lines += ["", f"PBM_DKIM_KEY={signer.path}", f"PBM_DKIM_SELECTOR={signer.selector}"]
        lines += ["", f"Keep {present.record_name} in the zone for another week."]
        lines += ["Mails that are on their way then were signed by the old key."]
    elif not chosen:
        lines += ["", "The setting with which mails are signed:", "", f"PBM_DKIM_KEY={path}"]
    data = {"key": str(signer.path), "made": is_made, "name": signer.record_name, "record": record, "line": line}
    answer("\n".join(lines), data)


@mail_setup.command("login", answers=False)
@click.option("--provider", type=click.Choice(["google", "microsoft"]), help="The provider of the mailbox.")
@click.option("--client", metavar="ID", help="Under which pbm is registered with the provider.")
@click.option("--scope", metavar="WORDS", help="At another provider: what pbm may do.")
@click.option("--token-url", metavar="URL", help="At another provider: where tokens come from.")
@click.option("--device-url", metavar="URL", help="At another provider: where the code for the browser comes from.")
@click.option("--browser-url", metavar="URL", help="Instead of such a code: where the browser begins.")
def log_in_to_mailbox(provider: str | None, **options: str | None) -> None:
    """Log in to a mailbox that takes no passwords, for example at Google or Microsoft.

    It says what to do in a browser, on any machine. Then `pbm fetch` and PBM_TRANSPORT need no password. Without
    options it logs in again.

    PBM_OAUTH names the file of the login. Without that setting, it is mailbox-login.json in the folder of the database.
    If the provider has given a secret with the ID, that is PBM_OAUTH_SECRET; the one of Google is asked for.
    """
    from pbm.mail.consent import log_in
    from pbm.mail.oauth import LoginProblem, Tokens

    tokens = mailbox_tokens()
    is_chosen = tokens is not None
    if tokens is None:
        tokens = Tokens(Path(make_data_folder()).with_name("mailbox-login.json"))
    path = tokens.path.absolute()
    login = _login_to_begin(tokens, provider, options)
    with refusing_os_errors(f"The login cannot be written to {path}"), whole(path):
        pass  # before anybody goes to a browser
    try:
        done = log_in(login, lambda text: say(text, {}), read_line)
        tokens.replace(lambda: done)
    except LoginProblem as why:
        raise Refused(f"The login has failed: {why}.") from why
    say(f"pbm is logged in at {done.provider}. The login is in {path}.", {})
    if not is_chosen:
        say(f"\nThe setting with which it is used:\n\nPBM_OAUTH={path}", {})


def _login_to_begin(tokens: "Tokens", provider: str | None, options: Mapping[str, str | None]) -> "Login":
    """What to log in with: a known provider, or else what is in the file, with what the options say. Raises Refused."""
    from pbm.mail.consent import PROVIDERS, is_safe
    from pbm.mail.oauth import Login, LoginProblem

    if provider:
        login = PROVIDERS[provider]
    else:
        try:
            login = tokens.read()
        except LoginProblem:  # there is none yet, or none that may be used
            login = Login("", "", "")
    given: dict[str, Any] = {name: value for name, value in options.items() if value}
    if not given.keys().isdisjoint({"browser_url", "device_url"}):
        login = login._replace(browser_url="", device_url="")
    if "token_url" in given and not provider:
        login = login._replace(secret="")  # it belongs to the provider that gave it
    login = login._replace(**given)
    if not all((login.client, login.scope, login.token_url, login.device_url or login.browser_url)):
        raise Refused(
            "A login needs --client=ID and --provider=google or --provider=microsoft; at another provider --client, "
            "--scope, --token-url, and --device-url or --browser-url."
        )
    for url in filter(None, (login.token_url, login.device_url, login.browser_url)):
        if not is_safe(url):
            raise Refused(f"{url} is not https://HOST/PATH.")
    secret = os.environ.get("PBM_OAUTH_SECRET") or login.secret
    if provider == "google" and not secret:
        secret = read_secret("PBM_OAUTH_SECRET", lambda: getpass("Secret of the client: "))
    return login._replace(secret=secret)


@commands.group()
def outbox() -> None:
    """Look at the mails that wait to go out, and send them."""


@outbox.command("flush")
def flush_mails() -> int:
    """Send all mails that are due."""
    from pbm.mail.sending import flush

    server = open_server()
    done = flush(server, signed_transport())
    answer(*done.summary(server))
    return 1 if done.failed else 0


@outbox.command("keep-sending", hidden=True)
def send_mails() -> None:
    """Send mails as they come, until standard input ends; `pbm serve` runs this."""
    from pbm.mail.sending import keep_sending

    prepare_helper()
    keep_sending(open_existing(), signed_transport(), wait_for_end)


@outbox.command("notify")
def send_notices_due() -> int:
    """Send all notices that are due, by other ways than mail. `pbm serve` does this by itself."""
    from pbm.delivery.notices import schemes
    from pbm.notices.sending import SentNotices, prepare_process, send_notices

    server = open_server()
    inner = inner_networks()
    done = SentNotices()
    if server.store.notices.are_due(server.now(), schemes(server)):
        prepare_process(inner)  # which cannot be undone in this process
        done = send_notices(server)
    answer(f"{done.sent} sent, {done.failed} not sent.", done._asdict())
    return 1 if done.failed else 0


@outbox.command("keep-notifying", hidden=True)
def keep_notifying() -> None:
    """Send notices as they come, until standard input ends; `pbm serve` runs this."""
    from pbm.notices.sending import keep_sending_notices, prepare_process

    prepare_helper()
    server = open_existing()
    prepare_process(inner_networks())
    keep_sending_notices(server, wait_for_end)


@outbox.command("list")
def list_mails() -> None:
    """List the mails that have not gone out, with what went wrong."""
    server = open_existing()
    data = [_data(server, mail) for mail in server.store.outbox.all()]
    lines = [("Mail", "To", "Subject", "Written", "Tries", "Next try", "Problem")]
    for mail in data:
        if mail["state"] == "retry":
            next_try = time_text(mail["due"])
        else:
            next_try = NEXT_TRY[mail["state"]]
        lines.append(
            (
                str(mail["id"]),
                mail["to"] or str(mail["userid"]),
                mail["subject"],
                time_text(mail["queued"]),
                str(mail["tries"]),
                next_try,
                mail["problem"] or "",
            )
        )
    answer_list(lines, {"mails": data}, "The outbox is empty.")


@outbox.command("show")
@click.argument("number", type=WHOLE_NUMBER, metavar="ID")
def show_mail(number: int) -> None:
    """Show a mail as it will go out, and what has become of it so far."""
    server = open_existing()
    mail = _mail(server, number)
    data = _data(server, mail)
    to = mail.address or "no address yet"
    if mail.userid:
        to += f" ({mail.userid})"
    if data["state"] == "retry":
        state = f"tried again at {time_text(mail.due)}"
    else:
        state = NEXT_TRY[data["state"]]
    tries = f"{mail.tries}"
    if mail.problem:
        tries += f", {mail.problem}"
    lines = [
        ("To:", to),
        ("Subject:", mail.subject),
        ("Written:", time_text(mail.queued)),
        ("State:", state),
        ("Tries:", tries),
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
    mail = server.store.outbox.get(number)
    if mail is None:
        raise Refused(f"There is no mail {number} in the outbox.")
    return mail


def _data(server: Server, mail: Mail) -> dict[str, Any]:
    """A mail for programs."""
    if mail.is_suspended:
        state = "suspended"
    elif mail.address is None:
        state = "unconfirmed"
    elif mail.due is None:
        state = "given up"
    elif mail.due <= server.now():
        state = "due"
    else:
        state = "retry"
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
