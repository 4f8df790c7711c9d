"""Settings, all of them environment variables; docs/installing.md lists them. `environment` fills them from files."""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pbm.disk import reason
from pbm.names import is_address, is_site
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.store import Store, Unusable

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

    from pbm.mail.oauth import Tokens
    from pbm.mail.signing import Signer
    from pbm.mail.transports import Transport


def database_path() -> Path:
    """Where the database is, or will be: ``PBM_DB``, or else a file in the user's data folder."""
    if chosen := os.environ.get("PBM_DB"):
        return Path(chosen)
    return Path(_data_folder()) / "pbm.db"


def make_data_folder() -> str:
    """Make the user's data folder if the database is there. Returns the path of the database. Raises Unusable."""
    if chosen := os.environ.get("PBM_DB"):
        return chosen
    folder = _data_folder()
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError as error:
        raise Unusable(f"The folder {folder} cannot be made: {reason(error)}. Set PBM_DB to a path.") from error
    return f"{folder}/pbm.db"


def _data_folder() -> str:
    """The user's data folder, which need not exist. Raises Unusable if the user has no home."""
    folder = os.path.expanduser("~/.local/share/pbm")
    if folder.startswith("~"):
        raise Unusable("This user has no home folder; set PBM_DB to a path.")
    return folder


def address() -> str:
    """Where the server gets its mail: ``PBM_ADDRESS``, or else ``pbm@`` this host."""
    return os.environ.get("PBM_ADDRESS") or f"pbm@{os.uname().nodename}"


def _chosen(name: str, fits: Callable[[str], object], what: str) -> str | None:
    """The value of a variable; None if it is not set or empty. Raises Unusable if the value does not fit."""
    chosen = os.environ.get(name)
    if chosen and not fits(chosen):
        raise Unusable(f"{name} is {what}: {chosen!r}.")
    return chosen or None


def site(name: str = "PBM_SITE") -> str | None:
    """The address of the pages of boards, or, in ``PBM_WEB``, of the web server. Raises Unusable if it is none."""
    chosen = _chosen(name, is_site, "no address of a site, such as https://games.example.org")
    if chosen is None:
        return None
    return chosen.rstrip("/")


def transport() -> "Transport":
    """How mail goes out: ``PBM_TRANSPORT``, or else into maildirs next to the database, in a folder that is made.

    A user of a mail server has their password in ``PBM_TRANSPORT_PASSWORD``, or else access tokens. Raises Refused if
    the variables name no transport.
    """
    from pbm.mail import transports  # 17 ms

    if chosen := os.environ.get("PBM_TRANSPORT"):
        credentials = os.environ.get("PBM_TRANSPORT_PASSWORD") or mailbox_tokens() or ""
        return transports.transport(chosen, credentials)
    return transports.Maildirs(Path(make_data_folder()).parent / "mail")


def signed_transport() -> "Transport":
    """How mail goes out, signed if ``PBM_DKIM_KEY`` names a key, which is read for each mail.

    Raises Refused, and Unusable if ``PBM_DKIM_SELECTOR`` cannot be used.
    """
    from pbm.mail.transports import Signed  # 17 ms

    way = transport()
    path = os.environ.get("PBM_DKIM_KEY")
    if not path:
        return way
    return Signed(way, signer_with(Path(path)))


def signer() -> "Signer | None":
    """Who signs mails, with the key in the file ``PBM_DKIM_KEY``; None if that is not set.

    Raises Refused if the key cannot be used, and Unusable if ``PBM_DKIM_SELECTOR`` cannot.
    """
    path = os.environ.get("PBM_DKIM_KEY")
    if not path:
        return None
    chosen = signer_with(Path(path))
    chosen.record()  # reads the key
    return chosen


def signer_with(path: Path) -> "Signer":
    """Who signs mails with the key in a file, which need not exist. Raises Unusable."""
    from pbm.mail.signing import Signer

    return Signer(path, address().rpartition("@")[2].lower(), dkim_selector())


def dkim_selector() -> str:
    """The name of our key among those of its domain: ``PBM_DKIM_SELECTOR``. Raises Unusable."""
    is_selector = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*", re.ASCII | re.IGNORECASE).fullmatch
    return _chosen("PBM_DKIM_SELECTOR", is_selector, "no selector, such as pbm") or "pbm"


def mailbox_tokens() -> "Tokens | None":
    """The access tokens of the mailbox, from the file that ``PBM_OAUTH`` names; None if it names none."""
    chosen = os.environ.get("PBM_OAUTH")
    if not chosen:
        return None
    from pbm.mail.oauth import Tokens

    return Tokens(Path(chosen))


def check_mailbox_login() -> None:
    """Raises Unusable if the mailbox asks to be logged in again, or its login cannot be read."""
    tokens = mailbox_tokens()
    problem = tokens.problem() if tokens else ""
    if problem:
        raise Unusable(f"{problem[0].upper()}{problem[1:]}.")


def notice_kinds() -> tuple[str, ...]:
    """The kinds of notices that are sent: ``PBM_NOTICES``, such as ``ntfy,matrix,https``. Raises Unusable."""
    chosen = _chosen("PBM_NOTICES", _is_list_of_kinds, "no list of kinds of notices, such as ntfy,matrix,https")
    if chosen is None:
        return ()
    kinds = tuple(dict.fromkeys(chosen.split(",")))
    for kind in {"http", "mailto", "mailtos"}.intersection(kinds):
        raise Unusable(f"PBM_NOTICES cannot have {kind}: webhooks are https, and mails are sent anyway.")
    return kinds


def _is_list_of_kinds(text: str) -> bool:
    return re.fullmatch("[a-z][a-z0-9]*(,[a-z][a-z0-9]*)*", text, re.ASCII) is not None


def inner_networks() -> "Sequence[IPv4Network | IPv6Network]":
    """The networks that are not public, but may get notices: ``PBM_NOTICES_INNER``, none unless set.

    For example, ``10.0.0.5,192.168.1.0/24``. Raises Unusable.
    """
    from ipaddress import ip_network  # 4 ms

    networks = []
    for text in os.environ.get("PBM_NOTICES_INNER", "").split(","):
        try:
            if text.strip():
                networks.append(ip_network(text.strip()))
        except ValueError as error:
            raise Unusable(f"PBM_NOTICES_INNER is no list of addresses and networks: {error}.") from error
    return networks


def _is_own(operator: str, server_address: str) -> bool:
    """Whether mail to the operator would come back to the server."""
    user, _, host = operator.lower().rpartition("@")
    own_user, _, own_host = server_address.lower().rpartition("@")
    return host == own_host and user.partition("+")[0] in {own_user, "postmaster"}


def operator() -> str | None:
    """The address of the operator: ``PBM_OPERATOR``. Raises Unusable if nobody would read there."""
    chosen = _chosen("PBM_OPERATOR", is_address, "no address")
    if chosen and _is_own(chosen, address()):
        raise Unusable("PBM_OPERATOR is an address of this server; it has to be one at which somebody reads mail.")
    return chosen


def robot_boards() -> int:
    """On how many active boards a user can play against robots: ``PBM_ROBOT_BOARDS``. Raises Unusable."""
    chosen = _chosen("PBM_ROBOT_BOARDS", _is_some_boards, "no number of boards")
    return int(chosen or 5)


def _is_some_boards(text: str) -> bool:
    return re.fullmatch("[0-9]{1,9}", text, re.ASCII) is not None


def robot_minutes() -> float:
    """How long robots of the last level think about a move: ``PBM_ROBOT_MINUTES``. Raises Unusable."""
    chosen = _chosen("PBM_ROBOT_MINUTES", _is_some_minutes, "no number of minutes above 0, up to 60")
    return float(chosen or 1)


def _is_some_minutes(text: str) -> bool:
    is_number = re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,3})?", text, re.ASCII) is not None
    return is_number and 0 < float(text) <= 60


def open_server() -> Server:
    """The server that the settings describe. Raises Unusable."""
    return Server(
        Store(make_data_folder()),
        address(),
        Passwords(),
        operator=operator(),
        robot_boards=robot_boards(),
        robot_minutes=robot_minutes(),
        site=site(),
        web=site("PBM_WEB"),
        notice_kinds=notice_kinds(),
    )
