"""Games at random beside references: the rules once more, plain and slow. Spiro's is in test_spiro."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import SKIP, sprout

from helpers.examples import attempt, examples, random_game
from helpers.reference import papagra as reference_papagra
from helpers.reference import spora as reference_spora
from helpers.reference import sprout as reference_sprout
from helpers.reference import symple as reference_symple

REFERENCES = {
    "papagra": reference_papagra.Papagra,
    "spora": reference_spora.Reference,
    "sprout": reference_sprout.Reference,
    "symple": reference_symple.Position,
}
PENALTIES = st.sampled_from(range(2, 21, 2))
BOARDS = {
    "papagra": {"size": st.integers(3, 10), "removals": st.sampled_from([0, 1, 3, 999])},
    "spora": {"size": st.integers(5, 7), "pie": st.booleans()},
    "sprout": {"board": st.just("limping-3")},
    "symple": {"size": st.just(5), "penalty": PENALTIES},
}
LARGE = {
    "spora": {"size": st.integers(8, 25)},
    "sprout": {"board": st.sampled_from(sprout.BOARDS)},
    "symple": {"size": st.sampled_from(range(7, 26, 2)), "penalty": PENALTIES},
}
SEEDS = st.integers(0, 10**9)


def part(name, state, rng):
    """What can be a part of a turn, and often is."""
    own = [cell for cell, stone in state.view()["cells"].items() if stone[0].lower() == state.sides[state.turn][0]]
    likely = state.board.names(state.growth_points) if name == "symple" else own

    def cell():
        return rng.choice(likely if likely and rng.random() < 0.5 else list(state.board.bit))

    if name == "papagra":
        return rng.choice([f"+{cell()}", cell(), "".join(f"-{cell()}" for _ in range(rng.randint(1, 3)))])
    if name == "spora":
        return cell() + rng.choice(["", ":2", ":4", "@" + "".join(rng.choices("nesw", k=rng.randint(1, 4)))])
    return rng.choice(["", "x"]) + cell() if name == "sprout" else cell()


def near_to(name, state, move, rng):
    """A turn and texts that are near to it: in another order, with a part less, another one, or one more."""
    parts = move.split(",")
    at = rng.randrange(len(parts))
    yield move
    yield ",".join(rng.sample(parts, len(parts)))
    yield ",".join(parts[:at] + parts[at + 1 :]) or part(name, state, rng)
    for _ in range(3):
        yield ",".join([*parts[:at], part(name, state, rng), *parts[at + 1 :]])
        yield ",".join([*parts, part(name, state, rng)])
        yield ",".join(part(name, state, rng) for _ in range(rng.randint(1, 3)))


def beside(name, board, seed, most):
    """A random game on such a board in step with the reference: each position and the reference before a turn."""
    reference = REFERENCES[name](**board)
    for state, move in random_game(games.load(name), board, seed, most):
        assert state.view() == reference.view()
        if move:
            yield state, reference, move
            reference.play(move)


def check_game(name, board, seed, most, read):
    """Play a random game beside the reference, and compare how both read texts, in that part of the positions."""
    rng = Random(seed)
    for state, reference, move in beside(name, board, seed, most):
        assert state.must_skip == (move == SKIP) == reference.must_skip()
        for text in near_to(name, state, move, rng) if move != SKIP and rng.random() < read else ():
            written = rng.choice([",", " , "]).join(text.split(","))
            assert attempt(state, rng.choice([written, written.upper()]))[0] == reference.canonical(text), text


@pytest.mark.parametrize("name", BOARDS)
@examples(50)
@given(st.data(), SEEDS)
def test_a_game_goes_as_in_the_reference_which_reads_the_same_turns(name, data, seed):
    check_game(name, data.draw(st.fixed_dictionaries(BOARDS[name])), seed, 80, 1)


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
@examples(30)
@given(st.data(), SEEDS)
def test_a_game_on_a_large_board_goes_as_in_the_reference_which_reads_the_same_turns(name, data, seed):
    check_game(name, data.draw(st.fixed_dictionaries(LARGE[name])), seed, 60, 0.2)


@pytest.mark.parametrize(
    ("name", "board", "most", "tried"),
    [
        ("sprout", {"board": "limping-3"}, 40, 0.4),
        ("symple", {"size": 5}, 12, 0.3),
        pytest.param("papagra", {"size": 3, "removals": 0}, 20, 0.1, marks=pytest.mark.long),
        ("papagra", {"size": 3, "removals": 2}, 20, 0.1),
    ],
)
@examples(20)
@given(seed=SEEDS)
def test_the_turns_that_are_listed_are_all_that_the_reference_finds_by_trying(name, board, most, tried, seed):
    rng = Random(seed)
    for state, reference, _ in beside(name, board, seed, most):
        if rng.random() < tried and reference.has_few_turns():
            listed = list(state.moves())
            assert len(listed) == len(set(listed))
            assert set(listed) == reference.moves()
