"""Notices by other ways than mail: whom they reach, what they say, once, and never an inner address."""

import hmac
import json
import re
import subprocess
import sys
import threading
from ipaddress import ip_network

import pytest

from pbm.access import tokens
from pbm.actions import cleanup
from pbm.language.line import Line
from pbm.language.masking import without_passwords
from pbm.notices import sending
from pbm.notices.guard import is_allowed
from pbm.refusals import Refused
from pbm.runner import read_for
from pbm.session import Session

from helpers.club import PASSWORDS
from helpers.database import sql, stored
from helpers.mail import mail_of, outcome_of
from helpers.patience import until
from helpers.servers import SERVE, port_of, running
from helpers.targets import listening

URL = "ntfy://user:topsecret@ntfy.example/alice-topic"
SITE = "https://games.example"


@pytest.fixture
def notified(board):
    """The club with a board of Symple, whose operator allows ntfy and webhooks."""
    board.server = board.server._replace(notice_kinds=("ntfy", "https"), site=SITE)
    return board


@pytest.fixture
def hook(notified, certificate, monkeypatch):
    """A webhook of bob, which he has confirmed by the code that came there."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.file))
    with listening(certificate) as taken:
        taken.data = added(notified, "bob", f"https://localhost:{taken.port}/moves?of=bob")
        assert sending.send_notices(notified.server) == (1, 0)
        confirmed(notified, "bob", taken.posts.pop().message["code"])
        yield taken


def added(club, name, url):
    """Add where notices go. Returns what programs get."""
    return say(club, name, f"add {url}").data


def say(club, name, rest):
    return club.say(f"notices {name} {PASSWORDS[name]} {rest}")[-1]


def confirmed(club, name, code):
    return say(club, name, f"confirm {code}").data


def code_of(club):
    """The last code that waits to be sent."""
    return [row["detail"] for row in stored(club.store, "notices") if row["about"] == "code"][-1]


def let_notify(club, name, url=URL):
    """Let notices of a user wait for a target that nobody asks for them."""
    added(club, name, url)
    confirmed(club, name, code_of(club))
    club.store.db.execute("DELETE FROM notices")


def waiting(club):
    """The notices that wait, each by what it is about, and its text."""
    return [(row["about"], row["text"]) for row in stored(club.store, "notices")]


def play(club, *moves, comment=""):
    """Moves on board 101, alice's first."""
    for number, move in enumerate(moves):
        name = ("alice", "bob")[number % 2]
        club.say(f"symple move 101 {name} {PASSWORDS[name]} {move}", comment)


# Where notices go


def test_nothing_but_a_code_goes_to_a_target_before_it_is_confirmed(notified):
    added(notified, "bob", URL)
    play(notified, "c3")
    notified.say("message alice alice-secret bob", "Hello")
    text = (
        "Somebody wants notices for the user bob of the play-by-mail server pbm.example to come here. If it was you: "
        f"notices bob PASSWORD confirm {code_of(notified)}"
    )
    assert waiting(notified) == [("code", text)]
    confirmed(notified, "bob", code_of(notified))
    notified.say("message alice alice-secret bob", "Hello")
    assert waiting(notified)[1:] == [("text", "alice has written to you.")]


def test_a_code_confirms_its_own_target_once_and_for_its_own_user(notified):
    added(notified, "bob", URL)
    code = code_of(notified)
    assert notified.why_refused(f"notices alice alice-secret confirm {code}").startswith("This code confirms nothing")
    confirmed(notified, "bob", code.upper())
    assert notified.why_refused(f"notices bob bob-secret confirm {code}").startswith("This code confirms nothing")


def test_a_list_shows_no_secret(notified):
    let_notify(notified, "bob")
    added(notified, "bob", "https://hooks.example/path-secret?key=secret full")
    letter = say(notified, "bob", "list")
    assert letter.body == (
        "Notices of bob go to:\n"
        "  1: ntfy://…, added 2026-11-20 12:00 UTC, confirmed\n"
        "  2: https://hooks.example/…, with what others write, added 2026-11-20 12:00\n"
        "UTC, waiting for its code"
    )
    assert [(one["number"], one["target"], one["full"], one["confirmed"]) for one in letter.data["notices"]] == [
        (1, "ntfy://…", False, True),
        (2, "https://hooks.example/…", True, False),
    ]
    say(notified, "bob", "drop 1")
    assert [one["number"] for one in say(notified, "bob", "list").data["notices"]] == [2]


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("add mailto://a:b@mail.example", "This server sends no notices of this kind; the URL has to begin with"),
        ("add mailtos://a:b@mail.example", "This server sends no notices of this kind"),
        ("add tgram://token/chat", "This server sends no notices of this kind"),
        ("add http://hooks.example/", "This server sends no notices of this kind"),
        ("add ntfy://a/b?attach=/etc/passwd", "Behind the question mark of this URL can stand only auth, mode"),
        ("add ntfy://a/b?auth=login&email=victim@mail.example", "Behind the question mark"),
        ("add ntfy://a/b?auth=login;%65mail=victim@mail.example", "Behind the question mark"),
        ("add ntfy://a/b?redirect=yes", "Behind the question mark"),
        ("add https://user:word@hooks.example/", "A webhook is written https://HOST/PATH"),
        ("add https://hooks.example:port/", "A webhook is written https://HOST/PATH"),
        ("add https:///path", "A webhook is written https://HOST/PATH"),
        ("add alice@players.example", "A URL of notices is one word that begins with `ntfy://` or `https://`."),
        ("add ntfy://topic fully", "Behind the password stands `add URL`"),
        ("add", "Behind the password stands `add URL`"),
        ("drop 9", "alice has no such number"),
        ("drop ntfy://topic", "alice has no such number"),
        ("remove 1", "Behind the password stands `add URL`"),
    ],
)
def test_what_cannot_be_notified_is_refused(notified, rest, why):
    assert notified.why_refused(f"notices alice alice-secret {rest}").startswith(why)
    assert stored(notified.store, "notice_targets") == []


def test_a_server_whose_operator_has_allowed_nothing_notifies_nobody(board):
    assert board.why_refused(f"notices alice alice-secret add {URL}").startswith("This server sends no notices")


def test_a_user_has_ten_targets_and_each_once(notified):
    for number in range(10):
        added(notified, "alice", f"ntfy://topic-{number}")
    assert "10 places, which is the most" in notified.why_refused("notices alice alice-secret add ntfy://another")
    say(notified, "alice", "drop 1")
    assert notified.why_refused("notices alice alice-secret add ntfy://topic-2").startswith("Your notices go there al")


def test_by_mail_a_user_can_have_ten_codes_a_day_sent_and_no_more(notified):
    """So that nobody lets us write to others again and again."""
    for number in range(10):
        notified.say(f"notices alice alice-secret add ntfy://t{number}", sender="alice@players.example")
        notified.say(f"notices alice alice-secret drop {number + 1}", sender="alice@players.example")
    why = notified.why_refused("notices alice alice-secret add ntfy://more", sender="alice@players.example")
    assert why.startswith("At most 10 codes are sent for a user in a day")
    assert stored(notified.store, "notices") == []


def test_the_secret_of_a_webhook_is_shown_once_and_never_by_mail(notified):
    why = notified.why_refused("notices bob bob-secret add https://hooks.example/", sender="bob@players.example")
    assert why.startswith("A webhook is not added by mail")
    secret = added(notified, "bob", "https://hooks.example/")["secret"]
    assert re.fullmatch("pbm_webhook_[0-9a-f]{64}", secret)
    assert tokens.masked(f"my secret is {secret}.") == "my secret is TOKEN."
    assert without_passwords(f"my secret is {secret}, I think", None).text == "my secret is PASSWORD I think"
    assert secret not in say(notified, "bob", "list").body
    assert all(secret not in mail.text for mail in notified.mails())


def test_the_user_gets_a_mail_about_each_new_target_without_its_secrets(notified):
    added(notified, "bob", URL)
    text = notified.mails("bob")[-1].text
    assert "Notices for bob will go to ntfy://…" in text
    assert "`notices bob PASSWORD drop 1`" in text
    assert "topsecret" not in text


def test_a_token_cannot_change_where_notices_go(notified):
    """Whoever steals it would read the board for ever."""
    token = notified.say("token bob bob-secret laptop")[-1].data["token"]
    bearer = notified.store.trust.token(tokens.digest(token), notified.time)
    session = Session(notified.server, is_trusted=False, bearer=bearer)
    _, why = read_for(session, f"notices add {URL}")
    assert str(why).startswith("A token cannot give this command")


def test_a_new_password_asks_for_a_new_code(notified):
    let_notify(notified, "bob")
    notified.say("change password bob bob-secret another-secret")
    play(notified, "c3")
    assert [about for about, _ in waiting(notified)] == ["code"]
    notified.say(f"notices bob another-secret confirm {code_of(notified)}")
    assert [one["confirmed"] for one in notified.say("notices bob another-secret list")[-1].data["notices"]] == [True]


def test_a_target_that_has_to_be_confirmed_anew_waits_for_a_week_from_then_on(notified):
    let_notify(notified, "bob")
    notified.pass_time(days=30)
    notified.say("change password bob bob-secret another-secret")
    notified.pass_time(days=6)
    cleanup.clean_up(Session(notified.server))
    assert len(stored(notified.store, "notice_targets")) == 1
    notified.pass_time(days=2)
    cleanup.clean_up(Session(notified.server))
    assert stored(notified.store, "notice_targets") == []


def test_who_signs_off_takes_their_targets_and_notices_away(notified):
    let_notify(notified, "bob")
    play(notified, "c3")
    assert waiting(notified)
    notified.say("signoff bob bob-secret")
    assert (waiting(notified), stored(notified.store, "notice_targets")) == ([], [])


def test_a_target_that_nobody_confirms_is_forgotten(notified):
    added(notified, "bob", URL)
    let_notify(notified, "alice")
    notified.pass_time(days=8)
    cleanup.clean_up(Session(notified.server))
    assert [row["userid"] for row in stored(notified.store, "notice_targets")] == ["alice"]


# Secrets


@pytest.mark.parametrize(
    "line",
    [
        f"notices bob bob-secret add {URL}",
        f"notices bob wrong-secret add {URL} full",
        f"notices bob add {URL} bob-secret",
        f"notices add {URL} bob bob-secret",
        f"notices nobody-here bob-secret add {URL}",
        f"notice bob bob-secret add {URL}",
        f"notices bob bob-secret add {URL} and more words",
        "notices bob bob-secret add tgram://topsecret/chat",
        "notices bob bob-secret drop tgram://topsecret/chat",
    ],
)
def test_no_refusal_and_no_log_repeats_a_url(notified, line):
    is_user = notified.store.users.is_taken
    raw = mail_of("bob@players.example", line, message_id="<1@players.example>")
    outcome = outcome_of(notified.server, raw, "bob@players.example")
    answers = "".join(mail.text + mail.subject for mail in notified.mails())
    noted = str(stored(notified.store, "handled")) + str(stored(notified.store, "events"))
    seen = f"{outcome}{answers}{noted}{Line.read(line).logged(is_user)}"
    assert "topsecret" not in seen
    assert "bob-secret" not in seen
    below = Line.read("symple show 101").refusal(Refused("No."), line, is_user=is_user).body
    assert "topsecret" not in below


# What a notice says


def test_it_is_told_whose_turn_it_is_without_a_word_that_anybody_wrote(notified):
    let_notify(notified, "bob")
    play(notified, "c3", comment="Buy at shady.example!")
    assert waiting(notified) == [
        (
            "turn",
            "Symple board 101, alice (white) against bob (black): bob's turn (black). alice has written something.",
        )
    ]
    assert "shady" not in str(stored(notified.store, "notices"))


def test_a_user_who_wants_all_gets_what_others_write(notified):
    let_notify(notified, "bob", f"{URL} full")
    play(notified, "c3", comment="Take care.")
    notified.say("symple chat 101 alice alice-secret", "Are you there?")
    assert [row["detail"] for row in stored(notified.store, "notices")] == ["Take care.", "Are you there?"]
    assert waiting(notified)[1] == ("text", "alice has written on Symple board 101.")


def test_it_is_told_that_a_game_is_over_and_to_nobody_who_has_ended_it_themselves(notified):
    let_notify(notified, "bob")
    let_notify(notified, "alice", "ntfy://of-alice")
    play(notified, "c3", "a1")
    notified.store.db.execute("DELETE FROM notices")
    notified.say("symple resign 101 alice alice-secret")
    assert waiting(notified) == [
        ("end", "Symple board 101, alice (white) against bob (black): Won by bob (alice resigned).")
    ]


def test_mails_about_boards_may_be_off_and_notices_come_all_the_same(notified):
    notified.say("mail bob bob-secret none")
    let_notify(notified, "bob")
    play(notified, "c3")
    assert [about for about, _ in waiting(notified)] == ["turn"]


def test_nobody_is_told_of_boards_of_others_or_of_their_own_words(notified):
    let_notify(notified, "carol", "ntfy://of-carol")
    notified.say("symple subscribe 101 carol carol-secret")
    play(notified, "c3")
    assert waiting(notified) == []


def test_a_command_that_is_refused_has_notified_nobody(notified):
    let_notify(notified, "bob")
    for line in ("symple move 101 alice alice-secret zz", "message alice alice-secret bob nobody"):
        notified.why_refused(line, "Hello")
    assert waiting(notified) == []


def test_only_the_newest_notices_wait_for_a_target_that_takes_none(notified, monkeypatch):
    monkeypatch.setattr("pbm.delivery.notices.MOST_WAITING_NOTICES", 2)
    let_notify(notified, "bob", f"{URL} full")
    for text in ("One", "Two", "Three"):
        notified.say("message alice alice-secret bob", text)
    assert [row["detail"] for row in stored(notified.store, "notices")] == ["Two", "Three"]


# Sending


def test_a_webhook_gets_the_board_as_signed_json_with_a_private_link_once(notified, hook):
    play(notified, "c3")
    assert sending.send_notices(notified.server) == (1, 0)
    assert sending.send_notices(notified.server) == (0, 0)
    [post] = hook.posts
    address = notified.mails("bob")[-1].reply_to
    assert post.path == "/moves?of=bob"
    assert post.message == {
        "id": 2,
        "notice": "turn",
        "text": "Symple board 101, alice (white) against bob (black): bob's turn (black).",
        "link": f"{SITE}/symple/101.html#{tokens.token_of(address)}",
        "game": "symple",
        "board": "101",
        "moves": 1,
        "turn": "bob",
        "players": ["alice", "bob"],
        "status": "bob's turn",
        "over": False,
        "vote": None,
        "voter": None,
    }
    assert (post.headers["Content-Type"], post.headers["Pbm-Notice"]) == ("application/json", "2")
    signature = hmac.new(hook.data["secret"].encode(), post.body, "sha256").hexdigest()
    assert post.headers["Pbm-Signature"] == f"sha256={signature}"


def test_what_does_not_count_any_more_is_dropped_and_not_sent(notified, hook):
    play(notified, "c3", "a1")
    assert waiting(notified)
    assert sending.send_notices(notified.server) == (0, 0)
    play(notified, "c5")
    notified.say("symple resign 101 bob bob-secret")
    assert [about for about, _ in waiting(notified)] == ["turn"]
    assert sending.send_notices(notified.server) == (0, 0)
    assert (hook.posts, waiting(notified)) == ([], [])


def test_a_turn_that_was_taken_back_and_is_played_again_is_told_again(notified, hook):
    play(notified, "c3")
    sending.send_notices(notified.server)
    notified.say("symple move 101 alice alice-secret undo")
    notified.say("symple move 101 bob bob-secret accept")
    play(notified, "c4")
    sending.send_notices(notified.server)
    assert [post.message["notice"] for post in hook.posts][-1] == "turn"
    assert len(hook.posts) >= 2


def test_a_target_that_fails_is_tried_more_and_more_seldom_and_its_turn_is_told_late(notified, hook):
    hook.status = 503
    play(notified, "c3")
    tries = []
    for minute in range(10):
        sending.send_notices(notified.server)
        tries += [minute] * (len(hook.posts) - len(tries))
        notified.wait(minutes=1)
    assert tries == [0, 1, 3, 7]
    assert say(notified, "bob", "list").data["notices"][0]["problem"] == "it answered with the status 503"
    hook.status = 204
    notified.wait(hours=1)
    assert sending.send_notices(notified.server) == (1, 0)
    assert say(notified, "bob", "list").data["notices"][0]["problem"] is None
    assert len({post.message["id"] for post in hook.posts}) == 1


def test_a_target_that_fails_for_three_days_is_suspended_and_its_user_gets_a_mail(notified, hook):
    hook.status = 500
    play(notified, "c3")
    sending.send_notices(notified.server)
    notified.wait(days=2, hours=23)
    sending.send_notices(notified.server)
    before = len(notified.mails("bob"))
    assert say(notified, "bob", "list").data["notices"][0]["suspended"] is False
    notified.wait(hours=2)
    sending.send_notices(notified.server)
    [mail] = notified.mails("bob")[before:]
    assert "Your notices to https://localhost/… (number 1) have failed since 2026-11-20" in mail.text
    assert "?of=bob" not in mail.text
    assert say(notified, "bob", "list").data["notices"][0]["suspended"] is True
    count = len(hook.posts)
    notified.say("message alice alice-secret bob", "Hello")
    notified.wait(days=1)
    assert sending.send_notices(notified.server) == (0, 0)
    assert (len(hook.posts), waiting(notified)) == (count, [])


def test_a_target_that_keeps_us_waiting_is_given_up_and_others_get_theirs(notified, hook, monkeypatch):
    monkeypatch.setattr(sending, "NOTICE_SECONDS", 0.2)
    is_over = threading.Event()
    hook.before_answer = lambda: is_over.wait() if hook.posts[-1].path == "/slow" else None
    let_notify(notified, "alice", f"https://localhost:{hook.port}/slow")
    notified.say("message bob bob-secret alice", "Hello")
    notified.say("message alice alice-secret bob", "Hello")
    assert sending.send_notices(notified.server) == (1, 1)
    is_over.set()
    [target] = say(notified, "alice", "list").data["notices"]
    assert target["problem"] == "it has not taken the notice in 0.2 seconds"


def test_a_redirection_is_a_failure(notified, hook, certificate):
    with listening(certificate) as elsewhere:
        hook.status = 307
        hook.location = f"https://localhost:{elsewhere.port}/"
        play(notified, "c3")
        assert sending.send_notices(notified.server) == (0, 1)
        assert elsewhere.posts == []


def test_what_the_operator_has_stopped_to_allow_is_not_sent(notified, hook):
    play(notified, "c3")
    assert sending.send_notices(notified.server._replace(notice_kinds=("ntfy",))) == (0, 0)
    assert hook.posts == []


def test_targets_that_answer_slowly_come_last(notified, hook):
    """So that whoever lets us wait holds up themselves."""
    let_notify(notified, "alice", f"https://localhost:{hook.port}/slow")
    notified.store.db.execute("UPDATE notice_targets SET seconds = 9 WHERE userid = 'alice'")
    notified.say("message bob bob-secret alice", "Hello")
    notified.say("message alice alice-secret bob", "Hello")
    assert sending.send_notices(notified.server) == (2, 0)
    assert [post.path for post in hook.posts] == ["/moves?of=bob", "/slow"]


# Inner addresses


@pytest.mark.parametrize(
    ("host", "is_right"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("127.255.0.9", False),
        ("0.0.0.0", False),  # noqa: S104  nothing listens there: it has to be refused
        ("10.0.0.1", False),
        ("172.16.9.9", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:0:7f00:1::", False),
        ("localhost", False),
        ("games.example", False),
        ("2130706433", False),
        ("0x7f.1", False),
        ("", False),
    ],
)
def test_only_the_number_of_a_public_machine_is_connected_to(host, is_right):
    assert is_allowed((host, 443)) is is_right
    assert is_allowed((host, 443, 0, 0)) is is_right


def test_no_socket_in_the_file_system_is_connected_to():
    assert not is_allowed("/run/secret.sock")
    assert not is_allowed(b"\0abstract")


def test_the_operator_may_allow_inner_networks():
    inner = [ip_network("10.1.0.0/16"), ip_network("::1")]
    allowed = [
        host for host in ("10.1.2.3", "10.2.0.1", "127.0.0.1", "::1", "::ffff:10.1.2.3") if is_allowed((host, 1), inner)
    ]
    assert allowed == ["10.1.2.3", "::1", "::ffff:10.1.2.3"]


GUARDED = """
import json, socket, subprocess, sys
from pbm.notices import guard, posting, sending
from pbm.settings import inner_networks

look_up = socket.getaddrinfo
port = int(sys.argv[1])
answers = {
    "loopback.example": ["127.0.0.1"],
    "private.example": ["10.0.0.1"],
    "changing.example": ["93.184.216.34", "127.0.0.1"],
    "allowed.example": ["127.0.0.2"],
}
asked = []

def getaddrinfo(host, port, *more, **named):
    asked.append(host)
    hosts = answers.get(host, [host])
    return look_up(hosts.pop(0) if len(hosts) > 1 else hosts[0], port, *more, **named)

socket.getaddrinfo = getaddrinfo
sending.prepare_process(inner_networks())
tried = {"changing.example at first": guard.is_allowed(socket.getaddrinfo("changing.example", 443)[0][4])}
for url in sys.argv[2:]:
    try:
        if url.startswith("https"):
            posting.post_to_webhook(url, "secret", 1, {})
        else:
            posting.post_by_apprise(url, "Your turn.")
        tried[url] = ""
    except posting.Unposted as why:
        tried[url] = str(why)
for name, start in {
    "program": lambda: subprocess.run(["true"]),
    "connect_ex": lambda: socket.socket().connect_ex(("127.0.0.1", port)),
    "datagram": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)),
    "name": lambda: socket.socket().connect(("localhost", port)),
}.items():
    try:
        start()
        tried[name] = "done"
    except OSError as why:
        tried[name] = type(why).__name__
print(json.dumps([tried, asked]))
"""
"""A process that sends to the URLs that it is given, with a DNS of its own."""


@pytest.mark.long
def test_a_process_that_sends_connects_to_no_inner_address_by_whatever_name_library_and_redirection(shell, certificate):
    with (
        listening(certificate) as by_tls,
        listening() as plain,
        listening(host="127.0.0.2") as allowed,
        listening(host="127.0.0.2") as endless,
    ):
        endless.is_endless = True
        allowed.status = 307
        allowed.location = f"http://127.0.0.1:{plain.port}/"
        inner = [
            f"https://loopback.example:{by_tls.port}/",
            "https://private.example/",
            f"https://changing.example:{by_tls.port}/",
            f"https://127.0.0.1:{by_tls.port}/",
            f"https://[::ffff:127.0.0.1]:{by_tls.port}/",
            f"https://2130706433:{by_tls.port}/",
            f"ntfy://loopback.example:{plain.port}/topic",
            "ntfy://private.example/topic",
            f"ntfy://127.0.0.1:{plain.port}/topic",
            f"gotify://loopback.example:{plain.port}/token",
            f"matrix://user:word@loopback.example:{plain.port}/#room",
        ]
        redirected = f"ntfy://allowed.example:{allowed.port}/topic"
        flooding = f"ntfy://allowed.example:{endless.port}/topic"
        several = f"ntfy://allowed.example:{allowed.port}/topic/another"
        done = subprocess.run(
            [sys.executable, "-c", GUARDED, str(plain.port), *inner, redirected, several, "nothing://known", flooding],
            env=shell.environment | {"PBM_NOTICES_INNER": "127.0.0.2", "SSL_CERT_FILE": str(certificate.file)},
            capture_output=True,
            text=True,
            check=True,
        )
        tried, asked = json.loads(done.stdout)
        assert done.stderr == ""
        assert (by_tls.posts, plain.posts, len(allowed.posts)) == ([], [], 1)
    assert tried["changing.example at first"] is True
    for url in inner:
        is_webhook = url.startswith("https")
        assert tried[url] == (
            "it leads to an address that is not public" if is_webhook else "Apprise could not send it"
        )
    assert tried[redirected] == "Apprise could not send it"
    assert tried[several] == "the URL names several recipients, and may name one"
    assert tried["nothing://known"] == "Apprise does not understand the URL"
    assert tried[flooding] == "Apprise failed (MemoryError)"
    assert tried["program"] == "PermissionError"
    assert (tried["connect_ex"], tried["datagram"], tried["name"]) == ("NotPublic", "NotPublic", "NotPublic")
    assert {"loopback.example", "private.example", "changing.example"} <= {*asked}


# The processes that send


SETTINGS = {"PBM_NOTICES": "ntfy,https", "PBM_NOTICES_INNER": "127.0.0.1"}


def reach(shell, name, url):
    """Add where notices of a user go, and confirm it at once."""
    shell.done("notices", name, f"{name}-secret", "add", url, **SETTINGS)
    [(code,)] = sql(shell.folder / "pbm.db", "SELECT detail FROM notices WHERE about = 'code' ORDER BY id DESC LIMIT 1")
    shell.done("notices", name, f"{name}-secret", "confirm", code)
    sql(shell.folder / "pbm.db", "DELETE FROM notices")


@pytest.mark.long
def test_a_server_sends_each_notice_once_by_a_webhook_and_by_apprise(shell, certificate):
    shell.sign_up("alice", "bob", has_mail=True)
    shell.done("symple", "challenge", "alice", "bob", "-size=5")
    environment = SETTINGS | {"SSL_CERT_FILE": str(certificate.file), "PBM_SITE": SITE}
    with listening(certificate) as hook, listening() as ntfy, running(shell, *SERVE, **environment) as process:
        port_of(process)
        shell.done("notices", "bob", "bob-secret", "add", f"ntfy://127.0.0.1:{ntfy.port}/bobs-topic", **SETTINGS)
        shell.done("notices", "bob", "bob-secret", "add", f"https://localhost:{hook.port}/", **SETTINGS)
        until(lambda: ntfy.posts and hook.posts)
        code = re.search("confirm ([0-9a-f]{12})", ntfy.posts[0].body.decode())[1]
        shell.done("notices", "bob", "bob-secret", "confirm", code)
        shell.done("notices", "bob", "bob-secret", "confirm", hook.posts[0].message["code"])
        shell.done("symple", "move", "101", "alice", "alice-secret", "c3")
        until(lambda: len(ntfy.posts) == len(hook.posts) == 2)
        shell.done("symple", "move", "101", "bob", "bob-secret", "a1")
        shell.done("symple", "move", "101", "alice", "alice-secret", "c4")
        until(lambda: len(ntfy.posts) == len(hook.posts) == 3)
        assert [post.message.get("moves") for post in hook.posts] == [None, 1, 3]
        assert "#r" in hook.posts[1].message["link"]
        text = ntfy.posts[1].body.decode()
        assert f"bob's turn (black).\\n{SITE}/symple/101.html" in text
        assert "#r" not in text
        until(lambda: sql(shell.folder / "pbm.db", "SELECT count(*) FROM notices") == [(0,)])


@pytest.mark.long
def test_a_notice_goes_out_at_most_twice_with_one_number_though_each_process_is_killed(shell, certificate):
    shell.sign_up("alice", "bob", has_mail=True)
    shell.done("symple", "challenge", "alice", "bob", "-size=5")
    environment = SETTINGS | {"SSL_CERT_FILE": str(certificate.file)}
    with listening(certificate) as hook:
        reach(shell, "bob", f"https://localhost:{hook.port}/")
        shell.done(
            "symple", "move", "101", "alice", "alice-secret", "c3"
        )  # a process that is not there has sent nothing
        for _ in range(3):
            with running(shell, "outbox", "notify", **environment) as process:
                hook.before_answer = process.kill
                process.wait()
        assert [post.message["id"] for post in hook.posts] == [2, 2]
        hook.before_answer = lambda: None
        shell.done("symple", "move", "101", "bob", "bob-secret", "a1")
        shell.done("symple", "move", "101", "alice", "alice-secret", "c4")
        for _ in range(2):
            with running(shell, "outbox", "notify", **environment) as process:
                assert process.wait() == 0
        assert [post.message["id"] for post in hook.posts] == [2, 2, 3]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"PBM_NOTICES": "ntfy, matrix"}, "PBM_NOTICES is no list of kinds of notices"),
        ({"PBM_NOTICES": "ntfy,mailto"}, "PBM_NOTICES cannot have mailto"),
        ({"PBM_NOTICES": "http"}, "PBM_NOTICES cannot have http"),
    ],
)
def test_odd_settings_are_refused(shell, settings, why):
    shell.sign_up("alice")
    done = shell.run("notices", "alice", "alice-secret", "list", **settings)
    assert done.stderr.startswith(why)


def test_a_server_does_not_start_without_what_its_notices_need(shell, monkeypatch):
    monkeypatch.setattr("pbm.service.commands.find_spec", lambda _: None)
    done = shell.run("serve", "--listen=127.0.0.1:0", PBM_NOTICES="https,ntfy")
    assert done.stderr.startswith("The kinds of PBM_NOTICES but https need Apprise")


def test_odd_networks_are_refused(shell):
    shell.sign_up("alice")
    done = shell.run("outbox", "notify", PBM_NOTICES="https", PBM_NOTICES_INNER="10.0.0.0/33")
    assert done.stderr.startswith("PBM_NOTICES_INNER is no list of addresses and networks")
