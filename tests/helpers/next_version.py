"""Other versions of pbm, for tests: the next one, and the first release.

The next one has one migration more than this one, which adds a table: ``next_version.install(monkeypatch.setattr)``.
"""

from collections.abc import Callable, Sequence

from sqlite_utils import Database, Migrations

from pbm import store
from pbm.store import SCHEMA, base, schema

NEXT_SCHEMA = SCHEMA + 1


def inventions(db: Database) -> None:
    """One table more."""
    db.table("inventions").create({"name": str}, pk="name", strict=True)


Patch = Callable[[object, str, object], None]
"""Sets an attribute of a module, as `setattr` does."""


def install(patch: Patch = setattr) -> None:
    """Let this process be the next version."""
    steps = [
        schema.first_tables,
        schema.removed_boards,
        schema.bars,
        schema.muted,
        schema.reinstated,
        schema.growing_clocks,
        schema.notices,
        inventions,
    ]
    _install(patch, steps, NEXT_SCHEMA)


def install_first_release(patch: Patch) -> None:
    """Let this process make databases as the first release did."""
    _install(patch, [schema.first_tables], base.FIRST_SCHEMA)


def _install(patch: Patch, steps: Sequence[Callable[[Database], None]], number: int) -> None:
    """Let this process make tables by these migrations, which is the schema of that number."""
    migrations = Migrations("pbm")
    for step in steps:
        migrations()(step)
    patch(schema, "migrations", migrations)
    for module in (store, base, schema):
        patch(module, "SCHEMA", number)
