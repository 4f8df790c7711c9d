"""Plans as people type them, and what becomes of them: section 13 of docs/command-language.md."""

from textwrap import fill

import pytest

from games import Illegal
from pbm.board import plan_lines, typed_moves
from pbm.board.plan_lines import Conditional
from pbm.board.typed_moves import parsed
from pbm.budget import limited
from pbm.language.typed_plans import read, split_plan

from helpers.examples import rules
from helpers.stories import follow

ONE = "if c3 then d4"
WAYS = {
    ONE: (
        "if c3 then d4", "If C3, then D4.", "IF C3 THEN D4", "if c3 d4", "if c3 , then d4", "if c3 then: d4",
        "- if c3 then d4", "* if c3 then d4", "\u2022 if c3 then d4", "-- if c3 then d4", "> if c3 then d4",
        "1. if c3 then d4", "12) if c3 then d4", "a) if c3 then d4", "(if c3 then d4)", "if c3 - d4",
        "if c3 \u2013 d4", "if c3 \u2014 d4", "if c3 -- d4", "if c3 -> d4", "if c3->d4", "if c3 => d4",
        "if c3 \u2192 d4", "if c3: d4", "\u201cif c3 then d4\u201d", '"if c3 then d4"', "'if c3 then d4'",
        'if "c3" then "d4"', "if \u201cc3\u201d then \u201cd4\u201d", "if `c3` then `d4`", "*if c3 then d4*",
        "if \u201ac3\u2018 then \u201ad4\u2018", "\u2039if c3 then d4\u203a",
        "\u300cif c3 then d4\u300d", "if <c3> then <d4>", "If they play c3, then I play d4.",
        "if bob plays c3, then I'll play d4",
        "if c3 --> d4", "if c3 \u279c d4",
        "if\u00a0c3 then\u00a0d4", "if c3 then d4!", "if c3 then d4;", "   if   c3\tthen   d4  ", "if c3 \u2014 d4.",
    ),
    "if any then d4": ("if any then d4", "If ANY, then d4.", "if any d4", "- if any -> d4"),
    "if d4,e5 then f6,g7": ("if d4, e5 then f6, g7", "if d4,e5 f6,g7", "If D4,E5, then F6 ,G7.", "if d4 ,e5 - f6,g7"),
    "if -e3,+f6 then -a1,+b2": ("if -e3,+f6 then -a1,+b2", "if -e3, +f6 -a1,+b2", "if -e3,+f6 - -a1,+b2"),
    "if c3-c6 then d4-d5": ("if c3-c6 then d4-d5", "if c3-c6 d4-d5", "if c3-c6 -> d4-d5"),
    "if -- then d4": ("if -- then d4", "if -- d4"),
    "if c3 then d4 if e5 then f6": (
        "if c3 then d4 if e5 then f6", "If c3, then d4, if e5, then f6.", "if c3 d4 if e5 f6",
        "if c3 -> d4, if e5 -> f6", "if c3 then d4, and if e5 then f6", "if c3 then d4, then if e5 then f6",
        "if c3 then d4; if e5 then f6",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("meant", "typed"), [(meant, typed) for meant, ways in WAYS.items() for typed in ways])
def test_a_line_is_read_as_it_is_typed(meant, typed):
    assert plan_lines.text_of_branch(read(typed)).lower() == meant


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("if c3, d4", "can be `if c3 then d4` or `if c3,d4 then MINE`; please write `then`"),
        ("if c3,d4,e5", "can be `if c3 then d4,e5`, `if c3,d4 then e5` or `if c3,d4,e5 then MINE`"),
        ("if c3", "has no answer to c3"),
        ("if c3 then", "has no answer to c3"),
        ("if c3 then d4 e5", "cannot be read"),
        ("if c3 then d4 then e5", "cannot be read"),
        ("If c3 then d4. If e5 then f6.", "can be `if c3 then d4 if e5 then f6.` or `if c3 then d4; if e5 then f6.`"),
        ("if", "cannot be read"),
        ("if then d4", "cannot be read"),
        ("if c3 then d4 if", "cannot be read"),
    ],
)
def test_a_line_that_is_none_or_has_several_readings_is_refused(typed, why):
    with pytest.raises(Illegal) as refused:
        read(typed)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("text", "lines", "rest"),
    [
        ("if c3 then d4\nif e5 then f6\n\nGood luck!", 2, "Good luck!"),
        ("- if c3 then\n  d4\n- if e5\n  then f6\nHello", 2, "Hello"),
        ("if c3 then d4; if e5 then f6", 2, ""),
        ("if c3 then d4 if e5\nthen f6", 1, ""),
        ("if any -> d4 if any ->\nf6\nHello", 1, "Hello"),
        ("if any - d4 if any -\nf6\nif c3 - d4", 2, ""),
        ("if c3 then d4 and\nif e5 then f6\nand if g7 then h8", 1, ""),
        ("if c3 then d4; if\ne5 then f6", 2, ""),
        ("if c3 then d4\nAnd if you like, e5.", 1, "And if you like, e5."),
        ("1. if\nc3 then d4\nand if\ne5 then f6", 1, ""),
        ("Good; if you like, go on", 0, "Good; if you like, go on"),
        ("if c3 then d4\n\nif e5 then f6\n\nThen it is over.", 2, "Then it is over."),
        ("Hello\nif c3 then d4", 0, "Hello\nif c3 then d4"),
        ("If so, then I resign.", 0, "If so, then I resign."),
        ("If they play c3, then d4", 1, ""),
        ("if cc then d4\nHello", 1, "Hello"),
        ("", 0, ""),
    ],
)
def test_lines_stand_above_the_comment_and_may_be_broken(text, lines, rest):
    found, below = split_plan(text)
    assert ([len(read(line)) > 0 for line in found], below) == ([True] * lines, rest)


def test_a_long_line_that_is_broken_within_a_step_is_one_also_where_it_is_broken_in_front_of_if():
    line = " ".join(f"if a{step} then b{step}" for step in range(20))
    for width in range(62, 80):
        wrapped = fill(line, width)
        assert split_plan(f"{wrapped}\nif c3 then d4\n\nHello") == (
            [wrapped.replace("\n", " "), "if c3 then d4"],
            "Hello",
        )


def test_an_answer_that_is_broken_behind_a_comma_goes_on_below():
    assert split_plan("if c3 then d4, e5, \n f6\nHello") == (["if c3 then d4, e5,   f6"], "Hello")
    assert read("if c3 then d4, e5,   f6") == (Conditional("c3", "d4,e5,f6"),)
    assert split_plan("if c3 then d4,\nGood luck!") == (["if c3 then d4,"], "Good luck!")


def test_a_comment_is_no_part_of_the_line_above_it_which_has_a_move_too_many():
    assert split_plan("if c3 then d4 e5\nHello") == (["if c3 then d4 e5"], "Hello")
    assert split_plan("if c3 then d4; if you like, e5\nHello") == (["if c3 then d4  if you like, e5"], "Hello")


def test_many_semicolons_are_soon_read():
    with limited(1):
        assert split_plan("if c3 then d4\n" + ";" * 50_000)[1]


def plan(*typed):
    return plan_lines.merged([], map(read, typed))


def test_lines_that_begin_alike_are_one_tree():
    both = plan("if c3 then d4 if e5 then f6", "if c3 then d4 if any then g7", "if any then a1")
    assert plan_lines.tree(both) == ["if c3 then d4", "  if e5 then f6", "  if any then g7", "if any then a1"]
    assert plan_lines.branches("\n".join(map(plan_lines.text_of_branch, both))) == both


def test_two_answers_to_one_move_are_refused_naming_both():
    with pytest.raises(Illegal, match="`if c3 then d4 if e5` is answered by f6 and by f7"):
        plan("if c3 then d4 if e5 then f6", "if c3 then d4 if e5 then f7")


def test_a_later_line_replaces_what_it_names_again_and_leaves_the_rest():
    before = plan("if c3 then d4 if e5 then f6", "if a1 then b2")
    assert plan_lines.merged(before, [read("if c3 then d5")]) == plan("if a1 then b2", "if c3 then d5")
    assert plan_lines.merged(before, [read("if a1 then b2 if b1 then b3")]) == plan(
        "if c3 then d4 if e5 then f6", "if a1 then b2 if b1 then b3"
    )
    assert plan_lines.merged(before, [read("if c3 then d4")]) == before


def test_a_move_that_is_named_goes_before_any():
    both = plan("if any then a1", "if c3 then d4 if e5 then f6")
    assert plan_lines.reply_to(both, "c3") == ("d4", [(Conditional("e5", "f6"),)])
    assert plan_lines.reply_to(both, "c4") == ("a1", [])
    assert plan_lines.reply_to(plan("if c3 then d4"), "c4") == ("", [])


def test_a_plan_has_at_most_200_moves_of_its_owner_and_20_in_a_row():
    cells = [f"a{number}" for number in range(201)]
    assert len(plan(*(f"if {cell} then b1" for cell in cells[:200]))) == 200
    with pytest.raises(Illegal, match="at most 200 of your moves"):
        plan(*(f"if {cell} then b1" for cell in cells))
    assert len(plan(" ".join(["if a1 then b1"] * 20))) == 1
    with pytest.raises(Illegal, match="at most 20 of your moves deep"):
        plan(" ".join(["if a1 then b1"] * 21))


# What becomes of them; queued moves, votes and undo: see test_contract_moves; robots: test_residents


@pytest.mark.parametrize(
    "story",
    rules("""
a plan is kept in canonical texts, however its moves are typed
    challenge alice bob / plays a1 b4 c3 d4 / bob: plan if C4 , A2 then D5 ,b5 / plan bob if a2,c4 then b5,d5 / \
alice: move a2,c4 / played a1 b4 c3 d4 a2,c4 (b5,d5)
a plan is played while its owner is on vacation
    challenge alice bob / plays c3 b1 a1 / alice: plan if e5 then a5 if d1 then a3 / \
alice: vacation ME 2026-11-20 2026-11-20 / bob: move e5 / played c3 b1 a1 e5 (a5)
who forfeits by the time of a move does so whatever the other has planned
    challenge alice bob / plays c3 b1 a1 / alice: plan if e5 then a5 / 21 days / clean up / winner alice / plan / \
played c3 b1 a1 (Forfeit)
who plans when the total time of the opponent is up has won
    challenge --totaltime=1 alice bob / plays c3 b1 a1 / 3 days / alice: plan if e5 then a5 / winner alice / plan / \
sender reads bob had used up their time
a resignation of the opponent triggers no plan
    challenge alice bob / plays c3 b1 a1 / alice: plan if e5 then a5 / alice: queue d5 / bob: resign / \
played c3 b1 a1 Resign / winner alice / plan / alice reads no plan
an answer that swaps sides can be planned, and its owner goes on
    challenge spora -size=5 -pie alice bob / bob: plan if komi=0 then black / bob reads if komi=0 then black / \
alice: move komi=0 / played komi=0 (black) / turn bob / seats 1 0
    """),
)
def test_what_becomes_of_a_plan(four, story):
    follow(four, story)


def test_a_planned_move_takes_no_time(four):
    begun = "challenge --totaltime=3 alice bob / plays c3 b1 a1 / alice: plan if e5 then a5 if d1 then a3 / 2 days"
    follow(four, f"{begun} / bob: move e5 / bob: move d1 / played c3 b1 a1 e5 (a5) d1 (a3)")
    assert four.at().used(four.time) == [0, 2 * 86400]


def test_a_condition_that_many_lines_share_is_tried_once(board, monkeypatch):
    lines = [f"if any then a1 if c3 then c1 if {cell} then e1" for cell in ("g1", "g3", "g5")]
    board.say("symple plan 101 bob bob-secret", "\n".join(lines))
    tried = []
    monkeypatch.setattr(typed_moves, "parsed", lambda point, text: tried.append(text) or parsed(point, text))
    board.say("symple move 101 alice alice-secret i9")
    assert tried == ["i9", "a1", "c3"]
