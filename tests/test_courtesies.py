"""What players do for themselves and each other beside the moves: notes, rematches, and answers when all is over."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

import games
from pbm.actions import cleanup
from pbm.language.line import Line
from pbm.refusals import Refused
from pbm.runner import run
from pbm.session import Session
from pbm.site.pages import answer_page
from pbm.store import Reply
from pbm.tournaments import TOURNAMENT_KINDS
from pbm.tournaments.kinds import Tournament

from helpers.answers import answer, send, turns
from helpers.examples import rules
from helpers.stories import follow


def own_part_of_page(club, name):
    """What the page of board 101 of Symple shows a player alone, once it knows who opens it."""
    shown = answer_page(club.server, Reply("symple", "101", name), "", {"known": "none"})["html"]
    return shown["mine"] + shown["offers"]


@pytest.mark.parametrize(
    "story",
    rules("""
a plan stands between a move and its comment
    challenge alice bob / alice answers: a1⏎if c3 then a5⏎- If d4, then e5⏎⏎Good luck! / played a1 / \
plan alice if c3 then a5; if d4 then e5 / bob reads alice writes: Good luck! / told alice bob / \
alice reads Your plan: if c3 then a5 if d4 then e5 / bob reads no if c3 / bob answers: c3 / played a1 c3 (a5) / \
told alice bob / all read Played at once, as planned: a5 by alice.
a plan may be all of an answer
    challenge alice bob / plays a1 / alice answers: if c3 then a5⏎if d4 then e5 / told sender / \
plan alice if c3 then a5; if d4 then e5 / alice answers: plan clear / plan
    challenge alice bob / plays a1 / alice answers: plan⏎if c3 then a5; if d4 then e5 / told sender / \
plan alice if c3 then a5; if d4 then e5
    challenge alice bob / plays a1 / alice answers: plan if c3 a5⏎if d4 e5 / told sender / \
plan alice if c3 then a5; if d4 then e5
with a bad plan the move is not played either
    challenge alice bob / alice answers: a1⏎if c3 then a1 / sender reads white stone on a1 / \
sender reads `if c3 then a1` / played / plan
a queued move and a plan are one tree
    challenge alice bob / plays a1 / alice answers: if c3 then a5 / alice answers: queue e5 / \
plan alice if c3 then a5; if any then e5 / alice answers: queue clear / plan alice if c3 then a5 / \
alice answers: queue clear / sender reads There is no queued move of yours on this board.
a resignation for later says that it replaces the plan
    challenge alice bob / plays a1 c3 e5 / alice answers: if a5 then b5 / alice answers: resign / told alice / \
alice reads Your plan is forgotten. / alice reads You will resign as soon as it is your turn. / plan alice Resign
a plan stands below whatever plays a move
    challenge alice bob / alice answers: queue a1⏎if c3 then a5⏎⏎Good luck! / played a1 / plan alice if c3 then a5 / \
bob reads alice writes: Good luck! / alice answers: queue e5⏎if d4 then b1 / \
plan alice if c3 then a5; if any then e5; if d4 then b1
    challenge alice bob / alice answers: submit a1 / alice answers: confirm⏎if c3 then a5⏎⏎Good luck! / played a1 / \
plan alice if c3 then a5 / bob reads alice writes: Good luck!
prose that begins with if is a comment
    challenge alice bob / alice answers: a1⏎If only I had seen that! / plan / \
bob reads alice writes: If only I had seen that!
text below a plan alone is sent to nobody, and that is said
    challenge alice bob / plays a1 / alice answers: if c3 then a5⏎I like this game. / told sender / \
sender reads The text below your plan was sent to nobody
a plan is said back as a tree, and else shown as the lines that were typed
    challenge alice bob / plays a1 / \
alice answers: if c3 then a5 if d4 then e5⏎if c3 then a5 if d5 then e1⏎if any then b5 / \
sender reads tree: if c3 then a5 if d4 then e5 if d5 then e1 if any then b5 / \
sender reads Your plan: if c3 then a5 if d4 then e5 if c3 then a5 if d5 then e1 if any then b5 / \
alice: symple showas ME 101 / \
sender reads Your plan: if c3 then a5 if d4 then e5 if c3 then a5 if d5 then e1 if any then b5 / \
sender reads no tree
notes are seen by their writer alone, also when the game is over
    challenge alice bob / alice answers: note⏎Beware of the corner. / alice answers: note⏎⏎And of the edge. / \
sender reads Your notes: The start, 2026-11-20: Beware of the corner. The start, 2026-11-20: And of the edge. / \
alice: move a1 / alice reads Beware / bob reads no Beware / bob answers: c3 / alice reads Beware / \
bob reads no Beware / alice answers: resign / alice reads Beware / bob reads no Beware / carol: symple show 101 / \
sender reads no Beware / alice: symple showas ME 101 / sender reads Beware / alice answers: note clear / \
alice: symple showas ME 101 / sender reads no Your notes
there is no rematch of a game that goes on, of others or against who takes none
    challenge alice bob / alice refused: symple rematch 101 ME / sender reads The game is not over yet / \
plays a1 c3 resign / carol refused: symple rematch 101 ME / sender reads You did not play on this board / \
bob: symple reject ME / alice refused: symple rematch 101 ME / sender reads bob takes no challenges / \
bob: symple rematch 101 ME / alice gets New Symple Board 102 bob
there is no rematch against who has signed off
    challenge alice bob / plays a1 c3 / bob: signoff ME / alice refused: symple rematch 101 ME / \
sender reads There is no user 'bob' any more.
a board mail names what fits while its reader waits
    challenge alice bob / alice answers: a1 / bob reads no While you wait / \
alice reads with `plan`, `nag`, `give 7`, `note` or `chat`; `help commands` says more.
a rematch has the same options and clocks, and the sides exchanged, and there is one of a board
    challenge -penalty=4 --nagtime=3 --totaltime=20 alice bob / plays a1 c3 resign / bob: symple rematch 101 ME / \
bob gets New Symple Board 102 bob / bob reads bob (white) against alice (black) / \
bob reads Options: -size=5 -penalty=4 --nagtime=3 --totaltime=20 / alice refused: symple rematch 101 ME / \
sender reads There was a rematch already: Symple board 102
a rematch that was left before it began does not count
    challenge alice bob / plays a1 c3 resign / bob: symple rematch 101 ME / bob: symple resign 102 ME / \
alice: symple rematch 101 ME / alice gets New Symple Board 103 bob
who has an address is told of a dropped plan by the mail about the move, and not again
    challenge alice bob / alice: move c3 / alice: plan if a1 then e5 / bob: move b1 / \
alice reads Your plan has no answer to b1, and is dropped. / alice: symple showas ME 101 / \
sender reads no Your plan has no answer
a rematch of a board with the usual clocks has the usual ones, too
    challenge alice bob / plays a1 c3 resign / bob: symple rematch 101 ME / bob reads Options: -size=5 symple move 102
the clocks of a tournament board are those of its rematch, too
    challenge --name=a1 --forfeittime=3 alice bob / plays a1 c3 resign / bob: symple rematch a1 ME / \
bob reads Options: -size=5 --nagtime=1 --forfeittime=3
an answer counts for 30 days after the end
    challenge alice bob / plays a1 c3 resign / 30 days / alice answers: show / sender reads Won by bob / 1 days / \
alice answers: rematch / sender reads over for more than 30 days
given days put off the loss, and are told to both
    challenge alice bob / plays a1 c3 / bob answers: give 7 / told alice bob / \
all read bob gives alice 7 days more for this move. / 27 days / clean up / winner / 1 days / clean up / winner bob
given days are for one move
    challenge alice bob / plays a1 / alice answers: give 30 / bob answers: c3 / alice answers: a5 / played a1 c3 a5 / \
20 days / clean up / winner / 1 days / clean up / winner alice
the total time grows with given days
    challenge --totaltime=5 alice bob / plays a1 c3 / bob: give 2 / 6 days / clean up / winner / alice: move a5 / \
bob: move e5 / 2 days / clean up / winner bob
what cannot be given is refused
    challenge alice bob / bob answers: give 0 / sender reads 1 to 30 days / bob answers: give 31 / \
sender reads 1 to 30 days / bob answers: give many / sender reads 1 to 30 days / alice answers: give 7 / \
sender reads It is your turn
who is blocked writes to nobody who blocks them
    challenge alice bob / alice: block ME / alice reads You block nobody. / alice: block ME BOB / \
alice reads You block bob. / bob refused: message ME alice⏎Hello / \
sender reads alice takes no messages. Nothing was sent. / bob refused: symple chat 101 ME⏎Hello / \
sender reads Nobody on this board takes your chat / erin: signup ME / bob: message ME alice carol erin⏎Hello / \
told carol sender / sender reads on its way to carol. alice takes no messages. erin has no mail address. / \
bob refused: message ME erin⏎Hello / sender reads erin has no mail address. Nothing was sent. / \
alice: broadcast ME on / carol: broadcast ME on / bob: broadcast ME⏎Hello / told carol sender
who seeks says from whom and how, and it is a wish
    alice: symple seek ME 2 --rating=1500-1700 --options='-size=9 -penalty=4' / \
alice reads You seek 2 challenges of Symple (rating 1500-1700, -size=9 -penalty=4). / carol: all seekers / \
sender reads rating 1500-1700, -size=9 -penalty=4 / bob: symple challenge -size=7 bob alice / alice has seeking 1 / \
alice: symple seek ME 3 / carol: all seekers / sender reads no Wants
the weekends are those of the player to move, also after an undo
    alice: timezone ME Pacific/Auckland / challenge --noweekends alice bob / weekends Pacific/Auckland / \
alice: move a1 / weekends UTC / alice: move undo / weekends UTC / bob: move accept / weekends Pacific/Auckland
block is a word in an answer, too
    challenge alice bob / alice answers: block / alice reads You block nobody. / alice answers: block bob / \
alice reads You block bob. / alice answers: unblock bob / alice reads You block nobody. / \
alice answers: block alice alice-secret bob / told alice / alice reads You block bob.
    """),
)
def test_what_players_tell_the_server_beside_their_moves(four, story):
    follow(four, story)


def test_who_has_no_address_is_told_of_a_dropped_plan_until_they_move(club):
    for name in ("alice", "bob"):
        club.say(f"signup {name} {name}-secret")
    for line in ("challenge -size=5 alice bob", "move 101 alice alice-secret c3",
                 "plan 101 alice alice-secret if a1 then e5", "move 101 bob bob-secret b1"):  # fmt: skip
        club.say(f"symple {line}")
    dropped = "Your plan has no answer to b1, and is dropped."
    for _ in range(2):
        [told] = club.say("symple showas alice alice-secret 101")
        assert dropped in told.body
        assert told.data["plan_dropped"] == dropped
        assert dropped in own_part_of_page(club, "alice")
    assert dropped not in club.text("symple showas bob bob-secret 101") + club.text("symple show 101")
    assert dropped in club.text("symple plan 101 alice alice-secret")
    assert dropped in club.text("symple move 101 alice alice-secret a5")
    assert dropped not in club.text("symple showas alice alice-secret 101")


def test_a_plan_whose_moves_are_longer_than_a_line_is_no_part_of_the_comment(board):
    long = ",".join(f"{column}{row}" for row in (1, 5, 9) for column in "abcdefghi")
    answer(board, f"c3\nif d4 then e5 if any then {long},a3\nif g7 then a5\n\nGood; if you like, go on.")
    assert board.store.boards.get("symple", "101").comment == "Good; if you like, go on."


def test_who_resigns_for_later_can_take_that_back_on_the_page(board):
    for name, move in (("alice", "c3"), ("bob", "a1"), ("bob", "resign")):
        board.say(f"symple move 101 {name} {name}-secret {move}")
    assert ['value="unresign"' in own_part_of_page(board, name) for name in ("alice", "bob")] == [False, True]


def test_the_page_says_what_an_undo_takes_back(board):
    board.say("symple queue 101 bob bob-secret d4")
    for move in ("c3", "undo"):
        board.say(f"symple move 101 alice alice-secret {move}")
    assert "<p>alice proposes to take back c3 and your answer d4.</p>" in own_part_of_page(board, "bob")


# Notes


def test_notes_have_a_size(board):
    answer(board, "note\n" + "x" * 60 + "\n" + "y " * 1900)
    [told] = answer(board, "note\n" + "z" * 70 + "\n" + "z" * 70)
    assert "Your notes on a board have at most 4000 bytes" in told.text
    assert "z" not in board.store.boards.notes("symple", "101")["alice"]


# A rematch


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_a_rematch_is_one_word_in_answer_to_the_last_mail(board, name):
    for body, player in (("a1", "alice"), ("c3", "bob"), ("resign", "alice")):
        answer(board, body, player)
    last = board.mails(name)[-1]
    assert "You can answer with `rematch`, `analyse`, `note`, `chat` or `history`." in last.text
    assert last.text.endswith(f"\nsymple rematch 101 {name} PASSWORD\n")
    told = send(board, last.subject, "rematch", f"{name}@players.example", last.reply_to)
    assert {mail.subject for mail in told} == {"New Symple Board 102 bob"}
    [again] = send(board, last.subject, "rematch", f"{name}@players.example", last.reply_to)
    assert "There was a rematch already" in again.text


# Users whom one does not want to hear of


@pytest.mark.parametrize(
    "story",
    rules("""
who is blocked learns only that challenges are not taken
    challenge alice bob / alice: block ME bob / bob refused: symple challenge alice bob / \
sender reads alice takes no challenges of Symple. / bob refused: symple challenge bob alice / \
sender reads alice takes no challenges of Symple. / bob refused: symple challenge alice carol / \
sender reads alice takes no challenges of Symple. / alice: symple reject ME / \
carol refused: symple challenge bob alice / sender reads alice takes no challenges of Symple. / sender reads no block
who blocks may still challenge, and games go on
    challenge alice bob / alice: block ME bob / alice: move c3 / bob: move b1 / played c3 b1 / \
alice: symple challenge alice bob / bob gets New Symple Board 102 alice / \
bob refused: symple challenge bob alice / alice: unblock ME bob / alice reads You block nobody. / \
bob: symple challenge bob alice / alice gets New Symple Board 103 bob / alice refused: unblock ME bob / \
sender reads You do not block 'bob'
    """),
)
def test_what_blocking_does_by_mail(by_mail, story):
    follow(by_mail, story)


def test_who_blocks_as_many_as_one_can_may_still_list_them(club, monkeypatch):
    monkeypatch.setattr("pbm.actions.messages.MOST_BLOCKED", 1)
    club.signed_up("alice", "bob", "carol")
    club.say("block alice alice-secret bob")
    assert "You block 1 users already" in club.why_refused("block alice alice-secret carol")
    assert "You block bob." in club.text("block alice alice-secret")


def test_a_user_blocks_200_others_at_most(club):
    club.signed_up("alice", "bob")
    others = [f"user{number}" for number in range(200)]
    for other in others:
        club.store.users.add(other, "", club.time)
    for other in others[1:]:
        club.store.users.block("alice", other)
    club.say("block alice alice-secret user0")
    assert club.why_refused("block alice alice-secret bob") == "You block 200 users already."


# Swapping sides


def test_a_mail_says_who_has_just_swapped_sides(board, monkeypatch):
    symple = games.load("symple")  # as if it had the pie rule, which none of our own games has
    monkeypatch.setattr(symple, "SWAP", True, raising=False)
    monkeypatch.setattr(symple.State, "parse", lambda _, text: text)
    monkeypatch.setattr(symple.State, "play", lambda state, *_: state._replace(turn=1 - state.turn))
    board.say("symple move 101 alice alice-secret c3")
    board.say("symple swap 101 bob bob-secret")
    assert "\nbob has swapped sides.\n" in board.mails("alice")[-1].text
    board.say("symple move 101 alice alice-secret d4")
    assert "swapped sides" not in board.mails("bob")[-1].text


# Time


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Auckland"])
def test_without_weekends_no_clock_runs_on_saturdays_and_sundays(club, zone):
    club.signed_up("alice", "bob")
    club.say(f"timezone alice alice-secret {zone}")
    club.say("symple challenge -size=9 --noweekends alice bob")
    assert "No clock runs on Saturdays and Sundays." in club.mails("bob")[-1].text
    club.say("symple move 101 alice alice-secret a1")
    club.say("symple move 101 bob bob-secret c3")
    begin = club.server.now()
    days = 0
    while not club.store.boards.get("symple", "101").ended:
        club.pass_time(days=1)
        cleanup.clean_up(Session(club.server))
        days += 1
    zoned = [(begin + timedelta(hours=hour)).astimezone(ZoneInfo(zone)) for hour in range(days * 24)]
    counted = sum(moment.weekday() < 5 for moment in zoned) / 24
    assert 21 <= counted < 22
    assert days >= 21 + 2 * 3 - 1


def test_weekends_do_not_count_in_what_is_left_of_the_total_time(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=9 --noweekends --totaltime=2 alice bob")  # on a Friday at noon
    assert "4 for alice" in club.text("all games alice")
    for days, forfeited in (3, 0), (1, 1):
        club.pass_time(days=days)
        assert cleanup.clean_up(Session(club.server)).forfeited == forfeited


def test_a_board_goes_on_whose_time_zone_this_machine_does_not_know_any_more(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=9 --noweekends alice bob")
    club.store.db.execute("UPDATE boards SET weekends = 'Mars/Olympus'")
    assert "alice to start" in club.text("symple games")
    club.say("symple move 101 alice alice-secret a1")
    assert "a1" in club.text("symple show 101")


def test_a_game_of_30_turns_a_side_takes_at_most_10_mails_where_both_plan(club):
    club.signed_up("alice", "bob")
    club.say("symple challenge -size=19 alice bob")
    cells = iter(f"{column}{row}" for row in range(1, 20, 2) for column in "acegikmoqs")
    while len(turns(club)) < 60:
        name = club.store.boards.get("symple", "101").turn
        move, *replies = [next(cells) for _ in range(21 if len(turns(club)) < 40 else 6)]
        answer(club, f"{move}\n{' '.join(f'if any then {reply}' for reply in replies)}", name)
    assert len(turns(club)) >= 60
    assert max(len(club.mails(name)) for name in ("alice", "bob")) <= 10


# How mails come


@pytest.mark.parametrize("how", ["digest", "none"])
def test_one_command_chooses_how_mails_come_in_all_games_and_ones_own_move_still_gets_its_receipt(club, how):
    club.signed_up("alice", "bob")
    club.say(f"mail alice alice-secret {how}")
    assert {club.store.players.get(game, "alice").mail for game in games.names()} == {how}
    club.say("symple challenge -size=5 alice bob")
    assert club.mails("alice") == []
    club.say("symple move 101 alice alice-secret c3", sender="alice@players.example")
    assert [mail.subject for mail in club.mails("alice")] == ["Symple Board 101 bob"]
    club.say("symple move 101 bob bob-secret b1", sender="bob@players.example")
    assert len(club.mails("alice")) == 1
    club.say("mail alice alice-secret each")
    club.say("symple move 101 bob bob-secret undo")
    assert club.mails("alice")[-1].subject == "Symple Board 101 alice"


def test_the_pool_that_was_meant_is_named(club):
    club.signed_up("alice", "bob")
    with club.store.writing():
        club.store.tournaments.save(Tournament("symple", "open", TOURNAMENT_KINDS["roundrobin"], club.time))
    for line in ("table opne", "join opne alice alice-secret", "tournament opn alice alice-secret"):
        assert club.why_refused(f"symple {line}").endswith(" of Symple; did you mean open?")


def test_nothing_near_a_word_that_may_be_a_password_is_named(club):
    club.signed_up("alice", "bob")
    with club.store.writing():
        club.store.tournaments.save(Tournament("symple", "open", TOURNAMENT_KINDS["roundrobin"], club.time))
    line = Line.read("symple join open-1 alice alice-secret")
    with pytest.raises(Refused) as refused:
        run(line, lambda: Session(club.server))
    assert line.refusal(refused.value).data["error"] == "There is no pool 'PASSWORD' of Symple."


def test_a_message_to_nobody_names_who_was_probably_meant(club):
    club.signed_up("alice", "bob")
    assert club.why_refused("message alice alice-secret bbo", "Hi") == "There is no user 'bbo'; did you mean bob?"
    club.say("block alice alice-secret bob")
    assert club.why_refused("unblock alice alice-secret bop") == "You do not block 'bop'; did you mean bob?"
