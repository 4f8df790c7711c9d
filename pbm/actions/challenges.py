"""Challenges: starting a board, what forbids it, such as the limits of players, and who seeks a challenge."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial

import games
from games import Illegal
from pbm import delivery, letters, texts
from pbm.access import quotas
from pbm.actions import endings, finding, lists, turns
from pbm.actions.finding import find_point, played_source
from pbm.board import clocks
from pbm.board.board import LEAVING, Point
from pbm.letters import Letter
from pbm.names import is_guest, is_tournament_board
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow, PlayerRow, Robot

TALK = "-talk"
"""The option that lets the robots of a board say what they think."""


def challenge(
    session: Session,
    game: str,
    options: Sequence[str],
    userid1: str,
    userid2: str,
    named: Mapping[str, str | None],
) -> list[Letter]:
    """Start a board; the first player moves first.

    In *named*, ``name`` is the name of a tournament board, and ``from`` a position of another board to begin with.
    """
    first, second, name, source = userid1.lower(), userid2.lower(), named["name"], named["from"]
    problems = []
    if not session.in_shell and not session.senders:
        problems.append("A challenge by mail has to come from an address that a user has confirmed.")
    elif not session.in_shell and not session.take("challenge"):
        most = quotas.most("challenge", "address")
        problems.append(f"There were {most} challenges from your address today; that is the most.")
    users = dict.fromkeys((first, second))
    unknown = session.store.users.missing(*users)
    asked = [] if problems or name is not None else [userid for userid in users if userid not in unknown]
    refusing = _limit_objections(session, game, asked)
    robots = session.store.robots.among(users)
    talks = [option for option in options if option.lower() == TALK]
    options = [option for option in options if option not in talks]
    problems += [finding.no_user(session, userid) for userid in unknown] + refusing
    if name is None:
        senders = session.senders
        problems += _block_objections(session, game, {first, second} - senders, senders | {first, second})
    problems += _robot_board_objections(session, game, [*users], is_named=name is not None)
    if talks and not robots:
        problems.append(f"{TALK} is for boards on which a robot plays.")
    problems += [] if name is None else _name_objections(session, game, name)
    try:
        games.read_options(games.load(game), options)
        beginning = _beginning(session, game, source, options, name, has_robot=bool(robots)) if source else None
    except (Illegal, Refused) as why:
        problems.append(str(why))
    times_wanted, wrong = clocks.read({one: named[one] for one in clocks.OPTIONS}, is_tournament=name is not None)
    problems += wrong
    if problems:
        for userid in asked:
            if session.store.players.get(game, userid).most == 0:  # they refuse, which makes them inactive
                endings.deactivate(session, game, userid)
        raise Refused("\n".join(problems), subject="Invalid challenge", stands=bool(refusing))
    board = turns.start(
        session,
        game,
        beginning.board.row.options.split() if beginning else options,
        (first, second),
        times=times_wanted,
        name=name and name.lower(),
        beginning=beginning,
    )
    for robot in robots if talks else ():
        session.store.robots.let_talk(board.row, robot, "always")
    is_director = not {first, second} & session.senders
    return letters.of_new_board(session, board, *([None] if is_director else []))


def rematch(session: Session, row: BoardRow, name: str) -> list[Letter]:
    """Start a board like one that is over, between the same players, with the sides exchanged."""
    if name not in row.players:
        raise Illegal("You did not play on this board.")
    if is_guest(name):  # nothing would lead them to the new board
        raise Illegal("Guests begin another game on the page of the game.")
    if not row.ended:
        raise Illegal("The game is not over yet.")
    if row.rematch and session.store.boards.get(row.game, row.rematch):
        raise Illegal(f"There was a rematch already: {row.game.capitalize()} board {row.rematch}.")
    opponent = row.opponent(name)
    problems = [f"There is no user {gone!r} any more." for gone in session.store.users.missing(opponent)]
    problems += _limit_objections(session, row.game, [opponent] if opponent != name else [])
    problems += _block_objections(session, row.game, {opponent}, {name})
    problems += _robot_board_objections(session, row.game, [name, opponent], is_named=False)
    if not session.in_shell and not session.take("challenge"):
        problems.append(f"There were {quotas.most('challenge', 'address')} challenges from your address today.")
    if problems:
        raise Refused("\n".join(problems), subject="Invalid challenge")
    players = row.second_player, row.first_player
    board = turns.start(
        session, row.game, row.options.split(), players, times=clocks.of(clocks.outside_tournament(row))
    )
    session.store.boards.save(row._replace(rematch=board.row.board))
    return letters.of_new_board(session, board)


def _beginning(
    session: Session, game: str, source: str, options: Sequence[str], name: str | None, *, has_robot: bool
) -> Point:
    """The position of another board with which a new one begins. Raises Refused.

    A robot may not take part while two people still play the other board, or one from which that began: it would show
    them how to go on.
    """
    of = re.match("[a-z][a-z0-9]*(?=-)", source.lower())
    word = source[of.end() + 1 :] if of else source
    if of and of[0] != game:
        raise Refused(f"--from={source} is no board of {game.capitalize()}; a board goes on as the game that it is.")
    if options:
        raise Refused(f"The options are those of the board that --from names, so {options[0]} cannot be given.")
    if name is not None:
        raise Refused("Use --from or --name, not both: a tournament board starts from the first position.")
    point = find_point(session, game, word)
    played = point.board.turns[: point.moves]
    if point.state.result() is not None or (played and played[-1].text in LEAVING):
        raise Refused(
            f"The game was over then; --from={point.board.row.board}#{point.moves - 1} is before its last turn."
        )
    if has_robot and (still_on := played_source(session, point.board.row)):
        raise Refused(
            f"{game.capitalize()} {still_on} is still being played; no robot takes part in what begins with its "
            "positions."
        )
    return point


def _limit_objections(session: Session, game: str, players: Sequence[str]) -> list[str]:
    """A sentence for each player who takes no more boards."""
    problems = []
    for name in players:
        most = session.store.players.get(game, name).most
        active = session.store.boards.active_counts([name], game)[name][game]
        if most == 0:
            problems.append(_takes_none(game, name))
        elif most is not None and active >= most:
            problems.append(_at_limit(name, active, most))
    return problems


def _block_objections(session: Session, game: str, players: Collection[str], challengers: Collection[str]) -> list[str]:
    """A sentence for each player who blocks a challenger. It says that they take no challenges, and not why."""
    blocked_by = session.store.users.blocked_by
    return [_takes_none(game, name) for name in sorted(players) if {*challengers} & {*blocked_by(name)}]


def _at_limit(name: str, active: int, most: int) -> str:
    return f"{name} has {texts.counted(active, 'active board')}, and takes challenges only below {most}."


def _takes_none(game: str, name: str) -> str:
    return f"{name} takes no challenges of {game.capitalize()}."


def robot_objections(game: str, robots: Mapping[str, Robot]) -> list[str]:
    """A sentence for each robot that does not play the game, and one for each that is paused."""
    problems = []
    for name, robot in robots.items():
        if robot.games and game not in robot.games:
            others = " and ".join(map(str.capitalize, robot.games))
            problems.append(f"{name} is a robot that does not play {game.capitalize()}; it plays {others}.")
        if robot.paused:
            problems.append(f"{name} is a robot that is paused, and takes no challenges for now.")
    return problems


def _robot_board_objections(session: Session, game: str, users: Sequence[str], *, is_named: bool) -> list[str]:
    """What forbids a board of these users if some are robots. A tournament board, which *is_named*, has no limits."""
    store, robots = session.store, session.store.robots.among(users)
    if not robots:
        return []
    problems = robot_objections(game, robots)
    for name, robot in robots.items():
        active = store.boards.active_counts([name])[name].total()
        if not is_named and active >= robot.most:
            problems.append(_at_limit(name, active, robot.most))
    others = [name for name in users if name not in robots]
    if not (others or session.in_shell):
        problems.append("A board of robots alone is started by the operator, in a shell.")
    most = session.server.robot_boards
    if not is_named and any(store.robots.boards_against_robots(name) >= most for name in others):
        problems.append(
            f"{others[0]} has {texts.counted(most, 'active board')} against robots, and may not have more. Please end "
            f"one first, by `resign` if need be; `all games {others[0]}` lists them."
        )
    return problems


def _name_objections(session: Session, game: str, name: str) -> list[str]:
    """What is wrong with the name of a tournament board."""
    if not session.in_shell:
        return ["Only the operator names boards, in a shell."]
    if not is_tournament_board(name):
        return [f"--name={name} should be letters and then digits, such as --name=a1."]
    pool = session.store.tournaments.get(game, name.lower().rstrip("0123456789"))
    if pool and pool.kind.has_rounds:
        return [f"The boards of pool {pool.pool} are started by its rounds; choose another name."]
    if session.store.boards.get(game, name.lower()):
        return [f"There is a {game.capitalize()} board {name} already."]
    return []


MOST_SOUGHT = 99
"""How many challenges a player may seek."""
MOST_LIMIT = 999
SEEKS_FOR = timedelta(days=60)
"""How long a player who gives no command still seeks challenges."""


def accept(session: Session, game: str, name: str) -> list[Letter]:
    """Take all challenges."""
    if session.store.players.get(game, name).most is None:
        raise Refused(f"You already take all challenges of {game.capitalize()}.")
    return limit(session, game, name, "all")


def reject(session: Session, game: str, name: str) -> list[Letter]:
    """Take no challenges."""
    if session.store.players.get(game, name).most == 0:
        raise Refused(f"You already take no challenges of {game.capitalize()}.")
    return limit(session, game, name, "reject")


def limit(session: Session, game: str, name: str, word: str) -> list[Letter]:
    """Take challenges up to a number of active boards; without a word, tell that number."""
    player, title = session.store.players.get(game, name), game.capitalize()
    subject = f"{title} limit status"
    if word:
        player = session.store.players.change(game, name, most=_read_limit(word.lower()))
        how = "accepted" if player.most is None else "limited" if player.most else "rejected"
        subject = f"{title} challenges now {how}"
    text = f"You take {'all' if player.most is None else 'no'} challenges of {title}."
    if player.most:
        text = f"You take challenges of {title} up to {texts.counted(player.most, 'active board')}."
    return [_letter_to(game, player, text, subject)]


def _letter_to(game: str, player: PlayerRow, text: str, subject: str, answer: str = "") -> Letter:
    """The letter to a player about the challenges that they take or seek."""
    wanted = {"limit": player.most, "seeking": player.seeking}
    answer = answer or f"{game} standings"
    return letters.to_user(player.userid, text, subject=subject, answer=answer, game=game, **wanted)


def seek(
    session: Session, game: str, options: Sequence[str], name: str, word: str, named: Mapping[str, str | None]
) -> list[Letter]:
    """Store how many challenges a player seeks, from which ratings, with which options; without a word, tell it."""
    title = game.capitalize()
    player = session.store.players.get(game, name)
    subject = f"{title} seek status"
    wanted = " ".join(filter(None, [named["options"], *options])).replace("'", "").replace('"', "")
    if (wanted or named["rating"]) and not word:
        raise Refused(f"With --rating or --options, say how many challenges you seek: `{game} seek {name} PASSWORD N`.")
    if word:
        if not (re.fullmatch("[0-9]{1,2}", word, re.ASCII)):
            raise Refused(f"{word!r} is no number of challenges; it is from 0 to {MOST_SOUGHT}.")
        if wrong := next((one for one in wanted.split() if not one.startswith("-")), ""):
            raise Refused(f"{wrong!r} is no option; an option begins with a hyphen{games.such_as_option(game)}.")
        games.read_options(games.load(game), wanted.split())
        rating = _read_ratings(named["rating"]) if named["rating"] else None
        player = session.store.players.change(
            game, name, seeking=int(word), wanted_rating=rating, wanted_options=wanted or None
        )
        session.store.users.change(name, heard=session.now)
        subject = f"Now seeking {player.seeking} {title} challenges"
    sought = texts.counted(player.seeking, "challenge") if player.seeking else "no challenges"
    wish = f" ({player.wish})" if player.seeking and player.wish else ""
    text = f"You seek {sought} of {title}{wish}."
    if player.seeking and not session.store.players.takes_challenges(game, name, session.now.date()):
        text += "\nNo list shows it while you take no challenges, have reached your limit, or are on vacation."
    return [_letter_to(game, player, text, subject)]


def _read_ratings(text: str) -> str:
    """The lowest and the highest rating that a player seeks, such as ``1500-1700``. Raises Refused."""
    found = re.fullmatch("([0-9]{1,4})-([0-9]{1,4})", text, re.ASCII)
    if not found or int(found[1]) > int(found[2]):
        raise Refused(f"--rating={text} should be two ratings, such as --rating=1500-1700.")
    return text


def seekers(session: Session, word: str) -> list[Letter]:
    """The players who seek challenges and can take one now, of all games."""
    missing = "There is no page {page} of these players."
    find = partial(session.store.players.all_seekers, session.now.date())
    found, following = lists.on_page(session, word, find, missing)
    told = [
        {
            "game": game,
            "userid": who.userid,
            "rating": who.rating,
            "seeking": who.seeking,
            "wanted_rating": who.wanted_rating,
            "wanted_options": who.wanted_options,
        }
        for game, who in found
    ]
    rows = [
        {
            "Game": game,
            "Name": who.userid,
            "Rating": str(who.rating or ""),
            "Seeking": str(who.seeking),
            "Wants": who.wish,
        }
        for game, who in found
    ]
    letter = letters.plain_letter(
        [lists.aligned(rows, {"Rating", "Seeking"}, {"Wants"})] if rows else "Nobody seeks challenges.",
        subject="List of seekers",
        answer="GAME seek USERID PASSWORD 1",
        seekers=told,
    )
    return [lists.with_next(letter, "all seekers", following)]


def end_seeks(session: Session) -> None:
    """End the seeks of players who have given no command for SEEKS_FOR, and tell them."""
    for game, name in session.store.players.silent_seekers(session.now - SEEKS_FOR):
        player = session.store.players.change(game, name, seeking=0)
        text = (
            f"You seek no challenges of {game.capitalize()} any more, because you have given no command for "
            f"{SEEKS_FOR.days} days. `{game} seek {name} PASSWORD N` seeks N again."
        )
        answer = f"{game} seek {name} PASSWORD N"
        delivery.queue(session, _letter_to(game, player, text, f"{game.capitalize()} seek status", answer))


def _read_limit(word: str) -> int | None:
    """The number of active boards at which a player takes no more challenges; None for no limit. Raises Refused."""
    if word == "all" or word.startswith(("accept", "inf")):
        return None
    if word.startswith("reject"):
        return 0
    if not (re.fullmatch("[0-9]{1,3}", word, re.ASCII)):
        raise Refused(f"{word!r} is no limit; it is a number from 0 to {MOST_LIMIT}, `all` or `reject`.")
    return int(word)
