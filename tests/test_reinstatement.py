"""Games that ended by time and go on (docs/operating.md)."""

import pytest

from pbm.actions import endings
from pbm.actions.finding import find_board
from pbm.board.records import replayed
from pbm.refusals import Refused
from pbm.session import Session

from helpers.club import PASSWORDS
from helpers.losses import lose_by_time, reinstate


def play(club, *moves, board="101", game="symple"):
    for move in moves:
        name = find_board(Session(club.server), game, board).mover
        club.say(f"{game} move {board} {name} {PASSWORDS[name]} {move}")


def ratings(club, game="symple"):
    """The rating and the counts of all players, and the results from which they come."""
    return [
        club.store.db.execute(f"SELECT {columns} FROM {table} WHERE game = ? ORDER BY 1, 2", [game]).fetchall()
        for table, columns in (("players", "userid, rating, won, lost, tied, rated"), ("results", "*"))
    ]


@pytest.fixture
def played(pair):
    """alice and bob on board 101 of Symple after two moves; alice is to move."""
    pair.say("symple challenge -size=5 alice bob")
    play(pair, "c3", "a1")
    return pair


def test_a_game_that_ended_by_time_goes_on_where_it_was_and_both_players_are_told(played):
    played.pass_time(days=21)
    lose_by_time(played, "101")
    played.pass_time(days=2)
    before = len(played.mails())
    reinstate(played, "101")
    told = played.mails()[before:]
    assert sorted(mail.userid for mail in told) == ["alice", "bob"]
    assert all("The operator has reinstated this game" in mail.text for mail in told)
    row = played.store.boards.get("symple", "101")
    assert (row.turn, row.moves, row.ended, row.winner, row.reason) == ("alice", 2, None, None, None)
    assert row.changed == played.time  # full time for the move
    play(played, "b1")
    assert played.store.events.since(0, 100)[-2].kind == "reinstate"
    assert "101" in played.text("symple games active")


def test_ratings_are_put_back_by_what_that_game_had_changed(played):
    none = ratings(played)
    lose_by_time(played, "101")
    rated = ratings(played)
    reinstate(played, "101")
    assert ratings(played)[1] == []
    assert [row[1:] for row in ratings(played)[0]] == [(None, 0, 0, 0, None)] * 2
    lose_by_time(played, "101")
    assert [row[:5] for row in ratings(played)[0]] == [row[:5] for row in rated[0]]
    assert none[1] == []


def test_games_that_were_rated_since_then_keep_what_they_have_changed(played):
    lose_by_time(played, "101")
    first = {result.userid: result for result in played.store.players.results_of_board("symple", "101")}
    played.say("symple challenge -size=5 bob alice")
    play(played, "c3", "a1", "resign", board="102")
    later = {result.userid: result for result in played.store.players.results_of_board("symple", "102")}
    reinstate(played, "101")
    for name in ("alice", "bob"):
        gain = first[name].after - first[name].before
        player = played.store.players.get("symple", name)
        assert (player.rating, player.games) == (later[name].after - gain, 1)
        [left] = played.store.players.results_of_user("symple", name)
        assert (left.before, left.after, left.games) == (1600, later[name].after - gain, 1)
    assert played.store.health.broken_ratings(1600) == played.store.health.wrong_scores() == []


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("", "The game on Symple board 101 goes on."),
        ("resign", "Only a game that ended by time can go on; the end of Symple board 101 was: resigned."),
        ("draw", "Only a game that ended by time can go on; the end of Symple board 101 was: agreed draw."),
    ],
)
def test_only_a_game_that_ended_by_time_can_be_reinstated(played, end, why):
    if end == "resign":
        play(played, "resign")
    if end == "draw":
        played.say("symple move 101 alice alice-secret propose")
        played.say("symple move 101 bob bob-secret accept")
    before = [*played.store.db.iterdump()]
    with pytest.raises(Refused, match=why):
        reinstate(played, "101")
    assert [*played.store.db.iterdump()] == before


def test_a_draw_by_silence_ended_by_time_and_is_no_draw_any_more(played):
    played.say("symple move 101 bob bob-secret propose")
    played.pass_time(days=21)
    session = Session(played.server)
    with played.store.writing():
        endings.agree_draw(session, find_board(session, "symple", "101"), "alice has not answered.")
    reinstate(played, "101")
    row = played.store.boards.get("symple", "101")
    assert (row.turn, row.drawn, row.moves, row.vote) == ("alice", False, 2, None)


def test_a_total_time_that_was_used_up_is_again_what_it_was_before_the_move(pair):
    pair.say("symple challenge -size=5 --totaltime=3 alice bob")
    pair.pass_time(days=1)
    play(pair, "c3", "a1")
    pair.pass_time(days=2)
    lose_by_time(pair, "101", reason="total time")
    reinstate(pair, "101")
    assert pair.store.boards.get("symple", "101").first_used == 24 * 3600
    play(pair, "b1")


def test_the_next_dice_come_from_a_new_secret_and_those_of_the_present_move_stay(pair):
    for _ in range(2):
        pair.move(find_board(Session(pair.server), "spiro", "101").mover, first_move(pair))
    before = find_board(Session(pair.server), "spiro", "101")
    lose_by_time(pair, "101", "spiro")
    reinstate(pair, "101", "spiro")
    after = find_board(Session(pair.server), "spiro", "101")
    assert after.state == before.state
    assert (after.row.earlier_secret, after.row.earlier_throws) == (before.row.secret, 3)
    assert after.row.secret != before.row.secret
    for _ in range(2):
        pair.move(find_board(Session(pair.server), "spiro", "101").mover, first_move(pair))
    stored = pair.store.boards.turns("spiro", "101")
    assert replayed(after.row, stored).turns == stored
    pair.move(find_board(Session(pair.server), "spiro", "101").mover, "resign")
    proof = pair.text("dice spiro 101")
    assert "All 5 throws follow from two secrets." in " ".join(proof.split())
    assert proof.count("Secret:") == 2


def first_move(club):
    return next(find_board(Session(club.server), "spiro", "101").state.moves())


def test_dice_whose_second_secret_was_told_cannot_have_a_third(pair):
    for _ in range(2):
        pair.move(find_board(Session(pair.server), "spiro", "101").mover, first_move(pair))
    lose_by_time(pair, "101", "spiro")
    reinstate(pair, "101", "spiro")
    lose_by_time(pair, "101", "spiro")
    with pytest.raises(Refused, match="a second secret already"):
        reinstate(pair, "101", "spiro")


def test_what_a_robot_thought_of_the_game_is_forgotten(played):
    lose_by_time(played, "101")
    with played.store.writing():
        played.store.robots.save_analysis("symple", "101", "an analysis", played.time)
    reinstate(played, "101")
    assert played.store.robots.analysis("symple", "101") is None


def test_a_game_of_a_user_who_has_left_stays_over(played):
    lose_by_time(played, "101")
    played.say("signoff bob bob-secret")
    with pytest.raises(Refused, match="There is no user 'bob' any more"):
        reinstate(played, "101")
