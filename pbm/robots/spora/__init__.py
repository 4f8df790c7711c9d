"""How a robot plays Spora: by best-first minimax search (Korf and Chickering 1996) over the values of positions.

When the robot looks at a position, it values a sample of its turns; the position is worth as much as its best turn.
Then the search goes on behind the best turns, with a bonus for those that were rarely looked at, as in UCB1 (Auer,
Cesa-Bianchi and Fischer 2002). So a good-looking turn soon meets its best answer, and its value falls.

The first sample of answers to a turn is small. A turn looks best when its strong answers were not sampled. So the robot
looks at more answers when it comes back to the turn, and at many before it plays it. If one of these refutes the turn,
the robot checks the next best one.

Only what was seen is certain: a turn that wins, and the loss of a side that allows it. Not all turns are looked at, so
a side has lost almost certainly if all its turns that were found lose.
"""

from collections.abc import Sequence
from math import log, sqrt
from operator import attrgetter
from random import Random
from typing import Any, cast

from games import Options, State
from games.spora import SIDES
from pbm.robots.spora.values import KOMI_WORTH, MOST_AT_ROOT, MOST_INSIDE, MOST_WIDENED, Spora, SporaPosition, chance_of
from pbm.robots.thinking import Limit, Thought

FAIR_KOMI = 3
"""With this komi the robot's games against itself are about even: Black won 52 to 62 % of them on sizes 5 to 11."""
ALMOST = 0.994
"""The value of a turn if all answers that were found are certain to lose."""
CURIOSITY = 0.1
"""The constant of the bonus for what was seldom looked at."""
WIDENED_AT = 2
"""The visit to a later position at which more of its turns are looked at."""
CHECK_SHARE = 0.1
"""The part of the time that is kept to look at more answers to the best turns."""
MOST_CHECKED = 8
"""More answers are looked at for at most this many turns; without it, a lost position would check all turns."""


class Branch:
    """A turn, the position after it, and the answers that were looked at."""

    __slots__ = ("after", "answers", "is_settled", "turn", "value", "visits")

    def __init__(self, turn: str, after: SporaPosition, value: float, *, is_settled: bool = False) -> None:
        """Begin with what is known of the position after it."""
        self.turn = turn
        self.after = after
        self.value = value
        self.is_settled = is_settled
        """Whether looking at more answers would not change the value."""
        self.answers: list[Branch] = []
        """The turns after it; none before it is looked at."""
        self.visits = 0

    @property
    def best(self) -> "Branch":
        """The answer that is known to win, or else the one looked at most of those that are not known to lose."""
        return max(self.answers, key=Branch._promise)

    def _promise(self) -> tuple[float, int, float]:
        """What the best answer has most of: certainty, then visits, then value."""
        certainty = 0.5
        if self.is_settled:
            certainty = self.value
        return certainty, self.visits, self.value


class BestFirst:
    """A `Thinker` that looks at positions one by one. It knows the pie, too."""

    def __init__(self, knowledge: Spora) -> None:
        """Search with that knowledge."""
        self.knowledge = knowledge

    def think(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        """The turn that was looked at most, or one that wins for certain. With the pie, the komi or the side."""
        state: Any = states[-1]
        if not state.pie:
            return self._search(states, limit, rng)
        if state.komi is None:
            return Thought(f"komi={FAIR_KOMI}", 0.5)
        excess = state.komi - FAIR_KOMI
        return Thought(SIDES[excess > 0], chance_of(KOMI_WORTH * abs(excess)))

    def _search(self, states: Sequence[State], limit: Limit, rng: Random) -> Thought:
        begun = limit.clock()
        root = Branch("", self.knowledge.root(states), 0.5)
        self._look(root, MOST_AT_ROOT, rng, limit)
        self._value(root)
        kept_seconds = 0.0
        if limit.until is not None:
            kept_seconds = CHECK_SHARE * (limit.until - begun)
        search = limit.earlier(kept_seconds)
        looked = 1
        while not search.is_reached(looked) and not root.is_settled and len(root.answers) > 1:
            self._go_on(root, rng, search)
            looked += 1
            now = limit.clock()
            half = (now - begun) / looked / 2  # to stop too early by half a look is as good as too late
            if search.until is not None and now + half >= search.until:
                break
        chosen = root.best
        if looked > 1:
            chosen = self._choose(root, rng, limit)
        line = [chosen.turn]
        last = chosen
        while last.answers:
            last = last.best
            line.append(last.turn)
        rival = max((branch.value for branch in root.answers if branch is not chosen), default=1.0)
        return Thought(line[0], chosen.value, looked, line, rival)

    def _go_on(self, root: Branch, rng: Random, limit: Limit) -> None:
        """Look at the most promising position that was not looked at yet, and value again all that led to it."""
        path = [root]
        while path[-1].answers:
            branch = path[-1]
            unrest = CURIOSITY * sqrt(log(branch.visits + 1))
            unsettled = [answer for answer in branch.answers if not answer.is_settled]
            path.append(max(unsettled, key=lambda answer: answer.value + unrest / sqrt(answer.visits + 1)))
        self._look(path[-1], MOST_INSIDE, rng, limit)
        if limit.is_time_up:  # the best answer may not have been found
            path[-1].answers.clear()
            return
        for branch in reversed(path):
            if branch.visits == WIDENED_AT and branch is not root:
                self._look(branch, MOST_WIDENED, rng, limit)
            if all(answer.value <= 1 - ALMOST for answer in branch.answers):
                self._look(branch, MOST_AT_ROOT, rng, limit)  # there can be a way out among turns that seemed bad
            self._value(branch)

    def _choose(self, root: Branch, rng: Random, limit: Limit) -> Branch:
        """Choose the turn to play: the one looked at most, unless another one is better after more looks.

        Answers are looked at as if the turn had been played, and then those to the next turn, while that seems better.
        """
        if root.is_settled:
            return root.best
        best: Branch | None = None
        most_looked_at = sorted(root.answers, key=attrgetter("visits", "value"), reverse=True)
        for branch in most_looked_at[:MOST_CHECKED]:
            if limit.is_time_up or (best and best.value >= branch.value):
                break
            if not branch.is_settled:
                self._look(branch, MOST_AT_ROOT, rng, limit)
                self._value(branch)
            if not best or branch.value > best.value:
                best = branch
        self._value(root)
        return best or root.best

    def _look(self, branch: Branch, most: int, rng: Random, limit: Limit) -> None:
        """Value the turns of a position, and add those that are new to its answers."""
        side = self.knowledge.side(branch.after)
        known = {answer.turn for answer in branch.answers}
        for value, turn, after in self.knowledge.valued(branch.after, most, rng, limit):
            if turn in known:
                continue
            outcome = self.knowledge.outcome(after)
            if outcome is None:
                answer = Branch(turn, after, value)
            else:
                answer = Branch(turn, after, abs(side - outcome), is_settled=True)
            branch.answers.append(answer)

    def _value(self, branch: Branch) -> None:
        """A branch is worth to its side what the best answer leaves."""
        branch.visits += 1
        best = max(answer.value for answer in branch.answers)
        if best > 0:
            branch.value = 1 - best
        else:
            branch.value = ALMOST  # nearly certain, because not all turns of the other side are looked at
        branch.is_settled = best >= ALMOST or all(answer.is_settled for answer in branch.answers)


def thinker(options: Options) -> BestFirst:
    """The robot for a board."""
    return BestFirst(Spora(cast("int", options["size"])))
