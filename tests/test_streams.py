"""Streams of events: what a program or a page hears of boards, when, and what nobody hears."""

import asyncio
import re
import socket
import time
from contextlib import ExitStack, suppress
from datetime import UTC, date, datetime, timedelta

import pytest
from jsonschema import validate
from starlette.exceptions import HTTPException
from uvicorn.server import ServerState

from pbm.access import tokens
from pbm.mail.smtp import SHUTDOWN_SECONDS
from pbm.refusals import Refused
from pbm.service.connections import RESPONSE_SECONDS, WebConnection
from pbm.service.events import (
    COMMENT_SECONDS,
    MOST_USER_STREAMS,
    UNREAD_SECONDS,
    Streams,
    allow_open_files,
    reader_of_page,
    reader_with_token,
)
from pbm.service.requests import REQUEST_SECONDS
from pbm.service.web import WebServer
from pbm.site.pages import answer_page
from pbm.store import Reply, Store
from pbm.store.schema import board_states, states_with_given_days
from pbm.store.trust import Token

from helpers import next_version
from helpers.club import PASSWORDS, Club
from helpers.patience import PATIENCE
from helpers.schema import SCHEMA
from helpers.shell import Shell
from helpers.streams import Listener, Transport, events_in, reading, settle
from helpers.web import FORM, serving

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def states(club):
    """The numbers of the present states of all boards, with what they tell."""
    return [(state.number, state.board, state.moves, state.turn, state.vote) for state in club.store.states.since(0)]


def say(club, name, command, comment=""):
    """A command of Symple by one of the users, who writes ME for userid and password."""
    club.say(f"symple {command.replace('ME', f'{name} {PASSWORDS[name]}')}", comment)


@pytest.fixture
def played(board):
    """Board 101 of Symple between alice and bob, on which three moves were made."""
    for name, move in ("alice", "e5"), ("bob", "c7"), ("alice", "g3"):
        say(board, name, f"move 101 ME {move}")
    return board


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("bob", "submit 101 ME c3"),
        ("alice", "plan 101 ME if a1 then a2"),
        ("alice", "queue 101 ME a2"),
        ("alice", "note 101 ME"),
        ("alice", "chat 101 ME"),
        ("alice", "nag 101 ME"),
        ("carol", "subscribe 101 ME"),
        ("carol", "notify ME 101"),
        ("bob", "preview 101 c3"),
    ],
)
def test_what_is_secret_and_what_is_no_move_makes_no_new_state(played, name, line):
    before = states(played)
    played.wait(days=4)  # so that there may be a reminder
    say(played, name, line, "Something is said.")
    assert states(played) == before
    assert played.store.states.last_number() == before[-1][0]


@pytest.mark.parametrize(
    ("name", "line", "told"),
    [
        ("bob", "move 101 ME c3", (4, "alice", None)),
        ("bob", "move 101 ME propose", (3, "bob", "draw")),
        ("alice", "move 101 ME undo", (3, "bob", "undo")),
        ("alice", "give 101 ME 3", (3, "bob", None)),
        ("bob", "move 101 ME resign", (4, None, None)),
    ],
)
def test_a_move_a_proposal_days_given_and_the_end_make_a_new_state(played, name, line, told):
    before = played.store.states.last_number()
    say(played, name, line)
    [state] = played.store.states.since(before)
    assert (state.moves, state.turn, state.vote) == told


def test_a_move_that_takes_the_place_of_another_one_is_a_new_state(played):
    say(played, "alice", "move 101 ME undo")
    before = played.store.states.last_number()
    played.wait(minutes=1)
    with played.store.writing():  # nobody can look between these
        say(played, "bob", "move 101 ME accept")
        say(played, "alice", "move 101 ME c3")
    [state] = played.store.states.since(before)
    assert (state.moves, state.turn) == (3, "bob")


def test_the_states_of_a_user_are_those_of_their_boards_also_of_one_that_was_removed(played):
    states = played.store.states
    before = states.last_number()
    played.say("symple challenge -size=5 alice carol")
    played.say("symple challenge -size=5 carol bob")
    assert [state.board for state in states.active_of_user("alice")] == ["101", "102"]
    assert [state.board for state in states.of_user_since("bob", before)] == ["103"]
    with played.store.writing():
        played.store.boards.remove("symple", "103", played.time)
    assert [(state.board, state.moves) for state in states.of_user_since("bob", before)] == [("103", None)]
    assert [state.board for state in states.active_of_user("bob")] == ["101"]
    played.store.forget_old(played.time + timedelta(days=1))
    assert states.get("symple", "103") is None


def test_boards_of_an_earlier_version_have_states(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        without_states = [step for step in next_version.OURS if step not in {board_states, states_with_given_days}]
        next_version.install_steps(patched.setattr, without_states)
        with Store(tmp_path / "pbm.db") as store:
            store.users.add("alice", "", DAY)
            row = {"game": "symple", "board": "101", "options": "", "secret": b"", "started": DAY, "moves": 3}
            store.boards.insert("boards", row | {"first_player": "alice", "second_player": "alice", "turn": "alice"})
    with Store(tmp_path / "pbm.db") as store:
        [state] = store.states.active_of_user("alice")
        assert (state.board, state.moves, state.number) == ("101", 3, 1)
        assert store.health.damage() == []


# What a stream sends


class Hearing:
    """Somebody who listens to a club, or several of them."""

    def __init__(self, club):
        self.club = club
        self.streams = Streams(club.server)

    async def program(self, name, last_id=""):
        """A program of a user that listens, by a token."""
        secret = self.club.say(f"token {name} {PASSWORDS[name]} t{self.club.made}")[-1].data["token"]
        return await self.listener(reader_with_token(self.club.server, secret, None), last_id)

    async def page(self, name, board="101"):
        """A page that listens."""
        with self.club.store.writing():
            address = tokens.reply_address(self.club.server, "symple", board, name)
        return await self.listener(reader_of_page(self.club.server, tokens.token_of(address)))

    async def listener(self, reader, last_id=""):
        listener = Listener()
        listener.open(self.streams, reader, last_id)
        await settle()
        return listener

    async def after(self, name, line, comment=""):
        """What follows from a command of Symple is sent."""
        say(self.club, name, line, comment)
        await self.look()

    async def look(self):
        self.streams.look()
        await settle()


def heard(listener):
    """The moves, and who is to move, of the events that were sent."""
    return [(event.data["board"], event.data["moves"], event.data["turn"]) for event in events_in(listener.text)]


def test_a_program_hears_first_of_the_active_boards_of_its_user_and_then_of_what_changes(played):
    played.say("symple challenge -size=5 carol bob")

    async def listen():
        hearing = Hearing(played)
        alice, bob = await hearing.program("alice"), await hearing.program("bob")
        await hearing.after("bob", "move 101 ME c3")
        return alice, bob

    alice, bob = asyncio.run(listen())
    assert heard(alice) == [("101", 3, "bob"), ("101", 4, "alice")]
    assert heard(bob) == [("101", 3, "bob"), ("102", 0, "carol"), ("101", 4, "alice")]


def test_an_event_tells_what_anybody_may_know_of_a_board(played):
    async def listen():
        hearing = Hearing(played)
        alice = await hearing.program("alice")
        await hearing.after("bob", "move 101 ME propose")
        await hearing.after("alice", "move 101 ME accept")
        return hearing.streams.generation, alice

    generation, alice = asyncio.run(listen())
    *_, proposed, ended = events_in(alice.text)
    data = {"game": "symple", "board": "101", "moves": 3, "players": ["alice", "bob"]}
    assert proposed.data == data | {
        "turn": "bob",
        "status": "bob's turn",
        "over": False,
        "vote": "draw",
        "voter": "bob",
    }
    assert ended.data == data | {"turn": None, "status": "tie", "over": True, "vote": None, "voter": None}
    number = played.store.states.last_number()
    assert (ended.kind, ended.id) == ("board", f"{generation}-{number}")
    assert f"event: board\nid: {ended.id}\ndata: {{" in alice.text
    for event in events_in(alice.text):
        validate(event.data, SCHEMA | {"$ref": "#/$defs/stream_event"})


def test_a_board_that_begins_is_heard_of_and_one_that_is_removed_is_gone(played):
    async def listen():
        hearing = Hearing(played)
        bob, page = await hearing.program("bob"), await hearing.page("bob")
        played.say("symple challenge -size=5 carol bob")
        await hearing.look()
        for board in "101", "102":
            with played.store.writing():
                played.store.boards.remove("symple", board, played.time)
        await hearing.look()
        return bob, page

    bob, page = asyncio.run(listen())
    assert [(event.kind, event.data["board"]) for event in events_in(bob.text)] == [
        ("board", "101"),
        ("board", "102"),
        ("gone", "101"),
        ("gone", "102"),
    ]
    assert [event.kind for event in events_in(page.text)] == ["board", "gone"]
    assert page.has_ended.is_set()


def test_a_page_of_a_board_that_was_removed_is_told_so_when_it_listens_again(played):
    with played.store.writing():
        address = tokens.reply_address(played.server, "symple", "101", "bob")
        played.store.boards.remove("symple", "101", played.time)
    with pytest.raises(Refused, match="This board has been removed"):
        reader_of_page(played.server, tokens.token_of(address))


def test_a_connection_whose_other_side_confirms_nothing_for_a_minute_ends(played):
    async def listen():
        return await Hearing(played).page("bob")

    listener = asyncio.run(listen())
    assert listener.transport.options[socket.TCP_USER_TIMEOUT] == 60_000  # milliseconds, says tcp(7)


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [
        ((1024, 524_288), (1500, 524_288)),  # 1,000 streams, and 500 for all else
        ((1024, 1200), (1200, 1200)),
        ((1024, -1), (1500, -1)),  # -1 stands for no limit
        ((4096, 524_288), None),
        ((-1, -1), None),
    ],
)
def test_a_server_lets_itself_open_as_many_files_as_all_streams_need(monkeypatch, limits, wanted):
    chosen = []
    monkeypatch.setattr("resource.getrlimit", lambda _: limits)
    monkeypatch.setattr("resource.setrlimit", lambda _, both: chosen.append(both))
    allow_open_files()
    assert chosen == ([wanted] if wanted else [])


def test_with_the_id_of_an_event_only_what_has_changed_since_is_sent(played):
    played.say("symple challenge -size=5 carol bob")

    async def listen():
        hearing = Hearing(played)
        bob = await hearing.program("bob")
        *_, last = events_in(bob.text)
        await bob.hang_up()
        nothing = (await hearing.program("bob", last.id)).text
        say(played, "carol", "move 102 ME c3")
        say(played, "bob", "move 101 ME resign")
        late = await hearing.program("bob", last.id)
        return nothing, late, await hearing.program("bob", "other-1"), await hearing.program("bob", f"{last.id}0")

    nothing, *others = asyncio.run(listen())
    assert nothing == ""
    assert [heard(listener) for listener in others] == [
        [("102", 1, "bob"), ("101", 4, None)],
        [("102", 1, "bob")],
        [("102", 1, "bob")],
    ]


def test_a_database_that_was_restored_sends_all_boards_again(played):
    async def listen():
        hearing = Hearing(played)
        bob = await hearing.program("bob")
        played.store.events.note_maintenance("restored", played.time)
        return await Hearing(played).program("bob", events_in(bob.text)[-1].id)

    assert heard(asyncio.run(listen())) == [("101", 3, "bob")]


def test_a_page_hears_of_its_board_alone_and_of_what_its_reader_may_see_of_the_talk(played):
    played.say("symple challenge -size=5 alice bob")

    async def listen():
        hearing = Hearing(played)
        alice, carol = await hearing.page("alice"), await hearing.page("carol")
        played.wait(minutes=1)
        await hearing.after("alice", "move 102 ME c3")
        await hearing.after("bob", "chat 101 ME", "Hello")
        return alice, carol

    alice, carol = asyncio.run(listen())
    assert [(event.data["board"], event.data["talk"]) for event in events_in(alice.text)] == [
        ("101", None),
        ("101", "2026-11-20T12:01:00.000000+00:00"),
    ]
    assert [event.data["talk"] for event in events_in(carol.text)] == [None]


def test_a_page_hears_of_days_that_the_other_player_gives_and_then_shows_the_new_end(played):
    def clock():
        with played.store.writing():
            address = tokens.reply_address(played.server, "symple", "101", "bob")
        news = answer_page(played.server, Reply("symple", "101", "bob"), address, {"known": ""})
        return re.search(r'data-until="([^"T]*)', news["html"]["clock"])[1]

    async def listen():
        hearing = Hearing(played)
        bob = await hearing.page("bob")
        ends = [clock()]
        await hearing.after("alice", "give 101 ME 3")
        return bob, [*ends, clock()]

    bob, ends = asyncio.run(listen())
    assert [event.data["board"] for event in events_in(bob.text)] == ["101", "101"]
    before, after = map(date.fromisoformat, ends)
    assert (after - before).days == 3


# What nobody hears


SECRETS = {
    "a submitted move": ("bob", "submit 101 ME c3", "alice carol"),
    "a plan": ("alice", "plan 101 ME if a1 then a2", "bob carol"),
    "a move for any": ("alice", "queue 101 ME a2", "bob carol"),
    "a note": ("alice", "note 101 ME", "bob carol"),
    "a chat of others, and one of somebody who is blocked": ("alice", "chat 101 ME", "carol bob"),
    "a resignation that waits": ("alice", "move 101 ME resign", "bob carol"),
    "a draft that is dropped": ("bob", "submit 101 ME a2", "alice carol"),
}


def begin_spying(club):
    """Boards of alice, bob and carol: bob is to move on the first one, and has blocked alice."""
    club.signed_up("alice", "bob", "carol")
    for players in "alice bob", "bob carol", "alice carol":
        club.say(f"symple challenge -size=9 {players}")
    for name, move in ("alice", "e5"), ("bob", "c7"), ("alice", "g3"):
        say(club, name, f"move 101 ME {move}")
    say(club, "carol", "subscribe 101 ME")
    club.say(f"block bob {PASSWORDS['bob']} alice")


async def spy_on(club, spies, name="", line=""):
    """All that spies hear before and after a secret, and when they come again; without a secret if there is none."""
    hearing = Hearing(club)
    listeners = []
    last = {}
    for spy in spies.split():
        program = await hearing.program(spy)
        last[spy] = events_in(program.text)[-1].id
        listeners += [program, await hearing.page(spy), await hearing.page(spy, "102")]
    if line:
        club.wait(minutes=1)
        await hearing.after(name, line, "Watch this.")
        club.wait(minutes=-1)
    again = Hearing(club)
    for spy, last_id in last.items():
        listeners += [await again.program(spy, last_id), await again.program(spy), await again.page(spy)]
    await hearing.after("bob", "move 101 ME propose")
    await hearing.after("carol", "move 102 ME resign")
    listeners += [await again.program(spy, last_id) for spy, last_id in last.items()]
    return [listener.text for listener in listeners]


@pytest.mark.parametrize("secret", SECRETS)
def test_what_a_spy_hears_is_the_same_byte_for_byte_with_a_secret_and_without(tmp_path, secret):
    name, line, spies = SECRETS[secret]
    heard_by_spies = []
    for file, *deed in ("with.db", name, line), ("without.db",):
        club = Club(tmp_path / file)
        club.become(begin_spying)
        heard_by_spies.append(asyncio.run(spy_on(club, spies, *deed)))
    assert heard_by_spies[0] == heard_by_spies[1]


def test_those_who_may_know_of_a_chat_hear_of_it(tmp_path):
    club = Club(tmp_path / "pbm.db")
    club.become(begin_spying)
    said = asyncio.run(spy_on(club, "alice", "bob", "chat 101 ME"))
    other = Club(tmp_path / "other.db")
    other.become(begin_spying)
    assert said != asyncio.run(spy_on(other, "alice"))


# Limits, and the end of a stream


def test_a_user_has_five_streams_also_of_pages(played):
    async def listen():
        hearing = Hearing(played)
        listeners = [await hearing.program("bob") for _ in range(MOST_USER_STREAMS - 1)]
        listeners.append(await hearing.page("bob"))
        with pytest.raises(HTTPException) as refused:
            await hearing.program("bob")
        await hearing.program("alice")
        await listeners[0].hang_up()
        await hearing.program("bob")
        return refused.value.status_code

    assert asyncio.run(listen()) == 429


@pytest.mark.parametrize(
    "line", ["token bob {} laptop revoke", "change password bob {} other-secret", "signoff bob {}"]
)
def test_a_stream_ends_at_once_with_its_token(played, line):
    secret = played.say(f"token bob {PASSWORDS['bob']} laptop")[-1].data["token"]

    async def listen():
        hearing = Hearing(played)
        alice = await hearing.program("alice")
        bob = await hearing.listener(reader_with_token(played.server, secret, None))
        page = await hearing.page("bob")
        played.say(line.format(PASSWORDS["bob"]))
        await hearing.look()
        return [listener.has_ended.is_set() for listener in (alice, bob, page)]

    assert asyncio.run(listen()) == [False, True, "revoke" not in line]


def test_a_slow_reader_gets_the_latest_state_and_one_that_does_not_read_is_dropped(played, virtual_time):
    async def listen():
        hearing = Hearing(played)
        slow, dead = await hearing.program("alice"), await hearing.program("bob")
        for listener in slow, dead:
            listener.reads.clear()
        for name, move in ("bob", "a1"), ("alice", "a3"), ("bob", "a5"):
            await hearing.after(name, f"move 101 ME {move}")
        await asyncio.sleep(UNREAD_SECONDS - 1)
        slow.reads.set()
        await asyncio.sleep(2)
        return slow, dead

    slow, dead = virtual_time(listen())
    assert heard(slow) == [("101", 3, "bob"), ("101", 4, "alice"), ("101", 6, "alice")]
    assert (slow.transport.is_aborted, dead.transport.is_aborted) == (False, True)


def test_nothing_is_written_to_a_connection_that_is_lost(played):
    async def listen():
        hearing = Hearing(played)
        alice = await hearing.program("alice")
        before = alice.text
        alice.transport.abort()
        await hearing.after("bob", "move 101 ME a1")
        return alice.text == before

    assert asyncio.run(listen())


def test_each_stream_has_a_comment_every_fifteen_seconds(played, virtual_time):
    async def listen():
        hearing = Hearing(played)
        running = asyncio.create_task(hearing.streams.run())
        alice = await hearing.program("alice")
        before = alice.text
        await asyncio.sleep(4 * COMMENT_SECONDS + 1)
        hearing.streams.close()
        await running
        return alice.text.removeprefix(before), alice.has_ended.is_set()

    assert virtual_time(listen()) == (":\n\n" * 4, True)


def test_after_an_hour_of_silence_a_page_hears_of_a_move(played, virtual_time, monkeypatch):
    async def listen():
        hearing = Hearing(played)
        running = asyncio.create_task(hearing.streams.run())
        bob = await hearing.page("bob")
        before = bob.text
        await asyncio.sleep(3600 + 1)
        comments = bob.text.removeprefix(before)
        say(played, "bob", "move 101 ME a1")
        await asyncio.sleep(2)
        hearing.streams.close()
        await running
        return comments, bob

    monkeypatch.setattr("pbm.service.events.CHANGE_LOOK_SECONDS", 1)  # 20 times as many looks take seconds
    comments, bob = virtual_time(listen())
    assert comments == ":\n\n" * (3600 // COMMENT_SECONDS)
    first, *_, last = events_in(bob.text)
    assert (first.data["moves"], last.data["moves"]) == (3, 4)


def test_a_stream_outlives_the_bounds_of_a_connection(club, virtual_time):
    async def live():
        config = WebServer(club.server, None, None, "").uvicorn.config
        config.load()
        transports = []
        for is_stream in True, False:
            connection = WebConnection(config, ServerState(), {})
            transports.append(Transport())
            connection.connection_made(transports[-1])
            if is_stream:
                connection.become_stream()
        await asyncio.sleep(REQUEST_SECONDS + RESPONSE_SECONDS + 1)
        return [transport.is_aborted for transport in transports]

    assert virtual_time(live()) == [False, True]


# By HTTP itself


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A server that runs during all tests."""
    shell = Shell(tmp_path_factory.mktemp("streams"))
    shell.sign_up("alice", "bob", has_mail=True)
    for _ in range(6):
        shell.run("symple", "challenge", "-size=9", "alice", "bob")
    with serving(shell, PBM_SITE="https://known.example") as served:
        yield served
    log = (shell.folder / "log").read_text()
    assert "Traceback" not in log
    assert tokens.masked(log) == log


def bearer(shell, name, word="laptop", scope="read"):
    """The header with a new token of a user."""
    secret = shell.json("token", name, PASSWORDS[name], word, scope)["token"]
    return {"Authorization": f"Bearer {secret}"}


def play(web, name, board, move):
    """A move of Symple by a shell."""
    web.shell.run("symple", "move", board, name, PASSWORDS[name], move)


def test_a_program_and_a_page_hear_of_a_move_at_once_and_of_nothing_twice(web):
    token = bearer(web.shell, "bob")
    with reading(web, **token) as program, reading(web, web.token("bob", "101")) as page:
        assert [next(program).data["board"] for _ in range(6)] == ["101", "102", "103", "104", "105", "106"]
        assert next(page).data["moves"] == 0
        play(web, "alice", "101", "e5")
        heard_of = next(program)
        assert (heard_of.data["moves"], next(page).data["moves"]) == (1, 1)
    with reading(web, **token, Last_Event_ID=heard_of.id) as program:
        play(web, "bob", "101", "c3")
        heard_of = next(program)
        assert heard_of.data["moves"] == 2
    play(web, "alice", "101", "g7")
    with reading(web, **token, Last_Event_ID=heard_of.id) as program:
        assert next(program).data["moves"] == 3


def test_a_stream_ends_when_its_token_or_its_address_ends(web):
    token = bearer(web.shell, "bob", "ended")
    with reading(web, **token) as program, reading(web, web.token("bob", "102")) as page:
        next(page)
        assert len([next(program) for _ in range(6)]) == 6
        web.shell.run("token", "bob", PASSWORDS["bob"], "ended", "revoke")
        assert program.is_over()
        web.shell.run("change", "password", "bob", PASSWORDS["bob"], PASSWORDS["bob"])
        assert page.is_over()
    with reading(web, **token) as program:
        assert program.status == 401


def test_what_is_sent_behind_the_request_of_a_stream_ends_it(web):
    request = f"GET /events HTTP/1.1\r\nHost: x\r\nAuthorization: {bearer(web.shell, 'alice')['Authorization']}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", web.port), timeout=PATIENCE) as connection:
        connection.sendall(request.encode())
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        with suppress(OSError):
            for _ in range(100):
                connection.sendall(b"x" * 10_000)
            while connection.recv(10_000):
                pass


OWN = {"Origin": "https://known.example"}


@pytest.mark.parametrize(
    ("method", "headers", "body", "status"),
    [
        ("GET", {}, None, 401),
        ("GET", {"Authorization": "Bearer pbm_0123456789abcdef"}, None, 401),
        ("GET", {"Authorization": "Basic Ym9iOmJvYi1zZWNyZXQ="}, None, 401),
        ("GET", OWN, None, 401),
        ("GET", {"Origin": "https://evil.example"}, None, 403),
        ("GET", {"Origin": "http://evil.example", "Host": "evil.example"}, None, 403),
        ("GET", {"Sec-Fetch-Site": "cross-site"}, None, 403),
        ("HEAD", {}, None, 405),
        ("OPTIONS", {}, None, 405),
        ("PUT", {}, "", 405),
        ("POST", {"Content-Type": FORM}, "token=r1-0123456789abcdef0123456789abcdef", 403),
        ("POST", {"Content-Type": FORM}, "", 403),
        ("POST", {"Content-Type": "text/plain"}, "token=x", 415),
        ("POST", {"Content-Type": FORM, "Origin": "https://evil.example"}, "token=x", 403),
        ("POST", {"Content-Type": FORM, "Origin": "http://evil.example", "Host": "evil.example"}, "token=x", 403),
        ("POST", {"Content-Type": FORM, "Origin": "null"}, "token=x", 403),
        ("POST", {"Content-Type": FORM}, "x" * 30_000, 413),
    ],
)
def test_who_may_hear_nothing_learns_why(web, method, headers, body, status):
    answered, found, text = web.ask(method, "/events", body, **headers, X_Forwarded_For="198.51.100.9")
    assert (answered, found.get_content_type() == "text/event-stream") == (status, False)
    assert not [name for name in found if name.lower().startswith("access-control")]
    assert "pbm_" not in text


def many_bearers(shell, count):
    """The headers with new tokens of many users."""
    headers = []
    now = datetime.now(UTC)
    with Store(shell.folder / "pbm.db") as store, store.writing():
        for number in range(count):
            store.users.add(f"user{number}", "", now)
            secret = f"pbm_{number:064x}"
            store.trust.add_token(tokens.digest(secret), Token(f"user{number}", "many", "read", now, now))
            headers.append({"Authorization": f"Bearer {secret}"})
    return headers


@pytest.mark.long
def test_streams_are_no_connections_and_all_end_at_once_when_the_server_stops(tmp_path):
    shell = Shell(tmp_path)
    shell.sign_up("alice", "bob")
    shell.run("symple", "challenge", "-size=9", "alice", "bob")
    headers = many_bearers(shell, 40)
    with serving(shell) as web, ExitStack() as streams:
        opened = [streams.enter_context(reading(web, **one)) for one in headers for _ in range(5)]
        assert {stream.status for stream in opened} == {200}
        with reading(web, **headers[0]) as sixth:
            assert (sixth.status, sixth.response.headers["Retry-After"]) == (429, "60")
        opened.append(streams.enter_context(reading(web, **bearer(shell, "alice"))))
        assert next(opened[-1]).data["moves"] == 0
        assert web.post(token=web.token(), text="e5")[0] == 200
        assert next(opened[-1]).data["moves"] == 1
        begin = time.monotonic()
        web.process.terminate()
        assert all(stream.is_over() for stream in opened)
        assert time.monotonic() - begin < SHUTDOWN_SECONDS


@pytest.mark.long
def test_the_database_of_a_server_that_was_restored_sends_all_boards_again(tmp_path):
    shell = Shell(tmp_path)
    shell.sign_up("alice", "bob")
    shell.run("symple", "challenge", "-size=9", "alice", "bob")
    token = bearer(shell, "bob")
    shell.run("backup", str(tmp_path / "copy.db"))
    shell.run("symple", "move", "101", "alice", PASSWORDS["alice"], "e5")
    with serving(shell) as web, reading(web, **token) as stream:
        last = next(stream)
    with serving(shell) as web, reading(web, **token, Last_Event_ID=last.id) as stream:
        shell.run("symple", "move", "101", "bob", PASSWORDS["bob"], "c3")
        last = next(stream)
        assert last.data["moves"] == 2
    shell.run("restore", "--yes", str(tmp_path / "copy.db"))
    with serving(shell) as web, reading(web, **token, Last_Event_ID=last.id) as stream:
        again = next(stream)
    assert (again.data["moves"], again.id.partition("-")[0] == last.id.partition("-")[0]) == (0, False)
