"""A month in the life of the server: twelve players, five games, and whatever can meet on a server does meet.

A story begins on the first day, and yields the day on which it goes on; all of them happen in the same month.
Every step is compared with what a secretary does by hand (`month`, `reference_server`): all mails at once, and every
night all boards, clocks, ratings and tables.
"""

from random import Random

import pytest

import helptexts
from conftest import ADDRESS
from month import NAMES, Month
from reference_server import FORFEIT, RESIGN


@pytest.fixture
def month(tmp_path, monkeypatch):
    monkeypatch.setenv("PBM_DB", str(tmp_path / "pbm.db"))
    monkeypatch.setenv("PBM_ADDRESS", ADDRESS)
    monkeypatch.delenv("PBM_TRANSPORT", raising=False)
    monkeypatch.setattr("pbm.mail.illustrations.ZOOM", 0.25)  # pictures, which nobody looks at, take most of the time
    month = Month(tmp_path)
    yield month
    month.store.close()


def a_player_falls_silent_and_forfeits_though_the_other_would_take_a_move_back(month):
    table = month.challenge("carol", "dave", "sprout")
    month.exchange(table)
    yield 21
    month.move("dave", table, "undo")
    yield 23
    assert month.nags(table, "carol") == [*range(8, 22)]
    assert table.turns[-1] == ("carol", FORFEIT, True)
    assert table.winner == "dave"
    month.refused("carol", f"sprout move {table.number} carol PASSWORD accept", "Sprout error")
    month.chat("dave", table)
    month.unsubscribe("carol", "sprout", table)
    month.chat("dave", table)


def a_board_that_never_begins_is_removed(month):
    table = month.challenge("carol", "frank", "papagra", clocks="--nagtime=1 --forfeittime=3")
    month.subscribe("grace", "papagra", table)
    month.notify("dave", "papagra", table)
    month.queue("frank", table)
    yield 5
    assert month.nags(table, "carol") == [2, 3]
    assert table not in month.books.tables.values()
    month.refused("carol", f"papagra chat {table.number} carol PASSWORD", "Papagra error", "Where is it?")


def a_player_leaves_before_it_begins(month):
    table = month.challenge("laura", "bob", "spora", comment="Do you like it?")
    month.subscribe("dave", "spora", table)
    month.move("laura", table)
    month.move("bob", table, "resign", "Not much.", way="mail twice")
    assert table not in month.books.tables.values()


def the_total_time_runs_out_on_a_vacation(month):
    table = month.challenge("grace", "heidi", "spora", "-size=5", clocks="--totaltime=4")
    month.exchange(table, 3)
    yield 6
    assert table.turns[-1] == ("heidi", FORFEIT, True)
    assert table.ended.day == 5


def a_player_moves_when_his_total_time_is_up(month):
    late = month.challenge("ivan", "judy", "papagra", clocks="--totaltime=2")
    month.exchange(late)
    later = month.challenge("judy", "ivan", "papagra", clocks="--totaltime=2")
    month.exchange(later)
    unbegun = month.challenge("judy", "ivan", "papagra", clocks="--totaltime=2")
    yield 3
    month.move("ivan", late, way="mail")
    month.queue("ivan", later, way="mail")
    month.submit("judy", unbegun)
    assert (late.winner, later.winner) == ("judy", "ivan")
    assert unbegun not in month.books.tables.values()


def a_draw_is_agreed_with_a_move_submitted_and_another_queued(month):
    table = month.challenge("bob", "carol", "papagra")
    month.exchange(table)
    month.submit("bob", table, way="mail from elsewhere")
    month.queue("carol", table)
    month.move("carol", table, "propose", "Enough?")
    month.move("carol", table, "propose")
    month.move("carol", table, "accept")
    month.move("bob", table, "reject", "Never!")
    month.move("bob", table, "accept", way="reply")
    month.move("bob", table, "propose", "Sorry", way="reply")
    month.move("carol", table, "undo")
    month.move("carol", table, "propose")
    month.move("bob", table, "accept", way="mail twice")
    assert table.drawn


def silence_is_consent_but_not_on_a_vacation(month):
    table = month.challenge("dave", "erin", "spiro", clocks="--nagtime=2 --forfeittime=5")
    month.exchange(table)
    yield 3
    month.move("dave", table, "propose")
    month.vacation("erin", 4, 12)
    yield 17
    assert month.nags(table, "erin") == [3, 13, 14, 15]
    assert table.drawn
    assert table.ended.day == 16


def a_vacation_ends_early(month):
    table = month.challenge("judy", "dave", "symple", "-size=5", clocks="--nagtime=1 --forfeittime=3")
    month.exchange(table)
    month.vacation("judy", 1, 6, way="mail")
    month.refused("judy", "vacation judy PASSWORD 2026-11-02 2026-12-24", "pbm error")
    yield 5
    month.come_back("judy")
    yield 9
    assert month.nags(table, "judy") == [5, 6, 7]
    assert table.turns[-1] == ("judy", FORFEIT, True)
    assert table.ended.day == 8


def days_of_vacation_stand_in_for_games_but_not_where_there_are_none(month):
    spared = month.challenge("laura", "heidi", "sprout", clocks="--nagtime=2 --forfeittime=4")
    lost = month.challenge("laura", "heidi", "sprout", clocks="--nagtime=2 --forfeittime=4 --novacation")
    for table in (spared, lost):
        month.exchange(table)
    month.take_days("laura", way="mail")
    month.remind("heidi", spared, way="mail")
    month.remind("heidi", spared)
    month.remind("laura", lost)
    yield 8
    assert lost.reason == "forfeited"
    assert [day.day for day in month.books.taken["laura"]] == [5, 6, 7]
    month.remind("heidi", spared)
    month.move("laura", spared)
    yield 10


def moves_are_taken_back_and_what_was_queued_is_dropped(month):
    table = month.challenge("frank", "grace", "symple", "-size=5")
    month.move("frank", table, "a1")
    month.queue("frank", table, "e5")
    month.submit("grace", table, "c1")
    month.remind("frank", table)
    month.move("frank", table, "undo")
    month.move("grace", table, "accept", "Well...")
    assert table.turns == []
    assert table.queued == {}
    month.confirm("grace", table)
    yield 2
    month.move("frank", table, "a3")
    month.queue("frank", table, "e5")
    month.move("grace", table, "c1")
    assert [text for _, text, _ in table.turns] == ["a3", "c1", "e5"]
    month.move("frank", table, "undo")
    month.move("grace", table, "accept")
    assert [text for _, text, _ in table.turns] == ["a3"]
    month.queue("frank", table, "b9")
    month.move("grace", table, "c1#2")
    month.move("frank", table, "undo")
    month.move("frank", table, "a5#3")
    assert table.vote is None


def a_resignation_waits_for_the_players_turn(month):
    table = month.challenge("judy", "kevin", "symple", "-size=5")
    month.exchange(table, 3)
    for word in ("resign", "resign", "unresign", "resign"):
        month.move("judy", table, word, way="mail")
    month.queue("judy", table)
    yield 4
    month.move("kevin", table)
    assert table.turns[-1] == ("judy", RESIGN, True)
    month.chat("judy", table)


def a_resignation_comes_too_late(month):
    ended = month.challenge("alice", "erin", "spora", "-size=5")
    move = month.last_move(ended)
    loser = ended.opponent(ended.turn)
    month.move(loser, ended, "resign")
    month.move(ended.turn, ended, move)
    drawn = month.challenge("alice", "erin", "papagra")
    month.exchange(drawn)
    month.move("erin", drawn, "resign")
    month.move("alice", drawn, "propose")
    month.move("erin", drawn, "accept")
    assert ended.resigned is drawn.resigned is None
    assert drawn.drawn


def a_resignation_outlives_a_move_taken_back(month):
    table = month.challenge("bob", "heidi", "sprout")
    month.exchange(table, 3)
    month.move("bob", table, "resign")
    month.move("heidi", table, "undo")
    month.move("bob", table, "accept")
    assert table.turn == "bob"
    assert not table.is_over
    month.exchange(table)
    assert table.turns[-1] == ("bob", RESIGN, True)


def two_boards_of_the_same_pair_end_at_once(month):
    one = month.challenge("alice", "bob", "symple", "-size=5")
    other = month.challenge("alice", "bob", "symple", "-size=5")
    last = [(table, month.last_move(table)) for table in (one, other)]
    yield 2
    for table, move in reversed(last):
        month.move(table.turn, table, move, way="mail twice")
    assert one.ended == other.ended
    alone = month.challenge("kevin", "kevin", "symple", "-size=5")
    month.exchange(alone, 4)
    month.move("kevin", alone, "undo")
    month.move("kevin", alone, "propose")
    assert alone.drawn
    assert alone not in month.books.over


def followers_come_and_go(month):
    watched = month.challenge("frank", "bob", "symple", "-size=5")
    month.subscribe("carol", "symple", watched, way="mail")
    month.subscribe("carol", "symple", watched, way="mail")
    month.notify("carol", "symple", watched)
    month.notify("dave", "symple", watched)
    month.notify("frank", "symple", way="mail twice")
    month.notify("alice", "symple", watched)
    month.exchange(watched, 3)
    yield 2
    month.subscribe("judy", "symple", way="mail")
    yield 5
    played = month.challenge("judy", "carol", "symple", "-size=5", by="dave", way="mail", comment="You two!")
    assert played.subscribers == set()
    month.exchange(played, 3)
    month.unsubscribe("judy", "symple")
    month.notify("frank", "symple")
    month.move("frank", watched, "resign", "Bye")
    month.move("bob", watched)
    assert "frank" in watched.subscribers
    month.chat("frank", watched, way="mail")
    month.unsubscribe("carol", "symple", watched)
    month.chat("bob", watched)
    month.subscribe("erin", "symple", watched)
    month.notify("erin", "symple", watched)


def a_tournament_asks_nobody_and_forgets_nobody(month):
    month.limit("ivan", "symple", 0)
    month.refused("ivan", "symple reject ivan PASSWORD", "Symple error")
    month.refused_challenge("ivan", "grace", "symple")
    month.limit("grace", "symple", 1)
    month.refused_challenge("ivan", "grace", "symple")
    month.seek("heidi", "symple", 1)
    month.vacation("heidi", 2, 10)
    yield 5
    begun, quick, unbegun = month.tournament("symple", "a", "grace", "heidi", "ivan")
    month.limit("ivan", "symple", None)
    month.move("grace", begun)
    last = month.last_move(quick)
    month.move(quick.turn, quick, last)
    month.move("heidi", unbegun, "unresign")
    yield 15
    assert month.nags(begun, "heidi") == month.nags(unbegun, "heidi") == [11, 12, 13]
    assert begun.turns[-1] == unbegun.turns[0] == ("heidi", FORFEIT, True)
    assert begun.ended.day == unbegun.ended.day == 14
    assert not begun.is_rated
    assert not unbegun.is_rated
    assert month.books.pools["symple", "a"]["heidi"] == {"won": 0, "lost": 2, "tied": 0}


def a_player_signs_off_in_the_middle_of_everything(month):
    proposed = month.challenge("ivan", "alice", "papagra")
    month.exchange(proposed)
    month.subscribe("ivan", "spiro")
    month.notify("ivan", "sprout")
    month.hear("ivan")
    yield 17
    month.move("alice", proposed, "propose")
    queued = month.challenge("alice", "ivan", "spora")
    month.exchange(queued)
    month.queue("ivan", queued)
    resigned = month.challenge("ivan", "kevin", "sprout")
    month.exchange(resigned, 3)
    month.move("ivan", resigned, "resign")
    unbegun = month.challenge("ivan", "alice", "symple", "-size=5", comment="Again?")
    [called] = month.tournament("papagra", "b", "ivan", "judy")
    watched = month.challenge("bob", "carol", "sprout")
    month.subscribe("ivan", "sprout", watched)
    month.vacation("ivan", 20, 22)
    yield 18
    month.sign_off("ivan", way="mail")
    assert [table.resigned for table in (proposed, queued, resigned, called)] == ["ivan"] * 4
    assert unbegun not in month.books.tables.values()
    month.exchange(watched)
    month.chat("alice", proposed)
    month.refused_challenge("alice", "ivan", "spora")
    month.refused("alice", "message alice PASSWORD ivan", "pbm error", "Where are you?")
    month.refused("ivan", "signup ivan PASSWORD ivan@players.example", "pbm error")
    month.refused("ivan", f"sprout chat {watched.number} ivan PASSWORD", "Sprout error", "Here.", way="shell")
    yield 25
    assert watched.subscribers == set()


def a_newcomer_gets_what_has_waited_for_his_address(month):
    subject = month.sign_up_by_mail("laura")
    table = month.challenge("alice", "laura", "spora")
    month.move("alice", table, comment="Welcome!")
    yield 4
    month.confirm_address("laura", subject)
    month.move("laura", table, way="reply")
    yield 10
    month.change_address("bob", "bob@work.example")
    month.lose_password("carol")
    month.refused("bob", "change password bob PASSWORD short", "pbm error")


def people_write_to_each_other(month):
    for name in ("alice", "kevin", "laura"):
        month.hear(name)
    month.message("judy", "alice", "kevin", way="mail twice")
    yield 6
    month.broadcast("alice", way="mail")
    yield 8
    month.refused("alice", "broadcast alice PASSWORD", "pbm error", "Again!", way="mail")
    month.broadcast("bob")
    yield 13
    month.broadcast("alice", way="mail")
    table = month.challenge("judy", "dave", "symple", "-size=5")
    month.multiple(
        "judy",
        ("spiro seek judy PASSWORD 2", lambda: month.books.seek("spiro", "judy", 2)),
        ("nonsense PASSWORD", list),
        ("spiro notify judy PASSWORD", lambda: month.books.notify("spiro", "judy")),
        (f"symple move {table.number} judy PASSWORD c3", lambda: month.books.move(table, "judy", "c3")),
    )


def some_read_little(month):
    table = month.challenge("dave", "erin", "symple", "-size=5", comment="Slowly, please")
    for name, how in (("dave", "digest"), ("erin", "none"), ("judy", "digest")):
        month.choose_mail(name, "symple", how, way="mail twice")
    month.choose_mail("dave", "sprout", "digest")
    month.exchange(month.challenge("erin", "dave", "sprout"))
    month.subscribe("judy", "symple", table)
    month.exchange(table)
    month.move("dave", table, way="mail")
    month.move("dave", table, "resign")
    yield 2
    month.choose_mail("judy", "symple", "each")
    month.move("erin", table)
    assert table.resigned == "dave"
    busy = month.challenge("alice", "dave", "symple", "-size=5")
    month.clean_up()
    month.exchange(busy)
    month.clean_up()
    month.choose_mail("erin", "symple", "digest")
    yield 3
    month.exchange(busy)
    yield 20
    month.choose_mail("dave", "symple", "none")


def robots_play_at_all_games(month):
    tables = []
    for day in range(1, 30):
        if day % 4 == 1:
            tables += filter(None, [month.start(game) for game in helptexts.GAMES * 2])
        for hour in (12, 14, 16):
            month.time = month.time.replace(hour=hour)
            month.robots(tables)
        yield day + 1


STORIES = (
    a_newcomer_gets_what_has_waited_for_his_address,
    people_write_to_each_other,
    a_player_falls_silent_and_forfeits_though_the_other_would_take_a_move_back,
    a_board_that_never_begins_is_removed,
    a_player_leaves_before_it_begins,
    the_total_time_runs_out_on_a_vacation,
    a_player_moves_when_his_total_time_is_up,
    a_draw_is_agreed_with_a_move_submitted_and_another_queued,
    silence_is_consent_but_not_on_a_vacation,
    a_vacation_ends_early,
    days_of_vacation_stand_in_for_games_but_not_where_there_are_none,
    moves_are_taken_back_and_what_was_queued_is_dropped,
    a_resignation_waits_for_the_players_turn,
    a_resignation_comes_too_late,
    a_resignation_outlives_a_move_taken_back,
    two_boards_of_the_same_pair_end_at_once,
    followers_come_and_go,
    a_tournament_asks_nobody_and_forgets_nobody,
    a_player_signs_off_in_the_middle_of_everything,
    some_read_little,
    robots_play_at_all_games,
)


def days_of(story, month):
    """The days on which a story goes on after the first one."""
    yield from story(month) or ()


@pytest.mark.long
def test_a_month_in_the_life_of_the_server(month):
    month.sign_up("alice", "alice@players.example", "alice@work.example")
    month.sign_up("kevin")
    for name in NAMES:
        if name not in {"alice", "kevin", "laura"}:  # laura comes by mail
            month.sign_up(name, f"{name}@players.example")
    going_on = {days_of(story, month): 1 for story in STORIES}
    for day in range(1, 31):
        month.until(day)
        for story in [story for story, when in going_on.items() if when == day]:
            going_on[story] = next(story, None)
    month.night()
    assert set(going_on.values()) == {None}
    month.check_month()


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_players_do_the_secretary_does_the_same(month, seed):
    month.rng = Random(seed)
    for name in NAMES:
        month.sign_up(name, f"{name}@players.example")
    month.tournament("symple", "a", *NAMES[:4])
    for day in range(1, 29):
        month.until(day)
        for hour in (10, 12, 14, 16):
            month.time = month.time.replace(hour=hour)
            month.robots([*month.books.tables.values()])
            month.whim()
            month.whim()
    month.night()
    assert month.books.planned_turns > 20
    month.check_month()
