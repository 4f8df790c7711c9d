"""Tournaments: how they are set up and announced, and what players do with them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import games
from games import Illegal
from pbm import delivery, letters, texts
from pbm.access import quotas
from pbm.actions import challenges, endings, finding, rounds, turns
from pbm.actions.finding import find_board
from pbm.actions.rounds import progress_of
from pbm.blocks import Paragraph, Table, Told
from pbm.letters import Letter, contests
from pbm.letters.contests import TournamentTable
from pbm.names import LONGEST_POOL, is_pool
from pbm.refusals import Refused
from pbm.session import Session
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Entrant, Pair, Progress, Tournament
from pbm.tournaments.tables import TIE_BREAKS

# Setting it up


def announce(session: Session, tournament: Tournament, entrants: Sequence[Entrant]) -> TournamentTable:
    """Store a tournament that players can join, and mail it to those who want broadcasts. Raises Refused."""
    found = set_up(session, tournament, entrants)
    can_join = _can_join(found)
    how = f"This lets you play:\n{_joining(*tournament.place)}" if can_join else "Nobody else can join it."
    told = [
        Paragraph(f"A {tournament.kind.title} of {tournament.game.capitalize()} is open: {tournament.pool}."),
        *([Paragraph(f"It starts on {tournament.starts:{texts.TIME_FORMAT}}.")] if tournament.starts else []),
        *contests.described_tournament(found),
        Paragraph(how),
    ]
    answer = _joining(*tournament.place) if can_join else ""
    for name in session.store.users.hearing("broadcasts"):
        letter = contests.of_tournament(found, "open", told, answer=answer, to=name)
        delivery.queue(session, letter._replace(is_subscribed=True))
    session.note("open", **tournament.place_data, type=tournament.kind.name)
    return found


def _joining(game: str, pool: str) -> str:
    return f"{game} join {pool} USERID PASSWORD"


def set_up(session: Session, tournament: Tournament, entrants: Sequence[Entrant]) -> TournamentTable:
    """Store an open tournament with its first entrants. Raises Refused."""
    store, players = session.store, [each.name for each in entrants]
    if not is_pool(tournament.pool):
        raise Refused(f"The name of a pool is 1 to {LONGEST_POOL} letters, not {tournament.pool!r}.")
    if store.tournaments.get(*tournament.place) or store.boards.of_tournament(*tournament.place):
        there = f"There is a pool {tournament.pool} of {tournament.game.capitalize()} already"
        raise Refused(f"{there}; `pbm help tournament` tells how to direct it.")
    problems = list(_problems_of_plan(session, Progress(tournament, entrants, [])))
    problems += problems_of_players(session, tournament.game, players)
    refuse(problems)
    if tournament.director and store.users.missing(tournament.director):
        raise Refused(finding.no_user(session, tournament.director))
    store.tournaments.save(tournament)
    for each in entrants:
        store.tournaments.add_player(*tournament.place, each.name, team=each.team)
    return progress_of(session, tournament)


def _problems_of_plan(session: Session, plan: Progress) -> Iterator[str]:
    """Sentences about wrong settings of a tournament, and a wrong list of players."""
    tournament = plan.tournament
    players = [entrant.name for entrant in plan.entrants]
    if len(players) > tournament.limit:
        yield f"A tournament has 2 to {tournament.limit} players, not {len(players)}."
    yield from (f"{name} is named twice." for name, count in Counter(players).items() if count > 1)
    if problem := tournament.kind.problem_of_settings(tournament):
        yield problem
    if problem := _problem_of_teams(plan):
        yield problem
    for group in tournament.apart:
        if len({*group}) < max(2, len(group)):
            yield f"--never={':'.join(group)} is not USERID:USERID, with two names or more."
        yield from (finding.no_user(session, name) for name in session.store.users.missing(*group))
    if unknown := [kind for kind in tournament.tie_breaks.split(",") if kind not in TIE_BREAKS]:
        yield f"There is no tie-break {unknown[0]!r}; there are {', '.join(TIE_BREAKS)}."
    try:
        games.read_options(games.load(tournament.game), tournament.options.split())
    except Illegal as why:
        yield str(why)


def _problem_of_teams(progress: Progress) -> str:
    """Why somebody in a team would have nobody to play against; empty if everybody has."""
    sizes = {team: len(players) for team, players in progress.team_players.items()}
    if len(set(sizes.values())) <= 1:
        return ""
    sizes_told = [f"{team} has {size}" for team, size in sizes.items()]
    return f"Teams have equally many players, but {texts.enumerated(sizes_told, 'and')}."


def refuse(problems: Iterable[str]) -> None:
    """Raise Refused if there are problems."""
    if text := "\n".join(problems):
        raise Refused(text)


def problems_of_players(session: Session, game: str, players: Sequence[str]) -> Iterator[str]:
    """Sentences about those of these players who cannot take part."""
    yield from (finding.no_user(session, name) for name in session.store.users.missing(*players))
    yield from challenges.robot_objections(game, session.store.robots.among(players))


def problems_of_start(session: Session, found: TournamentTable) -> Iterator[str]:
    """Why a tournament cannot start with its present entrants."""
    tournament, count = found.tournament, len(found.entrants)
    if count < 2:
        yield f"A tournament has 2 to {tournament.kind.most} players, not {count}."
    elif problem := tournament.kind.problem_of_players(tournament, count):
        yield problem
    elif problem := _problem_of_teams(found):
        yield problem
    elif rounds.is_endless(session, found):
        yield f"A {tournament.kind.title} of robots alone needs --rounds=N, because nothing else would end it."
    elif tournament.never and not _first_games(found):
        yield "No first round is possible, because --never keeps too many players apart."


def _first_games(found: TournamentTable) -> Sequence[Pair]:
    """The games and byes of the first round of a tournament that is open."""
    return rounds.next_games(found._replace(tournament=found.tournament._replace(state="running"))).pairs


def problems_of_names(session: Session, found: TournamentTable) -> Iterator[str]:
    """Sentences about boards of the first round that would have the name of a user; another pool can be chosen."""
    tournament = found.tournament
    for number in range(1, len(_first_games(found)) + 1):
        if session.store.users.is_taken(f"{tournament.pool}{number}"):
            yield f"A board {tournament.pool}{number} would have the name of a user; choose another pool."


def start_tournament(session: Session, found: TournamentTable) -> TournamentTable:
    """Start an open tournament. Returns it with its first boards.

    Raises Refused, with all objections.
    """
    refuse(problems_of_start(session, found))
    tournament = found.tournament._replace(state="running")
    session.store.tournaments.save(tournament)
    names = [*found.by_name]
    session.note("start", **tournament.place_data, players=names)
    turns.advance_tournament(session, *tournament.place)
    return find(session, *tournament.place)


# What players do


def find(session: Session, game: str, pool: str) -> TournamentTable:
    """A tournament as it is now. Raises Refused if there is none of that name."""
    tournament = session.store.tournaments.get(game, pool.lower())
    if tournament is None:
        pools = [each.pool for each in session.store.tournaments.all(game)]
        raise Refused(f"There is no pool {pool.lower()!r} of {game.capitalize()}{games.suggestion(pool, pools)}")
    return progress_of(session, tournament)


def of_pool(session: Session, game: str, pool: str) -> TournamentTable:
    """A tournament, or a round robin made of boards of that pool that were named one by one. Raises Refused."""
    is_known = session.store.tournaments.get(game, pool.lower())
    if is_known or not session.store.boards.of_tournament(game, pool.lower()):
        return find(session, game, pool)
    kind = TOURNAMENT_KINDS["roundrobin"]
    tournament = Tournament(game, pool.lower(), kind, session.now, "running", tie_breaks=kind.tie_breaks)
    return progress_of(session, tournament)


def join_pool(session: Session, game: str, pool: str, name: str) -> list[Letter]:
    """Let a user join an open tournament. Raises Refused."""
    found = find(session, game, pool)
    tournament = found.tournament
    if tournament.state != "open":
        asked = f"; its director, {tournament.director}, can still add you" if _can_be_added(found) else ""
        raise Refused(f"Nobody can join pool {tournament.pool} any more{asked}.")
    if not session.in_shell and not session.take("joining", user=name):  # the director hears of each
        raise Refused(f"You have joined tournaments {quotas.most('joining', 'user')} times today; that is the most.")
    found = add_player(session, found, name)
    starts = tournament.starts
    begins = f"It starts on {starts:{texts.TIME_FORMAT}}." if starts else "You get a mail when it starts."
    text = f"{name} takes part in pool {tournament.pool} of {game.capitalize()}. {begins}"
    rounds.tell_director(session, found, f"{name} has joined", f"{name} takes part in pool {tournament.pool}.")
    return [contests.of_tournament(found, "joined", text)]


def leave_pool(session: Session, game: str, pool: str, name: str) -> list[Letter]:
    """Let a user leave a tournament."""
    text = withdraw(session, find(session, game, pool), name)
    found = find(session, game, pool)
    rounds.tell_director(session, found, f"{name} has left", text)
    return [contests.of_tournament(found, "left", text)]


def ask_for_bye(session: Session, game: str, pool: str, name: str) -> list[Letter]:
    """Give a user a bye of half a point in the next round of a Swiss tournament. Raises Refused."""
    found = find(session, game, pool)
    tournament = found.tournament
    check_state(found, "ask for a bye", "open", "running")
    check_entrant(found, name)
    number = tournament.round + 1
    mine = found.by_name[name]
    if number in mine.byes:
        raise Refused(f"{name} has a bye in round {number} of pool {tournament.pool} already.")
    if len(mine.byes) >= tournament.byes:
        most = f"no more than {texts.counted(tournament.byes, 'bye')}" if tournament.byes else "no byes"
        raise Refused(f"A player can ask for {most} in pool {tournament.pool}.")
    if number >= (tournament.rounds or 0):
        raise Refused(f"Nobody can ask for a bye in the last round of pool {tournament.pool}.")
    session.store.tournaments.save_entrant(game, tournament.pool, mine._replace(byes=mine.byes | {number}))
    title = f"pool {tournament.pool} of {game.capitalize()}"
    text = f"{name} has a bye in round {number} of {title}, which is half a point."
    found = progress_of(session, tournament)
    rounds.tell_director(session, found, f"{name} has a bye", text)
    return [contests.of_tournament(found, "bye", text)]


def table(session: Session, game: str, pool: str) -> list[Letter]:
    """The table of a tournament; without a *pool*, a list of the tournaments that are not over."""
    if not pool:
        return [_listed(session, game)]
    found = of_pool(session, game, pool)
    is_open = found.tournament.state == "open"
    told = contests.described_tournament(found) if is_open else found.blocks
    answer = _joining(game, found.tournament.pool) if _can_join(found) else f"{game} games tournament"
    letter = contests.of_tournament(found, "the table", told, answer=answer)
    return [letter._replace(data=found.data | {"reply": letter.body})]


def _listed(session: Session, game: str) -> Letter:
    """The list of tournaments of a game that are not over, with who can join them."""
    found = [progress_of(session, one) for one in session.store.tournaments.all(game) if not one.is_over]
    rows = [("Pool", "Type", "State", "Players", "Round", "Starts (UTC)", "Who can join")]
    data = []
    for shown in found:
        tournament, who = shown.tournament, _who_joins(shown)
        is_open = tournament.state == "open"
        status = contests.status_of_tournament(shown)
        players = f"{len(status['players'])}{f' of {tournament.most}' if tournament.most and is_open else ''}"
        number = contests.present_round(tournament) if tournament.round or tournament.rounds else ""
        starts = f"{tournament.starts:{texts.ZONELESS_TIME_FORMAT}}" if tournament.starts and is_open else ""
        rows.append((tournament.pool, tournament.kind.name, tournament.state, players, number, starts, who))
        data.append(status | {"who": who})
    title = game.capitalize()
    how = [Paragraph(f"To join: {_joining(game, 'POOL')}")] if any(map(_can_join, found)) else []
    told: Told = [Table(rows), *how] if found else f"No tournament of {title} is open, or on."
    answer = f"{game} table POOL" if found else f"{game} games tournament"
    return letters.plain_letter(told, subject=f"{title} tournaments", answer=answer, game=game, tournaments=data)


def _can_join(found: TournamentTable) -> bool:
    """Whether every player can join a tournament."""
    tournament = found.tournament
    return tournament.state == "open" and len(found.entrants) < tournament.limit and not found.has_teams


def _can_be_added(found: TournamentTable) -> bool:
    """Whether the director of a tournament can still add players."""
    tournament = found.tournament
    return (
        bool(tournament.director)
        and tournament.state == "running"
        and tournament.kind.takes_latecomers
        and not found.has_teams
    )


def _who_joins(found: TournamentTable) -> str:
    """Who can join a tournament, as the list says it."""
    if _can_join(found):
        return "anybody"
    if _can_be_added(found):
        return f"ask {found.tournament.director}"
    return f"nobody{': teams' if found.has_teams else ': full' if found.tournament.state == 'open' else ''}"


def add_player(session: Session, found: TournamentTable, name: str) -> TournamentTable:
    """Let a user take part; in a running tournament, from the next round on. Raises Refused."""
    tournament = found.tournament
    before = found.by_name.get(name)
    if before and before.withdrawn is None:
        raise Refused(f"{name} takes part in pool {tournament.pool} already.")
    if found.has_teams:
        raise Refused(f"Pool {tournament.pool} is played by teams, which nobody can join; `replace` changes a player.")
    if not before and len(found.entrants) >= tournament.limit:
        raise Refused(f"Pool {tournament.pool} is full: it takes {texts.counted(tournament.limit, 'player')}.")
    refuse(problems_of_players(session, tournament.game, [name]))
    if before:
        again = before._replace(joined=tournament.round + 1, withdrawn=None)
        session.store.tournaments.save_entrant(*tournament.place, again)
    else:
        session.store.tournaments.add_player(*tournament.place, name, tournament.round + 1)
    session.note("join", **tournament.place_data, userid=name)
    return progress_of(session, tournament)


def withdraw(session: Session, found: TournamentTable, name: str) -> str:
    """Withdraw a player, who loses their running games, unrated. Returns sentences about it. Raises Refused."""
    tournament = found.tournament
    check_state(found, "leave", "open", "running", "closing")
    check_entrant(found, name)
    rounds.note_withdrawal(session, tournament, name)
    lost = [number for number, meeting in found.running.items() if name in meeting.pair]
    for number in lost:
        board = find_board(session, tournament.game, number)
        why = f"{name} has withdrawn from the tournament."
        delivery.queue(session, *endings.forfeit(session, board, name, "withdrawn", why))
    told = f"{name} does not take part in pool {tournament.pool} any more."
    if lost:
        told += f" They lose on {texts.enumerated(lost, 'and')}."
    return told


def check_state(found: TournamentTable, what: str, *states: str) -> None:
    """Raise Refused unless a tournament is in one of these *states*; *what* names the deed, such as `start it`."""
    if found.tournament.state not in states:
        where = texts.enumerated(states, "or")
        raise Refused(f"{found.title} is {found.tournament.state}; you can {what} only while it is {where}.")


def check_entrant(found: TournamentTable, name: str) -> None:
    """Raise Refused unless a user takes part."""
    if name not in found.players:
        hint = games.suggestion(name, found.players)
        raise Refused(f"{name} does not take part in pool {found.tournament.pool}{hint}")
