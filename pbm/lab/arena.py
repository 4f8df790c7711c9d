"""The command that lets several programs play each other, and can store their games as boards of a pool."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import combinations, pairwise

import click

import games
from games import SKIP, State
from pbm import texts
from pbm.actions import rounds
from pbm.actions.tournaments import set_up
from pbm.board import ratings
from pbm.board.board import FORFEIT, RESIGN, SERVER
from pbm.board.records import outcome, replayed
from pbm.console import answer
from pbm.console.usage import Commands
from pbm.lab.duel import SEED, TIMEOUT, WORKERS, number_of_games, read_words
from pbm.lab.matches import Match, Played, play_pairs
from pbm.referee import Referee
from pbm.refusals import Refused
from pbm.robot_players.program import TERMINATED, run_until_terminated, startable_words
from pbm.server import Server
from pbm.session import Session
from pbm.settings import open_server
from pbm.store import BoardRow, TurnRow
from pbm.tournaments import TOURNAMENT_KINDS, tables
from pbm.tournaments.kinds import Entrant, Meeting, Pair, Tournament

ORDER = "sb", "direct"
"""What decides between equal points."""

commands = Commands("pbm")


@commands.command(context_settings={"ignore_unknown_options": True})
@click.argument(
    "words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="GAME NAME=PROGRAM NAME=PROGRAM... [-options]"
)
@number_of_games(2, "How many games each two play; an odd number is one more.")
@click.option("--save", "pool", metavar="POOL", help="Store the games as boards of a new pool; names are userids.")
@WORKERS
@TIMEOUT
@SEED
@click.pass_context
def arena(
    ctx: click.Context,
    /,
    words: Sequence[str],
    number: int,
    *,
    pool: str | None,
    workers: int,
    timeout: float,
    seed: str,
) -> int:
    """Let programs play each other, each two as many games with each side, and print the table.

    The programs are asked as by `pbm play` and `pbm duel`, and stay alive from game to game. This command checks the
    rules and uses no database, so it takes only as long as the programs think. A program loses a game in which it ends,
    takes too long, or has three moves in a row refused, and by the answer `resign`. If it fails, its exit status or
    signal is told, and the last that it has written to standard error.

    With --save, programs have the names of users or robots of the server. Each game is stored when it ends, and can be
    looked at like any other. Nobody gets mail. Such games are not rated.
    """
    game, options, named = read_words(words, ctx)
    programs = _programs(named)
    server = None
    tournament = None
    if pool:
        server = open_server()
        tournament = open_pool(server, game, pool.lower(), options, list(programs))
    pairs = (number + 1) // 2
    meetings: list[Meeting] = []
    faults: list[str] = []
    boards: list[str] = []
    for names in combinations(programs, 2):

        def note(
            beginner: int, referee: Referee, moments: Sequence[datetime], played: Played, names: Pair = names
        ) -> None:
            first, second = names[::-1] if beginner else names
            worth = round(2 * played.points - 1)
            meetings.append(Meeting(1, first, second, -worth if beginner else worth))
            if played.fault:
                loser = "" if played.by is None else f"{names[played.by]} has lost: "
                report = f"\n{played.report}" if played.report else ""
                faults.append(f"{' against '.join(names)}: {loser}{played.fault}{report}")
            if server and tournament:
                players = first.lower(), second.lower()
                boards.append(store_game(server, tournament, players, referee, moments, played))

        match = Match(game, options, (programs[names[0]], programs[names[1]]), timeout, f"{seed} {' '.join(names)}")
        try:
            run_until_terminated(play_pairs(match, range(1, pairs + 1), workers, note=note))
        except asyncio.CancelledError:
            return TERMINATED
    lines = tables.places_of(programs, meetings, ORDER)
    shown = texts.table(tables.of_places(lines, ORDER))
    heading = f"{game.capitalize()}: {texts.counted(len(meetings), 'game')}"
    data = {
        "game": game,
        "options": options,
        "seed": seed,
        "table": [
            {"place": line.place, "name": line.name, "points": line.points, "sonneborn_berger": line.scores["sb"],
             "won": line.won, "lost": line.lost, "tied": line.tied}
            for line in lines
        ],
        "faults": faults,
    }  # fmt: skip
    parts = [heading, shown, tables.explained(ORDER), "\n".join(faults)]
    if tournament:
        data |= {"pool": tournament.pool, "boards": boards}
        parts.append(f"Stored: {texts.counted(len(boards), 'board')} of pool {tournament.pool}.")
    answer("\n\n".join(filter(None, parts)), data)
    return 0


def _programs(named: Sequence[str]) -> dict[str, list[str]]:
    """The words of each program, by its name. Raises Refused."""
    programs: dict[str, list[str]] = {}
    for word in named:
        name, equals, program = word.partition("=")
        if not (re.fullmatch(r"[\w.-]{1,16}", name) and equals and program.strip()):
            raise Refused(f"{word!r} is not NAME=PROGRAM with a name of 1 to 16 letters or digits.")
        if name in programs:
            raise Refused(f"Two programs are called {name}.")
        programs[name] = startable_words(program)
    if len(programs) < 2:
        raise Refused("An arena needs two programs or more: NAME=PROGRAM NAME=PROGRAM.")
    return programs


def open_pool(server: Server, game: str, pool: str, options: Sequence[str], names: Sequence[str]) -> Tournament:
    """Store a finished tournament of these users, as the pool of their games. Raises Refused if it cannot be."""
    kind = TOURNAMENT_KINDS["roundrobin"]
    tournament = Tournament(game, pool, kind, server.now(), options=" ".join(options), tie_breaks=kind.tie_breaks)
    with server.store.writing():
        set_up(Session(server), tournament, [Entrant(name.lower()) for name in names])
        server.store.tournaments.save(tournament._replace(state="finished"))
    return tournament


def store_game(
    server: Server,
    tournament: Tournament,
    players: Pair,
    referee: Referee,
    moments: Sequence[datetime],
    played: Played,
) -> str:
    """Store a game that the first of these players has begun, in one transaction. Returns the name of its board."""
    store = server.store
    now = max(moments[-1], server.now())
    turns = list(_turns(players, referee, moments))
    is_drawn = bool(played.fault) and played.by is None
    state = referee.history[-1].state
    loser = players[state.seats[state.turn]]
    if state.result() is None and not is_drawn:
        how = FORFEIT if played.fault else RESIGN
        turns.append(TurnRow(loser, how, _thrown(state), automatic=bool(played.fault), played=now))
    who = "" if is_drawn else f"{loser} has lost: "
    with store.writing():
        row = BoardRow(
            game=tournament.game,
            board=next(rounds.free_names(store, tournament)),
            options=tournament.options,
            first_player=players[0],
            second_player=players[1],
            secret=b"",  # the dice were thrown by the referee
            started=moments[0],
            ended=now,
            comment=texts.written(f"{who}{played.fault}") if played.fault else None,
            commenter=SERVER if played.fault else None,
            reason="adjudicated" if is_drawn else None,
            pool=tournament.pool,
        )
        board = replayed(row, turns)
        row = outcome(row._replace(drawn=is_drawn), board)
        store.boards.add(row)
        store.boards.save(row, 1, turns)
        store.tournaments.add_meeting(*tournament.place, Meeting(1, *players, board=row.board))
        ratings.settle(store, row, now, has_begun=False)
    return row.board


def _turns(players: Pair, referee: Referee, moments: Sequence[datetime]) -> Iterator[TurnRow]:
    """The turns of a game, each with the time of its move."""
    for (before, step), moment in zip(pairwise(referee.history), moments[1:], strict=True):
        state = before.state
        for move in step.played or ():
            skips = move == SKIP and state.must_skip
            yield TurnRow(players[state.seats[state.turn]], move, _thrown(state), automatic=skips, played=moment)
            state = state.play(move)


def _thrown(state: State) -> tuple[int, ...]:
    """The dice of the player to move; none in a game without dice."""
    return state.dice if games.needs_dice(state) else ()
