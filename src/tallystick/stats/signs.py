r"""Stop as soon as it is clear: the e-process of discordant signs, and the exact law of when it
stops.

Two models are compared on items in random order; only items on which exactly one is right speak, as
a sign. After :math:`b` signs for the first and :math:`c` for the second the likelihood ratio of
"some lean π, uniform on [0, 1]" against a fair coin is

.. math:: E = \int_0^1 \frac{π^b (1-π)^c}{2^{-(b+c)}}\,dπ = B(b+1, c+1)\, 2^{b+c}   \tag{E1}

and by Ville's inequality :math:`P(\sup E \ge 1/α) \le α` under equal models, however often one
looks. Everything is kept in logarithms: :math:`2^{5000}` is no float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, lgamma, log

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.errors import InputError
from tallystick.stats.exact_tails import Floats as BinomialFloats
from tallystick.stats.exact_tails import (
    binomial_up_to,
    binomial_window,
    closed_unit,
    open_unit,
    positive,
    smallest,
    whole,
)

LONGEST = 300_000
"""Signs beyond which the exact law is refused: it costs the square root of this for every sign."""


def sign_log_e(first: npt.ArrayLike, second: npt.ArrayLike) -> BinomialFloats:
    """Return log E of (E1) for counts of signs; every shape that broadcasts.

    >>> round(float(sign_log_e(12, 1)), 3)
    3.807
    """
    whole(0, first=first, second=second)
    b, c = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    return np.asarray(special.betaln(b + 1, c + 1) + (b + c) * log(2))


def sign_stopping(
    lean: float, horizon: int, *, alpha: float = 0.05, until: float = 1.0
) -> BinomialFloats:
    r"""Return the exact probability that the test has stopped by the m-th sign, m = 0, 1, …, when
    each sign favours the first side with probability *lean*.

    Forward recursion over the runs that still go on, which lie in a band of width :math:`O(\sqrt{m
    \ln m})` around m/2. With lean 1/2 the last entry is the exact probability of a false stop. The
    law ends at the *horizon*, or earlier where the share *until* of all runs has stopped.

    >>> bool(sign_stopping(0.5, 5000)[-1] < 0.05)
    True
    >>> int(np.searchsorted(sign_stopping(0.7, 5000), 0.8))  # 80% of all runs have stopped by then
    83
    """
    open_unit(alpha=alpha)
    whole(1, horizon=horizon)
    closed_unit(lean=lean)
    stopped = np.zeros(horizon + 1)
    # probability of b = lowest, lowest + 1, … together with still going on
    going, lowest = np.ones(1), 0
    cut = -1  # the run stops if either count is at most this; it never falls as m grows
    for m in range(1, horizon + 1):
        after = np.zeros(going.size + 1)
        after[:-1] = going * (1 - lean)
        after[1:] += going * lean
        while _log_e(cut + 1, m - cut - 1) >= log(1 / alpha):
            cut += 1
        going = after[cut + 1 - lowest : m - cut - lowest]
        lowest = cut + 1
        stopped[m] = 1 - going.sum()
        if stopped[m] >= until:
            break
    return np.maximum.accumulate(np.clip(stopped[: m + 1], 0.0, 1.0))


def sequential_items(
    difference: float, disagreement: float, *, alpha: float = 0.05, power: float = 0.8
) -> tuple[int, int]:
    r"""Return the items by which the sign test has stopped with this *power*, and the items it
    needs on average.

    Exact: the law of :func:`sign_stopping` at :math:`π = (1 + ε/d)/2` over the binomial number of
    signs among n items, and Wald's identity for the mean (over runs that may go on to where all but
    1 in 1000 have stopped).

    >>> sequential_items(0.02, 0.02), sequential_items(0.02, 0.1)
    ((511, 400), (3762, 2412))
    """
    positive(difference=difference)
    open_unit(power=power, alpha=alpha)
    goal = max(0.999, (1 + power) / 2)
    stopped = sign_stopping((1 + difference / disagreement) / 2, LONGEST, alpha=alpha, until=goal)
    if stopped[-1] < goal:
        raise InputError(
            f"a lead of {difference / disagreement:.3g} on disagreements takes over {LONGEST:,}"
            " signs: plan a test of a fixed number of items"
        )

    def stopped_by(n: int) -> float:
        signs, mass = binomial_window(n, disagreement)
        return float(mass @ stopped[np.minimum(signs.astype(int), len(stopped) - 1)])

    mean = float(np.sum(1 - stopped[:-1]))  # signs until it stops
    return smallest(lambda n: stopped_by(n) >= power), ceil(mean / disagreement)


def _log_e(b: int, c: int) -> float:
    """(E1) for one pair of counts, without the weight of an array."""
    return lgamma(b + 1) + lgamma(c + 1) - lgamma(b + c + 2) + (b + c) * log(2)


# Which of two scores is larger, item by item: counts and the exact sign test.


Floats = npt.NDArray[np.float64]


def sign_p_value(larger: int, smaller: int) -> float:
    """Return the exact two-sided sign test of *larger* against *smaller*.

    Examples
    --------
    >>> sign_p_value(0, 0), round(sign_p_value(30, 20), 4)
    (1.0, 0.2026)
    """
    whole(0, larger=larger, smaller=smaller)
    tail = float(binomial_up_to(min(larger, smaller), larger + smaller, 0.5))
    return min(1.0, 2 * tail)


# Which order of several systems is shown: tests of every direction, stepped down.
#
# Each ordered pair has a hypothesis, "a is not better than b". A claim is a rejection, and it is
# wrong if a is worse than b or as good. Holm's rule on the pairs counts each pair once, so it does
# not protect the *direction* of a later claim. Here directions are counted, and logic says how many
# of them can still be true.


def step_down_order(p_values: npt.ArrayLike) -> Floats:
    r"""Adjust the p-values of all directions so that no wrong order is claimed at level α.

    Of k systems there are :math:`k(k-1)` directions. A pair that is tied makes both of its
    hypotheses true, any other pair one. After claims whose transitive closure orders c pairs at
    least :math:`s = \max(c, k - 1)` pairs are strictly ordered (one system apart from k - 1 that
    are tied is the least), so at most :math:`k(k-1) - s` hypotheses are true:

    .. math:: \tilde p = \max_{\text{earlier and this}}
              \min\bigl(1, \; (k(k-1) - s)\, p\bigr), \qquad s = 0 \text{ before the first claim}
              \tag{M5}

    taken in the order of the p-values. No wrong order is claimed with probability at least
    :math:`1 - \alpha`, whatever the dependence. Let n hypotheses be true. With that probability no
    p-value of theirs is at most :math:`\alpha/n`. The first wrong claim would follow right ones
    only, so it would be compared with :math:`\alpha` over a number of at least n, and it is not
    made. For two systems this is Bonferroni for two directions.

    Parameters
    ----------
    p_values
        k x k: how well "a is not better than b" fits. The diagonal is not looked at.

    Examples
    --------
    >>> step_down_order([[1, 0.001, 0.004], [1, 1, 0.011], [1, 1, 1]]).round(3).tolist()
    [[1.0, 0.006, 0.016], [1.0, 1.0, 0.044], [1.0, 1.0, 1.0]]
    """
    p = np.asarray(p_values, dtype=np.float64)
    closed_unit(p_values=p)
    k = len(p)
    adjusted, above = np.ones((k, k)), np.zeros((k, k), np.bool_)
    apart = [(a, b) for a in range(k) for b in range(k) if a != b]
    reached = 0.0
    for a, b in sorted(apart, key=lambda pair: p[pair]):
        least = max(int(above.sum()), k - 1) if above.any() else 0
        reached = max(reached, min(1.0, (len(apart) - least) * float(p[a, b])))  # (M5)
        adjusted[a, b] = reached
        if above[b, a]:  # the other direction was claimed: from here on nothing is shown
            return adjusted
        # Whoever is at least a is above whoever is at most b.
        over, under = above[:, a].copy(), above[b].copy()
        over[a] = under[b] = True
        above |= np.outer(over, under)
    return adjusted


# From pairs that are separated to ranks, contenders and tiers.
#
# "Not separated" is not transitive (A ~ B, B ~ C, and A beats C), so there are no groups of
# equals.
# If the family-wise error of the pairs is controlled, one statement holds for all competitors at
# once: the true rank of j lies in
#
# .. math:: [1 + \#\text{better}, \; k - \#\text{worse}],   \tag{R1}
#
# counting only competitors that are separated from j.


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """What is known of the order of k competitors, all at once.

    Parameters
    ----------
    low, high
        Ends of the rank interval of each competitor (R1).
    contenders
        Competitors whose rank interval contains 1: each may be the best.
    tiers
        Competitors from best to worst, cut only where *every* one above beats *every* one below.
        Competitors in one tier are not fully separated. That does not make them equal.
    """

    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]
    contenders: tuple[int, ...]
    tiers: tuple[tuple[int, ...], ...]

    def named(self, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return contenders and tiers by name."""
        contenders = tuple(names[j] for j in self.contenders)
        return contenders, tuple(tuple(names[j] for j in tier) for tier in self.tiers)


def ranks(
    first: npt.NDArray[np.intp],
    second: npt.NDArray[np.intp],
    sign: npt.ArrayLike,
    order: npt.ArrayLike,
) -> Ranks:
    """Return rank intervals, contenders and tiers.

    Parameters
    ----------
    first, second
        The two competitors of each pair; every pair occurs once.
    sign
        1 where the first is shown to be better, -1 where the second is, 0 where the two are not
        separated.
    order
        The competitors from best to worst as observed.

    Examples
    --------
    >>> pairs = np.triu_indices(3, 1)
    >>> known = ranks(*pairs, [0, 1, 1], [0, 1, 2])
    >>> known.low.tolist(), known.high.tolist(), known.contenders, known.tiers
    ([1, 1, 3], [2, 2, 3], (0, 1), ((0, 1), (2,)))
    >>> known.named(["a", "b", "c"])
    (('a', 'b'), (('a', 'b'), ('c',)))
    """
    line = np.asarray(order, dtype=np.intp)
    k = line.size
    beats = np.zeros((k, k), bool)
    lead = np.asarray(sign)
    beats[first[lead > 0], second[lead > 0]] = True
    beats[second[lead < 0], first[lead < 0]] = True
    low, high = 1 + beats.sum(axis=0), k - beats.sum(axis=1)  # (R1)

    # For each competitor, in observed order: the last one below that it fails to beat. A cut is
    # allowed where no failure of anyone above reaches below it.
    failed = np.triu(~beats[np.ix_(line, line)], 1)
    last = np.where(failed.any(axis=1), k - 1 - np.argmax(failed[:, ::-1], axis=1), 0)
    reach = np.maximum.accumulate(last)
    cuts = [cut for cut in range(1, k + 1) if cut == k or reach[cut - 1] < cut]

    tiers = [
        tuple(int(j) for j in line[start:cut]) for start, cut in zip([0, *cuts], cuts, strict=False)
    ]
    contenders = tuple(int(j) for j in line if low[j] == 1)
    return Ranks(low.astype(np.int64), high.astype(np.int64), contenders, tuple(tiers))
