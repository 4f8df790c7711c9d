"""How a tournament goes on: the end of a game may begin the next round, in the same transaction.

If all moves of a new board are forced, it ends as soon as it starts, and its end may begin the next round. So `turns`
calls this module, and this module gets `turns.start` as an argument, a `StartBoard`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Protocol

from games import Illegal
from pbm import delivery, letters, texts
from pbm.blocks import Content, Paragraph
from pbm.board import growing
from pbm.board.board import Board
from pbm.board.clocks import DAY, Clocks
from pbm.budget import uncounted
from pbm.letters import contests
from pbm.letters.contests import TournamentTable
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import Store
from pbm.tournaments.kinds import NOBODY, Meeting, Pair, Round, Tournament


class StartBoard(Protocol):
    """The function that sets up a board and stores it: `turns.start`."""

    def __call__(
        self,
        session: Session,
        game: str,
        options: Sequence[str],
        players: Pair,
        *,
        times: Clocks,
        board_name: str,
        until: datetime | None,
    ) -> Board:
        """A board of that name with these clocks; *until* is the end of its round. Raises Illegal."""
        ...


def progress_of(session: Session, tournament: Tournament) -> TournamentTable:
    """A tournament with its stored entrants and meetings."""
    tournaments = session.store.tournaments
    return TournamentTable(
        tournament=tournament,
        entrants=tournaments.entrants(*tournament.place),
        meetings=tournaments.meetings(*tournament.place),
    )


@uncounted()  # the player who ends the last game of a round is not refused for what the next one costs
def advance(session: Session, game: str, pool: str, start: StartBoard) -> None:
    """Start the games of a tournament that can begin now, or end it; tell everybody concerned."""
    tournament = session.store.tournaments.get(game, pool)
    if tournament is None:
        return  # boards of this pool were named one by one
    is_late = tournament.until and tournament.until <= session.now
    if is_late and tournament.state == "running":
        tournament = tournament._replace(state="closing")
        session.store.tournaments.save(tournament)
    while tournament.is_on:
        progress = progress_of(session, tournament)
        due = next_games(progress)
        if due.is_over:
            finish_tournament(session, progress, tournament.kind.why_over(tournament))
            return
        if not due.pairs:
            return
        if is_endless(session, progress):
            finish_tournament(session, progress, "Only robots are left, and they would play without an end.")
            return
        tournament = _begin(session, tournament, due, start)
        if any(second != NOBODY for _, second in due.pairs):
            return  # its games go on; a round of byes alone is over at once


def next_games(progress: TournamentTable) -> Round:
    """The games and byes that can begin now."""
    with uncounted():  # the pairs of 200 players take seconds
        return progress.tournament.kind.due(progress)


def is_endless(session: Session, progress: TournamentTable) -> bool:
    """Whether only robots play, and nothing ends the tournament."""
    players = progress.players
    robots = session.store.robots.among(players)
    return progress.tournament.kind.goes_on(progress.tournament) and len(robots) == len(players)


def start_games(
    session: Session, tournament: Tournament, number: int, pairs: Sequence[Pair], start: StartBoard
) -> dict[str, Pair]:
    """Start games of a round. Returns their pairs by name of the board.

    Each player gets one letter about all their new boards.
    """
    store = session.store
    quiet_session = replace(session, comment="")  # a comment is for the board on which it was written
    names = free_names(store, tournament)
    askers = progress_of(session, tournament).with_bye(number)
    boards: dict[str, Pair] = {}
    for first, second in pairs:
        if second != NOBODY:
            name = next(names)
            boards[name] = first, second
            meeting = Meeting(number, first, second, board=name)
        elif first in askers:
            meeting = Meeting(number, first, NOBODY, outcome=0)
        else:
            meeting = Meeting(number, first, NOBODY, outcome=1)
        store.tournaments.add_meeting(*tournament.place, meeting)

    started = []
    options = tournament.options.split()
    times = Clocks(
        nag=tournament.nag_days,
        forfeit=tournament.forfeit_days,
        total=tournament.total_days,
        novacation=tournament.novacation,
    )
    if tournament.clock:
        times = times._replace(clock=growing.parse(tournament.clock))
    until = None
    if tournament.round_days:
        until = session.now + tournament.round_days * DAY
    try:
        for name, pair in boards.items():
            board = start(quiet_session, tournament.game, options, pair, times=times, board_name=name, until=until)
            started.append(board)
    except Illegal as why:  # the game may have lost an option since
        where = f"pool {tournament.pool} of {tournament.game.capitalize()}"
        raise Refused(f"No game of {where} can start; its director can `finish` it. {why}") from why
    _tell_of_boards(quiet_session, progress_of(session, tournament), number, started)
    return boards


def free_names(store: Store, tournament: Tournament) -> Iterator[str]:
    """Names for the next boards of a pool, such as a7, a8 and so on; names of users and of boards are left out."""
    last = store.tournaments.last_board_number(*tournament.place)
    for number in count(last + 1):
        name = f"{tournament.pool}{number}"
        if store.users.is_taken(name) or store.boards.get(tournament.game, name):
            continue
        yield name


def _begin(session: Session, tournament: Tournament, due: Round, start: StartBoard) -> Tournament:
    """Begin a round, tell everybody concerned, and return the tournament in that round."""
    # stored before its boards: starting a board may end it, and that reads the round
    tournament = tournament._replace(round=due.number)
    session.store.tournaments.save(tournament)
    boards = start_games(session, tournament, due.number, due.pairs, start)
    progress = progress_of(session, tournament)
    idle = progress.idle
    session.note("round", **tournament.place_data, round=due.number, boards=list(boards), byes=idle)

    subject = f"round {due.number}"
    askers = progress.with_bye(due.number)
    for name in idle:
        if name in askers:
            text = f"You have the bye in round {due.number} that you asked for, which counts as half a point."
        else:
            text = f"You have a bye in round {due.number}, which counts as a win: nobody is left to play against."
        delivery.queue(session, contests.of_tournament(progress, subject, text, to=name))
    tell_director(session, progress, subject, contests.of_pairs(progress, due.number, boards, idle))
    return tournament


def _tell_of_boards(session: Session, progress: TournamentTable, number: int, boards: Sequence[Board]) -> None:
    """Tell the players of new boards, each in one letter, and those who follow all boards of the game."""
    notes = []
    if progress.tournament.kind.has_rounds:
        notes.append(f"This is a game of round {number} of pool {progress.tournament.pool}.")
    letters_by_player: dict[str, list[letters.Letter]] = {}
    for board in boards:
        for letter in letters.of_new_board(session, board, notes=notes):
            if letter.to in board.players:
                letters_by_player.setdefault(str(letter.to), []).append(letter)
            else:
                delivery.queue(session, letter)
    for own_letters in letters_by_player.values():
        if len(own_letters) == 1:
            letter = own_letters[0]
        else:
            letter = contests.of_new_boards(own_letters, progress, number)
        delivery.queue(session, letter)


def tell_director(session: Session, progress: TournamentTable, subject: str, content: Content) -> None:
    """Mail something to the director, if there is one."""
    director = progress.tournament.director
    if director:
        delivery.queue(session, contests.of_tournament(progress, subject, content, to=director))


def tell_all(session: Session, progress: TournamentTable, subject: str, content: Content, answer: str = "") -> None:
    """Mail something to all entrants, also those who have withdrawn, and to the director."""
    readers = list(progress.by_name)
    director = progress.tournament.director
    if director and director not in readers:
        readers.append(director)
    own_letters = [contests.of_tournament(progress, subject, content, answer=answer, to=reader) for reader in readers]
    delivery.queue(session, *own_letters)


def tell_of_pause(session: Session, robot: str) -> None:
    """Tell the directors of a robot's tournaments that it is paused, and that its games wait."""
    for tournament in session.store.tournaments.of(robot):
        text = (
            f"{robot} is a robot that is paused, and its games wait until it plays again. `withdraw {robot}` or "
            f"`replace {robot} USERID` lets pool {tournament.pool} of {tournament.game.capitalize()} go on without it."
        )
        tell_director(session, progress_of(session, tournament), f"{robot} is paused", texts.wrapped_turns(text))


def finish_tournament(session: Session, progress: TournamentTable, why: str) -> None:
    """End a tournament, and mail the table to all who took part, and to the director.

    *why* is a sentence about why it ends earlier than planned; empty if it does not.
    """
    tournament = progress.tournament._replace(state="finished")
    progress = progress._replace(tournament=tournament)
    session.store.tournaments.save(tournament)
    winners = [line.name for line in progress.lines if line.place == 1]
    session.note("finish", **tournament.place_data, winners=winners)
    text = f"It is over. {why}".rstrip()
    tell_all(session, progress, "the end", [Paragraph(texts.wrapped_turns(text))] + progress.blocks)


def note_withdrawal(session: Session, tournament: Tournament, userid: str) -> None:
    """Store that a user has withdrawn; their games go on."""
    tournaments = session.store.tournaments
    entrant = progress_of(session, tournament).by_name[userid]
    if tournament.state == "open":
        tournaments.remove_entrant(*tournament.place, userid)
    else:
        tournaments.save_entrant(*tournament.place, entrant._replace(withdrawn=tournament.round + 1))
    session.note("withdraw", **tournament.place_data, userid=userid)
