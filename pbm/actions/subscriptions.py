"""Following boards: getting every mail about them, or only the mails about their ends."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import games
from pbm import delivery, letters
from pbm.access.tokens import PUZZLES
from pbm.actions import finding, mail_settings, messages, puzzles
from pbm.actions.finding import board_of, find_row
from pbm.budget import Budget
from pbm.letters import Letter
from pbm.names import is_board
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow, Reply
from pbm.store.boards import NOTIFIED, SUBSCRIBER


def with_boards_first(
    session: Session, game: str, userid: str, password: str, boards: Sequence[str]
) -> dict[str, Any] | None:
    """The arguments of a command, put in order if BOARD, or a word such as `all`, was typed in front of USERID.

    None if it was not.
    """
    is_first = userid.lower() in finding.WORDS or finding.names_boards(session, game, [userid])
    if len(boards) > 1 or not is_first:
        return None
    return {"game": game, "userid": password, "password": boards[0], "boards": [userid]}


def subscribe(session: Session, game: str, name: str, words: Sequence[str]) -> list[Letter]:
    """Subscribe a user to some boards, or to all boards of a game, also new ones: they get every mail about them."""
    is_all = _is_all(words)
    if is_all:
        session.store.players.change(game, name, subscribes=True)
    board_letters: list[Letter] = []
    added: list[str] = []
    refused: dict[str, str] = {}
    budget = Budget(is_trusted=session.is_trusted)
    for number in _named(session, game, words, name):
        row = find_row(session, game, number)
        if why := _objection(session, row, name):
            refused[number] = why
            continue
        session.store.boards.follow(game, row.board, name)
        added.append(number)
        if not budget.is_spent and (session.is_trusted or session.take("shown", user=name)):
            with suppress(Refused):  # one that cannot be read is followed, too
                point = board_of(session, row).present
                board_letters += letters.of_board(session, point, name, kind="Subscription Summary", is_full=True)
    lines = _sentence(f"You get every mail about these {game.capitalize()} boards", added)
    if is_all:
        lines.append(f"You are subscribed to every board of {game.capitalize()} that begins from now on.")
    else:
        lines += _sentence("Not subscribed", [f"{number} ({why})" for number, why in refused.items()])
    subscribes = session.store.players.get(game, name).subscribes
    summary = _summary(game, name, lines, is_all=subscribes, added=added, unchanged=list(refused))
    return board_letters + [summary]


def unsubscribe(session: Session, game: str, name: str, words: Sequence[str]) -> list[Letter]:
    """End subscriptions."""
    lines = []
    if _is_all(words):
        session.store.players.change(game, name, subscribes=False)
        numbers = session.store.boards.subscribed(game, name)
        lines.append(f"You are not subscribed to new boards of {game.capitalize()} any more.")
    else:
        numbers = _named(session, game, words, name)
        for number in numbers:
            if not is_board(number):
                raise Refused(f"There is no {game.capitalize()} board {games.quoted(number)}.")
    return [_stop(session, game, name, numbers, lines)]


def stop(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """End the subscription of a user to a board."""
    return [_stop(session, row.game, name, [row.board])]


def _stop(session: Session, game: str, name: str, numbers: Sequence[str], lines: Sequence[str] = ()) -> Letter:
    """End subscriptions of a user. The letter begins with *lines*."""
    stopped = [number for number in numbers if session.store.boards.unfollow(game, number, name)]
    unchanged = [number for number in dict.fromkeys(numbers) if number not in stopped]
    all_lines = list(lines)
    all_lines += _sentence("You get no more mails about", stopped)
    all_lines += _sentence("You were not subscribed to", unchanged)
    subscribes = session.store.players.get(game, name).subscribes
    return _summary(game, name, all_lines, is_all=subscribes, stopped=stopped, unchanged=unchanged)


def end_mails(session: Session, mails: Reply) -> None:
    """End the mails that an address made by `tokens.unsubscribe_address` stands for, and tell the user.

    Nobody is told if these mails have ended before.
    """
    game, number, name = mails
    receipt: list[Letter] = []
    if number:
        row = session.store.boards.get(game, number)
        if row and name in session.store.boards.followers(game, number)[SUBSCRIBER]:
            receipt = stop(session, row, name)
    elif game == PUZZLES:
        if name in session.store.users.hearing("puzzles"):
            receipt = puzzles.switch(session, name, "off")
    elif game:  # a digest
        if session.store.players.get(game, name).mail == "digest":
            session.store.outbox.remove_held(name, game)
            receipt = mail_settings.choose(session, game, name, "none")
    elif name in session.store.users.hearing("broadcasts"):
        receipt = messages.broadcast(session, name, "off")
    delivery.queue(session, *receipt)


def notify(session: Session, game: str, name: str, words: Sequence[str]) -> list[Letter]:
    """Start or end telling a user when boards are over.

    Without boards it is about all boards of the game, and without `on` or `off` it changes what was before.
    """
    named = finding.without_fillers(words)
    switch = ""
    if named and named[-1] in {"on", "off"}:
        switch = named.pop()
    is_notified = session.store.players.get(game, name).is_notified
    if named and is_notified and switch == "off":
        ends = f"`{game} notify {name} PASSWORD off` ends that"
        raise Refused(f"You are told of the end of every game of {game.capitalize()}; {ends}.")
    if named:
        return [_notified_of(session, game, name, named, starts=switch != "off")]
    starts = switch == "on"
    if not switch:
        starts = not is_notified
    session.store.players.change(game, name, is_notified=starts)
    if starts:
        text = "You are told of the end of every game."
        subject = f"{game.capitalize()} notification started"
    else:
        text = "You are not told any more of the end of each game."
        subject = f"{game.capitalize()} notification cancelled"
    return [_summary(game, name, [text], subject, is_all=starts)]


def _notified_of(session: Session, game: str, name: str, words: Sequence[str], *, starts: bool) -> Letter:
    """Start or end telling a user of the end of some boards."""
    rows = [find_row(session, game, number) for number in _named(session, game, words, name)]
    lines: list[str] = []
    changed: list[str] = []
    unchanged: list[str] = []
    change = session.store.boards.follow if starts else session.store.boards.unfollow
    for row in rows:
        if row.ended:
            lines.append(f"{row.board} is over already.")
            unchanged.append(row.board)
            continue
        sentence = f"You will not be told of the end of {row.board}"
        if starts:
            sentence = f"You will be told of the end of {row.board}"
        if change(game, row.board, name, NOTIFIED):
            lines.append(f"{sentence}.")
            changed.append(row.board)
        else:
            lines.append(f"{sentence}, as before.")
            unchanged.append(row.board)
    subject = f"{game.capitalize()} Notify summary"
    is_all = session.store.players.get(game, name).is_notified
    if starts:
        return _summary(game, name, lines, subject, is_all=is_all, added=changed, unchanged=unchanged)
    return _summary(game, name, lines, subject, is_all=is_all, stopped=changed, unchanged=unchanged)


def _objection(session: Session, row: BoardRow, name: str) -> str:
    """Why a user cannot subscribe to a board; empty if they can."""
    if row.ended:
        return "the game is over"
    if name in row.players:
        return "you play there"
    if name in session.store.boards.followers(*row.place)[SUBSCRIBER]:
        return "you are subscribed already"
    return ""


def _is_all(words: Sequence[str]) -> bool:
    """Whether the words are `all`: the boards of a game, and those that will begin."""
    return [word.lower() for word in words] == ["all"]


def _named(session: Session, game: str, words: Sequence[str], name: str) -> list[str]:
    """The boards that a user names or selects; for ``all``, the active ones on which they do not play."""
    if _is_all(words):
        return [row.board for row in session.store.boards.current(game) if name not in row.players]
    named = finding.without_fillers(words)
    if finding.names_boards(session, game, named):
        return named
    among = finding.read(session, game, named)
    numbers = [row.board for row in finding.rows(session, among)]
    if finding.is_backwards(among):
        numbers.reverse()
    return numbers


def _sentence(text: str, boards: Sequence[str]) -> list[str]:
    """A sentence that ends with a list of boards; nothing if there are none."""
    if not boards:
        return []
    return [f"{text}: {', '.join(boards)}."]


def _summary(
    game: str,
    name: str,
    lines: Sequence[str],
    subject: str = "Subscription summary",
    *,
    is_all: bool,
    added: Sequence[str] = (),
    stopped: Sequence[str] = (),
    unchanged: Sequence[str] = (),
) -> Letter:
    """The letter about boards that a user begins to follow (*added*), no longer follows (*stopped*), or neither.

    *is_all* tells whether they follow all boards of the game.
    """
    text = "\n".join(lines) or f"There is no such board of {game.capitalize()}."
    return letters.to_user(
        name,
        text,
        subject=subject,
        answer=f"{game} games",
        game=game,
        all=is_all,
        added=added,
        stopped=stopped,
        unchanged=unchanged,
    )
