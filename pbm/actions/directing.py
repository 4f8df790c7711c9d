"""What directors and the operator do with tournaments, and what the clean-up does with those that are due."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import NamedTuple

import games
from pbm import delivery
from pbm.actions import endings, reinstatement, rounds, turns
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
from pbm.blocks import Block, Content, Paragraph, blocks_of
from pbm.board.board import FIRST_MOVES, Board
from pbm.letters import Letter, contests
from pbm.letters.contests import TournamentTable
from pbm.refusals import Refused, told_of
from pbm.session import Session
from pbm.store import Unusable
from pbm.tournaments.kinds import Meeting, meetings_of


def directed(
    session: Session, game: str, pool: str, name: str, words: Sequence[str], named: Mapping[str, str | None]
) -> list[Letter]:
    """Carry out a command of a player, the director. Raises Refused if they do not direct that tournament."""
    words = words or ["status"]
    dry_run = named["dry-run"] is not None
    progress, blocks = direct(session, game, pool, words, director=name, dry_run=dry_run)
    return [contests.of_tournament(progress, words[0].lower(), blocks)]


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
        progress = find(session, game, pool)
        if director is not None and director != progress.tournament.director:
            raise Refused(f"{progress.title} is not directed by {director}.")
        verb, *arguments = [word.lower() for word in words]
        if verb not in DIRECTIONS:
            raise Refused(unknown_direction(verb))
        direction = DIRECTIONS[verb]
        # `adjudicate` alone can have a third word, and looks at it itself
        has_too_many = len(arguments) > direction.least and verb != "adjudicate"
        if len(arguments) < direction.least or has_too_many:
            syntax = f"{verb} {direction.arguments}".strip()
            raise Refused(f"`{verb}` is written `{syntax}`.")
        blocks = blocks_of(direction.carry_out(session, progress, *arguments))
        before = progress.tournament
        # a tournament without boards that is cancelled is not stored any more
        tournament = session.store.tournaments.get(*before.place) or before
        progress = progress_of(session, tournament)
    if dry_run and verb != "status":
        announced = Paragraph(f"Nothing is done yet. This would happen: {blocks[0].text}")
        blocks = (announced,) + blocks[1:]
    return progress, blocks


def unknown_direction(word: str) -> str:
    """The refusal of a word that is none of DIRECTIONS."""
    text = f"There is no direction {word!r};"
    near = games.nearest(word, DIRECTIONS)
    if near:
        text += f" did you mean `{near}`? There are"
    else:
        text += " there are"
    return f"{text} {', '.join(DIRECTIONS)}."


def _start(session: Session, progress: TournamentTable) -> list[Block]:
    """Start an open tournament. Returns the pairs of the first round."""
    check_state(progress, "start it", "open")
    progress = start_tournament(session, progress)
    return contests.of_pairs(progress, progress.tournament.round, progress.boards, progress.idle)


def _add(session: Session, progress: TournamentTable, name: str) -> str:
    """Add a player. In a running round robin, they get a board against everybody at once."""
    tournament = progress.tournament
    check_state(progress, "add players", "open", "running")
    if tournament.state == "running" and not tournament.kind.takes_latecomers:
        raise Refused(f"Nobody can be added to a {tournament.kind.title} that has begun; `replace` can.")
    # a player who comes back does not meet the same opponents again
    met = {meeting.opponent(name) for meeting in meetings_of(name, progress.meetings)}
    opponents = [player for player in progress.players if player not in met]
    add_player(session, progress, name)
    if tournament.state == "open":
        return f"{name} takes part in pool {tournament.pool}."
    if not tournament.kind.has_rounds:
        pairs = tournament.kind.pairs_of_latecomer(tournament, name, opponents)
        boards = rounds.start_games(session, tournament, 1, pairs, turns.start)
        text = f"{name} takes part in pool {tournament.pool}"
        if boards:
            text += f", on {', '.join(boards)}"
        return f"{text}."
    # in an arena they may meet somebody at once
    turns.advance_tournament(session, *tournament.place)
    return f"{name} takes part in pool {tournament.pool} from round {tournament.round + 1} on."


def _replace(session: Session, progress: TournamentTable, old: str, new: str) -> str:
    """Let *new* take the place of *old*: games that have hardly begun are started again, and the others are lost."""
    tournament = progress.tournament
    store = session.store
    check_state(progress, "replace players", "open", "running", "closing")
    check_entrant(progress, old)
    if new in progress.by_name:
        raise Refused(f"{new} takes part in pool {tournament.pool} already.")
    refuse(problems_of_players(session, tournament.game, [new]))
    young: list[tuple[Meeting, Board]] = []
    lost: list[Board] = []
    for meeting in meetings_of(old, progress.running.values()):
        board = find_board(session, tournament.game, meeting.board)
        if len(board.turns) < FIRST_MOVES:
            young.append((meeting, board))
        else:
            lost.append(board)
    store.tournaments.replace_entrant(*tournament.place, old, new)
    session.note("replace", **tournament.place_data, userid=new, replaced=old)
    sentences = [f"{new} takes the place of {old} in pool {tournament.pool}, with their points."]

    for meeting, board in young:
        why = f"{new} takes the place of {old}, and the game begins anew."
        endings.remove_and_tell(session, board, f"is removed. {why}", f"{tournament.game} table {tournament.pool}")
        first, second = (new if name == old else name for name in meeting.pair)
        [again] = rounds.start_games(session, tournament, meeting.round, [(first, second)], turns.start)
        sentences.append(f"The game on {meeting.board} begins anew on {again}.")
        # not earlier, because until here its name is not given out again
        store.tournaments.drop_meeting(tournament.game, meeting.board)

    for board in lost:
        why = f"{old} has withdrawn from the tournament; {new} takes their place."
        delivery.queue(session, *endings.forfeit(session, board, old, "withdrawn", why))
        sentences.append(f"{old} loses on {board.number}.")
    return " ".join(sentences)


def _adjudicate(session: Session, progress: TournamentTable, number: str, verdict: str, *winners: str) -> str:
    """Decide a game that is on, or that ended by time.

    Behind the *verdict* `win` the winner can be named, else it is the player who waits.
    """
    tournament = progress.tournament
    if number not in progress.boards:
        raise Refused(f"There is no board {number} of pool {tournament.pool}.")
    board = find_board(session, tournament.game, number)
    if board.is_over and not reinstatement.ended_by_time(board):
        raise Refused(f"The game on {number} of pool {tournament.pool} is over, and did not end by time.")
    most_winners = 1 if verdict == "win" else 0
    is_verdict = verdict in {"win", "draw", "cancel"}
    if not is_verdict or len(winners) > most_winners or not set(winners) <= set(board.players):
        raise Refused(f"`adjudicate` is written `adjudicate {DIRECTIONS['adjudicate'].arguments}`.")

    session = replace(session, comment="")
    if board.is_over:
        reinstatement.take_back_end(session, board)
    if verdict == "cancel":
        session.store.tournaments.void_meeting(tournament.game, number)
        note = "is removed. The director has cancelled the game; it counts for nobody."
        endings.remove_and_tell(session, board, note, f"{tournament.game} table {tournament.pool}")
        turns.advance_tournament(session, *tournament.place)
        return f"The game on {number} is cancelled."

    if verdict == "draw":
        note = "The director has decided that this is a draw."
        delivery.queue(session, *endings.agree_draw(session, board, note, reason="adjudicated"))
        return f"The game on {number} is a draw."

    winner = winners[0] if winners else board.row.opponent(str(board.mover))
    loser = board.row.opponent(winner)
    why = f"The director has decided that {winner} has won."
    delivery.queue(session, *endings.forfeit(session, board, loser, "adjudicated", why))
    return f"{winner} has won the game on {number}."


def _finish(session: Session, progress: TournamentTable) -> str:
    """Let a tournament end as soon as its running games have ended."""
    check_state(progress, "finish it", "running", "closing")
    tournament = progress.tournament._replace(state="closing")
    session.store.tournaments.save(tournament)
    turns.advance_tournament(session, *tournament.place)
    text = f"Pool {tournament.pool} is over"
    if progress.running:
        verb = "is" if len(progress.running) == 1 else "are"
        text += f" as soon as {', '.join(progress.running)} {verb}"
    return f"{text}."


def _cancel(session: Session, progress: TournamentTable, why: str = "The director has cancelled it.") -> str:
    """End a tournament at once. Boards without moves are removed; without other boards, so is the tournament."""
    check_state(progress, "cancel it", "open", "running", "closing")
    tournament = progress.tournament
    store = session.store
    store.tournaments.save(tournament._replace(state="cancelled"))
    boards = [find_board(session, tournament.game, number) for number in progress.running]
    unplayed = [board for board in boards if not board.turns]
    for board in unplayed:
        endings.remove_board(session, board, pool=tournament.pool)
        store.tournaments.void_meeting(tournament.game, board.number)
    removed = ""
    if unplayed:
        names = ", ".join(board.number for board in unplayed)
        verb = "is" if len(unplayed) == 1 else "are"
        removed = f" {names} {verb} removed."
    text = f"{progress.title} is cancelled. {why}{removed}"
    rounds.tell_all(session, progress, "cancelled", text, f"{tournament.game} games")
    session.note("cancel", **tournament.place_data)
    if not store.boards.of_tournament(*tournament.place):
        store.tournaments.forget(*tournament.place)
        return f"{progress.title} is cancelled and removed.{removed}"
    return f"{progress.title} is cancelled; games that have begun go on.{removed}"


class Direction(NamedTuple):
    """A command for a tournament."""

    arguments: str
    """The words behind it, as the syntax has them; those in brackets can be left out."""
    carry_out: Callable[..., Content]
    """The function that carries it out, with a session, the tournament and the words. It returns what to answer."""

    @property
    def least(self) -> int:
        """How many words have to stand behind it."""
        return len([word for word in self.arguments.split() if not word.startswith("[")])


DIRECTIONS: Mapping[str, Direction] = {
    "start": Direction("", _start),
    "status": Direction("", lambda _, progress: contests.described_tournament(progress)),
    "add": Direction("USERID", _add),
    "replace": Direction("USERID NEW", _replace),
    "withdraw": Direction("USERID", withdraw),
    "adjudicate": Direction("BOARD win [USERID]|draw|cancel", _adjudicate),
    "finish": Direction("", _finish),
    "cancel": Direction("", _cancel),
}
"""The commands for a tournament, by their names."""


# What becomes due


def start_due(session: Session) -> list[str]:
    """Start the tournaments, and end the arenas, that are due by their dates, in a transaction each.

    A tournament that cannot start is cancelled. Returns what failed, with the reason.
    """
    store = session.store
    with store.reading():
        due = store.tournaments.due(session.now)
    failures = []
    for game, pool in due:
        try:
            with store.writing():
                _start_or_end(session, game, pool)
        except Unusable:
            raise
        except Exception as why:  # a game that is not installed any more, has changed or has a fault
            failures.append(f"{game} tournament {pool}: {told_of(why)}")
    return failures


def _start_or_end(session: Session, game: str, pool: str) -> None:
    """Start a tournament, or end an arena, unless somebody has done so in the meantime."""
    tournament = session.store.tournaments.get(game, pool)
    if tournament is None or tournament.place not in session.store.tournaments.due(session.now):
        return
    progress = progress_of(session, tournament)
    if tournament.state == "running":
        _finish(session, progress)
        return
    problems = list(problems_of_start(session, progress))
    if problems:
        _cancel(session, progress, " ".join(problems))
        return
    start_tournament(session, progress)
