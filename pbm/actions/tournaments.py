"""Tournaments from their announcement to their end: what players, directors and the operator do with them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import games
from games import Illegal
from pbm import delivery, letters, texts
from pbm.access import quotas
from pbm.actions import challenges, rounds, turns, votes
from pbm.actions.finding import find_board
from pbm.actions.rounds import as_it_is
from pbm.board.board import FIRST_MOVES, FORFEIT, Board
from pbm.letters import Letter, contests
from pbm.letters.contests import Shown
from pbm.names import LONGEST_POOL, is_pool
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import Tournament
from pbm.tournaments.meetings import Pair
from pbm.tournaments.tables import TIE_BREAKS

MOST_IN_ONE: Mapping[str, int] = {"roundrobin": 32, "pairs": 200, "swiss": 200, "knockout": 200, "ladder": 200,
                                   "arena": 200}  # fmt: skip
"""How many players a tournament may have: to start the boards of more would hold up everybody else for too long."""
DIRECTIONS: Mapping[str, str] = {
    "start": "",
    "status": "",
    "add": "USERID",
    "replace": "USERID NEW",
    "withdraw": "USERID",
    "adjudicate": "BOARD win [USERID]|draw|cancel",
    "finish": "",
    "cancel": "",
}
"""What can be done with a tournament, and the words that belong to it."""


# Setting it up


def set_going(
    session: Session, one: Tournament, players: Sequence[str], teams: Mapping[str, Sequence[str]]
) -> tuple[Shown, dict[str, Pair]]:
    """Set up a tournament with its players and start it, in the transaction that is open.

    Returns it with the boards of the first round. Raises Refused, with all that stands against it.
    """
    found = _set_up(session, one, players, teams)
    if problems := [*_of_start(found)] or [*_of_names(session, found)]:
        raise Refused("\n".join(problems))
    return _started(session, found)


def announce(session: Session, one: Tournament, players: Sequence[str], teams: Mapping[str, Sequence[str]]) -> Shown:
    """Announce a tournament that players can join, and mail that to the mailing list. Raises Refused."""
    found = _set_up(session, one, players, teams)
    title = contests.TITLES[one.kind]
    until = f"It starts on {one.starts:%Y-%m-%d %H:%M} UTC.\n\n" if one.starts else ""
    text = (
        f"A {title} of {texts.title(one.game)} is open: {one.pool}.\n\n{until}"
        f"{contests.described_tournament(found)}\n\nThis lets you play:\n{_joining(one)}"
    )
    for name in session.store.hearing_broadcasts():
        delivery.queue(session, contests.of_tournament(found, "open", text, answer=_joining(one))._replace(to=name))
    session.store.note_event(session.now(), "open", game=one.game, pool=one.pool, type=one.kind)
    return found


def _joining(one: Tournament) -> str:
    return f"{one.game} join {one.pool} USERID PASSWORD"


def _set_up(session: Session, one: Tournament, players: Sequence[str], teams: Mapping[str, Sequence[str]]) -> Shown:
    """Store a tournament that is open, with those who take part from the beginning."""
    if problems := [*_of_plan(one, players), *_of_players(session, one.game, players)]:
        raise Refused("\n".join(problems))
    store = session.store
    if not is_pool(one.pool):
        raise Refused(f"The name of a pool is 1 to {LONGEST_POOL} letters, not {one.pool!r}.")
    taken = store.tournament(one.game, one.pool) or store.pool_players(one.game, one.pool)
    if taken or store.tournament_boards(one.game, one.pool):
        raise Refused(f"There is a pool {one.pool} of {texts.title(one.game)} already.")
    if one.director and store.password_of(one.director) is None:
        raise Refused(f"There is no user {one.director!r}.")
    store.save_tournament(one)
    team = {name: team for team, names in teams.items() for name in names}
    for userid in players:
        store.add_pool_player(one.game, one.pool, userid, team=team.get(userid, ""))
    return as_it_is(session, one)


def _of_plan(one: Tournament, players: Sequence[str]) -> Iterator[str]:
    """What is wrong with a tournament in itself."""
    most = one.most or MOST_IN_ONE[one.kind]
    if len(players) > most:
        yield f"A tournament has 2 to {most} players, not {len(players)}."
    yield from (f"{name} is named twice." for name, count in Counter(players).items() if count > 1)
    if one.kind == "swiss" and not one.rounds:
        yield "A Swiss tournament needs --rounds=N."
    if unknown := [kind for kind in one.tie_breaks.split(",") if kind not in TIE_BREAKS]:
        yield f"There is no tie-break {unknown[0]!r}; there are {', '.join(TIE_BREAKS)}."
    try:
        games.read_options(games.load(one.game), one.options.split())
    except Illegal as why:
        yield str(why)


def _of_players(session: Session, game: str, players: Sequence[str]) -> Iterator[str]:
    """Who cannot take part."""
    yield from (f"There is no user {name!r}." for name in players if session.store.password_of(name) is None)
    yield from challenges.not_of_robots(session.store, game, players)


def _of_start(found: Shown) -> Iterator[str]:
    """Why a tournament cannot start with those who are there."""
    one, count = found.one, len(found.entrants)
    if count < 2:
        yield f"A tournament has 2 to {MOST_IN_ONE[one.kind]} players, not {count}."
    elif one.kind == "pairs" and count % 2:
        yield f"{texts.counted(count, 'player')} cannot be paired."
    elif one.kind == "swiss" and (one.rounds or 0) > count - 1 + count % 2:
        most = texts.counted(count - 1 + count % 2, "round")
        yield f"{texts.counted(count, 'player')} can play {most} of a Swiss tournament without meeting twice, not more."


def _of_names(session: Session, found: Shown) -> Iterator[str]:
    """Which boards of the first round cannot have their names."""
    one = found.one
    first = rounds.next_games(found._replace(one=one._replace(state="running")))
    for number in range(1, len(first.pairs) + 1):
        if session.store.is_taken(f"{one.pool}{number}"):
            yield f"A board {one.pool}{number} would have the name of a user; choose another pool."


def _started(session: Session, found: Shown) -> tuple[Shown, dict[str, Pair]]:
    """Start a tournament that can be started."""
    one = found.one._replace(state="running")
    session.store.save_tournament(one)
    names = [entrant.name for entrant in found.entrants]
    session.store.note_event(session.now(), "start", game=one.game, pool=one.pool, players=names)
    rounds.advance(session, one.game, one.pool, turns.start)
    now = as_it_is(session, session.store.tournament(one.game, one.pool) or one)
    return now, {meeting.board: meeting.pair for meeting in now.meetings if meeting.board}


def start_due(session: Session) -> list[str]:
    """Start the tournaments whose date has come, and end the arenas. Each is a transaction of its own.

    Returns what could not be done, with the reason.
    """
    with session.reading():
        due = session.store.open_tournaments_due(session.now())
    wrong = []
    for game, pool in due:
        try:
            with session.writing():
                one = session.store.tournament(game, pool)
                if one and (game, pool) in session.store.open_tournaments_due(session.now()):
                    _do_what_is_due(session, as_it_is(session, one))
        except (LookupError, Illegal, Refused) as why:  # a game that is not installed any more, or has changed
            wrong.append(f"{game} tournament {pool}: {why}")
    return wrong


def _do_what_is_due(session: Session, found: Shown) -> None:
    """End an arena, or start a tournament; one that cannot start is cancelled."""
    if found.one.state == "running":
        _finished(session, found)
    elif problems := [*_of_start(found)]:
        _cancelled(session, found, " ".join(problems))
    else:
        _started(session, found)


# What players do


def find(session: Session, game: str, pool: str) -> Tournament:
    """A tournament. Raises Refused if there is none of that name."""
    one = session.store.tournament(game, pool.lower())
    if one is None:
        raise Refused(f"There is no pool {pool.lower()!r} of {texts.title(game)}.")
    return one


def of_pool(session: Session, game: str, pool: str) -> Shown:
    """A tournament with all that is needed to show it. Raises Refused if there is none of that name."""
    with session.reading():
        one = session.store.tournament(game, pool.lower())
        if one is None and session.store.tournament_boards(game, pool.lower()):  # boards that were named one by one
            created, order = session.now(), contests.USUAL_ORDER
            one = Tournament(game, pool.lower(), "roundrobin", created, "running", tie_breaks=order)
        return as_it_is(session, one or find(session, game, pool))


def join_pool(session: Session, game: str, pool: str, userid: str, password: str) -> list[Letter]:
    """Take part in a tournament that is open."""
    with session.writing():
        name = session.signed(userid, password)
        one = find(session, game, pool)
        if one.state != "open":
            asked = f"; its director, {one.director}, can still add you" if one.director and one.is_on else ""
            raise Refused(f"Nobody can join pool {one.pool} any more{asked}.")
        if not session.in_shell and not session.take("joining", user=name):  # the director hears of each
            raise Refused(
                f"You have joined tournaments {quotas.most('joining', 'user')} times today; that is the most."
            )
        found = _joined(session, one, name)
        begins = f"It starts on {one.starts:%Y-%m-%d %H:%M} UTC." if one.starts else "You get a mail when it starts."
        text = f"{name} takes part in pool {one.pool} of {texts.title(game)}. {begins}"
        rounds.tell_director(session, found, f"{name} has joined", f"{name} takes part in pool {one.pool}.")
        return _answered(session, found, "joined", text)


def leave_pool(session: Session, game: str, pool: str, userid: str, password: str) -> list[Letter]:
    """Take part in a tournament no more."""
    with session.writing():
        name = session.signed(userid, password)
        one = find(session, game, pool)
        text = _withdrawn(session, as_it_is(session, one), name)
        rounds.tell_director(session, as_it_is(session, one), f"{name} has left", text)
        return _answered(session, as_it_is(session, one), "left", text)


def table(session: Session, game: str, pool: str) -> list[Letter]:
    """Show how a tournament stands."""
    with session.reading():
        found = of_pool(session, game, pool)
        text = contests.described_tournament(found) if found.one.state == "open" else found.text()
        answer = _joining(found.one) if found.one.state == "open" else f"{game} games tournament"
        letter = contests.of_tournament(found, "the table", text, answer=answer)
        return delivery.answer(session, None, letter._replace(data=found.data | {"reply": text}))


def _joined(session: Session, one: Tournament, name: str) -> Shown:
    """Let somebody take part; in one that is on, from the next round."""
    found = as_it_is(session, one)
    before = next((entrant for entrant in found.entrants if entrant.name == name), None)
    if before and before.withdrawn is None:
        raise Refused(f"{name} takes part in pool {one.pool} already.")
    if any(entrant.team for entrant in found.entrants):
        raise Refused(f"Pool {one.pool} is played by teams, which nobody can join; `replace` changes a player.")
    most = one.most or MOST_IN_ONE[one.kind]
    if not before and len(found.entrants) >= most:
        raise Refused(f"Pool {one.pool} is full: it takes {texts.counted(most, 'player')}.")
    if problems := [*_of_players(session, one.game, [name])]:
        raise Refused("\n".join(problems))
    if before:
        session.store.save_entrant(one.game, one.pool, before._replace(joined=one.round + 1, withdrawn=None))
    else:
        session.store.add_pool_player(one.game, one.pool, name, one.round + 1)
    session.store.note_event(session.now(), "join", game=one.game, pool=one.pool, userid=name)
    return as_it_is(session, one)


def _answered(session: Session, found: Shown, subject: str, text: str) -> list[Letter]:
    letter = contests.of_tournament(found, subject, text)
    return delivery.answer(session, None, letter._replace(data=letter.data | {"reply": text}))


# What its director does


def directed(
    session: Session, game: str, pool: str, userid: str, password: str, words: Sequence[str], *, dry_run: bool
) -> list[Letter]:
    """Carry out a command of a director, who signs it. Raises Refused if he does not direct that tournament."""
    with session.writing():
        name = session.signed(userid, password)
        one = find(session, game, pool)
        if name != one.director:
            raise Refused(f"Pool {one.pool} of {texts.title(game)} is not directed by {name}.")
        deed = words or ["status"]
        found, text = done(session, one, deed, dry_run=dry_run)
        return _answered(session, found, deed[0].lower(), text)


class _OnTrial(Exception):
    """Undoes what a dry run has done."""


@contextmanager
def on_trial(session: Session, *, dry_run: bool) -> Iterator[None]:
    """A transaction, which a *dry run* leaves without a trace."""

    def undo() -> None:
        if dry_run:
            raise _OnTrial

    with suppress(_OnTrial), session.store.transaction():
        yield
        undo()


def done(session: Session, one: Tournament, words: Sequence[str], *, dry_run: bool) -> tuple[Shown, str]:
    """Carry out one of DIRECTIONS in the transaction that is open, or only say what it would do. Raises Refused."""
    verb, *others = [word.lower() for word in words]
    if verb not in DIRECTIONS:
        raise Refused(f"There is nothing that {verb!r} does with a tournament; there are {', '.join(DIRECTIONS)}.")
    least = len([word for word in DIRECTIONS[verb].split() if not word.startswith("[")])
    if len(others) < least or (len(others) > least and verb != "adjudicate"):
        raise Refused(f"`{verb}` is written `{' '.join([verb, DIRECTIONS[verb]]).strip()}`.")
    found, text = as_it_is(session, one), ""
    with on_trial(session, dry_run=dry_run):
        text = _DEEDS[verb](session, found, *others)
        found = as_it_is(session, session.store.tournament(one.game, one.pool) or found.one)
    return found, f"Nothing is done yet. It would be: {text}" if dry_run and verb != "status" else text


def _start(session: Session, found: Shown) -> str:
    _insist(found, "open")
    if problems := [*_of_start(found)] or [*_of_names(session, found)]:
        raise Refused("\n".join(problems))
    now, boards = _started(session, found)
    return contests.of_pairs(now, now.one.round, boards, [each.first for each in now.meetings if each.is_bye])


def _status(session: Session, found: Shown) -> str:
    return contests.described_tournament(found)


def _add(session: Session, found: Shown, name: str) -> str:
    one = found.one
    _insist(found, "open", "running")
    if one.state == "running" and one.kind in {"knockout", "pairs"}:
        raise Refused(f"Nobody can be added to a {contests.TITLES[one.kind]} that has begun; `replace` can.")
    met = {each.opponent(name) for each in found.meetings if name in each.pair}
    others = [each.name for each in found.entrants if each.withdrawn is None and each.name not in met]
    found = _joined(session, one, name)
    if one.state == "open":
        return f"{name} takes part in pool {one.pool}."
    if one.kind == "roundrobin":
        pairs = [(name, other) if at % 2 else (other, name) for at, other in enumerate(others)]
        pairs += [(second, first) for first, second in pairs if one.double]
        boards = rounds.start_games(session, one, 1, pairs, turns.start)
        return f"{name} takes part in pool {one.pool}, on {', '.join(boards)}."
    rounds.advance(session, one.game, one.pool, turns.start)
    return f"{name} takes part in pool {one.pool} from round {one.round + 1} on."


def _replace(session: Session, found: Shown, old: str, new: str) -> str:
    one, store = found.one, session.store
    _insist(found, "open", "running", "closing")
    _take_part(found, old)
    if new in {entrant.name for entrant in found.entrants}:
        raise Refused(f"{new} takes part in pool {one.pool} already.")
    if problems := [*_of_players(session, one.game, [new])]:
        raise Refused("\n".join(problems))
    running = [meeting for meeting in found.meetings if meeting.is_running and old in meeting.pair]
    boards = [(meeting, find_board(session, one.game, meeting.board)) for meeting in running]
    store.replace_entrant(one.game, one.pool, old, new)
    store.note_event(session.now(), "replace", game=one.game, pool=one.pool, userid=new, replaced=old)
    for meeting, board in boards:
        if len(board.turns) < FIRST_MOVES:
            _removed(session, board, f"{new} takes the place of {old}, and the game begins anew.")
            store.drop_meeting(one.game, meeting.board)
            first, second = (new if name == old else name for name in meeting.pair)
            rounds.start_games(session, one, meeting.round, [(first, second)], turns.start)
    for _, board in boards:
        if len(board.turns) >= FIRST_MOVES:
            _given_up(session, board, old, f"{old} has withdrawn from the tournament; {new} takes his place.")
    rounds.advance(session, one.game, one.pool, turns.start)
    return f"{new} takes the place of {old} in pool {one.pool}, with his points."


def _withdraw(session: Session, found: Shown, name: str) -> str:
    return _withdrawn(session, found, name)


def _withdrawn(session: Session, found: Shown, name: str) -> str:
    """Let somebody take part no more: he loses the games that are on, which are not rated."""
    one = found.one
    _insist(found, "open", "running", "closing")
    _take_part(found, name)
    rounds.withdrawn(session, one, name)
    for meeting in found.meetings:
        if meeting.is_running and name in meeting.pair:
            board = find_board(session, one.game, meeting.board)
            _given_up(session, board, name, f"{name} has withdrawn from the tournament.")
    rounds.advance(session, one.game, one.pool, turns.start)
    return f"{name} does not take part in pool {one.pool} any more."


def _adjudicate(session: Session, found: Shown, board: str, *words: str) -> str:
    one = found.one
    running = {meeting.board: meeting for meeting in found.meetings if meeting.is_running}
    if board not in running:
        raise Refused(f"There is no board {board} of pool {one.pool} on which a game is on.")
    row = find_board(session, one.game, board)
    players = [word for word in words if word in row.players]
    what = [word for word in words if word not in players]
    if len(what) != 1 or what[0] not in {"win", "draw", "cancel"} or len(players) > (what[0] == "win"):
        raise Refused(f"`adjudicate` is written `adjudicate {DIRECTIONS['adjudicate']}`.")
    session = session._replace(comment="")
    if what[0] == "cancel":
        session.store.void_meeting(one.game, board)
        _removed(session, row, "The director has cancelled the game; it counts for nobody.")
        rounds.advance(session, one.game, one.pool, turns.start)
        return f"The game on {board} is cancelled."
    if what[0] == "draw":
        note = "The director has decided that this is a draw."
        _queue_all(session, votes.agree_draw(session, row, note, reason="adjudicated"))
        return f"The game on {board} is a draw."
    winner = players[0] if players else row.opponent(str(row.turn))
    why = session._replace(comment=f"The director has decided that {winner} has won.")
    loser = row.opponent(winner)
    _queue_all(session, turns.played(why, row, loser, FORFEIT, automatic=True, reason="adjudicated"))
    return f"{winner} has won the game on {board}."


def _finish(session: Session, found: Shown) -> str:
    _insist(found, "running", "closing")
    return _finished(session, found)


def _finished(session: Session, found: Shown) -> str:
    """Let a tournament end as soon as the games that are on do."""
    one = found.one._replace(state="closing")
    session.store.save_tournament(one)
    rounds.advance(session, one.game, one.pool, turns.start)
    running = [meeting.board for meeting in found.meetings if meeting.is_running]
    left = f" as soon as {', '.join(running)} {'is' if len(running) == 1 else 'are'}" if running else ""
    return f"Pool {one.pool} is over{left}."


def _cancel(session: Session, found: Shown) -> str:
    _insist(found, "open", "running", "closing")
    return _cancelled(session, found, "The director has cancelled it.")


def _cancelled(session: Session, found: Shown, why: str) -> str:
    """End a tournament at once: boards without moves go, others are played on; without any move, all of it goes."""
    one, store = found.one, session.store
    store.save_tournament(one._replace(state="cancelled"))
    boards = [find_board(session, one.game, meeting.board) for meeting in found.meetings if meeting.is_running]
    idle = [board for board in boards if not board.turns]
    for board in idle:
        _taken_away(session, board)
        store.void_meeting(one.game, board.row.board)
    rest = f" {', '.join(board.row.board for board in idle)} are removed." if idle else ""
    text = f"{found.title} is cancelled. {why}{rest}"
    letter = contests.of_tournament(found, "cancelled", text, answer=f"{one.game} games")
    for name in dict.fromkeys([*(each.name for each in found.entrants), *filter(None, [one.director])]):
        delivery.queue(session, letter._replace(to=name))
    store.note_event(session.now(), "cancel", game=one.game, pool=one.pool)
    if not store.tournament_boards(one.game, one.pool):
        store.forget_tournament(one.game, one.pool)
        return f"Pool {one.pool} of {texts.title(one.game)} is cancelled, and nothing of it is left."
    return f"Pool {one.pool} of {texts.title(one.game)} is cancelled; games that have begun go on."


_DEEDS: Mapping[str, Callable[..., str]] = {
    "start": _start,
    "status": _status,
    "add": _add,
    "replace": _replace,
    "withdraw": _withdraw,
    "adjudicate": _adjudicate,
    "finish": _finish,
    "cancel": _cancel,
}


def _insist(found: Shown, *states: str) -> None:
    """Raise Refused unless a tournament is in one of these states."""
    if found.one.state not in states:
        raise Refused(f"{found.title} is {found.one.state}; that goes only while it is {' or '.join(states)}.")


def _take_part(found: Shown, name: str) -> None:
    """Raise Refused unless somebody takes part."""
    if name not in {entrant.name for entrant in found.entrants if entrant.withdrawn is None}:
        raise Refused(f"{name} does not take part in pool {found.one.pool}.")


def _given_up(session: Session, board: Board, name: str, why: str) -> None:
    """End a game by the loss of one who takes part no more; it is not rated."""
    quiet = session._replace(comment=why)
    _queue_all(session, turns.played(quiet, board, name, FORFEIT, automatic=True, reason="withdrawn"))


def _taken_away(session: Session, board: Board) -> None:
    """Remove a board of a tournament without a word."""
    row = board.row
    session.store.drop_reminders(board.name)
    session.store.remove_board(row.game, row.board)
    session.store.note_event(session.now(), "remove", game=row.game, board=row.board, pool=row.pool)


def _removed(session: Session, board: Board, why: str) -> None:
    """Remove a board of a tournament, and tell its players."""
    row = board.row
    _taken_away(session, board)
    name = f"{texts.title(row.game)} board {row.board}"
    letter = letters.note(
        f"{name} is removed. {why}", subject=f"{name} has been removed", answer=f"{row.game} table {row.pool}"
    )
    for player in dict.fromkeys(board.players):
        delivery.queue(session, letter._replace(to=player, thread=letters.thread(board), is_urgent=True))


def _queue_all(session: Session, told: Sequence[Letter]) -> None:
    for letter in told:
        delivery.queue(session, letter)
