"""Other versions of pbm, for tests: the next one, and the first release.

The next one has one migration more than this one, which adds a table: ``next_version.install(monkeypatch.setattr)``.
"""

from collections.abc import Callable, Sequence

from sqlite_utils import Database, Migrations

from pbm import store
from pbm.store import SCHEMA, base, schema

NEXT_SCHEMA = SCHEMA + 1
OURS = [
    schema.first_tables,
    schema.removed_boards,
    schema.bars,
    schema.muted,
    schema.reinstated,
    schema.growing_clocks,
    schema.notices,
    schema.talk,
    schema.absences,
    schema.tokens,
    schema.board_states,
    schema.notice_targets,
    schema.states_with_given_days,
    schema.operator_requests,
]
"""The migrations of this version."""


def inventions(db: Database) -> None:
    """One table more."""
    db.table("inventions").create({"name": str}, pk="name", strict=True)


Patch = Callable[[object, str, object], None]
"""Sets an attribute of a module, as `setattr` does."""


def install(patch: Patch = setattr) -> None:
    """Let this process be the next version."""
    install_steps(patch, [*OURS, inventions])


def install_first_release(patch: Patch) -> None:
    """Let this process make databases as the first release did."""
    install_steps(patch, OURS[:1])


def install_steps(patch: Patch, steps: Sequence[Callable[[Database], None]]) -> None:
    """Let this process make tables by these migrations alone, as the version with these migrations does."""
    number = base.FIRST_SCHEMA + len(steps) - 1
    migrations = Migrations("pbm")
    for step in steps:
        migrations()(step)
    patch(schema, "migrations", migrations)
    for module in (store, base, schema):
        patch(module, "SCHEMA", number)
