"""Completion for shells: the words of the command language, and stored names.

The scripts for the shells only pass the words on to `pbm complete`. So all shells offer the same, and a new command is
offered at once.
"""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

import games
from pbm import arguments, client, console
from pbm.actions.finding import KINDS, STATES
from pbm.console import answer
from pbm.console.usage import Commands
from pbm.language import words
from pbm.language.commands import root
from pbm.language.grammar import Command
from pbm.language.help import subjects
from pbm.settings import database_path
from pbm.store import Store, Unusable
from pbm.store.boards import BoardFilter

MOST_OFFERED = 100
"""How many boards, pools or users are offered."""
STATES_OF_POOLS = {"join": ["open"], "leave": ["open", "running", "closing"]}
"""The states of the tournaments that are offered, by command."""
OFFERED_ANYWHERE = ("--comment=",) + arguments.SHELL_OPTIONS

BASH = """\
# What bash offers for pbm and its games; ~/.bashrc can have the line: source <(pbm completion bash)
_pbm() {
    local line=${COMP_LINE:0:COMP_POINT} words
    local last=${line##*[[:blank:]]}
    read -ra words <<< "$line"
    [[ $last ]] || words+=("")
    mapfile -t COMPREPLY < <(printf '%s\\n' "${words[@]}" | @PBM@ complete 2> /dev/null)
    # for bash, a word begins behind the = of an option
    [[ $last == *=* && $COMP_WORDBREAKS == *=* ]] && COMPREPLY=("${COMPREPLY[@]#"${last%%=*}="}")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
complete -F _pbm @PROGRAMS@
"""
ZSH = """\
#compdef @PROGRAMS@
# What zsh offers for pbm and its games; ~/.zshrc can have, behind compinit: source <(pbm completion zsh)
_pbm() {
    local -a offered
    offered=(${(f)"$(print -rl -- "${(@Q)words[1,CURRENT-1]}" "$PREFIX" | @PBM@ complete 2> /dev/null)"})
    compadd -S '' -- ${(M)offered:#*=}
    compadd -- ${offered:#*=}
}
compdef _pbm @PROGRAMS@
"""
FISH = """\
# What fish offers for pbm and its games; ~/.config/fish/config.fish can have: pbm completion fish | source
function __pbm
    set -l current (commandline -ct)
    printf '%s\\n' (commandline -opc) "$current" | @PBM@ complete 2> /dev/null
end
for program in @PROGRAMS@
    complete -c $program -f -a '(__pbm)'
end
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}

commands = Commands("pbm")


@commands.command()
@click.argument("shell", type=click.Choice(list(SCRIPTS)), metavar="SHELL")
def completion(shell: str) -> None:
    """Print a script that lets a shell complete games, commands, boards, pools, users and options.

    SHELL is bash, zsh or fish. The script begins with how your shell loads it at each start. It belongs to the pbm that
    printed it. Print it again if pbm moves to another folder, or if a game is added.
    """
    program = Path(sys.argv[0])
    if program.name == "pbm":
        pbm = [str(program.absolute())]
    else:
        pbm = [sys.executable, "-m", "pbm"]
    programs = ["pbm"] + list(games.names())
    script = SCRIPTS[shell].replace("@PROGRAMS@", " ".join(programs)).replace("@PBM@", shlex.join(pbm))
    answer(script.rstrip(), {"shell": shell, "script": script})


@commands.command(hidden=True)
def complete() -> None:
    """Offer words for the last one of a line, which is read from standard input, a word a line, the program first."""
    program, *before = sys.stdin.read().removesuffix("\n").split("\n")
    current = before.pop() if before else ""
    name = Path(program).name.lower()
    if games.exists(name):  # as in `spiro move`
        before.insert(0, name)
    candidates = _candidates(before, current)
    offered = [word for word in candidates if word.startswith(current.lower())]
    answer("\n".join(offered), {"offered": offered})


def _candidates(before: Sequence[str], current: str) -> Sequence[str]:
    """The words that may replace *current* behind those *before*, no matter how they begin."""
    given = (word for word in before if not word.startswith(OFFERED_ANYWHERE))
    rest = words.tidied(" ".join(given))
    game = next((word.lower() for word in rest if games.exists(word.lower())), "")
    typed = [word.lower() for word in rest]
    first = "".join(typed[:1])
    if arguments.is_operators(typed):
        trees: list[click.Group] = [console.OPERATORS]
    elif len(rest) == 1 and first in arguments.MODULES:  # the next word tells an operator's command from a player's
        trees = [console.OPERATORS, root]
    else:
        trees = [root]
    return [word for tree in trees for word in _offered_in(tree, rest, game, current)]


def _offered_in(tree: click.Group, typed: Sequence[str], game: str, current: str) -> Sequence[str]:
    """The words of a tree of commands that may stand behind those *typed*, no matter how they begin."""
    node: click.Command | None = tree
    rest = list(typed)
    while isinstance(node, click.Group) and rest:
        word = rest.pop(0)
        ctx = click.Context(node)
        node = node.get_command(ctx, word.lower()) or node.get_command(ctx, words.command(word))
    if node is None:
        return []
    if isinstance(node, click.Group):
        return OFFERED_ANYWHERE if current.startswith("-") else _names(node)
    behind = _behind(node, rest)
    if behind is None:
        return []
    is_move = False
    if isinstance(node, Command):
        _, _, is_move = node.split(rest + [current])
    if current.startswith("-"):
        if is_move:  # which may begin with a hyphen, as `-e3` of Symple does
            return OFFERED_ANYWHERE
        return list(OFFERED_ANYWHERE) + list(_options(node, game, current))
    states = STATES_OF_POOLS.get(str(node.name))
    if states and not behind:
        return _pools(game, states)
    if is_move:
        return []
    return _values(_kind(node, len(behind)), game, current)


def _names(group: click.Group) -> list[str]:
    """The words that may follow the name of a group of commands."""
    names = [name for name, command in group.commands.items() if not command.hidden]
    if group is root:
        names += games.names()
        names += [name for name in arguments.MODULES if name != complete.name]
    return names


def _behind(node: click.Command, rest: Sequence[str]) -> list[str] | None:
    """The words behind a command without options and their values; None if the value of an option comes next."""
    if isinstance(node, Command):
        return node.split(rest)[1]
    takers = {name for option in _own_options(node) if not option.is_flag for name in option.opts}
    behind: list[str] = []
    takes = False
    for word in rest:
        if not takes and not words.is_option(word):
            behind.append(word)
        takes = not takes and word in takers
    return None if takes else behind


def _options(node: click.Command, game: str, current: str) -> Iterator[str]:
    """The options of a command; those that take a value end in an equals sign."""
    if isinstance(node, Command):
        takes_game_options = node.takes_options
        for name, value in node.named.items():
            yield f"--{name}=" if value else f"--{name}"
    else:
        takes_game_options = "ignore_unknown_options" in node.context_settings
        for option in _own_options(node):
            yield option.opts[0] if option.is_flag else f"{option.opts[0]}="
    if not (game and takes_game_options):
        return
    for game_option in games.load(game).OPTIONS:
        values = game_option.values
        if values is None:
            yield f"-{game_option.name}"
            continue
        begin = f"-{game_option.name}="
        if isinstance(values, tuple) and current.lower().startswith(begin):
            for word in values:
                yield f"{begin}{word}"
        else:
            yield begin


def _own_options(node: click.Command) -> list[click.Option]:
    """The options of an operator's command, without its arguments."""
    return [parameter for parameter in node.params if isinstance(parameter, click.Option)]


def _kind(node: click.Command, number: int) -> str:
    """The name of a word behind a command in its syntax, such as `USERID`; for a choice, all its values.

    *number* counts these words from 0.
    """
    ctx = click.Context(node)
    arguments = [parameter for parameter in node.params if isinstance(parameter, click.Argument)]
    kinds: list[str] = []
    for argument in arguments:
        if isinstance(argument.type, click.Choice):
            kinds.append(" ".join(argument.type.choices))
            continue
        for word in argument.make_metavar(ctx).split():
            named = re.findall("[A-Z_]+", word)
            kinds += ["|".join(named)] if "|" in word else named
    if number < len(kinds):
        return kinds[number]
    is_last_repeated = arguments and arguments[-1].nargs < 0
    return kinds[-1] if is_last_repeated else ""


def _values(kind: str, game: str, current: str) -> Sequence[str]:
    """The values of a word of that kind."""
    if "|" in kind:
        return [value for part in kind.split("|") for value in _values(part, game, current)]
    if not kind.isupper():
        return kind.split()
    match noun := kind.rpartition("_")[2].removesuffix("S"):
        case "GAME":
            return games.names()
        case "COMMAND":
            return _names(root.game)
        case "SUBJECT":
            return _names(root) + _names(root.game) + subjects()
        case "DIRECTION":
            from pbm.actions.directing import DIRECTIONS  # saves a sixth of the time of every other key

            return list(DIRECTIONS)
        case "BOARD":
            return _boards(game)
        case "POOL":
            return _pools(game)
        case "USERID" | "SELECTOR":
            selectors = list(STATES + KINDS) if noun == "SELECTOR" and current else []
            return selectors + _userids(game, current.lower())
    return []


def _boards(game: str) -> list[str]:
    """The newest active boards of a game."""
    if os.environ.get("PBM_SERVER"):
        boards = [board["board"] for board in _from_server(f"{game} games").get("boards", [])]
        return boards[: -MOST_OFFERED - 1 : -1]
    active = BoardFilter([game], over=False)
    return _from_store(lambda store: [board for _, board in store.boards.names(active, "rowid DESC", MOST_OFFERED)])


def _pools(game: str, states: Sequence[str] = ()) -> list[str]:
    """The newest pools of a game, perhaps only those in some *states*."""
    if os.environ.get("PBM_SERVER"):
        pools = _from_server(f"{game} table").get("tournaments", [])
        return [pool["pool"] for pool in pools if not states or pool["state"] in states]
    return _from_store(lambda store: store.tournaments.newest(game, MOST_OFFERED, states))


def _userids(game: str, begin: str) -> list[str]:
    """The users with userids that begin in this way; for a server elsewhere, those in the standings of the game."""
    if os.environ.get("PBM_SERVER"):
        standings: Mapping[str, Any] = {}
        if game:
            standings = _from_server(f"{game} standings")
        users = [user["userid"] for name in ("players", "seekers") for user in standings.get(name, [])]
        return [userid for userid in users if userid.startswith(begin)][:MOST_OFFERED]
    return _from_store(lambda store: store.users.ids_from(begin, MOST_OFFERED))


def _from_server(line: str) -> Mapping[str, Any]:
    """What the server elsewhere answers to a command; empty if it does not answer at once."""
    try:
        server = client.from_environment()
    except client.NoAnswer:
        return {}
    return server.look_up(line) if server else {}


def _from_store(find: Callable[[Store], list[str]]) -> list[str]:
    """What *find* returns for the database; nothing if there is none that can be read."""
    try:
        with Store(database_path(), read_only=True) as store, store.reading():
            return find(store)
    except Unusable:
        return []
