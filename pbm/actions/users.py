"""Signing up and signing off; addresses and new passwords of users; guests.

Guests are strangers who play a robot on a page at once, without an address and a password, and may sign up by mail.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType

import games
from pbm import delivery, letters, texts
from pbm.access import bars
from pbm.access.guesses import NO_FAILURES
from pbm.access.quotas import most
from pbm.access.tokens import digest, is_same, password_address, reply_address, token_of
from pbm.actions import challenges, endings, finding, notices, turns
from pbm.board.board import FAULTS, SERVER
from pbm.board.clocks import Clocks
from pbm.budget import uncounted
from pbm.delivery.mail import add_to_outbox
from pbm.letters import Letter, settled
from pbm.levels import GUEST_LEVELS
from pbm.names import GUEST, RESERVED, SHORTEST_PASSWORD, is_address, is_former, is_guest, is_userid
from pbm.refusals import Misused, Refused, check_game, check_no_placeholder
from pbm.server import Server
from pbm.session import Session
from pbm.store import Reply
from pbm.store.boards import BoardFilter

NOTHING_NAMED: Mapping[str, str | None] = MappingProxyType({})
"""No named option of a command."""


def check_userid(name: str) -> None:
    """Raise Refused if that can be no userid."""
    if not is_userid(name):
        raise Refused("A userid is 2 to 16 letters, digits, dots, hyphens or underscores, and begins with a letter.")


def check_new_userid(name: str) -> None:
    """Raise Refused if no user can get that userid."""
    check_userid(name)
    if name in RESERVED or games.exists(name) or is_guest(name) or is_former(name):
        raise Refused(f"{name} is a word of the command language; please choose another userid.")


def check_sign_up(session: Session, *, userid: str, new_password: str, addresses: Sequence[str], **_: object) -> None:
    """Raises Refused if nobody can sign up now with that userid and that password."""
    name = userid.lower()
    check_no_placeholder(userid, "a name of your own")
    check_new_userid(name)
    check_new_password(new_password)
    if session.is_line and not session.is_trusted:
        raise Refused("`signup` by mail needs a mail of its own; it cannot be a line of `multiple`.")
    if not (session.is_trusted or session.sender or addresses):
        raise Refused("Write your mail address behind the password: it is confirmed by a mail.")
    if session.store.users.is_taken(name):
        raise Refused(f"There is a user {name} already; please choose another userid.")
    if not session.is_trusted and not (session.is_left("sign-up") and session.is_left("question")):
        raise Refused("There were too many sign-ups in this hour; please try again in the next one.")


def signup(session: Session, userid: str, password: str, addresses: Sequence[str]) -> list[Letter]:
    """Add a user, after `check_sign_up`. A guest who signs up keeps their boards."""
    name = userid.lower()
    hashed = session.server.passwords.hash(password)
    if not session.is_trusted:
        session.take("sign-up")
    session.store.users.add(name, hashed, session.now)
    session.note("signup", userid=name)
    receipts = set_addresses(session, name, addresses, f"{name} is signed up.", is_new=True)
    if session.guest:
        game, number, guest = session.guest
        if session.store.users.is_muted(guest):
            session.store.users.change(name, muted=session.now)
        session.store.boards.hand_over(guest, name)
        session.store.users.remove(guest, session.now)
        point = finding.find_point(session, game, number)
        delivery.queue(session, *letters.of_board(session, point, name, is_new=True))
    return receipts


def sign_off(session: Session, name: str, named: Mapping[str, str | None] = NOTHING_NAMED) -> list[Letter]:
    """Remove a user: they give up all their boards, and nobody else can ever take their name.

    If ``erase`` is *named*, their boards and results have the name of a former player from then on.
    """
    explained = replace(session, comment=f"{name} has signed off.")
    board_letters: list[Letter] = []
    from pbm.actions import rounds  # 5 ms

    for tournament in session.store.tournaments.of(name):
        rounds.note_withdrawal(session, tournament, name)
    for game in games.names():
        for row in session.store.boards.found(BoardFilter([game], [name], over=False)):
            # a damaged board is left to the clean-up
            with uncounted(), suppress(Refused, *FAULTS), session.store.writing():
                board = finding.find_board(explained, game, row.board)
                board_letters += endings.quit_board(explained, board, name, reason="signed off")
    # before the addresses of the user are forgotten
    printed = delivery.answer(session, name, *board_letters)
    text = f"{name} is signed off. What you have played stays on record."
    erases = named.get("erase") is not None
    if erases:
        text = f"{name} is signed off. What you have played stays on record, as that of a former player."
    letter = settled(text, "help", userid=name, boards=[], removals=[])
    printed += delivery.answer(session, name, letter._replace(to=name))
    session.store.users.sign_off(name, session.now)
    session.note("signoff", userid=name)
    if erases:
        erase(session, name)
    return printed


def erase(session: Session, name: str) -> None:
    """Replace a user who has signed off by a former player."""
    with uncounted():
        session.store.persons.erase(name, session.now, SERVER)


MOST_ADDRESSES = 5
"""How many addresses a user may have."""


def confirm_address(session: Session, code: str) -> list[Letter]:
    """Confirm the address to which a code was mailed. Raises Refused if it is no valid code."""
    check_no_placeholder(code, "the code that was mailed to you")
    confirmed = session.store.users.confirm(digest(code.lower()), session.now)
    if confirmed is None:
        raise Refused("This code confirms no address; it was used already, or a newer one has replaced it.")
    userid, address = confirmed
    check_not_barred(session, address)
    text = f"{address} is confirmed: mails for {userid} go there from now on."
    return [settled(text, "help tutorial", userid=userid, address=address)]


def check_not_barred(session: Session, address: str) -> None:
    """Raises Refused if the operator has barred an address, or its domain."""
    if bars.bar_on(session.store, address):
        raise Refused(f"The operator of this server takes nothing that comes from {address}.")


def change_address(session: Session, name: str, addresses: Sequence[str]) -> list[Letter]:
    """Replace the addresses of a user; the old ones are told."""
    if not addresses and session.sender is None:
        raise Refused("There is no sender's address to take, as in a mail; write the new ones behind the password.")
    return set_addresses(session, name, addresses, f"The addresses of {name} were changed.")


def set_addresses(
    session: Session, name: str, addresses: Sequence[str], done: str, *, is_new: bool = False
) -> list[Letter]:
    """Replace the addresses of a user. The text *done* goes to the sender, and to the addresses that they had.

    In a shell the new ones are confirmed at once. By mail each gets a confirmation mail, which has to be answered
    first; it welcomes a user who *is_new*. Raises Refused.
    """
    chosen = _chosen_addresses(session, addresses)
    old = {address.address.lower() for address in session.store.users.addresses(name) if address.confirmed}
    tokens: dict[str, str] = {}  # of the addresses that have to be confirmed
    codes: dict[str, str | None] = {}
    for address in chosen:
        if session.is_trusted or address.lower() in old:
            codes[address] = None
        else:
            tokens[address] = session.server.random_bytes(16).hex()
            codes[address] = digest(tokens[address])
    session.store.users.replace_addresses(name, codes, session.now)
    sender = str(session.sender).lower()
    for address, token in tokens.items():
        _count_question(session, address, is_known=sender in old)
        add_to_outbox(session, address, _question(name, token, is_new=is_new))
    if tokens:
        done = f"{done} Mail will go to {' and '.join(sorted(tokens))} when the confirmation mail there is answered."
    letter = settled(done, "help tutorial", userid=name, addresses=chosen)
    for address in old:
        add_to_outbox(session, address, letter)
    if sender in old or any(sender == address.lower() for address in tokens):
        return []  # this letter, or the confirmation mail, goes to the sender already
    return [letter]


def _chosen_addresses(session: Session, addresses: Sequence[str]) -> list[str]:
    """The addresses that a user wants, by default that of the sender. Raises Refused for those that nobody can have."""
    wanted = list(addresses)
    if not wanted and session.sender:
        wanted.append(session.sender)
    chosen = list({address.lower(): address for address in wanted}.values())  # once, whatever their letters' case
    if len(chosen) > MOST_ADDRESSES:
        raise Refused(f"These are {len(chosen)} addresses; a user may have {MOST_ADDRESSES}.")
    for address in chosen:
        if not is_address(address) or address.lower() == session.server.address.lower():
            what = repr(address)
            if "@" not in address:  # it may be a part of a password, which is not repeated
                what = "A password is one word; a word without @"
            raise Refused(f"{what} cannot be a player's mail address.")
        check_not_barred(session, address)
    return chosen


def _count_question(session: Session, address: str, *, is_known: bool) -> None:
    """Count a confirmation mail to an address. Raises Refused if there were too many.

    What strangers ask for does not count against a user who writes from an address of their own (*is_known*).
    """
    if not session.take("asked"):
        asked = most("asked", "address")
        raise Refused(f"{asked} confirmation mails were asked for from your address today; that is the most.")
    if not session.take("confirmation", address=address):
        raise Refused(f"A confirmation mail has gone to {address} today already; another one can go tomorrow.")
    if not is_known and not session.take("question", address=address):
        raise Refused("Too many confirmation mails were asked for lately; please try again in an hour.")


def _question(name: str, token: str, *, is_new: bool) -> Letter:
    """The mail that asks to confirm an address. The userid is all it quotes of what a stranger has written."""
    text = f"Somebody gave this address for the user {name} of this play-by-mail server.\n\nThere is one thing to do"
    if is_new:
        titles = texts.enumerated([game.capitalize() for game in games.names()])
        text = (
            f"Welcome, {name}!\n\nThis is a play-by-mail server for board games: {titles}. You mail your moves, and "
            "the board comes back by mail, with the answer of the other player.\n\nThere is one thing to do now"
        )
    text += (
        f": answer this mail as it is, without changing its subject. From then on, mails for {name} come here.\n\n"
        "If it was not you who asked for this, do nothing, and no other mail will come."
    )
    return letters.plain_letter(text, subject=f"confirm-address {token}", answer=f"confirm-address {token}")


RESET_HOLDS = timedelta(hours=24)
"""How long a code for a new password can be used."""


def change_password(session: Session, name: str, new: str) -> list[Letter]:
    """Give a user another password, and tell them at all their addresses. Raises Refused."""
    check_new_password(new)
    return [replace_password(session, name, new)._replace(to=name)]


def replace_password(session: Session, name: str, new: str) -> Letter:
    """Store another password; reply addresses of older mails end. Returns the letter about it."""
    session.store.users.change(name, password=session.server.passwords.hash(new))
    session.store.trust.revoke_replies(name)
    session.store.trust.revoke_tokens(name)
    notices.ask_again(session, name)
    text = f"The password of {name} was changed. Tokens, and replies to older board mails, do not work any more."
    return settled(text, f"all show {name}", userid=name)


def check_reset(session: Session, *, userid: str, one_time_password: str, new_password: str, **_: object) -> None:
    """Raises Misused if a code comes without a new password, and Refused if it is wrong or too old.

    What can be no userid is refused, too, and not repeated.
    """
    name = userid.lower()
    code = one_time_password
    new = new_password
    check_userid(name)
    if not code:
        return
    if not new:
        raise Misused(
            "NEWPASSWORD is missing. The command is written:\n\n  reset USERID [CODE NEWPASSWORD]",
            secrets=(code,),
        )
    check_no_placeholder(code, "the code that was mailed to you")
    if not _is_reset_code(session, name, code):
        raise Refused(f"This code is wrong or too old; `reset {name}` mails a new one.", secrets=(code, new))
    check_new_password(new)


def _is_reset_code(session: Session, name: str, code: str) -> bool:
    """Whether a code is the last one that was mailed to a user, and can still be used."""
    made = session.store.users.reset_code(name)
    if made is None:
        return False
    hashed, made_at = made
    return is_same(digest(code.lower()), hashed) and session.now <= made_at + RESET_HOLDS


def reset(session: Session, userid: str, code: str, new: str) -> list[Letter]:
    """Mail a code that lets a user set a new password; or, with a code that `check_reset` found right, set it.

    The answer to a request for a code does not tell whether there is such a user.
    """
    name = userid.lower()
    numbers = {
        address.address.lower(): address.number for address in session.store.users.addresses(name) if address.confirmed
    }
    is_from_user = str(session.sender).lower() in numbers
    if code:
        session.store.users.change(name, reset_code=None, reset_made=session.now)
        session.store.trust.save_failures("userid", name, NO_FAILURES)
        answer = replace_password(session, name, new)
        to_all_addresses = answer._replace(to=name)
        if session.is_trusted:
            return [answer]
        if is_from_user:
            return [to_all_addresses]
        return [answer, to_all_addresses]
    is_own = session.is_trusted or is_from_user
    if not is_own and not session.take("request for a reset"):
        raise Refused("Too many codes were asked for in this hour; please try again in the next one.")
    if numbers and session.take("reset", user=name):
        token = session.server.random_bytes(16).hex()
        session.store.users.change(name, reset_code=digest(token), reset_made=session.now)
        reply_to = password_address(session.server, token, min(numbers.values()))
        delivery.queue(session, _reset_letter(name, token)._replace(reply_to=reply_to))
    text = f"If there is a user {name} with a mail address, a code has been mailed to them."
    return [settled(text, f"reset {name} CODE NEWPASSWORD", userid=name)]


def _reset_letter(name: str, token: str) -> Letter:
    """The mail with a code for a new password."""
    text = (
        f"{letters.heading('reset', player=name)}\n\n"
        "If it was you, answer this mail within a day with the new password alone, or give the command below.\n"
        "If it was not, do nothing; your password is still the old one."
    )
    command = f"reset {name} {token} NEWPASSWORD"
    return letters.plain_letter(text, subject="pbm reset", answer=command, bare="NEWPASSWORD", to=name)


def check_new_password(password: str) -> None:
    """Raises Refused if a text cannot be a password."""
    check_no_placeholder(password, "a password of your own")
    if not SHORTEST_PASSWORD <= len(password) <= 256:
        raise Refused("A password is one word of 6 to 256 characters, without blanks.")
    if password.startswith("-") or re.search(r"""[\s"':]""", password):
        raise Refused("A password has no blanks, quotes or colons in it, and does not start with a hyphen.")
    if is_address(password):
        raise Refused("That is a mail address; the password stands in front of it: signup USERID PASSWORD ADDRESS.")


# Guests


GUESTS_KNOWN_FOR = timedelta(days=7)
"""How long a guest's boards are kept."""


class Crowded(Refused):
    """No other guest can begin now."""


def begin_as_guest(
    server: Server, game: str, level: str, options: Sequence[str], peer: str | None
) -> tuple[Reply, str]:
    """Start a board of a new guest against a robot. Returns its place, and the token with which the guest plays.

    Raises Refused, also as Crowded, and Illegal for options that the game does not have.
    """
    session = Session(server, peer=peer)
    store = server.store
    check_game(game)
    if level not in map(str, GUEST_LEVELS):
        raise Refused(f"There is no level {level!r}; the levels are 1 to {GUEST_LEVELS[-1]}.")
    games.read_options(games.load(game), options)
    with store.writing():
        free = []
        for robot in store.robots.all():
            if str(robot.level) != level or challenges.robot_objections(game, {robot.userid: robot}):
                continue
            active = store.boards.active_counts([robot.userid])[robot.userid].total()
            if active < robot.most / 2:  # the other half of their boards is for users
                free.append(robot.userid)
        if not free:
            raise Crowded(f"No robot of level {level} can play with you now; please try another level.")
        if not session.take("guest"):
            raise Crowded("Too many guests have begun to play in this hour; please try again in the next one.")
        name = f"{GUEST}{server.random_bytes(5).hex()}"
        store.users.add(name, "", server.now())
        board = turns.start(session, game, options, (name, free[-1]), times=Clocks())
        place = Reply(*board.row.place, name)
        return place, token_of(reply_address(server, *place))


def forget_guests(session: Session) -> None:
    """Remove guests who have not signed up within GUESTS_KNOWN_FOR, and their boards."""
    for name in session.store.users.guests(session.store.absences.counted_from(session.now, GUESTS_KNOWN_FOR)):
        session.store.boards.remove_of(name, session.now)
        session.store.users.remove(name, session.now)
