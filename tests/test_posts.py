"""Commands over HTTP: the same answer and effect as in a shell, tokens, keys, and what must not come through."""

import json
import random
import re
import threading
import time

import pytest

from pbm import letters, runner
from pbm.access import tokens
from pbm.actions.tokens import MOST_TOKENS
from pbm.language.commands import root
from pbm.language.line import Line
from pbm.mail.posts import Post, handle_post, prepare_post, read_json
from pbm.names import API_TOKENS
from pbm.refusals import Misused, Refused
from pbm.session import Session
from pbm.texts import clean, escaped, written

from helpers.club import PASSWORDS, Club
from helpers.database import restore, store_of_tests, stored
from helpers.grammar import commands_of
from helpers.mail import handle, mail_of
from helpers.shell import Shell
from helpers.web import serving, shell_elsewhere

MACHINE = "198.51.100.7"
FROM_MACHINE = {"X_Forwarded_For": MACHINE}
TEXT = {"Content_Type": "text/plain"}
OF_NOBODY = {"commands", "events", "failures", "handled", "posts", "quotas"}
"""Tables that count what comes in."""


def begun(club):
    """Two boards of Symple between alice and bob, one that is over, and a token of alice."""
    club.signed_up("alice", "bob", "carol")
    for _ in range(2):
        club.say("symple challenge -size=5 alice bob")
    club.say("spiro challenge -small alice bob")
    club.say("symple challenge -size=5 alice bob")
    for move in ("alice alice-secret c3", "bob bob-secret a1", "alice alice-secret resign"):
        club.say(f"symple move 103 {move}")
    club.say("token alice alice-secret laptop")


def token_of(club):
    """A new token of alice."""
    return club.say("token alice alice-secret another")[-1].data["token"]


@pytest.fixture
def started(club):
    """A club in which that has happened."""
    club.become(begun)
    return club


def post(club, line, comment="", machine=MACHINE, **more):
    """What is answered to a command that is posted."""
    return handled(club, Post(line, comment, machine=machine, **more)).printed


def handled(club, posted):
    prepared = prepare_post(club.server, posted)
    return prepared.outcome or handle_post(club.server, prepared)


def shell_answer(club, line, comment):
    """The status, the text and the data that a shell prints."""
    read = Line.read(line)
    session = Session(club.server, comment=written(comment), body=clean(comment), as_json=True)
    try:
        answers = runner.run(read, lambda: session)
    except Refused as why:
        refusal = read.refusal(why, is_user=club.store.users.is_taken)
        return why.status, escaped(refusal.body), refusal.data["error"]
    data = letters.as_one(answers)
    return int(data.get("status", 0)), escaped(letters.printed(answers)), data


def contents(club):
    """All that is stored, but for what counts what comes in."""
    tables = [name for (name,) in club.store.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {table: stored(club.store, table) for table in tables if table not in OF_NOBODY}


SAME = {
    "GAME move": "symple move 101 alice alice-secret c3",
    "GAME plan": "symple plan 102 alice alice-secret if any then d4",
    "GAME queue": "symple queue 101 alice alice-secret c3",
    "GAME submit": "symple submit 101 alice alice-secret c3",
    "GAME confirm": "symple confirm 101 alice alice-secret",
    "GAME resign": "symple resign 101 alice alice-secret",
    "GAME swap": "symple swap 101 alice alice-secret",
    "GAME show": "symple show 101 102 999",
    "GAME showas": "symple showas alice alice-secret 101",
    "GAME preview": "symple preview 101 c3",
    "GAME games": "symple games 101",
    "GAME chat": "symple chat 101 alice alice-secret",
    "GAME talk": "symple talk 103 alice alice-secret",
    "GAME note": "symple note 101 alice alice-secret",
    "GAME rematch": "symple rematch 103 alice alice-secret",
    "GAME analyse": "symple analyse 103 alice alice-secret",
    "GAME nag": "symple nag 101 alice alice-secret",
    "GAME give": "symple give 101 alice alice-secret 3",
    "GAME subscribe": "symple subscribe alice alice-secret all",
    "GAME unsubscribe": "symple unsubscribe 101 alice alice-secret",
    "GAME notify": "symple notify alice alice-secret on",
    "GAME accept": "symple accept alice alice-secret",
    "GAME reject": "symple reject alice alice-secret",
    "GAME limit": "symple limit alice alice-secret 3",
    "GAME seek": "symple seek alice alice-secret --rating=1000-2000 2",
    "GAME join": "symple join cup alice alice-secret",
    "GAME leave": "symple leave cup alice alice-secret",
    "GAME bye": "symple bye cup alice alice-secret",
    "GAME table": "symple table",
    "GAME tournament": "symple tournament cup alice alice-secret status",
    "GAME standings": "symple standings",
    "GAME history": "symple history",
    "GAME mail": "symple mail alice alice-secret digest",
    "GAME help": "symple help move",
    "help": "help move",
    "confirm-address": "confirm-address nothing",
    "vacation": "vacation alice alice-secret",
    "message": "message alice alice-secret bob",
    "block": "block alice alice-secret bob",
    "unblock": "unblock alice alice-secret bob",
    "broadcast": "broadcast alice alice-secret on",
    "puzzles": "puzzles alice alice-secret on",
    "timezone": "timezone alice alice-secret Europe/Berlin",
    "list": "list",
    "dice": "dice spiro 101",
    "mail": "mail alice alice-secret text",
    "all show": "all show alice",
    "all games": "all games alice",
    "all seekers": "all seekers",
    "signoff": "signoff alice alice-secret",
    "change password": "change password alice alice-secret alice-changed",
    "tokens": "tokens alice alice-secret",
    "notices": "notices alice alice-secret list",
}
"""Commands that are answered over HTTP as in a shell."""
APART = {"GAME challenge", "signup", "reset", "change address", "multiple", "token"}
"""Commands of which section 14 says something else; each has a test below."""
NOT_BY_TOKEN = {"signoff", "change password", "tokens", "notices"}
COMMENT = "Hello bob"


def test_every_command_is_in_the_table():
    names = {one.name for one in root.explained()}
    assert names == {*SAME} | APART, "Add a line to SAME, or to APART with a test."
    assert {*dict(commands_of(root))} >= {name for name in names if not name.startswith("GAME ")}


@pytest.mark.parametrize("name", SAME)
def test_a_command_has_the_answer_and_the_effect_that_it_has_in_a_shell(tmp_path, name):
    clubs = [Club(tmp_path / f"{number}.db") for number in range(2)]
    for club in clubs:
        club.become(begun)
    status, text, data = shell_answer(clubs[0], SAME[name], COMMENT)
    printed = post(clubs[1], SAME[name], COMMENT, as_json=True)
    assert (printed.data.get("status", 0), printed.text) == (status, text)
    assert (printed.data["error"] if status else printed.data) == data
    assert printed.code == {0: 200, 1: 422, 2: 400}[status]
    after = [contents(club) for club in clubs]
    for tables in after:
        for user in tables["users"]:
            user["password"] = user["password"].rpartition("$")[0].rpartition("$")[0]  # without salt and hash
    assert after[1] == after[0]


@pytest.mark.parametrize("name", [name for name in SAME if "alice-secret" in SAME[name] and name not in NOT_BY_TOKEN])
@pytest.mark.parametrize("written_as", ["", "- - "])
def test_a_token_stands_for_userid_and_password(tmp_path, name, written_as):
    clubs = [Club(tmp_path / f"{number}.db") for number in range(2)]
    tokens_of_alice = []
    for club in clubs:
        club.become(begun)
        tokens_of_alice.append(token_of(club))
    status, text, data = shell_answer(clubs[0], SAME[name], COMMENT)
    line = f"{SAME[name]} ".replace("alice alice-secret ", written_as).strip()
    printed = post(clubs[1], line, COMMENT, as_json=True, token=tokens_of_alice[1], machine=None)
    assert (printed.data.get("status", 0), printed.text) == (status, text)
    assert (printed.data["error"] if status else printed.data) == data
    after = [contents(club) for club in clubs]
    for tables in after:
        tables.pop("tokens")
    assert after[1] == after[0]


# What section 14 says otherwise


def test_a_challenge_needs_a_token_and_its_own_letter_is_printed_and_not_mailed(started):
    assert post(started, "symple challenge alice bob").code == 401
    token = token_of(started)
    before = len(started.mails("alice")), len(started.mails("bob"))
    printed = post(started, "symple challenge alice bob", token=token)
    assert (printed.code, printed.data["board"]) == (200, "104")
    assert (len(started.mails("alice")), len(started.mails("bob"))) == (before[0], before[1] + 1)


def test_somebody_who_signs_up_needs_an_address_which_is_confirmed_by_mail(started):
    assert post(started, "signup dave dave-secret").code == 422
    assert post(started, "signup dave dave-secret dave@players.example").code == 200
    assert not [address for address in started.store.users.addresses("dave") if address.confirmed]
    assert started.mails()[-1].subject.startswith("confirm-address ")
    assert post(started, "change address alice alice-secret").code == 422
    assert post(started, "change address alice alice-secret a@elsewhere.example").code == 200
    assert [one.address for one in started.store.users.addresses("alice") if one.confirmed] == ["alice@players.example"]


def test_a_lost_password_is_reset_by_mail_alone(started):
    assert post(started, "reset alice").code == 200
    assert "pbm reset" in [mail.subject for mail in started.mails("alice")]


def test_several_commands_need_a_token_or_a_right_password_in_one_of_them(started):
    assert post(started, "multiple", "list\nsymple show 101").code == 401
    wrong = "symple move 101 alice wrong-secret c3\nlist"
    assert post(started, "multiple", wrong).code == 401
    printed = post(started, "multiple", "symple move 101 alice alice-secret c3\nsymple challenge alice bob\nsymple x")
    assert (printed.code, printed.data["status"]) == (200, 2)
    assert [answer.get("board") for answer in printed.data["answers"]] == ["101", "104", None]
    printed = post(started, "multiple", "symple move 102 c3\ntokens\nsymple show 102", token=token_of(started))
    assert (printed.code, printed.data["status"]) == (200, 1)
    assert [answer.get("error", "")[:7] for answer in printed.data["answers"]] == ["", "A token", ""]


def test_wrong_passwords_in_several_commands_are_counted_even_if_nobody_is_proved(started):
    guesses = "\n".join(f"symple move 101 alice wrong-{number} c3" for number in range(5))
    assert post(started, "multiple", guesses).code == 401
    printed = post(started, "symple move 101 alice alice-secret c3")
    assert (printed.code, printed.data["error"][:19]) == (429, "Too many wrong pass")
    assert printed.wait > 0
    assert post(started, "symple move 101 c3", token=token_of(started)).code == 200


def test_a_list_has_pages(started):
    for number in range(201):
        started.store.users.add(f"user{number}", "", started.time)
        started.store.players.change("symple", f"user{number}", most=None, seeking=1)
    assert "standings 2" in post(started, "symple standings").text


def test_the_standings_of_a_page_in_json_are_those_of_its_page_and_all_pages_have_all(started):
    for number in range(250):
        started.store.users.add(f"user{number}", "", started.time)
        started.store.players.change("symple", f"user{number}", most=None, seeking=1)
    for number in range(230):
        started.store.db.execute(
            "UPDATE players SET rating = ?, won = 20 WHERE game = 'symple' AND userid = ?",
            [2000 + number, f"user{number}"],
        )
    pages = [post(started, f"symple standings {page}", as_json=True).data for page in (1, 2, 3)]
    names = [[player["userid"] for player in page["players"]] for page in pages]
    assert [len(page) for page in names] == [200, 32, 0]  # alice and bob have played
    assert names[0][:2] == ["user229", "user228"]
    assert len({*names[0], *names[1]}) == 232
    seekers = [[seeker["userid"] for seeker in page["seekers"]] for page in pages]
    assert [len(page) for page in seekers] == [20, 0, 0]
    whole = shell_answer(started, "symple standings", "")[2]
    assert [player["userid"] for player in whole["players"]] == names[0] + names[1]


# Tokens


def test_a_token_is_shown_once_and_only_its_hash_is_stored(started):
    [letter] = started.say("token bob bob-secret phone read")
    token = letter.data["token"]
    assert re.fullmatch(API_TOKENS, token)
    assert len(token) == len("pbm_") + 256 // 4
    assert token in letter.body
    dump = "\n".join(started.store.db.iterdump())
    assert token not in dump
    assert token.removeprefix("pbm_") not in dump
    assert tokens.digest(token) in dump
    assert [mail.subject for mail in started.mails("bob")][-1] == "pbm settings"
    [listed] = started.say("tokens bob bob-secret")
    assert [(one["name"], one["scope"], one["used"]) for one in listed.data["tokens"]] == [("phone", "read", None)]


def test_a_user_has_twenty_tokens_and_no_two_of_one_name(started):
    for number in range(MOST_TOKENS):
        started.say(f"token bob bob-secret t{number}")
    assert "bob has 20 tokens" in started.why_refused("token bob bob-secret more")
    assert "has a token t1 already" in started.why_refused("token bob bob-secret t1")
    started.say("token bob bob-secret t1 revoke")
    started.say("token bob bob-secret t1")
    assert "has no token t99" in started.why_refused("token bob bob-secret t99 revoke")


@pytest.mark.parametrize("line", ["token alice alice-secret x", "token alice wrong-secret x"])
def test_by_mail_there_is_no_token(started, line):
    before = stored(started.store, "tokens")
    handle(started.server, mail_of("alice@players.example", line), "alice@players.example")
    assert stored(started.store, "tokens") == before
    mail = started.mails()[-1]
    assert "`token` is refused by mail" in " ".join(mail.blocks.split())
    assert "pbm_" not in mail.blocks
    assert "alice-secret" not in mail.blocks


@pytest.mark.parametrize(
    "line",
    [
        "change password alice alice-secret alice-changed",
        "signoff alice alice-secret",
        "token alice alice-secret another revoke",
    ],
)
def test_a_token_ends_with_a_new_password_and_with_its_user(started, line):
    token = token_of(started)
    assert post(started, "symple showas 101", token=token).code == 200
    started.say(line)
    assert post(started, "symple showas 101", token=token).code == 401
    assert post(started, "symple move 101 c3", token=token).code == 401
    assert post(started, "list", token=token).code == 401


@pytest.mark.parametrize(
    "line",
    [
        "token x", "token alice alice-secret x", "tokens", "change password new-secret", "signoff", "reset alice",
        "change password alice alice-secret new-secret", "change address a@b.example", "signup dave dave-secret d@e.fr",
    ],
)  # fmt: skip
def test_a_token_cannot_take_the_place_of_its_user(started, line):
    token = token_of(started)
    before = contents(started)
    assert post(started, line, token=token).code == 403
    assert contents(started) == before | {"tokens": contents(started)["tokens"]}


def test_a_token_that_reads_changes_nothing(started):
    token = started.say("token alice alice-secret reader read")[0].data["token"]
    assert post(started, "symple showas 101", token=token).code == 200
    assert post(started, "symple move 101 c3", token=token).code == 403
    assert post(started, "symple challenge alice bob", token=token).code == 403
    printed = post(started, "multiple", "symple showas 101\nsymple move 101 c3", token=token)
    assert [answer.get("status", 0) for answer in printed.data["answers"]] == [0, 1]
    assert started.store.boards.turns("symple", "101") == []


@pytest.mark.parametrize(
    "line",
    [
        "symple move 101 alice alice-secret c3",
        "symple move 101 ALICE alice-secret c3",
        "symple move 101 bob bob-secret c3",
        "symple move 101 alice",
        "symple plan 101 bob bob-secret if c3 then d4",
        "vacation bob bob-secret",
        "message bob bob-secret",
        "symple subscribe 101 alice alice-secret",
        "block alice alice-secret",
        "symple showas alice alice-secret 101",
    ],
)
def test_with_a_token_no_password_becomes_a_part_of_a_move(started, line):
    token = token_of(started)
    posted = Post(line, token=token, machine=MACHINE)
    outcome = handled(started, posted)
    assert outcome.printed.code == 422
    assert "The token stands for userid and password" in outcome.printed.text
    assert "-secret" not in f"{outcome}"


def test_the_place_of_a_userid_is_known_whatever_the_moves_look_like(started):
    started.say("papagra challenge alice bob")
    token = token_of(started)
    for line in ("papagra move 101 -e3,+f6", "papagra move 101 - - -e3,+f6"):
        assert "takes no option" not in post(started, line, token=token).text
    assert post(started, "block bob", token=token).data["blocked"] == ["bob"]
    assert post(started, "symple subscribe 101 - -", token=token).data["userid"] == "alice"


def test_a_wrong_token_is_refused_and_counts_for_its_machine_alone(started):
    token = token_of(started)
    forged = f"pbm_f{token[5:]}"
    for wrong in (forged, "pbm_", "none", "x" * 300, token.upper(), forged[4:]):
        assert post(started, "list", token=wrong).code == 401
    for _ in range(20):
        last = post(started, "list", token=forged)
    assert (last.code, last.wait > 0) == (429, True)
    assert post(started, "symple move 101 alice alice-secret c3").code == 429
    assert post(started, "symple move 101 c3", token=token).code == 200
    assert post(started, "symple move 102 alice alice-secret c3", machine="198.51.100.8").code == 200


def test_wrong_passwords_of_a_user_never_block_their_tokens(started):
    token = token_of(started)
    for number in range(8):
        post(started, f"symple move 101 alice wrong-{number} c3", machine=f"198.51.100.{number + 10}")
    assert post(started, "symple move 101 alice alice-secret c3").code == 429
    assert post(started, "symple move 101 c3", token=token).code == 200


def test_a_token_in_a_line_or_a_comment_is_masked_as_a_password_is(started):
    token = token_of(started)
    for line in (f"symple move 101 {token}", f"symple show {token}", token, f"signup dave {token}", f"list {token}"):
        outcome = handled(started, Post(line, machine=MACHINE))
        assert token[:12] not in f"{outcome}", line
        handle(started.server, mail_of("bob@players.example", line), "bob@players.example")
    post(started, "symple chat 101 alice alice-secret", f"my token is {token}.")
    written_by_mail = mail_of("alice@players.example", "symple chat 101 alice alice-secret", f"({token})")
    handle(started.server, written_by_mail, "alice@players.example")
    assert token[:12] not in "\n".join(started.store.db.iterdump())


# Keys


def test_the_same_key_and_line_acts_once_and_is_answered_as_the_first_time(started):
    token = token_of(started)
    first = post(started, "symple move 101 c3", "Hi", token=token, key="k1")
    mails = len(started.mails())
    started.say("symple move 101 bob bob-secret a1")
    again = post(started, "symple move 101 c3", "Hi", token=token, key="k1")
    assert (again.code, again.text) == (first.code, first.text)
    assert again.data == json.loads(json.dumps({**first.data, "repeated": True}))
    signed = post(started, "symple move 101 alice alice-secret c3", "Hi", key="k1")
    assert signed.data == again.data
    assert len(started.store.boards.turns("symple", "101")) == 2
    assert len(started.mails("bob")) <= mails


def test_a_key_with_another_line_or_comment_does_nothing(started):
    token = token_of(started)
    post(started, "symple move 101 c3", token=token, key="k1")
    before = contents(started)
    assert post(started, "symple move 102 c3", token=token, key="k1").code == 409
    assert post(started, "symple move 101 c3", "Hello", token=token, key="k1").code == 409
    assert post(started, "symple move 101 c3", token="pbm_0", key="k1").code == 401
    assert contents(started) == before


def test_a_key_counts_for_its_user_and_for_a_day(started):
    token = token_of(started)
    post(started, "symple move 101 c3", token=token, key="k1")
    bob = post(started, "symple move 101 bob bob-secret a1", key="k1")
    assert (bob.code, "repeated" in bob.data) == (200, False)
    started.pass_time(hours=25)
    assert post(started, "symple move 102 c3", token=token, key="k1").code == 200
    assert len(stored(started.store, "posts")) == 2


def test_a_key_keeps_no_secret(started):
    posted = "token alice alice-secret phone"
    first = post(started, posted, key="k")
    assert post(started, posted, key="k").data == {**first.data, "repeated": True} | masked(first.data)
    [kept] = stored(started.store, "posts")
    assert first.data["token"] not in json.dumps(kept)
    assert "alice-secret" not in json.dumps(kept)


@pytest.mark.parametrize("line", ["change password alice alice-secret alice-changed", "signoff alice alice-secret"])
def test_a_command_by_which_its_own_password_ends_is_answered_again_as_the_first_time(started, line):
    first = post(started, line, key="k")
    assert first.code == 200
    before = contents(started)
    again = post(started, line, key="k")
    assert (again.code, again.text) == (200, first.text)
    assert again.data == {**first.data, "repeated": True}
    assert contents(started) == before
    assert post(started, line).code == post(started, line, key="other").code == 401


def test_a_key_does_not_stand_for_a_password(started):
    post(started, "change password alice alice-secret alice-changed", key="k")
    assert post(started, "change password alice alice-secret alice-guessed", key="k").code == 401
    assert post(started, "symple move 101 alice alice-secret c3", key="k").code == 401
    assert post(started, "signoff bob wrong-secret", key="k").code == 401
    post(started, "signoff bob bob-secret", key="k")
    assert post(started, "vacation bob bob-secret", key="k").code == 401
    assert len(stored(started.store, "posts")) == 2


def masked(data):
    """The data of the answer with a token, without it."""
    return json.loads(tokens.masked(json.dumps({name: data[name] for name in ("token", "reply")})))


# JSON, and where passwords come from


def test_hyphens_stand_for_the_passwords_of_json():
    def line(**fields):
        return read_json(json.dumps(fields)).line

    assert line(line="symple move 101 alice - c3", passwords=["s3cret-1"]) == "symple move 101 alice s3cret-1 c3"
    changed = line(line="change password alice - -", passwords=["s3cret-1", "s3cret-2"])
    assert changed == "change password alice s3cret-1 s3cret-2"
    posted = {
        "line": "multiple",
        "comment": "symple accept a - \nlist\nsymple reject b -",
        "passwords": ["pw-1", "pw-2"],
    }
    assert read_json(json.dumps(posted)).comment == "symple accept a pw-1\nlist\nsymple reject b pw-2"
    assert line(line="papagra move 101 alice - -e3", passwords=["s3cret-1"]) == "papagra move 101 alice s3cret-1 -e3"
    with pytest.raises(Misused, match="more hyphens"):
        read_json(json.dumps({"line": "multiple", "comment": "symple accept a -\n" * 3, "passwords": ["a", "b"]}))


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "1", "{", '{"comment": "x"}', '{"line": 1}', '{"line": null}', '{"line": "list", "id": 5}',
        '{"line": "list", "passwords": "x"}', '{"line": "list", "passwords": [1]}', "[" * 20_000,
        '{"line": "list", "passwords": ["a b"]}',
    ],
)  # fmt: skip
def test_what_is_no_command_in_json_says_so(text):
    with pytest.raises(Misused):
        read_json(text)


def test_where_no_machine_is_known_lines_with_passwords_are_refused(started):
    for line in ("symple move 101 alice alice-secret c3", "signup dave dave-secret d@e.example", "tokens alice x"):
        printed = post(started, line, machine=None)
        assert (printed.code, "does not say from which machine" in printed.data["error"]) == (422, True)
    assert post(started, "symple show 101", machine=None).code == 200


def test_mistakes_of_somebody_unknown_are_limited_and_those_of_a_user_are_not(started):
    token = token_of(started)
    codes = [post(started, "symple show 999").code for _ in range(21)]
    assert codes == [422] * 20 + [429]
    assert {post(started, "symple show 999", token=token).code for _ in range(30)} == {422}
    assert post(started, "symple show 101").code == 200


# By HTTP itself


@pytest.fixture(scope="module")
def web(tmp_path_factory):
    """A server that runs during all tests."""
    shell = Shell(tmp_path_factory.mktemp("posts"))
    shell.sign_up("alice", "bob", has_mail=True)
    for _ in range(40):
        shell.run("symple", "challenge", "-size=9", "alice", "bob")
    with serving(shell) as served:
        yield served
    log = (shell.folder / "log").read_text()
    assert "Traceback" not in log
    assert "pbm_" not in log
    assert "alice-secret" not in log


@pytest.fixture(scope="module")
def bearer(web):
    """The header with a token of alice."""
    return {"Authorization": f"Bearer {web.shell.json('token', 'alice', PASSWORDS['alice'], 'web')['token']}"}


def send(web, line, **headers):
    """The status, Pbm-Status and body of the response to a command."""
    status, found, body = web.ask("POST", "/command", line.encode(), **TEXT | headers)
    assert not [name for name in found if name.lower().startswith("access-control")]
    return status, found["Pbm-Status"], body


def test_the_answer_is_what_a_shell_prints_and_in_json_what_it_tells_programs(web, bearer):
    assert send(web, "symple show 101") == (200, "0", web.shell.done("symple", "show", "101"))
    status, _, body = send(web, "symple show 102", Accept="application/json")
    assert (status, json.loads(body)) == (200, web.shell.json("symple", "show", "102"))
    assert send(web, "symple show 999", **bearer) == (422, "1", web.shell.refused("symple", "show", "999"))
    assert send(web, "no such", Accept="application/json", **bearer)[:2] == (400, "2")
    status, headers, _ = web.ask("POST", "/command", "tokens alice wrong-one", **TEXT, **FROM_MACHINE)
    assert (status, headers["WWW-Authenticate"], headers["Pbm-Status"]) == (401, "Bearer", "1")


@pytest.mark.parametrize(
    ("method", "body", "headers", "status"),
    [
        ("OPTIONS", None, {}, 405),
        ("OPTIONS", None, {"Origin": "https://evil.example", "Access_Control_Request_Method": "POST"}, 405),
        ("GET", None, {}, 405),
        ("PUT", b"list", TEXT, 405),
        ("POST", b"list", {}, 415),
        ("POST", b"list", {"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", b"list", {"Content_Type": "TEXT/Plain; charset=utf-8"}, 200),
        ("POST", b"", TEXT, 400),
        ("POST", b"\xff\xfe", TEXT, 400),
        ("POST", b"\r\n\r\nlist", TEXT, 400),
        ("POST", b"list\r\nHello", TEXT, 200),
        ("POST", b"x" * 20_001, TEXT, 413),
        ("POST", b"symple show " + b"1" * 15_000, TEXT, 422),
        ("POST", b"list", TEXT | {"Authorization": "Basic YWxpY2U6YWxpY2Utc2VjcmV0"}, 401),
        ("POST", b"list", TEXT | {"Authorization": "Bearer"}, 401),
        ("POST", b"list", TEXT | {"Authorization": "Bearer pbm_0"}, 401),
        ("POST", b"list", TEXT | {"Idempotency_Key": "k" * 65}, 400),
        ("POST", b"status", TEXT, 400),
        ("POST", b'{"line": "\\ud800 list\\u0000"}', {"Content_Type": "application/json"}, 400),
        ("POST", b'{"line": "li\\nst"}', {"Content_Type": "application/json"}, 400),
        ("POST", b'{"line": "list", "more": 1}', {"Content_Type": "application/json"}, 200),
    ],
)
def test_an_odd_request_is_refused_in_its_place(web, method, body, headers, status):
    found, sent, _ = web.ask(
        method,
        "/command",
        body,
        **headers,
        X_Forwarded_For=f"203.0.114.{random.Random(f'{body}{headers}').randrange(250)}",
    )
    assert found == status
    assert not [name for name in sent if name.lower().startswith("access-control")]
    if found == 401:
        assert sent["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/command", "/answer", "/guest", "/events", "/device"])
@pytest.mark.parametrize("origin", ["http://evil.example", "https://evil.example:443", "null"])
def test_a_name_that_leads_here_gives_no_page_the_right_to_post(web, path, origin):
    headers = {"Host": "evil.example", "Origin": origin, "Sec_Fetch_Site": "same-origin"}
    assert web.ask("POST", path, b"list", **TEXT, **headers)[0] == 403


def test_whoever_guesses_waits_for_the_answer_so_that_a_flood_is_slow(web):
    begin = time.perf_counter()
    assert send(web, "list", Authorization="Bearer pbm_1", X_Forwarded_For="203.0.113.99")[0] == 401
    assert time.perf_counter() - begin >= 0.5


def test_too_many_lines_in_a_minute_have_to_wait(web):
    """A token of its own; the lines of `multiple` count."""
    token = web.shell.json("token", "bob", PASSWORDS["bob"], "busy")["token"]
    headers = {"Authorization": f"Bearer {token}"}
    lines = "multiple\n" + "list\n" * 50
    assert [send(web, lines, **headers)[0] for _ in range(2)] == [200, 200]
    status, found, _ = web.ask("POST", "/command", lines.encode(), **TEXT, **headers)
    assert (status, found["Retry-After"], found["Pbm-Status"]) == (429, "60", "1")
    assert send(web, "list")[0] == 200


def test_a_flood_of_wrong_passwords_does_not_hold_up_a_token(web, bearer):
    """20 machines with 3 wrong passwords each: argon2 is busy for two seconds."""

    def flood(number):
        for attempt in range(3):
            line = f"tokens nobody{number} wrong-secret-{attempt}"
            web.ask("POST", "/command", line, **TEXT, X_Forwarded_For=f"203.0.115.{number}")

    threads = [threading.Thread(target=flood, args=[number]) for number in range(20)]
    for thread in threads:
        thread.start()
    waits = []
    for _ in range(20):
        begin = time.perf_counter()
        assert send(web, "symple showas 101", **bearer)[0] == 200
        waits.append(time.perf_counter() - begin)
    for thread in threads:
        thread.join()
    assert sorted(waits)[10] < 0.5


# By the client

CLIENT_COMMENT = "Hello bob, from here"


@pytest.fixture(scope="module")
def begun_shell(tmp_path_factory):
    """A shell with the boards of `begun`, and a token of alice."""
    shell = Shell(tmp_path_factory.mktemp("begun"))
    shell.sign_up("alice", "bob", "carol", has_mail=True)
    for _ in range(2):
        shell.run("symple", "challenge", "-size=5", "alice", "bob")
    shell.run("spiro", "challenge", "-small", "alice", "bob")
    shell.run("symple", "challenge", "-size=5", "alice", "bob")
    for move in ("alice alice-secret c3", "bob bob-secret a1", "alice alice-secret resign"):
        shell.run("symple", "move", "104", *move.split())
    shell.token = shell.json("token", "alice", "alice-secret", "laptop")["token"]
    return shell


@pytest.fixture(scope="module")
def twins(begun_shell, tmp_path_factory):
    """A shell with a database of its own, and one elsewhere whose server has another with the same contents."""
    here = Shell(tmp_path_factory.mktemp("here"))
    there = Shell(tmp_path_factory.mktemp("there"))
    for shell in (here, there):
        restore(shell.folder / "pbm.db", begun_shell.folder / "pbm.db")
    with serving(there) as web:
        elsewhere = shell_elsewhere(web, tmp_path_factory.mktemp("elsewhere"))
        yield here, there, elsewhere
        assert list(elsewhere.folder.iterdir()) == []


def told_by(shell, line, *options, **how):
    """The exit status and what is printed, without times."""
    done = shell.run(*line.split(), *options, **how)
    return done.returncode, *(without_times(text) for text in (done.stdout, done.stderr))


def without_times(text):
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|\+00:00)?", "TIME", text)


def effect(shell):
    """All that is stored, but for mails, what counts what comes in, times and hashes of passwords."""
    with store_of_tests(shell.folder / "pbm.db") as store:
        db = store.db
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {table: stored(store, table) for table in tables if table not in OF_NOBODY | {"outbox", "tokens"}}
    text = without_times(json.dumps(rows, default=str))
    text = re.sub(r'(argon2id[^"]*?)\$[^"]*', r"\1", text)
    return re.sub(r'("\w+_used": )[\d.]+', r"\1SECONDS", text)


@pytest.mark.long
@pytest.mark.parametrize("name", SAME)
def test_by_the_client_a_command_has_the_answer_the_status_and_the_effect_that_it_has_in_a_shell(
    twins, begun_shell, name
):
    line = SAME[name].replace("103", "104")
    here, there, elsewhere = twins
    for shell in (here, there):
        restore(shell.folder / "pbm.db", begun_shell.folder / "pbm.db")
    told = [told_by(shell, line, f"--comment={CLIENT_COMMENT}") for shell in (here, elsewhere)]
    assert told[1] == told[0]
    assert effect(there) == effect(here)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in SAME if "alice-secret" in SAME[name] and name not in NOT_BY_TOKEN])
def test_by_the_client_a_token_stands_for_userid_and_password_and_the_json_is_that_of_a_shell(twins, begun_shell, name):
    line = SAME[name].replace("103", "104")
    here, there, elsewhere = twins
    for shell in (here, there):
        restore(shell.folder / "pbm.db", begun_shell.folder / "pbm.db")
    words = f"--comment={CLIENT_COMMENT}", "--json"
    told = told_by(here, line, *words)
    short = f"{line} ".replace("alice alice-secret ", "").strip()
    assert told_by(elsewhere, short, *words, PBM_TOKEN=begun_shell.token) == told
