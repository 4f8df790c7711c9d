"""Where commands come from: a shell, or a mail."""

from collections.abc import Callable, Collection
from typing import NamedTuple

import click

from pbm.session import Session


class Front(NamedTuple):
    """Where commands come from."""

    session: Callable[[], Session]
    """Opens what a command needs."""
    prints: bool = False
    """Whether the answer is printed and not mailed."""
    read_password: Callable[[], str] = lambda: "-"
    """Asked for a password that is written as a hyphen."""
    beside: Collection[str] = ()
    """The commands that can be given there and are none of the language."""


class PasswordType(click.ParamType[str]):
    """A password; a hyphen stands for one that is given in another way."""

    name = "password"

    def convert(self, value: str, _: click.Parameter | None, ctx: click.Context | None) -> str:
        """The password itself."""
        front: Front | None = ctx.obj if ctx else None
        return front.read_password() if front and value == "-" else value
