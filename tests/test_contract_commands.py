"""The overview of the commands of a game, a row each, and what selects boards (docs/command-language.md, section 3)."""

from itertools import product

import pytest

from helpers.examples import rules
from helpers.fixtures import set_up
from helpers.members import SENDER, text_to, to
from helpers.stories import follow

SYNTAX = {
    "challenge": "USERID1 USERID2",
    "move": "BOARD USERID PASSWORD MOVE[#n]",
    "queue": "BOARD USERID PASSWORD MOVE[#n]",
    "plan": "BOARD USERID PASSWORD [LINE;...|clear]",
    "submit": "BOARD USERID PASSWORD MOVE[#n]",
    "confirm": "BOARD USERID PASSWORD",
    "preview": "BOARD[#n]",
    "show": "BOARD[#n]...|SELECTOR...",
    "showas": "USERID PASSWORD BOARD[#n]...|SELECTOR...",
    "resign": "BOARD USERID PASSWORD",
    "swap": "BOARD USERID PASSWORD",
    "chat": "BOARD USERID PASSWORD",
    "accept": "USERID PASSWORD",
    "reject": "USERID PASSWORD",
    "limit": "USERID PASSWORD [N]",
    "seek": "USERID PASSWORD [N]",
    "subscribe": "USERID PASSWORD BOARD...",
    "unsubscribe": "USERID PASSWORD BOARD...",
    "notify": "USERID PASSWORD [BOARD]... [on|off]",
}
MOST_WORDS = {"challenge": 2, "confirm": 3, "resign": 3, "swap": 3, "chat": 3, "accept": 2, "reject": 2, "limit": 3,
              "seek": 3, "standings": 0, "history": 0}  # fmt: skip


@pytest.mark.parametrize(("command", "syntax"), SYNTAX.items())
def test_too_few_words_are_an_error_with_the_syntax_of_the_command(four, command, syntax):
    assert syntax in four.refused("alice", f"symple {command}").text


@pytest.mark.parametrize(("command", "most"), MOST_WORDS.items())
def test_too_many_words_are_an_error_with_the_syntax_of_the_command(four, command, most):
    words = ["101", "alice", "alice-secret", "more"][: most + 1]
    assert f"  symple {command}" in four.refused("alice", f"symple {command} {' '.join(words)}").text


# Rows


@pytest.mark.parametrize(
    "story",
    rules("""
showas shows the queued move, and counts the userid into selectors
    challenge alice bob / bob: queue b1 / challenge carol dora / bob: symple showas ME 101 / told sender / \
sender reads Your plan: if any then b1 / bob: symple showas ME active / sender reads Your plan: if any then b1 / \
sender gets no Symple Board 102 carol / bob: symple showas ME standard / sender reads Your plan: if any then b1 / \
sender gets no Symple Board 102 carol / alice: symple showas ME next / sender gets Symple Board 101 alice / \
sender gets no Symple Board 102 carol / sender reads no plan
all seekers are listed, in all games, with their ratings
    carol: all seekers / sender reads Nobody seeks challenges. / challenge alice bob / plays c3 a1 resign / \
alice: symple seek ME 3 / carol: spiro seek ME 12 / bob: all seekers / \
sender reads Game Name Rating Seeking spiro carol 12 symple alice 1424 3
no list of seekers names who takes no challenges, has reached their limit or is on vacation
    alice: symple seek ME 3 / carol: all seekers / sender reads symple alice 3 / alice: symple reject ME / \
carol: all seekers / sender reads Nobody seeks challenges. / carol: symple standings / sender reads no alice / \
alice: symple seek ME 2 / alice reads No list shows it while you take no challenges / alice: symple limit ME 1 / \
carol: all seekers / sender reads symple alice 2 / challenge alice bob / carol: all seekers / \
sender reads Nobody seeks challenges. / alice: symple accept ME / carol: symple standings / \
sender reads Name Seeking alice 1 / alice: vacation ME 2026-12-01 / carol: all seekers / \
sender reads Nobody seeks challenges. / carol: symple standings / sender reads no alice / 12 days / \
carol: all seekers / sender reads symple alice 1
    carol: symple seek ME 3 / carol: symple limit ME 1 / challenge carol carol / alice: all seekers / \
sender reads Nobody seeks challenges. / alice: spiro seek ME 1 / alice: symple reject ME / bob: all seekers / \
sender reads spiro alice 1
a player who has resigned reads on as a subscriber
    challenge alice bob / plays c3 b1 resign / dora answers: chat Hello / told alice bob dora / \
alice: symple unsubscribe ME 101 / dora answers: chat Hello again / told bob dora
who ends a subscription, or has none, is told just that
    challenge alice bob / carol: symple subscribe ME 101 / carol: symple unsubscribe ME 101 / \
carol reads You get no more mails about: 101. / carol reads no You were not subscribed / \
carol: symple unsubscribe ME 101 / carol reads You were not subscribed to: 101. / \
carol reads no You get no more mails
boards to subscribe to are written in any case, also as a selector, and no password is said back
    carol refused: symple subscribe all carol wrong-secret / sender reads no wrong-secret / \
challenge --name=a1 alice bob / carol: symple subscribe A1 ME / subscribers carol / challenge alice dora / \
challenge bob dora / carol: symple subscribe ME alice active / carol gets Symple Board 101 alice / \
carol gets no Symple Board 102 bob / subscribers
a table lists active boards and those over for 14 days, and says how each game stands
    challenge alice bob / challenge alice bob / plays c3 / challenge alice dora / plays c3 b1 resign / \
challenge alice bob / plays c3 b1 / alice: move propose / bob: move accept / stranger: symple games / \
sender reads alice to start / sender reads bob's turn / sender reads won by dora / sender reads tie / \
13 days / stranger: symple games / sender reads won by dora / 1 days / stranger: symple games / \
sender reads bob's turn / sender reads no won by dora / stranger: symple games inactive / \
sender reads won by dora / stranger: symple games dora / sender reads won by dora
    """),
)
def test_what_becomes_of_lists_and_selectors(both_ways, story):
    follow(both_ways, story)


def test_games_is_one_table(begun):
    begun.begin("symple challenge --nagtime=3 carol dora")
    begun.plays("c3", "b1", board="102")
    begun.signs("carol", "symple move 102 ME undo")
    [told] = begun.give("stranger", "symple games")
    assert told.text.splitlines()[:3] == [
        "Board  Moves  Players     Status                             Options",
        "101    0      alice bob   alice to start                     -size=5",
        "102    2      carol dora  carol's turn; carol proposes undo  --nagtime=3",
    ]


def test_anybody_may_chat_on_a_board_that_is_over_and_the_chat_alone_is_stored(begun):
    begun.plays("c3", "b1", "resign")
    before = begun.stored()
    told = begun.signs("dora", "symple chat 101 ME", "Hello")
    assert {"bob", "dora"} <= {one.to for one in told}
    assert all("dora writes:\n\nHello" in one.text for one in told)
    after = begun.stored()
    assert [entry["text"] for entry in after["talk"]] == ["Hello"]
    for table in "talk", "changes":  # the page of the board has the chat, too
        del before[table], after[table]
    assert after == before


def test_onlookers_do_not_advise_and_a_subscriber_is_not_asked_to(begun):
    begun.say("symple subscribe 101 carol carol-secret")
    begun.forget_mails()
    for name in ("carol", "dora"):
        assert begun.refused(name, "symple chat 101 ME", "Take c3!").text.startswith("Onlookers do not advise:")
    told = begun.signs("alice", "symple chat 101 ME", "Hello")
    assert {one.to: one.text.split()[-4:] for one in told if one.to != "sender"} == {
        "alice": ["chat", "101", "alice", "PASSWORD"],
        "bob": ["chat", "101", "bob", "PASSWORD"],
        "carol": ["*" * 60, "symple", "show", "101"],
    }


@pytest.mark.parametrize("line", ["101 ME", "ME 101", "all ME", "ME all"])
def test_boards_stand_before_or_behind_the_name_in_subscribe_and_unsubscribe(begun, line):
    def following():
        of_board = begun.store.boards.followers("symple", "101")["subscriber"]
        return of_board, begun.store.players.subscribers_of_all("symple")

    told = begun.signs("carol", f"symple subscribe {line}")
    assert "Subscription Summary" in text_to("carol", told)
    assert following() == (["carol"], ["carol"] * ("all" in line))
    told = begun.signs("carol", f"symple unsubscribe {line}")
    assert "no more mails about" in text_to("carol", told)
    assert following() == ([], [])


@pytest.mark.parametrize(
    ("word", "most"),
    [("5", 5), ("0", 0), ("reject", 0), ("rejected", 0), ("accept", None), ("accepted", None), ("all", None),
     ("inf", None), ("infinite", None), ("ALL", None)],
)  # fmt: skip
def test_limit_takes_a_number_or_a_word(four, word, most):
    four.signs("alice", f"symple limit ME {word}")
    assert four.store.players.get("symple", "alice").most == most


@pytest.mark.parametrize(
    ("command", "word"),
    [*product(["limit", "seek"], ["x", "-1", "1.5", "٣", "5x", "none"]), ("limit", "1000"), ("seek", "100")],
)
def test_what_is_no_number_of_challenges_is_refused_and_said_back(four, command, word):
    assert word in four.refused("alice", f"symple {command} ME {word}").text


# Selectors


@set_up
def boards(four):
    """101 alice bob (alice to move), 102 bob carol (carol to move), 103 carol dora (over), a1 alice dora."""
    four.begin()
    four.begin("symple challenge -size=5 bob carol")
    four.plays("c3", board="102")
    four.begin("symple challenge -size=5 carol dora")
    four.plays("c3", "b1", "resign", board="103")
    four.begin("symple challenge -size=5 --name=a1 alice dora")


def listed(four, selector):
    """The boards that a table has for a selector."""
    [told] = four.give("stranger", f"symple games {selector}")
    return [line.split()[0] for line in told.text.splitlines()[1:] if line.startswith(("1", "a1"))]


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("", "101 102 103 a1"),
        ("alice", "101 a1"),
        ("ALICE", "101 a1"),
        ("alice carol", "101 102 103 a1"),
        ("active", "101 102 a1"),
        ("inactive", "103"),
        ("carol active", "102"),
        ("active carol", "102"),
        ("carol inactive", "103"),
        ("next alice", "101 a1"),
        ("alice next", "101 a1"),
        ("next bob", ""),
        ("next carol dora", "102"),
        ("tournament", "a1"),
        ("standard", "101 102 103"),
        ("standard alice", "101"),
        ("tournament dora active", "a1"),
        ("tournament inactive", ""),
        ("all", "101 102 103 a1"),
        ("all board alice", "101 a1"),
        ("alice all", "101 a1"),
        ("board 101", "101"),
        ("101 102", "101 102"),
        ("a1", "a1"),
        ("A1 101", "a1 101"),
    ],
)
def test_a_selector_finds_boards(boards, selector, found):
    assert sorted(listed(boards, selector)) == sorted(found.split())


@pytest.mark.parametrize("command", ["show", "games"])
@pytest.mark.parametrize(
    "selector",
    [
        "next",
        "next tournament",
        "active inactive",
        "alice active next",
        "tournament standard",
        "alice standard tournament",
    ],
)
def test_selectors_that_exclude_each_other_and_next_without_a_user_are_errors(boards, command, selector):
    boards.refused("stranger", f"symple {command} {selector}")


@pytest.mark.parametrize("selector", ["active", "inactive", "all", "standard", "board", "standard active"])
def test_show_without_a_user_or_tournament_is_too_much_mail(boards, selector):
    assert "too much mail" in boards.refused("stranger", f"symple show {selector}").text


def test_boards_are_selected_without_a_user_once_each_and_by_name_rather_than_as_a_userid(boards):
    assert to(boards.give("stranger", "symple show tournament")) == [(SENDER, "Symple Board a1 alice")]
    shown = boards.give("stranger", "symple show 101 102 101")
    assert to(shown) == [(SENDER, "Symple Board 101 alice"), (SENDER, "Symple Board 102 carol")]
    boards.say("signup a1 good-secret")
    boards.begin("symple challenge -size=5 a1 bob")
    assert listed(boards, "a1") == ["a1"]
    assert listed(boards, "active a1") == ["104"]


def test_more_than_a_hundred_boards_at_once_are_too_much_mail(boards):
    row = boards.store.boards.get("symple", "101")
    with boards.store.writing():
        for number in range(200, 300):
            boards.store.boards.add(row._replace(board=str(number)))
    assert "too much mail" in boards.refused("stranger", "symple show alice").text
    assert "too much mail" in boards.refused("stranger", f"symple show {' '.join(map(str, range(200, 301)))}").text


@pytest.mark.parametrize("command", ["show", "games"])
def test_if_the_first_word_is_a_board_all_are_and_those_not_found_are_listed(boards, command):
    told = boards.give("stranger", f"symple {command} 101 999 alice 998")
    assert told[0].to == SENDER
    assert "101" in told[0].text
    assert told[-1].subject == "Show summary"
    for word in ("'999'", "'alice'", "'998'"):
        assert word in told[-1].text


@pytest.mark.parametrize("command", ["show", "games"])
@pytest.mark.parametrize("selector", ["bob next", "carol tournament", "dora standard active"])
def test_a_request_that_finds_nothing_is_answered(boards, command, selector):
    [told] = boards.give("stranger", f"symple {command} {selector}")
    assert told.text.startswith("There are no boards of Symple for")


@pytest.mark.parametrize("command", ["show", "games"])
@pytest.mark.parametrize("word", ["nosuch", "999", "b7"])
def test_a_word_that_is_no_board_and_no_user_is_named(boards, command, word):
    assert f"'{word}'" in boards.refused("stranger", f"symple {command} {word}").text
