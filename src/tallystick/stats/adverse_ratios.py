"""Recall, F1 and AUC of a classifier, from few labels and weak votes.

The classifier's prediction h and the votes' consensus are known on every row, the truth on few.
For the class c the rows fall into four cells: (h = c?) x (consensus = c?), in the order yes-yes,
yes-no, no-yes, no-no. In cell s there are :math:`N_s` rows, :math:`k_s` labels and :math:`x_s` of
class c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import PSEUDO, effective_labels, fill_unlabelled
from tallystick.stats.bets import crossing
from tallystick.stats.exact_tails import one_per, open_unit
from tallystick.stats.intervals import Floats, Vector, as_counts

METHOD = "four-cell adverse likelihood"


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
        How many labels alone would give an interval as narrow.
    """

    estimate: float | Unknown
    interval: Interval
    worth: float

    def __str__(self) -> str:
        number = self.estimate if isinstance(self.estimate, Unknown) else f"{self.estimate:.4f}"
        return f"{number} {self.interval}"


Ratio: TypeAlias = Literal["recall", "f1"]

PREDICTED = np.array([True, True, False, False])
"""Which of the four cells have h = c."""


def adverse_ratio(
    sizes: Vector, labelled: Vector, hits: Vector, *, measure: Ratio, alpha: float = 0.05
) -> RatioEstimate:
    r"""Estimate a classifier's recall or F1 for class c on these rows, from few labels.

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
    RatioEstimate
        Without an estimate, and with [0, 1], if no label is of class c. Its worth compares with the
        same interval without the consensus, which still knows h on every row.

    Examples
    --------
    >>> cells = [200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2]
    >>> print(adverse_ratio(*cells, measure="recall"))
    0.8214 [0.698, 0.917] (95%, approximate)
    >>> print(adverse_ratio(*cells, measure="f1"))
    0.7931 [0.679, 0.877] (95%, approximate)
    """
    open_unit(alpha=alpha)
    x, k = as_counts(hits, labelled, names=("hits", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    one_per("cell", 4, sizes=n, hits=x)
    estimate, low, high = _finished((n, k, x), PREDICTED, measure, alpha)
    # Without the consensus there is one cell with h = c and one without.
    alone = tuple(part.reshape(2, 2).sum(axis=1) for part in (n, k, x))
    _, low_alone, high_alone = _finished(alone, PREDICTED[::2], measure, alpha)
    ratio = (high_alone - low_alone) / (high - low) if high > low else 1.0
    return RatioEstimate(
        estimate=Unknown("no label is of this class") if estimate is None else estimate,
        interval=Interval(low, high, 1 - alpha, "approximate", None, METHOD),
        worth=float(k.sum()) * ratio**2,
    )


def _finished(
    counts: tuple[Floats, ...], on: NDArray[np.bool_], measure: Ratio, alpha: float
) -> tuple[float | None, float, float]:
    """Return the estimate, if there is one, and both ends, widened and clipped."""
    from scipy.special import ndtri

    n, k, x = counts
    factor = np.where(on, 2.0 if measure == "f1" else 1.0, 0.0)
    weights = n / max(n.sum(), 1.0)
    constant = float(weights[on].sum()) if measure == "f1" else 0.0
    if n[on].sum() == 0:  # nothing is predicted to be of the class, so nothing is found
        return 0.0, 0.0, 0.0
    if n[~on].sum() == 0 and measure == "recall":  # everything is
        return 1.0, 1.0, 1.0

    share = np.divide(x, k, out=np.zeros_like(x), where=k > 0)
    filled = fill_unlabelled(n[None], share[None], k[None])[0]
    scale = float(np.nansum(weights * filled) + constant)
    if k.sum() == 0 or scale <= 0:
        return None, 0.0, 1.0
    estimate = float((weights * factor * filled).sum() / scale)
    if k.sum() == n.sum():  # every row is labelled: the number itself
        return estimate, estimate, estimate

    # Labels "c" go where they hurt: outside h = c for the lower end, inside for the upper (AL15).
    used, star = n > 0, effective_labels(n, k, k == n)
    adverse, bar = PSEUDO * np.sqrt(weights), float(ndtri(1 - alpha / 2)) ** 2
    low, high = (
        ratio_end(
            weights[used],
            factor[used],
            (star * share + adverse * at)[used],
            (star + adverse)[used],
            constant,
            bar,
            upper,
        )
        for at, upper in ((~on, False), (on, True))
    )
    if 2 * k.sum() > n.sum():
        gross = 0.5 * np.abs(factor[used] - estimate).max() / (n.sum() * scale)  # (AL16)
        low, high = low - gross, high + gross

    # What logic allows: the unlabelled rows inside and outside h = c may be of the class, or not.
    found, missed, left = x[on].sum(), x[~on].sum(), n - k
    rows = n[on].sum() if measure == "f1" else 0.0
    below, above = rows + found + missed + left[~on].sum(), rows + found + left[on].sum() + missed
    least = factor.max() * found / below if below > 0 else 0.0
    most = factor.max() * (found + left[on].sum()) / above if above > 0 else 1.0
    low, high, estimate = (float(np.clip(part, least, most)) for part in (low, high, estimate))
    return estimate, min(low, estimate), max(high, estimate)


# Ends of a ratio of two sums over cells: recall and F1.


RATIO_ENDS_LOWEST, RATIO_ENDS_HIGHEST = -10.0, 25.0
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


def ratio_end(
    weight: Floats,
    factor: Floats,
    seen: Floats,
    size: Floats,
    constant: float,
    bar: float,
    upper: bool,
) -> float:
    r"""Return the ratio θ, on one side of its estimate, at which the statistic (AL15) is the bar.

    The statistic D falls towards the estimate, with slope
    :math:`dD/dθ = -2 μ (\sum_s W_s p_s + C)`: the multiplier μ is what the constraint costs.
    """
    top = float((weight * factor * seen / size).sum())
    below = constant + float((weight * seen / size).sum())
    if below <= 0.0:  # no label of the class, not even an adverse one: nothing is refuted
        return 1.0 if upper else 0.0
    sign, missed, last = (-1.0 if upper else 1.0), size - seen, [0.0]

    def lost(theta: float) -> tuple[float, float]:
        """Return 2(ℓ(p̃) - ℓ(p(μ))) at the ratio θ, and how fast it changes."""
        omega = weight * (factor - theta)

        # μ solves Σ ω p(μ) = θ C. At μ = 0 the sum is on the far side of θ C.
        def excess(t: Floats) -> tuple[Floats, Floats]:
            tilt = sign * np.exp(t) * omega
            p, root = rates(tilt, seen, size)
            slope = (sign * omega * tilt * p * (1.0 - p) / root).sum()
            return np.array([sign * (theta * constant - (omega * p).sum())]), np.array([slope])

        last[0] = float(crossing(excess, np.array(last), RATIO_ENDS_LOWEST, RATIO_ENDS_HIGHEST)[0])
        mu = sign * np.exp(last[0])
        p, _ = rates(mu * omega, seen, size)
        # A rate of 0 or 1 with labels against it has likelihood 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(seen > 0.0, seen * np.log(seen / size / p), 0.0)
            parts += np.where(missed > 0.0, missed * np.log(missed / size / (1.0 - p)), 0.0)
        return 2.0 * float(parts.sum()), -2.0 * mu * (float((weight * p).sum()) + constant)

    # Far from the estimate the statistic is large; between there and the estimate it crosses.
    inside, outside = top / below, 1.0 if upper else 0.0

    def rising(at: Floats) -> tuple[Floats, Floats]:
        width = outside - inside
        statistic, slope = lost(inside + float(at[0]) * width)
        root = np.sqrt(max(statistic, 0.0))  # nearly a straight line
        return np.array([root - np.sqrt(bar)]), np.array([slope * width / (2.0 * root)])

    if inside == outside:
        return outside
    at = crossing(rising, np.array([0.5]), 0.0, 1.0)
    return inside + float(at[0]) * (outside - inside)


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
        none = Interval(0.0, 1.0, 1 - alpha, "approximate", None, "adverse score interval")
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
    return estimate, Interval(low, high, 1 - alpha, "approximate", None, "adverse score interval")


def _beaten(mine: Floats, others: Floats) -> Floats:
    """Return which share of *others* each of *mine* exceeds, ties counted one half."""
    order = np.sort(others)
    left, right = (np.searchsorted(order, mine, side=side) for side in ("left", "right"))
    return (left + right) / (2 * others.size)
