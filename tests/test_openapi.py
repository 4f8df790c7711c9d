"""docs/openapi.json, for those who write clients: it is sound and whole, and the answers of the service fit it."""

import json
import re
from http import HTTPStatus
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from pbm.access import tokens
from pbm.passwords import Passwords
from pbm.server import Server
from pbm.service.web import WebServer
from pbm.store import Store

from helpers.club import PASSWORDS
from helpers.mail import ADDRESS
from helpers.schema import RECORD, SCHEMA
from helpers.shell import Shell
from helpers.streams import reading
from helpers.web import serving

DOCS = Path(__file__).parent.parent / "docs"
API = json.loads((DOCS / "openapi.json").read_text())
HERE = "https://pbm.example/openapi.json"
REGISTRY = Registry().with_resources(
    [
        (HERE, Resource.from_contents(API, default_specification=DRAFT202012)),
        ("https://pbm.example/json-schema.json", Resource.from_contents(SCHEMA)),
        ("https://pbm.example/record-schema.json", Resource.from_contents(RECORD)),
    ]
)
FOR_BROWSERS = {
    "POST /events", "GET /answer", "POST /answer", "POST /guest", "GET /device", "POST /device",
    "GET /device/{link}", "POST /device/{link}", "GET /me", "POST /me", "POST /me/forget",
    "GET /unsubscribe/{token}", "POST /unsubscribe/{token}",
}  # fmt: skip
"""What pages and mail programs ask for; docs/site.md describes it as far as others need it."""
TEXT = {"Content-Type": "text/plain", "Pbm-From": "this machine"}
OBJECT = {"Content-Type": "application/json"}
AS_JSON = {"Accept": "application/json"}
WRONG = {"Authorization": "Bearer pbm_0"}
ASKED = [
    ("POST /command", 200, TEXT, "help"),
    ("POST /command", 200, OBJECT | AS_JSON, '{"line": "symple show 101", "id": "one"}'),
    ("POST /command", 200, TEXT | AS_JSON, "multiple\nsymple showas alice alice-secret 101\nsymple show 999"),
    ("POST /command", 400, TEXT | AS_JSON, "juggle"),
    ("POST /command", 400, OBJECT, "[]"),
    ("POST /command", 401, TEXT | WRONG, "symple move 101 c3"),
    ("POST /command", 401, TEXT | AS_JSON, "symple move 101 alice wrong c3"),
    ("POST /command", 403, TEXT | AS_JSON | {"Origin": "https://elsewhere.example"}, "list"),
    ("POST /command", 413, TEXT | AS_JSON, "x" * 20_001),
    ("POST /command", 415, {"Content-Type": "text/csv"} | AS_JSON, "list"),
    ("POST /command", 422, TEXT | AS_JSON, "symple show 999"),
    ("GET /events", 401, {}, None),
    ("GET /events", 401, WRONG | AS_JSON, None),
    ("GET /events", 403, WRONG | {"Sec-Fetch-Site": "cross-site"}, None),
    ("GET /calendar/{token}.ics", 403, AS_JSON, None),
    ("GET /calendar/{token}.ics", 403, {}, None),
    ("GET /health", 200, {}, None),
]


def described(operation):
    """What the file says of an operation, such as `POST /command`."""
    method, path = operation.split()
    return API["paths"][path][method.lower()]


def whole(part):
    """A part of the file; where another one stands for it, that."""
    while set(part) == {"$ref"}:
        part = REGISTRY.resolver(HERE).lookup(part["$ref"]).contents
    return part


def check(value, schema):
    """Assert that a value fits a schema in the file."""
    schema = {"$id": HERE, "components": API["components"], "allOf": [schema]}
    jsonschema.Draft202012Validator(schema, registry=REGISTRY).validate(value)


def check_response(operation, status, headers, body):
    """Assert that the file describes a response."""
    response = whole(described(operation)["responses"][str(status)])
    for name, header in response.get("headers", {}).items():
        schema = whole(header)["schema"]
        check(int(headers[name]) if schema.get("type") == "integer" else headers[name], schema)
    kind = headers["Content-Type"].partition(";")[0]
    schema = response["content"][kind]["schema"]
    check(json.loads(body) if kind == "application/json" else body, schema)


def test_it_is_an_openapi_description_without_faults():
    validator = pytest.importorskip("openapi_spec_validator")  # takes a second, which other tests need not wait
    validator.validate(API, base_uri=(DOCS / "openapi.json").as_uri())


def test_it_has_whatever_the_service_answers_but_for_what_browsers_ask_for(club):
    offered = set()
    for route in WebServer(club.server, None, None, "").app.routes:
        offered |= {f"{method} {route.path}" for method in route.methods - {"HEAD"}}
    described_here = {f"{method.upper()} {path}" for path, methods in API["paths"].items() for method in methods}
    assert described_here == offered - FOR_BROWSERS
    assert offered >= FOR_BROWSERS


def test_its_statuses_of_a_command_are_those_of_the_page_on_http():
    table = (DOCS / "http.md").read_text().partition("| status | when |")[2].partition("\n\n")[0]
    told = {status for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE) for status in row.split(", ")}
    assert told - {str(int(HTTPStatus.METHOD_NOT_ALLOWED))} == {*described("POST /command")["responses"]}


def test_its_examples_of_what_is_posted_fit():
    contents = described("POST /command")["requestBody"]["content"]
    for content in contents.values():
        check(content["example"], content["schema"])


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server with a board."""
    shell = Shell(tmp_path_factory.mktemp("openapi"))
    shell.sign_up("alice", "bob", has_mail=True)
    shell.run("symple", "challenge", "-size=5", "alice", "bob")
    with serving(shell) as server:
        yield server


@pytest.mark.parametrize(("operation", "status", "headers", "body"), ASKED)
def test_a_response_of_the_service_fits(served, operation, status, headers, body):
    method, path = operation.split()
    answered, found, text = served.ask(method, path.replace("{token}", "none"), body, **headers)
    assert answered == status
    check_response(operation, status, found, text)


def test_what_is_answered_to_a_token_fits(served):
    made = served.ask("POST", "/command", f"token alice {PASSWORDS['alice']} laptop", **TEXT, **AS_JSON)[2]
    token = {"Authorization": f"Bearer {json.loads(made)['token']}"}
    posted = {"line": "symple move 101 c3", "comment": "Hello bob", "id": "my-move-1"}
    check(posted, described("POST /command")["requestBody"]["content"]["application/json"]["schema"])
    # the second one comes again, and the third is another line with the same id
    for line, expected in (posted["line"], 200), (posted["line"], 200), ("symple move 101 d4", 409):
        body = json.dumps(posted | {"line": line})
        status, headers, answer = served.ask("POST", "/command", body, **OBJECT, **AS_JSON, **token)
        assert status == expected
        check_response("POST /command", status, headers, answer)
    with reading(served, **token) as stream:
        check_response("GET /events", stream.status, stream.response.headers, "")
        assert next(stream).data["moves"] == 1


def test_a_calendar_of_a_user_fits(served):
    with Store(served.shell.folder / "pbm.db") as store:
        [mine] = [address.number for address in store.users.addresses("alice")]
        token = tokens.calendar_token(Server(store, ADDRESS, Passwords()), "alice", mine)
    status, headers, body = served.ask("GET", f"/calendar/{token}.ics")
    assert status == 200
    check_response("GET /calendar/{token}.ics", status, headers, body)
