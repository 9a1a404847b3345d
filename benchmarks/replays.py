"""Runs of the sampler against answers that are known, what they saw, and the mean that follows.

The product asks an API and estimates in ``shift``; experiments replay plans here: `replay` runs a
plan many times, `observe` counts what each run saw, and `plain`, `stratified` and `difference` are
the estimates of the published tables (E1, and ours against old answers, E2).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.sampling import FAILED, Plan, Sampler

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Observed:
    """Counts of one run, shape (S, …), or of many, shape (runs, S, …).

    Parameters
    ----------
    shares
        The part of all items in each stratum, p_k.
    asked, answered
        Questions and answers by stratum; they differ by the calls that failed or are in flight.
    fraction
        The part of the stratum that was answered, φ_k; 0 with replacement.
    new
        Answers by stratum and outcome.
    old, same
        Baseline outcomes of the answered items, and how often the answer was the same; None without
        a baseline.
    before
        The part of *all* items with each baseline outcome; None without a baseline.
    """

    shares: FloatArray
    asked: IntArray
    answered: IntArray
    fraction: FloatArray
    new: IntArray
    old: IntArray | None
    same: IntArray | None
    before: FloatArray | None


def observe(
    plan: Plan, items: IntArray, outcomes: IntArray, *, keep: NDArray[np.bool_] | None = None
) -> Observed:
    """Count *outcomes* (:data:`FAILED` where there is none) of *items*, along the last axis.

    Parameters
    ----------
    plan
        The plan of the run.
    items, outcomes
        Shape (questions,) or (runs, questions).
    keep
        Which questions to count; None counts all. The blind ones give phase 1 by itself.
    """
    S, J = len(plan.strata), plan.n_outcomes
    lead = items.shape[:-1]
    runs = int(np.prod(lead, dtype=np.intp))
    counted = np.ones(items.shape, bool) if keep is None else keep
    at = np.arange(runs).reshape((*lead, 1)) * S + plan.strata.of[items]

    def count(mask: NDArray[np.bool_]) -> IntArray:
        return np.bincount(at[mask], minlength=runs * S).reshape((*lead, S))

    def table(mask: NDArray[np.bool_], values: IntArray) -> IntArray:
        return np.bincount(at[mask] * J + values[mask], minlength=runs * S * J).reshape(
            (*lead, S, J)
        )

    told = counted & (outcomes != FAILED)
    answered = count(told)
    old = None if plan.baseline is None else plan.old[items]
    return Observed(
        shares=plan.strata.shares,
        asked=count(counted),
        answered=answered,
        fraction=answered / plan.limits,  # limits are infinite with replacement
        new=table(told, outcomes),
        old=None if old is None else table(told, old),
        same=None if old is None else table(told & (outcomes == old), outcomes),
        before=None if old is None else np.bincount(plan.old, minlength=J) / plan.strata.n_items,
    )


def observed(sampler: Sampler, *, blind: bool = False) -> Observed:
    """Return the counts of all that a sampler was told; with *blind* only of blind questions."""
    items, answers = (np.array(one, dtype=np.intp) for one in (sampler.items, sampler.answers))
    keep = np.array(sampler.blind, dtype=bool) if blind else None
    return observe(sampler.plan, items, np.where(answers < 0, FAILED, answers), keep=keep)


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
    >>> from tallystick.sampling import Plan, Strata, Uniform
    >>> plan = Plan(strata=Strata([0, 0, 1, 1]), policy=Uniform(), budget=4, n_outcomes=2)
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


def difference(
    seen: Observed, *, beta: float | None = None, true: IntArray | None = None
) -> SampledEstimate:
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
    true
        The true label of every outcome, for (I4) of `shift`.
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
    drawn, total = at.sum(at.share * old), seen.new.sum(axis=-2)
    surplus = drawn - seen.before
    if true is not None:
        same_label = (true[:, None] == true).astype(float)
        asked, held = total @ same_label, seen.before @ same_label
        answers = np.where(asked > 0, total, seen.before) / np.where(asked > 0, asked, held)
        surplus = surplus - answers * (drawn @ same_label - held)
    value = at.sum(at.share * change) + left * surplus  # (E2)
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


# Many runs against answers that are already known: the way to compare policies.


BLOCK = 20_000_000
"""About how many numbers the counts of a block of runs may hold at once."""


@dataclass(frozen=True, eq=False)
class Replay:
    """What every run asked.

    Parameters
    ----------
    plan
        The plan of all runs.
    keys
        The seed of every run.
    items, outcomes, blind
        Shape (runs, questions): the items in the order in which they were asked for, what came
        back, and whether the choice was blind to answers.
    """

    plan: Plan
    keys: NDArray[np.int64]
    items: IntArray
    outcomes: IntArray
    blind: NDArray[np.bool_]

    def observed(self, *, blind: bool = False, runs: slice = slice(None)) -> Observed:
        """Return the counts of all runs (or of some), shape (runs, S, …); with *blind* of blind
        questions only.
        """
        keep = self.blind[runs] if blind else None
        return observe(self.plan, self.items[runs], self.outcomes[runs], keep=keep)

    def batches(self, *, blind: bool = False) -> Iterator[Observed]:
        """Yield the counts of all runs, in blocks small enough for memory."""
        plan = self.plan
        step = max(1, BLOCK // (plan.strata.n_items + plan.weight.size + plan.calls))
        for first in range(0, len(self.keys), step):
            yield self.observed(blind=blind, runs=slice(first, first + step))


def replay(plan: Plan, answers: ArrayLike, *, runs: int, rng: Rng) -> Replay:
    """Run the plan *runs* times against known *answers*, each time with a :class:`Sampler`.

    Parameters
    ----------
    plan
        What to sample.
    answers
        The outcome of every item; -1 where the call would fail.
    runs
        How many runs.
    rng
        Seeds all of them.

    Examples
    --------
    >>> from tallystick.sampling import Plan, Proportional, Strata
    >>> plan = Plan(strata=Strata([0] * 60 + [1] * 40), policy=Proportional(), budget=10, n_outcomes=2)
    >>> replay(plan, [0] * 60 + [0, 1] * 20, runs=3, rng=1).observed().answered
    array([[6, 4],
           [6, 4],
           [6, 4]])
    """
    if runs < 1:
        raise InputError(f"runs must be at least 1, got {runs!r}")
    known = np.asarray(answers)
    if known.shape != (plan.strata.n_items,) or known.dtype.kind not in "iu":
        raise InputError(
            f"answers must be {plan.strata.n_items} integer codes, got shape {known.shape} of"
            f" {known.dtype}"
        )
    if known.min() < FAILED or known.max() >= plan.n_outcomes:
        raise InputError(
            f"answers must be codes -1 … {plan.n_outcomes - 1}, got {known.min()} … {known.max()}"
        )
    told = [None if code == FAILED else code for code in known.tolist()]
    keys = as_rng(rng).integers(2**63, size=runs)
    items = np.empty((runs, plan.calls), np.intp)
    blind = np.empty(items.shape, np.bool_)
    for run, key in enumerate(keys.tolist()):
        sampler = Sampler(plan, rng=key)
        while batch := sampler.ask():
            sampler.tell((item, told[item]) for item in batch)
        items[run], blind[run] = sampler.items, sampler.blind
    return Replay(plan, keys, items, known.astype(np.intp)[items], blind)
