"""From answers to a result: a pure function of what was asked and what came back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.sampling import FAILED, Strata
from tallystick.shift.allocation import allocation_path, baselines, strata_rows
from tallystick.shift.change import (
    accuracy_bounds,
    entry_bounds,
    flip_bounds,
    point,
    unseen_bounds,
    unseen_error,
)
from tallystick.shift.counts import Counts, collapse, count
from tallystick.shift.intervals import SumBounds
from tallystick.shift.items import Items
from tallystick.shift.result import Change, ShiftResult
from tallystick.shift.stopping import frobenius_bound
from tallystick.shift.top_cells import Ends, top_cells
from tallystick.shift.verdict import ASSUMPTIONS, decide, warnings_of

__all__ = ["Answers", "assess"]

IntArray = NDArray[np.intp]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Answers:
    """What a run asked, in order, and what came back.

    Parameters
    ----------
    asked
        Items, by number.
    codes
        The code of each answer, 0 … L, or FAILED.
    blind
        Which questions were chosen without regard to answers; None if all were.
    """

    asked: IntArray
    codes: IntArray
    blind: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, asked: ArrayLike, codes: ArrayLike, *, blind: ArrayLike | None = None) -> Answers:
        """Check that one answer came for each question."""
        a, c = np.asarray(asked, dtype=np.intp), np.asarray(codes, dtype=np.intp)
        if a.ndim != 1 or a.shape != c.shape:
            raise InputError(f"asked and codes must be equally long, got {a.shape} and {c.shape}")
        if len(np.unique(a)) != len(a):
            raise InputError("asked holds an item twice: an assessment counts every item once")
        return cls(asked=a, codes=c, blind=None if blind is None else np.asarray(blind, dtype=bool))


def assess(
    items: Items,
    strata: Strata,
    answers: Answers,
    *,
    strategy: str = "ours",
    alpha: float = 0.05,
    simultaneous: bool = False,
    seed: int | None = None,
) -> ShiftResult:
    """Say how the API changed.

    Parameters
    ----------
    items
        What was known before.
    strata
        From which the questions were drawn. Strata that got fewer than two answers are joined to
        others first.
    answers
        Questions and answers.
    strategy
        ``ours`` subtracts the old answer item by item; every other strategy is estimated as the
        paper does.
    alpha
        One minus the level of every interval.
    simultaneous
        Make the intervals of all cells hold together: each at alpha over the number of possible
        cells.
    seed
        Of the run, for the record.

    Examples
    --------
    >>> old = ["a"] * 50 + ["b"] * 50
    >>> items = Items.of(old, old=old)
    >>> asked = np.arange(0, 100, 2)
    >>> result = assess(items, Strata([0] * 50 + [1] * 50), Answers.of(asked, items.truth[asked]))
    >>> result.accuracy_change.estimate, result.flip_rate.estimate
    (0.0, 0.0)
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    if items.matrix is None:
        raise InputError(
            "nothing is known of the past: give the old answers (old=…) or the old matrix"
            " (matrix=…)"
        )
    told = answers.codes != FAILED
    if told.sum() < 2:
        raise NotIdentifiable(f"only {int(told.sum())} answers came: there is nothing to say yet")
    by_item = strategy == "ours" and items.old is not None
    number = np.bincount(strata.of[answers.asked[told]], minlength=len(strata))
    used = collapse(strata, number)
    counts = count(items, used, answers.asked, answers.codes)

    # Phase 1 of other strategies is two answers per stratum: too few to correct by.
    census = bool(told.all()) and len(told) == len(items) and items.old is not None
    corrects = by_item and answers.blind is not None and not answers.blind.all() and not census
    blind = (
        count(items, used, answers.asked, answers.codes, keep=answers.blind).seen
        if corrects
        else None
    )

    L, level = len(items.labels), 1 - alpha
    possible = int((counts.of_label.sum(axis=0) > 0).sum()) * (L + 1)
    value, variance = point(counts, by_item=by_item)
    shift = np.zeros((L, L + 1)) if by_item else -items.matrix.copy()
    shift[counts.true, counts.answer] = value
    room = np.full_like(shift, -1.0), np.full_like(shift, 1.0)
    # No cell can lose more than it had, or hold more than all. The paper's estimates stay as they
    # are.
    if by_item:
        room = -items.matrix, np.maximum(items.mass[:, None] - items.matrix, 0.0)
    shift = np.clip(shift, *room)
    if census:  # shares of all items, without the rounding errors of sums over strata
        shift = np.rint(shift * len(items)) / len(items)

    rows = np.bincount(counts.true, weights=variance, minlength=L)
    each = alpha / possible if simultaneous else alpha
    low, high = (np.clip(end, *room) for end in _cells(counts, shift, alpha=each, by_item=by_item))
    sure = _cells(counts, shift, alpha=alpha / possible, by_item=by_item)
    if census:
        low = high = shift
    method = "beta of sums" + (", Bonferroni" if simultaneous else "")

    def interval(a: float, b: float) -> Interval:
        return Interval(a, b, level=level, guarantee="approximate", method=method)

    before = float(items.matrix.trace())
    found = accuracy_bounds(counts, alpha=alpha, by_item=by_item, blind=blind)
    whole = len(items) if census else None
    room_of_all = (-before, max(1 - before, 0.0)) if by_item else (-1.0, 1.0)
    accuracy = _change(found, shift.trace(), level, room=room_of_all, whole=whole)
    flips = Change(estimate=Unknown("the old answers by item are not known"), interval=None)
    if items.old is not None:
        found = flip_bounds(counts, alpha=alpha, blind=blind)
        flips = _change(found, float(found.value), level, room=(0.0, 1.0), whole=whole)

    recall: dict[str, Change] = {}
    for i, label in enumerate(items.labels):
        mass = items.mass[i]
        recall[label] = (
            Change(
                estimate=float(np.clip(shift[i, i] / mass, -1, 1)),
                interval=interval(
                    *(float(np.clip(end[i, i] / mass, -1, 1)) for end in (low, high))
                ),
            )
            if mass
            else Change(estimate=Unknown(f"no item is truly {label}"), interval=None)
        )
    calls = len(answers.asked)
    warnings = warnings_of(
        failed=int((answers.codes == FAILED).sum()),
        other=int((answers.codes == L).sum()),
        joined=len(strata) - len(used),
        strata=len(strata),
    )
    decision, needed, verdict = decide(accuracy, flips, calls, len(items))
    return ShiftResult(
        verdict=verdict,
        decision=decision,
        needed=needed,
        n_items=int(told.sum()),
        assumptions=ASSUMPTIONS,
        warnings=warnings,
        seed=seed,
        labels=items.labels,
        shift=tuple(tuple(map(float, row)) for row in shift),
        interval=tuple(
            tuple(interval(a, b) for a, b in zip(lows, highs, strict=True))
            for lows, highs in zip(low, high, strict=True)
        ),
        accuracy_change=accuracy,
        flip_rate=flips,
        recall_change=recall,
        calls=calls,
        cost=0.0,
        strata=strata_rows(items, strata, answers.asked, answers.codes),
        top_cells=top_cells(
            items, answers.asked, answers.codes, shift, (low, high), sure, interval
        ),
        error={
            "estimate": float(rows.sum() ** 0.5),
            "bound": frobenius_bound(
                rows, calls=int(told.sum()), alpha=alpha, unseen=unseen_error(counts, alpha=alpha)
            ),
        },
        baselines={
            "this run": float(rows.sum()),
            **baselines(items, used, answers.asked, answers.codes),
        },
        sensitivity=(
            {}
            if told.all()
            else _sensitivity(items, used, answers, (accuracy, flips), alpha=alpha, by_item=by_item)
        ),
        strategy=strategy,
        simultaneous=simultaneous,
        asked=_asked(items, strata, answers),
        path=allocation_path(items, strata, answers.asked, answers.codes),
        basis=(items, strata, answers),
    )


def _cells(counts: Counts, shift: FloatArray, *, alpha: float, by_item: bool) -> Ends:
    """Return the ends of every cell of the matrix; they always hold the estimate."""
    entries = entry_bounds(counts, alpha=alpha, by_item=by_item)
    unseen = unseen_bounds(counts, alpha=alpha)
    low = np.zeros_like(shift)
    high = np.repeat(unseen.high[:, None], shift.shape[1], axis=1)
    if not by_item and counts.items.matrix is not None:
        low, high = low - counts.items.matrix, high - counts.items.matrix
    low[counts.true, counts.answer] = entries.low
    high[counts.true, counts.answer] = entries.high
    return np.minimum(low, shift), np.maximum(high, shift)


def _change(
    bounds: SumBounds,
    estimate: float,
    level: float,
    *,
    room: tuple[float, float],
    whole: int | None,
) -> Change:
    """Return an estimate with its interval; it is a count where all *whole* items were answered."""
    if whole is not None:
        share = round(estimate * whole) / whole
        return Change(
            estimate=share,
            interval=Interval(share, share, level=level, method="every item was asked"),
        )
    ends = (min(float(bounds.low), estimate), estimate, max(float(bounds.high), estimate))
    # All three, since each may lie outside by a rounding error.
    low, inside, high = (float(np.clip(end, *room)) for end in ends)
    return Change(
        estimate=inside,
        interval=Interval(low, high, level=level, method="beta of sums, blind hull"),
    )


def _sensitivity(
    items: Items,
    strata: Strata,
    answers: Answers,
    changes: tuple[Change, Change],
    *,
    alpha: float,
    by_item: bool,
) -> dict[str, Interval]:
    """Return the range of the estimates if the failed calls were all one way, or all the other."""
    failed = answers.codes == FAILED
    truth = items.truth[answers.asked]
    p = strata.shares[strata.of[answers.asked]]
    n = np.bincount(strata.of[answers.asked], minlength=len(strata))[strata.of[answers.asked]]
    assert items.matrix is not None  # checked by assess

    def hull(events: FloatArray, less: float, change: Change, method: str) -> Interval:
        ends = [float((p / n * np.where(failed, all_, events)).sum()) - less for all_ in (0.0, 1.0)]
        # The estimate leaves the failed calls out, which is one more way to see them.
        if isinstance(change.estimate, float):
            ends.append(change.estimate)
        return Interval(min(ends), max(ends), level=1 - alpha, method=method)

    # As the estimate does: the old answers of the items asked, where it subtracts item by item,
    # else of all items.
    before = float(np.trace(items.matrix))
    if by_item and items.old is not None:
        before = float((p / n * (items.old[answers.asked] == truth)).sum())
    right = (answers.codes == truth).astype(np.float64)
    found = {
        "accuracy_change": hull(right, before, changes[0], "failed calls all wrong, all right")
    }
    if items.old is not None:
        flip = (answers.codes != items.old[answers.asked]).astype(np.float64)
        found["flip_rate"] = hull(flip, 0.0, changes[1], "failed calls all the same, all flipped")
    return found


def _asked(items: Items, strata: Strata, answers: Answers) -> dict[str, list[object]]:
    """Return what was learnt of each item asked, as columns."""
    columns: list[str | None] = [*items.columns]

    def text(code: int) -> str | None:
        return None if code == FAILED else columns[code]

    asked = answers.asked.tolist()
    table: dict[str, list[object]] = {
        "item": [items.names[item] for item in asked],
        "true": [items.labels[items.truth[item]] for item in asked],
        "new": [text(code) for code in answers.codes.tolist()],
        "stratum": [int(strata.of[item]) for item in asked],
    }
    if items.old is not None:
        old = items.old
        table["old"] = [text(int(old[item])) for item in asked]
        table["changed"] = [
            None if code == FAILED else code != int(old[item])
            for item, code in zip(asked, answers.codes.tolist(), strict=True)
        ]
    return table
