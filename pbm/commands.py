"""The command language: one click tree for shell and mail.

Each command is declared once, with its arguments and its help text; there is no rule of a game here, and no SQL.
"""

import click

from pbm import clocks, lists, look, play, users
from pbm import help as helps
from pbm.grammar import Follow, Front, GameLine, Group, Letters, Misused, PasswordType, Root, in_session
from pbm.session import Refused, Session

MOST_SUBJECTS = 10
"""How many subjects are explained at a time."""

BOARD = click.argument("board")
BOARDS = click.argument("boards", nargs=-1, required=True, metavar="BOARD[#n]...|SELECTOR...")
USERID = click.argument("userid")
PASSWORD = click.argument("password", type=PasswordType())
FOLLOWED = click.argument("words", nargs=-1, required=True, metavar="USERID PASSWORD BOARD...")
MOVE = click.argument("move", metavar="MOVE[#n]", type=click.UNPROCESSED)
ADDRESSES = click.argument("addresses", nargs=-1)


game = Group("GAME", command_class=GameLine)
root = Root("pbm", game)
change = Group("change", help="Change something about yourself.")
root.add_command(change)
every = Group("all", help="Do something with the boards of all games.")
root.add_command(every)


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
    """Become a user. Without an address, mail goes to the one that the command came from.

    A userid is 2 to 16 letters, digits, dots, hyphens or underscores, and begins with a letter. A password has 6
    characters or more, no blanks, quotes or colons, and does not begin with a hyphen.
    """
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


@root.command()
@USERID
@PASSWORD
@in_session
def signoff(session: Session, userid: str, password: str) -> Letters:
    """Stop being a user: you resign all your boards, and what you have played stays on record.

    Nobody else can ever take your name.
    """
    return users.sign_off(session, userid, password)


@root.command()
@USERID
@click.argument("one_time_password", default="", metavar="[CODE")
@click.argument("new_password", default="", metavar="NEWPASSWORD]", type=PasswordType())
@in_session
def reset(session: Session, userid: str, one_time_password: str, new_password: str) -> Letters:
    """Get another password when you have lost yours: a code is mailed to you, which is good once and for a day."""
    if one_time_password and not new_password:
        raise Misused(
            "These are too few words: NEWPASSWORD is missing. The command is written:\n\n"
            "  reset USERID [CODE NEWPASSWORD]",
            secrets=(one_time_password,),
        )
    return users.reset(session, userid, one_time_password, new_password)


@root.command()
@USERID
@PASSWORD
@click.argument("days", nargs=-1, metavar="[FIRST] [LAST] | off")
@in_session
def vacation(session: Session, userid: str, password: str, days: tuple[str, ...]) -> Letters:
    """Be away from a day through another one, written like 2027-01-31; with one day, from today through that day.

    Until 3 days after it you do not forfeit, and while it lasts you are not reminded. You have 30 days in a calendar
    year, at most 21 in one go. `off` ends it; without days, it says what is planned.
    """
    from pbm import wishes

    if len(days) > 2:
        raise Refused("A vacation has a first and a last day, and no more.")
    return wishes.vacation(session, userid, password, days)


@root.command()
@USERID
@PASSWORD
@click.argument("readers", nargs=-1, required=True, metavar="USERID...")
@in_session
def message(session: Session, userid: str, password: str, readers: tuple[str, ...]) -> Letters:
    """Write to other users: what stands in the body, or --comment=TEXT in a shell. No address is shown to anybody."""
    from pbm import talk

    return talk.message(session, userid, password, readers)


@root.command()
@USERID
@PASSWORD
@click.argument("switch", default="", metavar="[on|off]")
@in_session
def broadcast(session: Session, userid: str, password: str, switch: str) -> Letters:
    """Write to all users who have said `broadcast USERID PASSWORD on`, once a week at most."""
    from pbm import talk

    return talk.broadcast(session, userid, password, switch)


@root.command()
@in_session
def multiple(session: Session) -> Letters:
    """Carry out the commands in the body, one a line; in a shell, in --comment=- or --comment=TEXT.

    A line that is refused does not stop the others. Empty lines and lines that begin with # are skipped; `end` ends it.
    The exit status in a shell is the highest of all lines.
    """
    from pbm import multiple as several

    return several.multiple(session, root)


@every.command("show")
@USERID
@click.argument("state", default="next", metavar="[next|active]")
@in_session
def show_all(session: Session, userid: str, state: str) -> Letters:
    """Show the boards of all games on which a user is to move, or all on which he plays (`active`)."""
    if state.lower() not in {"next", "active"}:
        raise Refused(f"`all show` is for `next` or `active` boards, and not for {state!r}.")
    return lists.show_all(session, userid, state.lower())


@root.command("list")
@click.argument("names", nargs=-1, metavar="[GAME]...")
@in_session
def list_(session: Session, names: tuple[str, ...]) -> Letters:
    """Say how many boards each game has, or list the boards of some games."""
    return lists.list_games(session, [name.lower() for name in names])


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


@game.command(takes_options=True, named={**clocks.OPTIONS, "name": "NAME"})
@click.argument("userid1")
@click.argument("userid2")
@in_session
def challenge(
    session: Session,
    /,
    game: str,
    options: list[str],
    userid1: str,
    userid2: str,
    name: str | None,
    **times: str | None,
) -> Letters:
    """Start a board, on which userid1 moves first.

    `help GAME` lists the options of the game. A player is reminded after 7 days without a move, and forfeits after 21:
    --nagtime and --forfeittime change that, and --totaltime limits the days that each player has in the whole game.
    --name is for the boards of tournaments, and for a shell only.
    """
    return play.challenge(session, game, options, (userid1, userid2), times=times, name=name)


@game.command()
@BOARD
@USERID
@PASSWORD
@MOVE
@in_session
def move(session: Session, game: str, board: str, userid: str, password: str, move: str) -> Letters:
    """Play a move; #n behind it makes sure that it is played as move number n only.

    In the place of a move, `resign` gives up, and `unresign` takes that back while it is not your turn; `propose`
    proposes a draw and `undo` to take the last move back, which the other player answers with `accept` or `reject`.
    """
    return play.move(session, game, board, move, userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@MOVE
@in_session
def queue(session: Session, game: str, board: str, userid: str, password: str, move: str) -> Letters:
    """Have a move played as soon as it is your turn, whatever the other player does.

    It is looked at only then; if it is not legal, you are told. A new one takes the place of the one before, and
    `clear` in the place of the move forgets it. If it is your turn already, it is played at once.
    """
    return play.queue(session, game, board, move, userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@MOVE
@in_session
def submit(session: Session, game: str, board: str, userid: str, password: str, move: str) -> Letters:
    """Show yourself what a move leads to, and keep it until `confirm` plays it."""
    return play.submit(session, game, board, move, userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def confirm(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Play the move that you have submitted."""
    return play.confirm(session, game, board, userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def resign(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Give up, now or when your turn comes. Before both players have moved, it removes the board."""
    return play.move(session, game, board, "resign", userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def swap(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Exchange sides, in games that have this."""
    return play.move(session, game, board, "swap", userid=userid, password=password)


@game.command()
@BOARDS
@in_session
def show(session: Session, game: str, boards: tuple[str, ...]) -> Letters:
    """Show boards as they are, or after n moves; #-1 is one move ago.

    Instead of boards, a selector: userids, `active`, `inactive` or `next` (one of them is to move), and `tournament`
    or `standard`.
    """
    return lists.show(session, game, boards)


@game.command()
@USERID
@PASSWORD
@BOARDS
@in_session
def showas(session: Session, game: str, userid: str, password: str, boards: tuple[str, ...]) -> Letters:
    """Show boards as one player sees them, with what only he may know."""
    return lists.showas(session, game, userid, password, boards)


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
@click.argument("boards", nargs=-1, metavar="[BOARD|SELECTOR]...")
@in_session
def games_(session: Session, game: str, boards: tuple[str, ...]) -> Letters:
    """List boards in a table: those named or selected, or the active ones and those that ended lately.

    A selector is userids, `active`, `inactive` or `next` (one of the users is to move), and `tournament` or `standard`.
    """
    return lists.table(session, game, boards)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def chat(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Write to the players and the subscribers of a board: what stands in the body, or --comment=TEXT in a shell."""
    from pbm import talk

    return talk.chat(session, game, board, userid, password)


@game.command(cls=Follow)
@FOLLOWED
@in_session
def subscribe(session: Session, game: str, words: tuple[str, ...]) -> Letters:
    """Get every mail about boards that others play; `all` means all, also those that begin later.

    The board may stand in front, too: `subscribe BOARD USERID PASSWORD`.
    """
    from pbm import follow

    return follow.subscribe(session, game, words)


@game.command(cls=Follow)
@FOLLOWED
@in_session
def unsubscribe(session: Session, game: str, words: tuple[str, ...]) -> Letters:
    """Get no more mails about boards that others play; `all` ends it for all."""
    from pbm import follow

    return follow.unsubscribe(session, game, words)


@game.command()
@USERID
@PASSWORD
@click.argument("boards", nargs=-1, metavar="[BOARD]... [on|off]")
@in_session
def notify(session: Session, game: str, userid: str, password: str, boards: tuple[str, ...]) -> Letters:
    """Be told when boards are over.

    Without boards, of all ends of the game; the same again ends that, and `on` and `off` say it plainly.
    """
    from pbm import follow

    return follow.notify(session, game, userid, password, boards)


@game.command()
@USERID
@PASSWORD
@in_session
def accept(session: Session, game: str, userid: str, password: str) -> Letters:
    """Take all challenges of the game."""
    from pbm import wishes

    return wishes.accept(session, game, userid, password)


@game.command()
@USERID
@PASSWORD
@in_session
def reject(session: Session, game: str, userid: str, password: str) -> Letters:
    """Take no challenges of the game."""
    from pbm import wishes

    return wishes.reject(session, game, userid, password)


@game.command()
@USERID
@PASSWORD
@click.argument("number", default="", metavar="[N]")
@in_session
def limit(session: Session, game: str, userid: str, password: str, number: str) -> Letters:
    """Take challenges only while you have fewer than N active boards; `all` ends the limit, `reject` or 0 takes none.

    Without N, it says what your limit is.
    """
    from pbm import wishes

    return wishes.limit(session, game, userid, password, number)


@game.command()
@USERID
@PASSWORD
@click.argument("number", default="", metavar="[N]")
@in_session
def seek(session: Session, game: str, userid: str, password: str, number: str) -> Letters:
    """Let the standings show that you would like to get N challenges. Without N, it says how many you seek."""
    from pbm import wishes

    return wishes.seek(session, game, userid, password, number)


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


@game.command("mail")
@USERID
@PASSWORD
@click.argument("how", metavar="each|digest|none")
@in_session
def mail_of_game(session: Session, game: str, userid: str, password: str, how: str) -> Letters:
    """Get the mails about boards one by one, as one digest a day, or not at all.

    Reminders, errors and the ends of games come at once in any case.
    """
    from pbm import digests

    return digests.choose(session, game, userid, password, how.lower())


@root.command("mail")
@USERID
@PASSWORD
@click.argument("form", metavar="text|html")
@in_session
def mail(session: Session, userid: str, password: str, form: str) -> Letters:
    """Get mails as text alone, or with the boards in colours beside it."""
    from pbm import digests

    return digests.choose_form(session, userid, password, form.lower())


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
