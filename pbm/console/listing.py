"""What the operator's lists have in common."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import click

from pbm.console.usage import Commands, WholeNumber
from pbm.refusals import Refused
from pbm.server import Server
from pbm.store.users import UserRow

LISTED = 100
"""How many lines a list has, if no other number is given."""
ALL = 10**18
"""More than there can be of anything."""

LIMIT = click.option(
    "--limit", type=WholeNumber(), default=LISTED, show_default=True, metavar="N", help="How many are listed."
)


class Listing(Commands):
    """Commands of which `list` is meant when none of them is named."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Declare a group without commands."""
        super().__init__(*args, epilog="`list` can be left out.", **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` in front of words that begin with no command."""
        first = next((arg for arg in args if not arg.startswith("-")), "")
        return super().parse_args(ctx, args if first.lower() in self.commands else ["list", *args])


def find_user(server: Server, userid: str) -> UserRow:
    """A user, or one who has signed off. Raises Refused if there is none."""
    found = server.store.users.rows([userid.lower()])
    if not found:
        raise Refused(f"There is no user {userid!r}.")
    return found[0]


def time_text(moment: datetime | None) -> str:
    """A time for people; empty if there is none."""
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def time_data(moment: datetime | None) -> str | None:
    """A time for programs."""
    return moment.isoformat() if moment else None


def more(found: Sequence[object], limit: int) -> list[str]:
    """The line below a list that has more than was asked for."""
    return [f"There are more than {limit}; --limit=N shows N of them."] if len(found) > limit else []
