"""The command that tells how the server is doing; it is quick, however many boards there are."""

from datetime import datetime

from pbm.actions.status import PROGRAM_VERSION, Status, needed, status_at, status_text
from pbm.console import answer, open_existing
from pbm.console.usage import Commands
from pbm.refusals import Refused
from pbm.settings import check_mailbox_login, signer
from pbm.store import SCHEMA, Unusable

commands = Commands("pbm")


@commands.command()
def status() -> int:
    """Show how the server is doing. If anything needs a person, the answer says what, and the exit status is 1.

    It is quick, however many boards there are; `pbm doctor` checks everything. Commands are counted if they came by
    mail, or if they were given in a shell and changed something.
    """
    server = open_existing()
    now = server.now()
    current = status_at(server.store, now)
    needs = list(needed(current, now))
    try:
        signer()
    except (Refused, Unusable) as why:
        needs.insert(0, f"No mail goes out: {why}")
    try:
        check_mailbox_login()
    except Unusable as why:
        needs.insert(0, str(why))
    objection = server.store.health.objection()
    if objection:
        needs.insert(0, f"The database cannot be written: {objection}.")
    lines = [status_text(current)]
    lines += needs
    answer("\n".join(lines), _data(current, now, needs))
    return 1 if needs else 0


def _data(status: Status, now: datetime, needs: list[str]) -> dict[str, object]:
    """The status, for programs."""
    mails = status.mails
    oldest_seconds = None
    if mails.oldest:
        oldest_seconds = int((now - mails.oldest).total_seconds())
    return {
        "ok": not needs,
        "needs": needs,
        "version": PROGRAM_VERSION,
        "schema": SCHEMA,
        "users": status.users,
        "boards": status.boards,
        "active": status.active,
        "outbox": {
            "waiting": mails.to_send,
            "without_address": mails.unaddressed,
            "given_up": mails.given_up,
            "oldest_seconds": oldest_seconds,
        },
        "commands": status.commands._asdict(),
        "last_cleanup": status.cleanup,
        "last_backup": status.backup,
        "database_bytes": status.size,
        "free_bytes": status.free,
    }
