"""The commands of a group of click, for tests that try each of them.

``dict(commands_of(root()))["change password"]`` is the command that is typed as ``pbm change password``.
"""

from collections.abc import Iterator

from pbm.language.grammar import Command, Group


def commands_of(group: Group, prefix: str = "") -> Iterator[tuple[str, Command]]:
    """All commands below a group, each with the words that lead to it, such as ``change password``."""
    for name, command in group.commands.items():
        if isinstance(command, Group):
            yield from commands_of(command, f"{prefix}{name} ")
        elif isinstance(command, Command):
            yield f"{prefix}{name}", command
