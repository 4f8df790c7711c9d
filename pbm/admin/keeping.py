"""The commands by which an operator looks after users, their addresses, boards and mails."""

import os
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import click

import games
from pbm import clocks, letters, selection, users
from pbm.admin import answer, confirm, open_existing
from pbm.admin.replay import Unsound, differences, outcome, replayed
from pbm.admin.usage import Commands, WholeNumber
from pbm.look import find_board, find_row
from pbm.mail.incoming import is_ours
from pbm.server import Server
from pbm.session import Refused, Session
from pbm.settings import open_server, transport
from pbm.store import BoardRow, Mail, Vacation
from pbm.store.keeping import KnownAddress, UserRow

LISTED = 100
"""How many lines a list has, if no other number is given."""

commands = Commands("pbm")
LIMIT = click.option(
    "--limit", type=WholeNumber(), default=LISTED, show_default=True, metavar="N", help="How many are listed."
)
AFTER = click.option("--after", default="", metavar="USERID", help="Begin behind that name.")
NUMBERS = click.argument("numbers", nargs=-1, type=WholeNumber(), metavar="[ID]...")


class Listing(Commands):
    """Commands of which `list` is meant when none of them is named."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Declare a group without commands."""
        super().__init__(*args, epilog="`list` can be left out.", **kwargs)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `list` in front of words that begin with no command."""
        first = next((arg for arg in args if not arg.startswith("-")), "")
        return super().parse_args(ctx, args if first.lower() in self.commands else ["list", *args])


def _user(server: Server, userid: str) -> UserRow:
    """A user, or one who has signed off. Raises Refused if there is none."""
    found = server.store.user_rows([userid.lower()])
    if not found:
        raise Refused(f"There is no user {userid!r}.")
    return found[0]


def _known(server: Server, userid: str, address: str) -> KnownAddress:
    """An address of a user. Raises Refused if it is none of his."""
    user = _user(server, userid)
    found = [one for one in server.store.known_addresses([user.userid]) if one.address.lower() == address.lower()]
    if not found:
        raise Refused(f"{address} is no address of {user.userid}.")
    return found[0]


def _time(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _more(found: Sequence[object], limit: int) -> list[str]:
    """The line below a list that has more than was asked for."""
    return [f"There are more than {limit}; --limit=N shows N of them."] if len(found) > limit else []


# Users


@commands.group("users", cls=Listing)
def users_() -> None:
    """List users, or tell what is known of some."""


class Facts(NamedTuple):
    """What is known of a user."""

    row: UserRow
    addresses: list[KnownAddress]
    boards: dict[str, int]
    """How many active boards he has of each game."""
    vacations: list[Vacation]
    """Those that are not over."""
    is_away: bool

    @property
    def data(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "userid": self.row.userid,
            "since": _iso(self.row.created),
            "signed_off": _iso(self.row.signed_off),
            "addresses": [_address_data(one) for one in self.addresses],
            "boards": self.boards,
            "vacations": [{"first": one.first.isoformat(), "last": one.last.isoformat()} for one in self.vacations],
            "mail": "html" if self.row.html else "text",
            "broadcasts": self.row.hears_broadcasts,
        }


def _facts(server: Server, rows: Sequence[UserRow]) -> list[Facts]:
    """What is known of some users."""
    names = [row.userid for row in rows]
    active = server.store.active_by_game(names)
    addresses: dict[str, list[KnownAddress]] = {}
    for address in server.store.known_addresses(names):
        addresses.setdefault(address.userid, []).append(address)
    today = server.now().date()
    vacations = {name: server.store.vacations(name, today) for name in names}
    return [
        Facts(
            row,
            addresses.get(row.userid, []),
            active.get(row.userid, {}),
            vacations[row.userid],
            any(one.first <= today for one in vacations[row.userid]),
        )
        for row in rows
    ]


@users_.command("list")
@click.argument("userids", nargs=-1, metavar="[USERID]...")
@LIMIT
@AFTER
def list_users(userids: tuple[str, ...], limit: int, after: str) -> None:
    """List users with their addresses and the number of their active boards; tell more of those that are named."""
    server = open_existing()
    with server.store.transaction(reading=True):
        rows, more = _page(server, userids, limit, after)
        facts = _facts(server, rows)
        ratings = [_ratings(server, row.userid) for row in rows] if userids else []
    if userids:
        parts = [_described(*both) for both in zip(facts, ratings, strict=True)]
        data = [{**one.data, "ratings": rated} for one, rated in zip(facts, ratings, strict=True)]
        answer("\n\n".join(parts), {"users": data})
        return
    lines = [("Userid", "Since", "Boards", "State", "Addresses")]
    for row, known, active, _, is_away in facts:
        state = "signed off" if row.signed_off else "on vacation" if is_away else ""
        told = ", ".join(map(_address_text, known))
        lines.append((row.userid, f"{row.created:%Y-%m-%d}", str(sum(active.values()) or ""), state, told))
    text = "\n".join([letters.table(lines), *more]) if facts else "There are no users."
    answer(text, {"users": [one.data for one in facts]})


def _page(server: Server, userids: Sequence[str], limit: int, after: str) -> tuple[list[UserRow], list[str]]:
    """The users who are named, or a page of all, with the line below it if there are more."""
    if userids:
        return [_user(server, userid) for userid in dict.fromkeys(map(str.lower, userids))], []
    rows = server.store.user_rows(limit=limit + 1, after=after.lower())
    if len(rows) <= limit:
        return rows, []
    return rows[:limit], [f"There are more users; --after={rows[limit - 1].userid} goes on."]


def _ratings(server: Server, userid: str) -> list[dict[str, Any]]:
    """What a user has achieved in each game."""
    players = [(game, server.store.player(game, userid)) for game in server.store.games_with_boards()]
    return [
        {"game": game, "rating": player.rating, "won": player.won, "lost": player.lost, "tied": player.tied}
        for game, player in players
        if player.rating is not None
    ]


def _described(facts: Facts, ratings: list[dict[str, Any]]) -> str:
    """All that is known of a user, for people."""
    row, known, active, vacations, is_away = facts
    lines = [("userid", row.userid), ("signed up", _time(row.created))]
    if row.signed_off:
        lines.append(("signed off", _time(row.signed_off)))
    lines += [("address", _address_text(one)) for one in known] or [("address", "none: he gets no mail")]
    lines.append(("mails", f"{'HTML and text' if row.html else 'text'}{', broadcasts' * row.hears_broadcasts}"))
    lines += [("vacation", f"{one.first} to {one.last}{' (now)' * is_away}") for one in vacations]
    lines += [("boards", f"{game} {count}") for game, count in active.items()]
    lines += [
        ("rating", f"{one['game']} {one['rating']} (won {one['won']}, lost {one['lost']}, tied {one['tied']})")
        for one in ratings
    ]
    return letters.table(lines)


@users_.command("password")
@click.argument("userid")
def set_password(userid: str) -> None:
    """Give a user another password, for one who gets no mail.

    It is PBM_PASSWORD if that is set, or else asked for, or else the first line of standard input.
    """
    server = open_existing()
    user = _user(server, userid)
    if user.signed_off:
        raise Refused(f"{user.userid} has signed off.")
    password = _new_password()
    users.check_new_password(password)
    with server.store.transaction():
        server.store.set_password(user.userid, server.passwords.hash(password))
        server.store.revoke_replies(user.userid)
    answer(f"{user.userid} has a new password.", {"userid": user.userid})


@users_.command("remove")
@click.argument("userid")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove_user(userid: str, *, yes: bool) -> None:
    """Sign a user off: he gives up all his boards, and his userid is never given out again.

    His opponents are told, and he is not. What he has played stays on record.
    """
    server = open_existing()
    user = _user(server, userid)
    if user.signed_off:
        raise Refused(f"{user.userid} has signed off.")
    confirm(f"Sign {user.userid} off, who gives up all his boards?", yes=yes)
    with server.store.transaction():
        told = users.removed(Session(server), user.userid)
    text = f"{user.userid} is signed off."
    answer(text, letters.as_one(letter.data for letter in told) | {"reply": text})


def _new_password() -> str:
    if given := os.environ.get("PBM_PASSWORD"):
        return given
    if sys.stdin.isatty():
        return str(click.prompt("New password", hide_input=True, confirmation_prompt=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


# Addresses


@commands.group(cls=Listing)
def addresses() -> None:
    """List the addresses of users, and set them right."""


@addresses.command("list")
@click.argument("userids", nargs=-1, metavar="[USERID]...")
@LIMIT
@AFTER
def list_addresses(userids: tuple[str, ...], limit: int, after: str) -> None:
    """List the addresses of these users, or of all; the limit counts users."""
    server = open_existing()
    with server.store.transaction(reading=True):
        rows, more = _page(server, userids, limit, after)
        found = server.store.known_addresses([row.userid for row in rows])
    lines = [("Userid", "Address", "State"), *((one.userid, one.address, state_of_address(one)) for one in found)]
    text = "\n".join([letters.table(lines) if found else "There are no addresses.", *more])
    answer(text, {"addresses": [_address_data(one) for one in found]})


@addresses.command("add")
@click.argument("userid")
@click.argument("address")
def add_address(userid: str, address: str) -> None:
    """Give a user one more address. It counts as confirmed, and mails that wait for one go there."""
    server = open_existing()
    user = _user(server, userid)
    if user.signed_off:
        raise Refused(f"{user.userid} has signed off.")
    if not users.is_address(address) or is_ours(address, server.address):
        raise Refused(f"{address!r} cannot be a player's mail address.")
    with server.store.transaction():
        present = [one.address.lower() for one in server.store.known_addresses([user.userid])]
        if address.lower() in present:
            raise Refused(f"{user.userid} has the address {address} already.")
        if len(present) >= users.MOST_ADDRESSES:
            raise Refused(f"{user.userid} has {len(present)} addresses, and more are not allowed; drop one.")
        server.store.add_address(user.userid, address, server.now())
    answer(f"Mails for {user.userid} go to {address}, too.", {"userid": user.userid, "address": address})


@addresses.command("drop")
@click.argument("userid")
@click.argument("address")
def drop_address(userid: str, address: str) -> None:
    """Take an address from a user, and drop the mails that were still to go there."""
    server = open_existing()
    with server.store.transaction():
        known = _known(server, userid, address)
        dropped = server.store.drop_address(known.userid, known.address)
        is_last = not server.store.known_addresses([known.userid])
    text = f"{known.address} is no address of {known.userid} any more."
    if dropped:
        text += f" Mails dropped: {dropped}."
    if is_last:
        text += f" {known.userid} has no address now, and gets no mail."
    answer(text, {"userid": known.userid, "address": known.address, "dropped": dropped})


@addresses.command("confirm")
@click.argument("userid")
@click.argument("address")
def confirm_address(userid: str, address: str) -> None:
    """Confirm an address, as if its user had answered the mail that asks for it."""
    server = open_existing()
    with server.store.transaction():
        known = _known(server, userid, address)
        if known.confirmed:
            raise Refused(f"{known.address} is confirmed already, since {_time(known.confirmed)}.")
        server.store.confirm_address_of(known.userid, known.address, server.now())
    answer(f"{known.address} is confirmed.", {"userid": known.userid, "address": known.address})


@addresses.command("resume")
@click.argument("address")
def resume_address(address: str) -> None:
    """Send mails to an address again that was suspended because mails to it came back."""
    server = open_existing()
    with server.store.transaction():
        userids = server.store.resume_address(address, server.now())
        if not userids:
            raise Refused(f"{address} is not suspended.")
    answer(f"Mails for {' and '.join(userids)} go to {address} again.", {"userids": userids, "address": address})


def state_of_address(one: KnownAddress) -> str:
    """What becomes of mails to an address, in a few words."""
    if one.suspended:
        return f"suspended since {_time(one.suspended)}"
    if not one.confirmed:
        return "unconfirmed"
    return f"confirmed, {one.bounces} came back" if one.bounces else "confirmed"


def _address_text(one: KnownAddress) -> str:
    state = state_of_address(one)
    return one.address if state == "confirmed" else f"{one.address} ({state})"


def _address_data(one: KnownAddress) -> dict[str, Any]:
    return {
        "userid": one.userid,
        "address": one.address,
        "state": "suspended" if one.suspended else "confirmed" if one.confirmed else "unconfirmed",
        "confirmed": _iso(one.confirmed),
        "bounces": one.bounces,
        "bouncing_since": _iso(one.bouncing_since),
        "suspended": _iso(one.suspended),
    }


# Boards


@commands.group(cls=Listing)
def boards() -> None:
    """List boards, or remove one."""


@boards.command("list")
@click.argument("words", nargs=-1, metavar="[GAME] [SELECTOR]...")
@click.option("--all", "wants_all", is_flag=True, help="List boards that are over, too.")
@LIMIT
def list_boards(words: tuple[str, ...], limit: int, *, wants_all: bool) -> None:
    """List boards with their options and their ages in days since the last move.

    The selector is any number of userids (boards where one of them plays), and of the words `active`, `inactive`,
    `next` (one of them is to move), `tournament` and `standard`.
    """
    server = open_existing()
    store = server.store
    asked = [word.lower() for word in words]
    with store.transaction(reading=True):
        kinds = store.games_with_boards()
        game = asked.pop(0) if asked and (asked[0] in kinds or games.exists(asked[0])) else None
        for word in asked:
            if word not in (*selection.STATES, *selection.KINDS, *selection.FILLERS):
                _user(server, word)
        userids, state, kind = selection.read(Session(server), game or "", asked)
        rows: list[BoardRow] = []
        for one in [game] if game else kinds:
            rows += store.listed_boards(
                one,
                userids,
                active=None if wants_all else state != "inactive",
                is_turn=state == "next",
                tournament=None if kind is None else kind == "tournament",
                limit=limit + 1 - len(rows),
            )
    shown = rows[:limit]
    now = server.now()
    lines = [("Game", "Board", "Moves", "Players", "Status", "Started", "Days", "Options")]
    for row in shown:
        players = f"{row.first_player} {row.second_player}"
        started, days = f"{row.started:%Y-%m-%d}", str(_age(row, now))
        lines.append((row.game, row.board, str(row.moves), players, letters.status(row), started, days, _options(row)))
    text = "\n".join([letters.table(lines), *_more(rows, limit)])
    data = [
        {
            "game": row.game,
            "board": row.board,
            "moves": row.moves,
            "players": [row.first_player, row.second_player],
            "turn": row.turn,
            "winner": row.winner or ("draw" if row.ended else None),
            "started": _iso(row.started),
            "ended": _iso(row.ended),
            "days": _age(row, now),
            "options": _options(row).split(),
        }
        for row in shown
    ]
    answer(text if shown else "There are no such boards.", {"boards": data})


def _age(row: BoardRow, now: datetime) -> int:
    """The days since a board was changed or has ended."""
    return (now - (row.ended or row.changed or row.started)).days


def _options(row: BoardRow) -> str:
    """The options of a board as they could be typed, those of its clocks included."""
    return " ".join(filter(None, [row.options, clocks.of(row).text]))


@boards.command("remove")
@click.argument("game")
@click.argument("board")
@click.option("--yes", is_flag=True, help="Do not ask.")
def remove_board(game: str, board: str, *, yes: bool) -> None:
    """Remove a board with all its moves, and tell its players; its number is not given out again."""
    server = open_existing()
    session = Session(server)
    row = find_row(session, _game(game), board)
    name = f"{letters.title(row.game)} board {row.board}"
    if server.store.results_of_board(row.game, row.board):
        raise Refused(f"{name} counts in the ratings of its players, so it has to stay.")
    moves = letters.counted(row.moves, "move")
    confirm(f"Remove {name}, {row.first_player} against {row.second_player}, {moves}?", yes=yes)
    with server.store.transaction():
        found = find_board(session, row.game, row.board)
        server.store.remove_board(row.game, row.board)
        letter = letters.note(
            f"{name} was removed by the operator of this server.",
            subject=f"{name} has been removed",
            answer=letters.challenge(found, *found.players),
        )
        for player in dict.fromkeys(found.players):
            session.queue(letter._replace(to=player, thread=letters.thread(found)))
    answer(f"{name} is removed.", {"game": row.game, "removed": row.board})


@boards.command("mend")
@click.argument("game")
@click.argument("board")
def mend_board(game: str, board: str) -> None:
    """Set right what is stored of a board, who is to move and who has won, by the moves that were played on it."""
    server = open_existing()
    with server.store.transaction():
        row = find_row(Session(server), _game(game), board)
        turns = server.store.turns(row.game, row.board)
        try:
            right = outcome(row, replayed(row, turns), len(turns))
        except Unsound as why:
            raise Refused(f"{row.game} {row.board} cannot be mended: {why}") from why
        server.store.save_board(right)
    changed = list(differences(row, right))
    text = "\n".join(["Mended:", *changed]) if changed else "There was nothing to mend."
    answer(text, {"game": row.game, "board": row.board, "mended": changed})


def _game(word: str) -> str:
    """The game that a word names. Raises Refused if there is none."""
    if not games.exists(word.lower()):
        raise Refused(f"There is no game {word!r}; there are {', '.join(games.names())}.")
    return word.lower()


# Mails


@commands.group()
def outbox() -> None:
    """Look at the mails that have still to go out, and send them."""


@outbox.command()
def flush() -> int:
    """Send all mails that are due."""
    from pbm.mail.outbox import flush as send

    server = open_server()
    done = send(server, transport())
    answer(*done.told(server))
    return 1 if done.failed else 0


@outbox.command("keep-sending", hidden=True)
def keep_sending() -> None:
    """Send mails as they come, until standard input ends; `pbm serve` runs this."""
    import signal

    from pbm.mail import outbox as mails

    for sent in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sent, signal.SIG_IGN)  # who sends it to a whole group means `pbm serve`, which ends the input
    mails.keep_sending(open_server(), transport(), sys.stdin.fileno())


@outbox.command("list")
@LIMIT
def list_mails(limit: int) -> None:
    """List the mails that have not gone out, with what went wrong."""
    server = open_server()
    mails = list(server.store.listed_mails(limit + 1))
    lines = [("Mail", "To", "Subject", "Written", "Tries", "Next try", "Problem")]
    for mail, is_suspended in mails[:limit]:
        state = _state_of_mail(server, mail, is_suspended=is_suspended)
        to = mail.address or str(mail.userid)
        when = _time(mail.due) if state == "retry" else STATES[state]
        lines.append((str(mail.id), to, mail.subject, _time(mail.queued), str(mail.tries), when, mail.problem or ""))
    text = "\n".join([letters.table(lines), *_more(mails, limit)])
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
        ("Written:", _time(mail.queued)),
        ("State:", f"tried again at {_time(mail.due)}" if state == "retry" else STATES[state]),
        ("Tries:", f"{mail.tries}{f', {mail.problem}' if mail.problem else ''}"),
    ]
    answer(f"{letters.table(lines)}\n\n{mail.text.rstrip()}", {**data, "text": mail.text})


@outbox.command("retry")
@NUMBERS
@click.option("--all", "wants_all", is_flag=True, help="All that have an address.")
def retry_mails(numbers: tuple[int, ...], *, wants_all: bool) -> None:
    """Try mails again now, also such as were given up: they become due, and go out with the next flush."""
    server = open_existing()
    if bool(numbers) == wants_all:
        raise click.UsageError("Name mails by their numbers, or all by --all.")
    with server.store.transaction():
        for number in numbers:
            mail, _ = _mail(server, number)
            if mail.address is None:
                raise Refused(f"Mail {number} has nowhere to go; `pbm addresses {mail.userid}` tells why.")
        count = server.store.retry_mails(numbers, server.now())
    answer(f"{count} due now.", {"due": count})


@outbox.command("drop")
@click.argument("numbers", nargs=-1, type=WholeNumber(), required=True, metavar="ID...")
def drop_mails(numbers: tuple[int, ...]) -> None:
    """Drop mails; they are not sent."""
    server = open_existing()
    with server.store.transaction():
        for number in numbers:
            _mail(server, number)
        server.store.drop_mails(numbers)
    count = len(set(numbers))
    answer(f"{count} dropped.", {"dropped": count})


STATES = {
    "due": "now",
    "retry": "later",
    "given up": "never (given up)",
    "unconfirmed": "when an address is confirmed",
    "suspended": "after a mail from him; his bounces",
}
"""When a mail is tried next, by its state."""


def _mail(server: Server, number: int) -> tuple[Mail, bool]:
    found = server.store.mail(number)
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
        "queued": _iso(mail.queued),
        "tries": mail.tries,
        "due": _iso(mail.due),
        "problem": mail.problem,
    }
