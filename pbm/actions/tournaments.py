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
from pbm.blocks import Block, Paragraph, Table
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
    progress = set_up(session, tournament, entrants)
    title = f"{tournament.kind.title} of {tournament.game.capitalize()}"
    blocks: list[Block] = [Paragraph(f"A {title} is open: {tournament.pool}.")]
    if tournament.starts:
        blocks.append(Paragraph(f"It starts on {tournament.starts:{texts.TIME_FORMAT}}."))
    blocks += contests.described_tournament(progress)
    if _can_join(progress):
        answer = _joining(*tournament.place)
        blocks.append(Paragraph(f"This lets you play:\n{answer}"))
    else:
        answer = ""
        blocks.append(Paragraph("Nobody else can join it."))

    for name in session.store.users.hearing("broadcasts"):
        letter = contests.of_tournament(progress, "open", blocks, answer=answer, to=name)
        delivery.queue(session, letter._replace(is_subscribed=True))
    session.note("open", **tournament.place_data, type=tournament.kind.name)
    return progress


def _joining(game: str, pool: str) -> str:
    """The command by which a player joins."""
    return f"{game} join {pool} USERID PASSWORD"


def set_up(session: Session, tournament: Tournament, entrants: Sequence[Entrant]) -> TournamentTable:
    """Store an open tournament with its first entrants. Raises Refused."""
    store = session.store
    if not is_pool(tournament.pool):
        raise Refused(f"The name of a pool is 1 to {LONGEST_POOL} letters, not {tournament.pool!r}.")
    if store.tournaments.get(*tournament.place) or store.boards.of_tournament(*tournament.place):
        title = f"pool {tournament.pool} of {tournament.game.capitalize()}"
        raise Refused(f"There is a {title} already; `pbm help tournament` tells how to direct it.")
    problems = list(_problems_of_plan(session, Progress(tournament, entrants, [])))
    problems += problems_of_players(session, tournament.game, [entrant.name for entrant in entrants])
    refuse(problems)
    if tournament.director and store.users.missing(tournament.director):
        raise Refused(finding.no_user(session, tournament.director))
    store.tournaments.save(tournament)
    for entrant in entrants:
        store.tournaments.add_player(*tournament.place, entrant.name, team=entrant.team)
    return progress_of(session, tournament)


def _problems_of_plan(session: Session, plan: Progress) -> Iterator[str]:
    """Sentences about wrong settings of a tournament, and a wrong list of players."""
    tournament = plan.tournament
    players = [entrant.name for entrant in plan.entrants]
    if len(players) > tournament.limit:
        yield f"A tournament has 2 to {tournament.limit} players, not {len(players)}."
    for name, count in Counter(players).items():
        if count > 1:
            yield f"{name} is named twice."
    if problem := tournament.kind.problem_of_settings(tournament):
        yield problem
    if problem := _problem_of_teams(plan):
        yield problem
    for group in tournament.apart:
        is_repeated = len(set(group)) < len(group)
        if len(group) < 2 or is_repeated:
            yield f"--never={':'.join(group)} is not USERID:USERID, with two names or more."
        yield from (finding.no_user(session, name) for name in session.store.users.missing(*group))
    unknown = [kind for kind in tournament.tie_breaks.split(",") if kind not in TIE_BREAKS]
    if unknown:
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
    parts = [f"{team} has {size}" for team, size in sizes.items()]
    return f"Teams have equally many players, but {texts.enumerated(parts, 'and')}."


def refuse(problems: Iterable[str]) -> None:
    """Raise Refused, with a line for each problem, if there are any."""
    text = "\n".join(problems)
    if text:
        raise Refused(text)


def problems_of_players(session: Session, game: str, players: Sequence[str]) -> Iterator[str]:
    """Sentences about the players who cannot take part: unknown users, and robots that cannot play this game."""
    yield from (finding.no_user(session, name) for name in session.store.users.missing(*players))
    yield from challenges.robot_objections(game, session.store.robots.among(players))


def problems_of_start(session: Session, progress: TournamentTable) -> Iterator[str]:
    """Why a tournament cannot start with its present entrants: a sentence; nothing if it can."""
    tournament = progress.tournament
    count = len(progress.entrants)
    if count < 2:
        yield f"A tournament has 2 to {tournament.kind.most} players, not {count}."
    elif problem := tournament.kind.problem_of_players(tournament, count):
        yield problem
    elif problem := _problem_of_teams(progress):
        yield problem
    elif rounds.is_endless(session, progress):
        yield f"A {tournament.kind.title} of robots alone needs --rounds=N, because nothing else would end it."
    elif tournament.never and not _first_games(progress):
        yield "No first round is possible, because --never keeps too many players apart."


def _first_games(progress: TournamentTable) -> Sequence[Pair]:
    """The games and byes of the first round of a tournament that is open."""
    started = progress.tournament._replace(state="running")
    return rounds.next_games(progress._replace(tournament=started)).pairs


def problems_of_names(session: Session, progress: TournamentTable) -> Iterator[str]:
    """Sentences about boards of the first round that would have the name of a user; another pool can be chosen."""
    tournament = progress.tournament
    for number, _ in enumerate(_first_games(progress), 1):
        name = f"{tournament.pool}{number}"
        if session.store.users.is_taken(name):
            yield f"A board {name} would have the name of a user; choose another pool."


def start_tournament(session: Session, progress: TournamentTable) -> TournamentTable:
    """Start an open tournament. Returns it with its first boards.

    Raises Refused, with all objections.
    """
    refuse(problems_of_start(session, progress))
    tournament = progress.tournament._replace(state="running")
    session.store.tournaments.save(tournament)
    session.note("start", **tournament.place_data, players=list(progress.by_name))
    turns.advance_tournament(session, *tournament.place)
    return find(session, *tournament.place)


# What players do


def find(session: Session, game: str, pool: str) -> TournamentTable:
    """A tournament as it is now. Raises Refused if there is none of that name."""
    tournament = session.store.tournaments.get(game, pool.lower())
    if tournament is None:
        pools = [tournament.pool for tournament in session.store.tournaments.all(game)]
        raise Refused(f"There is no pool {pool.lower()!r} of {game.capitalize()}{games.suggestion(pool, pools)}")
    return progress_of(session, tournament)


def of_pool(session: Session, game: str, pool: str) -> TournamentTable:
    """A tournament, or a round robin made of boards of that pool that were named one by one. Raises Refused."""
    store = session.store
    name = pool.lower()
    if store.tournaments.get(game, name) or not store.boards.of_tournament(game, name):
        return find(session, game, pool)
    kind = TOURNAMENT_KINDS["roundrobin"]
    tournament = Tournament(game, name, kind, session.now, "running", tie_breaks=kind.tie_breaks)
    return progress_of(session, tournament)


def join_pool(session: Session, game: str, pool: str, name: str) -> list[Letter]:
    """Let a user join an open tournament. Raises Refused."""
    progress = find(session, game, pool)
    tournament = progress.tournament
    if tournament.state != "open":
        refusal = f"Nobody can join pool {tournament.pool} any more"
        if _can_be_added(progress):
            refusal += f"; its director, {tournament.director}, can still add you"
        raise Refused(f"{refusal}.")
    if not session.is_trusted and not session.take("joining", user=name):  # the director hears of each
        raise Refused(f"You have joined tournaments {quotas.most('joining', 'user')} times today; that is the most.")
    progress = add_player(session, progress, name)
    text = f"{name} takes part in pool {tournament.pool} of {game.capitalize()}."
    if tournament.starts:
        text += f" It starts on {tournament.starts:{texts.TIME_FORMAT}}."
    else:
        text += " You get a mail when it starts."
    rounds.tell_director(session, progress, f"{name} has joined", f"{name} takes part in pool {tournament.pool}.")
    return [contests.of_tournament(progress, "joined", text)]


def leave_pool(session: Session, game: str, pool: str, name: str) -> list[Letter]:
    """Let a user leave a tournament."""
    text = withdraw(session, find(session, game, pool), name)
    progress = find(session, game, pool)
    rounds.tell_director(session, progress, f"{name} has left", text)
    return [contests.of_tournament(progress, "left", text)]


def ask_for_bye(session: Session, game: str, pool: str, name: str) -> list[Letter]:
    """Give a user a bye of half a point in the next round of a Swiss tournament. Raises Refused."""
    progress = find(session, game, pool)
    tournament = progress.tournament
    check_state(progress, "ask for a bye", "open", "running")
    check_entrant(progress, name)
    number = tournament.round + 1
    entrant = progress.by_name[name]
    if number in entrant.byes:
        raise Refused(f"{name} has a bye in round {number} of pool {tournament.pool} already.")
    if not tournament.byes:
        raise Refused(f"A player can ask for no byes in pool {tournament.pool}.")
    if len(entrant.byes) >= tournament.byes:
        most = texts.counted(tournament.byes, "bye")
        raise Refused(f"A player can ask for no more than {most} in pool {tournament.pool}.")
    if number >= (tournament.rounds or 0):
        raise Refused(f"Nobody can ask for a bye in the last round of pool {tournament.pool}.")
    session.store.tournaments.save_entrant(game, tournament.pool, entrant._replace(byes=entrant.byes | {number}))
    title = f"pool {tournament.pool} of {game.capitalize()}"
    text = f"{name} has a bye in round {number} of {title}, which is half a point."
    progress = progress_of(session, tournament)
    rounds.tell_director(session, progress, f"{name} has a bye", text)
    return [contests.of_tournament(progress, "bye", text)]


def table(session: Session, game: str, pool: str) -> list[Letter]:
    """The table of a tournament; without a *pool*, a list of the tournaments that are not over."""
    if not pool:
        return [_listed(session, game)]
    progress = of_pool(session, game, pool)
    tournament = progress.tournament
    if tournament.state == "open":  # nobody has a result yet
        blocks = contests.described_tournament(progress)
    else:
        blocks = progress.blocks
    if _can_join(progress):
        answer = _joining(game, tournament.pool)
    else:
        answer = f"{game} games tournament"
    letter = contests.of_tournament(progress, "the table", blocks, answer=answer)
    return [letter._replace(data=progress.data | {"reply": letter.body})]


def _listed(session: Session, game: str) -> Letter:
    """The list of tournaments of a game that are not over, with who can join them."""
    title = game.capitalize()
    subject = f"{title} tournaments"
    current = [tournament for tournament in session.store.tournaments.all(game) if not tournament.is_over]
    if not current:
        text = f"No tournament of {title} is open, or on."
        answer = f"{game} games tournament"
        return letters.plain_letter(text, subject=subject, answer=answer, game=game, tournaments=[])

    rows = [("Pool", "Type", "State", "Players", "Round", "Starts (UTC)", "Who can join")]
    data = []
    can_any_be_joined = False
    for tournament in current:
        progress = progress_of(session, tournament)
        status = contests.status_of_tournament(progress)
        players = str(len(status["players"]))
        starts = ""
        if tournament.state == "open":
            if tournament.most:
                players += f" of {tournament.most}"
            if tournament.starts:
                starts = f"{tournament.starts:{texts.ZONELESS_TIME_FORMAT}}"
        number = ""
        if tournament.round or tournament.rounds:
            number = contests.present_round(tournament)
        who = _who_joins(progress)
        rows.append((tournament.pool, tournament.kind.name, tournament.state, players, number, starts, who))
        data.append(status | {"who": who})
        can_any_be_joined = can_any_be_joined or _can_join(progress)

    blocks: list[Block] = [Table(rows)]
    if can_any_be_joined:
        blocks.append(Paragraph(f"To join: {_joining(game, 'POOL')}"))
    return letters.plain_letter(blocks, subject=subject, answer=f"{game} table POOL", game=game, tournaments=data)


def _can_join(progress: TournamentTable) -> bool:
    """Whether every player can join a tournament."""
    tournament = progress.tournament
    return tournament.state == "open" and len(progress.entrants) < tournament.limit and not progress.has_teams


def _can_be_added(progress: TournamentTable) -> bool:
    """Whether the director of a tournament can still add players."""
    tournament = progress.tournament
    return (
        bool(tournament.director)
        and tournament.state == "running"
        and tournament.kind.takes_latecomers
        and not progress.has_teams
    )


def _who_joins(progress: TournamentTable) -> str:
    """Who can join a tournament, as the list says it, such as ``nobody: full``."""
    if _can_join(progress):
        return "anybody"
    if _can_be_added(progress):
        return f"ask {progress.tournament.director}"
    if progress.has_teams:
        return "nobody: teams"
    if progress.tournament.state == "open":
        return "nobody: full"
    return "nobody"


def add_player(session: Session, progress: TournamentTable, name: str) -> TournamentTable:
    """Let a user take part; in a running tournament, from the next round on. Raises Refused."""
    tournament = progress.tournament
    entrant = progress.by_name.get(name)  # also a player who has withdrawn, and comes back
    if entrant and entrant.withdrawn is None:
        raise Refused(f"{name} takes part in pool {tournament.pool} already.")
    if progress.has_teams:
        raise Refused(f"Pool {tournament.pool} is played by teams, which nobody can join; `replace` changes a player.")
    if not entrant and len(progress.entrants) >= tournament.limit:
        raise Refused(f"Pool {tournament.pool} is full: it takes {texts.counted(tournament.limit, 'player')}.")
    refuse(problems_of_players(session, tournament.game, [name]))
    next_round = tournament.round + 1
    if entrant:
        entrant = entrant._replace(joined=next_round, withdrawn=None)
        session.store.tournaments.save_entrant(*tournament.place, entrant)
    else:
        session.store.tournaments.add_player(*tournament.place, name, next_round)
    session.note("join", **tournament.place_data, userid=name)
    return progress_of(session, tournament)


def withdraw(session: Session, progress: TournamentTable, name: str) -> str:
    """Withdraw a player, who loses their running games, unrated. Returns sentences about it. Raises Refused."""
    tournament = progress.tournament
    check_state(progress, "leave", "open", "running", "closing")
    check_entrant(progress, name)
    rounds.note_withdrawal(session, tournament, name)
    lost = [number for number, meeting in progress.running.items() if name in meeting.pair]
    for number in lost:
        board = find_board(session, tournament.game, number)
        why = f"{name} has withdrawn from the tournament."
        delivery.queue(session, *endings.forfeit(session, board, name, "withdrawn", why))
    text = f"{name} does not take part in pool {tournament.pool} any more."
    if lost:
        text += f" They lose on {texts.enumerated(lost, 'and')}."
    return text


def check_state(progress: TournamentTable, deed: str, *states: str) -> None:
    """Raise Refused unless a tournament is in one of these *states*; the *deed* is a verb, such as `start it`."""
    state = progress.tournament.state
    if state not in states:
        allowed = texts.enumerated(states, "or")
        raise Refused(f"{progress.title} is {state}; you can {deed} only while it is {allowed}.")


def check_entrant(progress: TournamentTable, name: str) -> None:
    """Raise Refused unless a user takes part."""
    players = progress.players
    if name not in players:
        hint = games.suggestion(name, players)
        raise Refused(f"{name} does not take part in pool {progress.tournament.pool}{hint}")
