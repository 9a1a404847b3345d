"""Against K old answers per item: the old noise is measured, not assumed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling import FAILED, Strata
from tallystick.shift.assess import flips_beyond
from tallystick.shift.counts import collapse
from tallystick.shift.grades import GradedAnswers
from tallystick.shift.intervals import SumBounds
from tallystick.shift.noise_share import Repeats
from tallystick.shift.noise_shares import repeats_of
from tallystick.shift.old_draws import fresh_noise, old_draws_change, unstable_share
from tallystick.shift.result import Change, Noise, ShiftResult
from tallystick.shift.unread import allow_unread, allow_unread_flips, unread_count
from tallystick.shift.verdict import EQUAL_NOISE, Facts, decide, opening_of
from tallystick.shift.verdict_notes import old_draw_notes

__all__ = ["with_old_draws"]

FloatArray = NDArray[np.float64]
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
