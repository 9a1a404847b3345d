"""From counts by stratum to the mean of all items: plain, stratified, and against a known
baseline.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, NotIdentifiable
from tallystick.sampling.observed import Observed

__all__ = ["SampledEstimate", "difference", "plain", "stratified"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampledEstimate:
    """An estimated vector over outcomes, shape (J,), or (runs, J) for counts of many runs.

    Parameters
    ----------
    value
        The share of every outcome, or its change.
    variance
        The plug-in variance of every entry, with finite-population correction. It is 0 for an entry
        that was never seen to vary and ignores the adaptivity of a policy: good for planning and
        for combining, not for intervals.
    beta
        How much of the baseline was subtracted item by item; None where there is none.
    """

    value: FloatArray
    variance: FloatArray
    beta: FloatArray | None = None


def plain(seen: Observed) -> SampledEstimate:
    """Return the mean over all answers, strata ignored: right for questions in uniformly random
    order only.

    Examples
    --------
    >>> from tallystick.sampling import Budget, Plan, Strata, Uniform, replay
    >>> plan = Plan(strata=Strata([0, 0, 1, 1]), policy=Uniform(), budget=Budget(calls=4), n_outcomes=2)
    >>> plain(replay(plan, [0, 0, 0, 1], runs=1, rng=0).observed()).value
    array([[0.75, 0.25]])
    """
    n = seen.answered.sum(axis=-1)[..., None]
    if not n.all():
        raise NotIdentifiable("nothing was answered: there is no mean of no answers")
    mean = seen.new.sum(axis=-2) / n
    part = (seen.fraction * seen.shares).sum(axis=-1)[..., None]
    return SampledEstimate(mean, (1 - part) * mean * (1 - mean) / np.maximum(n - 1, 1))


def stratified(seen: Observed) -> SampledEstimate:
    r"""Return the stratified mean of the outcomes.

    .. math:: \hat C_j = \sum_k p_k \frac{H_{kj}}{n_k}, \qquad
              \widehat{\mathrm{Var}} = \sum_k p_k^2 (1 - \varphi_k) \frac{\hat\mu_{kj} (1 - \hat\mu_{kj})}{n_k - 1}
              \tag{E1}

    [CZZ22]_ (api-shifts), Algorithm 1, line 10, whose ΔC is ``stratified(seen).value -
    seen.before``. φ is the part of the stratum that was answered. Refused where a stratum has no
    answer: its part of the mean would be a guess.
    """
    _answers(seen)
    at, (new,) = _found(seen, seen.new)
    n, error = at.n, at.error
    mean = new / n
    return SampledEstimate(at.sum(at.share * mean), at.sum(error * mean * (1 - mean)))  # (E1)


def difference(seen: Observed, *, beta: float | None = None) -> SampledEstimate:
    r"""Return the change of the outcomes against a baseline that is known for every item.

    .. math:: \widehat{\Delta C} = \sum_k p_k\, \overline{(e_{new} - \beta e_{old})}_k - (1 - \beta)\, C_{old}  \tag{E2}

    with β = 1 the mean of differences, with β = 0 the stratified mean less the baseline. The
    default is

    .. math:: \beta = \mathrm{clip}\Bigl(\frac{A + .1 B}{1.1 B}, 0, 1\Bigr), \quad
              A = \sum_k \frac{p_k^2 (1 - \varphi_k)}{n_k} \operatorname{tr} \mathrm{Cov}_k(e_{new}, e_{old}), \quad
              B = \text{the same of } \operatorname{tr} \mathrm{Var}_k(e_{old})   \tag{E3}

    pooled over strata, and 1 where B = 0 (then it does not matter). Without flips the error is
    exactly 0. docs/theory/sampling.md.

    Parameters
    ----------
    seen
        Counts of a run with a baseline.
    beta
        A fixed β; None estimates it.
    """
    if seen.old is None or seen.same is None or seen.before is None:
        raise InputError("a difference needs a baseline for every item: plan with baseline=…")
    _answers(seen)
    at, (new, before, same) = _found(seen, seen.new, seen.old, seen.same)
    n, error = at.n, at.error
    old, gained, lost = before / n, (new - same) / n, (before - same) / n
    change = gained - lost
    # Everything is written in the change e_new - e_old, so that without flips it is 0 exactly, not
    # nearly.
    # minus the covariance of change and e_old: B - A by entry
    against = at.sum(error * (lost + change * old))
    variance = at.sum(error * old * (1 - old))
    if beta is None:
        b = variance.sum(axis=-1)
        share = np.clip(1 - against.sum(axis=-1) / np.where(b > 0, 1.1 * b, np.inf), 0, 1)  # (E3)
    else:
        share = np.full(seen.answered.shape[:-1], float(beta))
    left = 1 - share[..., None]
    value = at.sum(at.share * change) + left * (at.sum(at.share * old) - seen.before)  # (E2)
    spread = at.sum(error * (gained + lost - change**2)) - 2 * left * against + left**2 * variance
    return SampledEstimate(value, np.maximum(spread, 0), np.asarray(share))


def _answers(seen: Observed) -> None:
    empty = np.flatnonzero((seen.answered == 0).reshape(-1, seen.answered.shape[-1]).any(axis=0))
    if empty.size:
        raise NotIdentifiable(
            f"strata {empty.tolist()} have no answer: merge them with others or ask there"
        )


@dataclass(frozen=True, eq=False)
class _Found:
    """The places of a table (…, S, J) where something was counted: with many outcomes nearly all of
    it is empty.

    Parameters
    ----------
    outcome
        Of each place, its position in a table (…, J).
    n, share, error
        Of each place, the answers of its stratum, its part of all items, and p² (1 - φ) / (n - 1),
        which turns a plug-in variance into that of the stratum's part of the mean.
    shape
        (…, J).
    """

    outcome: NDArray[np.intp]
    n: FloatArray
    share: FloatArray
    error: FloatArray
    shape: tuple[int, ...]

    def sum(self, values: FloatArray) -> FloatArray:
        """Sum over strata."""
        flat: FloatArray = np.bincount(
            self.outcome, values, minlength=math.prod(self.shape)
        ).astype(np.float64)
        return flat.reshape(self.shape)


def _found(seen: Observed, *tables: NDArray[np.intp]) -> tuple[_Found, list[NDArray[np.intp]]]:
    """Return where any of the *tables* counts something, and what each counts there."""
    S, J = tables[0].shape[-2:]
    place = np.flatnonzero(tables[0] if len(tables) == 1 else tables[0] + tables[1])
    stratum, outcome = place // J, place % J
    n = seen.answered.ravel()[stratum].astype(np.float64)
    share = seen.shares[stratum % S]
    left = 1 - np.broadcast_to(seen.fraction, seen.answered.shape).ravel()[stratum]
    error = share**2 * left / np.maximum(n - 1, 1)
    at = _Found(stratum // S * J + outcome, n, share, error, (*tables[0].shape[:-2], J))
    return at, [table.ravel()[place] for table in tables]
