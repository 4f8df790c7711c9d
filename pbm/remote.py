"""A shell for a server on another machine: the line goes there by HTTP, and the answer is printed here.

It uses no database. What needs none, such as the referee, runs here as in any shell.
"""

from collections.abc import Sequence

from pbm import client, terminal
from pbm.arguments import LACKS_COMMENT, MODULES, Arguments, is_operators, read_arguments
from pbm.client import ROBOT_SECONDS, Client, NoAnswer

RUN_HERE = frozenset("arena complete completion duel play referee robot settings wait".split())
"""The operator's commands that run here. `play` and `wait` ask the server, and the others need none."""
SHORT_OF_PICTURES = "With PBM_SERVER no pictures are shown; here is the text."


def main(args: Sequence[str]) -> int:
    """Have the server carry out a command. Returns the exit status of a shell, or 3 if no pbm has answered."""
    given = read_arguments(args)
    try:
        return _carry_out(given, args)
    except NoAnswer as why:
        return terminal.fail(str(why), why.status, as_json=given.as_json)


def _carry_out(given: Arguments, args: Sequence[str]) -> int:
    """Carry out a command here or there. Returns the exit status. Raises NoAnswer."""
    if _runs_here(given):
        from pbm import shell  # takes longer than all the rest

        return shell.main(args)
    if "--comment" in given.line:
        return terminal.fail(LACKS_COMMENT, 1, as_json=given.as_json)
    if is_operators(given.words):
        why = f"`{given.words[0]}` is a command of the operator, on the machine of the server; nothing was sent there."
        return terminal.fail(why, 1, as_json=given.as_json)
    return _send(given)


def _runs_here(given: Arguments) -> bool:
    """Whether a command needs no server, or asks it in its own way."""
    words = given.words
    if given.wants_help or not given.line or given.line == ["--version"]:
        return True
    if words[:1] == ["help"]:  # the server has no help on what runs here
        return not MODULES.keys().isdisjoint(words)
    stores_games = any(word.lower().startswith("--save") for word in given.line)  # of `arena`, in a database
    return is_operators(words) and words[0] in RUN_HERE and not stores_games


def _send(given: Arguments) -> int:
    """Send a command and print the answer. Returns the exit status. Raises NoAnswer."""
    server = client.from_environment()
    if server is None:
        raise NoAnswer(client.NO_SERVER)
    line = " ".join(given.line)
    passwords: list[str] = []
    if not server.token:
        passwords = [terminal.read_secret() for word in given.line if word == "-"]
    comment = given.comment
    if comment == "-":
        comment = terminal.read_input().read()
    if given.words[:1] == ["multiple"]:
        passwords = _passwords_below(server, comment)
    wait_seconds = ROBOT_SECONDS
    if "--no-wait" in given.options:
        wait_seconds = 0
    answer = server.ask(line, comment, passwords=passwords, as_json=given.as_json, wait_seconds=wait_seconds)
    if not answer.is_done:
        reason = str(answer.data.get("error", ""))
        return terminal.fail(answer.text, answer.status or 1, as_json=given.as_json, reason=reason)
    if "--picture" in given.options and not given.as_json:
        terminal.warn(SHORT_OF_PICTURES)
    try:
        terminal.say(answer.text, answer.data, as_json=given.as_json)
    except OSError as error:
        from pbm.language.line import Line  # knows which commands change something

        command = Line.read(line).command
        has_changed = command is not None and command.writes
        return terminal.warn_of_unprinted(error, has_changed=has_changed) or answer.status
    return answer.status


def _passwords_below(server: Client, comment: str) -> list[str]:
    """The password that the hyphens in the lines of `multiple` stand for, if there are any."""
    if server.token or not server.password or "-" not in comment.split():
        return []
    return [server.password]
