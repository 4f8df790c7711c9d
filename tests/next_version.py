"""The next version of pbm, for tests: it has one migration more than this one, which adds a table."""

from collections.abc import Callable

from sqlite_utils import Database, Migrations

from pbm import store
from pbm.store import SCHEMA, base, schema

NEXT_SCHEMA = SCHEMA + 1


def inventions(db: Database) -> None:
    """One table more."""
    db.table("inventions").create({"name": str}, pk="name", strict=True)


def install(patch: Callable[[object, str, object], None] = setattr) -> None:
    """Let this process be the next version."""
    migrations = Migrations("pbm")
    for one in (schema.first_tables, inventions):
        migrations()(one)
    patch(schema, "migrations", migrations)
    for module in (store, base, schema):
        patch(module, "SCHEMA", NEXT_SCHEMA)
