"""Recall, F1 and AUC of a classifier, from few labels and weak votes.

The classifier's prediction h and the votes' consensus are known on every row, the truth on few.
For the class c the rows fall into four cells: (h = c?) x (consensus = c?), in the order yes-yes,
yes-no, no-yes, no-no. In cell s there are :math:`N_s` rows, :math:`k_s` labels and :math:`x_s` of
class c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import (
    PSEUDO,
    Population,
    check_population,
    effective_labels,
    fill_unlabelled,
)
from tallystick.stats.bets import crossing
from tallystick.stats.exact_tails import one_per, open_unit
from tallystick.stats.intervals import Floats, Vector, as_counts
from tallystick.stats.pairs import accuracy_intervals

METHOD = "four-cell adverse likelihood"
_SCORE = "adverse score interval"


@dataclass(frozen=True, kw_only=True)
class RatioEstimate:
    """A ratio from labels and votes.

    Parameters
    ----------
    estimate
        The number, or why there is none.
    interval
        Its interval.
    worth
        How many labels alone would give an interval as narrow; NaN if it was not asked for.
    hits
        How many rows are of the class, as estimated.
    """

    estimate: float | Unknown
    interval: Interval
    worth: float = math.nan
    hits: float = math.nan

    @property
    def number(self) -> float:
        """The estimate, NaN where there is none."""
        return math.nan if isinstance(self.estimate, Unknown) else self.estimate

    def __str__(self) -> str:
        number = self.estimate if isinstance(self.estimate, Unknown) else f"{self.estimate:.4f}"
        return f"{number} {self.interval}"


Ratio: TypeAlias = Literal["recall", "f1"]

PREDICTED = np.array([True, True, False, False])
"""Which of the four cells have h = c."""
UNLABELLED = Unknown("no label is of this class")


def adverse_ratio(
    sizes: Vector, labelled: Vector, hits: Vector, *, measure: Ratio, alpha: float = 0.05
) -> RatioEstimate:
    """Estimate one recall or F1 as :func:`adverse_ratios` does, with what its labels are worth.

    Its worth compares with the same interval without the consensus, which still knows h on every
    row.

    Examples
    --------
    >>> cells = [200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2]
    >>> print(adverse_ratio(*cells, measure="recall"))
    0.8214 [0.698, 0.917] (95%, approximate)
    >>> print(adverse_ratio(*cells, measure="f1"))
    0.7931 [0.679, 0.877] (95%, approximate)
    """
    n, k, x = _checked(sizes, labelled, hits)
    (found,) = adverse_ratios(n, k, x, measure=measure, alpha=alpha)
    # Without the consensus there is one cell with h = c and one without.
    n, k, x = (part.reshape(1, 2, 2).sum(axis=2) for part in (n, k, x))
    _, low, high, _ = _finished(n, k, x, PREDICTED[::2], measure, alpha)
    width = found.interval.width
    ratio = float(high[0] - low[0]) / width if width > 0 else 1.0
    return replace(found, worth=float(k.sum()) * ratio**2)


def adverse_ratios(
    sizes: Vector, labelled: Vector, hits: Vector, *, measure: Ratio, alpha: float = 0.05
) -> list[RatioEstimate]:
    r"""Estimate recalls or F1 for classes c on these rows, from few labels; one per row of counts.

    Recall and F1 are ratios :math:`\theta = \sum_s W_s A_s p_s / (\sum_s W_s p_s + C)`, :math:`p_s`
    being the share of class c in cell s; for recall A = 1 where h = c, otherwise 0, and C = 0;
    for F1 A = 2 there, and C is the share of rows with h = c. For the lower end cells with h = c get :math:`a_s = .35 \sqrt{W_s}` labels "not c" and the others
    :math:`a_s` labels "c"; for the upper end the reverse. With :math:`k^*_s` and :math:`\ell` of
    (AL1), a value θ is tested by

    .. math:: \omega_s = W_s (A_s - \theta), \qquad \sum_s \omega_s p_s(\mu) = \theta C, \qquad
              \mu \omega_s p_s^2 - (n_s + \mu \omega_s) p_s + s_s = 0,   \tag{AL15}

    :math:`\mu > 0` for the lower end and :math:`\mu < 0` for the upper; the end is where
    :math:`2(\ell(\tilde p) - \ell(p(\mu))) = z^2`. If more than half of the rows are labelled, both
    ends are widened by

    .. math:: \tfrac12 \max_s |A_s - \hat\theta| / (N D), \qquad
              D = \sum_s W_s \hat p_s + C.   \tag{AL16}

    They are always clipped to what logic allows. Approximate.

    Parameters
    ----------
    sizes, labelled, hits
        :math:`N_s, k_s, x_s` in the four cells: (h = c and consensus = c), (h = c only),
        (consensus = c only), neither.
    measure
        ``recall`` or ``f1``.
    alpha
        One minus the level.

    Returns
    -------
    list[RatioEstimate]
        Without an estimate, and with [0, 1], where no label is of class c.
    """
    open_unit(alpha=alpha)
    n, k, x = _checked(sizes, labelled, hits)
    estimate, low, high, found = _finished(n, k, x, PREDICTED, measure, alpha)
    return [
        RatioEstimate(
            estimate=UNLABELLED if math.isnan(number) else number,
            interval=Interval(least, most, 1 - alpha, "approximate", None, METHOD),
            hits=all_hits,
        )
        for number, least, most, all_hits in np.stack([estimate, low, high, found], axis=1).tolist()
    ]


def recalls(
    sizes: Vector,
    labelled: Vector,
    hits: Vector,
    *,
    alpha: float = 0.05,
    population: Population = "these",
) -> list[RatioEstimate]:
    """Estimate which share of a class is found, one per row of counts.

    Of these rows by :func:`adverse_ratios`. Of new rows by the labelled ones of the class alone,
    each of which is found or not: the rule of few labels where everything is labelled.

    Examples
    --------
    >>> cells = [200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2]
    >>> print(*recalls(*cells), *recalls(*cells, population="new"))
    0.8214 [0.698, 0.917] (95%, approximate) 0.8214 [0.643, 0.936] (95%, approximate)
    """
    if check_population(population) == "these":
        return adverse_ratios(sizes, labelled, hits, measure="recall", alpha=alpha)
    _, _, x = _checked(sizes, labelled, hits)
    found, every = x[:, PREDICTED].sum(axis=1), x.sum(axis=1)
    ends = accuracy_intervals(found, np.maximum(every, 1.0), alpha=alpha)
    nothing = RatioEstimate(estimate=UNLABELLED, interval=replace(ends[0], low=0.0, high=1.0))
    return [
        RatioEstimate(estimate=float(right / of), interval=interval, hits=float(of))
        if of
        else nothing
        for right, of, interval in zip(found, every, ends, strict=True)
    ]


def _checked(sizes: Vector, labelled: Vector, hits: Vector) -> tuple[Floats, Floats, Floats]:
    x, k = as_counts(hits, labelled, names=("hits", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    n, k, x = np.atleast_2d(n, k, x)
    one_per("cell", 4, sizes=n[0], hits=x[0])
    return n, k, x


def _finished(
    n: Floats, k: Floats, x: Floats, on: NDArray[np.bool_], measure: Ratio, alpha: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the estimates, NaN where there are none, both ends, widened and clipped, and about how
    many rows are of the class.
    """
    from scipy.special import ndtri

    rows = n.sum(axis=1)
    factor = np.where(on, 2.0 if measure == "f1" else 1.0, 0.0)
    weights = n / np.maximum(rows, 1.0)[:, None]
    constant = weights[:, on].sum(axis=1) * (measure == "f1")
    share = np.divide(x, k, out=np.zeros_like(x), where=k > 0)
    filled = np.nan_to_num(fill_unlabelled(n, share, k))
    scale = (weights * filled).sum(axis=1) + constant
    known = (k.sum(axis=1) > 0) & (scale > 0)
    estimate = (weights * factor * filled).sum(axis=1) / np.where(known, scale, 1.0)

    # Labels "c" go where they hurt: outside h = c for the lower end, inside for the upper (AL15).
    star, adverse = effective_labels(n, k, k == n), PSEUDO * np.sqrt(weights)
    ends = ratio_ends(
        np.concatenate([weights, weights]),
        factor,
        np.concatenate([star * share + adverse * at for at in (~on, on)]),
        np.concatenate([star + adverse] * 2),
        np.tile(constant, 2),
        float(ndtri(1 - alpha / 2)) ** 2,
        np.repeat([False, True], len(n)),
    )
    gross = np.max(np.abs(factor - estimate[:, None]) * (n > 0), axis=1)
    gross *= 0.5 * (2 * k.sum(axis=1) > rows) / np.maximum(rows * scale, 1e-300)  # (AL16)
    low, high = ends[: len(n)] - gross, ends[len(n) :] + gross

    # What logic allows: the unlabelled rows inside and outside h = c may be of the class, or not.
    found, missed, left = x[:, on].sum(axis=1), x[:, ~on].sum(axis=1), n - k
    inside, outside = left[:, on].sum(axis=1), left[:, ~on].sum(axis=1)
    base = n[:, on].sum(axis=1) * (measure == "f1") + found + missed
    ways = ((found, base + outside, 0.0), (found + inside, base + inside, 1.0))
    least, most = (
        np.where(below > 0, factor.max() * top / np.where(below > 0, below, 1.0), none)
        for top, below, none in ways
    )
    complete = left.sum(axis=1) == 0  # every row is labelled: the number itself
    low, high, estimate = (np.clip(part, least, most) for part in (low, high, estimate))
    low, high = (
        np.where(known, np.where(complete, estimate, end), none)
        for end, none in ((np.minimum(low, estimate), 0.0), (np.maximum(high, estimate), 1.0))
    )
    estimate = np.where(known, estimate, np.nan)

    # Nothing is predicted to be of the class, so nothing is found; or everything is.
    never, always = ((n[:, side].sum(axis=1) == 0) & (rows > 0) for side in (on, ~on))
    for where, number in ((always & (measure == "recall"), 1.0), (never, 0.0)):
        estimate, low, high = (np.where(where, number, part) for part in (estimate, low, high))
    return estimate, low, high, (n * filled).sum(axis=1)


# Ends of a ratio of two sums over cells: recall and F1.


LOWEST, HIGHEST = -10.0, 25.0
"""Where ln |μ| is looked for."""


def rates(tilt: Floats, seen: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return the root p in [0, 1] of tilt p² - (n + tilt) p + s = 0, and the root of its
    discriminant; *tilt* is μω, of either sign.
    """
    slope = size + tilt
    # slope² - 4 tilt s, written so that it cannot turn negative when s is at most n.
    square = np.where(
        tilt >= 0.0, (tilt - size) ** 2 + 4.0 * tilt * (size - seen), slope**2 - 4.0 * tilt * seen
    )
    root = np.sqrt(square)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(slope >= 0.0, 2.0 * seen / (slope + root), (slope - root) / (2.0 * tilt))
    return np.nan_to_num(p), root


def ratio_ends(
    weight: Floats,
    factor: Floats,
    seen: Floats,
    size: Floats,
    constant: Floats,
    bar: float,
    upper: NDArray[np.bool_],
) -> Floats:
    r"""Return for each row the ratio θ, on one side of its estimate, at which the statistic (AL15)
    is the bar.

    The statistic D falls towards the estimate, with slope
    :math:`dD/dθ = -2 μ (\sum_s W_s p_s + C)`: the multiplier μ is what the constraint costs.
    """
    # A cell without rows weighs nothing; one half there keeps its rate and its likelihood as they
    # are.
    seen, size = np.where(size > 0, seen, 0.5), np.where(size > 0, size, 1.0)
    missed, sign = size - seen, np.where(upper, -1.0, 1.0)
    below = constant + (weight * seen / size).sum(axis=1)
    possible = below > 0.0  # otherwise no label of the class, not even an adverse one
    inside = (weight * factor * seen / size).sum(axis=1) / np.where(possible, below, 1.0)
    outside = np.where(upper, 1.0, 0.0)
    last = [np.zeros(len(weight))]

    def lost(theta: Floats) -> tuple[Floats, Floats]:
        """Return 2(ℓ(p̃) - ℓ(p(μ))) at the ratios θ, and how fast it changes."""
        omega = weight * (factor - theta[:, None])

        # μ solves Σ ω p(μ) = θ C. At μ = 0 the sum is on the far side of θ C.
        def excess(t: Floats) -> tuple[Floats, Floats]:
            tilt = (sign * np.exp(t))[:, None] * omega
            p, root = rates(tilt, seen, size)
            slope = (sign[:, None] * omega * tilt * p * (1.0 - p) / root).sum(axis=1)
            return sign * (theta * constant - (omega * p).sum(axis=1)), slope

        last[0] = crossing(excess, last[0], LOWEST, HIGHEST)
        mu = sign * np.exp(last[0])
        p, _ = rates(mu[:, None] * omega, seen, size)
        # A rate of 0 or 1 with labels against it has likelihood 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(seen > 0.0, seen * np.log(seen / size / p), 0.0)
            parts += np.where(missed > 0.0, missed * np.log(missed / size / (1.0 - p)), 0.0)
        return 2.0 * parts.sum(axis=1), -2.0 * mu * ((weight * p).sum(axis=1) + constant)

    # Far from the estimate the statistic is large; between there and the estimate it crosses.
    def rising(at: Floats) -> tuple[Floats, Floats]:
        width = outside - inside
        statistic, slope = lost(inside + at * width)
        root = np.sqrt(np.maximum(statistic, 0.0))  # nearly a straight line
        return root - np.sqrt(bar), slope * width / (2.0 * root)

    at = crossing(rising, np.full(len(weight), 0.5), 0.0, 1.0)
    there = possible & (inside != outside)
    return np.where(there, inside + at * (outside - inside), np.where(possible, outside, upper))


# The AUC of a score, from few labels: a test-based interval that cannot collapse.


AUC_PSEUDO = 0.2
"""Labels added to each class that pull the centre of an end away from it."""
HALVINGS = 52


def adverse_auc(
    positives: Vector, negatives: Vector, *, alpha: float = 0.05
) -> tuple[float | Unknown, Interval]:
    r"""Estimate the AUC of a score from few labelled items.

    The centre of the lower end is :math:`\hat\theta f`, that of the upper end
    :math:`1 - (1 - \hat\theta) f`, :math:`f = n_1 n_0/((n_1 + .2)(n_0 + .2))`. The ends solve

    .. math:: |\text{centre} - t| = z \sqrt{\max\bigl(V_{HM}(t),\ V_{DeLong},\
              \min(V_A, t (1 - t)/\min(n_1, n_0))\bigr)},   \tag{AL18}

    .. math:: V_{HM}(t) = \frac{t (1 - t)}{n_1 n_0} \Bigl(1 + (n_1 - 1) \frac{1 - t}{2 - t}
              + (n_0 - 1) \frac{t}{1 + t}\Bigr), \qquad
              V_A = \frac{S_1 + e^2}{n_1^2} + \frac{S_0 + e^2}{n_0^2},

    S being the squared deviations of the placements in each class and
    :math:`e = \max(\hat\theta, 1 - \hat\theta)`. Where no t solves it, the end is 0 or 1. Votes are
    not used. Approximate.

    Parameters
    ----------
    positives, negatives
        Scores of the labelled items of either class.
    alpha
        One minus the level.

    Returns
    -------
    estimate, interval
        Without an estimate, and with [0, 1], if a class has no label.

    Examples
    --------
    >>> print(*adverse_auc([0.9, 0.8, 0.7, 0.3], [0.6, 0.5, 0.4, 0.2, 0.1, 0.05]))
    0.875 [0.342, 1.000] (95%, approximate)
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    one, zero = (np.asarray(part, dtype=np.float64) for part in (positives, negatives))
    n1, n0 = one.size, zero.size
    if not (n1 and n0):
        none = Interval(0.0, 1.0, 1 - alpha, "approximate", None, _SCORE)
        return Unknown("one of the two classes has no label"), none

    # A placement is the share of the other class that an item beats; for a negative, that beats it.
    above, below = _beaten(one, zero), 1 - _beaten(zero, one)
    estimate = float(above.mean())
    s1, s0 = (float(((part - estimate) ** 2).sum()) for part in (above, below))
    delong = sum(s / (n * (n - 1)) for s, n in ((s1, n1), (s0, n0)) if n > 1)
    farthest = max(estimate, 1 - estimate) ** 2
    lumps = (s1 + farthest) / n1**2 + (s0 + farthest) / n0**2
    z = float(ndtri(1 - alpha / 2))

    def variance(t: float) -> float:
        """Return what stands under the root of (AL18) at the AUC t."""
        hanley = 1 + (n1 - 1) * (1 - t) / (2 - t) + (n0 - 1) * t / (1 + t)
        hanley *= t * (1 - t) / (n1 * n0)
        return max(hanley, delong, min(lumps, t * (1 - t) / min(n1, n0)))

    def reach(centre: float, mirrored: bool) -> float:
        """Return the largest t that is too small, by halving; the mirror image is the upper end."""
        top = centre * n1 * n0 / ((n1 + AUC_PSEUDO) * (n0 + AUC_PSEUDO))

        def out(t: float) -> bool:
            return top - t > z * float(np.sqrt(variance(1 - t if mirrored else t)))

        low, high = 0.0, top if out(0.0) else 0.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if out(middle) else (low, middle)
        return low

    low, high = reach(estimate, False), 1 - reach(1 - estimate, True)
    return estimate, Interval(low, high, 1 - alpha, "approximate", None, _SCORE)


def _beaten(mine: Floats, others: Floats) -> Floats:
    """Return which share of *others* each of *mine* exceeds, ties counted one half."""
    order = np.sort(others)
    left, right = (np.searchsorted(order, mine, side=side) for side in ("left", "right"))
    return (left + right) / (2 * others.size)
