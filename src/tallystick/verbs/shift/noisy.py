"""How accuracy, matrix and flip rate changed when answers are random: intervals from counts.

The counterpart of :mod:`tallystick.verbs.shift.change` for an API whose answers vary from call to
call; with a noise share of 0 the accuracy and the entries are those of that module, except that
exhausted strata no longer stretch an interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.results import (
    Gate,
    GateEstimate,
    Interval,
    Needed,
    Unknown,
    check_gates,
    parse_gate,
)
from tallystick.results.gates import check_bar
from tallystick.sampling import Observed
from tallystick.verbs.shift.design import (
    ACCURACY_HULL,
    FLIP_HULL,
    Items,
    StratumSample,
    SumBounds,
    _ends,
    minus,
    sum_bounds,
)
from tallystick.verbs.shift.noise import Counts
from tallystick.verbs.shift.result import Change, ShiftGate, ShiftResult
from tallystick.verbs.shift.verdict import failed_share, gate_basis, gated_verdict, wider

FloatArray = NDArray[np.float64]


def noisy_accuracy(
    counts: Counts,
    *,
    share: ArrayLike,
    alpha: float,
    blind: Observed | None = None,
    new_items: bool = False,
) -> SumBounds:
    """Bound the change of accuracy: items that became right minus items that became wrong.

    Parameters
    ----------
    counts
        What was seen, with old answers by item.
    share
        λ over flips of correctness; ignored for new items.
    alpha
        One minus the level.
    blind
        Counts of the questions that were chosen without regard to answers. The interval is
        stretched by half the gap to their estimate.
    new_items
        Speak of new items instead of these.
    """
    items = len(counts.items)
    sample = sample_of(counts.seen)
    moves = accuracy_moves(counts, counts.seen)
    found = (
        new_item_bounds(moves, sample, items=items, alpha=alpha)
        if new_items
        else change_bounds(moves, sample, share=share, items=items, alpha=alpha)
    )
    if blind is None:
        return found
    gap = blind_gap(moves.net, sample, accuracy_moves(counts, blind).net, _floats(blind.answered))
    return stretched(found, gap, part=ACCURACY_HULL)


def noisy_flips(
    counts: Counts, *, share: ArrayLike, alpha: float, blind: Observed | None = None
) -> SumBounds:
    """Bound the share of items whose answer changed; the estimate moves to the blind one.

    Parameters
    ----------
    counts, alpha, blind
        As in :func:`noisy_accuracy`.
    share
        λ over all flips.
    """
    sample = sample_of(counts.seen)
    flips = _flips(counts.seen)
    found = flip_rate_bounds(flips, sample, share=share, items=len(counts.items), alpha=alpha)
    if blind is None:
        return found
    gap = blind_gap(flips, sample, _flips(blind), _floats(blind.answered))
    moved = stretched(found, gap, part=FLIP_HULL, move=True)
    # A share stays a share, also where the blind estimate overshoots.
    value, low, high = (np.clip(end, 0.0, 1.0) for end in (moved.value, moved.low, moved.high))
    return SumBounds(value, low, high, moved.variance, moved.rate)


def noisy_entries(counts: Counts, *, shares: ArrayLike, alpha: float) -> SumBounds:
    """Bound the change of every counted cell of the matrix; axes (…, C).

    Parameters
    ----------
    counts, alpha
        As in :func:`noisy_accuracy`.
    shares
        λ of each cell, :meth:`~tallystick.verbs.shift.noise.Repeats.entry_shares`.
    """
    each = np.broadcast_to(np.asarray(shares, dtype=np.float64), counts.true.shape)
    parts = [_row(counts, int(label), each, alpha) for label in np.unique(counts.true)]
    # Cells are numbered row by row of the matrix, so the rows follow one another.
    value, low, high, variance = (
        np.concatenate([getattr(part, name) for part in parts], axis=-1)
        for name in ("value", "low", "high", "variance")
    )
    return SumBounds(value, low, high, variance, np.empty(0))


def _row(counts: Counts, label: int, shares: FloatArray, alpha: float) -> SumBounds:
    """Return the cells of one true label: they can only change in strata that have such items."""
    seen = _with_old(counts.seen)
    cells, strata = np.flatnonzero(counts.true == label), np.flatnonzero(counts.of_label[:, label])
    whole = sample_of(seen)
    sample = StratumSample(
        whole.shares[strata], whole.answered[..., strata], whole.fraction[..., strata]
    ).by_event

    def events(table: NDArray[np.intp] | None) -> FloatArray:
        assert table is not None  # counted with old answers
        return _floats(np.swapaxes(table[..., strata[:, None], cells], -1, -2))

    same, at = events(seen.same), np.ix_(cells, strata)
    moves = Moves(
        gain=events(seen.new) - same,
        loss=events(seen.old) - same,
        can_gain=counts.can_gain[at],
        can_lose=counts.can_lose[at],
    )
    items = len(counts.items)
    return change_bounds(moves, sample, share=shares[cells], items=items, alpha=alpha)


def accuracy_moves(counts: Counts, seen: Observed) -> Moves:
    """Return which answers became right and which became wrong, by stratum."""
    told = _with_old(seen)
    right, items = counts.right, counts.items
    assert told.old is not None  # checked by _with_old
    assert told.same is not None
    assert items.old is not None
    was_right = items.old == items.truth
    strata = counts.strata
    right_items = np.bincount(strata.of, weights=was_right, minlength=len(strata))
    same = told.same[..., right].sum(axis=-1)
    return Moves(
        gain=_floats(told.new[..., right].sum(axis=-1) - same),
        loss=_floats(told.old[..., right].sum(axis=-1) - same),
        can_gain=right_items < strata.sizes,
        can_lose=right_items > 0,
    )


def sample_of(seen: Observed) -> StratumSample:
    """Return what was answered in every stratum."""
    return StratumSample(seen.shares, _floats(np.maximum(seen.answered, 1)), _floats(seen.fraction))


def _flips(seen: Observed) -> FloatArray:
    same = _with_old(seen).same
    assert same is not None  # checked by _with_old
    return _floats(seen.answered - same.sum(axis=-1))


def _with_old(seen: Observed) -> Observed:
    if seen.old is None or seen.same is None:
        raise InputError("old answers by item are needed to see a flip: give old=… for every item")
    return seen


def _floats(values: NDArray[np.generic]) -> FloatArray:
    return np.asarray(values, dtype=np.float64)


# Intervals for change when answers are random: the finite-population correction that survives.
#
# With every item asked, a deterministic API leaves no doubt; a noisy one would answer differently
# tomorrow. The intervals of :mod:`tallystick.verbs.shift.design` get a noise term, with λ the noise
# share (:mod:`~tallystick.verbs.shift.noise`), M the items, G and L the estimated gains and losses,
# F the pooled flip rate:
#
# .. math::
#
#    \text{change of a mean:} \quad & z^2 λ (G + L + 1/M)/M \text{ under both roots of (I3)} \\
#    \text{flip rate:} \quad & v + F \min(λ, 1 - F)/M, \quad w^+ \ge λ/M   \tag{N2}
#
# and both are moved towards the blind estimate by δ = Σ p_k (blind mean - pooled mean) over strata
# that are not exhausted. For *new items* there is no correction (φ = 0), and
#
# .. math:: z^2 \sum_k p_k (d_k - \bar d)^2 / M \text{ under both roots}   \tag{N3}
#
# λ = 0 gives the intervals for a deterministic API. docs/theory/shift.md, *Intervals*.
# Element by element over leading axes; strata are the last one.


BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Moves:
    """Items that came in and items that went out, by stratum, along the last axis.

    Parameters
    ----------
    gain, loss
        Answers that became right (or entered the cell), and that ceased to be.
    can_gain, can_lose
        Strata in which that is possible: for accuracy, those with a wrong old answer and those with
        a right one.
    """

    gain: FloatArray
    loss: FloatArray
    can_gain: BoolArray
    can_lose: BoolArray

    @property
    def net(self) -> FloatArray:
        """Gains minus losses."""
        return self.gain - self.loss


def change_bounds(
    moves: Moves, sample: StratumSample, *, share: ArrayLike, items: int, alpha: float
) -> SumBounds:
    """Bound gains minus losses on these items, over fresh noise.

    Parameters
    ----------
    moves, sample
        What was seen, over broadcastable strata.
    share
        λ of the moves; 1 needs no assumption about the old API, 0 is for a deterministic one.
    items
        M, all items, asked or not.
    alpha
        One minus the level.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.8, 0.2]), np.array([400.0, 100.0]), np.array([0.5, 0.5]))
    >>> right = np.array([True, False])
    >>> moves = Moves(gain=np.array([0.0, 22.0]), loss=np.array([30.0, 0.0]), can_gain=~right,
    ...               can_lose=right)
    >>> found = change_bounds(moves, sample, share=0.6957, items=1000, alpha=0.05)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    -0.0160 [-0.0424, 0.0097]
    """
    gain = sum_bounds(moves.gain, sample, alpha=alpha, possible=moves.can_gain)
    loss = sum_bounds(moves.loss, sample, alpha=alpha, possible=moves.can_lose)
    noise = np.asarray(share) * (gain.value + loss.value + 1 / items) / items  # (N2)
    return widened(minus(gain, loss, sample), noise, alpha=alpha)


def new_item_bounds(moves: Moves, sample: StratumSample, *, items: int, alpha: float) -> SumBounds:
    """Bound gains minus losses on *new* items; needs no repeats and no assumption about noise.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.8, 0.2]), np.array([400.0, 100.0]), np.array([0.5, 0.5]))
    >>> right = np.array([True, False])
    >>> moves = Moves(gain=np.array([0.0, 22.0]), loss=np.array([30.0, 0.0]), can_gain=~right,
    ...               can_lose=right)
    >>> found = new_item_bounds(moves, sample, items=1000, alpha=0.05)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    -0.0160 [-0.0459, 0.0123]
    """
    endless = replace(sample, fraction=np.zeros_like(sample.fraction))
    gain = sum_bounds(moves.gain, endless, alpha=alpha, possible=moves.can_gain)
    loss = sum_bounds(moves.loss, endless, alpha=alpha, possible=moves.can_lose)
    change = moves.net / sample.answered
    mean = (sample.shares * change).sum(axis=-1, keepdims=True)
    between = (sample.shares * (change - mean) ** 2).sum(axis=-1) / items  # (N3)
    return widened(minus(gain, loss, endless), between, alpha=alpha)


def flip_rate_bounds(
    flips: FloatArray, sample: StratumSample, *, share: ArrayLike, items: int, alpha: float
) -> SumBounds:
    """Bound the share of flips on these items, over fresh noise, before it moves to the blind one.

    Parameters
    ----------
    flips
        Answers that differ from the old one, by stratum.
    sample, share, items, alpha
        As in :func:`change_bounds`, with λ over all flips.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.8, 0.2]), np.array([800.0, 200.0]), np.array([1.0, 1.0]))
    >>> found = flip_rate_bounds(np.array([272.0, 100.0]), sample, share=0.5504, items=1000,
    ...                          alpha=0.05)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    0.3720 [0.3439, 0.4008]
    """
    plain = sum_bounds(flips, sample, alpha=alpha)
    rate, noise = plain.value, np.asarray(share, dtype=np.float64)
    # f(1-f) <= v_old + v_new for each item (Efron-Stein), and F(1-F) bounds it whatever λ is.
    variance = plain.variance + rate * np.minimum(noise, 1 - rate) / items  # (N2)
    more = np.maximum(one_more(sample), noise / items)
    low, high = sum_ends(rate, variance, more, mass=np.ones_like(rate), alpha=alpha)
    return replace(plain, low=low, high=high, variance=variance)


def blind_gap(
    events: FloatArray, sample: StratumSample, blind_events: FloatArray, blind_answered: FloatArray
) -> FloatArray:
    """Return δ: how far the blind estimate lies from the pooled one.

    A stratum that is exhausted has no adaptive bias, and one without blind answers shows none.

    Parameters
    ----------
    events, sample
        Of all answers.
    blind_events, blind_answered
        Of the questions that were chosen without regard to answers.
    """
    some = (blind_answered > 0) & (sample.fraction < 1)
    blind = blind_events / np.maximum(blind_answered, 1)
    apart = np.where(some, blind - events / sample.answered, 0.0)
    return np.asarray((sample.shares * apart).sum(axis=-1))


def stretched(bounds: SumBounds, gap: ArrayLike, *, part: float, move: bool = False) -> SumBounds:
    """Return the hull of an interval and of the same interval moved by *part* of the gap.

    Parameters
    ----------
    bounds
        The pooled estimate with its interval.
    gap
        δ.
    part
        How much of it.
    move
        Whether the estimate moves, too.
    """
    by = part * np.asarray(gap, dtype=np.float64)
    return replace(
        bounds,
        value=bounds.value + by if move else bounds.value,
        low=bounds.low + np.minimum(by, 0),
        high=bounds.high + np.maximum(by, 0),
    )


def widened(bounds: SumBounds, variance: ArrayLike, *, alpha: float) -> SumBounds:
    """Return a difference with z² times *variance* added under both roots of (I3)."""
    from scipy.special import ndtri

    more = float(ndtri(alpha / 2)) ** 2 * np.asarray(variance, dtype=np.float64)
    down = np.sqrt((bounds.value - bounds.low) ** 2 + more)
    up = np.sqrt((bounds.high - bounds.value) ** 2 + more)
    return replace(
        bounds,
        low=np.maximum(bounds.value - down, -1.0),
        high=np.minimum(bounds.value + up, 1.0),
        variance=bounds.variance + np.asarray(variance),
    )


def one_more(sample: StratumSample, possible: BoolArray | None = None) -> FloatArray:
    """Return w⁺ of (I1): what one more event, not yet seen, would add to the sum."""
    phi = sample.fraction
    with np.errstate(divide="ignore", invalid="ignore"):
        unseen = np.where(phi >= 1, 0.0, np.where(phi > 0, phi / -np.log1p(-phi), 1.0))
    each = sample.shares / sample.answered * unseen
    return np.asarray((each if possible is None else np.where(possible, each, 0.0)).max(axis=-1))


def sum_ends(
    value: FloatArray, variance: FloatArray, more: FloatArray, *, mass: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends (I2) of a sum from its own variance and w⁺, on the complement above half.

    Parameters
    ----------
    value, variance, more
        The sum, its variance v and w⁺, not divided by the mass.
    mass
        The share of items in strata where the event is possible; 0 gives [0, 0].
    alpha
        One minus the level.
    """
    some = np.asarray(mass) > 0
    safe = np.where(some, mass, 1.0)
    est = value / safe
    above = est > 0.5
    low, high = _ends(np.where(above, 1 - est, est), variance / safe**2, more / safe, alpha)
    low, high = np.where(above, 1 - high, low), np.where(above, 1 - low, high)
    return np.asarray(low * safe * some), np.asarray(high * safe * some)


# Gates of `shift`: which numbers they can compare, and whether they hold.


METRICS = (
    "flip_rate",
    "answers_differ",
    "accuracy_change",
    "grade_change",
    "error",
    "recall_change:LABEL",
)
"""What a gate can compare. ``flip_rate`` is the share of answers that changed beyond the API's own
randomness (all flips of a deterministic API); ``answers_differ`` is the share of all flips."""


def _within(metric: str) -> tuple[float, float] | None:
    """Return between what a metric lies; None for grades, which have scales of their own."""
    if metric == "error":
        return 0.0, sqrt(2)  # two matrices of shares that sum to 1 are never further apart
    if metric in ("flip_rate", "answers_differ"):
        return 0.0, 1.0
    is_change = metric == "accuracy_change" or metric.startswith("recall_change:")
    return (-1.0, 1.0) if is_change else None


def read_gates(texts: Sequence[str]) -> tuple[Gate, ...]:
    """Read gates as they are typed; each compares a metric with a number.

    >>> [gate.left for gate in read_gates(["flip_rate <= 1%"])]
    ['flip_rate']
    """
    gates = tuple(parse_gate(text) for text in texts)
    for gate in gates:
        if gate.right is not None:
            raise InputError(
                "a gate of shift compares a metric with a number, e.g. 'flip_rate <= 0.01', got"
                f" {str(gate)!r}"
            )
        # Before a call is paid for.
        if (within := _within(gate.left)) is not None:
            check_bar(gate, *within, share=gate.left != "error")
    return gates


def flip_limit(gates: Sequence[Gate]) -> float | None:
    """Return the share of changed answers that a run can watch while it asks, if a gate sets one.

    Of several the first is watched; the others are checked against the interval at the end.
    """
    return next(
        (gate.offset for gate in gates if gate.left == "flip_rate" and gate.relation == "<="), None
    )


def with_gates(result: ShiftResult, gates: Sequence[Gate]) -> ShiftResult:
    """Return the result with the outcome of every gate, and a verdict that begins with them.

    A test that watched the run decides its gate; every other gate is decided by its interval.
    """
    if not gates:
        return result
    outcomes = list(check_gates(gates, margin=lambda one: metric_estimate(result, one.left)))
    watched = flip_limit(gates)
    if result.gate is not None and watched is not None:
        place = next(
            n
            for n, gate in enumerate(gates)
            if (gate.left, gate.relation, gate.offset) == ("flip_rate", "<=", watched)
        )
        outcomes[place] = replace(outcomes[place], passed=result.gate.passed)

    first = outcomes[0]
    shown = result.gate or ShiftGate(
        expression=str(gates[0]), passed=first.passed, rests_on=gate_basis(first)
    )
    decided = all(one.passed is not None for one in outcomes)
    # More calls do not show how noisy the old API was, and without that the gate stays open.
    blocked = result.noise is not None and result.noise.less_stable
    blocked &= any(
        gate.left == "flip_rate" and one.passed is None and isinstance(one.estimate, Unknown)
        for gate, one in zip(gates, outcomes, strict=True)
    )
    more = "old answers per item (--old-draws)" if blocked else "calls"
    return replace(
        result,
        gate=shown,
        gates=tuple(outcomes),
        verdict=gated_verdict(outcomes, result.verdict),
        sentences=None,
        decision="decided" if decided else "undecided",
        needed=None if decided else Needed(None, more),
    )


def check_metric(metric: str, items: Items) -> None:
    """Refuse a *metric* that no run on *items* can measure, before a call is paid for.

    >>> check_metric("recall_change:Cat", Items.of(["cat", "dog"]))
    Traceback (most recent call last):
    tallystick.errors.InputError: a gate on recall_change names a label with items, one of cat, dog; got 'Cat'
    """
    name, colon, label = metric.partition(":")
    if metric in ("flip_rate", "answers_differ") and items.old is None:
        raise InputError(f"a gate on {metric} needs the old answer to every item (--old)")
    if not items.labelled and name in ("accuracy_change", "recall_change"):
        raise InputError(f"a gate on {metric} needs true labels (--truth)")
    if name == "recall_change" and colon:
        known = [one for one, mass in zip(items.labels, items.mass, strict=True) if mass]
        if label not in known:
            raise InputError(
                f"a gate on recall_change names a label with items, one of {', '.join(known[:8])};"
                f" got {label!r}"
            )
    elif metric not in METRICS[:-1]:
        raise _no_metric(metric)


def metric_interval(result: ShiftResult, metric: str) -> Interval:
    """Return the interval of *metric*; a gate passes if all of it is on the right side of the bar.

    Nobody knows what a failed call would have answered, so the interval allows for either: a gate
    that failed calls could turn is undecided. A limit on flips is better watched during the run:
    ``Run(flip_limit=…)``.

    Parameters
    ----------
    result
        The assessment.
    metric
        One of :data:`METRICS`. ``error`` is the Frobenius error, from 0 up to its bound.
    """
    if metric == "error":
        return Interval(0.0, result.error["bound"], method="bound on the Frobenius error")
    change = _change(result, metric)
    if change.interval is None:
        raise InputError(f"{metric} is not known here: {change.estimate}")
    label = metric.partition(":")[2] or None
    failed = 0.0 if result.evidence is None else failed_share(*result.evidence, label=label)
    least = 0.0 if metric in ("flip_rate", "answers_differ") else -1.0
    why = "failed calls may have answered anything"
    allowed = wider(change, below=failed, above=failed, least=least, why=why).interval
    assert allowed is not None  # the change has one
    return allowed


def metric_estimate(result: ShiftResult, metric: str) -> GateEstimate:
    """Return the estimate of *metric* with the interval of :func:`metric_interval`."""
    interval = metric_interval(result, metric)
    if metric == "error":
        none = Unknown("only a bound on the error is known")
        return GateEstimate(none, interval, "number", within=_within(metric))
    unit: Literal["share", "number"] = "number" if metric == "grade_change" else "share"
    return GateEstimate(_change(result, metric).estimate, interval, unit, within=_within(metric))


def _change(result: ShiftResult, metric: str) -> Change:
    if metric == "flip_rate" and result.noise is not None:
        return result.noise.beyond
    if metric in ("flip_rate", "answers_differ"):
        return result.flip_rate
    if metric == "grade_change" and result.grade_change is not None:
        return result.grade_change
    if metric == "accuracy_change":
        return result.accuracy_change
    name, colon, label = metric.partition(":")
    if name == "recall_change" and colon and label in result.recall_change:
        return result.recall_change[label]
    raise _no_metric(metric)


def _no_metric(metric: str) -> InputError:
    return InputError(f"a gate of shift is on one of {', '.join(METRICS)}, got {metric!r}")
