"""The command language: one click tree for shell and mail.

Each command is declared once, with its arguments and its help text; there is no rule of a game here, and no SQL.
"""

import click

from pbm import help as helps
from pbm import look, play, users
from pbm.grammar import Front, GameLine, Group, Letters, PasswordType, Root, in_session
from pbm.session import Session

MOST_SUBJECTS = 10
"""How many subjects are explained at a time."""

BOARD = click.argument("board")
BOARDS = click.argument("boards", nargs=-1, required=True, metavar="BOARD[#n]...")
USERID = click.argument("userid")
PASSWORD = click.argument("password", type=PasswordType())
MOVE = click.argument("move", metavar="MOVE[#n]", type=click.UNPROCESSED)
ADDRESSES = click.argument("addresses", nargs=-1)


game = Group("GAME", command_class=GameLine)
root = Root("pbm", game)
change = Group("change", help="Change something about yourself.")
root.add_command(change)


@root.command("help")
@click.argument("subjects", nargs=-1, metavar="[SUBJECT]...")
@click.pass_obj
def help_(front: Front, subjects: tuple[str, ...]) -> Letters:
    """Explain a subject: `commands`, `tutorial`, a game or a command."""
    phrase = " ".join(subjects).lower()
    is_command = any(phrase in {one.name, one.name.removeprefix("GAME ")} for one in root.explained())
    return _helped(front, *([phrase] if is_command else subjects or [""]))


@root.command()
@USERID
@PASSWORD
@ADDRESSES
@in_session
def signup(session: Session, userid: str, password: str, addresses: tuple[str, ...]) -> Letters:
    """Become a user. Without an address, mail goes to the one that the command came from."""
    return users.signup(session, userid, password, addresses)


@root.command("confirm-address")
@click.argument("code")
@in_session
def confirm_address(session: Session, code: str) -> Letters:
    """Confirm a mail address with the code that was mailed to it."""
    return users.confirm_address(session, code)


@change.command("password")
@USERID
@click.argument("password", metavar="OLD", type=PasswordType())
@click.argument("new_password", metavar="NEW", type=PasswordType())
@in_session
def change_password(session: Session, userid: str, password: str, new_password: str) -> Letters:
    """Get another password."""
    return users.change_password(session, userid, password, new_password)


@change.command("address")
@USERID
@PASSWORD
@ADDRESSES
@in_session
def change_address(session: Session, userid: str, password: str, addresses: tuple[str, ...]) -> Letters:
    """Get mail at other addresses. The old ones serve until a new one is confirmed."""
    return users.change_address(session, userid, password, addresses)


@root.command("list")
@click.argument("names", nargs=-1, metavar="[GAME]...")
@in_session
def list_(session: Session, names: tuple[str, ...]) -> Letters:
    """Say how many boards each game has, or list the boards of some games."""
    return look.list_games(session, [name.lower() for name in names])


@root.command("dice")
@click.argument("name", metavar="GAME")
@BOARD
@in_session
def dice(session: Session, name: str, board: str) -> Letters:
    """Check all dice of a finished board against the secret that they came from.

    You can check them by yourself. The first mail about a board tells the SHA-256 of its secret, the last one the
    secret, 32 bytes in hexadecimal. The dice of a turn come from the bytes of HMAC-SHA256(secret, "GAME BOARD TURN
    BLOCK"), where TURN is how many moves were played before and BLOCK is 0, then 1 and so on if more are needed:
    `spiro 101 0 0` for the first throw of Spiro board 101. Bytes of 252 and more are left out; of each other one, the
    remainder of a division by 6, plus 1, is a die.
    """
    return look.check_dice(session, name.lower(), board)


@game.command(takes_options=True)
@click.argument("userid1")
@click.argument("userid2")
@in_session
def challenge(session: Session, game: str, options: list[str], userid1: str, userid2: str) -> Letters:
    """Start a board, on which userid1 moves first."""
    return play.challenge(session, game, options, (userid1, userid2))


@game.command()
@BOARD
@USERID
@PASSWORD
@MOVE
@in_session
def move(session: Session, game: str, board: str, userid: str, password: str, move: str) -> Letters:
    """Play a move; #n behind it makes sure that it is played as move number n only.

    In the place of a move, `resign` gives up, and `unresign` takes that back while it is not your turn.
    """
    return play.move(session, game, board, move, userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def resign(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Give up, now or when your turn comes. Before both players have moved, it removes the board."""
    return play.move(session, game, board, "resign", userid=userid, password=password)


@game.command()
@BOARDS
@in_session
def show(session: Session, game: str, boards: tuple[str, ...]) -> Letters:
    """Show boards as they are, or after n moves; #-1 is one move ago."""
    return look.show(session, game, boards)


@game.command()
@USERID
@PASSWORD
@BOARDS
@in_session
def showas(session: Session, game: str, userid: str, password: str, boards: tuple[str, ...]) -> Letters:
    """Show boards as one player sees them, with what only he may know."""
    return look.showas(session, game, userid, password, boards)


@game.command(takes_options=True)
@click.argument("board", metavar="BOARD[#n]")
@click.argument("moves", nargs=-1, type=click.UNPROCESSED)
@in_session
def preview(session: Session, game: str, options: list[str], board: str, moves: tuple[str, ...]) -> Letters:
    """Show what moves would lead to, on a board or on a new one (`preview new 2`); nothing is played.

    In games with dice, the first move on the board as it is uses the dice that lie there; each later one needs
    `dice=4,2` in front of it.
    """
    return look.preview(session, game, options, [board, *moves])


@game.command("games")
@click.argument("boards", nargs=-1)
@in_session
def games_(session: Session, game: str, boards: tuple[str, ...]) -> Letters:
    """List boards in a table: those named, or the active ones and those that ended lately."""
    return look.games_table(session, game, boards)


@game.command("standings", named={"plot": "USERID"})
@in_session
def standings_(session: Session, game: str, plot: str | None) -> Letters:
    """List the players by rating, or draw how the rating of one of them has gone.

    `ratings` is another name of this command; `help ratings` tells how they are reckoned.
    """
    from pbm import standings

    return standings.plotted(session, game, plot) if plot else standings.standings(session, game)


@game.command()
@in_session
def history(session: Session, game: str) -> Letters:
    """List the games that are over, the oldest first; in a mail the last 1000 of them."""
    from pbm import standings

    return standings.history(session, game)


@game.command("help")
@click.argument("command", default="")
@click.pass_obj
def help_of_game(front: Front, game: str, command: str) -> Letters:
    """Explain the rules and the notation of the game, or one of its commands."""
    return _helped(front, command or game)


def _helped(front: Front, *subjects: str) -> Letters:
    """Help needs no database, but where its answer is a mail."""
    once = list(dict.fromkeys(subject.lower() for subject in subjects))[:MOST_SUBJECTS]
    answers = [helps.letter(subject, root.explained()) for subject in once]
    return answers if front.prints else front.session().answer(None, *answers)
