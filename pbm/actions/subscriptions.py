"""Following boards that others play: every mail about them, or only their ends."""

from collections.abc import Sequence
from typing import NamedTuple

from pbm import delivery, letters, texts
from pbm.actions import finding, mail_settings, messages
from pbm.actions.finding import find_board, find_row
from pbm.budget import Budget
from pbm.letters import Letter
from pbm.session import Session
from pbm.store import BoardRow, Reply

SUBSCRIBER = "subscriber"
NOTIFIED = "notified"


class Following(NamedTuple):
    """What a user follows, in one of the two ways, after a command."""

    is_all: bool
    """Whether he follows all boards of the game that begin from now on."""
    added: Sequence[str] = ()
    """The boards that he has begun to follow."""
    stopped: Sequence[str] = ()
    """Those that he does not follow any more."""
    unchanged: Sequence[str] = ()
    """The others that he has named."""


def subscribe(session: Session, game: str, name: str, words: Sequence[str]) -> list[Letter]:
    """Send a user every mail about some boards from now on, or about all boards of a game."""
    now, is_all = session.now(), _is_all(words)
    if is_all:
        player = session.store.players.get(game, name)
        session.store.players.save(game, player._replace(subscribes=True))
    shown: list[Letter] = []
    done: list[str] = []
    refused: dict[str, str] = {}
    budget = Budget(in_shell=session.in_shell)
    for number in _named(session, game, words, name):
        row = find_row(session, game, number)
        if why := _objection(session, row, name):
            refused[number] = why
            continue
        session.store.boards.follow(game, row.board, name, SUBSCRIBER)
        done.append(number)
        if not budget.is_spent and (session.in_shell or session.take("shown", user=name)):
            board = find_board(session, game, row.board)
            shown += letters.of_board(
                board.present, name, now=now, zones=session.zone, kind="Subscription Summary", is_full=True
            )
    lines = [f"You get every mail about these {texts.title(game)} boards: {', '.join(done)}."] if done else []
    if refused and not is_all:
        lines.append(f"Not subscribed: {', '.join(f'{number} ({why})' for number, why in refused.items())}.")
    if is_all:
        lines.append(f"You are subscribed to every board of {texts.title(game)} that begins from now on.")
    told = Following(is_all=session.store.players.get(game, name).subscribes, added=done, unchanged=[*refused])
    return [*shown, _summary(game, name, lines, told)]


def unsubscribe(session: Session, game: str, name: str, words: Sequence[str]) -> list[Letter]:
    """End subscriptions."""
    lines = []
    if _is_all(words):
        player = session.store.players.get(game, name)
        session.store.players.save(game, player._replace(subscribes=False))
        numbers = session.store.boards.followed(game, name, SUBSCRIBER)
        lines.append(f"You are not subscribed to new boards of {texts.title(game)} any more.")
    else:
        numbers = _named(session, game, words, name)
    ended = {number: session.store.boards.unfollow(game, number, name, SUBSCRIBER) for number in numbers}
    stopped = [number for number, was in ended.items() if was]
    unchanged = [number for number, was in ended.items() if not was]
    lines += _said("You get no more mails about these boards", stopped)
    lines += _said("You were not subscribed to these", unchanged)
    is_all = session.store.players.get(game, name).subscribes
    now = Following(is_all=is_all, stopped=stopped, unchanged=unchanged)
    return [_summary(game, name, lines, now)]


def stop(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """End the subscription of a user to a board."""
    game, board = row.game, row.board
    was = session.store.boards.unfollow(game, board, name, SUBSCRIBER)
    text = "You get no more mails about this board" if was else "You were not subscribed to this"
    is_all = session.store.players.get(game, name).subscribes
    now = Following(is_all=is_all, stopped=[board] if was else [], unchanged=[] if was else [board])
    return [_summary(game, name, _said(text, [board]), now)]


def end_mails(session: Session, mails: Reply) -> None:
    """End what a user gets, as `tokens.unsubscribe_address` says, and tell them, unless it has ended before."""
    game, board, userid = mails
    told: list[Letter] = []
    if board:
        row = session.store.boards.get(game, board)
        if row and userid in session.store.boards.followers(game, board)[SUBSCRIBER]:
            told = stop(session, row, userid)
    elif game:
        if session.store.players.get(game, userid).mail == "digest":
            session.store.outbox.remove_held(userid, game)
            told = [mail_settings.chosen(session, game, userid, "none")]
    elif userid in session.store.users.hearing_broadcasts():
        told = [messages.switched(session, userid, "off")]
    for letter in told:
        delivery.queue(session, letter)


def notify(session: Session, game: str, name: str, words: Sequence[str]) -> list[Letter]:
    """Tell a user when boards are over: some boards, or all of a game, which the same command ends again."""
    named = finding.without_fillers(words)
    switch = named.pop() if named and named[-1] in {"on", "off"} else None
    if named:
        return [_notified_of(session, game, name, named, starts=switch != "off")]
    player = session.store.players.get(game, name)
    starts = not player.is_notified if switch is None else switch == "on"
    session.store.players.save(game, player._replace(is_notified=starts))
    text = f"You are {'told of the end of every' if starts else 'not told any more of the end of each'} game."
    subject = f"{texts.title(game)} notification {'started' if starts else 'cancelled'}"
    return [_summary(game, name, [text], Following(is_all=starts), subject)]


def _notified_of(session: Session, game: str, name: str, words: Sequence[str], *, starts: bool) -> Letter:
    """Start or end telling a user of the end of some boards."""
    rows = [find_row(session, game, number) for number in _named(session, game, words, name)]
    lines: list[str] = []
    changed: list[str] = []
    unchanged: list[str] = []
    for row in rows:
        number = row.board
        if row.ended:
            is_changed = False
            lines.append(f"{number} is over already.")
        elif starts:
            is_changed = session.store.boards.follow(game, number, name, NOTIFIED)
            lines.append(f"You will be told of the end of {number}{'' if is_changed else ', as before'}.")
        else:
            is_changed = session.store.boards.unfollow(game, number, name, NOTIFIED)
            lines.append(f"You will not be told of the end of {number}{'' if is_changed else ', as before'}.")
        (changed if is_changed else unchanged).append(number)
    now = Following(is_all=session.store.players.get(game, name).is_notified, unchanged=unchanged)
    now = now._replace(added=changed) if starts else now._replace(stopped=changed)
    return _summary(game, name, lines, now, f"{texts.title(game)} Notify summary")


def _objection(session: Session, row: BoardRow, name: str) -> str:
    """Why a user cannot subscribe to a board; empty if he can."""
    if row.ended:
        return "the game is over"
    if name in {row.first_player, row.second_player}:
        return "you play there"
    if name in session.store.boards.followers(row.game, row.board)[SUBSCRIBER]:
        return "you are subscribed already"
    return ""


def _is_all(words: Sequence[str]) -> bool:
    return [word.lower() for word in words] == ["all"]


def _named(session: Session, game: str, words: Sequence[str], name: str) -> list[str]:
    """The boards that a user names or selects; with ``all``, those that are active."""
    if _is_all(words):
        return [
            row.board for row in session.store.boards.current(game) if name not in {row.first_player, row.second_player}
        ]
    named = finding.without_fillers(words)
    if finding.names_boards(session, game, named):
        return named
    return [row.board for row in finding.rows(session, game, finding.read(session, game, named))]


def _said(text: str, boards: Sequence[str]) -> list[str]:
    return [f"{text}: {', '.join(boards)}."] if boards else []


def _summary(
    game: str, name: str, lines: Sequence[str], now: Following, subject: str = "Subscription summary"
) -> Letter:
    text = "\n".join(lines) or f"There is no such board of {texts.title(game)}."
    data = {
        "userid": name, "game": game, "all": now.is_all,
        "added": now.added, "stopped": now.stopped, "unchanged": now.unchanged,
    }  # fmt: skip
    return letters.note(text, subject=subject, answer=f"{game} games", data=data)._replace(to=name)
