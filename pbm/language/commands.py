"""The command language: one click tree for shell and mail.

Each command is a row of a table: its name, what its words stand for, and the function that carries it out. The row also
says whether the command changes something, and has its help. There is no rule of a game here, and no SQL.
"""

import click

from pbm.board import clocks
from pbm.language import words
from pbm.language.grammar import Command, Group, Root


def argument(name: str, written: str = "") -> click.Argument:
    """A word; its syntax, as it is *written*, has brackets if it can be left out."""
    is_optional = written.startswith("[") or written.count("]") > written.count("[")
    return click.Argument([name], metavar=written or name.upper(), required=not is_optional)


def arguments(name: str, written: str) -> click.Argument:
    """Any number of words; without brackets around its syntax, at least one."""
    return click.Argument([name], metavar=written, nargs=-1, required=not written.startswith("["))


BOARDS = arguments("boards", "BOARD[#n]...|SELECTOR...")
USERID = argument("userid")
PASSWORD = argument("password")
SIGNED = [USERID, PASSWORD]
ON_BOARD = [argument("board"), *SIGNED]
IN_POOL = [argument("pool"), *SIGNED]
NEW_PASSWORD = argument("new_password", "PASSWORD")
FOLLOWED = SIGNED + [arguments("boards", "BOARD...")]
PAGE = argument("page", "[PAGE]")
MOVE = argument("move", "MOVE[#n]")
MOVES = arguments("moves", "[MOVES]...")
ADDRESSES = arguments("addresses", "[ADDRESSES]...")

# fmt: off
OF_A_GAME = (
    Command("challenge", [argument("userid1"), argument("userid2")], "actions.challenges.challenge",
        takes_options=True, named={**clocks.OPTIONS, "name": "NAME", "from": "BOARD#n"},
        text="""Start a board, on which USERID1 moves first.

        `help GAME` lists the options of the game. A player is reminded after 7 days without a move and forfeits after
        21. --nagtime and --forfeittime change that. --totaltime limits the days that each player has in the whole game.
        A clock that grows replaces them. With --clock=10+2/14 each player has 10 days, gets 2 days for each move, and
        has 14 at most after a move. A player who moves after 3 days has 10 - 3 + 2 = 9 days for the next move; quick
        moves bring that up to 14, and no further. A player who has none left forfeits. --clock=240h+36h is in hours;
        without /MAX, BASE is the most. A player is reminded when the days of --nagtime are left, or else a quarter of
        BASE, at most 7 days. The clock stands still on vacation.

        With --novacation, vacations spare nobody on the board. With --noweekends, no clock runs on Saturdays and
        Sundays, in the time zone of the player to move.

        You challenge a robot as you challenge a person. With -talk, a robot says with each move what it thinks of its
        chances. If a robot begins, the command in a shell ends after its move; with --no-wait it ends at once.

        --from=101#4 starts from the position of board 101 after 4 moves. The new board has the options of that board
        and other dice, and is not rated. No robot plays there while two people still play on the old board. --name
        names a board of a tournament, in a shell only.
        """),
    Command("move", ON_BOARD + [MOVE], "actions.play.move", takes_plan=True,
        text="""Play a move. With #n behind it, the move is played as move number n or not at all.

        Instead of a move, you can write some words. `resign` gives up. `unresign` takes that back while it is not your
        turn. `propose` proposes a draw, and `undo` proposes to take the last move back. The other player answers with
        `accept` or `reject`. A robot accepts `undo` at once: your last move and its answer are taken back.

        In a shell, this and every other command about a board ends when a robot that is to move there has moved. With
        --no-wait it ends at once.
        """),
    Command("plan", ON_BOARD + [arguments("lines", "[LINE;...|clear]")],
        "language.typed_plans.plan_typed", own_text=True,
        text="""Plan your answers to moves that your opponent may make. The server plays them at once.

        A line begins with `if`, your opponent's move, `then` and your answer:

          if c3 then d4 if e5 then f6
          if any then g7

        After c3, your d4 is played, and if e5 follows, your f6. `any` stands for every move that no other line names
        in the same place. Several lines stand in the body, or with semicolons between them, which need quotation marks
        in a shell. New lines are added to the plan; a new answer to a move replaces the old one. `clear` forgets the
        plan. Without lines, you see it. A plan can also stand below a move, `queue` or `confirm`, above your comment.

        The server tries the moves that it can know, and nobody else sees them before they are played. If your
        opponent's move fits no line, or your answer is illegal then, the plan is dropped, and the mail about that move
        says so. In games with dice, only `any` can stand behind `if`. A plan has at most 200 moves of yours, and 20 in
        a row.
        """),
    Command("queue", ON_BOARD + [MOVE], "actions.play.queue", takes_plan=True,
        text="""Store a move that is played as soon as it is your turn, no matter what the other player does.

        It is the plan `if any then MOVE`. The server looks at the move when it is your turn. If it is not legal then,
        you are told. A new move replaces the one before. `clear` instead of the move forgets it. If it is your turn
        already, the move is played at once.
        """),
    Command("submit", ON_BOARD + [MOVE], "actions.play.submit",
        text="""Show yourself what a move leads to. `confirm` then plays it."""),
    Command("confirm", ON_BOARD, "actions.play.confirm", takes_plan=True,
        text="""Play the move that you have submitted."""),
    Command("resign", ON_BOARD, "actions.play.resign",
        text="""Give up, now or when your turn comes. If not both players have moved, the board is removed."""),
    Command("swap", ON_BOARD, "actions.play.swap",
        text="""Exchange sides, in games that have this."""),
    Command("show", [BOARDS], "actions.lists.show", reads=True,
        text="""Show boards as they are, or after n moves; #-1 is one move ago.

        Instead of boards you can write a selector: userids, `active`, `inactive` or `next` (one of them is to move),
        and `tournament` or `standard`.
        """),
    Command("showas", [USERID, PASSWORD, BOARDS], "actions.lists.showas", reads=True,
        text="""Show boards as one player sees them, with what only they may know."""),
    Command("preview", [argument("board", "BOARD[#n]"), MOVES],
        "actions.play.preview", reads=True, takes_options=True,
        text="""Show what moves lead to, on a board or on a new one for 2 players (`preview new 2`). Nothing is played.

        In games with dice, the first move on the present board uses the dice that were thrown for it. Each later move
        needs `dice=4,2` in front of it.
        """),
    Command("games", [arguments("boards", "[BOARD|SELECTOR]...")], "actions.lists.table", reads=True,
        text="""List boards in a table: those that you name or select, or else the active ones and those that ended
        lately.

        A selector has userids, `active`, `inactive` or `next` (one of the users is to move), and `tournament` or
        `standard`. A mail has a page of 200 lines, and says how to get the next one. Write the number of a page behind
        a selector.
        """),
    Command("chat", ON_BOARD, "actions.messages.chat",
        text="""Write to the players and the subscribers of a board. The text stands in the body, or in --comment=TEXT
        in a shell.

        While the game goes on, only its players and the director of its tournament can chat. When it is over, anybody
        can. A robot answers with its next move: it says what it thinks of its chances.
        """),
    Command("talk", [argument("board"), argument("userid", "[USERID"), argument("password", "PASSWORD]"), PAGE],
        "actions.talk.list_talk", reads=True, check="actions.talk.read_list_words",
        text="""List what was said on a board: the comments of moves, votes and the challenge, and the chats.

        Comments are for anybody. Chats are for the players, who sign with userid and password; when the game is over,
        they are for anybody, too. The last 400 are kept, of each at most 4000 bytes. What was said about a move stays
        when the move is taken back, and is marked. You do not see what users that you block have written. When users
        sign off, what they have written is deleted. A mail has a page of 200 lines.
        """),
    Command("note", ON_BOARD + [argument("word", "[clear]")], "actions.messages.add_note", own_text=True,
        text="""Note something for yourself on a board. The text stands in the body, or in --comment=TEXT in a shell.

        Only you see your notes, below the board in your mails and in `showas`, also when the game is over. They have at
        most 4000 bytes. `clear` forgets them; without a text, they are shown.
        """),
    Command("rematch", ON_BOARD, "actions.challenges.rematch",
        text="""Play again, against the same opponent, a game that has ended: the options and clocks are the same, and
        the sides are exchanged.

        There is one rematch of a board. Limits, and players who take no challenges, count as with `challenge`.
        """),
    Command("analyse", ON_BOARD, "actions.analyses.ask",
        text="""Get a mail about a game that is over. It says how likely a player was to win, which three turns cost
        most, and what would have been better.

        A robot thinks about it when no other robot has to move, which takes some minutes. You can ask for three games a
        day. A game that began with a position of another one waits until two people do not play that any more.
        """),
    Command("nag", ON_BOARD, "actions.reminders.nag",
        text="""Remind your opponent that it is their turn on a board, at most once in three days.

        The mail says when they lose if they do nothing. If they move before it goes out, it is not sent.
        """),
    Command("give", ON_BOARD + [argument("days", "DAYS")], "actions.reminders.give",
        text="""Give your opponent 1 to 30 days more for the move that they owe. Both of you are told.

        If the board has a total time, they have as many days more in the whole game.
        """),
    Command("subscribe", FOLLOWED, "actions.subscriptions.subscribe",
        check="actions.subscriptions.with_boards_first", in_any_order=True,
        text="""Get every mail about boards that others play. `all` means all boards, also those that begin later.

        The board may stand in front, too: `subscribe BOARD USERID PASSWORD`.
        """),
    Command("unsubscribe", FOLLOWED, "actions.subscriptions.unsubscribe",
        check="actions.subscriptions.with_boards_first", in_any_order=True,
        text="""Get no more mails about boards that others play. `all` ends the mails about all boards."""),
    Command("notify", [USERID, PASSWORD, arguments("boards", "[BOARD]... [on|off]")],
        "actions.subscriptions.notify",
        text="""Get a mail when a board is over.

        Without boards, you get it for every board of the game. The same command again ends that. `on` and `off` say
        which you want.
        """),
    Command("accept", SIGNED, "actions.challenges.accept", instead="accept",
        text="""Take all challenges of the game."""),
    Command("reject", SIGNED, "actions.challenges.reject", instead="reject",
        text="""Take no challenges of the game."""),
    Command("limit", [USERID, PASSWORD, argument("number", "[N]")], "actions.challenges.limit",
        text="""Take challenges only while you have fewer than N active boards. `all` ends the limit; `reject` or 0
        takes none.

        Without N, it says what your limit is.
        """),
    Command("seek", [USERID, PASSWORD, argument("number", "[N]")], "actions.challenges.seek",
        takes_options=True, named={"rating": "LOW-HIGH", "options": "OPTIONS"},
        text="""Tell others that you want to get N challenges. Without N, it says how many you seek.

        With --rating=1500-1700 you say from which players, and with --options='-size=9' how you want to play. These are
        wishes: a challenge that does not fit them is still made.

        The standings, `all seekers` and the site show it, but not while you take no challenges, have reached your
        limit, or are on vacation. It ends when you have got N challenges, or have given no command for 60 days.
        """),
    Command("join", IN_POOL, "actions.tournaments.join_pool",
        text="""Take part in a tournament that is open. `GAME table` lists these tournaments."""),
    Command("leave", IN_POOL, "actions.tournaments.leave_pool",
        text="""Leave a tournament. Once it has begun, you lose the games that are on. They are not rated."""),
    Command("bye", IN_POOL, "actions.tournaments.ask_for_bye",
        text="""Miss the next round of a Swiss tournament that allows it. This counts as half a point."""),
    Command("table", [argument("pool", "[POOL]")], "actions.tournaments.table", reads=True,
        text="""Show how a tournament stands: the places, what decides about them, and all results.

        Players with equal points share a place only if they are equal in all that the line below the table names,
        including their games against each other (direct encounter).

        Without POOL, it lists the tournaments that are open or running, and says who can join them.
        """),
    Command("tournament", IN_POOL + [arguments("deed", "[DIRECTION]")], "actions.directing.directed",
        named={"dry-run": ""},
        text="""Direct a tournament, if the operator has made you its director. Without a DIRECTION, it says how far it
        is.

        A DIRECTION is `start`, `add USERID`, `replace USERID NEW`, `withdraw USERID`, `adjudicate BOARD win [USERID]`,
        `adjudicate BOARD draw`, `adjudicate BOARD cancel`, `finish` (no more rounds) or `cancel`. With --dry-run it
        only says what it would do.
        """),
    Command("standings", [PAGE], "actions.standings.standings", reads=True, named={"plot": "USERID"},
        text="""List the players by rating, or draw how the rating of one player has changed. A mail has a page of 200
        lines.

        `ratings` is another name of this command. `help ratings` explains how ratings are computed.
        """),
    Command("history", [PAGE], "actions.standings.history", reads=True,
        text="""List the games that are over, the oldest first. A mail has the last 200 of them; page 2 has those before
        them."""),
    Command("mail", [USERID, PASSWORD, argument("how", "each|digest|none")], "actions.mail_settings.choose",
        text="""Get the mails about boards one by one, in one digest a day, or not at all.

        Reminders, errors, answers to your own moves and the ends of games come at once in any case. The button of a
        mail program that unsubscribes from a digest means `none`.

        Without GAME, it chooses for all games.
        """),
    Command("help", [argument("command", "[COMMAND]")], "language.help.help_of_game", reads=True, needs_store=False,
        text="""Explain the rules and the notation of the game, or one of its commands."""),
)

OF_ALL = (
    Command("help", [arguments("subjects", "[SUBJECT]...")], "language.help.explain", reads=True, needs_store=False,
        text="""Explain a subject: `commands`, `tutorial`, a game or a command."""),
    Command("signup", [USERID, NEW_PASSWORD, ADDRESSES], "actions.users.signup",
        check="actions.users.check_sign_up",
        text="""Become a user. Without an address, mail goes to the address that the command came from.

        A userid has 2 to 16 letters, digits, dots, hyphens or underscores, and begins with a letter. A password has 6
        characters or more, without blanks, quotes or colons, and does not begin with a hyphen.

        If you began a board as a guest on the site, you can keep it. Mail this command, within seven days, to the
        address that its page names.
        """),
    Command("confirm-address", [argument("code")], "actions.users.confirm_address",
        text="""Confirm a mail address with the code that was mailed to it."""),
    Command("signoff", SIGNED, "actions.users.sign_off", named={"erase": ""},
        text="""Stop being a user. You resign all your boards, and what you have played stays on record. What you have
        written is deleted.

        With --erase, your name is deleted, too. On your boards and in results, a former player, such as `former-3`,
        takes its place. All ratings stay as they are. Nobody else can ever take your name.
        """),
    Command("reset",
        [USERID, argument("one_time_password", "[CODE"), argument("new_password", "NEWPASSWORD]")],
        "actions.users.reset", check="actions.users.check_reset",
        text="""Get another password when you have lost yours. A code is mailed to you. You can use it once, within a
        day. Answer that mail with the new password alone, or give this command with the code."""),
    Command("vacation", [USERID, PASSWORD, arguments("days", "[FIRST] [LAST] | off | auto | noauto")],
        "actions.vacations.vacation",
        text="""Be away from one day through another, written like 2027-01-31. With one day, you are away from today
        through it.

        During a vacation you are not reminded, and you do not forfeit. You do not forfeit for 3 days after it either,
        if it began before the time of your move was over. You have 30 days in a calendar year, and at most 21 in one
        go. `off` ends the vacation. Without days, it says what is planned.

        With `auto`, you do not lose by the time of a move as long as you have days left: each day, one of the 30 is
        taken instead. `noauto` ends that. No clock stops: the total time of a board runs on in any vacation. On a board
        with --novacation, you are reminded and forfeit as if you were not away. Days begin and end in UTC.
        """),
    Command("message", [USERID, PASSWORD, arguments("readers", "USERID...")], "actions.messages.message",
        text="""Write to other users. The text stands in the body, or in --comment=TEXT in a shell. Nobody sees an
        address."""),
    Command("block", [USERID, PASSWORD, argument("other", "[OTHER]")], "actions.messages.block",
        text="""Hear no more of a user: OTHER cannot challenge you, write to you, or chat with you. Without OTHER, it
        lists the users that you block.

        Games that are on go on. OTHER is told only that you take no challenges.
        """),
    Command("unblock", [USERID, PASSWORD, argument("other", "OTHER")], "actions.messages.unblock",
        text="""Let a user that you have blocked challenge you and write to you again."""),
    Command("broadcast", [USERID, PASSWORD, argument("switch", "[on|off]")], "actions.messages.broadcast",
        text="""Write to all users who have said `broadcast USERID PASSWORD on`, at most once a week.

        These users end it with `off`, or with the button of a mail program that unsubscribes.
        """),
    Command("puzzles", [USERID, PASSWORD, argument("switch", "on|off")], "actions.puzzles.switch",
        text="""Get one puzzle a week: a position of a game that is over, in which a single turn wins.

        The answer stands at the end of the mail, far below the board. The site shows all puzzles with their answers.
        The button of a mail program that unsubscribes means `off`.
        """),
    Command("token", SIGNED + [argument("name"), argument("scope", "[read|play|revoke]")],
        "actions.tokens.change_token", check="actions.tokens.check_not_mailed",
        text="""Make a token, with which a program gives commands for you over HTTP: it stands for your userid and
        password.

        It is shown once. With `read` it is for commands that change nothing. With `play`, or without a word, it is for
        nearly all commands. `revoke` ends the token of that NAME. A new password ends all tokens. You have at most 20.
        You cannot make a token by mail, but you get a mail about each.
        """),
    Command("tokens", SIGNED, "actions.tokens.list_tokens", reads=True,
        text="""List your tokens: their names, what they are for, when you made them, and when they were last used.

        A browser in which you play without a mail program is a `device`. It ends as a token does, by `revoke`, or 90
        days after its last use."""),
    Command("notices",
        SIGNED + [argument("change", "add|confirm|list|drop"), argument("url", "[URL"), argument("full", "full]")],
        "actions.notices.change_notices", check="actions.notices.check_not_mailed_secret",
        text="""Be notified by other ways than mail: that it is your turn, that a game is over, that somebody has
        written to you.

        `add URL` says where your notices go. URL is one that Apprise knows, such as `ntfy://TOPIC`, or that of your own
        program, which takes webhooks (`https://...`). The operator decides which kinds are allowed. A code comes there;
        `confirm CODE` confirms it. Before that, nothing else is sent.

        A notice is a sentence, with a link to the page of the board. What others write is in it only after `add URL
        full`. `list` shows where your notices go, and `drop N` ends number N. You can have 10. A target that cannot be
        reached for 3 days gets nothing more, and you get a mail. A new password asks for a new code.
        """),
    Command("multiple", [], "",
        text="""Carry out the commands in the body, one in each line. In a shell they stand in --comment=TEXT or come
        from --comment=-.

        A refused line does not stop the others. Empty lines and lines that begin with # are skipped. `end` ends the
        commands. The exit status in a shell is the highest of all lines.
        """),
    Command("list", [arguments("names", "[GAME]...")], "actions.lists.list_games", reads=True,
        text="""Say how many active boards each game has, or list the active boards of some games."""),
    Command("dice", [argument("name", "GAME"), argument("board", "[BOARD]")], "actions.proofs.check_dice", reads=True,
        text="""Check all dice of a finished board against the secret that they came from.

        Without a board, count all dice that were thrown in a game, and compare them with honest ones by a chi-square
        test. This works in a shell only.

        You can check them by yourself. The first mail about a board has the SHA-256 of its secret. The last one has the
        secret, 32 bytes in hexadecimal. The dice of a turn come from the bytes of HMAC-SHA256(secret, "GAME BOARD TURN
        BLOCK"). TURN is how many moves were played before. BLOCK is 0, then 1 and so on if more bytes are needed. For
        the first throw of Spiro board 101 the text is `spiro 101 0 0`. Bytes of 252 and more are left out. Of each
        other byte, the remainder of a division by 6, plus 1, is a die.
        """),
    Command("timezone", [USERID, PASSWORD, argument("zone", "NAME")], "actions.mail_settings.choose_zone",
        text="""See times in your own time zone, such as Europe/Berlin. Without this, times are in UTC.

        Days of vacation, and the days of reminders and forfeits, stay as they are.
        """),
    Command("mail", [USERID, PASSWORD, argument("form", "pictures|html|text|each|digest|none")],
        "actions.mail_settings.choose_for_all",
        text="""Get mails with a picture of the board, in HTML without pictures, or as text alone.

        A mail with pictures or HTML also has the plain text; a mail program shows one of them.

        With `each`, you get the mails about boards of all games one by one. With `digest` you get one mail a day for
        each game, and with `none` no such mails. `GAME mail` chooses for one game. Reminders, errors, answers to your
        own moves and the ends of games come at once in any case.
        """),
)

OF_ONESELF = (
    Command("password",
        [USERID, argument("password", "OLD"), argument("new_password", "NEW")],
        "actions.users.change_password",
        text="""Set a new password."""),
    Command("address", [USERID, PASSWORD, ADDRESSES], "actions.users.change_address",
        text="""Get your mail at other addresses. The old ones serve until a new one is confirmed."""),
)

OF_ALL_GAMES = (
    Command("show", [USERID, argument("state", "[next|active]")], "actions.lists.show_all", reads=True,
        text="""Show the boards of all games where it is a user's turn, or all boards that they play (`active`)."""),
    Command("games", [arguments("selector", "USERID... [SELECTOR...]")], "actions.lists.table_of_all", reads=True,
        text="""List the boards of users in all games: whose turn it is, since when, and how many days that player has
        left.

        These are the active boards. `next` selects those where one of the users is to move, and `inactive` those that
        are over. `tournament` or `standard` selects further. A mail has a page of 200 lines, and says how to get the
        next one.

        If you mail this about yourself from your own address, the answer can have a link for your calendar program. The
        calendar shows until when you have to move. A new password ends it.
        """),
    Command("seekers", [PAGE], "actions.challenges.seekers", reads=True,
        text="""List the players who want to be challenged, in all games, with their ratings. A mail has a page of 200
        lines.

        Players who take no challenges at the moment, have reached their limit or are on vacation are not listed.
        """),
)

# fmt: on
OF_GAME = {str(command.name): command for command in OF_A_GAME}
MISPLACED = [Command(typed, ON_BOARD, reads=True, instead=word) for typed, word in words.MEANT_AS_MOVES.items()]
"""The words that people type as commands, although they belong where a move stands."""
game = Group("GAME", MISPLACED + list(OF_A_GAME))
root = Root("pbm", [Group("change", OF_ONESELF), Group("all", OF_ALL_GAMES)] + list(OF_ALL), game)
