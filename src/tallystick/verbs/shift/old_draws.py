r"""K old draws per item: the best cure for noise, if the old API can still be called.

With K old answers the old noise is measured, not assumed. d = n1 - mean of all K old draws (right
or wrong), with the second-moment variance of grades; strata, flips and repeats use the first old
draw o. The noise term is

.. math::

   z^2 (ν_{new} + ν_{old}/K)/M, \qquad ν_{old} = \frac{K}{K - 1} \overline{\bar c (1 - \bar c)},
   \qquad ν_{new} = F\, \frac{\sum w h + ¼}{m + 1}   \tag{N9}

over the repeats of flips, h as in (N8), c̄ the mean of an item's old draws and F the pooled rate of
flips between right and wrong. docs/theory/shift.md, *Change, or chance?*.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling import FAILED, Strata
from tallystick.stats.exact_tails import closed_unit
from tallystick.verbs.shift.assess import flips_beyond
from tallystick.verbs.shift.design import SumBounds
from tallystick.verbs.shift.grades import (
    GradedAnswers,
    blind_stretched,
    grade_moves,
    graded_bounds,
    repeat_noise,
)
from tallystick.verbs.shift.noise import Repeats, collapse, repeats_of
from tallystick.verbs.shift.result import Change, Noise, ShiftResult
from tallystick.verbs.shift.verdict import (
    EQUAL_NOISE,
    Facts,
    allow_unread,
    allow_unread_flips,
    decide,
    old_draw_notes,
    opening_of,
    unread_count,
)

FloatArray = NDArray[np.float64]


def old_noise(draws: ArrayLike) -> float:
    """Return ν_old of (N9): the variance of one old answer around the item's own rate.

    Parameters
    ----------
    draws
        Right (1) or wrong (0), items x K, K at least 2.

    Examples
    --------
    >>> round(old_noise([[1, 0]] * 100 + [[1, 1]] * 500), 4)
    0.0833
    """
    c = _draws(draws)
    mean = c.mean(axis=1)
    k = c.shape[1]
    return float(k / (k - 1) * np.mean(mean * (1 - mean)))


def unstable_share(draws: ArrayLike) -> float:
    """Return U_old of (N10): the chance that two old answers to an item differ.

    Parameters
    ----------
    draws
        Codes of answers, items x K, K at least 2.

    Examples
    --------
    >>> unstable_share([[0, 1, 2], [0, 0, 1], [1, 1, 1], [0, 0, 0]])
    0.4166666666666667
    """
    codes = np.asarray(draws)
    k = codes.shape[1]
    apart = [(codes[:, i] != codes[:, j]).mean() for i in range(k) for j in range(i)]
    return float(np.mean(apart))


def fresh_noise(
    flip_rate: float,
    old: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    weight: ArrayLike | None = None,
) -> float:
    """Return ν_new of (N9) from flips between right and wrong that were asked again.

    Parameters
    ----------
    flip_rate
        F, the share of items whose correctness differs from the first old draw.
    old, first, second
        Right (1) or wrong (0) of each repeat.
    weight
        p_k/n_k(blind) of its stratum; None weighs all alike.

    Examples
    --------
    >>> first, second = [1] * 40, [0] * 10 + [1] * 30
    >>> round(fresh_noise(0.2, [0] * 40, first, second), 4)
    0.05
    """
    closed_unit(flip_rate=flip_rate)
    h, _, w = repeat_noise(old, first, second, weight=weight)
    return flip_rate * (float((w * h).sum()) + 0.25) / (float(w.sum()) + 1)


def draw_noise(new: float, old: float, *, draws: int, items: int) -> float:
    """Return the variance that noise adds to the change, (N9) without z².

    Examples
    --------
    >>> from scipy.special import ndtri
    >>> term = ndtri(0.025) ** 2 * draw_noise(0.05, 1 / 12, draws=2, items=600)
    >>> f"{term:.3e}"
    '5.869e-04'
    """
    if draws < 2:
        raise InputError(f"draws must be at least 2 to show the old noise, got {draws!r}")
    return (new + old / draws) / items


def old_draws_change(
    strata: Strata,
    draws: ArrayLike,
    answers: GradedAnswers,
    *,
    new_noise: float,
    alpha: float = 0.05,
) -> SumBounds:
    """Bound the change of accuracy on these items; nothing is assumed about the old noise.

    Parameters
    ----------
    strata
        From the first old draw.
    draws
        Right (1) or wrong (0) of every item, items x K.
    answers
        Right or wrong of the first new answer to each item asked.
    new_noise
        ν_new, :func:`fresh_noise`.
    alpha
        One minus the level.

    Examples
    --------
    >>> draws = np.array([[1, 1]] * 60 + [[0, 1]] * 40)
    >>> answers = GradedAnswers(asked=np.arange(100), grade=np.r_[np.ones(70), np.zeros(30)])
    >>> found = old_draws_change(Strata(1 - draws[:, 0]), draws, answers, new_noise=0.05)
    >>> print(f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
    -0.100 [-0.176, -0.024]
    """
    c = _draws(draws)
    if len(c) != strata.n_items:
        raise InputError(f"draws must have a row for each of {strata.n_items} items, got {len(c)}")
    before = c.mean(axis=1)
    moves, sample = grade_moves(strata, before, answers)
    noise = draw_noise(new_noise, old_noise(c), draws=c.shape[1], items=len(c))
    found = graded_bounds(moves, sample, noise=noise, alpha=alpha)
    return blind_stretched(found, strata, before, answers)


def _draws(values: ArrayLike) -> FloatArray:
    c = np.asarray(values, dtype=np.float64)
    if c.ndim != 2 or c.shape[1] < 2 or not np.isin(c, (0.0, 1.0)).all():
        raise InputError(
            f"draws must be right (1) or wrong (0), items x at least 2 draws, got shape {c.shape}"
        )
    return c


# Against K old answers per item: the old noise is measured, not assumed.


IntArray = NDArray[np.intp]


def with_old_draws(result: ShiftResult, draws: IntArray, *, alpha: float) -> ShiftResult:
    """Return the result with the change of accuracy and the flips beyond noise from all old draws.

    Parameters
    ----------
    result
        Of `run` or `assess`, made with the first old draw.
    draws
        The code of every old answer, items x K; the first column is the first old draw.
    alpha
        One minus the level.
    """
    if result.evidence is None or result.noise is None:
        raise InputError("old draws need a result that was made from old answers by item")
    items, strata, answers = result.evidence
    told = answers.codes != FAILED
    asked, codes = answers.asked[told], answers.codes[told]
    used = collapse(strata, np.bincount(strata.of[asked], minlength=len(strata)))

    blind = None if answers.blind is None else answers.blind[told]
    seen = asked if blind is None else asked[blind]
    number = np.bincount(used.of[seen], minlength=len(used))
    weight = (used.shares / np.maximum(number, 1))[used.of]
    first = dict(zip(asked.tolist(), codes.tolist(), strict=True))
    repeats = repeats_of(items, first, (answers.repeated, answers.second), weight)

    noise = _noise(result, repeats, draws, used, alpha=alpha)
    change = result.accuracy_change
    if items.labelled:
        right = (draws == items.truth[:, None]).astype(np.float64)
        grade = (codes == items.truth[asked]).astype(np.float64)
        given = GradedAnswers(asked=asked, grade=grade, blind=blind)
        change = _accuracy(used, right, given, repeats, alpha=alpha)
        change = allow_unread(change, items, used, answers)
    facts = Facts(
        accuracy=change,
        flips=result.flip_rate,
        noise=noise,
        asked=len(answers.asked),
        population=len(items),
        calls=result.calls,
        labelled=items.labelled,
        unread=unread_count(items, answers),
    )
    decision, needed, verdict = decide(facts)
    return replace(
        result,
        accuracy_change=change,
        noise=noise,
        decision=decision,
        needed=needed,
        verdict=verdict,
        sentences=opening_of(facts),
        assumptions=tuple(one for one in result.assumptions if one != EQUAL_NOISE),
        notes=(*result.notes, *old_draw_notes(draws.shape[1])),
    )


def _noise(
    result: ShiftResult, repeats: Repeats | None, draws: IntArray, used: Strata, *, alpha: float
) -> Noise:
    """Return the noise with the flips beyond it, (N10): U_old is that of all old answers."""
    noise, flips = result.noise, result.flip_rate
    assert noise is not None  # checked by with_old_draws
    assert result.evidence is not None
    if noise.answers_are == "deterministic" or flips.interval is None:
        return noise
    ends = (flips.estimate, flips.interval.low, flips.interval.high)
    bounds = SumBounds(*(np.asarray(end, dtype=np.float64) for end in (*ends, 0.0, 0.0)))
    old = (unstable_share(draws), len(draws))
    beyond, less_stable = flips_beyond(bounds, repeats, alpha=alpha, old=old)
    items, _, answers = result.evidence
    beyond = allow_unread_flips(beyond, items, used, answers)
    return replace(noise, beyond=beyond, less_stable=less_stable)


def _accuracy(
    used: Strata,
    right: FloatArray,
    given: GradedAnswers,
    repeats: Repeats | None,
    *,
    alpha: float,
) -> Change:
    """Return the change of accuracy, (N9)."""
    # ν_new from the flips between right and wrong that were asked again; all flips if none was.
    asked = given.asked
    flips = (given.grade != right[asked, 0]).astype(np.float64)
    per = np.bincount(used.of[asked], minlength=len(used))
    rate = float((used.shares[used.of[asked]] / per[used.of[asked]] * flips).sum())
    noise = rate
    if repeats is not None and len(repeats) and repeats.truth is not None:
        was, one, two = (
            (part == repeats.truth).astype(float)
            for part in (repeats.old, repeats.first, repeats.second)
        )
        moved = was != one
        if moved.any():
            noise = fresh_noise(
                rate, was[moved], one[moved], two[moved], weight=repeats.weight[moved]
            )

    bounds = old_draws_change(used, right, given, new_noise=noise, alpha=alpha)
    value = float(bounds.value)
    low, high = min(float(bounds.low), value), max(float(bounds.high), value)
    method = f"{right.shape[1]} old answers per item"
    return Change(estimate=value, interval=Interval(low, high, level=1 - alpha, method=method))
