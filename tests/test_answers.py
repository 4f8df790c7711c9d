"""Answering board mails: what stands in one, where an answer goes, and what it may say."""

import re
import subprocess
from email import message_from_bytes

import pytest

import games
from games import symple
from pbm.access import tokens
from pbm.actions import cleanup, votes
from pbm.blocks import from_json
from pbm.language import answers
from pbm.mail import html
from pbm.mail.writing import compose
from pbm.session import Session
from pbm.texts import WIDTH

from helpers import helptexts
from helpers.answers import answer, answer_to, new, send, turns, written
from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.examples import played, rules
from helpers.mail import ADDRESS, handle
from helpers.stories import follow

ALICE, BOB = "alice@players.example", "bob@players.example"
EASY = "To move, reply with your move as the first line. You need no password."
STARTS = {
    "spiro": ("-small", "e3"), "symple": ("-size=9", "e5"), "sprout": ("", "c3"), "papagra": ("-size=4", "c3"),
    "spora": ("-size=9", "e5"),
}  # fmt: skip


# What a board mail says of answering it


@pytest.mark.parametrize("game", helptexts.GAMES)
def test_a_board_mail_ends_with_a_line_of_notation_and_the_command_below_it(club, game):
    club.signed_up("alice", "bob")
    options, _ = STARTS[game]
    club.say(f"{game} challenge {options} alice bob")
    for name in ("alice", "bob"):
        paragraph, command = club.mails(name)[-1].text.rstrip("\n").split("\n\n")[-2:]
        *_, notation = paragraph.split("\n")
        assert notation == f"Notation: {games.load(game).NOTATION}"
        assert len(notation) <= WIDTH
        assert command.split()[0] == game


@pytest.mark.parametrize(
    ("game", "options", "moves", "example"),
    [
        ("symple", "-size=5", ["a1", "b5"], "d2"),
        ("symple", "-size=5", ["b5", "c3", "c1", "a3", "e4", "a1"], "b4,d1,e3"),
        ("symple", "", ["a1", "i9"], "d2"),
        ("spora", "-size=5", ["c3"], "e1:3"),
        ("spora", "-size=5", ["d2:4", "a5"], "e1,d2@nnen"),
        ("papagra", "-size=3", ["a1"], "c3,d4"),
        ("papagra", "-size=3", ["a1", "b1,b2", "e2,e3", "b3,b4"], "c3,-e2"),
        ("sprout", "-board=limping-3", [], "c3"),
        ("sprout", "-board=limping-3", ["d4"], "c3,d5"),
        ("sprout", "-board=cairo-1", ["c5"], "c3,d5"),
    ],
)
def test_the_examples_of_a_notation_are_moves_of_the_game(game, options, moves, example):
    rules = games.load(game)
    assert example in rules.NOTATION
    assert played(rules.new(**games.read_options(rules, options.split())), *moves).parse(example)


def test_a_game_that_brings_no_notation_names_its_help_there(board, monkeypatch):
    monkeypatch.delattr(symple, "NOTATION")
    board.say("symple challenge alice bob")
    assert "\nNotation: `help symple` tells how moves are written\n" in board.mails("alice")[-1].text


def test_a_mail_about_a_game_that_is_over_tells_no_notation_and_takes_no_answer(board):
    board.say("symple move 101 alice alice-secret e5")
    board.say("symple move 101 bob bob-secret a1")
    board.say("symple resign 101 alice alice-secret")
    assert board.mails("bob")[-1].text.startswith("Summary: ")
    assert "Notation:" not in board.mails("bob")[-1].text
    [shown] = send(board, "symple show 101")
    assert shown.reply_to is None


def test_who_is_to_move_is_told_in_every_mail_how_easy_that_is_and_nobody_else_is(board):
    board.say("symple subscribe 101 carol carol-secret")
    for name, move in (("alice", "e5"), ("bob", "a1"), ("alice", "e6")):
        other = "bob" if name == "alice" else "alice"
        before = len(board.mails())
        board.say(f"symple move 101 {name} {PASSWORDS[name]} {move}", sender=f"{name}@players.example")
        told = {mail.userid: EASY in mail.text for mail in new(board, before)}
        assert told == {name: False, other: True, "carol": False}


def test_a_refusal_of_an_answer_and_a_reminder_tell_it_too(board):
    [refusal] = answer(board, "z1")
    assert EASY in refusal.text
    assert f"Notation: {symple.NOTATION}" in refusal.text
    board.pass_time(days=8)
    cleanup.clean_up(Session(board.server))
    [nag] = [mail for mail in board.mails() if mail.subject.startswith("Nag: ")]
    assert nag.userid == "alice"
    assert EASY in nag.text


def test_the_refusal_of_a_full_command_can_be_answered_by_its_player_where_he_has_confirmed_his_address(board):
    [refusal] = send(board, "symple move 101 alice alice-secret z9")
    assert refusal.reply_to == answer_to(board)
    assert EASY in refusal.text
    send(board, f"Re: {refusal.subject}", "e5", ALICE, refusal.reply_to)
    assert turns(board) == ["e5"]
    for line, sender in (
        ("symple move 101 bob bob-secret z9", ALICE),
        ("symple move 101 bob bob-secret z9", "bob@evil.example"),
        ("symple preview 101 z9", BOB),
    ):
        [refusal] = send(board, line, "once more", sender)
        assert (refusal.subject, refusal.reply_to) == ("Symple Board 101 Error", None)
        assert EASY not in refusal.text


def test_who_gets_no_mails_about_boards_is_told_at_once_that_his_queued_move_is_forgotten(board):
    board.say("symple mail bob bob-secret none")
    board.say("symple queue 101 bob bob-secret e5")
    board.say("symple move 101 alice alice-secret e5", sender=ALICE)
    forgotten = board.mails("bob")[-1]
    assert "e5, which you had planned, cannot be played, and your plan is dropped." in forgotten.text
    assert forgotten.reply_to == answer_to(board, "bob")
    assert EASY in forgotten.text


def test_a_shell_and_a_digest_are_not_told_to_answer_a_mail(board):
    board.say("symple mail bob bob-secret digest")
    board.say("symple move 101 alice alice-secret e5")
    assert "To move, reply" not in board.text("symple showas bob bob-secret 101")
    before = len(board.mails())
    cleanup.clean_up(Session(board.server))
    [digest] = new(board, before)
    assert "Symple Board 101 bob" in digest.text
    assert "To move, reply" not in digest.text


# A lost mail


@pytest.mark.parametrize(
    "line", ["symple show 101", "all show alice", "symple showas alice alice-secret 101", "symple show 101#0"]
)
def test_who_asks_from_his_confirmed_address_to_see_his_board_can_answer_what_comes(board, line):
    [shown] = send(board, line)
    assert shown.address == ALICE
    assert shown.reply_to == answer_to(board)
    assert EASY in shown.text
    send(board, f"Re: {shown.subject}", "e5", recipient=shown.reply_to)
    assert turns(board) == ["e5"]


@pytest.mark.parametrize("line", ["symple show 101", "all show alice", "symple showas alice alice-secret 101"])
@pytest.mark.parametrize("sender", ["stranger@evil.example", "carol@players.example", "alice@evil.example"])
def test_nobody_else_gets_the_address_of_a_player(board, line, sender):
    [shown] = send(board, line, sender=sender)
    assert shown.address == sender
    assert shown.reply_to is None
    assert "To move, reply" not in shown.text
    sent = message_from_bytes(compose(shown, ADDRESS))
    assert sent["Reply-To"] is None


def test_an_address_that_is_not_confirmed_is_a_strangers(board):
    board.say("change address alice alice-secret new@players.example", sender=ALICE)
    [shown] = send(board, "symple show 101", sender="new@players.example")
    assert shown.reply_to is None


def test_what_another_player_asks_to_see_is_answered_at_his_own_address(board):
    [shown] = send(board, "symple show 101", sender=BOB)
    assert shown.reply_to == answer_to(board, "bob")
    assert EASY not in shown.text
    assert shown.text.endswith("\nsymple show 101\n")
    [shown] = send(board, "symple showas alice alice-secret 101", sender=BOB)
    assert shown.reply_to is None


def test_what_only_a_player_may_know_is_not_shown_to_his_address_without_more_ado(board):
    board.say("symple queue 101 bob bob-secret a1")
    [shown] = send(board, "symple show 101", sender=BOB)
    assert "a1" not in shown.text.split("\n\n    a b c")[0]


def test_of_two_players_with_one_address_the_one_who_is_to_move_can_answer(board):
    board.say("change address bob bob-secret alice@players.example")
    [shown] = send(board, "symple show 101")
    assert shown.reply_to == answer_to(board)
    board.say("symple move 101 alice alice-secret e5")
    [shown] = send(board, "symple show 101")
    assert shown.reply_to == answer_to(board, "bob")


# Letters of other alphabets that look like ours


@pytest.mark.parametrize(
    ("typed", "played"),
    [
        ("\u04413", "c3"),
        ("\u04355.", "e5"),
        ("\u04101", "a1"),
        ("\u0421\u0033", "c3"),
        ("\u03b15", "a5"),
        ("\u03955", "e5"),
        ("\u03922", "b2"),
        ("move \u04130", None),
        ("\u0434 4", None),
        ("m\u043eve e5", "e5"),
        ("m\u043ev\u0435 \u04355", "e5"),
    ],
)
def test_a_cyrillic_or_greek_letter_that_looks_like_ours_is_read_in_a_move(board, typed, played):
    answer(board, typed)
    assert turns(board) == ([played] if played else [])


def test_the_cells_of_a_broken_turn_and_of_a_plan_may_have_such_letters(club):
    lay(club, *GROWN[:3])
    answer(club, "\u04413,\n\u043a10,q4\n\nif \u04305 then \u04356")
    assert turns(club)[-1] == GROWN[3]
    assert "if a5 then e6" in club.mails("alice")[-1].text


@pytest.mark.parametrize("typed", ["r\u0435sign", "\u0440r\u043epose", "\u0441h\u0430t\nhello", "\u041dELP"])
def test_the_words_of_an_answer_may_have_such_letters(board, typed):
    board.say("symple move 101 alice alice-secret e5")
    board.say("symple move 101 bob bob-secret a1")
    before = len(board.mails())
    answer(board, typed)
    subjects = [mail.subject for mail in new(board, before)]
    assert subjects
    assert not any(subject.endswith("Error") for subject in subjects)


def test_the_words_of_a_command_may_have_such_letters_and_its_userid_and_password_have_none(board):
    def done(line):
        send(board, line)
        return turns(board) == ["e5"]

    assert not done("symple move 101 \u0430lice alice-secret e5")
    assert not done("symple move 101 alice \u0430lice-secret e5")
    assert not done("symple move 101 alice alice-s\u0435cret e5")
    assert "secret" not in board.mails()[-1].text
    assert done("s\u0443mple m\u043eve 101 alice alice-secret \u04155")


def test_a_password_with_such_a_letter_in_the_place_of_a_move_does_not_come_back(board):
    for line in ("\u0441w0rdfish", "\u0441w0rdfish e5", "symple move \u0441w0rdfish 101 alice"):
        answer(board, line)
        assert "w0rdfish" not in board.mails()[-1].text


# A turn that a mail program has broken


def lay(club, game, options, moves):
    """A board of alice and bob on which these moves have been made, and who is to move there."""
    club.signed_up("alice", "bob")
    club.say(f"{game} challenge {options} alice bob")
    for at, move in enumerate(moves):
        name = ("alice", "bob")[at % 2]
        club.say(f"{game} move 101 {name} {PASSWORDS[name]} {move}")
    return ("alice", "bob")[len(moves) % 2]


GROWN = ("symple", "-size=19", ["c2", "a19", "k9", "b19", "q3", "c19"], "c3,k10,q4")
REMOVED = (
    "papagra", "-size=5 -removals=9",
    ["a1", "i1,i2", "a3,a5", "i4,i5", "c1,c3", "g1,g3"], "+e1,+e3,-a1-a3-a5-c1",
)  # fmt: skip
PLACED = ("papagra", "-size=5", ["a1", "i1,i2"], "+c3,+d4")
TAKEN = ("sprout", "-board=limping-3", ["f2", "d4,f3"], "b5,c4,xf3")


@pytest.mark.parametrize(
    ("game", "typed"),
    [
        (GROWN, "c3,\nk10,q4"),
        (GROWN, "c3\n,k10\n, q4"),
        (GROWN, "c3 ,  \n  k10 ,\nq4"),
        (GROWN, "c3, k10 ,q4"),
        (REMOVED, "+e1,\n+e3,-a1-a3\n-a5-c1"),
        (REMOVED, "+e1,+e3,-a1\n-a3\n-a5\n-c1"),
        (PLACED, "c3,+\nd4"),
        (TAKEN, "b5,\nc4,x\nf3"),
        (TAKEN, "b5,c4,\nx\nf3"),
        (TAKEN, "b5 ,c4 ,X\nF3"),
        (TAKEN, "b5,c4,x f3"),
    ],
)
@pytest.mark.parametrize("how", ["reply", "move", "subject", "body", "multiple"])
def test_a_turn_that_was_wrapped_is_one_turn_and_what_follows_is_the_comment(club, game, typed, how):
    name, options, moves, canonical = game
    assert lay(club, name, options, moves) == "alice"
    command = f"{name} move 101 alice alice-secret {typed}"
    if how in {"reply", "move"}:
        recipient = tokens.reply_address(club.server, name, "101", "alice")
        word = "move " if how == "move" else ""
        send(
            club, "Re: " + name.title() + " Board 101 alice", f"{word}{typed}\n\nHello, bob,\nwell\n", ALICE, recipient
        )
    elif how == "body":
        send(club, "", f"{command}\n\nHello, bob,\nwell\n")
    elif how == "multiple":
        send(club, "multiple", f"# now, alice,\n{command}\nlist\n")
    else:
        folded = command.replace("\n", "\r\n ")
        raw = f"From: {ALICE}\r\nSubject: {folded}\r\n\r\nHello, bob,\r\nwell\r\n"
        handle(club.server, raw.encode(), None)
    assert turns(club, name)[-1] == canonical, club.mails()[-1].text
    comment = stored_board(club.store, name, "101").row.comment
    assert comment == (None if how == "multiple" else "Hello, bob,\nwell")


def test_two_moves_of_a_preview_stay_two_and_dashes_that_a_telephone_has_made_of_hyphens_join_lines(club):
    lay(club, *REMOVED[:3])
    [shown] = send(club, "papagra preview 101 +e1,-a1 -i1,-i2")
    assert re.search(r"\n4\. +\+e1,-a1 +-i1,-i2\n", shown.text)
    recipient = tokens.reply_address(club.server, "papagra", "101", "alice")
    send(club, "Re: Papagra Board 101 alice", "+e1,+e3,\u2013a1\n\u2013a3-a5-c1", ALICE, recipient)
    assert turns(club, "papagra")[-1] == REMOVED[3]


@pytest.mark.parametrize(
    "below", ["-c9 was a blunder", "x is what I wait for", "Hello, bob", "-- \nalice", "- see you"]
)
def test_a_comment_right_below_a_move_stays_one(board, below):
    answer(board, f"e5\n{below}")
    assert turns(board) == ["e5"]


# What an answer can say


@pytest.mark.parametrize(
    "typed",
    [
        "e5", "*e5*", '"e5"', "\u201ce5\u201d", "'e5'", "`e5`", "_e5_", "move e5", "Move: e5", "MOVE *e5*",
        "e5.", "E5!", '"e5".', "<e5>", "> e5", ">e5", "move e5#1", "board e5", "(e5)", "[e5]", "«e5»", "e5;", "e5…",
        "ｅ５", "<e5>#1", "> **e5**", "\u202ae5\u202c",
        "e5\ufe0f", "e\ufe0f5\ufe0e", "e\u200b5\u2060", "\ufeffe5", "e\u200d5\u200c\ufe0f",
        "> symple move 101 alice PASSWORD e5#1",
        "> e5\n\nOn Fri, Nov 20, 2026 at 1:00 PM <pbm@pbm.example> wrote:\n\n> Summary: Symple board 101\n> a4\n",
    ],
)  # fmt: skip
def test_a_move_is_understood_as_people_type_it(board, typed):
    answer(board, typed)
    assert turns(board) == ["e5"], board.mails()[-1].text


@pytest.mark.parametrize(
    "typed", [">> e5", "> > e5", "> e5\n> e6", "On Friday, bob wrote:\n> e5", "Hello\n> e5", "> Summary: Symple\n> e5"]
)
def test_what_somebody_else_has_said_is_no_move(board, typed):
    answer(board, typed)
    assert turns(board) == []


@pytest.mark.parametrize(
    "typed",
    [
        "symple move 101 alice PASSWORD e5#1",
        "symple move 101 alice PASSWORD <e5>#1",
        "Symple Board 101 Alice PASSWORD e5",
        "symple queue 101 alice PASSWORD e5",
        "symple queue 101 alice e5",
        "Re: Symple Board 101 Alice e5#1",
    ],
)
def test_the_command_that_a_board_mail_ends_with_needs_no_password_in_an_answer(board, typed):
    answer(board, f"{typed}\n\nHello")
    assert turns(board) == ["e5"], board.mails()[-1].text
    assert stored_board(board.store, "symple", "101").row.comment == "Hello"


@pytest.mark.parametrize(
    "typed",
    [
        "symple move 101 bob PASSWORD e5",
        "symple move 102 alice PASSWORD e5",
        "symple accept alice PASSWORD",
        "Symple Board 101 bob e5",
        "Symple Board 102 alice e5",
        "symple accept alice",
        "symple queue 101 alice alice-secret",
    ],
)
def test_what_is_copied_from_elsewhere_is_no_answer(board, typed):
    board.say("symple challenge -size=9 bob alice")
    [refusal] = answer(board, typed)
    assert re.match(r"PASSWORD is a placeholder; write your password|[^ ]+ is missing\.", refusal.text)
    assert turns(board) == []


@pytest.mark.parametrize(
    "typed", ["MOVE", "MOVE#1", "<move>#1", "<move>", "move", "symple move 101 alice PASSWORD MOVE#1"]
)
def test_the_word_in_the_place_of_a_move_is_none(board, typed):
    [refusal] = answer(board, typed)
    assert refusal.text.startswith("Cannot read ")
    assert "write one point, such as c3" in " ".join(refusal.text.split())
    assert turns(board) == []


def test_the_line_below_a_board_can_be_pasted_into_a_shell(board):
    *_, line = board.mails("alice")[-1].text.rstrip("\n").split("\n")
    assert (
        subprocess.run(["bash", "-c", f"echo {line}"], capture_output=True, text=True, check=True).stdout == f"{line}\n"
    )


def test_an_answer_to_two_boards_is_played_on_none_and_says_so(board):
    board.say("symple challenge -size=9 alice bob")
    with board.store.writing():
        others = [tokens.reply_address(board.server, "symple", number, "alice") for number in ("101", "102")]
    before = len(board.mails())
    handle(board.server, written("Re: Symple Board 101 alice", "e5"), None, others)
    [refusal] = new(board, before)
    assert " ".join(refusal.text.split()).startswith(
        "This answer went to several addresses, those of Symple board 101 (alice) and Symple board 102 (alice); "
        "nothing was done. Please answer each mail by itself."
    )
    assert turns(board) == []


def test_an_answer_that_goes_to_the_same_address_twice_is_played(board):
    handle(
        board.server, written("Re: Symple Board 101 alice", "e5"), None, [answer_to(board), answer_to(board), ADDRESS]
    )
    assert turns(board) == ["e5"]


def test_a_preview_shows_the_sender_what_moves_lead_to_plays_nothing_and_offers_an_answer(board):
    [shown] = answer(board, "preview *e5* a1.\n\nwhat if?")
    assert shown.subject == "Symple Board 101 alice"
    assert shown.text.startswith("Preview: Symple board 101, ")
    assert re.search(r"\n1\. +e5 +a1\n", shown.text)
    assert (shown.address, shown.reply_to) == (ALICE, answer_to(board))
    assert turns(board) == []
    [shown] = answer(board, "preview e5")
    assert html.link(from_json(shown.blocks)[-1], shown, ADDRESS).endswith("&body=e5")
    assert shown.text.endswith("\nsymple move 101 alice PASSWORD e5#1\n")
    [shown] = answer(board, "preview e5", "bob")
    assert shown.text.endswith("\nsymple show 101\n")
    [shown] = answer(board, "submit e5")
    assert html.link(from_json(shown.blocks)[-1], shown, ADDRESS).endswith("&body=confirm")


@pytest.mark.parametrize(
    "story",
    rules("""
a move that is submitted is shown to its sender, and played when they confirm it
    challenge alice bob / alice answers: submit e5 / told sender / sender gets Symple Board 101 bob / \
sender reads Nothing is played yet / played / alice answers: confirm⏎⏎Good luck! / told alice bob / played e5 / \
all read alice writes: Good luck!
a queued move is told to its sender alone, and played in its turn
    challenge alice bob / bob answers: queue a1 / told sender / sender gets Symple Board 101 alice / \
sender reads Your plan: if any then a1 / bob answers: queue clear / sender reads Your queued move is forgotten. / \
bob answers: queue b2 / alice answers: e5 / played e5 (b2) / told alice bob
votes are cast by answers
    challenge alice bob / alice answers: propose / told alice bob / all read Waiting for bob to `accept` or `reject` / \
bob answers: Reject. / vote / alice answers: e5 / alice answers: undo / bob answers: accept / played / \
alice answers: propose / bob answers: accept / reason agreed
a game is given up by an answer
    challenge alice bob / plays e5 a1 / alice answers: resign⏎⏎Thank you for the game. / winner bob / \
bob reads Thank you for the game.
the opponent is reminded by an answer
    challenge alice bob / 4 days / bob answers: nag / alice gets Nag: Symple Board 101 alice
a board that is over still lists its turns and takes chat
    challenge alice bob / plays e5 a1 resign / alice answers: history / sender reads Resign / \
alice answers: chat Thank you / told alice bob
a chat comes at once, whatever mails about boards one wants
    challenge alice bob / bob: symple mail ME none / alice answers: chat Hello bob / told alice bob / \
bob: symple mail ME digest / alice answers: chat Hello bob / told alice bob
an answer counts as a command for who seeks
    alice: spiro seek ME 2 / challenge alice bob / 20 days / alice answers: e5 / 59 days / clean up / \
carol: all seekers / sender reads alice / 1 days / clean up / carol: all seekers / \
sender reads Nobody seeks challenges.
the turns of the board are listed to the sender
    challenge alice bob / alice answers: history / told sender / sender reads No move has been made yet. / \
plays a1 b2 a3 b4 a5 d2 c1 d4 e5 / alice answers: History / told sender / \
sender gets Historical List of Symple board 101 / \
sender reads History: Symple board 101, alice (white) against bob (black) / \
sender reads 1. a1 b2 2. a3 b4 3. a5 d2 4. c1 d4 5. e5 / sender reads no a b c d
an answer of a subscriber plays nothing, but may ask, and chat when the game is over
    challenge alice bob / carol: symple subscribe ME 101 / carol answers: e5 / ONLY_PLAYERS / \
carol answers: queue e5 / ONLY_PLAYERS / carol answers: submit e5 / ONLY_PLAYERS / carol answers: confirm / \
ONLY_PLAYERS / carol answers: resign / ONLY_PLAYERS / carol answers: propose / ONLY_PLAYERS / played / \
carol answers: show / sender gets Symple Board 101 alice / carol answers: preview e5 / \
sender gets Symple Board 101 bob / carol answers: history / sender reads No move has been made yet. / \
carol answers: help / sender gets Help symple / carol answers: chat Hello / told sender / \
sender reads Onlookers do not advise / plays c3 b1 resign / carol answers: chat Hello / told alice bob carol
    """),
)
def test_an_answer_does_what_a_command_with_its_words_does(four, story):
    follow(four, story.replace("ONLY_PLAYERS", "sender reads You do not play on this board"))


@pytest.mark.parametrize(
    ("subject", "body"),
    [
        ("Re: Symple Board 101 alice", "chat\n\nHello bob,\nhow are you?"),
        ("Re: Symple Board 101 alice", "Chat: Hello bob,\nhow are you?"),
        ("Re: Symple Board 101 alice", "chat Hello bob,\nhow are you?"),
        ("chat", "Hello bob,\nhow are you?"),
    ],
)
def test_a_chat_passes_on_the_text_to_the_players_and_changes_nothing(board, subject, body):
    told = answer(board, body, subject=subject)
    assert {mail.userid for mail in told} == {"alice", "bob"}
    assert {mail.subject for mail in told} == {"Symple chat 101 alice"}
    assert all("alice writes:\n\nHello bob,\nhow are you?\n" in mail.text for mail in told)
    assert turns(board) == []


def test_a_chat_is_answered_by_writing_back(board):
    told = answer(board, "chat Hello bob", subject="chat")
    [chatted] = [mail for mail in told if mail.userid == "bob"]
    assert chatted.reply_to == answer_to(board, "bob")
    back = send(board, f"Re: {chatted.subject}", "Hello, alice,\n\ne5 is a good point", BOB, chatted.reply_to)
    assert {mail.userid for mail in back} == {"alice", "bob"}
    assert all("bob writes:\n\nHello, alice,\n\ne5 is a good point\n" in mail.text for mail in back)
    assert not any(EASY in mail.text for mail in back)  # alice is to move, but not by answering a chat
    [answered] = [mail for mail in back if mail.userid == "alice"]
    link = html.link(from_json(answered.blocks)[-1], answered, ADDRESS)
    assert link.startswith(f"mailto:{answered.reply_to}?subject=Re: Symple chat 101 bob".replace(" ", "%20"))
    assert turns(board) == []


def test_as_many_texts_go_through_a_reply_address_as_through_a_password(board):
    for number in range(100):
        assert len(answer(board, f"chat {number}")) == 2
    assert answer(board, "chat again")[0].subject == "Symple Board 101 Error"


@pytest.mark.parametrize(("subject", "body"), [("Re: Symple Board 101 alice", "help"), ("Help", "")])
def test_the_help_that_comes_is_that_of_the_game(board, subject, body):
    [told] = answer(board, body, subject=subject)
    assert told.address == ALICE
    assert told.subject == "Help symple"


@pytest.mark.parametrize(
    ("subject", "body"),
    [("e5", ""), ("Re: e5", ""), ("AW: e5", "> Symple board 101\n> alice is to move"), ("Re: move", "e5")],
)
def test_what_is_typed_behind_the_re_of_a_subject_counts(board, subject, body):
    answer(board, body, subject=subject)
    assert turns(board) == ["e5"]


@pytest.mark.parametrize(("word", "played"), [("move", ["e5"]), ("preview", []), ("submit", []), ("queue", ["e5"])])
def test_a_word_in_the_subject_goes_with_the_move_in_the_body(board, word, played):
    answer(board, "e5\n\nHello", subject=word.title())
    assert turns(board) == played


@pytest.mark.parametrize(
    "subject",
    [
        *(f"Re: Symple Board 101 alice {tag}" for tag in (
            "[EXTERNAL]", "[Ticket#1]", "[Ticket #1]", "(fwd)", "#4711", "** [EXT] (fwd) #4711", "{Spam?}", "*EXT*",
            "<ext>", "- external", "EXTERNAL MAIL FROM OUTSIDE", "(was: Hello)", "[EXTERNAL EMAIL] #5",
        )),
        "[Ticket#1] Re: Symple Board 101 alice", "#4711 Re: Symple Board 101 alice", "(fwd) Symple Board 101 alice",
        "#4711: [EXTERNAL] AW: Symple Board 101 alice [EXT]",
        "Vacation from Monday", "List", "Help me please", "Message from Alice", "Show me", "Mail", "Block 5", "my move",
        "symple move 101 alice wrong-secret a1", "symple move 101 alice", "symple show 101", "z9", "4711", "B52",
        "Chess", "confirm", "accept", "Re: e5", "move", "E5!", "move e5#1", "symple move 101 alice PASSWORD e5",
    ],
)  # fmt: skip
def test_the_first_line_of_the_text_is_what_was_typed_whatever_the_subject_is(board, subject):
    answer(board, "e5\n\nI am away from Monday on.", subject=subject)
    assert turns(board) == ["e5"], board.mails()[-1].text
    assert stored_board(board.store, "symple", "101").row.comment == "I am away from Monday on."


@pytest.mark.parametrize(("subject", "said"), [
    ("Re: c3", "c3"), ("resign", "resign"), ("Help", "Help"), ("queue a1", "queue a1"), ("History", "History"),
    ("symple move 101 alice PASSWORD c3", "move c3"),
])  # fmt: skip
def test_two_answers_that_could_both_be_done_are_told_and_nothing_is_done(board, subject, said):
    [refusal] = answer(board, "e5\n\nHello", subject=subject)
    told = " ".join(refusal.text.split())
    assert f"The subject says `{said}`, and the first line of the text says `e5`; nothing was done." in told
    assert refusal.subject == "Symple Board 101 Error"
    assert turns(board) == []
    assert board.store.boards.plans("symple", "101") == {}
    assert board.store.boards.get("symple", "101") is not None


def test_a_command_below_an_answer_in_the_subject_is_another_answer_and_no_password_is_told(board):
    [refusal] = answer(board, "symple move 101 alice alice-secret e5", subject="c3")
    assert "the text says `symple move 101 alice PASSWORD e5`" in " ".join(refusal.text.split())
    assert "alice-secret" not in refusal.text
    assert turns(board) == []


def test_a_command_with_the_right_password_in_the_subject_counts_even_if_it_is_refused(board):
    [refusal] = answer(board, "e5", subject="symple move 101 alice alice-secret z9")
    assert "z9" in refusal.text
    assert turns(board) == []
    answer(board, "e5", subject="symple move 101 alice alice-secret c3")
    assert turns(board) == ["c3"]


def test_the_commands_below_multiple_are_never_carried_out_in_part(board):
    answer(board, "symple move 101 alice alice-secret e5\nlist", subject="multiple")
    assert turns(board) == ["e5"]
    assert "List of games" not in board.mails()[-1].subject
    assert board.mails()[-1].subject == "multiple"


@pytest.mark.parametrize(("subject", "played"), [("Re: e5", ["e5"]), ("E5", ["e5"]), ("propose", []), ("z9", [])])
def test_prose_is_the_comment_of_an_answer_in_the_subject(board, subject, played):
    told = answer(board, "Good luck, bob!", subject=subject)
    assert turns(board) == played
    assert any("alice writes:\n\nGood luck, bob!" in mail.text for mail in told) == (subject != "z9")


@pytest.mark.parametrize("typed", ["e5 e6", "z9", "e3 : 5"])
@pytest.mark.parametrize("subject", ["List", "resign", "Help me please", "c3"])
def test_a_move_that_is_none_is_refused_whatever_the_subject_is(board, subject, typed):
    [refusal] = answer(board, typed, subject=subject)
    assert refusal.subject == "Symple Board 101 Error"
    assert f"\n> {typed}\n" in refusal.text
    assert turns(board) == []


def test_a_wrong_password_in_a_subject_counts_as_a_guess_though_the_text_is_played(board):
    for number in range(6):
        answer(board, "show", subject=f"symple move 101 bob wrong-secret-{number} e5")
    [refusal] = send(board, "symple move 101 bob bob-secret e5", sender=BOB)
    assert "Too many wrong passwords" in refusal.text


def test_tags_behind_the_subject_are_no_guesses(board):
    for _ in range(6):
        answer(board, "show", subject="Re: Symple Board 101 alice [EXTERNAL MAIL] (fwd) #4711")
    send(board, "symple move 101 alice alice-secret e5")
    assert turns(board) == ["e5"]


@pytest.mark.parametrize("tag", ["", " [EXTERNAL]", " (fwd) #4711"])
@pytest.mark.parametrize("writer", ["bob", "a guest"])
def test_an_answer_to_a_chat_is_a_chat_whatever_stands_behind_the_subject(board, writer, tag):
    told = answer(board, "Hello, bob,\nhow are you?", subject=f"Re: Symple chat 101 {writer}{tag}")
    assert {mail.subject for mail in told} == {"Symple chat 101 alice"}


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("preview", "This is written `preview MOVE ...`."),
        ("submit", "This is written `submit MOVE`."),
        ("queue e5 e6", "This is written `queue MOVE`."),
        ("note hello you", "This is written `note [clear]`. The text of a note stands below it."),
        ("show me", "`show` stands alone in the first line."),
        ("confirm e5", "`confirm` stands alone in the first line."),
        ("confirm", "There is no submitted move to confirm."),
        ("move", "Cannot read 'move'; write one point, such as c3"),
        ("", "Yours is empty."),
        ("e5 e6", "without blanks between its parts."),
        ("accept", "Nothing is proposed on this board."),
        ("chat", "A chat needs a text"),
        ("preview z1", "z1"),
        ("submit z1", "z1"),
    ],
)
def test_a_refused_answer_names_its_reason_shows_the_board_and_has_error_in_its_subject(board, typed, why):
    [refusal] = answer(board, typed)
    assert refusal.subject == "Symple Board 101 Error"
    assert why in " ".join(refusal.text.split())
    assert "    a b c d e f g h i" in refusal.text
    assert f"\n> {typed}\n" in refusal.text or not typed
    assert (refusal.address, refusal.reply_to) == (ALICE, answer_to(board))
    assert turns(board) == []


def test_who_writes_no_move_is_told_what_else_he_can_write(board):
    [refusal] = answer(board, "What can I do here?")
    told = " ".join(refusal.text.split())
    for word in ("show", "preview MOVE ...", "queue MOVE", "submit MOVE", "confirm", "chat", "history", "help",
                 "propose", "undo", "accept", "reject", "resign", "unsubscribe"):  # fmt: skip
        assert word in told


@pytest.mark.parametrize("word", ["show", "preview e5", "queue a1", "submit e5", "history", "help"])
def test_what_only_asks_is_answered_to_where_it_came_from_and_to_nobody_else(board, word):
    name = "bob" if word.startswith("queue") else "alice"
    told = send(board, "Re: Symple Board 101 alice", word, "friend@elsewhere.example", answer_to(board, name))
    assert [mail.address for mail in told] == ["friend@elsewhere.example"]
    assert "Error" not in told[0].subject


@pytest.mark.parametrize("word", ["queue a1", "submit e5", "confirm", "chat Hello", "e5", "resign", "propose"])
def test_a_reply_address_does_nothing_on_another_board_or_for_another_user(board, word):
    board.say("symple challenge -size=9 alice bob")
    rows = [board.store.boards.get("symple", "102"), board.store.boards.plans("symple", "102")]
    answer(board, word)
    assert [board.store.boards.get("symple", "102"), board.store.boards.plans("symple", "102")] == rows
    assert "bob" not in board.store.boards.plans("symple", "101")
    assert all("bob writes" not in mail.text for mail in board.mails())


def test_the_help_lists_every_word_of_an_answer(board):
    [told] = board.say("help commands")
    listed = told.body.partition("\n  MOVE  ")[2].partition("\n\n")[0]
    for name in answers.ANSWERS:
        needed = answers.needed_behind(name)
        assert f"move {needed}" in listed if name == "move" else f"\n  {name} {needed}".rstrip() in listed
    assert all(re.search(rf"\b{name}\b", listed) for name in votes.INSTEAD_OF_A_MOVE)


# An answer that has lost its address


@pytest.mark.parametrize(
    "subject", ["Re: New Symple Board 101 alice", "Re: Symple Board 101 alice **", "AW: Nag: Symple Board 101 alice",
                "Re: Symple Board 101 Error"]
)  # fmt: skip
def test_an_answer_that_has_lost_its_address_is_told_how_to_go_on_and_gets_the_board_mail_again(board, subject):
    again, refusal = send(board, subject, "e5\n\nHello")
    assert turns(board) == []
    assert refusal.subject == "Symple Board 101 Error"
    told = " ".join(refusal.text.split())
    assert "Please answer the mail about the board itself" in told
    assert "It comes once more with this one." in told
    assert again.subject == "Symple Board 101 alice"
    assert again.text.startswith("Summary: Symple board 101")
    assert (again.address, again.reply_to) == (ALICE, answer_to(board))
    assert EASY in again.text
    assert (refusal.address, refusal.reply_to) == (ALICE, answer_to(board))
    send(board, f"Re: {again.subject}", "e5", ALICE, again.reply_to)
    assert turns(board) == ["e5"]


def test_a_board_that_is_over_or_not_there_is_not_mailed_again(board):
    for move, name in (("e5", "alice"), ("a1", "bob"), ("resign", "alice")):
        answer(board, move, name)
    for number in ("101", "999"):
        assert len(send(board, f"Re: Symple Board {number} alice", "e6")) == 1


@pytest.mark.parametrize("sender", ["alice@evil.example", "carol@players.example"])
def test_nobody_but_a_player_gets_the_board_mail_again(board, sender):
    [refusal] = send(board, "Re: Symple Board 101 alice", "e5", sender)
    assert (refusal.subject, refusal.address, refusal.reply_to) == ("Symple error", sender, None)
    told = " ".join(refusal.text.split())
    assert "PASSWORD and MOVE[#n] are missing" in told
    assert "Or answer the mail about the board itself" in told
    assert all("+" not in mail.text for mail in [refusal])


def test_a_board_is_mailed_again_so_three_times_a_day(board):
    counts = [len(send(board, "Re: Symple Board 101 alice", f"e{number}")) for number in range(1, 6)]
    assert counts == [2, 2, 2, 1, 1]
    board.pass_time(days=1)
    assert len(send(board, "Re: Symple Board 101 alice", "e9")) == 2


def test_a_full_command_below_the_subject_of_a_board_mail_is_carried_out(board):
    send(board, "Re: Symple Board 101 alice", "symple move 101 alice alice-secret e5\nHello")
    assert turns(board) == ["e5"]


@pytest.mark.parametrize("word", ["e5", "history", "show"])
def test_an_answer_about_a_board_whose_game_is_gone_gets_one_answer(board, monkeypatch, word):
    address = answer_to(board)
    monkeypatch.setattr(games, "load", {}.__getitem__)
    monkeypatch.setattr(games, "exists", lambda _: False)
    [refusal] = send(board, "Re: Symple Board 101 alice", f"{word}\n\nhi", recipient=address)
    assert "Symple board 101 cannot be read at the moment" in refusal.text
