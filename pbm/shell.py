"""The shell: arguments in, the answer on standard output, errors on standard error, an exit status."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

import games
from pbm import arguments, console, letters, runner, texts
from pbm.arguments import Arguments
from pbm.language import masking
from pbm.language.commands import root
from pbm.language.grammar import ShellContext
from pbm.language.help import help_letter
from pbm.language.line import Line
from pbm.letters import Letter
from pbm.refusals import Refused
from pbm.server import Server
from pbm.session import Session
from pbm.settings import open_server
from pbm.store import Unusable
from pbm.terminal import fail, print_answer, read_input, read_secret, warn


def read(args: Sequence[str]) -> Arguments:
    """The arguments of a shell; with ``--help`` their line is `help`."""
    given = arguments.read_arguments(args)
    if given.wants_help:
        return given._replace(line=["help"] + _subject(given.words))
    return given


def _subject(named: list[str]) -> list[str]:
    """The words in front that name a command, for example `change password` of `change password alice`."""
    if named and games.exists(named[0]):
        return named[1:2] or named
    if operators := console.contexts(named):
        return named[: len(operators)]
    if named[:1] == ["change"]:
        return named[:2]
    return named[:1]


def main(args: Sequence[str]) -> int:
    """Carry out a command. Returns its exit status: 0 if it was done, 2 if it is no command, 1 if it was refused.

    Several commands in one return the highest of their statuses.
    """
    given = read(args)
    line, comment, options = given
    as_json = given.as_json
    if "--comment" in line:
        return fail(arguments.LACKS_COMMENT, 1, as_json=as_json)
    if not line:
        reason = "There is no command; `pbm help commands` lists all commands."
        return fail(help_letter("").body, 2, as_json=as_json, reason=reason)
    if line == ["--version"]:
        from importlib.metadata import version

        text = f"pbm {version('pbm-server')}"
        return print_answer(text, {"reply": text}, as_json=as_json)
    words = given.words
    first = words[0] if words else ""
    if arguments.is_operators(words):
        position = [word.lower() for word in line].index(first)
        return console.main(first, line[:position] + line[position + 1 :], as_json=as_json)
    answers: list[Letter] = []
    if first == "help":
        answers, line = _operators_help(line)

    session: Session | None = None

    def open_session() -> Session:
        nonlocal session
        text = read_input().read() if comment == "-" else comment
        server = open_server()
        masked = masking.comment(text, server.store.users.is_taken)
        session = Session(server, comment=masked, body=texts.clean(text), as_json=as_json)
        return session

    typed = Line.read(" ".join(line))
    try:
        if line:
            answers += runner.run(typed, open_session, ShellContext(read_secret, list(arguments.MODULES)))
    except (Refused, Unusable, games.Unloadable) as why:
        return _print_failure(typed, why, session, as_json=as_json)
    if session and "--no-wait" not in options:
        answers = _wait_for_robots(session, answers)
    has_changed = typed.command is not None and typed.command.writes
    drawn_by = session.server if session and "--picture" in options else None
    return _print_answers(answers, drawn_by, as_json=as_json, has_changed=has_changed)


def _print_answers(answers: list[Letter], drawn_by: Server | None, *, as_json: bool, has_changed: bool) -> int:
    """Print the answers to a command; if a server is given, also pictures of the boards. Returns the exit status."""
    if drawn_by and not as_json:
        _show_pictures(answers, drawn_by)
    data = letters.as_one(answers)
    unprinted = print_answer(letters.printed(answers), data, as_json=as_json, has_changed=has_changed)
    return unprinted or int(data.get("status", 0))


def _print_failure(typed: Line, why: Exception, session: Session | None, *, as_json: bool) -> int:
    """Print why a command was not done. Returns the exit status."""
    if isinstance(why, Refused):
        is_user = session.store.users.is_taken if session else None
        refusal = typed.refusal(why, is_user=is_user)
    else:  # the database is not asked who is a user: it may be what cannot be used
        refusal = typed.refusal(Refused(str(why)), is_user=None)
    return fail(refusal.body, int(refusal.data["status"]), as_json=as_json, reason=refusal.data["error"])


def _wait_for_robots(session: Session, answers: list[Letter]) -> list[Letter]:
    """Wait for the robots that have to move behind a command on one of its boards. Returns the new answers."""
    awaited = [place for place in session.boards if session.store.robots.awaited(*place)]
    if not awaited:
        return answers
    from pbm.robot_players.tasks import wait_for_robots

    return wait_for_robots(replace(session, comment="", body="", boards=dict.fromkeys(awaited)), answers)


def _show_pictures(answers: list[Letter], server: Server) -> None:
    """Show the boards that the letters are about, if the terminal can, or say that it cannot."""
    from pbm.drawing import images, terminals

    protocol = terminals.picture_protocol(os.environ) if sys.stdout.isatty() else None
    if protocol is None:
        warn("This terminal shows no pictures, as far as is known; here is the text.")
        return
    points = [images.point_of(server.store, drawing) for letter in answers for drawing in letter.drawings]
    try:
        for point in filter(None, points):
            sys.stdout.write(protocol(images.board_png(point)))
    except Refused as why:
        warn(str(why))


def _operators_help(line: Sequence[str]) -> tuple[list[Letter], list[str]]:
    """The help on the operator's commands among the subjects of a `help` line, and the line without them.

    The line is empty if there is no other subject.
    """
    help_texts: dict[str, None] = {}  # each once, in this order
    other_words = [line[0]]
    rest = [word.lower() for word in line[1:]]
    while rest:
        named = console.contexts(rest)
        if named:
            help_texts[named[-1].get_help()] = None
        if not named or rest[0] in root.commands:
            other_words.append(rest[0])
        word_count = max(1, len(named))  # such as two for `robots add`
        rest = rest[word_count:]
    pages = [letters.plain_letter(text, subject="Help", answer="help commands") for text in help_texts]
    if pages and other_words == line[:1]:
        return pages, []
    return pages, other_words
