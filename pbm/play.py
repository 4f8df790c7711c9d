"""Playing: challenges, moves, and what a player tells the server to play later."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

import games
from games import Illegal
from pbm import clocks, dice, letters, turns, votes
from pbm.board import RESIGN, About, Board
from pbm.clocks import Clocks
from pbm.letters import Letter
from pbm.look import find_board, find_row, tried
from pbm.session import Refused, Session
from pbm.store import BoardRow, Settled
from pbm.words import clean

MOST_CHALLENGES = 50
"""How many challenges a day may come from one address by mail."""
NO_CLOCKS: Mapping[str, str | None] = MappingProxyType({})
CLEAR = "clear"
"""What is queued in the place of a move to forget the one that is."""


class NotWanted(Refused, Settled):
    """A challenge that a player refuses who does not play at all, so that he becomes inactive."""


def challenge(
    session: Session,
    game: str,
    options: Sequence[str],
    players: tuple[str, str],
    *,
    times: Mapping[str, str | None] = NO_CLOCKS,
    name: str | None = None,
) -> list[Letter]:
    """Start a board; the first player moves first. A board with a *name* is one of a tournament."""
    first, second = (player.lower() for player in players)
    with session.writing():
        problems = _of_sender(session)
        users = dict.fromkeys((first, second))
        unknown = [userid for userid in users if session.store.password_of(userid) is None]
        asked = [] if problems or name is not None else [userid for userid in users if userid not in unknown]
        refusing = _refusing(session, game, asked)
        problems += [f"There is no user {userid!r}." for userid in unknown] + refusing
        if name is not None:
            problems += _of_name(session, game, name)
        try:
            games.read_options(games.load(game), options)
        except Illegal as why:
            problems.append(str(why))
        times_wanted, wrong = clocks.read(times, is_tournament=name is not None)
        problems += wrong
        if problems:
            kind = NotWanted if refusing else Refused
            raise kind("\n".join(problems), subject="Invalid challenge")
        board = start(session, game, options, (first, second), times=times_wanted, name=name and name.lower())
        is_director = session.sender is None or not {first, second} & session.store.userids_at(session.sender)
        return session.answer(None, *announced(session, board, *([None] if is_director else [])))


def start(
    session: Session,
    game: str,
    options: Sequence[str],
    players: tuple[str, str],
    *,
    times: Clocks,
    name: str | None = None,
) -> Board:
    """Set a board up and store it; its players, options and name are known to be right."""
    store = session.store
    row = BoardRow(
        game=game,
        board=name or store.next_number(game),
        options=" ".join(options),
        first_player=players[0],
        second_player=players[1],
        secret=session.server.random_bytes(dice.SECRET_BYTES),
        started=session.now(),
        comment=session.comment or None,
        nag_days=times.nag,
        forfeit_days=times.forfeit,
        total_days=times.total,
        pool=name.rstrip("0123456789") if name else None,
    )
    store.add_board(row)
    for userid in dict.fromkeys(players):
        player = store.player(game, userid)
        if player.seeking:
            store.save_player(game, player._replace(seeking=player.seeking - 1))
    followers = [userid for userid in store.subscribers_of_all(game) if userid not in players]
    for userid in followers:
        store.follow(game, row.board, userid, "subscriber")
    board = Board(row, [], {}, About(subscribers=followers))
    turns.go_on(session, board, 0)
    return board


def announced(session: Session, board: Board, *others: str | None) -> list[Letter]:
    """The letters about a new board: to its players, to those who follow all boards, and to *others*."""
    readers = dict.fromkeys([*board.players, *board.about.subscribers, *others])
    return letters.of_board(board.present, *readers, now=session.now(), kind="New", is_full=True, is_new=True)


def move(session: Session, game: str, number: str, text: str, *, userid: str, password: str) -> list[Letter]:
    """Play a move, or do what stands in the place of one: resign, or vote."""
    with session.writing():
        board, name = _signed(session, game, number, userid, password)
        return session.answer(name, *moved(session, board, name, text))


def queue(session: Session, game: str, number: str, text: str, *, userid: str, password: str) -> list[Letter]:
    """Store a move for later; or play it, if it is the player's turn."""
    with session.writing():
        board, name = _signed(session, game, number, userid, password)
        check_plays(board, name)
        word, meant_as = turns.numbered(text.lower())
        if word == CLEAR:
            with _shown_to(board, name):
                turns.check_number(board, meant_as)
            told = _unqueued(session, board, name)
        elif name == board.turn:
            told = moved(session, board, name, text)
        else:
            told = _queued(session, board, name, text)
        return session.answer(name, *told)


def submit(session: Session, game: str, number: str, text: str, *, userid: str, password: str) -> list[Letter]:
    """Show what a move would lead to, and keep it until the player confirms it."""
    with session.writing():
        board, name = _signed(session, game, number, userid, password)
        check_turn(session, board, name)
        with _shown_to(board, name):
            canonical = turns.parsed(board, text)
        board.row = board.row._replace(submitted=canonical)
        session.store.save_board(board.row)
        point = tried(board, canonical, session.now())
        note = f"Nothing is played yet: `confirm` plays {letters.broken(canonical)}."
        command = f"{game} confirm {board.row.board} {name} PASSWORD"
        [shown] = letters.of_board(point, None, now=session.now(), kind="Submit", notes=[note], command=command)
        return session.answer(name, shown._replace(data=shown.data | {"submitted": canonical}))


def confirm(session: Session, game: str, number: str, *, userid: str, password: str) -> list[Letter]:
    """Play the move that was submitted."""
    with session.writing():
        board, name = _signed(session, game, number, userid, password)
        check_turn(session, board, name)
        if not board.row.submitted:
            raise Refused("There is no submitted move to confirm.", point=board.present, reader=name)
        return session.answer(name, *moved(session, board, name, board.row.submitted))


def moved(session: Session, board: Board, name: str, text: str) -> list[Letter]:
    """What happens when a player who is known to be himself writes this in the place of a move.

    Raises Refused, and Forfeited if the player to move has used up his time.
    """
    check_plays(board, name)
    word, number = turns.numbered(text.lower())
    instead = INSTEAD_OF_A_MOVE.get(word)
    with _shown_to(board, name):
        if instead:
            turns.check_number(board, number)
            return instead(session, board, name)
    check_turn(session, board, name)
    with _shown_to(board, name):
        canonical = turns.parsed(board, text)
    return turns.played(session, board, name, canonical)


def check_plays(board: Board, name: str) -> None:
    """Raise Refused unless the game goes on, and that user plays it."""
    if board.is_over:
        raise Refused(f"The game has ended: {letters.status(board.row)}.")
    if name not in board.players:
        raise Refused(
            f"You do not play on this board; {' and '.join(dict.fromkeys(board.players))} do.",
            point=board.present,
            reader=name,
        )


def check_turn(session: Session, board: Board, name: str) -> None:
    """Raise Refused unless it is the player's turn, and there is time left for it."""
    check_plays(board, name)
    turns.check_time(session, board)
    if name != board.turn:
        raise Refused(f"It is not your turn; {board.turn} is to move.", point=board.present, reader=name)


def _signed(session: Session, game: str, number: str, userid: str, password: str) -> tuple[Board, str]:
    """The board, and the user who signs a command for it."""
    row = find_row(session, game, number)
    name = session.signed(userid, password, board=f"{row.game} {row.board}")
    return find_board(session, game, number), name  # it is replayed only for somebody who may ask for that


@contextmanager
def _shown_to(board: Board, name: str) -> Iterator[None]:
    """Refuse what the rules refuse, with the board as it is."""
    try:
        yield
    except Illegal as why:
        raise Refused(str(why), point=board.present, reader=name) from why


def _resign(session: Session, board: Board, name: str) -> list[Letter]:
    """Leave before the first moves, give up in turn, or do so as soon as it is the player's turn."""
    row = board.row
    if turns.can_leave(board):
        return turns.leave(session, board, name)
    if name == board.turn:
        return turns.played(session, board, name, RESIGN)
    if board.queued.get(name) == RESIGN:
        cancel = f"{row.game} move {row.board} {name} PASSWORD unresign"
        raise Illegal(f"You resign already when your turn comes; this cancels it:\n{cancel}")
    session.store.queue(row.game, row.board, name, RESIGN)
    board.queued[name] = RESIGN
    [letter] = letters.of_board(board.present, name, now=session.now())
    return [letter._replace(subject=f"{letters.title(row.game)} Board {row.board} Resigned", is_urgent=True)]


def _unresign(session: Session, board: Board, name: str) -> list[Letter]:
    if board.queued.get(name) != RESIGN:
        raise Illegal("There is no resignation of yours to take back.")
    return _forgotten(session, board, name, "Your resignation is taken back.")


def _unqueued(session: Session, board: Board, name: str) -> list[Letter]:
    """Forget a queued move."""
    if board.queued.get(name) in {None, RESIGN}:
        raise Refused("There is no queued move of yours.", point=board.present, reader=name)
    return _forgotten(session, board, name, "Your queued move is forgotten.")


def _forgotten(session: Session, board: Board, name: str, note: str) -> list[Letter]:
    session.store.unqueue(board.row.game, board.row.board, name)
    del board.queued[name]
    return letters.of_board(board.present, name, now=session.now(), notes=[note])


def _queued(session: Session, board: Board, name: str, text: str) -> list[Letter]:
    """Store a move that will be looked at when it is the player's turn."""
    turns.check_time(session, board)
    word, _ = turns.numbered(text.lower())
    with _shown_to(board, name):
        if word in INSTEAD_OF_A_MOVE:
            raise Illegal(f"`{word}` cannot be queued; give it with `move`, also when it is not your turn.")
        if board.queued.get(name) == RESIGN:
            raise Illegal("You resign when your turn comes; `unresign` that before you queue a move.")
    session.store.queue(board.row.game, board.row.board, name, clean(text))
    board.queued[name] = clean(text)
    return letters.of_board(board.present, name, now=session.now())


def _of_sender(session: Session) -> list[str]:
    """Why nobody can be challenged from the address that the command came from."""
    if session.sender is None:
        return []
    if not session.store.userids_at(session.sender):
        return ["A challenge by mail has to come from an address that a user has confirmed."]
    if not session.store.take("challenge", session.sender, MOST_CHALLENGES, session.now()):
        return [f"There were {MOST_CHALLENGES} challenges from your address today; that is the most."]
    return []


def _refusing(session: Session, game: str, players: Sequence[str]) -> list[str]:
    """Who of the players does not want another board; he who takes none and has none becomes inactive."""
    problems = []
    for name in dict.fromkeys(players):
        most = session.store.player(game, name).most
        active = session.store.active_boards(game, name)
        if most == 0:
            problems.append(f"{name} takes no challenges of {letters.title(game)}.")
            if not active:
                session.store.set_inactive(game, name, inactive=True)
        elif most is not None and active >= most:
            problems.append(f"{name} takes challenges up to {letters.counted(most, 'active board')}, and has {active}.")
    return problems


def _of_name(session: Session, game: str, name: str) -> list[str]:
    """What is wrong with the name of a tournament board."""
    if session.sender is not None:
        return ["Only the operator names boards, in a shell."]
    if not re.fullmatch("[a-z]{1,12}[0-9]{1,6}", name.lower(), re.ASCII):
        return [f"--name={name} should be letters and then digits, such as --name=a1."]
    if session.store.board(game, name.lower()):
        return [f"There is a {letters.title(game)} board {name} already."]
    return []


INSTEAD_OF_A_MOVE: Mapping[str, Callable[[Session, Board, str], list[Letter]]] = {
    "resign": _resign,
    "unresign": _unresign,
    "propose": votes.propose,
    "undo": votes.undo,
    "accept": votes.accept,
    "reject": votes.reject,
}
"""What a player can write where a move stands, whether or not it is his turn."""
