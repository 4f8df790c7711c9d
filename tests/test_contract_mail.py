"""Mail: who is told what, and what a board mail says (docs/command-language.md, section 2)."""

import pytest

from helpers.examples import rules
from helpers.mail import handle
from helpers.members import SENDER, text_to, to
from helpers.stories import follow

HELLO = "Hello there,\n\nnice game.\n"


# The body as the comment


def test_the_body_is_the_comment_without_empty_lines_around_it(by_mail):
    by_mail.begin()
    told = by_mail.signs("alice", "symple move 101 ME c3", f"\n\n{HELLO}\n\n")
    assert "\nalice writes:\n\nHello there,\n\nnice game.\n\n" in text_to("bob", told)


@pytest.mark.parametrize(
    ("moves", "name", "line", "reader"),
    rules("""
what is written with a command is passed on
    | alice | symple move 101 ME c3 | bob
    | alice | symple queue 101 ME c3 | bob
    c3 | alice | symple resign 101 ME | bob
    c3 b1 | alice | symple resign 101 ME | bob
    c3 b1 | bob | symple move 101 ME propose | alice
    c3 b1 | bob | symple move 101 ME undo | alice
    c3 | bob | symple chat 101 ME | alice
    c3 b1 resign | carol | symple chat 101 ME | alice
    | carol | message ME alice | alice
    """),
)
def test_a_comment_is_passed_on(begun, moves, name, line, reader):
    begun.plays(*moves.split())
    assert f"{name} writes:\n\nHello there" in text_to(reader, begun.signs(name, line, HELLO))


@pytest.mark.parametrize("vote", ["propose", "undo"])
@pytest.mark.parametrize("answer", ["accept", "reject"])
def test_what_is_written_with_a_vote_is_passed_on(moved, vote, answer):
    moved.signs("alice", f"symple move 101 ME {vote}")
    told = moved.signs("bob", f"symple move 101 ME {answer}", HELLO)
    assert "bob writes:\n\nHello there" in text_to("alice", told)


@pytest.mark.parametrize("line", ["symple subscribe ME 101", "symple notify ME", "symple limit ME 3",
                                  "symple reject ME", "symple seek ME 2", "symple show 101", "symple games",
                                  "symple standings", "symple preview 101 c3", "vacation ME 2026-11-25", "list",
                                  "help"])  # fmt: skip
def test_other_commands_pass_nothing_on(begun, line):
    told = begun.signs("carol", line, HELLO)
    assert told
    assert not any("Hello there" in one.text for one in told)


@pytest.mark.parametrize(("asked", "is_told"), [("alice", True), ("bob", False), ("alice bob", False)])
def test_a_calendar_is_offered_to_who_asks_by_mail_for_their_own_boards_alone(by_mail, asked, is_told):
    by_mail.begin()
    by_mail.server = by_mail.server._replace(web="https://games.example")
    text = text_to(SENDER, by_mail.give("alice", f"all games {asked}"))
    assert ("For a calendar program" in text, "https://games.example/calendar/" in text) == (is_told, is_told)


# Who is meant


@pytest.mark.parametrize("line", ["symple show 101", "symple games", "symple standings", "symple preview 101 c3",
                                  "symple history", "symple move 101 ME z9", "symple submit 101 ME c3"])  # fmt: skip
def test_the_reply_to_the_command_itself_goes_where_the_mail_came_from(by_mail, line):
    by_mail.begin()
    line = line.replace("ME", "alice alice-secret")
    handle(by_mail.server, by_mail.raw("elsewhere", line), None)
    assert [mail.address for mail in by_mail.mails()] == ["elsewhere@players.example"]


@pytest.mark.parametrize("line", ["symple move 101 ME c3", "symple queue 101 ME c3", "symple limit ME 3",
                                  "symple subscribe ME all", "symple notify ME"])  # fmt: skip
def test_everything_else_goes_to_the_address_on_file(by_mail, line):
    by_mail.begin()
    handle(by_mail.server, by_mail.raw("elsewhere", line.replace("ME", "alice alice-secret")), None)
    assert "alice@players.example" in {mail.address for mail in by_mail.mails()}
    assert "elsewhere@players.example" not in {mail.address for mail in by_mail.mails()}


# The table of events


@pytest.mark.parametrize(
    ("before", "line", "to_whom", "subject"),
    rules("""
lists are told to the sender
    | symple standings | sender | Symple Standings
    | symple games | sender | List of Symple games
    | symple history | sender | Historical List of Symple games
    | symple show dora | sender | Show summary
    | all show dora | sender | Show summary
settings are told to the user at their own address
    symple reject ME | symple accept ME | carol | Symple challenges now accepted
    | symple reject ME | carol | Symple challenges now rejected
    | symple limit ME 3 | carol | Symple challenges now limited
    | symple limit ME | carol | Symple limit status
    | symple seek ME | carol | Symple seek status
    | symple seek ME 2 | carol | Now seeking 2 Symple challenges
    | symple notify ME | carol | Symple notification started
    symple notify ME | symple notify ME | carol | Symple notification cancelled
    | symple notify ME 101 | carol | Symple Notify summary
    | symple unsubscribe ME 101 | carol | Subscription summary
    """),
)
def test_who_is_told_of_a_list_or_a_setting(begun, before, line, to_whom, subject):
    if before:
        begun.signs("carol", before)
    assert to(begun.signs("carol", line)) == [(to_whom, subject)]


@pytest.mark.parametrize("text", ["-- carol", "__", "__carol", "__ carol", "--=20", "--=20\ncarol"])
def test_a_comment_that_is_only_a_signature_puts_no_asterisks_into_the_subject(four, text):
    four.begin()
    told = four.signs("alice", "symple move 101 ME c3", text)
    assert to(told) == [(name, "Symple Board 101 bob") for name in ("alice", "bob")]


@pytest.mark.parametrize(
    ("name", "line"),
    rules("""
what is refused after that is a board error with the board
    carol | move 101 ME c3
    bob | move 101 ME c3
    alice | move 101 ME z9
    alice | move 101 ME c3#7
    alice | move 101 ME accept
    alice | swap 101 ME
    alice | confirm 101 ME
    alice | submit 101 ME z9
    alice | queue 101 ME clear
    """),
)
def test_an_error_on_a_board_shows_the_board(begun, name, line):
    told = begun.refused(name, f"symple {line}")
    assert told.subject == "Symple Board 101 Error"
    assert "    a b c d e\n" in told.text


# The body of a board mail


def test_the_parts_of_a_board_mail_stand_in_their_order(both_ways):
    both_ways.begin("symple challenge -size=5 --totaltime=30 alice bob")
    both_ways.plays("a1", "b2", "a3", "b4", "a5", "d2", "c1", "d4", "c3", "e1")
    steps = "carol: symple subscribe ME 101 / dora: symple notify ME 101 / bob: queue d5#12 / "
    follow(both_ways, f"{steps}alice: vacation ME 2026-11-25")
    text = text_to("bob", both_ways.signs("bob", "symple move 101 ME propose", HELLO))
    parts = [
        "Summary: Symple board 101, alice (white) against bob (black)\n\n",
        "bob proposes a draw.\nWaiting for alice to `accept` or `reject`",
        "alice is on vacation through 2026-11-25.",
        "alice's turn (white).",
        "Your plan:\nif any then d5#12",
        "Move  alice (white)  bob (black)\n2.    a3",
        "    a b c d e\n",
        "Last turn: e1",
        "Options: -size=5 --totaltime=30",
        "Subscribers: carol\nNotified at the end: dora",
        "*" * 60 + "\nbob writes:\n\nHello there",
        "*" * 60 + "\nStart",
        "Last move",
        "Now",
        "Time of alice",
        "Time of bob",
        "Time of both",
        "Allowed to each  30 days",
        "symple show 101",
    ]
    places = [text.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)
    assert text.endswith("\n\nsymple show 101\n") or both_ways.way == "shell"


def test_a_board_mail_ends_with_the_command_to_answer_with(begun):
    told = begun.signs("alice", "symple move 101 ME c3")
    assert text_to("bob", told).endswith("\n\nsymple move 101 bob PASSWORD MOVE#2\n")


@pytest.mark.parametrize("line", ["symple show 101", "symple preview 101", "symple subscribe ME 101"])
def test_all_moves_are_listed_where_the_whole_board_is_asked_for(begun, line):
    begun.plays("a1", "b2", "a3", "b4", "a5", "d2", "c1", "d4", "e5")
    assert "\n1.    a1" in "\n".join(one.text for one in begun.signs("carol", line))


@pytest.mark.parametrize(
    "story",
    rules("""
a challenge that is accepted is told to both players, and to everyone under subscribe all
    carol: symple subscribe ME all / alice: symple challenge -size=5 alice bob / \
alice gets New Symple Board 101 alice / bob gets New Symple Board 101 alice / \
carol gets New Symple Board 101 alice / carol reads New: Symple board 101
each step of a vote is told to the players and the subscribers
    challenge alice bob / plays c3 b1 / carol: symple subscribe ME 101 / bob: move propose / told alice bob carol / \
all get Symple Board 101 alice / alice: move reject / told alice bob carol / all get Symple Board 101 alice / \
bob: move propose / alice: move accept / told alice bob carol / all get Symple Board 101
    challenge alice bob / plays c3 b1 / carol: symple subscribe ME 101 / bob: move undo / told alice bob carol / \
all get Symple Board 101 alice / alice: move reject / told alice bob carol / all get Symple Board 101 alice / \
bob: move undo / alice: move accept / told alice bob carol / all get Symple Board 101 bob
the comment of a challenge is headed Challenger writes
    alice: symple challenge alice bob⏎Hello there / bob reads Challenger writes: Hello there
the end of a game is told to who is notified, without what is written, as a notification
    challenge alice bob / plays c3 b1 / carol: symple notify ME 101 / dora: symple notify ME / \
alice: resign⏎Hello there / told alice bob carol dora / alice gets Symple Board 101 ** / \
bob gets Symple Board 101 ** / carol gets Symple Board 101 / carol reads Notification: Symple board 101 / \
carol reads no Hello / dora gets Symple Board 101 / dora reads Notification: Symple board 101 / dora reads no Hello
only the latest comment is kept, and a move without one removes it
    challenge alice bob / alice: move c3⏎first words / bob: move b1⏎second words / alice reads no first words / \
carol: symple show 101 / sender reads second words / alice: move e1 / carol: symple show 101 / sender reads no words
chat is told to the players, the subscribers and the writer
    challenge alice bob / carol: symple subscribe ME 101 / alice: symple chat 101 ME⏎Hello / told alice bob carol / \
all get Symple chat 101 alice / carol refused: symple chat 101 ME⏎Hello / \
sender reads Onlookers do not advise: / dora refused: symple chat 101 ME⏎Hello / plays c3 b1 resign / \
carol: symple chat 101 ME⏎Hello / told alice bob carol / \
all get Symple chat 101 carol / dora: symple chat 101 ME⏎Hello / told alice bob carol dora / \
all get Symple chat 101 dora
show, preview and submit are told to the sender alone
    challenge alice bob / alice: symple show 101 / told sender / sender gets Symple Board 101 alice / \
sender reads Summary: Symple board 101 / alice: symple preview 101 / told sender / \
sender gets Symple Board 101 alice / sender reads Preview: Symple board 101 / alice: submit c3 / told sender / \
sender gets Symple Board 101 bob / sender reads Submit: Symple board 101
moves and removals are told to all who follow
    challenge alice bob / carol: symple subscribe ME 101 / told carol / carol gets Subscription summary / \
carol gets Symple Board 101 alice / carol reads Subscription Summary: Symple board 101 / alice: move c3 / \
told alice bob carol / all get Symple Board 101 bob / all read Summary: Symple board 101 / bob: resign / \
told alice bob carol / all get Symple board 101 has been removed
a reminder is told to the player who is late
    challenge alice bob / carol: symple subscribe ME 101 / 7 days / clean up / told alice / \
alice gets Nag: Symple Board 101 alice
what is refused before board and password are known is a game error
    challenge alice bob / alice refused: symple move 999 ME c3 / sender gets Symple error / \
alice refused: symple move 101 alice wrong-secret c3 / sender gets Symple error / alice refused: symple move 101 ME / \
sender gets Symple error / alice refused: symple nonsense / sender gets Symple error / \
alice refused: symple show nosuch / sender gets Symple error / alice refused: symple limit ME x / \
sender gets Symple error / alice refused: symple / sender gets Symple error
what names no game is an error of the server
    alice refused: hello there / sender gets pbm error
what is refused on a game that is over is a game error
    challenge alice bob / plays c3 b1 resign / alice refused: move c4 / sender gets Symple error
a challenge that is refused is an invalid challenge
    alice refused: symple challenge alice nosuch / sender gets Invalid challenge
the list has the last four rounds and every automatic move
    challenge alice bob / bob: symple queue 101 ME b2 / plays a1 a3 b4 a5 d2 c1 d4 e5 / bob: symple move 101 ME c5 / \
alice reads 1. a1 b2 (Auto) / alice reads 5. e5 c5
    challenge alice bob / plays a1 b2 a3 b4 a5 d2 c1 d4 e5 / bob: symple move 101 ME c5 / alice reads no 1. a1 / \
alice reads 2. a3
all moves are listed when the game is over, and the ratings
    challenge alice bob / plays a1 b2 a3 b4 a5 d2 c1 d4 e5 / bob: symple resign 101 ME / alice reads 1. a1 / \
alice reads Won by alice (bob resigned). / alice reads alice 1600 -> 1824 up 224 (provisional) / \
alice reads bob 1600 -> 1424 down 176 (provisional) / alice reads Time of both
the clocks are shown only if there is something to say
    challenge alice bob / alice: symple move 101 ME a1 / bob reads Last turn: a1 / bob reads no Time of both
    challenge --name=a1 alice bob / alice: symple move a1 ME c3 / bob reads Reminder after 1 day / \
bob reads Forfeit after 7 days
    """),
)
def test_what_a_board_mail_tells(both_ways, story):
    follow(both_ways, story)


# Errors


def test_an_error_says_the_reason_then_the_board_then_quotes_what_was_sent_with_the_password_masked(by_mail):
    by_mail.begin()
    text = by_mail.refused("alice", "symple move 101 ME z9", "my alice-secret words").text
    places = [
        text.find(part) for part in ("z9", "a b c d e", "> symple move 101 alice PASSWORD z9", "> my PASSWORD words")
    ]
    assert -1 not in places
    assert places == sorted(places)
    assert "alice-secret" not in text
