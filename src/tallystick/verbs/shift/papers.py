"""What exists to reproduce [CZZ22]_ (api-shifts): its theorem and its view of several APIs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.results import Figure, Interval, Result, Unknown, points
from tallystick.verbs.shift.result import ShiftResult

# Several APIs on several data sets in one view: one signed matrix of accuracy changes.


@dataclass(frozen=True, kw_only=True)
class FleetCell:
    """One API on one data set."""

    api: str
    data: str
    accuracy_change: float | Unknown
    interval: Interval | None
    flip_rate: float | Unknown
    calls: int
    verdict: str


@dataclass(frozen=True, kw_only=True)
class FleetResult(Result):
    """The fleet: a cell for each API and data set that was assessed."""

    verb: ClassVar[str] = "shift"

    cells: tuple[FleetCell, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per cell."""
        return [
            {
                "api": cell.api,
                "data": cell.data,
                "accuracy change": cell.accuracy_change,
                "interval": cell.interval,
                "answers changed": cell.flip_rate,
                "calls": cell.calls,
            }
            for cell in self.cells
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the signed matrix: figure 2 of [CZZ22]_ (api-shifts)."""
        known = [cell for cell in self.cells if isinstance(cell.accuracy_change, float)]
        columns: dict[str, list[Any]] = {
            "api": [cell.api for cell in known],
            "data": [cell.data for cell in known],
            "change": [cell.accuracy_change for cell in known],
            "text": [_signed(cell) for cell in known],
        }
        roles = {"row": "api", "column": "data", "value": "change", "text": "text"}
        return (Figure("matrix", "Change of accuracy by API and data set", columns, roles),)


def fleet(results: Mapping[tuple[str, str], ShiftResult], *, alpha: float = 0.05) -> FleetResult:
    """Put assessments side by side.

    A cell counts as changed where its interval excludes 0. With many cells some do by chance:
    assess each at alpha over their number if the whole family has to hold.

    Parameters
    ----------
    results
        (API, data set) to its assessment.
    alpha
        At which the family is meant to hold; a note says if the cells were assessed at a looser
        level.

    Examples
    --------
    >>> fleet({})
    Traceback (most recent call last):
    tallystick.errors.InputError: a fleet needs at least one assessment
    """
    if not results:
        raise InputError("a fleet needs at least one assessment")
    cells = tuple(
        FleetCell(
            api=api,
            data=data,
            accuracy_change=one.accuracy_change.estimate,
            interval=one.accuracy_change.interval,
            flip_rate=one.flip_rate.estimate,
            calls=one.calls,
            verdict=one.verdict,
        )
        for (api, data), one in results.items()
    )
    changed = [cell for cell in cells if cell.interval is not None and 0 not in cell.interval]
    loose = any(
        cell.interval is not None and 1 - cell.interval.level > alpha / len(cells) + 1e-12
        for cell in cells
    )
    names = ", ".join(f"{cell.api} on {cell.data} {_signed(cell)}" for cell in changed[:5])
    verdict = (
        f"{len(changed)} of {len(cells)} changed in accuracy"
        + (f": {names}" if names else "")
        + "."
    )
    open_ = sum(one.decision == "undecided" for one in results.values())
    return FleetResult(
        verdict=verdict,
        decision="undecided" if open_ else "decided",
        n_items=sum(one.n_items for one in results.values()),
        assumptions=next(iter(results.values())).assumptions,
        warnings=(
            (f"each cell has its own level: about {alpha:g} of unchanged ones look changed",)
            if loose
            else ()
        ),
        cells=cells,
    )


def _signed(cell: FleetCell) -> str:
    return points(cell.accuracy_change if isinstance(cell.accuracy_change, float) else None)


# Theorem 2 of [CZZ22]_ (api-shifts): its conditions, its bound, and its stopping rule.
#
# They check the paper. No result of `shift` rests on them.


def theorem_conditions(
    *, labels: int, bins: int, calls: int, exploration: float
) -> tuple[str, ...]:
    r"""Return, in words, which conditions of Theorem 2 do not hold; nothing if all do.

    .. math:: a > 2 \log L + \log K + \tfrac94 \log N, \qquad N > 4 L K   \tag{M2}

    [CZZ22]_, Theorem 2. The paper itself runs with a = 1, far below; measured, it makes no
    difference.

    Examples
    --------
    >>> theorem_conditions(labels=2, bins=3, calls=2000, exploration=20)
    ()
    >>> theorem_conditions(labels=10, bins=3, calls=100, exploration=1)[1]
    'Theorem 2 asks for more than 4 L K = 120 calls, the budget has 100'
    """
    least = 2 * math.log(labels) + math.log(bins) + 2.25 * math.log(calls)  # (M2)
    broken = []
    if exploration <= least:
        broken.append(
            f"Theorem 2 asks for an exploration a above {least:.1f}, this run has {exploration:g}"
        )
    if calls <= 4 * labels * bins:
        broken.append(
            f"Theorem 2 asks for more than 4 L K = {4 * labels * bins} calls, the budget has"
            f" {calls}"
        )
    return tuple(broken)


def theorem_bound(
    shares: ArrayLike, sigma: ArrayLike, *, labels: int, calls: int, exploration: float
) -> float:
    r"""Return how large the expected squared Frobenius error of MASA can be, by Theorem 2 with its
    constants.

    .. math:: \mathcal L \le \mathcal L^* \Bigl[ 1 + \frac{4S}{N} + \frac{4}{\sigma_{min}}
              \Bigl( \frac{\log 2/\delta}{N \Delta_{min}} \Bigr)^{1/4} \Bigr]^2 + L S N \delta, \qquad
              \Delta_k = \frac{p_k \sigma_k}{\sum_l p_l \sigma_l}   \tag{M4}

    with S partitions (the paper's L K) and log 2/δ = 2a, which makes the radius of Lemma 3 that of
    the rule. [CZZ22]_, inequality B.6 and the end of its proof of Theorem 2; the theorem itself
    hides the constants in O(N^{-5/4} log^{1/4} N). It is large: a check of the theorem, no forecast
    of an error.

    Parameters
    ----------
    shares, sigma
        Share and true uncertainty of every partition, none of them 0.
    labels
        The paper's L.
    calls, exploration
        The paper's N > 4 S, and a.

    Examples
    --------
    >>> round(theorem_bound([0.5, 0.5], [0.5, 0.7], labels=2, calls=10**6, exploration=20), 9)
    1.156e-06
    """
    p, s = np.asarray(shares, dtype=np.float64), np.asarray(sigma, dtype=np.float64)
    if not (s > 0).all() or not (p > 0).all():
        raise InputError(
            "Theorem 2 is about partitions that have items and are uncertain: leave the others out"
        )
    if calls <= 4 * len(p):
        raise InputError(f"Theorem 2 asks for more than 4 L K = {4 * len(p)} calls, got {calls}")
    least = float((p * s).min() / (p * s).sum())
    wider = (
        1
        + 4 * len(p) / calls
        + 4 / float(s.min()) * math.sqrt(math.sqrt(2 * exploration / (calls * least)))
    )
    outside = labels * len(p) * calls * 2 * math.exp(-2 * exploration)
    return optimal_loss(p, s, calls=calls) * wider**2 + outside  # (M4)


def loss_bound(
    shares: ArrayLike, answered: ArrayLike, sigma2: ArrayLike, *, delta: float = 0.05
) -> float:
    r"""Return the upper bound on the expected squared Frobenius error by which the paper stops.

    .. math:: \sum_k \frac{p_k^2}{n_k}
              \min\Bigl( 1, \hat\sigma_k^2 + \sqrt{\tfrac{\log(2/\delta)}{2 n_k}} \Bigr)   \tag{M3}

    [CZZ22]_, appendix A (*stopping rule under loss requirements*), with the radius that the proof
    of Lemma 3 gives to σ̂² for its unnamed constant c. (Printed, the lemma gives that radius to σ̂
    itself. Its proof gives σ̂ the fourth root, and with the square root it is false: ten answers,
    of which each is the rarer with probability .3, break it in 2.8 % of all cases at δ = .0005.) It
    bounds the expected error, not the error, and holds at one time, not at any: for a guarantee use
    :func:`tallystick.verbs.shift.frobenius_bound`.

    Parameters
    ----------
    shares, answered, sigma2
        Share, answers and estimated uncertainty of every partition; unknown uncertainty (fewer than
        two answers) is 1.
    delta
        The δ of Lemma 3, for one partition at one time.

    Examples
    --------
    >>> round(loss_bound([0.5, 0.5], [100, 100], [0.1, 0.0]), 6)
    0.000929
    """
    p, n = np.asarray(shares, dtype=np.float64), np.asarray(answered, dtype=np.float64)
    if not 0 < delta < 1:
        raise InputError(f"delta must be in (0, 1), got {delta!r}")
    if (n < 1).any():
        return math.inf
    variance = np.nan_to_num(np.asarray(sigma2, dtype=np.float64), nan=1.0)
    radius = np.sqrt(math.log(2 / delta) / (2 * n))
    return float((p**2 / n * np.minimum(variance + radius, 1.0)).sum())  # (M3)


# The optimal allocation of calls to strata whose uncertainty is known, and its error.


FloatArray = NDArray[np.float64]


def optimal_allocation(shares: ArrayLike, sigma: ArrayLike, *, calls: int) -> FloatArray:
    r"""Return how many of *calls* questions each partition gets if its uncertainty is known.

    .. math:: N^*_k = \frac{p_k \sigma_k}{\sum_l p_l \sigma_l} N   \tag{M1}

    [CZZ22]_ (api-shifts), Lemma 1. (Its proof drops a square in Σ Pr²; the statement is right.)

    Examples
    --------
    >>> optimal_allocation([0.5, 0.5], [0.3, 0.1], calls=100)
    array([75., 25.])
    """
    weight = np.asarray(shares, dtype=np.float64) * np.asarray(sigma, dtype=np.float64)
    total = weight.sum()
    if total == 0:  # nothing is uncertain: any allocation has error 0
        return np.asarray(shares, dtype=np.float64) * calls
    return np.asarray(weight / total * calls)  # (M1)


def optimal_loss(shares: ArrayLike, sigma: ArrayLike, *, calls: int) -> float:
    r"""Return the squared Frobenius error of the optimal allocation, :math:`(\sum_k p_k \sigma_k)^2
    / N`.

    [CZZ22]_, proof of Theorem 2.

    Examples
    --------
    >>> round(optimal_loss([0.5, 0.5], [0.3, 0.1], calls=100), 6)
    0.0004
    """
    return float((np.asarray(shares) * np.asarray(sigma)).sum() ** 2 / calls)
