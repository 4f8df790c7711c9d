"""The referee: its requests one by one, and then as a process."""

import json
import os
import subprocess
import sys
from random import Random
from threading import Timer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import spiro
from games.boards import Hexagon
from pbm import referee
from pbm.referee import REQUESTS, Referee, replies

from helpers.costs import cost
from helpers.examples import examples
from helpers.patience import PATIENCE

START = {"e2": "OOOOOO", "e3": "XXXXXX"}
MIDDLE = 'position {"turn": "X", "cells": {"f3": "X", "e2": "O"}, "dice": [1, 2]}'
NO_MOVE = "? There is no move to take back."
OVER = 'position {"turn": "O", "cells": {"e2": "O"}}'


def said(*requests):
    """The replies to these requests in a game of Spiro on the small board, without that to the first one."""
    return list(replies("spiro", ["new -small", *requests]))[1:]


def state(*requests):
    """The state after these requests, none of which is refused."""
    *answers, last = said(*requests, "state")
    assert all(answer.startswith("= ") for answer in answers), answers
    return json.loads(last.removeprefix("= "))


# The lines


def test_the_process_begins_as_after_new_and_takes_the_requests_of_the_protocol():
    begun, renewed = (list(replies("spiro", [*requests, "dice 3", "state"]))[-1] for requests in ([], ["new"]))
    assert begun == renewed
    assert '"cells": {"g3": "OOOOOOOOOOOO", "g4": "XXXXXXXXXXXX"}' in begun
    names = "new dice seed position play moves random undo state board quit"
    assert set(REQUESTS) == set(names.split())


@pytest.mark.parametrize(
    ("requests", "answers"),
    [
        (["dice 4", "play e3:4", "dice 1 2", "play e2:1:2", "undo"], ["= 4", "= e3:4", "= 1 2", "= e2:1:2", "= ok"]),
        (["dice 4", "quit", "dice 5"], ["= 4", "= bye"]),
        ([" QUIT\r\n", "dice 5"], ["= bye"]),
        (["dice 4"], ["= 4"]),  # the end of the lines is an end too
        (["  DICE   4  \r\n", "Play  E3:4"], ["= 4", "= e3:4"]),
        (["", "   ", "\t", "# dice 6", "  # dice 5", "#", "dice 4", "\n"], ["= 4"]),
        ([OVER, "dice 1 2"], ["= ok", "? No dice are thrown now."]),
        ([MIDDLE, "play f3:1:2"], ["= ok", "= f3:1:2"]),
        ([MIDDLE, "play  F3-G3 , g3-f2"], ["= ok", "= f3:1:2"]),
        (["dice 4", "play e3:4", MIDDLE, "undo"], ["= 4", "= e3:4", "= ok", NO_MOVE]),
        (["undo", "dice 4", "play e3:4", "new", "undo"], [NO_MOVE, "= 4", "= e3:4", "= ok", NO_MOVE]),
        (["dice 4", "moves " + "9" * 18], ["= 4", "= 2 e3:4 e3:+"]),
    ],
)
def test_every_request_has_one_reply_in_order_and_a_blank_line_or_a_comment_has_none(requests, answers):
    assert said(*requests) == answers
    assert list(replies("spiro", [])) == []


def test_a_reply_comes_before_the_next_request_is_read():
    asked = []

    def requests():
        for request in ("new", "dice 4", "play g4:4"):
            asked.append(request)
            yield request

    for number, _ in enumerate(replies("spiro", requests()), 1):
        assert len(asked) == number


@pytest.mark.parametrize(
    "line", ["help", "show 101", "_play", "answer dice 3", "__class__", "history", "?", "= ok", "\0"]
)
def test_an_unknown_request_is_refused_with_a_list_of_those_there_are(line):
    (refused,) = said(line)
    assert refused == f"? There is no request {line.split()[0]!r}; the requests are {', '.join(REQUESTS)}."


@examples(50)
@given(
    st.lists(
        st.text(max_size=20)
        | st.sampled_from(REQUESTS)
        | st.builds("{} {}".format, st.sampled_from(REQUESTS), st.text(max_size=20)),
        max_size=6,
    )
)
def test_no_line_ends_the_game_and_a_refused_one_changes_nothing(lines):
    lines = [line for line in lines if line.strip().lower() != "quit"]
    judge = referee.Referee("spiro")
    for line in lines:
        before = judge.state(""), judge.board(""), len(judge.history)
        reply = judge.answer(line)
        assert reply[:2] in {"= ", "? "}
        assert reply.startswith("= ") or (judge.state(""), judge.board(""), len(judge.history)) == before


# new


def test_new_begins_a_game_with_the_options_of_the_challenge_which_may_be_shortened_and_large():
    begun = state("new -small -no_inwards -pieces=4")
    assert begun["options"] == {"small": True, "no_inwards": True, "pieces": 4}
    assert begun["cells"] == {"e2": "OOOO", "e3": "XXXX"}
    assert begun["moves"] == 0
    assert state("new -SM -Pi=4")["options"] == {"small": True, "no_inwards": False, "pieces": 4}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("-large", "There is no option '-large'; this game has -small, -no_inwards, -pieces=n."),
        ("small=", "-small takes no value."),
        ("--", "There is no option '--'; this game has"),
        ("-small -sm", "-small is given twice."),
        ("-pieces", "-pieces=n takes a whole number from 1 to 99."),
    ],
)
def test_new_refuses_options_that_there_are_not_and_goes_on_with_the_game(options, why):
    moved, refused, now = said("dice 4", "play e3:4", "dice 1 2", "state", f"new {options}", "state")[3:]
    assert refused.startswith(f"? {why}")
    assert now == moved


# dice and seed


def test_dice_are_random_until_they_are_set_and_replaced_and_none_are_thrown_in_a_game_without_dice():
    assert said("dice 4", "dice 6", "play e3:6") == ["= 4", "= 6", "= e3:6"]
    assert state("dice 4", "play e3:4", "dice 1 1", "dice 2 5")["dice"] == [2, 5]
    assert {tuple(state()["dice"]) for _ in range(100)} == {(die,) for die in range(1, 7)}
    assert len({tuple(state("dice 4", "play e3:4")["dice"]) for _ in range(50)}) > 10
    assert list(replies("symple", ["dice 1 2", "dice", "dice x"])) == ["? No dice are thrown now."] * 3


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ("dice", ["x", "-1", "1.0", "1,2", "1e0", "\u00b2", "9" * 5000]),
        ("seed", ["", "x", "-1", "1 2", "1.5", "9" * 5000]),
        ("moves", ["x", "-1", "1 2", "1.5", "9" * 5000]),
    ],
)
def test_dice_a_seed_and_a_limit_are_numbers(request_, words):
    for word in words:
        assert said(f"{request_} {word}", "dice 4") == [f"? {word!r} is not a number.", "= 4"]


def test_a_seed_makes_dice_and_random_turns_repeatable_and_outlives_new():
    requests = ["new -small", *["random", "state"] * 20, "new", *["random", "state"] * 10]
    games = [said(f"seed {seed}", *requests) for seed in (7, 7, 8)]
    assert games[0][0] == "= 7"
    assert games[0] == games[1]
    assert games[0][1:] != games[2][1:]
    requests = ["seed 7", "new -small", *["random"] * 5, "new -small", *["random"] * 15]
    assert said(*requests) == said(*requests)
    after_new = said(*requests)[-15:]
    assert after_new != said("seed 7", "new -small", *["random"] * 15)[-15:]  # new does not sow it again


# position


def test_a_position_needs_only_cells_and_turn_has_the_options_of_the_last_new_and_may_be_over():
    found = state('position {"cells": {"f3": "OX", "e2": "O"}, "turn": "O"}', "dice 1 2")
    assert found == {
        "cells": {"f3": "OX", "e2": "O"},
        "dice": [1, 2],
        "game": "spiro",
        "moves": 2,
        "options": {"no_inwards": False, "pieces": 6, "small": True},
        "over": False,
        "scores": {"X": 5, "O": 4},
        "turn": "O",
        "winner": None,
    }
    assert {len(state('position {"cells": {"f3": "X", "e2": "O"}, "turn": "X"}')["dice"]) for _ in range(5)} == {2}
    found = state("new -no_inwards", 'position {"cells": {"f4": "X", "g3": "O"}, "turn": "X", "dice": [1, 2]}')
    assert found["options"] == {"no_inwards": True, "pieces": 12, "small": False}
    found = state(OVER)
    assert (found["over"], found["winner"], found["dice"], found["turn"]) == (True, "X", [], "O")


def test_every_state_is_a_position_in_which_what_follows_from_the_rest_is_ignored():
    ignored = {"game": "go", "options": {"pieces": 1}, "over": True, "winner": "O", "scores": {"X": 6}, "more": [1]}
    view = {"cells": {"f3": "X", "e2": "O"}, "turn": "X", "dice": [1, 2]}
    assert state(f"position {json.dumps(ignored | view)}") == state(f"position {json.dumps(view)}")
    for line in said("seed 3", *["random", "state"] * 40)[2::2]:
        assert said(f"position {line.removeprefix('= ')}", "state")[1] == line


TWO = '{"cells": {"f3": "X", "e2": "O"}'
MOVES = ("-1", '"2"', "2.5", "true", "null", "Infinity", "9" * 4300, "9" * 5000)
BAD = [
    *("", "x", "{", "[]", "3", "null", '"cells"', "{}"),
    *(f'{{"cells": {cells}, "turn": "X"}}' for cells in ("null", "[]")),
    *('{"cells": {"f3": 1}}', '{"cells": {"\\ud800": "X"}}', '{"cells": {"f3": "\\u0000"}}'),
    *(f'{TWO}, "turn": "x"}}', f'{TWO}, "dice": [NaN, 1]}}', f"{TWO}}} and more"),
    *(f'{TWO}, "moves": {moves}}}' for moves in MOVES),
    *('{"cells": ' * 500 + "{}" + "}" * 500, "[" * 100_000, '{"cells":' * 100_000),
]


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:70])
def test_a_position_that_cannot_be_is_refused_and_the_game_goes_on(text):
    before, refused, now = said("dice 4", "state", f"position {text}", "state")[1:]
    assert refused.startswith("? ")
    assert refused.endswith(".")
    assert now == before


def test_a_forced_pass_in_a_position_is_played_at_once_in_a_game_without_dice():
    cells = dict.fromkeys(Hexagon(3).bit, "B")
    view = json.dumps({"cells": cells, "turn": "pink"})  # no space is empty, no stone is pink
    *_, found, undone = replies("papagra", ["new -size=3", f"position {view}", "state", "undo"])
    assert (json.loads(found[2:])["turn"], json.loads(found[2:])["moves"]) == ("black", 3)
    assert undone == "? There is no move to take back."


# play, undo, random


def test_the_state_tells_all_moves_since_the_start_with_skips_that_the_referee_plays():
    assert state()["history"] == []
    assert state("dice 4", "play e3-f2", "dice 1 2", "play e2:1:2")["history"] == ["e3:4", "e2:1:2"]
    assert state("dice 4", "play e3:4", "dice 1 2", "play e2:1:2", "undo")["history"] == ["e3:4"]
    assert "history" not in state(MIDDLE, "play f3:1:2")
    *_, line = replies("sprout", ["new -board=limping-3", "seed 26", *["random"] * 16, "state"])
    view = json.loads(line[2:])
    assert view["history"].count("--") == 1
    assert len(view["history"]) == view["moves"] == 17
    *_, again = replies("sprout", ["new -board=limping-3", f"position {json.dumps(view)}", "state"])
    assert again == line


def test_a_history_that_leads_to_the_position_that_is_set_up_counts():
    new = "new -size=3"
    *_, line = replies("papagra", [new, "seed 1", *["random"] * 6, "state"])
    view = json.loads(line[2:])
    *_, same = replies("papagra", [new, f"position {json.dumps(view)}", "state"])
    assert same == line
    for history in (view["history"][:-1], ["a1", "nonsense"], [1], "a1", None, ["--"]):
        *_, found = replies("papagra", [new, f"position {json.dumps(view | {'history': history})}", "state"])
        assert json.loads(found[2:]) == {key: value for key, value in view.items() if key != "history"}, history


def test_undo_goes_back_to_the_position_and_its_dice_also_from_a_random_turn():
    requests = ["dice 4", "state", "play e3:4", "dice 5 6", "state", "play e2:5:6"]
    _, first, _, _, second, _, *undone = said(*requests, "undo", "state", "undo", "state", "undo")
    assert undone == ["= ok", second, "= ok", first, "? There is no move to take back."]
    assert json.loads(second[2:])["dice"] == [5, 6]
    before, _, _, now = said("dice 3", "dice 5", "state", "random", "undo", "state")[2:]
    assert now == before


def test_random_plays_a_legal_turn_and_names_it_up_to_the_end_of_the_game():
    for seed in range(10):
        _, _, listed, chosen, found = said(f"seed {seed}", MIDDLE, "moves", "random", "state")
        assert chosen.removeprefix("= ") in listed.split()[2:]
        assert json.loads(found[2:])["moves"] == 3
    final = said("seed 1", "new -small -pieces=1", *["random"] * 2000, "state")
    assert final[-2] == "? The game is over."
    assert json.loads(final[-1][2:])["over"]


# moves


def test_moves_counts_the_turns_or_says_plus_and_lists_them_up_to_100():
    assert said("dice 4", "moves")[1] == "= 2 e3:4 e3:+"
    count, *turns = said(MIDDLE, "moves")[1].split()[1:]
    assert int(count) == len(turns) == len(set(turns))
    assert all(said(MIDDLE, f"play {turn}")[1] == f"= {turn}" for turn in turns)
    cells = {"e3": "X", "f3": "X", "g3": "X", "g2": "X", "d1": "X", "c1": "X", "e2": "O"}
    view = json.dumps({"cells": cells, "turn": "X", "dice": [1, 1]})
    count, *turns = said(f"position {view}", "moves")[1].split()[1:]
    assert int(count) > len(turns) == 100
    count, *turns = next(replies("symple", ["moves"])).split()[1:]
    assert (count, len(turns)) == ("361", 100)
    count, *turns = next(replies("symple", ["moves 361"])).split()[1:]
    assert (count, len(turns)) == ("361", 361)
    cells = {f"{column}{row}": "W" for column in "acegikmoqs" for row in range(1, 20, 2)}
    _, reply = replies("symple", [f"position {json.dumps({'cells': cells, 'turn': 'white'})}", "moves 2"])
    assert reply.startswith("= + ")
    assert len(reply.split()) == 4


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 50])
def test_moves_lists_no_more_turns_than_asked(limit):
    listed = said(MIDDLE, "moves")[1].split()
    count = "+" if limit < int(listed[1]) else listed[1]
    assert said(MIDDLE, f"moves {limit}")[1].split() == ["=", count, *listed[2 : 2 + limit]]


def test_no_more_turns_are_looked_for_than_were_asked_for_even_on_a_crowded_board_of_spora():
    cells = {f"{x}{y}": f"{'BW'[y > 6]}4" for x in "abcdefghijklm" for y in range(1, 14) if (ord(x) + y) % 3}
    given = [f"position {json.dumps({'cells': cells, 'turn': 'black', 'reserve': {'black': 20, 'white': 20}})}"]
    referee = Referee("spora")
    assert referee.answer(given[0]) == "= ok"
    assert all(referee.answer(request).startswith("= ") for request in ("moves 1", "random", "undo"))
    one_of_all = cost(lambda: referee.answer("moves 1"), 10)
    assert one_of_all < 3 * cost(lambda: referee.answer("random") and referee.answer("undo"), 10)


# Skips, and the end


def test_a_skip_is_a_turn_of_its_own_where_dice_are_thrown_and_after_the_end_there_are_no_turns():
    skipped = 'position {"turn": "X", "cells": {"h3": "XO"}, "dice": [3, 4]}'
    *answers, found = said(skipped, "moves", "play --", "dice 1 2", "state")
    assert answers == ["= ok", "= 1 --", "= --", "= 1 2"]
    assert (json.loads(found[2:])["moves"], json.loads(found[2:])["turn"]) == (3, "O")
    end = ['position {"turn": "X", "cells": {"c4": "X", "e2": "O"}, "dice": [1, 2]}', "play c4:x"]
    answers = said(*end, "play e2:1:2", "play --", "random", "moves", "dice 1 2", "undo", "moves")
    assert answers[2:5] == ["? The game is over."] * 3
    assert answers[5:8] == ["= 0", "? No dice are thrown now.", "= ok"]
    assert answers[8].startswith("= 3 ")
    found = state(*end)
    assert (found["over"], found["winner"], found["turn"]) == (True, "X", "O")
    assert found["scores"] == {"X": 6, "O": 5}


# state and board


def test_state_is_json_in_one_line_with_sorted_keys_and_board_the_number_of_lines_and_the_lines():
    (line,) = said("state")
    text = line.removeprefix("= ")
    assert text == json.dumps(json.loads(text), sort_keys=True)
    assert list(json.loads(text)) == [
        "cells", "dice", "game", "history", "moves", "options", "over", "scores", "turn", "winner",
    ]  # fmt: skip
    for options, lines in (("-small", 21), ("", 29)):
        (_, _, reply) = replies("spiro", [f"new {options}", "dice 4", "board"])
        count, *drawn = reply.split("\n")
        assert count == f"= {len(drawn)}" == f"= {lines}"
    assert drawn == spiro.draw(spiro.new().roll((4,))).split("\n")
    *_, unmarked, _, marked = replies("symple", ["new -size=5", "board", "play c3", "board"])
    assert "(W)" in marked
    assert "(" not in unmarked.partition("score")[0]


# A process


def run(*lines, arguments=("spiro",), **environment):
    """What `pbm referee` writes, and its exit status."""
    done = subprocess.run(
        [sys.executable, "-m", "pbm", "referee", *arguments],
        input=b"".join(line if isinstance(line, bytes) else f"{line}\n".encode() for line in lines),
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
        timeout=PATIENCE,
    )
    assert done.stderr == b""
    return done.stdout.decode().splitlines(), done.returncode


def test_a_process_plays_a_game_to_its_end_and_quits():
    rng = Random(5)
    requests = ["new -small -pieces=1"]
    expected = ["= ok"]
    position = spiro.new(small=True, pieces=1)
    while not position.result():
        dice = tuple(rng.randint(1, 6) for _ in range(position.dice_needed))
        position = position.roll(dice)
        move = position.random(rng)
        requests += [f"dice {' '.join(map(str, dice))}", f"play {move}"]
        expected += [f"= {' '.join(map(str, dice))}", f"= {position.parse(move)}"]
        position = position.play(move)
    *answers, final, bye = run(*requests, "state", "quit", "dice 1")[0]
    assert answers == expected
    assert bye == "= bye"
    assert json.loads(final[2:])["winner"] == position.view()["winner"]


def test_the_exit_status_is_0_after_quit_and_after_the_end_of_input_and_not_for_a_game_that_there_is_not():
    assert run("nonsense", "quit") == (list(replies("spiro", ["nonsense", "quit"])), 0)
    assert run("nonsense") == (list(replies("spiro", ["nonsense"])), 0)
    assert run() == ([], 0)
    command = [sys.executable, "-m", "pbm", "referee", "chess"]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.startswith("There is no game 'chess'; there are ")


def test_each_reply_is_written_at_once():
    command = [sys.executable, "-m", "pbm", "referee", "spiro"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, env=environment) as process:
        impatience = Timer(PATIENCE, process.kill)  # or else a reply that is kept back would be waited for without end
        impatience.start()
        for request, reply in (("new -small", "= ok"), ("dice 4", "= 4"), ("play e3:4", "= e3:4"), ("quit", "= bye")):
            process.stdin.write(f"{request}\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{reply}\n"
        assert process.wait(PATIENCE) == 0
        impatience.cancel()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_bytes_that_are_no_text_do_not_end_the_process(encoding):
    answers, status = run(
        b"play \xff\xfe\n", "play \N{GRINNING FACE}", b"dice 4\r\n", b"\0\n", "quit", PYTHONIOENCODING=encoding
    )
    assert [answer[0] for answer in answers] == ["?", "?", "=", "?", "="]
    assert status == 0
