"""What the games of a match say about who is stronger, and how sure that is."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf, log, log10, sqrt
from typing import NamedTuple

NORMAL_95 = 1.959964
"""95 % of a normal distribution lie within so many standard deviations of its mean."""
RISK = 0.05
"""The probability with which a sequential test may be wrong, for either of its hypotheses."""
BOUND = log((1 - RISK) / RISK)
"""The sequential test is over when its ratio reaches this, or the negative of this (Wald 1945)."""
NEVER_SEEN = 1e-3
"""The count of an outcome that has not occurred; with 0, no ratio could be computed."""


def wilson(points: float, number: int) -> tuple[float, float]:
    """The interval in which the probability to win lies, with 95 %, after a *number* of games. A draw is half a point.

    It is the score interval of Wilson (1927, "Probable inference, the law of succession, and statistical inference").
    Draws make it wider than it need be.
    """
    share = points / number
    square = NORMAL_95**2
    middle = (share + square / (2 * number)) / (1 + square / number)
    half = NORMAL_95 * sqrt(share * (1 - share) / number + square / (4 * number**2)) / (1 + square / number)
    low = middle - half if points else 0  # exactly 0, and exactly 1 for the other
    high = middle + half if points < number else 1
    return low, high


def elo(share: float) -> float:
    """The difference of ratings at which a player is expected to get that share of all points (Elo 1978)."""
    if share in {0, 1}:
        return inf if share else -inf
    return 400 * log10(share / (1 - share))


def expected(difference: float) -> float:
    """The share of all points that a player is expected to get at a difference of ratings."""
    return 1 / (1 + 10 ** (-difference / 400))


def likelihood_ratio(outcomes: Mapping[float, int], low: float, high: float) -> float:
    """How much likelier the outcomes are if a player expects *high* than if they expect *low*, as a logarithm.

    *outcomes* counts, for each share of the points of a pair of games, how many pairs ended so. This is the generalized
    sequential probability ratio test (Van den Bergh, "A practical introduction to the GSPRT"). Each hypothesis is a
    mean, and the likeliest distribution with that mean stands for it. The method of Lagrange finds the maximum.
    """
    counts = {share: max(count, NEVER_SEEN) for share, count in outcomes.items()}
    total = sum(counts.values())
    first, second = (_multiplier(counts, total, mean) for mean in (low, high))
    return sum(
        count * log((1 + first * (share - low)) / (1 + second * (share - high))) for share, count in counts.items()
    )


def _multiplier(counts: Mapping[float, float], total: float, mean: float) -> float:
    """The t for which the probabilities count / total / (1 + t * (share - mean)) have that mean, by bisection."""
    low, high = -1 / (max(counts) - mean), 1 / (mean - min(counts))
    for _ in range(100):
        middle = (low + high) / 2
        excess = sum(count * (share - mean) / (1 + middle * (share - mean)) for share, count in counts.items()) / total
        low, high = (middle, high) if excess > 0 else (low, middle)
    return (low + high) / 2


class Decision(NamedTuple):
    """What a sequential test says of two differences of ratings."""

    ratio: float
    """How much likelier the second difference is, as a logarithm."""
    accepted: float | None
    """The difference that is likely enough; None if there is none yet."""


def decision(hypotheses: tuple[float, float], points: Iterable[float]) -> Decision:
    """The decision between two *hypotheses* by the *points* of the first player in each pair of games, from 0 to 2."""
    shares = Counter(both / 2 for both in points)
    low, high = map(expected, hypotheses)
    ratio = likelihood_ratio({share: shares[share] for share in (0, 0.25, 0.5, 0.75, 1)}, low, high)
    if abs(ratio) < BOUND:
        return Decision(ratio, None)
    return Decision(ratio, hypotheses[1] if ratio > 0 else hypotheses[0])
