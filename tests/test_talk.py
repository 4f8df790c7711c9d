"""What players say on a board is kept: the comments of their moves, and their chats."""

from datetime import UTC, datetime

import pytest

from pbm.access import tokens
from pbm.actions import users
from pbm.board.records import Record, Unsound, read, write
from pbm.operator.exchange import take_in
from pbm.session import Session
from pbm.site.pages import Pages, SiteSettings
from pbm.store import Store, TalkRow

from helpers import next_version
from helpers.examples import rules
from helpers.losses import lose_by_time, reinstate
from helpers.mail import handle, mail_of
from helpers.members import text_to
from helpers.stories import follow

DAY = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    "story",
    rules("""
comments of moves are listed in order, with their moves, times and writers, to anybody
    challenge alice bob / alice: move a1⏎Good luck! / 1 hours / bob: move c3⏎Thanks. / carol: symple talk 101 / \
sender reads Times are in UTC. Move 1, 2026-11-20 12:00, alice: Good luck! Move 2, 2026-11-20 13:00, bob: Thanks.
a comment stays when a move without one follows
    challenge alice bob / alice: move a1⏎Good luck! / plays c3 e5 / carol: symple talk 101 / \
sender reads Move 1, 2026-11-20 12:00, alice: Good luck! / carol: symple show 101 / sender reads no Good luck!
comments of votes, of answers to them and of resignations are kept
    challenge alice bob / plays a1 c3 / bob: move propose⏎A draw? / alice: move reject⏎Not yet. / \
alice: move resign⏎You win. / carol: symple talk 101 / sender reads Move 2, 2026-11-20 12:00, bob: A draw? / \
sender reads Move 2, 2026-11-20 12:00, alice: Not yet. / sender reads Move 3, 2026-11-20 12:00, alice: You win.
the comment of a confirmed move is kept, and not that of a stored one
    challenge alice bob / alice: submit a1⏎Hm. / alice: confirm⏎Here I go. / bob: move c3 / bob: queue e5⏎Secret. / \
carol: symple talk 101 / sender reads Move 1, 2026-11-20 12:00, alice: Here I go. / sender reads no Hm / \
sender reads no Secret
the comment of a challenge stands at the start
    alice: symple challenge -size=5 alice bob⏎Shall we play? / carol: symple talk 101 / \
sender reads The start, 2026-11-20 12:00, Challenger: Shall we play?
chats are for the players until the game is over, and then for anybody
    challenge alice bob / plays a1 c3 / alice: symple chat 101 ME⏎Nice weather. / carol: symple talk 101 / \
sender reads Chats are for the players alone, until the game is over. There is nothing to read. / carol: talk / \
sender reads no weather / bob: talk / \
sender reads Move 2, 2026-11-20 12:00, alice, chat: Nice weather. / bob: move resign / alice: move resign / \
carol: symple talk 101 / sender reads Move 2, 2026-11-20 12:00, alice, chat: Nice weather.
an answer to a board mail lists the talk, also when the game is over, for 30 days
    challenge alice bob / plays a1 c3 / alice: symple chat 101 ME⏎Nice weather. / bob answers: talk / \
sender reads alice, chat: Nice weather. / alice: move resign / 30 days / bob answers: talk / \
sender reads alice, chat: Nice weather. / 1 days / bob answers: talk / sender reads over for more than 30 days
times are in the zone of the reader
    challenge alice bob / alice: move a1⏎Good luck! / bob: timezone ME Europe/Berlin / bob: talk / \
sender reads Times are in Europe/Berlin. Move 1, 2026-11-20 13:00, alice: Good luck!
a long comment is quoted below its heading, so that no line of it looks like another one
    challenge alice bob / alice: move a1⏎I think⏎Move 2, 2026-11-20 12:00, bob: I resign / carol: symple talk 101 / \
sender reads Move 1, 2026-11-20 12:00, alice: > I think > Move 2, 2026-11-20 12:00, bob: I resign
what was said about a move that is taken back stays, and is marked
    challenge alice bob / plays a1 / bob: move c3⏎Here. / alice: symple chat 101 ME⏎Sure? / bob: move undo⏎A slip! / \
alice: move accept⏎Fine. / plays e5 / bob: talk / \
sender reads Move 2 (taken back), 2026-11-20 12:00, bob: Here. / sender reads Move 2 (taken back), 2026-11-20 12:00, \
alice, chat: Sure? / sender reads Move 2 (taken back), 2026-11-20 12:00, alice: Fine.
a chat that reaches nobody is not kept
    challenge alice bob / plays a1 c3 / alice: block ME bob / bob refused: symple chat 101 ME⏎You cheat! / \
bob: talk / sender reads There is nothing to read. / alice: unblock ME bob / alice: talk / sender reads no cheat
a reader does not read what users have written whom they block
    challenge alice bob / bob: symple subscribe ME 101 / plays a1 c3 / bob: symple chat 101 ME⏎You cheat! / \
plays e5 / bob: move d1⏎Cheater! / alice: move a5⏎Ignored. / alice: block ME bob / alice: talk / \
sender reads no heat / sender reads alice: Ignored. / alice: unblock ME bob / alice: talk / sender reads Cheater!
a password in a comment is never stored
    challenge alice bob / alice: move a1⏎My password is alice-secret. / bob: talk / \
sender reads alice: My password is PASSWORD.
who signs off takes their words away
    challenge alice bob / alice: move a1⏎Good luck! / bob: move c3⏎Thanks. / bob: symple chat 101 ME⏎I must go. / \
bob: signoff ME / alice: talk / sender reads alice: Good luck! / sender reads no Thanks / sender reads no must go / \
carol: symple show 101 / sender reads no writes:
a comment whose writer is unknown goes with a player who signs off
    alice: symple challenge -size=5 alice bob⏎Shall we play? / plays a1 c3 / bob: signoff ME / \
carol: symple talk 101 / sender reads There is nothing to read.
a word that is no page is no answer
    challenge alice bob / plays a1 c3 / bob answers: talk later! / sender reads no Talk:
a userid without its password is refused
    challenge alice bob / carol refused: symple talk 101 bob-secret / sender reads PASSWORD is missing. / \
sender reads no bob-secret
"""),
)
def test_what_is_said_reaches_its_readers_and_nobody_else(four, story):
    follow(four, story)


@pytest.fixture
def talking(four):
    """Board 101, on which alice has commented on her move, bob has not, and both have chatted after it."""
    four.begin()
    four.signs("alice", "symple move 101 ME a1", "Good luck!")
    four.plays("c3")
    four.signs("alice", "symple chat 101 ME", "Are you there?")
    four.signs("bob", "symple chat 101 ME", "I am.")
    return four


def said(members, board="101"):
    """What is kept of a board."""
    return [entry.text for entry in members.store.talk.of_board("symple", board)]


def add(members, *texts):
    """Keep comments of alice on her first move on board 101."""
    with members.store.writing():
        for text in texts:
            members.store.talk.add("symple", "101", TalkRow("alice", "comment", 1, members.time, text))


def test_the_last_400_of_a_board_are_kept(game):
    add(game, *(f"number {number}" for number in range(1, 402)))
    assert (len(said(game)), said(game)[0], said(game)[-1]) == (400, "number 2", "number 401")


@pytest.mark.parametrize("word", ["word", "w\u00f6rter", "\u65e5\u672c\u8a9e", "\U0001f600"])
def test_of_a_long_text_4000_bytes_are_kept_which_end_with_a_whole_word(game, word):
    add(game, " ".join([word] * 2000))
    [kept] = said(game)
    front, behind = kept.split("\n")
    assert behind == "[The rest was cut.]"
    assert {*front.split()} == {word}
    assert 3900 < len(kept.encode()) <= 4000


def test_a_text_of_4000_bytes_is_kept_as_it_is_and_one_without_blanks_is_cut_between_characters(game):
    add(game, "x" * 4000, "\u65e5" * 1334)
    whole, cut = said(game)
    assert whole == "x" * 4000
    assert cut == "\u65e5" * 1326 + "\n[The rest was cut.]"  # 1326 characters are 3978 bytes, and 22 are left


def test_a_mail_has_200_lines_and_says_how_to_get_the_next_ones(by_mail):
    by_mail.begin()
    add(by_mail, *(f"number {number}" for number in range(1, 251)))
    first, second = (text_to("sender", by_mail.give("carol", f"symple talk 101{page}")) for page in ("", " 2"))
    assert "alice: number 200\n" in first
    assert "number 201" not in first
    assert "This is page 1; the next one:\n\nsymple talk 101 2\n" in first
    assert "alice: number 201\n" in second
    assert "number 250" in second
    assert "There is no page 3" in text_to("sender", by_mail.give("carol", "symple talk 101 3"))


def test_an_answer_gets_the_second_page(by_mail):
    by_mail.begin()
    add(by_mail, *(f"number {number}" for number in range(1, 251)))
    first = text_to("sender", by_mail.answers("bob", "symple", "101", "talk"))
    assert first.endswith("\n\nsymple talk 101 bob PASSWORD 2\n")
    for line in "talk 2", "symple talk 101 bob PASSWORD 2":
        assert "alice: number 250\n" in text_to("sender", by_mail.answers("bob", "symple", "101", line))


def test_a_board_that_is_removed_takes_its_talk_along(talking):
    talking.server.store.boards.remove("symple", "101", talking.time)
    assert said(talking) == []


def test_an_onlooker_who_signs_off_takes_their_chats_about_finished_games_away(talking):
    talking.signs("alice", "symple move 101 ME resign")
    talking.signs("carol", "symple chat 101 ME", "Well played!")
    assert said(talking)[-1] == "Well played!"
    talking.signs("carol", "signoff ME")
    assert said(talking) == ["Good luck!", "Are you there?", "I am."]


def test_a_guest_who_signs_up_keeps_what_they_have_said(club):
    player, token = users.begin_as_guest(club.server, "symple", "2", ["-size=9"], None)
    address = tokens.address_with(club.server, token)
    for number, text in enumerate(["chat", "signup dora dora-secret"]):
        raw = mail_of("dora@players.example", text, "Hello", address, message_id=f"<{number}@players.example>")
        handle(club.server, raw, "dora@players.example", [address])
    [kept] = club.store.talk.of_board(player.game, player.board)
    assert (kept.userid, kept.kind, kept.text) == ("dora", "chat", "Hello")


def test_the_latest_comments_of_an_older_database_are_the_first_that_are_kept(tmp_path, monkeypatch):
    older = [schema_step for schema_step in next_version.OURS if schema_step.__name__ != "talk"]
    with monkeypatch.context() as patched:
        next_version.install_steps(patched.setattr, older)
        with Store(tmp_path / "pbm.db") as store:
            store.users.add("alice", "", DAY)
            row = {"game": "symple", "board": "101", "options": "", "secret": b"", "started": DAY, "changed": DAY}
            players = {"first_player": "alice", "second_player": "alice", "moves": 3}
            store.boards.insert("boards", row | players | {"commenter": "alice", "comment": "Good luck!"})
    with Store(tmp_path / "pbm.db") as store:
        [kept] = store.talk.of_board("symple", "101")
        assert kept == TalkRow("alice", "comment", 3, DAY, "Good luck!")
        assert store.health.damage() == []


def test_what_was_said_about_a_loss_that_is_taken_back_is_marked(talking):
    lose_by_time(talking, "101")
    talking.signs("carol", "symple chat 101 ME", "A pity.")
    reinstate(talking, "101")
    marked = [(entry.userid, entry.moves) for entry in talking.store.talk.of_board("symple", "101") if entry.taken_back]
    assert marked == [("The server", 3), ("carol", 3)]


def test_what_a_muted_user_writes_is_not_kept(talking):
    talking.store.users.change("bob", muted=talking.time)
    talking.plays("e5")
    talking.signs("bob", "symple move 101 ME d1", "You cheat!")
    assert said(talking) == ["Good luck!", "Are you there?", "I am."]


# Records


def record_of(members):
    """The record of board 101."""
    board = members.at("101")
    return write(Record(board.row, board.turns, members.store.talk.of_board("symple", "101")), [])


def test_the_record_of_a_running_game_has_no_chats(talking):
    assert [entry["text"] for entry in record_of(talking)["talk"]] == ["Good luck!"]


def test_a_record_of_a_game_that_is_over_has_what_was_said_and_an_import_takes_it(talking):
    talking.signs("alice", "symple move 101 ME resign")
    document = record_of(talking)
    entries = [(entry["kind"], entry["writer"], entry["moves"], entry["text"]) for entry in document["talk"]]
    assert entries == [
        ("comment", "alice", 1, "Good luck!"),
        ("chat", "alice", 2, "Are you there?"),
        ("chat", "bob", 2, "I am."),
    ]
    with talking.store.writing():
        number = take_in(talking.server, read(document, {}, talking.time))
    assert talking.store.talk.of_board("symple", number) == talking.store.talk.of_board("symple", "101")


def test_an_older_record_has_the_latest_comment_alone(talking):
    talking.signs("alice", "symple move 101 ME resign", "You win.")
    document = record_of(talking)
    del document["talk"]
    with talking.store.writing():
        number = take_in(talking.server, read(document, {}, talking.time))
    assert said(talking, number) == ["You win."]


def test_the_words_of_whoever_is_no_user_are_not_taken_in(talking):
    talking.signs("alice", "symple move 101 ME resign")
    document = record_of(talking)
    document["talk"][1]["writer"] = "stranger"
    with talking.store.writing():
        number = take_in(talking.server, read(document, {}, talking.time))
    assert said(talking, number) == ["Good luck!", "I am."]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"moves": 4}, "talk 1: it is about move 4, and there are 3."),
        ({"time": "2027-01-01T00:00:00+00:00"}, "talk 1: its time is still to come."),
        ({"kind": "shout"}, "record, talk 1, kind: this is missing, or not as docs/records.md says."),
        ({"writer": "no user"}, "'no user' is no userid."),
    ],
)
def test_talk_that_cannot_be_right_is_refused(talking, change, why):
    talking.signs("alice", "symple move 101 ME resign")
    document = record_of(talking)
    document["talk"][0] |= change
    with pytest.raises(Unsound) as refused:
        read(document, {}, talking.time)
    assert str(refused.value) == why


# Pages


def page(members, reader=""):
    """The page of board 101 for all, or for one reader."""
    return Pages(Session(members.server), SiteSettings(), reader).board("symple", "101")


def test_a_comment_says_to_which_move_it_belongs(talking):
    talking.plays("e5")
    assert '<p>Good luck!</p><small class="soft">alice, turn 1, ' in page(talking)


def test_the_chats_of_a_running_board_are_on_the_pages_of_its_players_alone(talking):
    talking.signs("carol", "symple subscribe ME 101")
    assert "I am." not in page(talking)
    assert "I am." not in page(talking, "carol")
    assert '<p>I am.</p><small class="soft">bob, chat, ' in page(talking, "alice")
    talking.signs("alice", "symple move 101 ME resign")
    assert '<p>I am.</p><small class="soft">bob, chat, ' in page(talking)


def test_a_reader_does_not_see_on_the_page_what_users_have_written_whom_they_block(talking):
    talking.signs("alice", "block ME bob")
    assert "I am." not in page(talking, "alice")
    assert "I am." in page(talking, "bob")


def test_a_chat_about_a_game_that_is_over_makes_its_page_stale(talking):
    talking.signs("alice", "symple move 101 ME resign")
    seen = talking.store.changes.seen()
    talking.signs("carol", "symple chat 101 ME", "Well played!")
    assert ("board", "symple", "101") in [change[:3] for change in talking.store.changes.since(seen)]
    assert "Well played!" in page(talking)


def test_what_was_said_is_text_on_a_page_and_no_markup(four):
    four.begin()
    four.signs("alice", "symple move 101 ME a1", "<script>alert(1)</script>")
    assert "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>" in page(four)
