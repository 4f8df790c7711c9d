"""The command that shows the settings: the value of each, where it comes from, and what is odd about them."""

import os
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from pbm import client, environment, settings, texts
from pbm.console import answer
from pbm.console.usage import Commands
from pbm.environment import ENVIRONMENT, PREFIX, SECRETS, SOURCES
from pbm.names import is_address
from pbm.refusals import Refused
from pbm.store import Unusable

commands = Commands("pbm")

DEFAULT = "default"
"""The source of a setting that is not set."""
SETTING_NAMES = (
    "PBM_DB",
    "PBM_ADDRESS",
    "PBM_OPERATOR",
    "PBM_TRANSPORT",
    "PBM_TRANSPORT_PASSWORD",
    "PBM_DKIM_KEY",
    "PBM_DKIM_SELECTOR",
    "PBM_IMAP_PASSWORD",
    "PBM_OAUTH",
    "PBM_OAUTH_SECRET",
    "PBM_SITE",
    "PBM_WEB",
    "PBM_PASSWORD",
    "PBM_SERVER",
    "PBM_TOKEN",
    "PBM_ROBOT_BOARDS",
    "PBM_ROBOT_MINUTES",
    "PBM_SETTINGS",
    "PBM_NOTICES",
    "PBM_NOTICES_INNER",
    "PBM_DEBUG",
)
"""The settings, in the order of docs/installing.md."""


class Shown(NamedTuple):
    """A setting as it is shown."""

    name: str
    value: str | None
    """None if it has none; that of a secret is not shown."""
    source: str


@commands.command("settings")
def show_settings() -> int:
    """Show the settings: the value of each, and where it comes from. If anything is odd, the exit status is 1.

    A setting is taken from the environment, or else from a credential of systemd, from ~/.config/pbm/pbm.env, or from
    /etc/pbm/pbm.env. Secrets are not shown.
    """
    shown = [shown_setting(name) for name in SETTING_NAMES]
    oddities: list[str] = []
    for check in (wrong_values, unknown_names, overridden_settings, exposed_secrets, unread_files):
        oddities += check()
    lines = [("Setting", "Value", "From")]
    lines += [(setting.name, setting.value or "", setting.source) for setting in shown]
    data = {"settings": [setting._asdict() for setting in shown], "odd": oddities}
    answer("\n".join([texts.table(lines)] + oddities), data)
    return 1 if oddities else 0


def shown_setting(name: str) -> Shown:
    """A setting as it is shown; of one that is not set, the default, if that is known without its being used."""
    value = os.environ.get(name)
    if value is None:
        default = _DEFAULTS.get(name)
        return Shown(name, default and _value_of(default), DEFAULT)
    source = SOURCES.get(name, ENVIRONMENT)
    if not value:
        return Shown(name, None, source)
    if name in SECRETS:
        return Shown(name, "(not shown)", source)
    return Shown(name, re.sub(r"(//[^/@:]*):[^/@]*@", r"\1:PASSWORD@", value), source)


_DEFAULTS: dict[str, Callable[[], object]] = {
    "PBM_DB": settings.database_path,
    "PBM_ADDRESS": settings.address,
    "PBM_TRANSPORT": lambda: f"maildir:{settings.database_path().parent / 'mail'}",
    "PBM_DKIM_SELECTOR": settings.dkim_selector,
    "PBM_ROBOT_BOARDS": settings.robot_boards,
    "PBM_ROBOT_MINUTES": lambda: f"{settings.robot_minutes():g}",
}


def _value_of(default: Callable[[], object]) -> str | None:
    try:
        return str(default())
    except Unusable:  # it is said below the table
        return None


def wrong_values() -> Iterator[str]:
    """A sentence for each value that cannot be used."""
    checks: list[Callable[[], object]] = [
        settings.database_path,
        settings.operator,
        settings.signer,
        settings.dkim_selector,
        settings.check_mailbox_login,
        settings.site,
        lambda: settings.site("PBM_WEB"),
        settings.robot_boards,
        settings.robot_minutes,
        client.from_environment,
        settings.notice_kinds,
        settings.inner_networks,
    ]
    if os.environ.get("PBM_TRANSPORT"):
        checks.append(settings.transport)
    for check in checks:
        try:
            check()
        except (Refused, Unusable, client.NoAnswer) as why:
            yield str(why)
    if not is_address(settings.address()):
        yield f"PBM_ADDRESS is no address: {settings.address()!r}."


def unknown_names() -> Iterator[str]:
    """A sentence for each variable that looks like a setting and is none."""
    known = set(SETTING_NAMES).union(f"{name}_FILE" for name in SECRETS)
    for name in sorted(os.environ):
        if not name.startswith(PREFIX) or name in known:
            continue
        near = get_close_matches(name, known, 1)
        guess = f"; did you mean {near[0]}?" if near else "."
        yield f"{name}, from {SOURCES.get(name, ENVIRONMENT)}, is no setting{guess}"


def overridden_settings() -> Iterator[str]:
    """A sentence for each value in a file that does not count, because a stronger place has another one."""
    _, *files = environment.layers()
    for place in files:
        for name, value in place.values.items():
            if not name.startswith(PREFIX) or os.environ.get(name) == value:
                continue
            yield f"{name} in {place.source} does not count: {SOURCES.get(name, ENVIRONMENT)} has another value."


def exposed_secrets() -> Iterator[str]:
    """A sentence for each file with a secret that every user of the machine can read."""
    with_secrets = {SOURCES[name] for name in SECRETS if name in SOURCES}
    for path in sorted(with_secrets):
        if environment.is_readable_by_others(path):
            yield f"Everybody on this machine can read the secrets in {path}; `chmod o-r {path}` mends it."


def unread_files() -> Iterator[str]:
    """A sentence for each file of settings that is there, and that this user cannot read."""
    for path in environment.paths():
        if Path(path).exists() and not os.access(path, os.R_OK):
            yield f"You cannot read {path}, so programs that others start may have other settings."
