"""How a tournament goes on: the end of a game may begin the next round, in the same transaction.

The function that starts a board is an argument: it stands in `turns`, which imports this module.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from games import Illegal
from pbm import delivery, letters, texts
from pbm.blocks import Paragraph, Told
from pbm.board.board import Board
from pbm.board.clocks import DAY, Clocks
from pbm.budget import uncounted
from pbm.letters import contests
from pbm.letters.contests import TournamentTable
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import Store
from pbm.tournaments.kinds import NOBODY, Meeting, Pair, Round, Tournament

Start = Callable[..., Board]
"""The function that starts and stores a board: `turns.start`."""


def progress_of(session: Session, tournament: Tournament) -> TournamentTable:
    """A tournament with its stored entrants and meetings."""
    tournaments, place = session.store.tournaments, tournament.place
    return TournamentTable(tournament, tournaments.entrants(*place), tournaments.meetings(*place))


@uncounted()  # whoever ends the last game of a round is not refused for what the next one costs
def advance(session: Session, game: str, pool: str, start: Start) -> None:
    """Start the games of a tournament that can begin now, or end it; tell everybody concerned."""
    tournament = session.store.tournaments.get(game, pool)
    if tournament and tournament.until and tournament.until <= session.now and tournament.state == "running":
        tournament = tournament._replace(state="closing")
        session.store.tournaments.save(tournament)
    while tournament and tournament.is_on:
        found = progress_of(session, tournament)
        due = next_games(found)
        if due.is_over:
            finish_tournament(session, found, tournament.kind.why_over(tournament))
            return
        if not due.pairs:
            return
        if is_endless(session, found):
            finish_tournament(session, found, "Only robots are left, and they would play without an end.")
            return
        tournament = _begin(session, tournament, due, start)
        if any(second != NOBODY for _, second in due.pairs):
            return


def next_games(found: TournamentTable) -> Round:
    """The games and byes that can begin now."""
    with uncounted():  # the pairs of 200 players take seconds
        return found.tournament.kind.due(found)


def is_endless(session: Session, found: TournamentTable) -> bool:
    """Whether only robots play, and nothing ends the tournament."""
    robots = session.store.robots.among(found.players)
    return found.tournament.kind.goes_on(found.tournament) and len(robots) == len(found.players)


def start_games(
    session: Session, tournament: Tournament, number: int, pairs: Sequence[Pair], start: Start
) -> dict[str, Pair]:
    """Start games of a round. Returns their pairs by name of the board.

    Each player gets one letter about all their new boards.
    """
    store = session.store
    quiet = replace(session, comment="")
    boards: dict[str, Pair] = {}
    names = free_names(store, tournament)
    asked = progress_of(session, tournament).with_bye(number)
    for first, second in pairs:
        if second == NOBODY:
            meeting = Meeting(number, first, second, int(first not in asked))
        else:
            meeting = Meeting(number, first, second, board=next(names))
            boards[meeting.board] = meeting.pair
        store.tournaments.add_meeting(*tournament.place, meeting)
    until = session.now + tournament.round_days * DAY if tournament.round_days else None
    times = Clocks(tournament.nag_days, tournament.forfeit_days, tournament.total_days, tournament.novacation)
    try:
        begun = [
            start(quiet, tournament.game, tournament.options.split(), pair, times=times, name=name, until=until)
            for name, pair in boards.items()
        ]
    except Illegal as why:  # the game may have lost an option since
        where = f"pool {tournament.pool} of {tournament.game.capitalize()}"
        raise Refused(f"No game of {where} can start; its director can `finish` it. {why}") from why
    _tell_of_boards(quiet, progress_of(session, tournament), number, begun)
    return boards


def free_names(store: Store, tournament: Tournament) -> Iterator[str]:
    """Names for the next boards of a pool, such as a7, a8 and so on; names of users and of boards are left out."""
    for number in count(store.tournaments.last_board_number(*tournament.place) + 1):
        name = f"{tournament.pool}{number}"
        if not (store.users.is_taken(name) or store.boards.get(tournament.game, name)):
            yield name


def _begin(session: Session, tournament: Tournament, due: Round, start: Start) -> Tournament:
    """Begin a round. It is stored before its boards: starting a board may end it, and that reads the round."""
    tournament = tournament._replace(round=due.number)
    session.store.tournaments.save(tournament)
    boards = start_games(session, tournament, due.number, due.pairs, start)
    found = progress_of(session, tournament)
    idle, asked = found.idle, found.with_bye(due.number)
    session.note("round", **tournament.place_data, round=due.number, boards=[*boards], byes=idle)
    for name in idle:
        text = f"You have a bye in round {due.number}, which counts as a win: nobody is left to play against."
        if name in asked:
            text = f"You have the bye in round {due.number} that you asked for, which counts as half a point."
        delivery.queue(session, contests.of_tournament(found, f"round {due.number}", text, to=name))
    tell_director(session, found, f"round {due.number}", contests.of_pairs(found, due.number, boards, idle))
    return tournament


def _tell_of_boards(session: Session, found: TournamentTable, number: int, begun: Sequence[Board]) -> None:
    """Tell the players, and those who follow all boards of the game, of new boards."""
    has_rounds = found.tournament.kind.has_rounds
    notes = [f"This is a game of round {number} of pool {found.tournament.pool}."] if has_rounds else []
    mine: dict[str, list[letters.Letter]] = {}
    for board in begun:
        for letter in letters.of_new_board(session, board, notes=notes):
            if letter.to in board.players:
                mine.setdefault(str(letter.to), []).append(letter)
            else:
                delivery.queue(session, letter)
    for own in mine.values():
        delivery.queue(session, own[0] if len(own) == 1 else contests.of_new_boards(own, found, number))


def tell_director(session: Session, found: TournamentTable, subject: str, told: Told) -> None:
    """Mail something to the director, if there is one."""
    if found.tournament.director:
        delivery.queue(session, contests.of_tournament(found, subject, told, to=found.tournament.director))


def tell_all(session: Session, found: TournamentTable, subject: str, told: Told, answer: str = "") -> None:
    """Mail something to all entrants, also those who have withdrawn, and to the director."""
    names = dict.fromkeys([*found.by_name, *filter(None, [found.tournament.director])])
    delivery.queue(session, *(contests.of_tournament(found, subject, told, answer=answer, to=name) for name in names))


def tell_of_pause(session: Session, robot: str) -> None:
    """Tell the directors of a robot's tournaments that it is paused, and that its games wait."""
    for tournament in session.store.tournaments.of(robot):
        text = (
            f"{robot} is a robot that is paused, and its games wait until it plays again. `withdraw {robot}` or "
            f"`replace {robot} USERID` lets pool {tournament.pool} of {tournament.game.capitalize()} go on without it."
        )
        tell_director(session, progress_of(session, tournament), f"{robot} is paused", texts.wrapped_turns(text))


def finish_tournament(session: Session, found: TournamentTable, why: str) -> None:
    """End a tournament, and mail the table to all who took part, and to the director.

    *why* is a sentence about why it ends earlier than planned; empty if it does not.
    """
    text = f"It is over. {why}".rstrip()
    tournament = found.tournament._replace(state="finished")
    found = found._replace(tournament=tournament)
    session.store.tournaments.save(tournament)
    first = [line.name for line in found.lines if line.place == 1]
    session.note("finish", **tournament.place_data, winners=first)
    tell_all(session, found, "the end", [Paragraph(texts.wrapped_turns(text)), *found.blocks])


def note_withdrawal(session: Session, tournament: Tournament, userid: str) -> None:
    """Store that a user has withdrawn; their games go on."""
    store = session.store
    entrant = progress_of(session, tournament).by_name[userid]
    if tournament.state == "open":
        store.tournaments.remove_entrant(*tournament.place, userid)
    else:
        store.tournaments.save_entrant(*tournament.place, entrant._replace(withdrawn=tournament.round + 1))
    session.note("withdraw", **tournament.place_data, userid=userid)
