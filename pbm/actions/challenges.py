"""Challenges: starting a board, what forbids it, such as the limits of players, and who seeks a challenge."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import NamedTuple

import games
from games import Illegal
from pbm import delivery, letters, texts
from pbm.access import quotas
from pbm.actions import endings, finding, lists, turns
from pbm.actions.finding import find_point, played_source
from pbm.blocks import Block, Paragraph
from pbm.board import clocks
from pbm.board.board import LEAVING, Point
from pbm.letters import Letter
from pbm.names import is_guest, is_tournament_board
from pbm.refusals import Refused, WrongPassword
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
    first = userid1.lower()
    second = userid2.lower()
    users = list(dict.fromkeys([first, second]))  # once, if somebody plays both sides
    board_name = named["name"]
    is_named = board_name is not None
    problems = _sender_objections(session)
    unknown = session.store.users.missing(*users)
    asked: list[str] = []
    if not problems and not is_named:  # a tournament does not ask its players
        asked = [userid for userid in users if userid not in unknown]
    refusals = _limit_objections(session, game, asked)
    problems += [finding.no_user(session, userid) for userid in unknown]
    problems += refusals
    if not is_named:
        senders = session.known_users
        problems += _block_objections(session, game, {first, second} - senders, senders | {first, second})
    robots = session.store.robots.among(users)
    problems += _robot_board_objections(session, game, users, is_named=is_named)
    wanted, wrong = _read_wanted(session, game, options, named, has_robot=bool(robots))
    problems += wrong
    if problems:
        _deactivate_who_refuse(session, game, asked)
        raise Refused("\n".join(problems), subject="Invalid challenge", stands=bool(refusals))
    board = turns.start(
        session,
        game,
        wanted.options,
        (first, second),
        times=wanted.times,
        board_name=board_name and board_name.lower(),
        beginning=wanted.beginning,
    )
    if wanted.talks:
        for robot in robots:
            session.store.robots.let_talk(board.row, robot, "always")
    if {first, second} & session.known_users:
        return letters.of_new_board(session, board)
    return letters.of_new_board(session, board, None)  # a sender who lets others play gets an answer, too


class WantedBoard(NamedTuple):
    """What a challenge asks for besides its players."""

    options: Sequence[str]
    """Those of the game."""
    times: clocks.Clocks
    beginning: Point | None
    """The position of another board to begin with; None for the first position of the game."""
    talks: bool
    """Whether its robots say what they think."""


def _read_wanted(
    session: Session, game: str, words: Sequence[str], named: Mapping[str, str | None], *, has_robot: bool
) -> tuple[WantedBoard, list[str]]:
    """The board that a challenge asks for in the *words* of its options, and sentences about what is wrong with it."""
    problems = []
    options = [word for word in words if word.lower() != TALK]
    talks = len(options) < len(words)
    if talks and not has_robot:
        problems.append(f"{TALK} is for boards on which a robot plays.")
    board_name = named["name"]
    if board_name is not None:
        problems += _name_objections(session, game, board_name)
    beginning = None
    try:
        games.read_options(games.load(game), options)
        if source := named["from"]:
            beginning = _beginning(session, game, source, options, board_name, has_robot=has_robot)
            options = beginning.board.row.options.split()
    except (Illegal, Refused) as why:
        problems.append(str(why))
    clock_options = {option: named[option] for option in clocks.OPTIONS}
    times, wrong_times = clocks.read(clock_options, is_tournament=board_name is not None)
    return WantedBoard(options, times, beginning, talks), problems + wrong_times


def _sender_objections(session: Session) -> list[str]:
    """What forbids the sender a challenge by mail or over HTTP, no matter who plays. Counts the challenge."""
    if session.is_trusted:
        return []
    if session.sender is None and not session.known_users:
        raise WrongPassword("A challenge over HTTP needs a token of a user.")
    if not session.known_users:
        return ["A challenge by mail has to come from an address that a user has confirmed."]
    if not session.take("challenge"):
        most = quotas.most("challenge", "address")
        return [f"There were {most} challenges from your address today; that is the most."]
    return []


def _deactivate_who_refuse(session: Session, game: str, asked: Sequence[str]) -> None:
    """Make those who were challenged, and take no challenges, inactive in the standings."""
    for name in asked:
        if session.store.players.get(game, name).most == 0:
            endings.deactivate(session, game, name)


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
    problems = []
    if session.store.users.missing(opponent):
        problems.append(f"There is no user {opponent!r} any more.")
    if opponent != name:
        problems += _limit_objections(session, row.game, [opponent])
    problems += _block_objections(session, row.game, {opponent}, {name})
    problems += _robot_board_objections(session, row.game, [name, opponent], is_named=False)
    if not session.is_trusted and not session.take("challenge"):
        problems.append(f"There were {quotas.most('challenge', 'address')} challenges from your address today.")
    if problems:
        raise Refused("\n".join(problems), subject="Invalid challenge")
    players = row.second_player, row.first_player
    times = clocks.of(clocks.outside_tournament(row))
    board = turns.start(session, row.game, row.options.split(), players, times=times)
    session.store.boards.save(row._replace(rematch=board.number))
    return letters.of_new_board(session, board)


def _beginning(
    session: Session, game: str, source: str, options: Sequence[str], board_name: str | None, *, has_robot: bool
) -> Point:
    """The position of another board that a new one begins with. Raises Refused.

    The *source* is that board, perhaps with its game and a number of moves, such as `symple-101#5`. A robot may not
    take part while two people still play that board, or a board that it began from. It would show them how to go on.
    """
    word = source
    if source_game := re.match("([a-z][a-z0-9]*)-", source.lower()):
        word = source[source_game.end() :]
    if source_game and source_game[1] != game:
        raise Refused(f"--from={source} is no board of {game.capitalize()}; a board goes on as the game that it is.")
    if options:
        raise Refused(f"The options are those of the board that --from names, so {options[0]} cannot be given.")
    if board_name is not None:
        raise Refused("Use --from or --name, not both: a tournament board starts from the first position.")
    point = find_point(session, game, word)
    turns_so_far = point.board.turns[: point.moves]
    gave_up = turns_so_far and turns_so_far[-1].text in LEAVING
    if point.state.result() is not None or gave_up:
        earlier = f"{point.board.number}#{point.moves - 1}"
        raise Refused(f"The game was over then; --from={earlier} is before its last turn.")
    if not has_robot:
        return point
    if still_played := played_source(session, point.board.row):
        raise Refused(
            f"{game.capitalize()} {still_played} is still being played; no robot takes part in what begins with its "
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
    problems = []
    for name in sorted(players):
        blocked = session.store.users.blocked_by(name)
        if any(challenger in blocked for challenger in challengers):
            problems.append(_takes_none(game, name))
    return problems


def _at_limit(name: str, active: int, most: int) -> str:
    """The sentence that a player has as many boards as they want."""
    return f"{name} has {texts.counted(active, 'active board')}, and takes challenges only below {most}."


def _takes_none(game: str, name: str) -> str:
    """The sentence that a player takes no challenges."""
    return f"{name} takes no challenges of {game.capitalize()}."


def robot_objections(game: str, robots: Mapping[str, Robot]) -> list[str]:
    """A sentence for each robot that does not play the game, and one for each that is paused."""
    problems = []
    for name, robot in robots.items():
        if robot.games and game not in robot.games:
            own_games = " and ".join(own_game.capitalize() for own_game in robot.games)
            problems.append(f"{name} is a robot that does not play {game.capitalize()}; it plays {own_games}.")
        if robot.paused:
            problems.append(f"{name} is a robot that is paused, and takes no challenges for now.")
    return problems


def _robot_board_objections(session: Session, game: str, users: Sequence[str], *, is_named: bool) -> list[str]:
    """What forbids a board of these users if some are robots. A tournament board, which *is_named*, has no limits."""
    store = session.store
    robots = store.robots.among(users)
    if not robots:
        return []
    problems = robot_objections(game, robots)
    for name, robot in robots.items():
        active = store.boards.active_counts([name])[name].total()
        if not is_named and active >= robot.most:
            problems.append(_at_limit(name, active, robot.most))
    people = [name for name in users if name not in robots]
    if not (people or session.is_trusted):
        problems.append("A board of robots alone is started by the operator, in a shell.")
    most = session.server.robot_boards
    for name in people:  # one at most, because a robot has the other side
        if not is_named and store.robots.boards_against_robots(name) >= most:
            problems.append(
                f"{name} has {texts.counted(most, 'active board')} against robots, and may not have more. Please end "
                f"one first, by `resign` if need be; `all games {name}` lists them."
            )
    return problems


def _name_objections(session: Session, game: str, board_name: str) -> list[str]:
    """What is wrong with the name of a tournament board."""
    if not session.is_trusted:
        return ["Only the operator names boards, in a shell."]
    if not is_tournament_board(board_name):
        return [f"--name={board_name} should be letters and then digits, such as --name=a1."]
    tournament = session.store.tournaments.get(game, board_name.lower().rstrip("0123456789"))
    if tournament and tournament.kind.has_rounds:
        return [f"The boards of pool {tournament.pool} are started by its rounds; choose another name."]
    if session.store.boards.get(game, board_name.lower()):
        return [f"There is a {game.capitalize()} board {board_name} already."]
    return []


# Limits, and who seeks a challenge


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
    """Take challenges up to a number of active boards; without a word, show that number."""
    title = game.capitalize()
    player = session.store.players.get(game, name)
    if word:
        player = session.store.players.change(game, name, most=_read_limit(word.lower()))
    if player.most is None:
        now = "accepted"
        text = f"You take all challenges of {title}."
    elif player.most == 0:
        now = "rejected"
        text = f"You take no challenges of {title}."
    else:
        now = "limited"
        text = f"You take challenges of {title} up to {texts.counted(player.most, 'active board')}."
    subject = f"{title} limit status"
    if word:
        subject = f"{title} challenges now {now}"
    return [_letter_to(game, player, text, subject)]


def _letter_to(game: str, player: PlayerRow, text: str, subject: str, answer: str = "") -> Letter:
    """The letter to a player about the challenges that they take or seek.

    *answer* is the command to reply with; by default, the one for the standings.
    """
    wanted = {"limit": player.most, "seeking": player.seeking}
    answer = answer or f"{game} standings"
    return letters.to_user(player.userid, text, subject=subject, answer=answer, game=game, **wanted)


def seek(
    session: Session, game: str, options: Sequence[str], name: str, word: str, named: Mapping[str, str | None]
) -> list[Letter]:
    """Store how many challenges a player seeks, with which ratings and options; without a word, show it."""
    title = game.capitalize()
    player = session.store.players.get(game, name)
    subject = f"{title} seek status"
    wanted_options = list(options)
    if named["options"]:
        wanted_options.insert(0, named["options"])  # which may be several words
    wanted = " ".join(wanted_options).replace("'", "").replace('"', "")
    if (wanted or named["rating"]) and not word:
        raise Refused(f"With --rating or --options, say how many challenges you seek: `{game} seek {name} PASSWORD N`.")
    if word:
        if not re.fullmatch("[0-9]{1,2}", word, re.ASCII):
            raise Refused(f"{word!r} is no number of challenges; it is from 0 to {MOST_SOUGHT}.")
        wrong = [option for option in wanted.split() if not option.startswith("-")]
        if wrong:
            raise Refused(f"{wrong[0]!r} is no option; an option begins with a hyphen{games.such_as_option(game)}.")
        games.read_options(games.load(game), wanted.split())
        rating = None
        if named["rating"]:
            rating = _read_ratings(named["rating"])
        player = session.store.players.change(
            game, name, seeking=int(word), wanted_rating=rating, wanted_options=wanted or None
        )
        session.store.users.change(name, heard=session.now)
        subject = f"Now seeking {player.seeking} {title} challenges"
    if not player.seeking:
        return [_letter_to(game, player, f"You seek no challenges of {title}.", subject)]
    text = f"You seek {texts.counted(player.seeking, 'challenge')} of {title}"
    if player.wish:
        text += f" ({player.wish})"
    text += "."
    if not session.store.players.takes_challenges(game, name, session.now.date()):
        text += "\nNo list shows it while you take no challenges, have reached your limit, or are on vacation."
    return [_letter_to(game, player, text, subject)]


def _read_ratings(text: str) -> str:
    """The lowest and the highest rating that a player seeks, such as ``1500-1700``. Raises Refused."""
    ratings = re.fullmatch("([0-9]{1,4})-([0-9]{1,4})", text, re.ASCII)
    if not ratings or int(ratings[1]) > int(ratings[2]):
        raise Refused(f"--rating={text} should be two ratings, such as --rating=1500-1700.")
    return text


def seekers(session: Session, word: str) -> list[Letter]:
    """The players who seek challenges and can take one now, of all games."""
    missing = "There is no page {page} of these players."
    find = partial(session.store.players.all_seekers, session.now.date())
    players, following = lists.on_page(session, word, find, missing)
    rows = []
    data = []
    for game, player in players:
        rows.append(
            {
                "Game": game,
                "Name": player.userid,
                "Rating": str(player.rating or ""),
                "Seeking": str(player.seeking),
                "Wants": player.wish,
            }
        )
        data.append(
            {
                "game": game,
                "userid": player.userid,
                "rating": player.rating,
                "seeking": player.seeking,
                "wanted_rating": player.wanted_rating,
                "wanted_options": player.wanted_options,
            }
        )
    content: list[Block] = [Paragraph("Nobody seeks challenges.")]
    if rows:
        content = [lists.aligned(rows, {"Rating", "Seeking"}, {"Wants"})]
    answer = "GAME seek USERID PASSWORD 1"
    letter = letters.plain_letter(content, subject="List of seekers", answer=answer, seekers=data)
    return [lists.with_next(letter, "all seekers", following)]


def end_seeks(session: Session) -> None:
    """End the seeks of players who have given no command for SEEKS_FOR, and tell them."""
    for game, name in session.store.players.silent_seekers(session.store.absences.counted_from(session.now, SEEKS_FOR)):
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
    if not re.fullmatch("[0-9]{1,3}", word, re.ASCII):
        raise Refused(f"{word!r} is no limit; it is a number from 0 to {MOST_LIMIT}, `all` or `reject`.")
    return int(word)
