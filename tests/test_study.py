"""Study: games from old positions, games led through in the terminal, and counts of all dice."""

import json
import os
import pty
import re
import select
import sys
from random import Random
from subprocess import Popen

import pytest

import games
from pbm.board import dice, records
from pbm.drawing import svg
from pbm.operator import exchange, replay
from pbm.operator.doctor import examine
from pbm.refusals import Refused

from helpers.club import PASSWORDS
from helpers.database import stored_board
from helpers.fixtures import set_up
from helpers.patience import PATIENCE
from helpers.schema import check


def begun(club, line, moves, game="spiro"):
    """Board 101 after some moves."""
    club.signed_up("alice", "bob", "carol")
    club.say(line)
    move(club, "101", moves, game)


def studied(club, source="101#4", game="spiro"):
    """Board 102, which begins with the moves of another one."""
    club.say(f"{game} challenge --from={source} carol alice")
    return stored_board(club.store, game, "102")


def move(club, board="102", times=1, game="spiro"):
    """Whoever is to move plays the first legal move, so many times."""
    for _ in range(times):
        now = stored_board(club.store, game, board)
        club.say(f"{game} move {board} {now.mover} {PASSWORDS[now.mover]} {next(now.state.moves())}")


def findings(club):
    found = examine(club.store.path, club.time)
    return [finding for finding in found if finding.where != "PBM_ADDRESS"]


@set_up
def spiro(club):
    """alice and bob on board 101 of small Spiro after 6 moves."""
    begun(club, "spiro challenge -small alice bob", 6)


def test_a_game_goes_on_from_an_old_position_with_other_players(spiro):
    old, new = stored_board(spiro.store, "spiro", "101"), studied(spiro)
    assert [turn.text for turn in new.turns] == [turn.text for turn in old.turns[:4]]
    assert new.state.view()["cells"] == old.states[4].view()["cells"]
    assert new.row.options == "-small"
    assert [turn.userid for turn in new.turns] == ["carol", "alice", "carol", "alice"]
    assert new.mover == "carol"
    moved = spiro.say(f"spiro move 102 carol carol-secret {next(new.state.moves())}#5")
    assert moved[0].data["moves"] == 5


@pytest.mark.parametrize(
    ("word", "moves"),
    [("101", 6), ("101#-1", 5), ("SPIRO-101#2", 2), ("spiro-101#-2", 4), ("101#0", 0), ("101#7", 6), ("101#-7", 0)],
)
def test_the_position_is_named_as_everywhere_and_beyond_the_moves_is_the_end_or_the_start(spiro, word, moves):
    new = studied(spiro, word)
    assert (new.row.source, new.row.given, len(new.turns)) == ("101", moves, moves)


def test_the_source_is_named_in_every_mail_and_by_show(spiro):
    studied(spiro)
    told = "The first 4 moves are those of board 101; the game is not rated."
    assert {mail.userid for mail in spiro.mails() if told in mail.text} == {"carol", "alice"}
    [shown] = spiro.say("spiro show 102")
    assert told in shown.body
    assert shown.data["source"] == {"board": "101", "moves": 4}
    assert "source" not in spiro.say("spiro show 101")[0].data


def test_one_move_from_an_old_position_is_told_of_as_one(spiro):
    studied(spiro, "101#1")
    told = "The first move is that of board 101; the game is not rated."
    assert {mail.userid for mail in spiro.mails() if told in mail.text} == {"carol", "alice"}
    move(spiro, times=2)
    spiro.say("spiro resign 102 alice alice-secret")
    assert "The dice of the first move are those of board 101." in spiro.text("dice spiro 102")


def test_such_a_game_is_not_rated_and_can_be_left_until_both_have_moved_in_it(spiro):
    studied(spiro)
    spiro.say("spiro resign 102 carol carol-secret")
    assert spiro.store.boards.get("spiro", "102") is None
    spiro.say("spiro challenge --from=101#4 carol alice")
    move(spiro, "103", 2)
    spiro.say("spiro resign 103 carol carol-secret")
    assert stored_board(spiro.store, "spiro", "103").winner == "alice"
    assert spiro.store.players.get("spiro", "alice").games == 0


def test_its_dice_are_its_own_from_there_on_and_can_be_checked(spiro):
    old, new = stored_board(spiro.store, "spiro", "101"), studied(spiro)
    assert [turn.dice for turn in new.turns] == [turn.dice for turn in old.turns[:4]]
    assert new.row.secret != old.row.secret
    assert new.state.dice == dice.throw(new.row.secret, "spiro 102", 4, 2)
    assert dice.commitment(new.row.secret) in spiro.mails("carol")[0].text
    move(spiro, times=2)
    spiro.say("spiro resign 102 carol carol-secret")
    checked = spiro.text("dice spiro 102")
    assert re.findall(r"^(\d+) ", checked, re.MULTILINE) == ["5", "6", "7"]
    assert "All 3 throws follow from the secret." in checked
    assert "The dice of the first 4 moves are those of board 101." in checked


def test_the_doctor_finds_it_sound_and_sees_when_a_die_of_its_own_is_changed(spiro):
    studied(spiro)
    move(spiro)
    assert findings(spiro) == []
    with spiro.store.writing():
        spiro.store.db.execute("UPDATE turns SET dice = '[7, 7]' WHERE board = '102' AND number = 5")
    assert [finding.where for finding in findings(spiro)] == ["spiro 102"]


def test_what_waits_on_the_old_board_is_not_on_the_new_one(spiro):
    board = stored_board(spiro.store, "spiro", "101")
    turn, other = board.mover, board.row.opponent(board.mover)
    spiro.say(f"spiro queue 101 {other} {PASSWORDS[other]} a1:1")
    spiro.say(f"spiro submit 101 {turn} {PASSWORDS[turn]} {next(board.state.moves())}")
    spiro.say(f"spiro move 101 {turn} {PASSWORDS[turn]} propose", comment="Between us.")
    new = studied(spiro, "101")
    assert (new.plans, new.row.submitted, new.row.vote, new.row.comment) == ({}, None, None, None)
    assert new.state.dice == dice.throw(new.row.secret, "spiro 102", 6, 2)


def test_nothing_is_taken_back_from_before_its_start(club):
    begun(club, "symple challenge -size=5 alice bob", 4, "symple")
    assert studied(club, "101#3", "symple").mover == "alice"
    assert "No move has been made that could be taken back" in club.why_refused(
        "symple move 102 carol carol-secret undo"
    )
    move(club, game="symple")
    club.say("symple move 102 alice alice-secret undo")
    club.say("symple move 102 carol carol-secret accept")
    assert len(stored_board(club.store, "symple", "102").turns) == 3


def test_sides_that_were_chosen_stay_chosen(club):
    club.signed_up("alice", "bob", "carol")
    club.say("spora challenge -pie -size=5 alice bob")
    for move in ("alice alice-secret komi=3", "bob bob-secret black"):
        club.say(f"spora move 101 {move}")
    assert (stored_board(club.store, "spora", "101").mover, studied(club, "101", "spora").mover) == ("bob", "alice")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--from=999#1", "There is no Spiro board '999'"),
        ("--from=101#x", "no board at a move"),
        ("--from=symple-101#1", "no board of Spiro"),
        ("--from=101#1 -small", "The options are those of the board"),
        ("--from=101#1 --name=a1", "Use --from or --name, not both"),
        ("--from=101#1 --from=101#2", "given twice"),
    ],
)
def test_what_cannot_be_a_beginning_is_refused(spiro, options, reason):
    assert reason in spiro.why_refused(f"spiro challenge {options} alice bob")
    assert spiro.store.boards.get("spiro", "102") is None


def test_nothing_goes_on_where_the_game_was_over(spiro):
    spiro.say("spiro resign 101 alice alice-secret")
    with pytest.raises(Refused, match=r"The game was over then; --from=101#6 is before its last turn"):
        studied(spiro, "101")
    assert studied(spiro, "101#6").mover == "carol"


def test_its_record_can_be_taken_in_elsewhere(club):
    begun(club, "symple challenge -size=5 alice bob", 4, "symple")
    studied(club, "101#3", "symple")
    row = club.store.boards.get("symple", "102")
    document = json.loads(json.dumps(records.write(records.Record(row, club.store.boards.turns("symple", "102")), [])))
    assert document["source"] == {"board": "101", "moves": 3}
    read = records.read(document, {}, club.time)
    with club.store.writing():
        number = exchange.take_in(club.server, read)
    taken = club.store.boards.get("symple", number)
    assert (taken.source, taken.given, taken.moves) == ("101", 3, 3)
    assert findings(club) == []
    del document["source"]
    assert records.read(document, {}, club.time).row.source is None


def test_the_dice_of_a_record_that_are_taken_from_another_board_need_not_follow_from_its_secret(spiro):
    studied(spiro)
    move(spiro, times=2)
    spiro.say("spiro resign 102 carol carol-secret")
    place = "spiro", "102"
    document = records.write(records.Record(spiro.store.boards.get(*place), spiro.store.boards.turns(*place)), [])
    assert records.read(document, {}, spiro.time).row.given == 4
    document["source"]["moves"] = 9
    with pytest.raises(records.Unsound, match="9 of its turns are those of board 101, but it has 7"):
        records.read(document, {}, spiro.time)


# Replay


def test_without_a_terminal_a_game_is_listed(spiro, shell):
    shell.environment["PBM_DB"] = str(spiro.store.path)
    told = shell.done("replay", "spiro", "101")
    board = stored_board(spiro.store, "spiro", "101")
    lines = told.splitlines()
    assert "\x1b" not in told
    for number, turn in enumerate(board.turns, 1):
        assert f"{number}     {turn.userid:6}  {' '.join(map(str, turn.dice)):4}  {turn.text}" in lines
    assert board.rules.draw(board.state).splitlines()[-1] in lines


def test_in_a_terminal_the_arrow_keys_lead_through_a_game(spiro, shell):
    spiro.say("spiro chat 101 bob bob-secret", comment="unseen")
    board = stored_board(spiro.store, "spiro", "101")
    first = next(board.state.moves())
    spiro.say(f"spiro move 101 {board.mover} {PASSWORDS[board.mover]} {first}", comment="Look at that!")
    spiro.store.db.execute("UPDATE boards SET comment = comment || ' \x1b]0;taken over'")
    control, terminal = pty.openpty()
    environment = shell.environment | {"PBM_DB": str(spiro.store.path), "TERM": "xterm"}
    command = [sys.executable, "-m", "pbm", "replay", "spiro", "101"]
    with Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment, close_fds=True) as process:
        os.close(terminal)
        seen = []
        try:
            for keys in (b"\x1b[C", b"x\x1b[C", b"\x1b[D", b"\x1b[F", b"\x1b[H", b"q"):
                seen.append(read_screen(control))
                os.write(control, keys)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
    os.close(control)
    wheres = [re.search(r"Move (\d+) of 7", screen)[1] for screen in seen]
    assert wheres == ["0", "1", "2", "1", "7", "0"]
    assert "The beginning." in seen[0]
    assert board.turns[0].text in seen[1]
    assert "\x1b[38;2;" in seen[1]  # pieces have colours
    assert r"Look at that! \x1b]0;taken over" in seen[4]  # which commands no terminal
    assert "Look at that!" not in seen[3]


def read_screen(control):
    """What a terminal shows, up to the line that names the keys."""
    found = b""
    while b"q quits" not in found:
        ready, _, _ = select.select([control], [], [], PATIENCE)
        assert ready, found
        found += os.read(control, 65536)
    return found.decode()


@pytest.mark.parametrize("game", games.names())
def test_the_pieces_of_each_side_have_its_colour_and_those_of_the_last_turn_are_underlined(game):
    rules = games.load(game)
    states, rng = [rules.new(**games.read_options(rules, []))], Random(5)
    for _ in range(9):
        states[-1] = games.thrown(states[-1], rng)
        states.append(states[-1].play(states[-1].random(rng)))
    drawn = rules.draw(states[-1], states[-2])
    shown = replay.painted(rules, drawn)
    glyphs = games.glyphs(rules)
    for hue, pattern in zip(svg.hues(rules.SIDES), glyphs.sides, strict=True):
        _, (red, green, blue) = replay.TILES[hue]
        tiles = re.findall(rf"\x1b\[1m\x1b\[38;2[^m]*m\x1b\[48;2;{red};{green};{blue}m(.*?)\x1b\[0m", shown)
        tiles = tiles or re.findall(rf"48;2;{red};{green};{blue}m\x1b\[1m(.*?)\x1b\[0m", shown)
        assert tiles == re.findall(pattern, drawn) != []
    latest = re.findall(glyphs.latest, drawn)
    assert shown.count("\x1b[4m") >= len(latest) > 0
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == drawn


class Made:
    """A game that says nothing of its drawings."""

    SIDES = ("first", "second")


def test_of_a_game_that_says_nothing_initials_brackets_and_asterisks_are_coloured():
    def looks(text):
        return [part for part in re.split(r"\x1b\[[\d;]*m", replay.painted(Made, text)) if part]

    assert looks("1 F S.") == ["1 ", "F", " ", "S", "."]
    assert replay.painted(Made, "Fx (b) First") == "Fx (b) First"
    for latest in ("F*", "(S)", "[F S]"):
        assert replay.painted(Made, f"a {latest} b").startswith("a \x1b[4m")


def luminance(colour):
    parts = (part / 255 for part in colour)
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_pieces_can_be_read_on_their_tiles_and_black_is_dark_and_white_is_light_and_pink_is_pink():
    assert all(contrast(*tile) >= 4.5 for tile in replay.TILES.values())  # what WCAG asks of a text
    assert (replay.TILES["white"][1], replay.TILES["black"][1]) == ((255, 255, 255), (0, 0, 0))
    red, green, blue = replay.TILES["pink"][1]
    assert red > blue > green
    assert svg.hues(games.load("symple").SIDES) == ("white", "black")  # White moves first


# Counts of dice


def test_a_chi_square_tells_how_far_counts_are_from_equal_ones():
    assert dice.chi_square([7] * 6) == 0
    assert dice.chi_square([60, 0, 0, 0, 0, 0]) == 300  # 50² / 10 + 5 · 10² / 10
    assert dice.chi_square([0] * 6) == 0


def test_all_throws_of_a_game_are_counted_once(spiro):
    studied(spiro)
    thrown = [turn.dice for turn in spiro.store.boards.turns("spiro", "101")]
    [letter] = spiro.say("dice spiro")
    assert "exceed a chi-square of 15.1 at 5 degrees of freedom" in letter.body  # from printed tables
    faces = [sum(throw.count(face) for throw in thrown) for face in range(1, 7)]
    assert letter.data["faces"] == faces
    assert letter.data["throws"] == 6
    assert sum(map(sum, letter.data["pairs"])) == 5
    for throw in thrown[1:]:
        assert letter.data["pairs"][throw[0] - 1][throw[1] - 1] > 0
    expected = sum(faces) / 6
    by_hand = sum((count - expected) ** 2 / expected for count in faces)
    assert letter.data["tests"][0]["chi_square"] == pytest.approx(by_hand, abs=1e-3)
    assert letter.data["tests"][0]["degrees_of_freedom"] == 5


def test_programs_are_told_the_same_and_dice_that_lie_on_a_board_are_not_counted_yet(spiro):
    studied(spiro)
    before = spiro.say("dice spiro")[0].data
    check(before, "throws")
    check(spiro.say("spiro show 102")[0].data, "board")
    spiro.say("spiro challenge alice carol")
    assert spiro.say("dice spiro")[0].data["throws"] == before["throws"]


def test_dice_are_counted_of_games_that_have_some_and_in_a_shell(spiro):
    assert "Symple is played without dice" in spiro.why_refused("dice symple")
    assert "There is no game 'poker'" in spiro.why_refused("dice poker")
    assert "in a shell only" in spiro.why_refused("dice spiro", sender="alice@players.example")


def test_without_any_throw_there_is_nothing_to_doubt(club):
    assert [test["chi_square"] for test in club.say("dice spiro")[0].data["tests"]] == [0, 0]
