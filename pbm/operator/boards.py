"""The operator's commands for boards."""

import click

import games
from pbm import delivery, letters, texts
from pbm.actions import endings, finding, reinstatement, turns
from pbm.actions.finding import find_row
from pbm.board import clocks
from pbm.board.board import FAULTS, Board, BoardContext
from pbm.board.records import Unsound, differences, outcome, replayed
from pbm.console import answer, answer_list, confirm, open_existing
from pbm.console.usage import BOARD_ARGUMENT, GAME_ARGUMENT, YES, Commands, Listing
from pbm.refusals import Refused
from pbm.session import Session
from pbm.store import BoardRow
from pbm.store.boards import BY_NUMBER, SUBSCRIBER

commands = Commands("pbm")


@commands.group(cls=Listing)
def boards() -> None:
    """List boards, mend or remove one."""


@boards.command("list")
@click.argument("words", nargs=-1, metavar="[GAME] [SELECTOR]...")
@click.option("--all", "wants_all", is_flag=True, help="List boards that are over, too.")
def list_boards(words: tuple[str, ...], *, wants_all: bool) -> None:
    """List boards with their options and their ages in days since the last move.

    A SELECTOR is a userid, for boards where this user plays, or one of these words: `active`, `inactive`, `next` (one
    of the users is to move), `tournament` and `standard`. You can give several.
    """
    server = open_existing()
    selectors = [word.lower() for word in words]
    with server.store.reading():
        listed_games = server.store.boards.games()
        # a game that is not installed any more may still have boards
        if selectors and (selectors[0] in listed_games or games.exists(selectors[0])):
            listed_games = [selectors.pop(0)]
        wanted = finding.read(Session(server), "", selectors)._replace(games=listed_games)
        if wants_all:
            wanted = wanted._replace(over=None)
        elif wanted.over is None:  # no selector says whether games are over
            wanted = wanted._replace(over=False)
        rows = server.store.boards.found(wanted, f"game, {BY_NUMBER}")
    lines = [("Game", "Board", "Moves", "Players", "Status", "Started", "Days", "Options")]
    data = []
    for row in rows:
        age = clocks.whole_days(row, server.now())
        options = clocks.all_options(row)
        players = f"{row.first_player} {row.second_player}"
        status = letters.status(row)
        if row.reason:
            status += f" ({row.reason})"
        winner = row.winner
        if row.ended and not winner:
            winner = "draw"
        started = f"{row.started:%Y-%m-%d}"
        lines.append((row.game, row.board, str(row.moves), players, status, started, str(age), options))
        data.append(
            {
                **row.place_data,
                "moves": row.moves,
                "players": list(row.players),
                "turn": row.turn,
                "winner": winner,
                "reason": row.reason,
                "started": row.started,
                "ended": row.ended,
                "days": age,
                "options": options.split(),
            }
        )
    answer_list(lines, {"boards": data}, "There are no such boards.")


@boards.command("remove")
@GAME_ARGUMENT
@BOARD_ARGUMENT
@YES
def remove_board(game: str, board: str, *, yes: bool) -> None:
    """Remove a board with all its moves; its number is not given out again.

    Its players and subscribers are told. Players who answer an older mail about it, or answer on its page, are told
    that it is gone.
    """
    server = open_existing()
    session = Session(server)
    row = _find_unrated(session, game, board)
    name = f"{row.game.capitalize()} board {row.board}"
    moves = texts.counted(row.moves, "move")
    confirm(f"Remove {name}, {row.first_player} against {row.second_player}, {moves}?", yes=yes)
    with server.store.writing():
        row = _find_unrated(session, *row.place)  # the game may have ended meanwhile
        followers = BoardContext(subscribers=server.store.boards.followers(*row.place)[SUBSCRIBER])
        # options and turns may be damaged, and are not read
        unread = Board(row._replace(options=""), [], {}, followers)
        unread.change(options=row.options)
        answer_with = letters.challenge(unread, *unread.players)
        endings.remove_and_tell(session, unread, "was removed by the operator of this server.", answer_with)
        if row.pool:
            server.store.tournaments.void_meeting(*row.place)
            turns.advance_tournament(session, row.game, row.pool)
    answer(f"{name} is removed.", {"game": row.game, "removed": row.board})


def _find_unrated(session: Session, game: str, board: str) -> BoardRow:
    """The row of a board that counts in no rating. Raises Refused."""
    row = find_row(session, game, board)
    if session.store.players.results_of_board(*row.place):
        name = f"{row.game.capitalize()} board {row.board}"
        raise Refused(f"{name} counts in the ratings of its players, so it has to stay.")
    return row


@boards.command("reinstate")
@GAME_ARGUMENT
@BOARD_ARGUMENT
def reinstate_board(game: str, board: str) -> None:
    """Let a game that ended by time go on where it was, with full time for the move.

    Ratings are put back by what that game had changed, and its players are told. In a tournament, this is refused as
    soon as another game has followed from its end; its result can then be changed by `adjudicate`.
    """
    server = open_existing()
    session = Session(server)
    with server.store.writing():
        reinstated = finding.find_board(session, game, board)
        delivery.queue(session, *reinstatement.reinstate(session, reinstated))
    row = reinstated.row
    text = f"{row.game.capitalize()} board {row.board} goes on. It is {row.turn}'s turn."
    answer(text, {**row.place_data, "reinstated": row.turn})


@boards.command("mend")
@GAME_ARGUMENT
@BOARD_ARGUMENT
def mend_board(game: str, board: str) -> None:
    """Correct what is stored about a board (who is to move, who has won) by replaying its moves."""
    server = open_existing()
    session = Session(server)
    with server.store.writing():
        row = find_row(session, game, board)
        try:
            right = outcome(row, replayed(row, server.store.boards.turns(*row.place)))
        except (Unsound,) + FAULTS as why:
            raise Refused(f"{row.game} {row.board} cannot be mended: {why}") from why
        server.store.boards.save(right)
        if row.pool:  # it may wait for the end of this game
            turns.advance_tournament(session, row.game, row.pool)
    changes = list(differences(row, right))
    text = "There was nothing to mend."
    if changes:
        text = "\n".join(["Mended:"] + changes)
    answer(text, {**row.place_data, "mended": changes})
