"""What directors and the operator do with tournaments, and what the clean-up does with those that are due."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

import games
from pbm import delivery
from pbm.actions import endings, rounds, turns
from pbm.actions.finding import find_board
from pbm.actions.rounds import progress_of
from pbm.actions.tournaments import (
    add_player,
    check_entrant,
    check_state,
    find,
    problems_of_players,
    problems_of_start,
    refuse,
    start_tournament,
    withdraw,
)
from pbm.blocks import Block, Paragraph, Told, blocks_of
from pbm.board.board import FIRST_MOVES
from pbm.letters import Letter, contests
from pbm.letters.contests import TournamentTable
from pbm.refusals import Refused, told_of
from pbm.session import Session
from pbm.store import Unusable


def directed(
    session: Session, game: str, pool: str, name: str, words: Sequence[str], named: Mapping[str, str | None]
) -> list[Letter]:
    """Carry out a command of a player, the director. Raises Refused if they do not direct that tournament."""
    deed = words or ["status"]
    found, told = direct(session, game, pool, deed, director=name, dry_run=named["dry-run"] is not None)
    return [contests.of_tournament(found, deed[0].lower(), told)]


class _OnTrial(Exception):
    """Raised to undo the transaction of a dry run."""


@contextmanager
def on_trial(session: Session, *, dry_run: bool) -> Iterator[None]:
    """Hold a transaction, which is undone at its end if it is a *dry_run*."""
    with suppress(_OnTrial), session.store.writing():
        yield
        if dry_run:
            raise _OnTrial


def direct(
    session: Session, game: str, pool: str, words: Sequence[str], *, director: str | None = None, dry_run: bool
) -> tuple[TournamentTable, tuple[Block, ...]]:
    """Carry out one of DIRECTIONS in a transaction; undo it if it is a *dry_run*.

    Without a *director*, the operator gives the command. Returns the tournament afterwards, and the blocks of the
    answer. Raises Refused.
    """
    with on_trial(session, dry_run=dry_run):
        found = find(session, game, pool)
        if director not in {None, found.tournament.director}:
            raise Refused(f"{found.title} is not directed by {director}.")
        verb, *others = [word.lower() for word in words]
        if verb not in DIRECTIONS:
            raise Refused(unknown_direction(verb))
        written, deed = DIRECTIONS[verb]
        least = len([word for word in written.split() if not word.startswith("[")])
        if len(others) < least or (len(others) > least and verb != "adjudicate"):
            raise Refused(f"`{verb}` is written `{f'{verb} {written}'.strip()}`.")
        told = blocks_of(deed(session, found, *others))
        found = progress_of(session, session.store.tournaments.get(*found.tournament.place) or found.tournament)
    if dry_run and verb != "status":
        first, *rest = told
        told = (Paragraph(f"Nothing is done yet. This would happen: {first.text}"), *rest)
    return found, told


def unknown_direction(word: str) -> str:
    """The refusal of a word that is none of DIRECTIONS."""
    near = games.nearest(word, DIRECTIONS)
    hint = f"did you mean `{near}`? There" if near else "there"
    return f"There is no direction {word!r}; {hint} are {', '.join(DIRECTIONS)}."


def _start(session: Session, found: TournamentTable) -> list[Block]:
    check_state(found, "start it", "open")
    begun = start_tournament(session, found)
    return contests.of_pairs(begun, begun.tournament.round, begun.boards, begun.idle)


def _add(session: Session, found: TournamentTable, name: str) -> str:
    tournament = found.tournament
    check_state(found, "add players", "open", "running")
    if tournament.state == "running" and not tournament.kind.takes_latecomers:
        raise Refused(f"Nobody can be added to a {tournament.kind.title} that has begun; `replace` can.")
    met = {each.opponent(name) for each in found.meetings if name in each.pair}
    others = [each for each in found.players if each not in met]
    add_player(session, found, name)
    if tournament.state == "open":
        return f"{name} takes part in pool {tournament.pool}."
    if not tournament.kind.has_rounds:
        pairs = tournament.kind.pairs_of_latecomer(tournament, name, others)
        boards = rounds.start_games(session, tournament, 1, pairs, turns.start)
        which = f", on {', '.join(boards)}" if boards else ""
        return f"{name} takes part in pool {tournament.pool}{which}."
    turns.advance_tournament(session, *tournament.place)
    return f"{name} takes part in pool {tournament.pool} from round {tournament.round + 1} on."


def _replace(session: Session, found: TournamentTable, old: str, new: str) -> str:
    tournament, store = found.tournament, session.store
    check_state(found, "replace players", "open", "running", "closing")
    check_entrant(found, old)
    if new in found.by_name:
        raise Refused(f"{new} takes part in pool {tournament.pool} already.")
    refuse(problems_of_players(session, tournament.game, [new]))
    running = [meeting for meeting in found.running.values() if old in meeting.pair]
    boards = [(meeting, find_board(session, tournament.game, meeting.board)) for meeting in running]
    store.tournaments.replace_entrant(*tournament.place, old, new)
    session.note("replace", **tournament.place_data, userid=new, replaced=old)
    told = [f"{new} takes the place of {old} in pool {tournament.pool}, with their points."]
    for meeting, board in boards:
        if len(board.turns) < FIRST_MOVES:
            why = f"{new} takes the place of {old}, and the game begins anew."
            endings.remove_and_tell(session, board, f"is removed. {why}", f"{tournament.game} table {tournament.pool}")
            first, second = (new if name == old else name for name in meeting.pair)
            [again] = rounds.start_games(session, tournament, meeting.round, [(first, second)], turns.start)
            told.append(f"The game on {meeting.board} begins anew on {again}.")
            store.tournaments.drop_meeting(tournament.game, meeting.board)  # until here its name is not given out again
    for _, board in boards:
        if len(board.turns) >= FIRST_MOVES:
            why = f"{old} has withdrawn from the tournament; {new} takes their place."
            delivery.queue(session, *endings.forfeit(session, board, old, "withdrawn", why))
            told.append(f"{old} loses on {board.row.board}.")
    return " ".join(told)


def _adjudicate(session: Session, found: TournamentTable, board: str, *words: str) -> str:
    tournament = found.tournament
    if board not in found.running:
        raise Refused(f"There is no board {board} of pool {tournament.pool} on which a game is on.")
    decided = find_board(session, tournament.game, board)
    what, *players = words
    if what not in {"win", "draw", "cancel"} or len(players) > (what == "win") or not {*players} <= {*decided.players}:
        raise Refused(f"`adjudicate` is written `adjudicate {DIRECTIONS['adjudicate'][0]}`.")
    session = replace(session, comment="")
    if what == "cancel":
        session.store.tournaments.void_meeting(tournament.game, board)
        note = "is removed. The director has cancelled the game; it counts for nobody."
        endings.remove_and_tell(session, decided, note, f"{tournament.game} table {tournament.pool}")
        turns.advance_tournament(session, *tournament.place)
        return f"The game on {board} is cancelled."
    if what == "draw":
        note = "The director has decided that this is a draw."
        delivery.queue(session, *endings.agree_draw(session, decided, note, reason="adjudicated"))
        return f"The game on {board} is a draw."
    winner = players[0] if players else decided.row.opponent(str(decided.turn))
    why = f"The director has decided that {winner} has won."
    delivery.queue(session, *endings.forfeit(session, decided, decided.row.opponent(winner), "adjudicated", why))
    return f"{winner} has won the game on {board}."


def _finish(session: Session, found: TournamentTable) -> str:
    """Let a tournament end as soon as its running games have ended."""
    check_state(found, "finish it", "running", "closing")
    tournament = found.tournament._replace(state="closing")
    session.store.tournaments.save(tournament)
    turns.advance_tournament(session, *tournament.place)
    verb = "is" if len(found.running) == 1 else "are"
    left = f" as soon as {', '.join(found.running)} {verb}" if found.running else ""
    return f"Pool {tournament.pool} is over{left}."


def _cancel(session: Session, found: TournamentTable, why: str = "The director has cancelled it.") -> str:
    """End a tournament at once. Boards without moves are removed; without other boards, so is the tournament."""
    check_state(found, "cancel it", "open", "running", "closing")
    tournament, store = found.tournament, session.store
    store.tournaments.save(tournament._replace(state="cancelled"))
    boards = [find_board(session, tournament.game, number) for number in found.running]
    idle = [board for board in boards if not board.turns]
    for board in idle:
        endings.remove_board(session, board, pool=tournament.pool)
        store.tournaments.void_meeting(tournament.game, board.row.board)
    verb = "is" if len(idle) == 1 else "are"
    rest = f" {', '.join(board.row.board for board in idle)} {verb} removed." if idle else ""
    text = f"{found.title} is cancelled. {why}{rest}"
    rounds.tell_all(session, found, "cancelled", text, f"{tournament.game} games")
    session.note("cancel", **tournament.place_data)
    if not store.boards.of_tournament(*tournament.place):
        store.tournaments.forget(*tournament.place)
        return f"Pool {tournament.pool} of {tournament.game.capitalize()} is cancelled and removed.{rest}"
    return f"Pool {tournament.pool} of {tournament.game.capitalize()} is cancelled; games that have begun go on.{rest}"


DIRECTIONS: Mapping[str, tuple[str, Callable[..., Told]]] = {
    "start": ("", _start),
    "status": ("", lambda _, found: contests.described_tournament(found)),
    "add": ("USERID", _add),
    "replace": ("USERID NEW", _replace),
    "withdraw": ("USERID", withdraw),
    "adjudicate": ("BOARD win [USERID]|draw|cancel", _adjudicate),
    "finish": ("", _finish),
    "cancel": ("", _cancel),
}
"""The commands for a tournament: for each the words behind it, and the function that carries it out."""


# What becomes due


def start_due(session: Session) -> list[str]:
    """Start the tournaments and end the arenas whose date has come, in a transaction each.

    A tournament that cannot start is cancelled. Returns what failed, with the reason.
    """
    with session.store.reading():
        due = session.store.tournaments.due(session.now)
    wrong = []
    for game, pool in due:
        try:
            with session.store.writing():
                tournament = session.store.tournaments.get(game, pool)
                if tournament and (game, pool) in session.store.tournaments.due(session.now):
                    found = progress_of(session, tournament)
                    if tournament.state == "running":
                        _finish(session, found)
                    elif problems := [*problems_of_start(session, found)]:
                        _cancel(session, found, " ".join(problems))
                    else:
                        start_tournament(session, found)
        except Unusable:
            raise
        except Exception as why:  # a game that is not installed any more, has changed or has a fault
            wrong.append(f"{game} tournament {pool}: {told_of(why)}")
    return wrong
