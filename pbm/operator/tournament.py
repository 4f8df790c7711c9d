"""The operator's command for tournaments, which starts, announces, directs and shows them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click

import games
from pbm import texts
from pbm.actions import directing, tournaments
from pbm.actions.directing import DIRECTIONS, on_trial
from pbm.blocks import text_of
from pbm.board import clocks
from pbm.console import answer, answer_list, open_existing
from pbm.console.usage import Commands, game_name, split_options
from pbm.letters import contests
from pbm.letters.contests import TournamentTable
from pbm.refusals import Refused
from pbm.session import Session
from pbm.terminal import say
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Entrant, Kind, Pair, Tournament

MOST_ROUNDS = 50
"""How many rounds a tournament has at most."""
MOST_GAMES = 9
"""How many games a match of a knockout has at most."""

TOURNAMENT = """Start a tournament, let it be joined, direct it, or show how it stands.

\b
  pbm tournament symple a alice bob carol --double -size=5
  pbm tournament symple a withdraw bob

With players, it makes a pool of them and starts its games: boards a1, a2 and so on in the pool a. In a round robin,
every two players get a board at once. A Swiss tournament, a knockout, a ladder and an arena go on by themselves. The
next round starts when the last game of the round before ends. Options of the game are written as in a challenge.
Players who reject or limit challenges play nevertheless.

With --open, players join by `GAME join POOL USERID PASSWORD`.

Without players, it prints the table of the pool. A win or a bye is 1 point, a tie 0.5. The line below the table says
what decides between equal points. Usually their games against each other (direct encounter) do, too. Players share a
place only if these games do not decide either. The results are: 1 won, 0 lost, = tied, a dot for a game that is not yet
played, x for one that was cancelled. If there are rounds, the line of the opponent stands in front, such as 7:1. In CSV
that is 7+ won, 7= tied, 7- lost, 7? not yet played.
A bye is 1 point; bye= is half a point, for players who have asked for it by `GAME bye POOL USERID PASSWORD`.

Without a pool, it lists the pools.

\b
A DIRECTION is one of these:
  start                         start a tournament that was open
  status                        how far it is
  add USERID                    one more player, from the next round on
  replace USERID NEW            another player replaces them
  withdraw USERID               they lose the games that are on, unrated
  adjudicate BOARD win [USERID] the player who waits, or that one, has won
  adjudicate BOARD draw|cancel  a draw, or it counts for nobody
  finish                        no more rounds; the table goes to everybody
  cancel                        end it at once
"""

commands = Commands("pbm")


@commands.command(help=TOURNAMENT, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="GAME [POOL [USERID...|DIRECTION... [-options]]]")
@click.option("--type", "kind", metavar="TYPE", help=f"{', '.join(TOURNAMENT_KINDS)}; else roundrobin.")
@click.option("--rounds", metavar="N", help="How many rounds a Swiss tournament or a ladder has.")
@click.option("--best-of", metavar="N", help="How many games a match of a knockout has.")
@click.option("--double", is_flag=True, help="Each two players meet twice, and each of them begins once.")
@click.option("--pairs", is_flag=True, help="Only the first two players meet, the next two, and so on.")
@click.option("--team", multiple=True, metavar="NAME:A,B,...", help="A team, its best player first.")
@click.option("--open", "is_open", is_flag=True, help="Announce it; players join, and `start` starts it.")
@click.option("--starts", metavar="DATE", help="When it starts by itself, such as 2027-01-31.")
@click.option("--most", metavar="N", help="How many players can join.")
@click.option("--until", metavar="TIME", help="When an arena ends, such as 2027-01-31T18:00 in UTC.")
@click.option("--never", multiple=True, metavar="A:B", help="Players who never meet in a Swiss tournament.")
@click.option("--byes", metavar="N", help="How many byes of half a point a player of a Swiss tournament can ask for.")
@click.option("--round-days", metavar="DAYS", help="How long a round lasts; then the players who are to move lose.")
@click.option("--tiebreaks", metavar="LIST", help="What decides between equal points: direct,sb,buchholz,cut1,wins.")
@click.option(
    "--director", metavar="USERID", help="A user who may direct the tournament by mail, and is told about it."
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--nagtime", metavar="DAYS", help="Until the player to move is reminded.")
@click.option("--forfeittime", metavar="DAYS", help="Until they have lost.")
@click.option("--totaltime", metavar="DAYS", help="What a player has for all their moves.")
@click.option("--clock", metavar="BASE+INC[/MAX]", help="Instead of both: a clock that grows, such as 10+2/14.")
@click.option("--novacation", flag_value="yes", help="Vacations spare nobody.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the list as CSV.")
@click.option("--trf", "as_trf", is_flag=True, help="Print a Swiss tournament as a report for FIDE's programs (TRF16).")
@click.option("--format", "form", type=click.Choice(contests.FORMATS), help="How the table is printed.")
@click.pass_context
def tournament(
    ctx: click.Context,
    /,
    words: Sequence[str],
    *,
    dry_run: bool,
    as_csv: bool,
    as_trf: bool,
    form: str | None,
    **settings: Any,
) -> None:
    """Start a tournament, let it be joined, direct it, or show how it stands."""
    options, named = split_options(words, ctx)
    if not named:
        raise click.UsageError("No game is named; `pbm tournament symple` lists the pools of Symple.", ctx)
    game, pool, others = _game_pool_and_others([word.lower() for word in named])
    teams = _teams(settings["team"])
    is_described = any(settings.values()) or bool(options)
    session = Session(open_existing())
    if others and others[0] in DIRECTIONS:
        if is_described or as_csv or as_trf or form:
            raise Refused(f"`{others[0]}` takes no options but --dry-run.")
        _direct(session, game, pool, others, dry_run=dry_run)
    elif others and teams:
        raise Refused("Where teams play, each player is named in a team.")
    elif others or teams or settings["is_open"]:
        _check_no_direction(session, game, pool, others)
        entrants = [Entrant(userid) for userid in others]
        entrants += teams
        tournament = _planned(session, game, pool, options, settings)
        if settings["is_open"]:
            _announce(session, tournament, entrants, dry_run=dry_run)
        else:
            _start(session, tournament, entrants, dry_run=dry_run, as_csv=as_csv)
    elif is_described or dry_run:
        raise click.UsageError("These options are for a tournament that begins; its players are missing.", ctx)
    elif pool:
        _show(session, game, pool, form, as_csv=as_csv, as_trf=as_trf)
    else:
        _list(session, game, as_csv=as_csv)


def _game_pool_and_others(words: list[str]) -> tuple[str, str, list[str]]:
    """The game, the pool or nothing, and what stands behind them: userids, or a direction and what follows it."""
    if words[0] in DIRECTIONS and len(words) > 2:
        direction, game, pool, *arguments = words  # `withdraw symple a bob` is `symple a withdraw bob`
        return game_name(game), pool, [direction] + arguments
    pool = words[1] if len(words) > 1 else ""
    return game_name(words[0]), pool, words[2:]


def _check_no_direction(session: Session, game: str, pool: str, others: Sequence[str]) -> None:
    """Raise Refused if the word behind a pool can only be a direction: the pool is there, and there is no such user.

    A direction in front of its pool is known by what it is like.
    """
    if not others:
        return
    word = others[0]
    store = session.store
    with store.reading():
        if not store.users.missing(word):
            return
        if games.nearest(pool, DIRECTIONS) and not store.tournaments.get(game, pool):
            pool, word = word, pool
        if store.tournaments.get(game, pool) is None:
            return
    title = f"pool {pool} of {game.capitalize()}"
    raise Refused(
        f"{directing.unknown_direction(word)}\n"
        f"There is a {title} already; `pbm help tournament` tells how to direct it."
    )


def _teams(written: Sequence[str]) -> list[Entrant]:
    """The players of teams, as --team names them. Raises Refused."""
    entrants: list[Entrant] = []
    for text in written:
        team, colon, userids = text.partition(":")
        players = userids.lower().split(",")
        is_name = re.fullmatch(r"\w[\w.-]{0,15}", team)  # a spreadsheet takes -red for a formula
        if not is_name or not colon or not all(players):
            raise Refused(f"--team={text} is not NAME:USERID,USERID,... with a name of 1 to 16 letters or digits.")
        if any(entrant.team == team for entrant in entrants):
            raise Refused(f"There are two teams {team}.")
        entrants += [Entrant(userid, team=team) for userid in players]
    if len(written) == 1:
        raise Refused("A team needs another one to play against.")
    return entrants


def _planned(session: Session, game: str, pool: str, options: Sequence[str], settings: Mapping[str, Any]) -> Tournament:
    """The tournament that the options describe. Raises Refused, with all objections to them."""
    kind = _kind(settings)
    times, problems = clocks.read({name: settings.get(name) for name in clocks.OPTIONS}, is_tournament=True)
    problems += _problems_of_kind(kind, settings)
    limits = {
        "rounds": (1, MOST_ROUNDS),
        "best_of": (1, MOST_GAMES),
        "most": (2, kind.most),
        "byes": (0, MOST_ROUNDS),
        "round_days": (1, clocks.MOST_DAYS),
    }
    values: dict[str, Any] = {}
    """What these options and times give; those that are not given keep the default of `Tournament`."""
    for name, (least, most) in limits.items():
        if settings[name] is not None:
            values[name] = _number(problems, name, settings[name], least, most)
    for name in ("starts", "until"):
        if settings[name] is not None:
            values[name] = _moment(problems, name, settings[name], session.now)
    best_of = values.get("best_of", 1)
    if best_of > 0 and best_of % 2 == 0:
        problems.append(f"--best-of takes an odd number: a match of {best_of} games can end in a tie.")
    if times.clock and settings["round_days"]:
        problems.append("With --clock, rounds have no --round-days: the clocks end the games.")
    if not settings["is_open"] and (settings["starts"] or settings["most"]):
        problems.append("--starts and --most are for a tournament with --open.")
    if problems:
        raise Refused("\n".join(problems))
    return Tournament(
        game=game,
        pool=pool,
        kind=kind,
        created=session.now,
        options=" ".join(options),
        nag_days=times.nag,
        forfeit_days=times.forfeit,
        total_days=times.total,
        clock=times.clock and times.clock.text,
        novacation=times.novacation,
        double=settings["double"],
        tie_breaks=(settings["tiebreaks"] or kind.tie_breaks).lower(),
        director=(settings["director"] or "").lower() or None,
        never=" ".join(settings["never"]).lower(),
        **values,
    )


def _problems_of_kind(kind: Kind, settings: Mapping[str, Any]) -> list[str]:
    """Sentences about the options that are given, and that only other kinds of tournaments take."""
    titles: dict[str, list[str]] = {}
    """The titles of the kinds that take an option, by its name."""
    for known_kind in TOURNAMENT_KINDS.values():
        for name in known_kind.settings:
            titles.setdefault(name, []).append(known_kind.title)
    problems = []
    for name, titles_of_kinds in titles.items():
        if settings[name] and name not in kind.settings:
            problems.append(f"{_option(name)} is for {' and '.join(titles_of_kinds)}.")
    return problems


def _option(name: str) -> str:
    """An option as it is typed, such as ``--best-of`` for ``best_of``."""
    return f"--{name.replace('_', '-')}"


def _kind(settings: Mapping[str, Any]) -> Kind:
    """The kind of the tournament. Raises Refused if there is none of that name, or more than one is named."""
    if settings["pairs"] and settings["double"]:
        raise Refused("Choose one of --double and --pairs.")
    if settings["pairs"] and settings["kind"] not in {None, "pairs"}:
        raise Refused("Choose one of --pairs and --type.")
    name = (settings["kind"] or "roundrobin").lower()
    if settings["pairs"]:
        name = "pairs"
    if name not in TOURNAMENT_KINDS:
        raise Refused(f"--type={name} is none of {', '.join(TOURNAMENT_KINDS)}.")
    return TOURNAMENT_KINDS[name]


def _number(problems: list[str], name: str, text: str, least: int, most: int) -> int:
    """The number that an option gives. A wrong one is added to *problems*."""
    number = -1  # less than any bound
    if re.fullmatch("[0-9]{1,4}", text, re.ASCII):
        number = int(text)
    if not least <= number <= most:
        problems.append(f"{_option(name)} takes a whole number from {least} to {most}.")
    return number


def _moment(problems: list[str], name: str, text: str, now: datetime) -> datetime | None:
    """The time that an option gives, in UTC; a day alone means its midnight. A wrong one is added to *problems*."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo:
            moment = moment.astimezone(UTC)
        else:
            moment = moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        problems.append(f"{_option(name)} takes a day such as 2027-01-31, or a time such as 2027-01-31T18:00.")
        return None
    if moment <= now:
        problems.append(f"{_option(name)}={text} is over already.")
    return moment


def _announce(session: Session, tournament: Tournament, entrants: Sequence[Entrant], *, dry_run: bool) -> None:
    """Announce a tournament, and print it."""
    with on_trial(session, dry_run=dry_run):
        progress = tournaments.announce(session, tournament, entrants)
    text = text_of(contests.described_tournament(progress))
    data = contests.status_of_tournament(progress) | {"dry_run": dry_run, "reply": text}
    if dry_run:
        text = f"Nothing is done yet. This would happen:\n\n{text}"
    answer(text, data)


def _start(
    session: Session, tournament: Tournament, entrants: Sequence[Entrant], *, dry_run: bool, as_csv: bool
) -> None:
    """Start a tournament, and print its boards."""
    with on_trial(session, dry_run=dry_run):
        progress = tournaments.set_up(session, tournament, entrants)
        problems = list(tournaments.problems_of_start(session, progress))
        if not problems:
            problems = list(tournaments.problems_of_names(session, progress))
        tournaments.refuse(problems)
        progress = tournaments.start_tournament(session, progress)
    boards = progress.boards
    idle = progress.idle
    schedule = [_pair_data(progress, board, players) for board, players in boards.items()]
    data = {**tournament.place_data, "dry_run": dry_run, "schedule": schedule}
    if tournament.kind.has_rounds:
        data |= {"type": tournament.kind.name, "round": 1, "byes": idle}
    rows = progress.board_rows(boards)
    if as_csv:
        answer(contests.comma_separated(rows), data)
        return
    parts = [texts.table(rows)]
    parts += [f"{name} has a bye." for name in idle]
    verb = "is" if len(boards) == 1 else "are"
    if dry_run:
        verb = "would be"
    parts.append(f"{texts.counted(len(boards), 'board')} of {tournament.game.capitalize()} {verb} started.")
    answer("\n\n".join(parts), data)


def _pair_data(progress: TournamentTable, board: str, players: Pair) -> dict[str, Any]:
    """A board of a tournament for programs, with its players and their teams."""
    data: dict[str, Any] = {"board": board, "players": players}
    if progress.has_teams:
        data["teams"] = [progress.team_of[name] for name in players]
    return data


def _direct(session: Session, game: str, pool: str, words: Sequence[str], *, dry_run: bool) -> None:
    """Carry out one of DIRECTIONS, and print the answer."""
    progress, blocks = directing.direct(session, game, pool, words, dry_run=dry_run)
    text = text_of(blocks)
    answer(text, contests.status_of_tournament(progress) | {"dry_run": dry_run, "reply": text})


def _show(session: Session, game: str, pool: str, form: str | None, *, as_csv: bool, as_trf: bool) -> None:
    """Print the table of a pool: as CSV, as a report for FIDE's programs, in one of FORMATS, or else as text."""
    with session.store.reading():
        progress = tournaments.of_pool(session, game, pool)
    if as_csv:
        answer(progress.text("csv"), progress.data)
    elif as_trf:
        report = progress.tournament.kind.report(progress, progress.title)
        if not report:
            raise Refused(f"Pool {pool} is no Swiss tournament; only these have a report for FIDE's programs.")
        answer(report, progress.data | {"trf": report})
    elif form == "json":
        say("", progress.data, as_json=True)
    else:
        answer(progress.text(form or "text"), progress.data)


def _list(session: Session, game: str, *, as_csv: bool) -> None:
    """Print the pools of a game."""
    with session.store.reading():
        counts = Counter(pool for pool, *_ in session.store.tournaments.pool_players(game))
        pools = session.store.tournaments.all(game)
    data = {"game": game, "pools": {tournament.pool: counts[tournament.pool] for tournament in pools}}
    rows = [("Pool", "Players", "Type", "State")]
    for tournament in pools:
        rows.append((tournament.pool, str(counts[tournament.pool]), tournament.kind.name, tournament.state))
    if as_csv:
        answer(contests.comma_separated([("pool", "players", "type", "state")] + rows[1:]), data)
        return
    answer_list(rows, data, f"There are no tournaments of {game.capitalize()}.")
