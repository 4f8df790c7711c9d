"""Commands that are not of one game (docs/command-language.md, section 8)."""

import re

import pytest

from helpers.examples import rules
from helpers.mail import handle
from helpers.members import SENDER, text_to, to
from helpers.stories import follow

HELLO = "Hello there,\n\nall of you."


def at_address(members, name):
    """The mails in the outbox for an address, as subject and text."""
    return [(mail.subject, mail.text) for mail in members.mails() if mail.address == f"{name}@players.example"]


# help


@pytest.mark.parametrize("words", ["", "commands", "tutorial", "spiro", "SYMPLE", "symple move", "change password"])
def test_help_needs_no_userid(both_ways, words):
    told = both_ways.give("stranger", f"help {words}")
    assert {one.to for one in told} == {SENDER}
    assert len(told[0].text) > 60


@pytest.mark.parametrize(
    "story",
    rules("""
help on several subjects is one mail each, and on nothing that there is refused
    stranger: help spiro symple commands / sender gets Help spiro / sender gets Help symple / \
sender gets Help commands / alice refused: help nonsense / sender reads 'nonsense'
a userid that exists is refused
    dave refused: signup alice other-secret / sender reads already / dave refused: signup ALICE other-secret / \
sender reads already
after a signoff the userid is nobody's
    alice: signoff ME / alice refused: symple accept ME / sender reads wrong / alice refused: signoff ME / \
sender reads wrong / alice refused: change password ME other-secret / sender reads wrong / \
dave refused: signup Alice alice-secret / sender reads already / carol: symple standings / sender reads no alice
signing off ends games with votes, queued moves and pending resignations
    challenge alice bob / plays c3 b1 / bob: move propose / alice: signoff ME / winner bob / vote / bob has won 1
    challenge alice bob / plays c3 b1 / bob: queue e5 / alice: signoff ME / winner bob / plan
    challenge alice bob / plays c3 b1 / bob: resign / alice: signoff ME / winner bob / plan
signing off resigns out of turn, and against oneself
    challenge alice bob / plays c3 b1 / bob: signoff ME / played c3 b1 Resign / winner alice
    challenge bob bob / plays c3 b1 / bob: signoff ME / turn / bob has rating None
signing off resigns all boards, removes those not begun and keeps the results
    challenge alice bob / plays c3 b1 / carol: symple subscribe ME 101 / challenge --name=a1 bob alice / \
alice: signoff ME / winner bob / bob reads alice has signed off. / carol gets Symple Board 101 ** / bob has won 1 / \
carol: symple history / sender reads alice / carol: symple show alice / sender reads Won by bob (alice resigned)
    challenge bob alice / alice: delete ME / gone
    challenge spiro alice carol / alice: delete ME / gone
all show that finds nothing says so in one line
    stranger: all show dora / told sender / sender reads There is no active board on which dora is to move. / \
stranger: all show dora next / sender reads There is no active board on which dora is to move. / \
stranger: all show dora active / sender reads There is no active board on which dora plays.
all show takes a userid, and next or active
    alice refused: all show / alice refused: all show alice inactive / alice refused: all show alice next active / \
alice refused: all show nosuch / sender reads 'nosuch' / alice refused: all show nosuch active / sender reads 'nosuch'
list has the games with the number of boards, and with names their active boards
    challenge alice bob / challenge alice bob / plays c3 b1 resign / stranger: list / sender reads symple 1 / \
stranger: list symple Spiro / sender gets List of Spiro games / sender gets List of Symple games / \
sender reads 101 0 alice bob / alice refused: list chess / sender reads 'chess'
all show is show over all games
    challenge alice bob / challenge spiro alice carol / challenge spora bob alice / stranger: all show alice / \
told sender / sender gets Spiro Board 101 alice / sender gets Symple Board 101 alice / \
sender gets no Spora Board 101 bob / stranger: all show ALICE next / sender gets Symple Board 101 alice / \
sender gets no Spora Board 101 bob / stranger: all show alice active / sender gets Spiro Board 101 alice / \
sender gets Spora Board 101 bob / sender gets Symple Board 101 alice
a message goes to users and shows no address
    alice: message ME Bob carol bob⏎Hello there / told bob carol sender / bob gets Message from alice / \
carol gets Message from alice / sender gets Message / bob reads alice writes: Hello there / \
bob reads message bob PASSWORD alice / bob reads no players.example / sender reads no players.example
a broadcast goes to all who want it, once a week
    bob: broadcast ME on / carol: broadcast ME on / dora: broadcast ME on / dora: broadcast ME off / \
alice: broadcast ME⏎Hello there / told bob carol sender / bob gets Broadcast from alice / sender gets Broadcast / \
bob reads broadcast bob PASSWORD off / 167 hours / alice refused: broadcast ME⏎Hello there / \
sender reads once a week / 1 hours / bob: signoff ME / alice: broadcast ME⏎Hello there / told carol sender
a refused line of multiple is undone alone
    challenge alice bob / bob: symple reject ME / \
alice: multiple⏎symple limit ME 3⏎symple challenge alice bob⏎symple seek ME x⏎symple seek ME 2 / alice has most 3 / \
alice has seeking 2 / carol: symple games / sender reads no 102
a line of multiple that comes too late forfeits, and the others go on
    challenge --totaltime=1 alice bob / plays c3 b1 / 2 days / \
alice: multiple⏎symple move 101 ME a1⏎symple seek ME 2 / winner bob / alice has seeking 2 / \
sender reads used up their time / bob gets Symple Board 101 **
whether one gets what users write to all is said back
    bob: broadcast ME on / bob reads You get what users write to all. / bob: broadcast ME off / \
bob reads You do not get what users write to all.
without a text nothing is passed on
    challenge alice bob / alice refused: message ME bob / sender reads needs a text / alice refused: broadcast ME / \
sender reads needs a text / alice refused: symple chat 101 ME / sender reads needs a text
    """),
)
def test_a_global_command_tells_its_sender_what_it_did_or_what_it_lacks(both_ways, story):
    follow(both_ways, story)


# signup, change, signoff


@pytest.mark.parametrize("word", ["signup", "add"])
def test_signup_by_mail_asks_the_senders_address_before_anything_else_is_mailed_there(by_mail, word):
    [told] = by_mail.give("dave", f"{word} dave dave-secret", HELLO)
    assert told.subject.startswith("confirm-address ")
    assert "dave" in told.text
    assert "Hello there" not in told.text
    by_mail.give("alice", "symple challenge -size=5 alice dave")
    assert len(at_address(by_mail, "dave")) == 1
    by_mail.give("dave", f"Re: {told.subject}")
    assert "New Symple Board 101 alice" in [subject for subject, _ in at_address(by_mail, "dave")]


def test_signup_in_a_shell_needs_no_address_and_confirms_one_at_once(four):
    four.give("dave", "signup dave dave-secret")
    assert four.store.users.addresses("dave") == []
    four.give("dave", "signup dora2 dora-secret dora2@players.example")
    assert four.store.users.ids_at("dora2@players.example") == {"dora2"}


def test_at_most_five_addresses_and_one_question_an_address_and_day(by_mail):
    six = [f"{letter}@players.example" for letter in "abcdef"]
    by_mail.refused("dave", f"signup dave dave-secret {' '.join(six)}")
    by_mail.give("erin", f"signup erin erin-secret {' '.join(six[:5])}")
    assert len(by_mail.store.users.addresses("erin")) == 5
    by_mail.give("dave", "signup dave dave-secret x@players.example")
    by_mail.refused("dave", "signup dave2 dave-secret x@players.example")
    by_mail.pass_time(days=1)
    by_mail.give("dave", "signup dave2 dave-secret x@players.example")


def test_change_password_checks_the_old_one_and_tells_all_addresses_and_no_password(both_ways):
    both_ways.say("change address alice alice-secret a@players.example alice@players.example")
    both_ways.forget_mails()
    both_ways.refused("alice", "change password alice wrong-secret other-secret")
    told = both_ways.signs("alice", "change password ME other-secret")
    assert {one.to for one in told} == {"alice"}
    assert "secret" not in "".join(one.text for one in told)
    assert len(told) == (1 if both_ways.way == "shell" else 2)
    both_ways.refused("alice", "symple accept alice alice-secret")
    both_ways.give("alice", "symple reject alice other-secret")


def test_change_address_by_mail_leaves_the_old_ones_until_a_new_one_is_confirmed(by_mail):
    by_mail.signs("alice", "change address ME new@players.example")
    [(subject, notice)] = at_address(by_mail, "alice")
    assert subject == "pbm settings"
    assert "when the confirmation mail there is answered" in " ".join(notice.split())
    [(question, _)] = at_address(by_mail, "new")
    by_mail.give("bob", "symple challenge -size=5 alice bob")
    assert len(at_address(by_mail, "new")) == 1
    by_mail.give("new", f"Re: {question}")
    by_mail.forget_mails()
    by_mail.plays("c3")
    by_mail.give("bob", "symple move 101 bob bob-secret b1")
    assert at_address(by_mail, "alice") == []
    assert len(at_address(by_mail, "new")) == 1
    assert [one.address for one in by_mail.store.users.addresses("alice")] == ["new@players.example"]


# message, broadcast


@pytest.mark.parametrize(("readers", "reason"), [
    ("bob nosuch", "'nosuch'"), (" ".join(f"user{n}" for n in range(11)), "at most 10"), ("", "missing"),
])  # fmt: skip
def test_a_message_goes_to_at_most_10_users_who_exist(both_ways, readers, reason):
    assert reason in both_ways.refused("alice", f"message ME {readers}", HELLO).text


@pytest.mark.parametrize("line", ["message ME bob", "broadcast ME", "symple chat 101 ME", "symple move 101 ME c3"])
def test_the_password_of_a_command_is_masked_in_the_text_that_is_passed_on(begun, line):
    begun.signs("bob", "broadcast ME on")
    told = begun.signs("alice", line, "I am alice and alice-secret is my word")
    assert "I am alice and PASSWORD is my word" in text_to("bob", told)
    assert "alice-secret" not in "".join(one.text for one in told)


# multiple


def lines(*commands):
    """Commands of alice, a line each."""
    return "\n".join(commands).replace("ME", "alice alice-secret")


def test_multiple_carries_out_the_commands_in_the_body_and_gathers_the_direct_replies(begun):
    body = lines("symple move 101 ME c3", "symple games", "symple move 101 ME b1", "symple preview 101 b1")
    told = begun.give("alice", "multiple", body)
    assert begun.played() == ["c3"]
    gathered = text_to(SENDER, told)
    parts = [
        "> symple move 101 alice PASSWORD c3",
        "> symple games\n\nBoard  Moves",
        "> symple move 101 alice PASSWORD b1",
        "It is not your turn",
        "> symple preview 101 b1",
        "Preview: Symple board 101",
    ]
    places = [gathered.find(part) for part in parts]
    assert -1 not in places
    assert places == sorted(places)
    assert "alice-secret" not in gathered
    others = [one for one in told if one.to != SENDER]
    assert ("bob", "Symple Board 101 bob") in to(others)
    assert [one.to for one in told].count(SENDER) == 1


def test_multiple_skips_empty_lines_and_remarks_and_stops_at_the_end(both_ways):
    for end in ("end", "END", "quit", "-- "):
        both_ways.begin()
        board = both_ways.store.boards.current("symple")[-1].board
        body = lines(
            "",
            "# a remark",
            "",
            "  # an indented remark",
            f"  symple move {board} ME c3  ",
            end,
            f"symple move {board} bob bob-secret b1",
        )
        told = both_ways.give("alice", "multiple", body)
        assert both_ways.played(board) == ["c3"]
        assert "> #" not in text_to(SENDER, told)  # not even as a line that is refused


def test_multiple_takes_1_to_50_commands_which_are_not_nested_and_have_no_comments(begun):
    body = "symple move 101 alice alice-secret c3\n" + "list\n" * 50
    told = begun.refused("alice", "multiple", body)
    assert "51 commands" in told.text
    assert "alice-secret" not in told.text
    begun.refused("alice", "multiple", "# nothing\n\n")
    assert "> list" in text_to(SENDER, begun.give("alice", "multiple", "list\n" * 50))
    told = begun.give("alice", "multiple", lines("multiple", "symple move 101 ME c3", "symple chat 101 bob bob-secret"))
    assert "cannot be `multiple` again" in text_to(SENDER, told)
    assert "needs a text" in text_to(SENDER, told)
    assert "writes:" not in "".join(one.text for one in told)
    assert begun.played() == ["c3"]


def test_a_line_of_multiple_that_answers_others_alone_is_done(by_mail):
    by_mail.begin()
    told = by_mail.give("alice", "multiple", lines("symple move 101 ME c3"))
    assert "> symple move 101 alice PASSWORD c3\n\nDone.\n" in text_to(SENDER, told)


def test_multiple_is_one_transaction_with_its_mails_its_answer_and_its_message_id(by_mail, monkeypatch):
    by_mail.begin()
    before = list(by_mail.store.db.iterdump())
    raw = by_mail.raw("alice", "multiple", lines("symple move 101 ME c3", "symple seek ME 2", "list"))
    added = by_mail.store.outbox.add

    def fail_at_last(mail):
        if mail.subject == "multiple":
            raise OSError("the disk is full")
        added(mail)

    monkeypatch.setattr(by_mail.store.outbox, "add", fail_at_last)
    with pytest.raises(OSError, match="full"):
        handle(by_mail.server, raw, None)
    assert list(by_mail.store.db.iterdump()) == before
    monkeypatch.undo()
    assert handle(by_mail.server, raw, None) == "command"
    assert by_mail.played() == ["c3"]


def test_a_long_line_of_multiple_is_not_broken(both_ways):
    both_ways.begin("symple challenge alice bob")
    both_ways.plays(*[point for n in range(5) for point in (f"{'acegikmoq'[n]}1", f"{'acegikmoq'[n]}15")])
    growth = next(move for move in both_ways.at().state.moves() if "," in move)
    blanks = growth.replace(",", " , " + " " * 60)
    told = both_ways.give("alice", "multiple", f"symple move 101 alice alice-secret {blanks}")
    assert both_ways.played()[-1] == growth, told


# reset


def reset_code(members, name="alice"):
    members.give(name, f"reset {name}")
    [text] = [text for subject, text in at_address(members, name) if subject == "pbm reset"]
    members.forget_mails()
    return re.search(rf"reset {name} ([0-9a-f]{{32}}) NEWPASSWORD", text)[1]


def test_reset_mails_a_code_to_the_addresses_on_file_which_sets_a_new_password_once(both_ways):
    code = reset_code(both_ways)
    told = both_ways.give("alice", f"reset ALICE {code.upper()} fresh-secret")
    assert "fresh-secret" not in "".join(one.text for one in told)
    both_ways.refused("alice", "symple reject ME")
    both_ways.give("alice", "symple reject alice fresh-secret")
    both_ways.refused("alice", f"reset alice {code} other-secret")


def test_a_code_is_good_for_24_hours(both_ways):
    code = reset_code(both_ways)
    both_ways.pass_time(hours=24, seconds=1)
    text = both_ways.refused("alice", f"reset alice {code} fresh-secret").text
    assert "too old" in text
    assert "fresh-secret" not in text
    assert code not in text


def test_a_new_code_replaces_the_one_before_is_for_that_user_alone_and_stays_good_for_a_good_password(both_ways):
    first, second = reset_code(both_ways), reset_code(both_ways)
    both_ways.refused("alice", f"reset alice {first} fresh-secret")
    both_ways.refused("bob", f"reset bob {second} fresh-secret")
    both_ways.give("alice", f"reset alice {second} fresh-secret")
    code = reset_code(both_ways)
    both_ways.refused("alice", f"reset alice {code} short")
    both_ways.give("alice", f"reset alice {code} fresh-secret")


def test_reset_does_not_tell_who_is_a_user(by_mail):
    told = [by_mail.give("stranger", f"reset {name}") for name in ("alice", "nosuch")]
    answers = [text_to(SENDER, one).replace("nosuch", "alice") for one in told]
    assert answers[0] == answers[1]
    assert {one.to for one in told[1]} == {SENDER}
