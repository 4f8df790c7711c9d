"""The schema of what --json prints.

``check(shell.json("users"), "users")`` raises jsonschema.ValidationError if that is no object of the schema.
"""

import json
from pathlib import Path

import jsonschema
from referencing import Registry, Resource

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "json-schema.json").read_text())
RECORD = json.loads((DOCS / "record-schema.json").read_text())
REGISTRY = Registry().with_resource("record-schema.json", Resource.from_contents(RECORD))


def check(answer, name):
    """Assert that an answer is an object of the schema, and of the whole schema, too."""
    for definition in (name, "answer"):
        schema = SCHEMA | {"$ref": f"#/$defs/{definition}"}
        jsonschema.Draft202012Validator(schema, registry=REGISTRY).validate(answer)
