"""The one way in which a command is carried out, whether a shell, a mail, an answer to a mail, or a robot gives it.

1. *Read*: words become a command and its arguments (`read`; `answers.read` for what comes to a reply address).
2. *Prove*: userid and password, or a reply address, become a player. argon2 runs here, before any lock, and hashes new
   passwords, too (`prepare`).
3. *Do*: in one transaction, which a command that only reads opens for reading. There the proof is compared with what is
   stored then; argon2 runs again only if the stored hash has changed.
4. *Deliver*: letters go into the outbox in the same transaction; those to whoever gives the command are printed, or
   mailed to the sender (`finish`).

`run` does all four. A mail is prepared without the write lock. It is finished under the lock, together with other mails
and with the note that it was handled. So a mail that only reads has its answer before the lock is taken.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from games import Illegal
from pbm import delivery, letters
from pbm.access.guesses import Guesses
from pbm.actions.finding import board_of, find_board, find_row
from pbm.blocks import Block, Paragraph, Rule
from pbm.budget import Budget
from pbm.language import words
from pbm.language.commands import OF_GAME, root
from pbm.language.grammar import MOST_CHARACTERS, Call, Command, ShellContext, function, misplaced
from pbm.language.line import SIGNED_WORDS, Line
from pbm.letters import Letter
from pbm.refusals import Misused, NotAllowed, Refused, TooMany, WrongPassword, placeholder_objection
from pbm.session import Session
from pbm.store import BoardRow, Reply
from pbm.store.trust import Token
from pbm.texts import TIME_FORMAT, without

MOST_COMMANDS = 50
"""How many commands `multiple` may have."""
MOST_ANSWERED = 200_000
"""How many characters the gathered answer of `multiple` may have before no more commands are taken."""

ANSWERED_FOR = timedelta(days=30)
"""How long after the end of a game an answer to its mails counts."""
NEVER_BY_TOKEN = frozenset({"token", "tokens", "notices", "password", "address", "reset", "signup", "signoff"})
"""Commands that need a password: with a stolen token, nobody may take over an account for ever."""
LEFT_OUT = "What you have written with this was left out, because the operator of this server has muted you."
TOO_MUCH = "This has grown too much; the commands from here on are not carried out."


class Effect(NamedTuple):
    """The result of a command."""

    letters: Sequence[Letter] = ()
    """The answers to the sender of the command."""
    why: Refused | None = None
    """Why the command was refused; None if it was not."""


class Trial(NamedTuple):
    """What would come of a command."""

    is_done: bool
    """Whether it would be carried out."""
    is_signed: bool
    """Whether it has the right password of a user."""


class Ready(NamedTuple):
    """A command that is read and proved."""

    session: Session
    call: Call | Refused
    line: Line | None = None
    """The line that gives it; None for an answer to a board mail, and for a robot."""
    lines: Sequence[tuple[Line, Call | Refused]] = ()
    """The lines of `multiple`, each with its command, or with the reason why it is refused."""
    done: Effect | None = None
    """The result, if the command only reads and is done already; None if it may change something."""


def run(line: Line, session: Callable[[], Session], shell: ShellContext | None = None) -> list[Letter]:
    """Carry out a command, and return what a shell prints. The session is opened only if the command needs one.

    Raises Refused, and Misused if it is no command.
    """
    call = read(line, shell)
    if not call.command.needs_store:
        return list(function(call.command.deed)(None, *call.given.values()))
    ready = prepare(session(), call, line)
    store = ready.session.store
    with store.reading() if ready.done else store.writing():
        done = finish(ready)
        if not ready.done and (done.why is None or done.why.stands):
            store.events.count_command(ready.session.now, refused=False)
    if done.why:
        raise done.why
    return list(done.letters)


def read(line: Line, shell: ShellContext | None = None) -> Call:
    """The command of a line, and what its words stand for. Raises Refused, and Misused if it is no command."""
    if len(line.typed) > MOST_CHARACTERS:
        raise Refused(f"A line has at most {MOST_CHARACTERS} characters.")
    if "--" in line.words[:2]:
        raise Misused("There is no command `--`; `help commands` lists all commands.")
    if not line.words:
        raise Misused("There is no command; a mail has it in the subject. `help commands` lists all commands.")
    if line.command is None:
        raise root.unknown(line.words, shell.operators if shell else ())
    try:
        given = line.command.given(line.names, line.rest, shell)
    except Illegal as why:
        raise Refused(str(why)) from why
    if line.game:
        given = {"game": line.game, **given}
    return Call(line.command, given)


def prepare(session: Session, call: Call | Refused, line: Line | None = None) -> Ready:
    """Do what needs no write lock: run argon2, and carry out the command if it only reads."""
    ready = Ready(session, call, line)
    if line and isinstance(call, Call) and call.command.name == "multiple":
        ready = _read_lines(ready)
    read_calls = [ready.call]
    if ready.lines:
        read_calls = [call_of_line for _, call_of_line in ready.lines]
    calls = [read_call for read_call in read_calls if isinstance(read_call, Call)]
    trying = replace(session, guesses=copy(session.guesses))  # wrong passwords are counted under the lock
    for readable in calls:
        with suppress(Refused):
            _prove(trying, readable)
            if new := readable.given.get("new_password"):
                session.server.passwords.prepare(new)

    if ready.lines and session.sender is None and not session.is_trusted and not session.known_users:
        if session.guesses and trying.guesses:
            session.guesses.noted = trying.guesses.noted
        return ready._replace(lines=(), call=WrongPassword("`multiple` over HTTP needs a token, or a right password."))
    if any(readable.command.writes for readable in calls):
        return ready
    # wrong passwords in several lines are counted line by line, under the lock
    if ready.lines and any(readable.passwords for readable in calls):
        return ready
    with session.store.reading():
        return ready._replace(done=_carry_out(ready._replace(session=trying)))


def finish(ready: Ready) -> Effect:
    """Carry out a command in the open transaction, unless `prepare` has done so, and deliver its answers."""
    done = ready.done or _carry_out(ready)
    if ready.done and isinstance(ready.call, Call) and ready.call.passwords:
        try:
            _prove(ready.session, ready.call)  # the password may have changed since
        except Refused as why:
            done = Effect(why=why)
    if not ready.session.is_printed:
        delivery.queue(ready.session, *done.letters)
    return done


def try_out(ready: Ready) -> Trial:
    """What would come of a command. All that it changes is undone, but wrong passwords in it are counted."""
    session = ready.session
    done = Effect()
    with session.store.writing():
        with suppress(_TriedOut), session.store.writing():
            done = _carry_out(ready)
            raise _TriedOut
        if session.guesses:
            session.guesses.save()
    return Trial(is_done=done.why is None, is_signed=session.guesses is not None and session.guesses.was_right)


class _TriedOut(Exception):
    """Undoes a command that is only tried out."""


def play(session: Session, player: Reply, move: str, reader: str) -> Effect:
    """Make a move for a player who is known, in the open transaction; no mail about it goes to the *reader*."""
    given = {**player._asdict(), "password": "", "move": move}
    return _carry_out(Ready(replace(session, proved=player), Call(OF_GAME["move"], given)), reader)


def _carry_out(ready: Ready, reader: str | None = None) -> Effect:
    """Carry out a command. If it is refused, its changes are undone, unless the refusal says that they stand."""
    try:
        with ready.session.store.writing():  # a savepoint: a transaction is open, perhaps one that only reads
            try:
                return Effect(_do(ready, reader))
            except Refused as why:
                if not why.stands:
                    raise
                return Effect(why=why)
    except Refused as why:
        return Effect(why=why)


def _do(ready: Ready, reader: str | None) -> list[Letter]:
    """Call the function of a command. Returns its answers; all other letters are in the outbox. Raises Refused."""
    session = ready.session
    call = ready.call
    name: str | None = None
    given: list[Any] = []
    try:
        if isinstance(call, Refused):
            raise call
        session = replace(session, comment=without(session.comment, call.passwords))
        name, given = _prove(session, call)
        if call.command.takes_plan:
            session, plan_lines = function("language.typed_plans.without_plan")(session)
            given.append(plan_lines)
        # notes and similar texts are for their writer alone: a muted user may still write them
        heard = session if call.command.own_text else _without_muted_comment(session, name)
        if ready.lines:
            answers = [_do_lines(ready)]
        else:
            answers = function(call.command.deed)(heard, *given)
        if heard.comment != session.comment:
            answers = [_with_word_to_muted(letter, name) for letter in answers]
    except Illegal as why:  # the refusal shows the board to the user who has signed for it
        point = None
        if name and given and isinstance(given[0], BoardRow):
            point = board_of(session, given[0]).present
        raise Refused(str(why), point=point, reader=name) from why
    except Refused as why:
        if session.proved and why.point is None and not why.stands:  # and to the user who answers a mail about it
            point = find_board(session, session.proved.game, session.proved.board).present
            why.reader = None
            if not point.is_over:
                why.point = point
                why.reader = session.proved.userid
        raise
    return delivery.answer(session, reader or name, *answers)


def _check_scope(token: Token, command: Command) -> None:
    """Raises NotAllowed if the token that comes with a command may not give it; `multiple` is seen line by line."""
    if command.name in NEVER_BY_TOKEN:
        raise NotAllowed("A token cannot give this command: it needs your userid and password.")
    if token.scope == "read" and command.writes and command.name != "multiple":
        raise NotAllowed("This token is only for commands that change nothing.")


def _without_muted_comment(session: Session, name: str | None) -> Session:
    """The session without its comment, if the operator has muted its writer.

    The writer is the user who has signed the command, or else each user at the address that it came from.
    """
    writers = {name} if name else session.known_users
    if session.comment and any(map(session.store.users.is_muted, writers)):
        return replace(session, comment="")
    return session


def _with_word_to_muted(letter: Letter, writer: str | None) -> Letter:
    """A letter about a board that tells its muted writer that their comment was left out.

    Letters to others, and those about no board, stay as they are.
    """
    if letter.to not in {None, writer} or not letter.thread:
        return letter
    return letter._replace(blocks=letter.blocks[:1] + (Paragraph(LEFT_OUT),) + letter.blocks[1:])


def _prove(session: Session, call: Call) -> tuple[str | None, list[Any]]:
    """Check who gives a command. Returns their userid, if a password or a token proves it, and what its function gets.

    The board is looked up before the password. The function gets the row of the board. Raises Refused.
    """
    command = call.command
    if session.bearer:
        _check_scope(session.bearer, command)
    given = dict(call.given)
    if command.instead and "board" in given:
        raise misplaced(session, command, **given)
    if command.check:
        given = function(command.check)(session, **given) or given
    if "password" not in given:
        return session.known_user, list(given.values())
    row: BoardRow | None = None
    if "board" in given:
        row = find_row(session, given.pop("game"), given["board"])
        given["board"] = row
    name = _prove_player(session, given["userid"], given.pop("password"), row)
    given["userid"] = name
    session.signers.add(name)
    if row and command.writes:
        session.boards[row.place] = None
    return name, list(given.values())


def _prove_player(session: Session, userid: str, password: str, row: BoardRow | None) -> str:
    """Check the password of a user. Returns the userid. Raises Refused, which does not tell which of the two is wrong.

    The reply address of a board proves its player there. The time of the command is stored if the transaction writes.
    """
    name = userid.lower()
    if row and not password and session.proved == Reply(*row.place, name):
        if row.ended and session.now > row.ended + ANSWERED_FOR:
            raise Refused(f"The game has been over for more than {ANSWERED_FOR.days} days; please write a command.")
    elif not is_signed_by_token(session, name, password):
        _check_password(session, userid, password)
    if session.store.is_writing:
        session.store.users.note_command(name, session.now)
    return name


def is_signed_by_token(session: Session, userid: str, password: str) -> bool:
    """Whether a token of that user came with the command, and the line that `Line.signed_by` has made."""
    return session.bearer is not None and session.bearer.userid == userid and password == SIGNED_WORDS


def _check_password(session: Session, userid: str, password: str) -> None:
    """Check a password, and store a new hash if the stored one is outdated.

    Raises Refused if it is wrong, or if there were too many wrong ones lately.
    """
    users = session.store.users
    passwords = session.server.passwords
    name = userid.lower()
    stored = users.password_of(name) or None  # a robot has none that could be right
    if session.guesses:
        is_right = _is_right_guess(session, session.guesses, name, stored, password)
    else:
        is_right = passwords.is_right(stored, password)
    if not is_right or stored is None:
        why = placeholder_objection(password, "your password") or "The userid or the password is wrong."
        if stored:
            raise WrongPassword(why)
        raise WrongPassword(why, secrets=(userid,))  # an unknown userid may be the password in the wrong place

    if passwords.is_outdated(stored):
        passwords.prepare(password)
        if session.store.is_writing:
            users.change(name, password=passwords.hash(password))


def _is_right_guess(session: Session, guesses: Guesses, name: str, stored: str | None, password: str) -> bool:
    """Whether a password is right that came by no shell; the guess is counted. Raises TooMany if it has to wait."""
    counts, until = guesses.failures_of(name)
    if until:
        when = f"{until + timedelta(minutes=1):{TIME_FORMAT}}"
        raise TooMany(f"Too many wrong passwords; try again after {when}.", (until - session.now).total_seconds())
    is_right = session.server.passwords.is_right(stored, password)
    guesses.note(counts, is_right=is_right)
    return is_right


def _read_lines(ready: Ready) -> Ready:
    """Read the commands in the body of `multiple`, a line each; or say why it is refused."""
    session = ready.session
    typed_lines = list(words.lines_of(session.body))
    why = ""
    if not typed_lines:
        why = "`multiple` needs commands: a line each in the body of the mail, or --comment=- in a shell."
    elif len(typed_lines) > MOST_COMMANDS:
        why = f"These are {len(typed_lines)} commands; one mail may have {MOST_COMMANDS}."
    elif session.sender and not session.senders:
        why = "`multiple` by mail is for users, from an address that they have confirmed."
    if why:
        return ready._replace(call=Refused(why))
    return ready._replace(lines=[_read_line(session, typed) for typed in typed_lines])


def _read_line(session: Session, typed: str) -> tuple[Line, Call | Refused]:
    """A line of `multiple`, and its command, or why it is refused."""
    line, call = read_for(session, typed)
    if isinstance(call, Call) and call.command.name == "multiple":
        call = Refused("A line of `multiple` cannot be `multiple` again.")
    return line, call


def read_for(session: Session, typed: str) -> tuple[Line, Call | Refused]:
    """A line, and its command, or why it is refused. A token that came with it stands for userid and password."""
    line = Line.read(typed)
    try:
        if session.bearer and line.command:
            _check_scope(session.bearer, line.command)
            line = line.signed_by(session.bearer.userid, session.store.users.is_taken)
        call = read(line)
        if call.command.in_any_order:
            ordered = function(call.command.check)(session, **call.given)
            call = call._replace(given=ordered or call.given)
    except Refused as why:
        return line, why
    return line, call


def _do_lines(ready: Ready) -> Letter:
    """Carry out the commands of `multiple`, each with its own savepoint, and gather their answers in one letter."""
    session = replace(ready.session, comment="", body="", is_line=True)
    is_user = session.store.users.is_taken
    blocks: list[Block] = []
    data_of_lines: list[dict[str, Any]] = []
    budget = Budget(is_trusted=session.is_trusted)
    for line, call in ready.lines:
        if blocks:
            blocks.append(Rule())
        if budget.is_spent or sum(len(block.text) for block in blocks) > MOST_ANSWERED:
            blocks.append(Paragraph(TOO_MUCH))
            data_of_lines.append({"error": TOO_MUCH, "status": 1})
            break

        done = _carry_out(Ready(session, call, line))
        answers = done.letters
        secrets: Sequence[str] = ()
        if done.why:
            answers = [line.refusal(done.why, is_user=is_user)]
            secrets = done.why.secrets
        data_of_lines.append(letters.as_one(answers))

        blocks.append(Paragraph(f"> {without(line.masked(is_user).text, secrets)}"))
        said: list[Block] = []
        for letter in answers:
            if letter.kind == "refusal":
                said.append(Paragraph(letter.data["error"]))  # its other blocks quote the line, which stands above
            else:
                said += letter.blocks
        blocks += said or [Paragraph("Done.")]
    status = max(int(data.get("status", 0)) for data in data_of_lines)
    return letters.plain_letter(
        blocks, subject="multiple", answer="help multiple", answers=data_of_lines, status=status
    )
