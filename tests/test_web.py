"""The web server: what is posted on a page is an answer by mail; a GET changes nothing; strangers have limits."""

import asyncio
import email.policy
import gzip
import http.client
import json
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from email import message_from_bytes
from pathlib import Path
from statistics import mean
from urllib.parse import urlencode

import pytest
from icalendar import Calendar
from starlette.exceptions import HTTPException
from starlette.requests import Request

from pbm.access import tokens
from pbm.actions import cleanup, users
from pbm.actions.turns import start, store_turns
from pbm.board.clocks import Clocks
from pbm.mail.incoming import handle_prepared, posted, prepare_mail
from pbm.mail.writing import compose
from pbm.passwords import Passwords
from pbm.refusals import Refused
from pbm.server import Server
from pbm.service.boards import BoardPosts
from pbm.service.context import WebContext
from pbm.service.error_pages import error_response
from pbm.service.web import Files, WebServer
from pbm.session import Session
from pbm.site.build import MANIFEST, build
from pbm.site.pages import SiteSettings
from pbm.store import Reply, Store
from pbm.texts import wrapped_text

from helpers.answers import answer_to, turns, written
from helpers.club import PASSWORDS, Club, begin_symple
from helpers.database import sql, stored
from helpers.examples import IS_QUICK
from helpers.mail import ADDRESS, handle, message, outcome_of
from helpers.patience import children_of, until
from helpers.servers import arrived
from helpers.shell import Shell
from helpers.web import AS_JSON, FORM, serving, token_of

FORGED = "r1-0123456789abcdef0123456789abcdef"
MANY = 40
"""How many boards alice and bob have."""


def alice_and_bob(shell):
    """Many boards of Symple, on which alice is to move; no mail waits, each with a picture that is to be drawn."""
    shell.sign_up("alice", "bob", has_mail=True)
    lines = "\n".join(["symple challenge -size=9 alice bob"] * MANY)
    shell.run("multiple", "--comment=-", stdin=lines)
    sql(shell.folder / "pbm.db", "DELETE FROM outbox")


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A server that runs during all tests, with a site."""
    shell = Shell(tmp_path_factory.mktemp("web"))
    shell.become(alice_and_bob)
    (shell.folder / "site").mkdir()
    (shell.folder / "secret.html").write_text("nobody's business")
    with serving(shell, f"--site={shell.folder}/site", "--url=https://known.example/") as served:
        until((shell.folder / "site" / MANIFEST).exists)
        yield served
    log = (shell.folder / "log").read_text()
    assert "Traceback" not in log
    assert tokens.masked(log) == log


# Answers


def test_a_move_that_is_posted_is_played_and_the_answer_is_what_a_shell_prints(web):
    status, told = web.post(token=web.token(), text="e5", comment="Hello bob")
    assert status == 200
    assert web.moves() == ["e5"]
    assert told["text"] == web.shell.done("symple", "showas", "alice", PASSWORDS["alice"], "101").strip()
    assert (told["userid"], told["board"], told["turn"], told["repeated"]) == ("alice", "101", "bob", False)
    assert told["position"]["cells"] == {"e5": "W"}
    assert arrived(web.shell, "bob", "Hello bob")


def test_a_reader_sees_their_board_their_plan_and_their_notes_and_nothing_is_stored_of_that(web):
    token = web.token("bob", "102")
    status, told = web.post(token=token, text="note", comment="Watch the corner", known="none")
    assert (status, told["turn"], told["over"]) == (200, "alice", False)
    assert web.post(token=token, text="plan if any then c3")[0] == 200
    before = everything(web.shell)
    status, told = web.post(token=token, text="show")
    assert (status, told["plan"]) == (200, ["if any then c3"])
    assert told["notes"].endswith(": Watch the corner")
    mine = web.post(token=token, known="none")[1]["html"]["mine"]
    assert "Watch the corner</pre>" in mine
    assert ">if any then c3</pre>" in mine
    assert "Watch the corner" not in str(web.post(token=web.token("alice", "102"), known="none")[1])
    status, told = web.post(token=web.token("alice", "102"), text="preview e5")
    assert (status, told["position"]["cells"]) == (200, {"e5": "W"})
    assert web.post(token=web.token("alice", "102"), text="preview z9")[0] == 422
    status, told = web.post(token=web.token("alice", "102"), text="preview e5", known="none")
    assert (status, told["whole"], told["hint"]) == (200, True, "e5 founds a group.")
    assert 'class="ghost white"' in told["over"]
    status, told = web.post(token=web.token("alice", "102"), text="preview z9", known="none")
    assert status == 200
    assert told == {"error": "There is no point z9 on this board; columns go from a to i, rows from 1 to 9."}
    assert everything(web.shell) == before


def test_without_a_script_a_form_leads_to_a_page_with_the_letter_and_keeps_what_was_refused(web):
    assert 'action="answer"' in web.ask("GET", "/answer", Accept="text/html")[2]
    token = web.token("alice", "103")
    fields = {"token": f"pbm+{token.upper()}@pbm.example", "text": "z9", "comment": "Hello bob"}
    status, headers, body = web.submit(fields)
    assert (status, headers["Content-Type"]) == (422, "text/html; charset=utf-8")
    assert "There is no point z9 on this board; columns go from a to i, rows from 1 to 9." in body
    assert 'value="z9"' in body
    assert ">Hello bob</textarea>" in body
    _, _, body = web.submit(fields | {"text": "<b>"})
    assert "&lt;b&gt;" in body
    assert "<b>" not in body
    form = {"Accept": "text/html,*/*", "Origin": "null", "Sec_Fetch_Site": "same-origin"}
    _, by_form, _ = web.submit(fields | {"text": "c3"}, **form)
    body = json.dumps({"token": web.token("alice", "104"), "text": "a1"})
    _, by_json, _ = web.ask("POST", "/answer", body, Content_Type="application/json; charset=utf-8")
    for headers, shown in ((by_form, "1.    c3"), (by_json, "Summary: Symple board 104")):
        status, _, body = web.ask("GET", f"/{headers['Location']}")
        assert (status, shown in body, token in headers["Location"]) == (200, True, False)


@pytest.mark.parametrize(
    "token", ["", "r1", FORGED, f"x{FORGED}", f"pbm+{FORGED}@pbm.example", FORGED.replace("r", "u")]
)
def test_a_token_that_is_none_does_nothing(web, token):
    before = everything(web.shell)
    status, told = web.post(token=token, text="e5")
    assert (status, told["status"]) == (403, 403)
    assert everything(web.shell) == before


def test_a_token_that_is_broken_and_one_of_another_board_say_so(web):
    before = everything(web.shell)
    whole = web.token("alice", "101")
    for broken in (whole[:-1], whole[:20], f"{whole}x", "u" + whole[1:], "alice"):
        status, said = web.post(token=broken, text="e5")
        assert (status, said["error"][:31]) == (403, "This link is not whole, or wron")
    status, said = web.post(token=FORGED, text="e5")
    assert (status, said["error"][:40]) == (403, "You can no longer answer from this page:")
    status, said = web.post(token=whole, text="e5", game="symple", board="102")
    assert (status, said["error"]) == (
        403,
        "This link is for Symple board 101, not for the board of this page; nothing was done.",
    )
    assert everything(web.shell) == before
    assert web.post(token=whole, text="show", game="Symple", board="101")[0] == 200


@pytest.mark.parametrize("path", ["/", "/symple/index.html", "/users/alice.html"])
def test_before_the_site_is_built_its_pages_come_by_themselves_some_seconds_later(club, tmp_path, path):
    context = WebContext(club.server, str(tmp_path), "")
    asked = Request({"type": "http", "method": "GET", "path": path, "headers": []})
    response = error_response(context, asked, HTTPException(404))
    assert (response.status_code, response.headers["Retry-After"], response.headers["Refresh"]) == (503, "5", "5")
    assert b"written for the first time" in response.body
    (tmp_path / MANIFEST).touch()
    response = error_response(context, asked, HTTPException(404))
    assert (response.status_code, response.headers.get("Refresh")) == (404, None)


def test_an_error_is_a_page_for_people_without_a_form_and_a_form_keeps_what_was_typed(web):
    path, token = web.shell.folder / "pbm.db", web.token("bob", "136")
    web.shell.done("boards", "remove", "symple", "136", "--yes")
    for method, address, status in (
        ("GET", "/nothing", 404),
        ("GET", "/symple/9999.html", 404),
        ("POST", "/unsubscribe/u1-0123456789abcdef0123456789abcdef", 403),
        ("GET", "/calendar/c1-0123456789abcdef0123456789abcdef.ics", 403),
        ("POST", "/symple/101.html", 405),
    ):
        code, headers, body = web.ask(method, address, Accept="text/html")
        assert (code, headers["Content-Type"]) == (status, "text/html; charset=utf-8")
        assert "<form" not in body
        assert f"Error {status}." in body
        assert '<p role="alert">' in body
    sql(path, "ALTER TABLE quotas RENAME TO hidden")
    code, _, body = web.submit({"game": "symple"}, "/guest")
    sql(path, "ALTER TABLE hidden RENAME TO quotas")
    assert (code, "<form" in body) == (503, False)
    for wrong, status in ((token, 410), (FORGED, 403), ("r1-0", 403)):
        code, _, body = web.submit({"token": wrong, "text": "c3", "comment": "Hello <bob>"})
        assert code == status
        assert 'value="c3"' in body
        assert ">Hello &lt;bob&gt;</textarea>" in body


@pytest.mark.parametrize("path", ["/.pbm-site.json", "/.pbm-site.pages", "/symple/.hidden.html", "/.git/config"])
def test_no_file_whose_name_begins_with_a_dot_is_handed_out(web, path):
    file = web.shell.folder / "site" / path[1:]
    file.parent.mkdir(exist_ok=True)
    if not file.exists():
        file.write_text("nobody's business")
    assert web.ask("GET", path)[0] == 404
    assert web.ask("GET", path.replace(".", "%2e"))[0] == 404


def test_search_engines_are_told_what_is_not_for_them(web):
    status, headers, body = web.ask("GET", "/robots.txt")
    assert (status, headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert body == (
        "User-agent: *\nDisallow: /answer\nDisallow: /calendar/\nDisallow: /device\nDisallow: /me\n"
        "Disallow: /unsubscribe/\n"
        "Sitemap: https://known.example/sitemap.xml\n"
    )


def test_a_board_that_is_removed_has_no_page_and_whoever_has_its_page_open_is_told_so(web):
    token, page = web.token("bob", "139"), web.shell.folder / "site" / "symple" / "139.html"
    assert web.post(token=token, text="show")[0] == 200
    web.shell.done("boards", "remove", "symple", "139", "--yes")
    for text in ("show", "c3", "help"):
        assert web.post(token=token, text=text) == (410, {"error": "This board has been removed.", "status": 410})
    assert "This board has been removed." in web.submit({"token": token, "text": "c3"})[2]
    until(lambda: not page.exists())
    status, _, text = web.ask("GET", "/symple/139.html")
    assert status == 404
    assert "that board may have been removed" in text


def test_a_user_whose_every_address_is_barred_cannot_post_and_learns_why(web):
    shell = web.shell
    shell.run("signup", "eve", "eve-secret", "eve@spam.example", "eve@mail.example")
    token = web.token("eve", shell.json("symple", "challenge", "-size=9", "eve", "bob")["board"])
    shell.done("users", "bar", "@spam.example")
    assert web.post(token=token, text="show")[0] == 200
    shell.done("users", "bar", "eve@mail.example")
    why = "The operator of this server takes nothing that comes from your address."
    assert web.post(token=token, text="c3") == (403, {"error": why, "status": 403})
    shell.done("users", "unbar", "eve@mail.example")
    assert web.post(token=token, text="c3")[0] == 200


def test_a_token_for_something_else_and_one_that_a_new_password_has_revoked_answer_nothing(web):
    shell = web.shell
    shell.run("signup", "dora", "dora-secret", "dora@players.example")
    board = shell.json("symple", "challenge", "-size=9", "dora", "bob")["board"]
    token = web.token("dora", board)
    assert web.post(token=token, text="show")[0] == 200
    with Store(shell.folder / "pbm.db") as store:
        server = Server(store, ADDRESS, Passwords())
        others = [
            tokens.calendar_token(server, "dora", store.users.addresses("dora")[0].number),
            tokens.token_of(tokens.unsubscribe_address(server, Reply("", "", "dora"), 1)),
        ]
    shell.run("change", "password", "dora", "dora-secret", "new-secret")
    assert [web.post(token=each, text="show")[0] for each in [token, *others]] == [403, 403, 403]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "https://[evil"}, 403),
        ({"Origin": "https://evil.example", "Sec_Fetch_Site": "same-origin"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "null", "Sec_Fetch_Site": "cross-site"}, 403),
        ({"Origin": "null", "Sec_Fetch_Site": "same-origin"}, 200),
        ({"Host": "evil.example", "Origin": "null", "Sec_Fetch_Site": "same-origin"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example", "Sec_Fetch_Site": "same-origin"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        ({"Host": "known.example", "Origin": "null", "Sec_Fetch_Site": "same-origin"}, 200),
        ({"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8080", "Sec_Fetch_Site": "same-origin"}, 200),
        ({"Host": "127.0.0.1:8080", "Origin": "http://127.0.0.1:8081"}, 403),
        ({"Host": "games.example", "Origin": "https://games.example.evil.example"}, 403),
        ({"Host": "games.example:8443", "Origin": "https://games.example"}, 403),
        ({"Host": "known.example", "Origin": "https://known.example"}, 200),
        ({"Host": "known.example", "Origin": "http://known.example"}, 403),
        ({}, 200),
    ],
)
def test_a_page_of_another_site_can_post_nothing(web, headers, status):
    assert web.post(token=web.token(), text="show", headers=AS_JSON | headers)[0] == status
    assert web.submit({"game": "nothing"}, "/guest", **headers)[0] == (403 if status == 403 else 422)
    assert web.ask("POST", "/command", "list", Content_Type="text/plain", **headers)[0] == status


@pytest.mark.parametrize(
    ("method", "path", "body", "kind", "status"),
    [
        ("POST", "/answer", b"x" * 20_001, FORM, 413),
        ("POST", "/answer", [b"x" * 10_001] * 2, "application/json", 413),
        ("POST", "/answer", b"{}", "text/plain", 415),
        ("POST", "/answer", b'{"token": "\\ud800", "text": "\\ud800"}', "application/json", 403),
        ("POST", "/answer", b"[]", "application/json", 400),
        ("POST", "/answer", b"[" * 20_000, "application/json", 400),
        ("POST", "/answer", b"\xff", "application/json", 400),
        ("PUT", "/answer", b"", "application/json", 405),
        ("GET", "/guest", None, "", 404),
        ("POST", "/symple/101.html", b"", "", 405),
        ("GET", "/answer/nothing", None, "", 404),
        ("GET", "/../secret.html", None, "", 404),
        ("GET", "/%2e%2e/secret.html", None, "", 404),
        ("GET", "/calendar/c1-0123456789abcdef0123456789abcdef.ics", None, "", 403),
        ("POST", "/unsubscribe/u1-0123456789abcdef0123456789abcdef", b"List-Unsubscribe=One-Click", "", 403),
    ],
)
def test_what_cannot_be_done_says_so(web, method, path, body, kind, status):
    assert web.ask(method, path, body, Content_Type=kind)[0] == status


def test_what_is_said_on_a_page_is_read_there_by_both_players_and_by_nobody_else(web):
    alice, bob = (web.token(name, "137") for name in ("alice", "bob"))
    web.post(token=alice, text="chat\nNice weather.")
    _, answer = web.post(token=bob, text="talk")
    assert "alice, chat: Nice weather." in answer["text"]
    assert "<p>Nice weather.</p>" in web.post(token=bob, known="none")[1]["talk"]["html"]
    assert "Nice weather" not in web.ask("GET", "/symple/137.html")[2]


def test_a_command_that_only_mails_answer_is_done_on_a_page_and_says_so(web):
    status, found = web.post(token=web.token(), text="symple challenge -size=9 alice bob")
    assert (status, found["text"], found.get("error")) == (200, "Done; a mail says more.", None)
    assert web.submit({"token": web.token(), "text": "symple challenge -size=9 alice bob"})[0] == 303


def test_what_is_done_is_not_told_as_a_failure_though_the_page_of_a_damaged_board_cannot_be_shown(web):
    path, token = web.shell.folder / "pbm.db", web.token("alice", "138")
    sql(path, "UPDATE boards SET options = '-size=1' WHERE board = '138'")
    status, found = web.post(token=token, text="block bob", known="none")
    sql(path, "UPDATE boards SET options = '-size=9' WHERE board = '138'")
    assert (status, "steps" in found) == (200, False)
    assert web.post(token=token, text="unblock bob")[0] == 200


def test_half_a_character_in_what_is_posted_is_no_fault_of_the_server(web):
    body = json.dumps({"token": web.token(), "text": "note", "comment": "Look at \ud800", "id": "\ud800"})
    assert web.ask("POST", "/answer", body, Content_Type="application/json")[0] == 303


def test_null_in_what_is_posted_is_no_text(web):
    body = json.dumps({"token": web.token("bob", "102"), "text": "chat", "comment": None, "id": None})
    assert "A chat needs a text" in web.ask("POST", "/answer", body, Content_Type="application/json")[2]


def test_the_site_is_handed_out_with_the_headers_of_its_pages(web):
    for path in ("/", "/symple/101.html", "/site.css", "/board.js", "/answer", "/nothing"):
        status, headers, _ = web.ask("GET", path)
        assert (status == 200) == (path != "/nothing")
        policy = headers["Content-Security-Policy"]
        assert {"connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'"} <= {*policy.split("; ")}
        again, _, none = web.ask("HEAD", path)
        assert (again, none) == (status, "")
    assert "Symple board 101" in web.ask("GET", "/symple/101.html")[2]


def test_a_page_that_is_written_anew_while_it_is_asked_for_is_sent_whole(tmp_path):
    sent = []

    async def ask():
        (tmp_path / "page.html").write_text("before")
        asked = {"type": "http", "method": "GET", "path": "/page.html", "headers": [], "asgi": {"spec_version": "2.4"}}
        response = await Files(directory=tmp_path).get_response("page.html", asked)
        (tmp_path / "page.html").write_text("after that")
        await response(asked, None, send)

    async def send(part):
        sent.append(part)

    asyncio.run(ask())
    [length] = [int(value) for name, value in sent[0]["headers"] if name == b"content-length"]
    assert b"".join(part.get("body", b"") for part in sent) in {b"before", b"after that"}
    assert length == sum(len(part.get("body", b"")) for part in sent)


def test_pages_post_only_where_they_are_told_of_a_web_server(web, tmp_path):
    for options in ([], ["--web"]):
        web.shell.run("site", *options, str(tmp_path / "pages"))
        board, game = ((tmp_path / "pages" / "symple" / name).read_text() for name in ("109.html", "index.html"))
        found = ["data-url" in board, "<noscript>" in board, 'action="../guest"' in game]
        assert found == [bool(options)] * 3
        assert ("mailto:pbm+TOKEN@pbm.example" in board) == (not options)


def test_what_is_posted_twice_with_one_id_acts_once(web):
    token = web.token("alice", "105")
    assert [web.post(token=token, text="z9", id="one")[0] for _ in range(2)] == [422, 422]  # nothing was done
    assert web.post(token=token, text="e5", id="one")[1]["repeated"] is False
    status, told = web.post(token=token, text="e5", id="one")
    assert (status, told["repeated"], told["turn"]) == (200, True, "bob")
    with ThreadPoolExecutor(8) as pool:
        posts = [pool.submit(web.post, token=web.token("bob", "105"), text="a1", id="two") for _ in range(8)]
        told = [post.result() for post in posts]
    assert [status for status, _ in told] == [200] * 8
    assert sum(not each["repeated"] for _, each in told) == 1
    assert web.moves("105") == ["e5", "a1"]


def test_of_a_mail_and_a_post_of_the_same_turn_one_is_played(web):
    for board in ("106", "107", "108"):
        token = web.token("alice", board)

        def by_mail(cell, address=f"pbm+{token}@pbm.example"):
            web.mail("alice@players.example", message("Answer", f"{cell}#1"), address)

        with ThreadPoolExecutor(8) as pool:
            mails = [pool.submit(by_mail, cell) for cell in ("a1", "b1", "c1", "d1")]
            posts = [pool.submit(web.post, token=token, text=f"{cell}#1") for cell in ("e1", "f1", "g1", "h1")]
            done = [status for status, _ in (post.result() for post in posts)]
            assert all(mail.result() is None for mail in mails)
        [move] = web.moves(board)
        assert done.count(200) == (move in {"e1", "f1", "g1", "h1"})
        assert {*done} <= {200, 422}


def everything(shell):
    """What the database holds."""
    path = shell.folder / "pbm.db"
    names = [name for (name,) in sql(path, "SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: sql(path, f'SELECT * FROM "{name}"') for name in names if name != "outbox"}


def test_a_get_changes_nothing(web):
    with Store(web.shell.folder / "pbm.db") as store:
        server = Server(store, ADDRESS, Passwords())
        [mine] = [each.number for each in store.users.addresses("alice")]
        calendar = tokens.calendar_token(server, "alice", mine)
        end = tokens.token_of(tokens.unsubscribe_address(server, Reply("", "", "alice"), mine))
    web.shell.run("broadcast", "alice", PASSWORDS["alice"], "on")
    fields = urlencode({"token": web.token("alice", "109"), "text": "e5", "game": "symple"})
    paths = [
        f"/answer?{fields}", "/answer", "/answer/x", f"/guest?{fields}",
        f"/unsubscribe/{end}", f"/calendar/{calendar}.ics",
        "/", "/symple/109.html", f"/symple/109.html?{fields}", "/nothing",
    ]  # fmt: skip
    pages = web.shell.folder / "site"
    until(lambda: time.time() - max(page.stat().st_mtime for page in pages.rglob("*.html")) > 3)
    before = everything(web.shell)

    def get(number):
        method = ("GET", "HEAD")[number % 7 == 0]
        return web.ask(method, paths[number % len(paths)], Accept=("text/html", "application/json")[number % 2])[0]

    with ThreadPoolExecutor(4) as pool:
        statuses = {*pool.map(get, range(200 if IS_QUICK else 10_000))}
    assert statuses == {200, 404}
    assert everything(web.shell) == before


# Odd texts

ODD = [
    "", "e5", "E5", " e5 ", "e5.", "*e5*", "`e5`", "<e5>", "> e5", ">> e5", "e5#1", "e5#2", "e5 #1", "z9", "e5,e6",
    "e5 e6", "move e5", "MOVE", "<MOVE>#1", "pass", "--", "\u2014", "show", "Show.", "preview e5", "preview e5 a1",
    "preview", "queue a1", "submit e5", "confirm", "chat", "chat Hello", "note", "note clear", "history", "help",
    "nag", "give 7", "give x", "resign", "propose", "accept", "undo", "draw", "swap", "rematch", "unsubscribe",
    "plan", "plan if a1 then b1", "if a1 then b1", "plan clear", "plan if", "e5\nif a1 then c1",
    "e5\n\nHello\n-- \nAlice", "e5\nOn Monday bob wrote:\n> hi", "symple move 101 alice alice-secret e5",
    "symple move 101 alice wrong-secret e5", "symple move 101 alice PASSWORD e5", "symple show 101",
    "symple preview 101 e5", "symple challenge alice bob", "symple challenge alice robot1", "all games alice",
    "multiple\nsymple show 101\nsymple move 101 alice alice-secret e5", "signup x y",
    "change password alice alice-secret new-secret", "reset alice", "help symple", "list", "symple standings",
    "nothing that we know", "a" * 3000, "\x00e5", "e5\u200b", "\uff45\uff15", "e5\r\nHello", "e5\rHello", "\u202ee5",
    "\U0001f600", "e5\n" * 500, "<script>", "&amp;", "'; DROP TABLE boards; --", "%65%35", "Re: e5", "e5 (best)",
    "e5!", "e 5", "5e", "e5\te6", "Dear server,\ne5", "subject: e5", "From: bob\n\ne5", "--e5", "=e5",
]  # fmt: skip


def odd_texts(count):
    """More texts, put together from the same parts."""
    rng = random.Random(25)
    words = ["e5", "a1", "#1", "\u2013", "move ", "show", "preview ", "if ", "then ", "alice", "chat\n", "-- \n", "é"]
    parts = [*" ,.;:#>-\n", *words]
    return ["".join(rng.choices(parts, k=rng.randint(1, 8))) for _ in range(count)]


@pytest.fixture
def clubs(club, tmp_path):
    """Two servers at the same state, with the same secrets."""
    other = Club(tmp_path / "other.db")
    yield club, other
    other.store.close()


def state(club):
    """What a text can change, but for the letter that the player gets."""
    tables = ("boards", "turns", "plans", "board_notes", "users", "players", "failures", "quotas", "commands", "events")
    rows = {table: stored(club.store, table) for table in tables}
    for row in rows["users"]:
        row["password"] = row["password"] and club.server.passwords.is_right(row["password"], "new-secret")
    kinds = {"answer", "bytes of answers", "error"}  # of mails that answer, and of mistakes that they answer
    kinds |= {f"signed {kind}" for kind in kinds}
    rows["quotas"] = [row for row in rows["quotas"] if row["kind"] not in kinds]
    return rows


DEADLINE = re.compile("You have .* left, until .*\n\n")


def test_an_odd_text_does_the_same_by_post_and_by_mail(clubs):
    by_mail, by_post = clubs
    for text in [*ODD, *odd_texts(10 if IS_QUICK else 400)]:
        for club in clubs:
            club.become(begin_symple)
        address, sender = answer_to(by_mail), "alice@players.example"
        raw = written("Re: Symple Board 101", text, recipient=address, message_id="<1@players.example>")
        mailed = outcome_of(by_mail.server, raw, sender, [address])
        player, delivery = posted(by_post.server, answer_to(by_post), text, "", "1")
        assert (player.userid, delivery.sender) == ("alice", sender)
        prepared = prepare_mail(by_post.server, delivery)
        outcome = handle_prepared(by_post.server, prepared)
        assert outcome[:3] == mailed[:3], repr(text)
        before, after = state(by_mail), state(by_post)
        if prepared.outcome:  # of what is only asked nothing is counted
            assert {**before, "quotas": [], "commands": []} == {**after, "quotas": [], "commands": []}, repr(text)
        else:
            assert before == after, repr(text)
        # only a mail says until when there is time; a page has a clock
        told = [DEADLINE.sub("", mail.text) for mail in by_mail.mails() if mail.userid in {"alice", None}]
        for letter in outcome.letters:
            body = wrapped_text(letter.body)
            assert any(body in each for each in told) or text.startswith("multiple"), repr(text)
        to_bob = [[mail.text for mail in club.mails("bob")] for club in clubs]
        assert to_bob[0] == to_bob[1], repr(text)


def test_each_refusal_on_a_page_says_why_however_many_there_were(web):
    token = web.token("alice", "110")
    mistakes = web.shell.folder / "pbm.db", "SELECT sum(used) FROM quotas WHERE kind LIKE '%error%'"
    before = sql(*mistakes)
    refused = {
        "z9": "There is no point z9",
        "e5,e6": "a turn founds only one",
        "nonsense, and again": "Write your move alone",
    }
    for text, why in refused.items():
        answers = [web.post(token=token, text=text) for _ in range(9)]
        assert {status for status, _ in answers} == {422}
        assert len({said["error"] for _, said in answers}) == 1
        assert why in answers[-1][1]["error"]
    assert sql(*mistakes) == before
    assert web.post(token=token, text="e5")[0] == 200


# Guests


def test_a_guest_who_was_muted_is_muted_as_a_user(club):
    player, token = users.begin_as_guest(club.server, "symple", "2", ["-size=9"], None)
    club.store.users.change(player.userid, muted=club.time)
    address = tokens.address_with(club.server, token)
    raw = written("signup dora dora-secret", sender="dora@players.example", recipient=address)
    assert handle(club.server, raw, "dora@players.example", [address]) == "command"
    assert club.store.users.is_muted("dora")


def test_a_guest_plays_a_robot_and_keeps_the_board_by_signing_up_by_mail(club):
    player, token = users.begin_as_guest(club.server, "symple", "2", ["-size=9"], None)
    address = tokens.address_with(club.server, token)
    place, delivery = posted(club.server, address, "e5", "", "1")
    assert place == player
    [letter] = handle_prepared(club.server, prepare_mail(club.server, delivery)).letters
    assert letter.data["players"] == {"white": player.userid, "black": "robot2"}
    assert "This game is unrated: a guest plays it." in letter.body
    _, delivery = posted(club.server, address, "rematch", "", "4")
    refused = handle_prepared(club.server, prepare_mail(club.server, delivery))
    assert refused.reason == "Guests begin another game on the page of the game."
    _, delivery = posted(club.server, address, "signup dora dora-secret", "", "2")
    with club.store.writing():
        club.store.robots.ask_for_analysis("symple", player.board, player.userid, club.server.now())
    refused = handle_prepared(club.server, prepare_mail(club.server, delivery))
    assert refused.reason.startswith("A command with a userid comes by mail")
    raw = written("signup dora dora-secret", sender="dora@players.example", recipient=address)
    assert handle(club.server, raw, "dora@players.example", [address]) == "command"
    row = club.store.boards.get("symple", player.board)
    assert (row.first_player, row.second_player, row.turn) == ("dora", "robot2", "robot2")
    assert turns(club) == ["e5"]
    assert not club.store.users.is_taken(player.userid)
    assert posted(club.server, address, "show", "", "3") is None
    assert [mail.subject for mail in club.mails("dora")] == ["New Symple Board 101 robot2"]
    club.say("symple resign 101 dora dora-secret")


def test_guests_are_gone_after_seven_days_with_their_boards(club):
    players = [users.begin_as_guest(club.server, "symple", "1", [], None)[0] for _ in range(2)]
    club.pass_time(days=6)
    late, token = users.begin_as_guest(club.server, "spora", "1", [], None)
    cleanup.clean_up(Session(club.server))
    assert all(club.store.users.is_taken(player.userid) for player in players)
    club.pass_time(days=2)
    cleanup.clean_up(Session(club.server))
    assert not any(club.store.users.is_taken(player.userid) for player in players)
    assert club.store.boards.totals("symple") == (0, 0)
    assert club.store.boards.get(late.game, late.board).first_player == late.userid
    assert posted(club.server, tokens.address_with(club.server, token), "show", "", "1")


def test_what_others_have_does_not_depend_on_a_guest_who_will_be_gone(club):
    club.signed_up("alice")
    player, _ = users.begin_as_guest(club.server, "symple", "1", [], None)
    assert club.store.users.count() == 1
    for line in ("block alice alice-secret", "symple challenge alice", "message alice alice-secret"):
        with pytest.raises(Refused, match=f"There is no user '{player.userid}'"):
            club.say(f"{line} {player.userid}", "hello")


def test_guests_have_limits_and_nobody_can_sign_up_as_one(club):
    for _ in range(5):
        users.begin_as_guest(club.server, "symple", "1", [], "198.51.100.1")
    for peer in ("198.51.100.1", *(f"198.51.100.{number}" for number in range(2, 13))):
        with pytest.raises(users.Crowded, match="Too many guests"):
            while True:
                users.begin_as_guest(club.server, "symple", "1", [], peer)
    assert club.store.boards.totals("symple")[0] == 60
    with pytest.raises(Exception, match="please choose another userid"):
        club.say("signup guest-0123456789 some-secret x@players.example")
    for level in "06":  # the last level takes a minute for each move
        with pytest.raises(Refused, match=f"There is no level '{level}'; the levels are 1 to 5."):
            users.begin_as_guest(club.server, "symple", level, [], None)


def test_guests_leave_half_of_the_boards_of_a_robot_to_users(club):
    robot = club.store.robots.get("robot5")
    with club.store.writing():
        club.store.robots.save(robot._replace(most=4))
    for _ in range(2):
        users.begin_as_guest(club.server, "symple", "5", [], None)
    with pytest.raises(users.Crowded, match="No robot of level 5"):
        users.begin_as_guest(club.server, "symple", "5", [], None)
    club.signed_up("alice")
    club.say("symple challenge -size=9 alice robot5")


def test_a_stranger_gets_a_board_whose_page_is_there(web):
    status, headers, _ = web.submit({"game": "symple", "level": "3", "options": "-size=9"}, "/guest")
    assert status == 303
    page, token = headers["Location"].split("#")
    assert re.fullmatch(r"symple/\d+\.html", page)
    assert web.ask("GET", f"/{page}")[0] == 200
    assert web.post(token=token, text="e5")[1]["userid"].startswith("guest-")
    for fields in ({"game": "chess"}, {"game": "spiro", "options": "-x"}):
        assert web.post("/guest", **fields)[0] == 422


@pytest.mark.parametrize("machine", ["198.51.100.77", "192.168.7.7", "10.7.7.7", "fd00:7::7"])
def test_five_guests_an_hour_begin_from_one_machine_whatever_its_address(web, machine):
    statuses = [web.submit({"game": "symple"}, "/guest", X_Forwarded_For=machine)[0] for _ in range(6)]
    assert statuses == [303] * 5 + [429]
    body = web.submit({"game": "symple"}, "/guest", X_Forwarded_For=machine)[2]
    assert "Too many guests have begun to play in this hour" in body
    assert "<textarea" not in body


def test_all_guests_behind_a_proxy_that_names_no_machine_are_one_machine(club, virtual_time):
    async def begin_six():
        context = WebContext(club.server, None, "")
        context.work, context.connections = call, Noted()
        board_posts = BoardPosts(context)
        statuses = []
        for _ in range(6):
            try:
                statuses.append((await board_posts.guest(posted_form("127.0.0.1", b"game=symple"))).status_code)
            except HTTPException as refused:
                statuses.append(refused.status_code)
        return statuses

    async def call(do, *args):
        return do(*args)

    class Noted:
        def note(self, entry):
            pass

    assert virtual_time(begin_six()) == [303] * 5 + [429]


def posted_form(machine, body):
    """A request with a form."""

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"content-type", FORM.encode())]
    scope = {"type": "http", "method": "POST", "path": "/guest", "headers": headers, "client": (machine, 1)}
    return Request(scope, receive)


# Limits


def test_a_flood_of_strangers_holds_up_no_mails_and_stores_next_to_nothing(web):
    before = len(everything(web.shell)["users"])

    def post(number):
        headers = AS_JSON | {"X_Forwarded_For": f"198.51.100.{number % 20}"}
        if number % 4:
            return web.post(token=FORGED, text="e5", headers=headers)[0]
        return web.submit({"game": "symple", "options": "-size=5"}, "/guest", **headers)[0]

    with ThreadPoolExecutor(8) as pool:
        posts = pool.map(post, range(200 if IS_QUICK else 3000))
        took = []
        for _ in range(10):
            begin = time.monotonic()
            web.mail("bob@players.example", message("symple show 111", sender="bob@players.example"))
            took.append(time.monotonic() - begin)
        statuses = [*posts]
    assert {*statuses} <= {303, 403, 429}
    assert sorted(took)[len(took) // 2] < 5
    assert len(everything(web.shell)["users"]) - before == statuses.count(303) <= 60


async def status_of_post(board_posts, receive):
    """The status of a post, whose parts *receive* brings, to begin as a guest."""
    scope = {"type": "http", "method": "POST", "path": "/guest", "headers": [], "client": ("203.0.114.1", 1)}
    with pytest.raises(HTTPException) as refused:
        await board_posts.guest(Request(scope, receive))
    return refused.value.status_code


def test_a_post_has_ten_seconds_to_come_in(club, virtual_time):
    async def post_for_ever():
        status = await status_of_post(BoardPosts(WebContext(club.server, None, "")), asyncio.Event().wait)
        return status, asyncio.get_running_loop().time()

    assert virtual_time(post_for_ever()) == (408, 10)


def test_a_peer_posts_120_times_a_minute_and_then_again(club, virtual_time):
    async def empty():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def post_in_two_minutes():
        board_posts = BoardPosts(WebContext(club.server, None, ""))
        statuses = []
        for _ in range(2):
            statuses.append([await status_of_post(board_posts, empty) for _ in range(121)])
            await asyncio.sleep(60)
        return statuses

    assert virtual_time(post_in_two_minutes()) == [[415] * 120 + [429]] * 2


def test_one_peer_posts_so_often_in_a_minute(web):
    headers = AS_JSON | {"X_Forwarded_For": "203.0.114.1"}
    statuses = [web.post(token=FORGED, text="x", headers=headers)[0] for _ in range(250)]
    assert {*statuses} == {403, 429}
    assert web.post(token=FORGED, text="x")[0] == 403


def test_the_taps_of_a_page_and_its_questions_for_news_leave_its_posts_alone(web):
    headers = AS_JSON | {"X_Forwarded_For": "203.0.114.2"}
    question = {"token": web.token(), "game": "symple", "board": "101", "known": "0"}
    statuses = [web.post(**question, text="preview e5", headers=headers)[0] for _ in range(310)]
    assert statuses == [200] * 300 + [429] * 10
    assert web.post(token=FORGED, text="x", headers=headers)[0] == 403


@pytest.mark.long
def test_a_request_has_ten_seconds_to_come_in(web):
    head = b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n"
    begin = time.monotonic()
    slow = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(3)]
    slow[1].sendall(head)
    slow[2].sendall(head + b"\r\n{")
    answers = []
    for connection in slow:
        connection.settimeout(30)
        answers.append(connection.recv(1000))
        connection.close()
    assert 8 < time.monotonic() - begin < 25
    assert [answer[:12] for answer in answers] == [b"", b"", b"HTTP/1.1 408"]


def test_there_are_only_so_many_connections(web):
    held = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(110)]
    until(lambda: sum(is_closed(each) for each in held) >= 10)
    assert sum(is_closed(each) for each in held) <= 12
    for connection in held:
        connection.close()
    assert until(lambda: works(web))


def test_half_sent_requests_of_one_machine_leave_room_for_others(web):
    half_of_header = b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.115.1\r\nX-Rest: "
    half_of_body = b"POST /answer HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"
    for half in (half_of_header, half_of_body):
        held = [socket.create_connection(("127.0.0.1", web.port)) for _ in range(130)]
        for connection in held:
            with suppress(OSError):
                connection.sendall(half)
        assert web.ask("GET", "/", X_Forwarded_For="203.0.115.2")[0] == 200
        assert web.ask("GET", "/")[0] == 200
        assert asked_from("127.0.0.2", web.port).startswith(b"HTTP/1.1 200")
        for connection in held:
            connection.close()


def asked_from(machine, port):
    """The beginning of the response to a request from another address of this machine."""
    with socket.create_connection(("127.0.0.1", port), source_address=(machine, 0)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        return connection.recv(1000)


def test_a_machine_has_25_connections_and_loses_the_oldest_that_says_nothing(web):
    held = []
    for _ in range(30):
        held.append(socket.create_connection(("127.0.0.1", web.port), source_address=("127.0.0.3", 0)))
        assert works(web)
    until(lambda: sum(is_closed(each) for each in held) >= 5)
    assert [is_closed(each) for each in held] == [True] * 5 + [False] * 25
    for connection in held:
        connection.close()


def test_the_connections_of_a_proxy_count_for_the_machine_that_it_names(web):
    named = b"POST /answer HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 2001:db8::%d\r\nContent-Length: 9\r\n\r\n{"
    held = []
    for number in range(30):
        held.append(socket.create_connection(("127.0.0.1", web.port)))
        held[-1].sendall(named % number)
        assert works(web)
    until(lambda: sum(is_closed(each) for each in held) >= 5)
    assert [is_closed(each) for each in held] == [True] * 5 + [False] * 25
    for connection in held:
        connection.close()


def test_pages_are_sent_compressed_to_whoever_takes_that_and_pictures_as_they_are(club, tmp_path):
    async def ask(path, *encodings):
        headers = [(b"accept-encoding", encoding) for encoding in encodings]
        scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b""}
        sent = []

        async def send(part):
            sent.append(part)

        await WebServer(club.server, None, str(tmp_path), "").app(scope, None, send)
        return dict(sent[0]["headers"]).get(b"content-encoding"), sent[1]["body"]

    page, picture = b"<!doctype html>" + 1000 * b"A board. ", 1000 * b"PNG "
    (tmp_path / "page.html").write_bytes(page)
    (tmp_path / "picture.png").write_bytes(picture)
    encoding, body = asyncio.run(ask("/page.html", b"gzip, br"))
    assert (encoding, gzip.decompress(body), len(body) < 200) == (b"gzip", page, True)
    assert asyncio.run(ask("/page.html")) == (None, page)
    assert asyncio.run(ask("/picture.png", b"gzip")) == (None, picture)


def test_until_the_site_is_written_for_the_first_time_a_page_is_to_be_asked_for_again(club, tmp_path):
    async def ask(path):
        scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
        await WebServer(club.server, None, str(tmp_path / "site"), "").app(scope, None, send)

    async def send(part):
        sent.append(part)

    sent = []
    statuses = []
    for state in ("no folder", "no page", "written"):
        if state == "no page":
            (tmp_path / "site").mkdir()
        elif state == "written":
            build(tmp_path / "site", Session(club.server), SiteSettings())
        asyncio.run(ask("/symple/101.html"))
        statuses.append((sent[0]["status"], dict(sent[0]["headers"]).get(b"retry-after")))
        sent.clear()
    assert statuses == [(503, b"5"), (503, b"5"), (404, None)]


def works(web):
    try:
        return web.ask("GET", "/")[0] == 200
    except OSError:
        return False


def is_closed(connection):
    connection.settimeout(0)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize("killed_after", [0.2, pytest.param(0.5, marks=pytest.mark.long)])
def test_what_was_acknowledged_is_stored_when_the_server_is_killed(tmp_path, killed_after):
    shell = Shell(tmp_path)
    shell.become(alice_and_bob)
    places = [(str(101 + number), token_of(shell, "alice", str(101 + number))) for number in range(MANY)]

    def post(place):
        try:
            return place[0], served.post(token=place[1], text="e5")[0]
        except (OSError, http.client.HTTPException):
            return place[0], 0

    with serving(shell) as served, ThreadPoolExecutor(4) as pool:
        results = pool.map(post, places)
        time.sleep(killed_after)
        served.process.kill()
        done = [*results]
    acknowledged = {board for board, status in done if status == 200}
    assert {status for _, status in done} <= {0, 200}
    assert [board for board in acknowledged if served.moves(board) != ["e5"]] == []
    with serving(shell) as served:
        left = [(board, token) for board, token in places if not served.moves(board)]
        assert [served.post(token=token, text="e5#1")[0] for _, token in left] == [200] * len(left)


def test_what_cannot_be_stored_is_to_be_posted_again(web):
    path, token = web.shell.folder / "pbm.db", web.token("alice", "112")
    rename = "ALTER TABLE {} RENAME TO {}"
    posts = {"handled": ({"token": token, "text": "e5"},), "quotas": ({"game": "symple"}, "/guest")}
    for table, post in posts.items():
        sql(path, rename.format(table, "hidden"))
        status = web.submit(*post)[0]
        sql(path, rename.format("hidden", table))
        assert status == 503
    assert web.post(token=token, text="e5")[0] == 200


def test_who_only_asks_does_not_wait_for_those_who_write(web):
    token = web.token("alice", "112")
    with closing(sqlite3.connect(web.shell.folder / "pbm.db")) as db:
        db.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        status, said = web.post(token=token, text="show")
        assert (status, "112" in str(said)) == (200, True)
        assert time.monotonic() - begun < 10  # a post that writes would wait for 30 s


def test_a_mail_does_not_wait_for_the_pages_of_a_large_board(web):
    with Store(web.shell.folder / "pbm.db") as store, store.writing():
        session, rng = Session(Server(store, ADDRESS, Passwords())), random.Random(3)
        spiro = start(session, "spiro", ["-small"], ("alice", "bob"), times=Clocks())
        board = start(session, "symple", ["-size=25"], ("alice", "bob"), times=Clocks())
        while len(board.turns) < 100:
            board.play(board.mover, board.state.random(rng), session.now)
        store_turns(session, board)
        address = tokens.reply_address(session.server, *spiro.row.place, "alice")
    assert web.post(token=address, text="preview ", known="none")[1]["turns"]
    token = web.token("alice", board.row.board)

    def seconds_of_a_mail():
        begun = time.monotonic()
        web.mail("alice@players.example", message("list", sender="alice@players.example"))
        return time.monotonic() - begun

    alone, meanwhile = [seconds_of_a_mail() for _ in range(10)], []
    with ThreadPoolExecutor(4) as pool:
        posts = [pool.submit(web.post, token=token, text="show", known="none") for _ in range(6)]
        while not all(post.done() for post in posts):
            meanwhile.append(seconds_of_a_mail())
    assert {post.result()[0] for post in posts} == {200}
    assert mean(meanwhile) < 20 * mean(alone)  # 5 to 9 times as long; 240 times if mails wait for pages


# Pages that are open


def test_a_page_is_told_only_what_it_lacks_and_nothing_again(web):
    alice, bob = web.token("alice", "127"), web.token("bob", "127")
    whole = web.post(token=alice, known="none")[1]
    assert (whole["place"], whole["moves"], whole["from"], whole["headline"]) == ("symple/127", 0, 0, "Your turn")
    web.post(token=alice, text="e5")
    known = " ".join(step["id"] for step in reversed(whole["steps"]))
    lacking = {"known": known, "seen": whole["version"]}
    told = web.post(token=alice, text="", **lacking)[1]
    assert (told["moves"], told["from"], len(told["steps"]), told["headline"]) == (1, 1, 1, "bob is to move")
    assert "class='piece white' data-cell='e5'" in "".join(told["steps"][0]["parts"].values())
    assert [*told["html"]] == ["clock", "seats"]
    assert (told["turns"].count("<li>"), "talk" in told) == (1, False)
    assert len(json.dumps(told)) < 3000
    again = web.post(token=alice, known=told["steps"][0]["id"], seen=told["version"])[1]
    assert again == {"version": told["version"]}
    assert len(json.dumps(again)) < 300
    told = web.post(token=bob, text="chat", comment="Hello alice", known="none")[1]
    assert (told["talk"]["from"], "Hello alice" in told["talk"]["html"]) == (0, True)
    told = web.post(token=alice, known=again["version"][:8], seen=again["version"])[1]
    assert ("Hello alice" in told["talk"]["html"], told["steps"], told["html"]) == (True, [], {})


def renderers_of(process):
    """The processes that make what pages are told, of a server's process."""
    return [child for child in children_of(process) if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def is_running(process):
    """Whether a process goes on; one that has ended has no command, even if its status is still there."""
    with suppress(FileNotFoundError):
        return bool(Path(f"/proc/{process}/cmdline").read_bytes())
    return False


def look(web):
    """What a page is told that knows nothing yet."""
    return web.post(token=web.token("alice", "113"), text="", known="nothing", game="symple", board="113")


def test_what_pages_are_told_is_made_in_a_process_of_its_own_which_is_started_again(tmp_path):
    shell = Shell(tmp_path)
    shell.become(alice_and_bob)
    with serving(shell) as served:
        assert look(served)[1].keys() >= {"version", "moves", "steps"}
        [renderer] = renderers_of(served.process.pid)
        os.kill(renderer, signal.SIGKILL)
        until(lambda: renderers_of(served.process.pid) != [renderer])
        until(lambda: look(served)[0] == 200)
        [renderer] = renderers_of(served.process.pid)
        served.process.kill()
        until(lambda: not is_running(renderer))


# What mails lead to


def test_a_mail_that_somebody_has_subscribed_to_ends_by_one_click(web, tmp_path):
    shell = Shell(tmp_path)
    shell.become(alice_and_bob)
    shell.run("broadcast", "alice", PASSWORDS["alice"], "on")
    shell.run("broadcast", "bob", PASSWORDS["bob"], "--comment=Hello")
    with Store(shell.folder / "pbm.db") as store:
        [mail] = [mail for mail in store.outbox.all() if mail.unsubscribe]
    fields = message_from_bytes(compose(mail, ADDRESS, None, "https://games.example"), policy=email.policy.default)
    assert fields["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    link, mailto = fields["List-Unsubscribe"].split(", ")
    assert mailto.startswith("<mailto:pbm+u")
    path = re.fullmatch(r"<https://games\.example(/unsubscribe/u[\w-]+)>", link)[1]
    for address in (None, "http://games.example"):
        plain = message_from_bytes(compose(mail, ADDRESS, None, address), policy=email.policy.default)
        assert plain["List-Unsubscribe-Post"] is None
        assert plain["List-Unsubscribe"] == mailto
    with serving(shell) as served:
        status, _, body = served.ask("GET", path)
        assert (status, "<button>" in body) == (200, True)
        assert subscribers(shell) == ["alice"]
        part = '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
        assert served.ask("POST", path, part, Content_Type="multipart/form-data; boundary=b")[0] == 200
        assert subscribers(shell) == []
        assert served.ask("POST", path, "List-Unsubscribe=One-Click")[0] == 200


def subscribers(shell):
    with Store(shell.folder / "pbm.db") as store:
        return store.users.hearing("broadcasts")


def test_a_user_sees_their_deadlines_in_a_calendar_until_they_have_a_new_password(tmp_path):
    shell = Shell(tmp_path)
    shell.become(alice_and_bob)
    settings = {"PBM_WEB": "https://games.example", "PBM_SITE": "https://games.example"}
    with serving(shell, **settings) as served:
        for sender in ("alice@players.example", "bob@players.example"):
            served.mail(sender, message("all games alice", sender=sender))
        texts = [arrived(shell, name, "List of all games") for name in ("alice", "bob")]
        assert "/calendar/" not in texts[1]
        path = re.search(r"^https://games\.example(/calendar/c[\w-]+\.ics)$", texts[0], re.MULTILINE)[1]
        status, headers, body = served.ask("GET", path)
        assert (status, headers["Content-Type"]) == (200, "text/calendar; charset=utf-8")
        events = Calendar.from_ical(body).walk("VEVENT")
        assert len(events) == MANY
        assert str(events[0]["summary"]) == "Symple 101 against bob: alice to start"
        assert str(events[0]["url"]) == "https://games.example/symple/101.html"
        assert 20 < (events[0].decoded("dtstart") - events[0].decoded("dtstamp")).days < 22
        assert served.post(token=served.token(), text="e5")[0] == 200
        assert len(Calendar.from_ical(served.ask("GET", path)[2]).walk("VEVENT")) == MANY - 1
        assert "/calendar/" not in served.post(token=served.token("alice", "102"), text="all games alice")[1]["text"]
        shell.run("change", "password", "alice", PASSWORDS["alice"], "new-secret")
        assert served.ask("GET", path)[0] == 403


# Starting it


def test_without_the_extra_one_sentence_names_it(shell, monkeypatch):
    for name in [*sys.modules]:
        if re.match(r"starlette|uvicorn|pbm\.service\.web$", name):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    for command in (["serve", "--listen=127.0.0.1:0", "--web=127.0.0.1:0"], ["demo", "--web"]):
        said = shell.refused(*command)
        assert said == (
            "--web needs Starlette, uvicorn and icalendar: `python3 bin/make_environment.py web` in a clone, or pip "
            "install '.[web]'.\n"
        )


def test_an_address_of_the_web_server_that_is_taken_or_none_is_refused(shell, web):
    assert "cannot listen" in shell.refused("serve", "--listen=127.0.0.1:0", f"--web=127.0.0.1:{web.port}")
    assert "is not HOST:PORT" in shell.refused("serve", "--listen=127.0.0.1:0", "--web=unix:/tmp/x", status=2)


def test_the_demo_opens_a_page_on_which_a_guest_plays(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    settings = os.environ | {"BROWSER": f"{browser} %s", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "pbm", "demo", "--web"]
    with subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, text=True) as process:
        url = until(lambda: (tmp_path / "opened").exists() and (tmp_path / "opened").read_text().strip())
        process.send_signal(2)
        assert process.wait() == 0
    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/symple/101\.html#{tokens.TOKEN.pattern}", url)
