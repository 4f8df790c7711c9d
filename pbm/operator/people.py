"""The operator's commands for users and their addresses."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import click

from pbm import delivery, letters, texts
from pbm.access import bars
from pbm.actions import users
from pbm.actions.finding import no_user
from pbm.console import answer, answer_list, confirm, open_existing, time_text
from pbm.console.usage import ADDRESS_ARGUMENT, BAR_ARGUMENT, USER_ARGUMENT, YES, Commands, Listing
from pbm.disk import whole
from pbm.mail.incoming import is_ours
from pbm.names import is_address
from pbm.refusals import Refused, refusing_os_errors
from pbm.server import Server
from pbm.session import Session
from pbm.store.users import Address, UserRow
from pbm.terminal import read_secret

MUTED = (
    "The operator of this server has muted you. Your moves are played as before, but nobody reads what you write with "
    "them, and you can write no chats, messages and broadcasts."
)
UNMUTED = "The operator of this server lets others read again what you write."

LONG_HEX = re.compile("(?:pbm_(?:webhook_)?|[rbucp][0-9]+-)?[0-9a-f]{32,}", re.ASCII | re.IGNORECASE)
"""One of our tokens or codes, or a hash of one, in a text that is stored."""

commands = Commands("pbm")


def find_user(server: Server, userid: str) -> UserRow:
    """A user, or one who has signed off. Raises Refused if there is none."""
    user = server.store.users.get(userid.lower())
    if user is None:
        raise Refused(no_user(Session(server), userid))
    return user


# Users


@commands.group("users", cls=Listing)
def users_() -> None:
    """List users, set a password, mute a user or sign one off, export what is stored of one, or bar an address."""


@users_.command("list")
@click.argument("userids", nargs=-1, metavar="[USERID]...")
def list_users(userids: tuple[str, ...]) -> None:
    """List these users, or all, with their addresses and the number of their active boards.

    Below all users stands what is barred, with the day on which it last kept a mail from being answered.
    """
    server = open_existing()
    with server.store.reading():
        users_data = _facts(server, _users(server, userids))
        barred = [] if userids else _bars(server)
    today = server.now().date()
    lines = [("Userid", "Since", "Boards", "State", "Addresses")]
    for user in users_data:
        lines.append(
            (
                user["userid"],
                f"{user['since']:%Y-%m-%d}",
                str(sum(user["boards"].values()) or ""),
                _states_text(user, today),
                ", ".join(_address_text(address) for address in user["addresses"]),
            )
        )
    text = "There are no users."
    if users_data:
        text = texts.table(lines)
    if barred:
        text += f"\n\n{_table_of_bars(barred)}"
    answer(text, {"users": users_data, "bars": barred})


def _states_text(user: Mapping[str, Any], today: date) -> str:
    """The states of a user, such as `on vacation, muted`; empty for most users."""
    states = []
    if user["signed_off"]:
        states.append("signed off")
    if any(vacation["first"] <= today for vacation in user["vacations"]):
        states.append("on vacation")
    if user["muted"]:
        states.append("muted")
    return ", ".join(states)


def _bars(server: Server) -> list[dict[str, Any]]:
    """What is known of the bars, for programs."""
    held = bars.users_held(server.store)
    return [bar._asdict() | {"userids": held[bar.bar]} for bar in server.store.trust.bars()]


def _table_of_bars(barred: Sequence[Mapping[str, Any]]) -> str:
    """The bars, and the users who have an address that they hold."""
    lines = [("Barred", "Since", "Last mail", "Users")]
    for bar in barred:
        last_mail = f"{bar['last']:%Y-%m-%d}" if bar["last"] else ""
        lines.append((bar["bar"], f"{bar['since']:%Y-%m-%d}", last_mail, ", ".join(bar["userids"])))
    return texts.table(lines)


def _facts(server: Server, rows: Sequence[UserRow]) -> list[dict[str, Any]]:
    """What is known of some users, for programs."""
    names = [row.userid for row in rows]
    active = server.store.boards.active_counts(names)
    addresses: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for address in server.store.users.addresses(*names):
        addresses[address.userid].append(address_data(address))
    today = server.now().date()
    users_data = []
    for row in rows:
        vacations = server.store.users.vacations(row.userid, today)
        users_data.append(
            {
                "userid": row.userid,
                "since": row.created,
                "signed_off": row.signed_off,
                "addresses": addresses[row.userid],
                "boards": active.get(row.userid, {}),
                "vacations": [{"first": vacation.first, "last": vacation.last} for vacation in vacations],
                "mail": row.form,
                "broadcasts": row.hears_broadcasts,
                "muted": row.muted,
            }
        )
    return users_data


def _users(server: Server, userids: Sequence[str]) -> list[UserRow]:
    """The users who are named, or all."""
    if not userids:
        return server.store.users.listed()
    names = dict.fromkeys(userid.lower() for userid in userids)  # who is named twice is listed once
    return [find_user(server, name) for name in names]


@users_.command("password")
@USER_ARGUMENT
def set_password(userid: str) -> None:
    """Give a user a new password, for example one who gets no mail.

    The password is PBM_PASSWORD if that is set. Otherwise it is asked for in a terminal, or it is the first line of
    standard input.
    """
    server = open_existing()
    user = _find_person(server, userid)
    password = read_secret(
        ask=lambda: str(click.prompt("New password", hide_input=True, confirmation_prompt=True, err=True))
    )
    users.check_new_password(password)
    server.passwords.prepare(password)
    with server.store.writing():
        users.replace_password(Session(server), user.userid, password)
    answer(f"{user.userid} has a new password.", {"userid": user.userid})


@users_.command("remove")
@USER_ARGUMENT
@click.option("--erase", is_flag=True, help="Also take their name from boards and results.")
@YES
def remove_user(userid: str, *, erase: bool, yes: bool) -> None:
    """Sign a user off: they give up all their boards, and their userid is never given out again.

    Their opponents are told; the user is not. What they have played stays on record, with --erase as that of a former
    player. The name of one who has signed off before can be erased later.
    """
    server = open_existing()
    user = find_user(server, userid)
    if user.signed_off and erase:
        _erase_later(server, user.userid, yes=yes)
        return
    if user.signed_off:
        raise Refused(f"{user.userid} has signed off.")
    confirm(f"Sign {user.userid} off, who gives up all their boards?", yes=yes)
    with server.store.writing():
        answers = users.sign_off(Session(server), user.userid, {"erase": ""} if erase else {})
    text = f"{user.userid} is signed off."
    answer(text, letters.as_one(answers) | {"reply": text})


def _erase_later(server: Server, userid: str, *, yes: bool) -> None:
    """Replace a user who has signed off by a former player. Raises Refused if that user is named nowhere."""
    if not server.store.persons.is_named(userid):
        raise Refused(f"{userid} has signed off, and stands on no board and in no result.")
    confirm(f"Take the name of {userid}, who has signed off, from boards and results?", yes=yes)
    with server.store.writing():
        users.erase(Session(server), userid)
    answer(f"{userid} is a former player now.", {"userid": userid})


@users_.command("export")
@USER_ARGUMENT
@click.argument("file", type=click.Path(path_type=Path))
def export_user(userid: str, file: Path) -> None:
    """Write all that is stored of a user to a new FILE, a zip with JSON, for that user.

    There is a file for each table. Hashes of passwords and tokens are left out, and so are secrets of others, such as
    who blocks the user. In texts, tokens and codes stand as TOKEN. Only the owner of FILE can read it.
    """
    server = open_existing()
    user = find_user(server, userid)
    with server.store.reading():
        data = server.store.persons.data_of(user.userid)
    with refusing_os_errors(f"{file} cannot be written"):
        if file.exists():
            raise Refused(f"There is a file {file} already.")
        with whole(file) as copy:
            with ZipFile(copy, "w", ZIP_DEFLATED) as archive:
                for table, rows in data.items():
                    text = json.dumps(rows, indent=1, ensure_ascii=False)
                    archive.writestr(f"{table}.json", f"{LONG_HEX.sub('TOKEN', text)}\n")
            copy.rename(file)
    count = sum(map(len, data.values()))
    text = f"All that is stored of {user.userid} is in {file}: {texts.counted(count, 'row')} of {len(data)} tables."
    answer(text, {"userid": user.userid, "file": str(file), "rows": {table: len(rows) for table, rows in data.items()}})


@users_.command("mute")
@USER_ARGUMENT
def mute_user(userid: str) -> None:
    """Let nobody read what a user writes: comments, chats, messages and broadcasts.

    Their moves are played as before, without the comment. They are told, once, by mail, and whenever they write.
    """
    server = open_existing()
    with server.store.writing():
        user = _find_person(server, userid)
        if user.muted:
            raise Refused(f"{user.userid} is muted already.")
        server.store.users.change(user.userid, muted=server.now())
        _tell(server, user, "You are muted", MUTED)
    answer(f"{user.userid} is muted.", {"userid": user.userid})


@users_.command("unmute")
@USER_ARGUMENT
def unmute_user(userid: str) -> None:
    """Let others read again what a user writes."""
    server = open_existing()
    with server.store.writing():
        user = _find_person(server, userid)
        if not user.muted:
            raise Refused(f"{user.userid} is not muted.")
        server.store.users.change(user.userid, muted=None)
        _tell(server, user, "You are no longer muted", UNMUTED)
    answer(f"{user.userid} is no longer muted.", {"userid": user.userid})


def _tell(server: Server, user: UserRow, subject: str, text: str) -> None:
    """Mail a user something, if they have an address."""
    letter = letters.plain_letter(text, subject=subject, answer="help chat", to=user.userid)
    delivery.queue(Session(server), letter)


def _find_person(server: Server, userid: str) -> UserRow:
    """A user. Raises Refused if there is none, if they have signed off, and if it is a robot."""
    user = find_user(server, userid)
    if user.signed_off:
        raise Refused(f"{user.userid} has signed off.")
    if server.store.robots.get(user.userid):
        raise Refused(f"{user.userid} is a robot: it has no password and no address.")
    return user


# Bars


@users_.command("bar")
@BAR_ARGUMENT
def bar_address(bar: str) -> None:
    """Answer no mails that come from an address, or from a domain and its subdomains.

    Commands that are mailed from there get no answer, and nothing is done. Nobody can sign up with such an address, or
    give it as theirs. Users who have one stay users, and get their mails. Mails to the postmaster are passed on, and
    the button that unsubscribes works. `pbm users` lists what is barred.
    """
    server = open_existing()
    name = _bar_named(bar)
    if name == bars.canonical(server.address):
        raise Refused(f"{name} is the address of this server.")
    with server.store.writing():
        known = bars.bar_on(server.store, name)  # perhaps its domain
        if known:
            raise Refused(f"{known} is barred already.")
        server.store.trust.add_bar(name, server.now())
        userids = bars.users_held(server.store)[name]
    text = f"Nothing that comes from {name} is answered any more."
    if userids:
        text += f" Users with such an address: {', '.join(userids)}. `pbm users remove USERID` signs a user off."
    answer(text, {"bar": name, "userids": userids})


@users_.command("unbar")
@BAR_ARGUMENT
def unbar_address(bar: str) -> None:
    """Answer mails again that come from an address or a domain that is barred."""
    server = open_existing()
    name = _bar_named(bar)
    with server.store.writing():
        known = bars.bar_on(server.store, name)
        if known is None:
            raise Refused(f"{name} is not barred.")
        if known != name:
            raise Refused(f"{name} is not barred by itself; {known} is.")
        server.store.trust.remove_bar(name)
        wider = bars.bar_on(server.store, name)
    text = f"{name} is no longer barred."
    if wider:
        text = f"{name} is no longer barred by itself, but {wider} still is."
    answer(text, {"bar": name})


def _bar_named(word: str) -> str:
    """The bar that a word names, an address or `@DOMAIN`, as it is compared. Raises Refused."""
    local, sign, domain = bars.canonical(word).rpartition("@")
    is_domain = "." in domain and is_address(f"a@{domain}")
    if is_domain and (not sign or local == "*"):
        raise Refused(f"All addresses of a domain are written @{domain}, and not {word}.")
    if not sign or not is_address(f"{local or 'a'}@{domain}"):
        raise Refused(f"{word!r} is neither an address nor a domain such as @spam.example.")
    return f"{local}@{domain}"


# Addresses


@commands.group(cls=Listing)
def addresses() -> None:
    """List the addresses of users, add or drop them."""


@addresses.command("list")
@click.argument("userids", nargs=-1, metavar="[USERID]...")
def list_addresses(userids: tuple[str, ...]) -> None:
    """List the addresses of these users, or of all users."""
    server = open_existing()
    with server.store.reading():
        names = [row.userid for row in _users(server, userids)]
        data = [address_data(address) for address in server.store.users.addresses(*names)]
    lines = [("Userid", "Address", "State")]
    for address in data:
        lines.append((address["userid"], address["address"], _state_text(address)))
    answer_list(lines, {"addresses": data}, "There are no addresses.")


@addresses.command("add")
@USER_ARGUMENT
@ADDRESS_ARGUMENT
def add_address(userid: str, address: str) -> None:
    """Give a user one more address, confirm an address, or send mails again to one that was suspended.

    It counts as confirmed, and mails that wait for an address go there. If it was theirs already, newer addresses
    replace older ones, as if the user had answered the mail that asks for it.
    """
    server = open_existing()
    user = _find_person(server, userid)
    if not is_address(address) or is_ours(address, server.address):
        raise Refused(f"{address!r} cannot be a player's mail address.")
    known = bars.bar_on(server.store, address)
    if known:
        raise Refused(f"{known} is barred; `pbm users unbar {known}` changes that.")
    with server.store.writing():
        server.store.users.add_address(user.userid, address, server.now())
    answer(f"Mails for {user.userid} go to {address}.", {"userid": user.userid, "address": address})


@addresses.command("drop")
@USER_ARGUMENT
@ADDRESS_ARGUMENT
def drop_address(userid: str, address: str) -> None:
    """Take an address from a user, and drop the mails that are waiting to go there."""
    server = open_existing()
    with server.store.writing():
        user = find_user(server, userid)
        own_addresses = server.store.users.addresses(user.userid)
        known = next((own for own in own_addresses if own.address.lower() == address.lower()), None)
        if not known:
            raise Refused(f"{address} is no address of {user.userid}.")
        dropped = server.store.users.drop_address(known.userid, known.address)
        is_last = len(own_addresses) == 1
    text = f"{known.address} is no address of {known.userid} any more."
    if dropped:
        text += f" Mails dropped: {dropped}."
    if is_last:
        text += f" {known.userid} has no address now, and gets no mail."
    answer(text, {"userid": known.userid, "address": known.address, "dropped": dropped})


def address_data(address: Address) -> dict[str, Any]:
    """An address for programs."""
    if address.suspended:
        state = "suspended"
    elif address.confirmed:
        state = "confirmed"
    else:
        state = "unconfirmed"
    return {
        "userid": address.userid,
        "address": address.address,
        "state": state,
        "confirmed": address.confirmed,
        "bounces": address.bounces,
        "bouncing_since": address.bouncing_since,
        "suspended": address.suspended,
    }


def _state_text(address: Mapping[str, Any]) -> str:
    """The state of an address, in a few words."""
    if address["suspended"]:
        return f"suspended since {time_text(address['suspended'])}"
    if address["confirmed"] and address["bounces"]:
        return f"{address['state']}, {address['bounces']} came back"
    return str(address["state"])


def _address_text(address: Mapping[str, Any]) -> str:
    """An address, with its state unless that is the usual one."""
    state = _state_text(address)
    if state == "confirmed":
        return str(address["address"])
    return f"{address['address']} ({state})"
