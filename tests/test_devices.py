"""This device is mine: a link that is mailed makes a browser a device, which plays on all boards of its user."""

import email.policy
import re
import time
from datetime import UTC, datetime, timedelta
from email import message_from_string
from functools import cache
from http.cookies import SimpleCookie
from statistics import median

import pytest

from pbm.service.devices import next_board
from pbm.store import Reply

from helpers.club import PASSWORDS
from helpers.database import sql
from helpers.mail import message
from helpers.patience import until
from helpers.servers import arrived, inbox
from helpers.shell import Shell
from helpers.streams import reading
from helpers.web import AS_JSON, serving

SITE = "https://games.example"
SECURE_HOST = {"Host": "games.example", "Origin": SITE, "Sec_Fetch_Site": "same-origin"}
COOKIE = "pbm-device"
BOARDS = 6


def club_of_three(shell):
    """Boards of Symple on which alice is to move, one on which bob is, and one that is none of alice's."""
    shell.sign_up("alice", "bob", "carol", has_mail=True)
    lines = ["symple challenge -size=9 alice bob"] * BOARDS
    lines += ["symple challenge -size=9 bob alice", "symple challenge -size=9 bob carol"]
    shell.run("multiple", "--comment=-", stdin="\n".join(lines))
    shell.run("symple", "seek", "carol", "carol-secret", "1")


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    shell = Shell(tmp_path_factory.mktemp("devices"))
    shell.become(club_of_three)
    with serving(shell, PBM_WEB=SITE) as served:
        yield served


@pytest.fixture(autouse=True)
def _no_quota(web):
    """Let each test ask for links anew."""
    sql(web.shell.folder / "pbm.db", "DELETE FROM quotas WHERE kind LIKE '%link%'")


def mails_to(web, name):
    """The texts of the mails to a user, the oldest first."""
    return [text_of(mail) for mail in inbox(web.shell, name, 0)]


@cache
def text_of(mail):
    """The text of a mail; all that a user has got is looked through again and again."""
    return message_from_string(mail, policy=email.policy.default).get_body(("plain",)).get_content()


def links_to(web, name="alice"):
    """The links that were mailed to a user."""
    return [link for text in mails_to(web, name) for link in re.findall(rf"^{SITE}(/device/\w+)$", text, re.MULTILINE)]


def new_link(web, name="alice"):
    """Have a link mailed."""
    sql(web.shell.folder / "pbm.db", "DELETE FROM quotas WHERE kind LIKE '%link%'")
    before = len(links_to(web, name))
    assert web.submit({"userid": name}, "/device")[0] == 200
    return until(lambda: links_to(web, name)[before:])[-1]


def cookie_in(headers):
    """The name, the value and the attributes of the cookie that a response sets."""
    [morsel] = SimpleCookie(headers["Set-Cookie"]).values()
    return morsel


def new_device(web, name="alice", called=""):
    """Make a browser a device. Returns the cookie that it sends from now on."""
    status, headers, _ = web.submit({"name": called}, new_link(web, name))
    assert (status, headers["Location"]) == (303, "../me")
    return f"{COOKIE}={cookie_in(headers).value}"


def ended(web, scope="device"):
    """Remove all devices, or all links, which count for the 20 tokens of a user."""
    sql(web.shell.folder / "pbm.db", "DELETE FROM tokens WHERE scope = ?", scope)


def stored(web, columns="userid, name, scope", scope="device"):
    return sql(web.shell.folder / "pbm.db", f"SELECT {columns} FROM tokens WHERE scope = ? ORDER BY made", scope)


def play(web, cookie, board, text, **headers):
    """What a page posts that was opened by `#me`."""
    fields = {"token": "me", "game": "symple", "board": board, "text": text}
    return web.post(headers=AS_JSON | {"Cookie": cookie} | headers, **fields)


# How a browser becomes a device


def test_a_link_that_is_mailed_makes_a_browser_a_device_that_plays_on_all_boards_of_its_user(web):
    link = new_link(web)
    status, _, page = web.ask("GET", link)
    assert (status, "a device of <b>alice</b>" in page) == (200, True)
    status, headers, _ = web.submit({"name": "telephone"}, link)
    cookie = cookie_in(headers)
    assert (cookie.key, cookie["path"], cookie["samesite"], cookie["httponly"]) == (COOKIE, "/", "strict", True)
    assert (int(cookie["max-age"]), cookie["secure"]) == (90 * 86400, "")
    sent = f"{COOKIE}={cookie.value}"
    status, headers, page = web.ask("GET", "/me", Cookie=sent)
    assert status == 200
    assert "no-store" in headers.get_all("Cache-Control")
    waiting, others = page.split("Waiting for others")
    assert re.findall(r'<a class="plain" href="(symple/\d+\.html#me)"><img class="pic" src="symple/1', waiting) == [
        f"symple/{board}.html#me" for board in range(101, 101 + BOARDS)
    ]
    date = r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"
    assert re.search(
        rf'against bob<br><span class="soft">2\d days left, until <span class="time">{date}</span><', waiting
    )
    assert 'href="symple/107.html#me"' in others
    assert "symple/108" not in page
    assert f"Next board &middot; {BOARDS}" in page
    for board, text in (("101", "e5"), ("102", "a1")):
        status, said = play(web, sent, board, text)
        assert status == 200
        assert web.moves(board) == [text]
    assert said["next"] == {"count": BOARDS - 2, "path": "symple/103.html#me"}
    assert ("alice", "telephone", "device") in stored(web)
    listed = web.shell.done("tokens", "alice", "alice-secret")
    assert re.search(r"telephone: device, made .*, last used ", listed)
    assert until(lambda: any("is now the device telephone of alice" in text for text in mails_to(web, "alice")))
    web.shell.done("token", "alice", "alice-secret", "telephone", "revoke")
    assert play(web, sent, "103", "e5")[0] == 403
    assert "Mail me my boards" in web.ask("GET", "/me", Cookie=sent)[2]


def test_a_board_leads_on_to_one_on_which_a_draw_is_proposed_to_the_player_but_not_to_the_one_who_has_proposed(board):
    board.say("symple challenge -size=5 alice bob")
    for name, text in ("alice", "a1"), ("bob", "c3"), ("alice", "propose"):
        board.say(f"symple move 102 {name} {PASSWORDS[name]} {text}")
    leads_on = [next_board(board.server, Reply("symple", "101", name)) for name in ("alice", "bob")]
    assert leads_on == [{"count": 0, "path": ""}, {"count": 1, "path": "symple/102.html#me"}]


def test_elsewhere_than_on_this_machine_the_cookie_is_secure_and_of_this_very_host(web):
    status, headers, _ = web.submit({}, new_link(web), **SECURE_HOST)
    cookie = cookie_in(headers)
    assert (status, cookie.key, cookie["secure"], cookie["domain"]) == (303, f"__Host-{COOKIE}", True, "")
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "strict", "/")
    secure = f"__Host-{COOKIE}={cookie.value}"
    assert "Boards of alice" in web.ask("GET", "/me", Cookie=secure, **SECURE_HOST)[2]
    # another name of the domain could set this one
    tossed = f"{COOKIE}={cookie.value}"
    assert "Boards of alice" not in web.ask("GET", "/me", Cookie=tossed, **SECURE_HOST)[2]


def test_a_browser_that_comes_from_another_site_is_led_here_once_more_with_its_cookie(web):
    page = web.ask("GET", "/me", Sec_Fetch_Site="cross-site")[2]
    assert '<meta http-equiv="refresh" content="0">' in page
    assert "refresh" not in web.ask("GET", "/me", Sec_Fetch_Site="same-origin")[2]


def test_devices_have_names_of_their_own_and_count_among_the_tokens_of_a_user(web):
    ended(web)
    for _ in range(2):
        new_device(web, "bob", "sofa")
    new_device(web, "bob")
    names = [name for _, name, _ in stored(web)]
    assert names[:2] == ["sofa", "sofa-2"]
    assert re.fullmatch(r"browser-\d{4}-\d\d-\d\d", names[2])
    link = new_link(web, "bob")
    status, _, page = web.submit({"name": "two words"}, link)
    assert (status, "letters, digits, dots" in page, "<form" in page) == (422, True, False)
    for number in range(17):
        web.shell.done("token", "bob", "bob-secret", f"t{number}")
    status, _, page = web.submit({}, link)
    assert (status, "bob has 20 tokens and devices" in page) == (422, True)
    for number in range(17):
        web.shell.done("token", "bob", "bob-secret", f"t{number}", "revoke")
    assert web.submit({}, link)[0] == 303


# What can be done with it


def test_challenges_and_the_buttons_beside_seekers_work_without_a_mail_program(web):
    cookie = new_device(web)
    page = web.ask("GET", "/me", Cookie=cookie)[2]
    assert 'name="line" value="symple challenge alice carol"' in page
    assert 'name="line" value="spora challenge alice robot1"' in page
    assert 'name="line" value="symple seek 1"' in page
    key = re.search(r'name="id" value="([^"]+)"', page)[1]
    fields = {"id": key, "line": "symple challenge alice carol"}
    before = sql(web.shell.folder / "pbm.db", "SELECT count(*) FROM boards")
    for _ in range(2):  # the page is loaded anew
        status, headers, page = web.submit(fields, "/me", Cookie=cookie)
        assert status == 200, page
    assert "no-store" in headers.get_all("Cache-Control")
    [(count,)] = sql(web.shell.folder / "pbm.db", "SELECT count(*) FROM boards")
    assert count == before[0][0] + 1
    assert re.search(r'role="status">New: Symple board [^<]* please start \(white\)\.</p>', page)
    assert "PASSWORD" not in page
    status, _, page = web.submit({"id": key, "line": "symple seek 1"}, "/me", Cookie=cookie)
    assert status == 200, page
    assert "you seek a game of <b>Symple</b>" in page
    assert 'name="line" value="symple seek 1"' not in page
    status, _, page = web.submit({"line": "symple move 103 z9", "comment": "Hi"}, "/me", Cookie=cookie)
    assert (status, 'role="alert"' in page) == (422, True)
    assert 'value="symple move 103 z9"' in page
    assert ">Hi</textarea>" in page


@pytest.mark.parametrize(
    "line",
    [
        "change password alice-secret new-secret", "change password alice alice-secret new-secret",
        "change address alice alice-secret evil@players.example", "token alice alice-secret other",
        "tokens alice alice-secret", "signoff alice alice-secret", "reset alice", "signup eve eve-secret",
    ],
)  # fmt: skip
def test_passwords_addresses_and_tokens_are_changed_only_with_the_password(web, line):
    ended(web)
    cookie = new_device(web)
    users = web.shell.folder / "pbm.db", "SELECT userid, password, reset_code, signed_off FROM users"
    before = sql(*users), links_to(web), len(stored(web, scope="play"))
    status, _, page = web.submit({"line": line}, "/me", Cookie=cookie)
    assert status in {400, 403}
    assert 'role="alert"' in page
    assert before == (sql(*users), links_to(web), len(stored(web, scope="play")))


def test_a_device_can_be_forgotten_where_it_is(web):
    ended(web)
    cookie = new_device(web)
    status, headers, _ = web.submit({}, "/me/forget", Cookie=cookie)
    assert (status, headers["Location"], cookie_in(headers)["max-age"]) == (303, "../me", "0")
    assert stored(web) == []
    assert play(web, cookie, "104", "e5")[0] == 403


def test_a_stream_of_the_events_of_a_board_opens_by_the_cookie_and_ends_with_the_device(web):
    ended(web)
    cookie = new_device(web, called="couch")
    with reading(web, "me", "symple 108", Cookie=cookie) as refused:
        assert refused.status == 403  # on a board of others
    with reading(web, "me", "symple 101", Cookie=cookie) as stream:
        assert next(stream).data["board"] == "101"
        web.shell.done("token", "alice", "alice-secret", "couch", "revoke")
        assert stream.is_over()


# Attacks


def test_a_link_works_once_and_a_newer_one_ends_it_and_it_is_no_token_itself(web):
    ended(web)
    link = new_link(web)
    newer = new_link(web)
    for _ in range(2):
        assert web.ask("GET", newer)[0] == 200  # to look changes nothing
    assert web.submit({}, link)[0] == 403
    assert web.submit({}, newer)[0] == 303
    assert web.submit({}, newer)[0] == 403
    assert web.ask("GET", newer)[0] == 403
    secret = new_link(web).removeprefix("/device/")
    assert play(web, f"{COOKIE}={secret}", "104", "e5")[0] == 403
    bearer = {"Authorization": f"Bearer {secret}", "Content_Type": "text/plain"}
    assert web.ask("POST", "/command", "all games", **bearer)[0] == 401
    assert "link" not in web.shell.done("tokens", "alice", "alice-secret")
    assert len(stored(web)) == 1


def test_a_link_ends_after_a_day_and_a_device_90_days_after_its_last_use(web):
    ended(web)
    path = web.shell.folder / "pbm.db"
    link = new_link(web)
    day_before = datetime.now(UTC) - timedelta(hours=25)
    sql(path, "UPDATE tokens SET made = ? WHERE scope = 'link'", day_before.isoformat())
    assert web.ask("GET", link)[0] == 403
    assert web.submit({}, link)[0] == 403
    cookie = new_device(web)
    for days, status in ((89, 200), (91, 403)):
        last_use = datetime.now(UTC) - timedelta(days=days)
        sql(path, "UPDATE tokens SET used = ? WHERE scope = 'device'", last_use.isoformat())
        assert play(web, cookie, "104", "show")[0] == status
    bearer = {"Authorization": f"Bearer {cookie.partition('=')[2]}", "Content_Type": "text/plain"}
    assert web.ask("POST", "/command", "all games", **bearer)[0] == 401
    web.shell.done("cleanup")
    assert stored(web) == []


@pytest.mark.parametrize("value", ["", "x", "pbm_", "pbm_" + "0" * 64, "' OR 1 --", "r1-" + "0" * 32])
def test_a_forged_cookie_is_nobody(web, value):
    sql(web.shell.folder / "pbm.db", "DELETE FROM failures")
    cookie = f"{COOKIE}={value}"
    assert play(web, cookie, "105", "e5")[0] == 403
    status, _, page = web.ask("GET", "/me", Cookie=cookie)
    assert (status, "Mail me my boards" in page, "symple/" in page.partition("<main")[2]) == (200, True, False)
    assert web.submit({"line": "symple move 105 e5"}, "/me", Cookie=cookie)[0] == 403
    assert web.moves("105") == []


def test_wrong_cookies_count_for_their_machine_and_do_not_lock_the_user_out(web):
    ended(web)
    right = new_device(web)
    statuses = {play(web, f"{COOKIE}=pbm_{n:064}", "105", "e5", X_Forwarded_For="203.0.116.9")[0] for n in range(25)}
    assert statuses == {403, 429}
    assert play(web, right, "105", "show", X_Forwarded_For="203.0.116.10")[0] == 200


def test_a_device_plays_on_no_board_of_others(web):
    ended(web)
    for name, board in (("alice", "108"), ("carol", "105")):
        cookie = new_device(web, name)
        for text in ("show", "e5", "chat", "resign"):
            status, said = play(web, cookie, board, text)
            assert (status, said["error"]) == (403, f"{name} does not play on this board.")
    assert play(web, cookie, "9999", "e5")[0] == 403
    assert (web.moves("108"), web.moves("105")) == ([], [])


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "null"},
        {"Host": "evil.example", "Origin": "http://evil.example", "Sec_Fetch_Site": "same-origin"},
    ],
)
def test_a_page_of_another_site_uses_no_device_and_makes_none(web, headers):
    ended(web)
    cookie, link = new_device(web, "bob"), new_link(web, "bob")
    sent = headers | {"Cookie": f"{cookie}; __Host-{cookie}"}
    mails = len(links_to(web, "carol"))
    assert play(web, cookie, "107", "e5", **headers)[0] == 403
    assert web.submit({"line": "symple challenge alice carol"}, "/me", **sent)[0] == 403
    assert web.submit({}, "/me/forget", **sent)[0] == 403
    assert web.submit({}, link, **sent)[0] == 403  # or a victim would play as the attacker
    assert web.submit({"userid": "carol"}, "/device", **sent)[0] == 403
    assert web.moves("107") == []
    assert len(links_to(web, "carol")) == mails
    assert web.submit({}, link)[0] == 303


def test_a_new_password_and_signing_off_end_links_and_devices(web):
    shell = web.shell
    shell.run("signup", "dora", "dora-secret", "dora@players.example")
    cookie, link = new_device(web, "dora"), new_link(web, "dora")
    shell.done("change", "password", "dora", "dora-secret", "new-secret")
    assert "Mail me my boards" in web.ask("GET", "/me", Cookie=cookie)[2]
    assert web.submit({}, link)[0] == 403
    link = new_link(web, "dora")
    shell.done("signoff", "dora", "new-secret")
    assert web.submit({}, link)[0] == 403


def test_nobody_learns_whether_a_user_exists_and_nobody_else_is_mailed(web):
    def ask(name, machine):
        begun = time.perf_counter()
        status, _, page = web.submit({"userid": name}, "/device", X_Forwarded_For=machine)
        return status, page.replace(name, "NAME"), time.perf_counter() - begun

    path = web.shell.folder / "pbm.db"
    web.shell.run("signup", "nomail", "nomail-secret")
    before = len(links_to(web, "carol"))
    names = ["carol", "nobody", "nomail", "robot1"]
    answers = {name: [ask(name, f"203.0.{117 + names.index(name)}.{n}")[:2] for n in range(6)] for name in names}
    assert len({answer for name in names for answer in answers[name]}) == 1
    assert answers["carol"][0][0] == 200
    until(lambda: len(links_to(web, "carol")) > before)
    assert len(links_to(web, "carol")) == before + 1  # one an hour
    folders = {folder.name for folder in (web.shell.folder / "mail").iterdir()}
    assert not {"nobody@players.example", "nomail@players.example"} & folders
    sql(path, "DELETE FROM quotas WHERE kind LIKE '%link%'")
    took = {name: [] for name in ("carol", "nobody")}
    for n in range(20):
        for name, times in took.items():
            sql(path, "DELETE FROM quotas WHERE kind LIKE '%link%'")
            times.append(ask(name, f"203.0.121.{n}")[2])
    assert abs(median(took["carol"]) - median(took["nobody"])) < 0.05
    for name in ("x", "a b", "carol@players.example", "<b>", ""):
        status, _, page = web.submit({"userid": name}, "/device")
        assert (status, "<b>" in page) == (422, False)


def test_links_are_asked_for_five_times_an_hour_by_a_machine(web):
    statuses = [web.submit({"userid": "nobody"}, "/device", X_Forwarded_For="10.1.2.3")[0] for _ in range(6)]
    assert statuses == [200] * 5 + [429]


def test_no_log_and_no_redirect_has_a_link_or_a_token(web):
    ended(web)
    cookie = new_device(web)
    play(web, cookie, "106", "show")
    assert "pbm_" not in (web.shell.folder / "log").read_text()
    assert "Traceback" not in (web.shell.folder / "log").read_text()


def test_the_home_page_asks_for_a_userid_only_where_pages_post(web, tmp_path):
    for options in ([], ["--web"]):
        web.shell.run("site", *options, str(tmp_path / "pages"))
        page = (tmp_path / "pages" / "index.html").read_text()
        assert ("Mail me my boards" in page, 'action="device"' in page) == (bool(options),) * 2
        page = (tmp_path / "pages" / "symple" / "101.html").read_text()
        assert ('<a href="../me">My boards</a>' in page) == bool(options)


def test_by_mail_a_user_lists_their_devices(web):
    ended(web)
    new_device(web, "bob", "sofa")
    web.mail("bob@players.example", message("tokens bob bob-secret", sender="bob@players.example"))
    assert "sofa: device" in arrived(web.shell, "bob", "sofa: device")
    assert web.shell.json("tokens", "bob", "bob-secret")["tokens"][0]["scope"] == "device"
