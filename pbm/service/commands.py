"""The commands that run the server: taking mail in, sending it, and the referee for programs."""

import os
import socket
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from pbm.console import answer
from pbm.console.usage import GAME_ARGUMENT, Commands, WholeNumber
from pbm.delivery.notices import WEBHOOK
from pbm.mail import incoming
from pbm.refusals import Refused, refusing_os_errors
from pbm.session import Session
from pbm.settings import mailbox_tokens, open_server, signed_transport, signer
from pbm.terminal import fail, read_secret, replace_errors, say, warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from pbm.mail.smtp import Entry
    from pbm.server import Server
    from pbm.service.listening import Endpoint
    from pbm.service.web import WebServer

EX_DATAERR = 65
EX_NOUSER = 67
EX_TEMPFAIL = 75
"""What mail servers understand of the exit status of a program that they pipe a mail to (sysexits.h)."""

REFEREE = """Answer requests about a game, a line each, on standard input; for robots and tests.

\b
new [OPTIONS]    begin a game; the options are those of the challenge
dice 4 4         set the dice of the player to move
seed N           make dice and random moves repeat
play MOVE        play a move
random           play a legal move chosen at random
undo             back to before the last move that was asked for
moves [MOST]     count the legal moves, and list as many as MOST (100)
state            the position in JSON, with the moves that led to it
position JSON    set up a position, as `state` prints it
board            the board as drawn
quit             end

Each answer is a line that begins with `= ` if it was done, and with `? ` and the reason if it was refused. `play` and
`random` answer the move in canonical form; `moves` the number, which is + if there are more than were counted, and the
moves; where MOST is given no more of them are counted. `board` answers the number of lines that follow it.
"""

commands = Commands("pbm")


@commands.command(help=REFEREE, answers=False)
@GAME_ARGUMENT
def referee(game: str) -> int:
    """Answer requests about a game on standard input."""
    from pbm.referee import run

    replace_errors(sys.stdin, sys.stdout)
    run(game, sys.stdin, sys.stdout)
    return 0


@commands.command("serve", answers=False)
@click.option(
    "--listen",
    default="127.0.0.1:8025",
    show_default=True,
    metavar="HOST:PORT",
    help="Port 0 is a free one; unix:/PATH is a socket in the file system.",
)
@click.option("--lmtp", is_flag=True, help="Speak LMTP instead of SMTP.")
@click.option("--certificate", metavar="FILE", help="Offer STARTTLS with this certificate and those above it.")
@click.option("--key", metavar="FILE", help="The key of the certificate.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="How each mail is logged.")
@click.option("--metrics", metavar="HOST:PORT", help="Tell Prometheus there how it goes.")
@click.option(
    "--robots",
    type=WholeNumber(0, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="How many processes play for the robots; 0 for none.",
)
@click.option("--web", metavar="HOST:PORT", help="Take answers there that are posted on pages, and hand out the site.")
@click.option("--site", metavar="DIR", help="Write a site to this folder, and what changes within seconds.")
@click.option("--url", metavar="URL", help="Where that site will stand, such as https://games.example/.")
def serve_(
    listen: str,
    certificate: str | None,
    key: str | None,
    log_format: str,
    metrics: str | None,
    robots: int,
    web: str | None,
    site: str | None,
    url: str | None,
    *,
    lmtp: bool,
) -> None:
    """Take mail by SMTP, send what is in the outbox, and play for the robots, until told to end."""
    from pbm.mail.smtp import Journal
    from pbm.service.listening import Certificate, endpoint
    from pbm.service.main_thread import MainThread
    from pbm.service.serve import serve

    where = endpoint(listen)
    if not where:
        raise click.UsageError(f"--listen={listen} is not HOST:PORT or unix:/PATH.")
    if (certificate is None) != (key is None) or (certificate and lmtp):
        raise click.UsageError("--certificate and --key go together, and not with --lmtp.")
    signed_transport()  # the process that sends could not say that there is none
    signer()  # and it would let all mails wait
    with refusing_os_errors(f"{certificate} and {key} are no certificate and its key"):
        tls = Certificate(certificate, key) if certificate and key else None
    opened = open_server()
    _check_notices(opened)
    # systemd adds the time to what goes into its journal
    clock = None if "JOURNAL_STREAM" in os.environ else opened.now
    journal = Journal(clock, as_json=log_format == "json")
    count = _start_metrics(opened, metrics) if metrics else None

    def note(entry: "Entry") -> None:
        journal.note(entry)
        if count:
            count(entry)

    words_of_site = _words_of_site(site, url, web)
    web_server = _open_web_server(opened, web, site, url or "") if web else None
    thread = MainThread()
    served = serve(
        opened,
        where,
        thread,
        note=note,
        lmtp=lmtp,
        certificate=tls,
        robots=robots,
        site=words_of_site,
        web=web_server,
    )
    thread.run_beside(served)


def _words_of_site(folder: str | None, url: str | None, web: str | None) -> list[str]:
    """The words behind the command `site`. Raises Refused if it would refuse them."""
    if folder is None:
        if url:
            raise click.UsageError("--url is for a --site.")
        return []
    from pbm.operator.site import site_settings

    site_settings(url or "")
    words = []
    if url:
        words.append(f"--url={url}")
    if web:
        words.append("--web")
    words += ["--", folder]
    return words


def _port(option: str, text: str) -> "Endpoint":
    """The port that an option names. Raises UsageError."""
    from pbm.service.listening import endpoint

    where = endpoint(text)
    if not where or where.path:
        raise click.UsageError(f"{option}={text} is not HOST:PORT.")
    return where


def _open_web_server(opened: "Server", web: str, site: str | None, url: str) -> "WebServer":
    """Listen for browsers, and say where. Returns the web server. Raises Refused."""
    where = _port("--web", web)
    kind = _web_server_class()
    with refusing_os_errors(f"The web server cannot listen on {web}"):
        family = socket.AF_INET6 if ":" in where.host else socket.AF_INET
        listening = socket.create_server((where.host, where.port), family=family)
    say(f"web on {where._replace(port=listening.getsockname()[1])}", {})
    return kind(opened, listening, site, url)


def _web_server_class() -> "type[WebServer]":
    """The class of the web server. Raises Refused if what it needs is not installed."""
    try:
        from pbm.service.web import WebServer
    except ImportError as why:
        raise Refused(
            "--web needs Starlette, uvicorn and icalendar: "
            "`python3 bin/make_environment.py web` in a clone, or pip install '.[web]'."
        ) from why
    return WebServer


def _check_notices(opened: "Server") -> None:
    """Raises Refused if notices need Apprise, and it is not installed; the process that sends could not say so."""
    if set(opened.notice_kinds) - {WEBHOOK} and find_spec("apprise") is None:
        raise Refused(
            "The kinds of PBM_NOTICES but https need Apprise: "
            "`python3 bin/make_environment.py notices` in a clone, or pip install '.[notices]'."
        )


def _start_metrics(opened: "Server", metrics: str) -> "Callable[[Entry], None]":
    """Listen for Prometheus, and say where. Returns the function that counts a mail. Raises Refused."""
    where = _port("--metrics", metrics)
    try:
        from pbm.service.metrics import Metrics
    except ImportError as why:
        raise Refused(
            "--metrics needs the official client of Prometheus: "
            "`python3 bin/make_environment.py metrics` in a clone, or pip install '.[metrics]'."
        ) from why
    figures = Metrics(opened.store.path, opened.now)
    with refusing_os_errors(f"The metrics cannot listen on {metrics}"):
        port = figures.listen(where.host, where.port)
    say(f"metrics on {where._replace(port=port)}", {})
    return figures.note


@commands.command(answers=False, context_settings={"ignore_unknown_options": True})
@click.argument("ignored", nargs=-1, type=click.UNPROCESSED, metavar="")
def deliver(ignored: tuple[str, ...]) -> int:
    """Handle one mail from standard input, as mail servers pipe it to a program.

    What they add to the command is ignored.

    The envelope is SENDER and RECIPIENT from the environment, or else the first Return-Path and Delivered-To. The exit
    status is 0 when the mail is handled, and 75 when it has to come again. It is 65 when the mail is too large, cannot
    be answered or has taken too long twice, and 67 when it is for another address.
    """
    try:
        raw = sys.stdin.buffer.read(incoming.MOST_BYTES + 1)
        if len(raw) > incoming.MOST_BYTES:
            return fail("The mail is too large.", EX_DATAERR)
        sender, recipient = incoming.envelope(raw, os.environ)
        if not (sender or "").isascii():
            return fail(incoming.NOT_ASCII, EX_DATAERR)
        server = open_server()
        if recipient is None:
            recipients = incoming.addressed(raw, server.address)
        elif incoming.is_known(server, recipient):
            recipients = [recipient]
        else:
            return fail(f"{recipient} is no mailbox of this server.", EX_NOUSER)
        outcome = incoming.handle_within_limits(server, raw, sender, recipients)
    except Exception as why:  # whatever it is, the mail is kept and comes again
        return fail(f"{type(why).__name__}: {why}", EX_TEMPFAIL)
    if outcome.word == "refused":
        return fail(f"{outcome.reason}.", EX_DATAERR)
    return 0


@commands.command()
def cleanup() -> int:
    """Remind players who are late, end games of those who are too late, and forget what is old.

    Let it run once a day; more often does no harm.
    """
    from pbm.actions.cleanup import clean_up

    done = clean_up(Session(open_server()))
    if not click.get_current_context().obj:
        for problem in done.problems:
            warn(problem)
    answer(done.text, done._asdict())
    return 1 if done.problems else 0


@commands.command("fetch")
@click.argument("url", metavar="imaps://USER@HOST[:PORT][/FOLDER]")
@click.option(
    "--to", "folder", default="pbm-handled", show_default=True, metavar="FOLDER", help="Where they are moved."
)
@click.option("--idle", is_flag=True, help="Go on, and handle mails as they come.")
def fetch_(url: str, folder: str, *, idle: bool) -> int:
    """Handle the unread mails of a mailbox, move them, and send what is in the outbox.

    The password of the mailbox is PBM_IMAP_PASSWORD. If that is not set, the login of `pbm mail login` (PBM_OAUTH)
    counts, or else the password is asked for. A URL that begins with imap is encrypted by STARTTLS. With --idle it goes
    on until it is told to end, and connects again where a connection is lost.
    """
    import imaplib

    from pbm.mail.fetch import account, complaint, fetch, folder_name, keep_fetching
    from pbm.mail.sending import flush

    box = account(url)
    folder = folder_name(folder)
    password = os.environ.get("PBM_IMAP_PASSWORD") or mailbox_tokens() or read_secret("PBM_IMAP_PASSWORD")
    if not password:
        raise Refused("The password of the mailbox has to be in PBM_IMAP_PASSWORD.")
    way = signed_transport()
    server = open_server()
    try:
        if idle:
            keep_fetching(server, box, password, folder)
        count = fetch(server, box, password, folder)
    except (imaplib.IMAP4.error, OSError) as why:
        raise Refused(f"The mailbox cannot be read: {complaint(why)}.") from why
    done = flush(server, way)
    text, data = done.summary(server)
    answer(f"{count} handled, {text}", {"handled": count, **data})
    return 1 if done.failed else 0


@commands.command(answers=False)
@click.option("--web", is_flag=True, help="Open a page instead on which you play a robot, until Ctrl-C.")
def demo(*, web: bool) -> None:
    """Play a whole game of Spiro by mail against a robot, on a server of its own, and show the mails."""
    from pbm.service.demo import run, show_page

    if web:
        _web_server_class()
        show_page()
    else:
        run()
