"""The change of accuracy against K old answers per item: the old noise is measured, not assumed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling import FAILED
from tallystick.shift.counts import collapse
from tallystick.shift.grades import GradedAnswers
from tallystick.shift.noise_shares import repeats_of
from tallystick.shift.old_draws import fresh_noise, old_draws_change
from tallystick.shift.result import Change, ShiftResult
from tallystick.shift.unread import allow_unread, unread_count
from tallystick.shift.verdict import EQUAL_NOISE, Facts, decide, opening_of
from tallystick.shift.verdict_notes import old_draw_notes

__all__ = ["with_old_draws"]

FloatArray = NDArray[np.float64]


def with_old_draws(result: ShiftResult, right: FloatArray, *, alpha: float) -> ShiftResult:
    """Return the result with the change of accuracy from all old draws, (N9).

    Parameters
    ----------
    result
        Of `run` or `assess`, made with the first old draw.
    right
        Right (1) or wrong (0) of every item, items x K; the first column is the first old draw.
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
    given = GradedAnswers(
        asked=asked, grade=(codes == items.truth[asked]).astype(np.float64), blind=blind
    )

    # ν_new from the flips between right and wrong that were asked again; all flips if none was.
    seen = asked if blind is None else asked[blind]
    number = np.bincount(used.of[seen], minlength=len(used))
    weight = (used.shares / np.maximum(number, 1))[used.of]
    first = dict(zip(asked.tolist(), codes.tolist(), strict=True))
    repeats = repeats_of(items, first, (answers.repeated, answers.second), weight)
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
    change = Change(estimate=value, interval=Interval(low, high, level=1 - alpha, method=method))
    change = allow_unread(change, items, used, answers)
    facts = Facts(
        accuracy=change,
        flips=result.flip_rate,
        noise=result.noise,
        asked=len(answers.asked),
        population=len(items),
        calls=result.calls,
        unread=unread_count(items, answers),
    )
    decision, needed, verdict = decide(facts)
    return replace(
        result,
        accuracy_change=change,
        decision=decision,
        needed=needed,
        verdict=verdict,
        sentences=opening_of(facts),
        assumptions=tuple(one for one in result.assumptions if one != EQUAL_NOISE),
        notes=(*result.notes, *old_draw_notes(right.shape[1])),
    )
