"""The command language: one click tree for shell and mail.

Each command is declared once, with its arguments and its help text; there is no rule of a game here, and no SQL.
"""

import click

from pbm import delivery
from pbm.board import clocks
from pbm.language import words
from pbm.language.dispatch import in_session
from pbm.language.front import Front, PasswordType
from pbm.language.grammar import Consent, Follow, GameCommand, Group, InsteadOfMove, Letters, Misused, Root
from pbm.refusals import Refused
from pbm.session import Session

MOST_SUBJECTS = 10
"""How many subjects are explained at a time."""
BOARD = click.argument("board")
POOL = click.argument("pool")
BOARDS = click.argument("boards", nargs=-1, required=True, metavar="BOARD[#n]...|SELECTOR...")
USERID = click.argument("userid")
PASSWORD = click.argument("password", type=PasswordType())
FOLLOWED = click.argument("words", nargs=-1, required=True, metavar="USERID PASSWORD BOARD...")
PAGE_WORD = click.argument("page", default="", metavar="[PAGE]")
MOVE = click.argument("move", metavar="MOVE[#n]", type=click.UNPROCESSED)
ADDRESSES = click.argument("addresses", nargs=-1)
game = Group("GAME", command_class=GameCommand)
root = Root("pbm", game)
change = Group("change", help="Change something about yourself.")


root.add_command(change)


for typed, meant in words.INSTEAD_OF_MOVE.items():
    game.add_command(InsteadOfMove(meant), typed)


every = Group("all", help="Do something in all games.")


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
    from pbm.actions import users

    return users.signup(session, userid, password, addresses)


@root.command("confirm-address")
@click.argument("code")
@in_session
def confirm_address(session: Session, code: str) -> Letters:
    """Confirm a mail address with the code that was mailed to it."""
    from pbm.actions import address_book

    return address_book.confirm_address(session, code)


@change.command("password")
@USERID
@click.argument("password", metavar="OLD", type=PasswordType())
@click.argument("new_password", metavar="NEW", type=PasswordType())
@in_session
def change_password(session: Session, userid: str, password: str, new_password: str) -> Letters:
    """Get another password."""
    from pbm.actions import resets

    return resets.change_password(session, userid, password, new_password)


@change.command("address")
@USERID
@PASSWORD
@ADDRESSES
@in_session
def change_address(session: Session, userid: str, password: str, addresses: tuple[str, ...]) -> Letters:
    """Get mail at other addresses. The old ones serve until a new one is confirmed."""
    from pbm.actions import address_book

    return address_book.change_address(session, userid, password, addresses)


@root.command()
@USERID
@PASSWORD
@in_session
def signoff(session: Session, userid: str, password: str) -> Letters:
    """Stop being a user: you resign all your boards, and what you have played stays on record.

    Nobody else can ever take your name.
    """
    from pbm.actions import users

    return users.sign_off(session, userid, password)


@root.command()
@USERID
@click.argument("one_time_password", default="", metavar="[CODE")
@click.argument("new_password", default="", metavar="NEWPASSWORD]", type=PasswordType())
@in_session
def reset(session: Session, userid: str, one_time_password: str, new_password: str) -> Letters:
    """Get another password when you have lost yours: a code is mailed to you, which is good once and for a day."""
    from pbm.actions import resets

    if one_time_password and not new_password:
        raise Misused(
            "These are too few words: NEWPASSWORD is missing. The command is written:\n\n"
            "  reset USERID [CODE NEWPASSWORD]",
            secrets=(one_time_password,),
        )
    return resets.reset(session, userid, one_time_password, new_password)


@root.command()
@USERID
@PASSWORD
@click.argument("days", nargs=-1, metavar="[FIRST] [LAST] | off | auto | noauto")
@in_session
def vacation(session: Session, userid: str, password: str, days: tuple[str, ...]) -> Letters:
    """Be away from a day through another one, written like 2027-01-31; with one day, from today through that day.

    Until 3 days after it you do not forfeit, and while it lasts you are not reminded. You have 30 days in a calendar
    year, at most 21 in one go. `off` ends it; without days, it says what is planned.

    With `auto`, a day of these 30 is taken each day that you would lose by the time of a move, while there is any;
    `noauto` ends that. The total time of a board runs on in any vacation, and boards that were begun with --novacation
    know none. Days begin and end in UTC.
    """
    from pbm.actions import vacations

    if len(days) > 2:
        raise Refused("A vacation has a first and a last day, and no more.")
    return vacations.vacation(session, userid, password, days)


@root.command()
@USERID
@PASSWORD
@click.argument("readers", nargs=-1, required=True, metavar="USERID...")
@in_session
def message(session: Session, userid: str, password: str, readers: tuple[str, ...]) -> Letters:
    """Write to other users: what stands in the body, or --comment=TEXT in a shell. No address is shown to anybody."""
    from pbm.actions import messages

    return messages.message(session, userid, password, readers)


@root.command()
@USERID
@PASSWORD
@click.argument("switch", default="", metavar="[on|off]")
@in_session
def broadcast(session: Session, userid: str, password: str, switch: str) -> Letters:
    """Write to all users who have said `broadcast USERID PASSWORD on`, once a week at most.

    Who has said that ends it with `off`, or with the button of a mail program that unsubscribes.
    """
    from pbm.actions import messages

    return messages.broadcast(session, userid, password, switch)


@root.command()
@in_session
def multiple(session: Session) -> Letters:
    """Carry out the commands in the body, one a line; in a shell, in --comment=- or --comment=TEXT.

    A line that is refused does not stop the others. Empty lines and lines that begin with # are skipped; `end` ends it.
    The exit status in a shell is the highest of all lines.
    """
    from pbm.language.multiple import each_line

    return each_line(session, root)


@every.command("show")
@USERID
@click.argument("state", default="next", metavar="[next|active]")
@in_session
def show_all(session: Session, userid: str, state: str) -> Letters:
    """Show the boards of all games on which a user is to move, or all on which they play (`active`)."""
    from pbm.actions import lists

    if state.lower() not in {"next", "active"}:
        raise Refused(f"`all show` is for `next` or `active` boards, and not for {state!r}.")
    return lists.show_all(session, userid, state.lower())


@every.command("games")
@click.argument("selector", nargs=-1, required=True, metavar="USERID... [SELECTOR...]")
@in_session
def games_of_all(session: Session, selector: tuple[str, ...]) -> Letters:
    """List the boards of users in all games: whose turn it is, since when, and how many days are left for whom.

    These are the active boards; `next` leaves those on which one of the users is to move, `inactive` lists those that
    are over, and `tournament` or `standard` chooses among them. A mail has a page of 200 lines, and says how to get
    the next one.
    """
    from pbm.actions import lists

    return lists.table_of_all(session, selector)


@every.command("seekers")
@PAGE_WORD
@in_session
def seekers(session: Session, page: str) -> Letters:
    """List who would like to get challenges, in all games, with their ratings; in a mail a page of 200 lines."""
    from pbm.actions import limits

    return limits.seekers(session, page)


@root.command("list")
@click.argument("names", nargs=-1, metavar="[GAME]...")
@in_session
def list_(session: Session, names: tuple[str, ...]) -> Letters:
    """Say how many boards each game has, or list the boards of some games."""
    from pbm.actions import lists

    return lists.list_games(session, [name.lower() for name in names])


@root.command("dice")
@click.argument("name", metavar="GAME")
@click.argument("board", default="", metavar="[BOARD]")
@in_session
def dice(session: Session, name: str, board: str) -> Letters:
    """Check all dice of a finished board against the secret that they came from.

    Without a board, count all dice that were thrown in a game, and compare them with honest ones by a chi-square test;
    that is for a shell only.

    You can check them by yourself. The first mail about a board tells the SHA-256 of its secret, the last one the
    secret, 32 bytes in hexadecimal. The dice of a turn come from the bytes of HMAC-SHA256(secret, "GAME BOARD TURN
    BLOCK"), where TURN is how many moves were played before and BLOCK is 0, then 1 and so on if more are needed:
    `spiro 101 0 0` for the first throw of Spiro board 101. Bytes of 252 and more are left out; of each other one, the
    remainder of a division by 6, plus 1, is a die.
    """
    from pbm.actions import proofs

    if not board:
        return proofs.count_dice(session, name.lower())
    return proofs.check_dice(session, name.lower(), board)


@game.command(takes_options=True, named={**clocks.OPTIONS, "name": "NAME", "from": "BOARD#n"})
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
    **named: str | None,
) -> Letters:
    """Start a board, on which userid1 moves first.

    `help GAME` lists the options of the game. A player is reminded after 7 days without a move, and forfeits after 21:
    --nagtime and --forfeittime change that, and --totaltime limits the days that each player has in the whole game.
    With --novacation, vacations do not stop the clocks of the board.

    Robots are challenged like anybody, and -talk makes them say with each move what they think of their chances. In a
    shell the command ends when a robot that begins has moved; with --no-wait it ends at once.

    --from=101#4 begins with the position of board 101 after 4 moves, with its options and with dice of its own; such a
    game is not rated, and no robot plays in it while two people still play on that board. --name is for the boards of
    tournaments, and for a shell only.
    """
    from pbm.actions import challenges

    source = named.pop("from")
    return challenges.challenge(session, game, options, (userid1, userid2), times=named, name=name, source=source)


@game.command()
@BOARD
@USERID
@PASSWORD
@MOVE
@in_session
def move(session: Session, game: str, board: str, userid: str, password: str, move: str) -> Letters:
    """Play a move; #n behind it makes sure that it is played as move number n only.

    In the place of a move, `resign` gives up, and `unresign` takes that back while it is not your turn; `propose`
    proposes a draw and `undo` to take the last move back, which the other player answers with `accept` or `reject`;
    a robot gives your own last move back, and takes its answer with it.

    In a shell the command ends when a robot has answered; with --no-wait it ends at once.
    """
    from pbm.actions import play

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
    from pbm.actions import play

    return play.queue(session, game, board, move, userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@MOVE
@in_session
def submit(session: Session, game: str, board: str, userid: str, password: str, move: str) -> Letters:
    """Show yourself what a move leads to, and keep it until `confirm` plays it."""
    from pbm.actions import play

    return play.submit(session, game, board, move, userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def confirm(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Play the move that you have submitted."""
    from pbm.actions import play

    return play.confirm(session, game, board, userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def resign(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Give up, now or when your turn comes. Before both players have moved, it removes the board."""
    from pbm.actions import play

    return play.move(session, game, board, "resign", userid=userid, password=password)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def swap(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Exchange sides, in games that have this."""
    from pbm.actions import play

    return play.move(session, game, board, "swap", userid=userid, password=password)


@game.command()
@BOARDS
@in_session
def show(session: Session, game: str, boards: tuple[str, ...]) -> Letters:
    """Show boards as they are, or after n moves; #-1 is one move ago.

    Instead of boards, a selector: userids, `active`, `inactive` or `next` (one of them is to move), and `tournament`
    or `standard`.
    """
    from pbm.actions import lists

    return lists.show(session, game, boards)


@game.command()
@USERID
@PASSWORD
@BOARDS
@in_session
def showas(session: Session, game: str, userid: str, password: str, boards: tuple[str, ...]) -> Letters:
    """Show boards as one player sees them, with what only they may know."""
    from pbm.actions import lists

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
    from pbm.actions import previews

    return previews.preview(session, game, options, [board, *moves])


@game.command("games")
@click.argument("boards", nargs=-1, metavar="[BOARD|SELECTOR]...")
@in_session
def games_(session: Session, game: str, boards: tuple[str, ...]) -> Letters:
    """List boards in a table: those named or selected, or the active ones and those that ended lately.

    A selector is userids, `active`, `inactive` or `next` (one of the users is to move), and `tournament` or `standard`.
    A mail has a page of 200 lines, and says how to get the next one; the number of a page stands behind a selector.
    """
    from pbm.actions import lists

    return lists.table(session, game, boards)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def chat(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Write to the players and the subscribers of a board: what stands in the body, or --comment=TEXT in a shell.

    A robot that is written to says with its next move what it thinks of its chances.
    """
    from pbm.actions import messages

    return messages.chat(session, game, board, userid, password)


@game.command()
@BOARD
@USERID
@PASSWORD
@in_session
def nag(session: Session, game: str, board: str, userid: str, password: str) -> Letters:
    """Remind your opponent of a board on which it is their turn, at most once in three days.

    The mail says when they lose if they do nothing; it is not sent any more if their move comes before it goes out.
    """
    from pbm.actions import reminders

    return reminders.nag(session, game, board, userid=userid, password=password)


@game.command(cls=Follow)
@FOLLOWED
@in_session
def subscribe(session: Session, game: str, words: tuple[str, ...]) -> Letters:
    """Get every mail about boards that others play; `all` means all, also those that begin later.

    The board may stand in front, too: `subscribe BOARD USERID PASSWORD`.
    """
    from pbm.actions import subscriptions

    return subscriptions.subscribe(session, game, words)


@game.command(cls=Follow)
@FOLLOWED
@in_session
def unsubscribe(session: Session, game: str, words: tuple[str, ...]) -> Letters:
    """Get no more mails about boards that others play; `all` ends it for all."""
    from pbm.actions import subscriptions

    return subscriptions.unsubscribe(session, game, words)


@game.command()
@USERID
@PASSWORD
@click.argument("boards", nargs=-1, metavar="[BOARD]... [on|off]")
@in_session
def notify(session: Session, game: str, userid: str, password: str, boards: tuple[str, ...]) -> Letters:
    """Be told when boards are over.

    Without boards, of all ends of the game; the same again ends that, and `on` and `off` say it plainly.
    """
    from pbm.actions import subscriptions

    return subscriptions.notify(session, game, userid, password, boards)


@game.command(cls=Consent)
@USERID
@PASSWORD
@in_session
def accept(session: Session, game: str, userid: str, password: str) -> Letters:
    """Take all challenges of the game."""
    from pbm.actions import limits

    return limits.accept(session, game, userid, password)


@game.command(cls=Consent)
@USERID
@PASSWORD
@in_session
def reject(session: Session, game: str, userid: str, password: str) -> Letters:
    """Take no challenges of the game."""
    from pbm.actions import limits

    return limits.reject(session, game, userid, password)


@game.command()
@USERID
@PASSWORD
@click.argument("number", default="", metavar="[N]")
@in_session
def limit(session: Session, game: str, userid: str, password: str, number: str) -> Letters:
    """Take challenges only while you have fewer than N active boards; `all` ends the limit, `reject` or 0 takes none.

    Without N, it says what your limit is.
    """
    from pbm.actions import limits

    return limits.limit(session, game, userid, password, number)


@game.command()
@USERID
@PASSWORD
@click.argument("number", default="", metavar="[N]")
@in_session
def seek(session: Session, game: str, userid: str, password: str, number: str) -> Letters:
    """Let others know that you would like to get N challenges. Without N, it says how many you seek.

    The standings, `all seekers` and the site show it, until you have got as many, or have given no command for 60 days.
    """
    from pbm.actions import limits

    return limits.seek(session, game, userid, password, number)


@game.command("join")
@POOL
@USERID
@PASSWORD
@in_session
def join(session: Session, game: str, pool: str, userid: str, password: str) -> Letters:
    """Take part in a tournament that is open; `GAME table` lists these."""
    from pbm.actions import tournaments

    return tournaments.join_pool(session, game, pool, userid, password)


@game.command("leave")
@POOL
@USERID
@PASSWORD
@in_session
def leave(session: Session, game: str, pool: str, userid: str, password: str) -> Letters:
    """Take part in a tournament no more. Once it has begun, you lose the games that are on; they are not rated."""
    from pbm.actions import tournaments

    return tournaments.leave_pool(session, game, pool, userid, password)


@game.command("bye")
@POOL
@USERID
@PASSWORD
@in_session
def bye(session: Session, game: str, pool: str, userid: str, password: str) -> Letters:
    """Do not play in the next round of a Swiss tournament that allows it. This counts as half a point."""
    from pbm.actions import tournaments

    return tournaments.ask_for_bye(session, game, pool, userid, password)


@game.command("table")
@click.argument("pool", default="", metavar="[POOL]")
@in_session
def table(session: Session, game: str, pool: str) -> Letters:
    """Show how a tournament stands: places, what decides about them, and who has met whom.

    Players with equal points share a place only if nothing under the table tells them apart, their games against each
    other (direct encounter) neither.

    Without POOL, the tournaments that are open, or on, and who can join them.
    """
    from pbm.actions import tournaments

    return tournaments.table(session, game, pool)


@game.command("tournament", named={"dry-run": ""})
@POOL
@USERID
@PASSWORD
@click.argument("deed", nargs=-1, metavar="[DIRECTION]")
@in_session
def tournament(
    session: Session, /, game: str, pool: str, userid: str, password: str, deed: tuple[str, ...], **named: str | None
) -> Letters:
    """Direct a tournament, if the operator has made you its director; without a DIRECTION, say how far it is.

    A DIRECTION is `start`, `add USERID`, `replace USERID NEW`, `withdraw USERID`, `adjudicate BOARD win [USERID]`,
    `adjudicate BOARD draw`, `adjudicate BOARD cancel`, `finish` (no more rounds) or `cancel`. With --dry-run it only
    says what it would do.
    """
    from pbm.actions import directing

    is_trial = named["dry-run"] is not None
    return directing.directed(session, game, pool, userid, password, deed, dry_run=is_trial)


@game.command("standings", named={"plot": "USERID"})
@PAGE_WORD
@in_session
def standings_(session: Session, game: str, page: str, plot: str | None) -> Letters:
    """List the players by rating, or draw how the rating of one of them has gone; in a mail a page of 200 lines.

    `ratings` is another name of this command; `help ratings` tells how they are reckoned.
    """
    from pbm.actions import standings

    return standings.plotted(session, game, plot) if plot else standings.standings(session, game, page)


@game.command()
@PAGE_WORD
@in_session
def history(session: Session, game: str, page: str) -> Letters:
    """List the games that are over, the oldest first; in a mail the last 200 of them, or those before them (page 2)."""
    from pbm.actions import standings

    return standings.history(session, game, page)


@game.command("mail")
@USERID
@PASSWORD
@click.argument("how", metavar="each|digest|none")
@in_session
def mail_of_game(session: Session, game: str, userid: str, password: str, how: str) -> Letters:
    """Get the mails about boards one by one, as one digest a day, or not at all.

    Reminders, errors and the ends of games come at once in any case. The button of a mail program that unsubscribes
    from a digest means `none`.
    """
    from pbm.actions import mail_settings

    return mail_settings.choose(session, game, userid, password, how.lower())


@root.command("timezone")
@USERID
@PASSWORD
@click.argument("zone", metavar="NAME")
@in_session
def timezone(session: Session, userid: str, password: str, zone: str) -> Letters:
    """Be told times in your own time zone, such as Europe/Berlin; `UTC` is the usual one.

    Days of vacation, and the days of reminders and forfeits, are reckoned as before.
    """
    from pbm.actions import mail_settings

    return mail_settings.choose_zone(session, userid, password, zone)


@root.command("mail")
@USERID
@PASSWORD
@click.argument("form", metavar="pictures|html|text")
@in_session
def mail(session: Session, userid: str, password: str, form: str) -> Letters:
    """Get mails with a picture of the board, with the board in colours, or as text alone.

    Pictures and colours stand beside the text; a mail program shows the one or the other.
    """
    from pbm.actions import mail_settings

    return mail_settings.choose_form(session, userid, password, form.lower())


@game.command("help")
@click.argument("command", default="")
@click.pass_obj
def help_of_game(front: Front, game: str, command: str) -> Letters:
    """Explain the rules and the notation of the game, or one of its commands."""
    return _helped(front, command or game)


def _helped(front: Front, *subjects: str) -> Letters:
    """Help needs no database, but where its answer is a mail."""
    from pbm.language.help import help_letter

    once = list(dict.fromkeys(subject.lower() for subject in subjects))[:MOST_SUBJECTS]
    answers = [help_letter(subject, root.explained()) for subject in once]
    return answers if front.prints else delivery.answer(front.session(), None, *answers)
