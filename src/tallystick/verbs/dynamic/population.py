"""Weighted finite populations and the operations of a dynamic benchmark upon them.

Of the four operations of [SAH23]_, section 2, three are plain arithmetic and live here: data
collection, model combination and data combination. The fourth, model building, is what a learner
does (:mod:`tallystick.verbs.dynamic.rollouts`).

A model is known by its *error share* at every item: 0 right, 1 wrong, 1/2 where its label is a coin
toss (a tie of a vote, or an item whose own label is random). Arrays may carry leading axes
(rollouts); the last axis is always the items.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.table.words import read_times

Array: TypeAlias = npt.NDArray[Any]

TOLERANCE = 1e-9
"""How far weights may be from one, and a risk from its limit, before it counts: above rounding,
below any item."""


@dataclass(frozen=True, eq=False)
class Population:
    r"""All instances of interest, with the weight of each: the distribution :math:`\mathcal D` of
    [SAH23]_.

    Parameters
    ----------
    weights
        :math:`\mathcal D`, one weight an item, summing to one.
    initial
        :math:`\mathcal D_0`, where the benchmark starts; :math:`\mathcal D` itself if not given.
        Its support must lie in that of :math:`\mathcal D`.
    noisy
        Items whose label is a fair coin at every look (:math:`\mathcal X^\delta`, section 3.1).
        Every model is wrong on half of such an item's mass. A label drawn once and kept is not
        noise in this sense: Theorem 3.6 fails for it (ERRATA).

    Examples
    --------
    >>> people = Population(np.array([0.5, 0.25, 0.25]), noisy=np.array([False, False, True]))
    >>> people.size, people.noise
    (3, 0.25)
    >>> Population(np.array([0.5, 0.4]))
    Traceback (most recent call last):
    tallystick.errors.InputError: weights must sum to one, got a sum of 0.9: divide them by it
    """

    weights: Array
    initial: Array | None = None
    noisy: Array | None = None

    def __post_init__(self) -> None:
        weights = checked_weights(self.weights, "weights")
        initial = weights if self.initial is None else checked_weights(self.initial, "initial")
        noisy = (
            np.zeros(weights.shape, dtype=bool)
            if self.noisy is None
            else np.array(self.noisy, dtype=bool)
        )
        if initial.shape != weights.shape or noisy.shape != weights.shape:
            raise InputError(
                "weights, initial and noisy need one entry an item, "
                f"got {weights.size}, {initial.size} and {noisy.size}"
            )
        outside = np.flatnonzero((initial > 0) & (weights == 0))
        if outside.size:
            raise InputError(
                f"initial puts weight on item {outside[0]}, which has none in weights: drop it or"
                " give it weight"
            )
        for name, value in (("weights", weights), ("initial", initial), ("noisy", noisy)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def uniform(cls, size: int, *, noise: float = 0.0) -> Population:
        """Return *size* items of equal weight, the last share *noise* of them with random
        labels.
        """
        if size < 1:
            raise InputError(f"size must be at least 1, got {size!r}")
        if not 0 <= noise < 1:
            raise InputError(f"noise must be in [0, 1), got {noise!r}")
        return cls(np.full(size, 1 / size), noisy=np.arange(size) >= size - round(noise * size))

    @property
    def size(self) -> int:
        """How many items there are."""
        return int(self.weights.size)

    @property
    def start(self) -> Array:
        r"""The initial distribution :math:`\mathcal D_0`, given or not."""
        return self.weights if self.initial is None else self.initial

    @property
    def coin(self) -> Array:
        """True where the label is random, given or not."""
        return np.zeros(self.size, dtype=bool) if self.noisy is None else self.noisy

    @property
    def noise(self) -> float:
        r"""The share :math:`\delta` of the population whose labels are random."""
        return float(self.weights[self.coin].sum())


def risk(weights: Array, errors: Array) -> Array:
    r"""How much of a distribution does a model get wrong: :math:`R_{\mathcal P}(h) = \Pr_{\mathcal
    P}(E_h)`.

    >>> risk(np.array([0.5, 0.3, 0.2]), np.array([0, 1, 0.5])).item()
    0.4
    """
    return np.asarray(np.einsum("...i,...i->...", weights, np.asarray(errors, dtype=float)))


def collect(weights: Array, errors: Array) -> Array:
    r"""Collect data: the distribution of a model's failures, :math:`\overline{\mathcal D} =
    \mathcal D|_{h(x) \ne y}`.

    [SAH23]_, section 2; in vectors Eq (14), whose factor has to read :math:`1/(2\mathcal D(\mathcal
    K_t))` (ERRATA).

    >>> collect(np.array([0.5, 0.3, 0.2]), np.array([0, 1, 1])).tolist()
    [0.0, 0.6, 0.4]
    >>> collect(np.array([0.5, 0.5]), np.array([0, 0]))
    Traceback (most recent call last):
    tallystick.errors.InputError: the error set is empty, so there is nothing to collect: this model ends the benchmark
    """
    mass = risk(weights, errors)
    if np.any(mass <= 0):
        raise InputError(
            "the error set is empty, so there is nothing to collect: this model ends the benchmark"
        )
    return np.asarray(weights * errors / mass[..., None])


def mix(distributions: Sequence[Array], weights: Sequence[float] | Array) -> Array:
    """Combine data: the mixture of *distributions* in the proportions *weights* (Eq 15).

    >>> mix([np.array([1.0, 0.0]), np.array([0.0, 1.0])], [0.25, 0.75]).tolist()
    [0.25, 0.75]
    """
    shares = checked_weights(weights, "mixture weights")
    if len(distributions) != shares.size:
        raise InputError(
            f"{len(distributions)} distributions need as many mixture weights, got {shares.size}"
        )
    total = shares[0] * np.asarray(distributions[0], dtype=float)
    for share, distribution in zip(shares[1:], distributions[1:], strict=True):
        total = total + share * distribution
    return np.asarray(total)


def vote(errors: Sequence[Array], weights: Sequence[float] | Array | None = None) -> Array:
    r"""Combine models: where is the weighted majority of these models wrong.

    A tie is broken by a coin, so it counts one half. ([SAH23]_ counts a tie as an error in
    Proposition 3.2 and leaves it open elsewhere.) A model whose own error share is 1/2 casts half a
    vote.

    >>> vote([np.array([1, 1, 0]), np.array([1, 0, 0])]).tolist()
    [1.0, 0.5, 0.0]
    """
    if not len(errors):
        raise InputError("a vote needs at least one model, got none")
    ballots = np.ones(len(errors)) if weights is None else np.asarray(weights, dtype=float)
    if ballots.shape != (len(errors),) or not np.all(ballots >= 0) or not ballots.sum() > 0:
        raise InputError(
            f"a vote of {len(errors)} models needs as many weights, none negative and not all zero,"
            f" got {weights!r}"
        )
    wrong = sum(
        ballot * np.asarray(error, dtype=float)
        for ballot, error in zip(ballots, errors, strict=True)
    )
    return majority_share(np.asarray(wrong), float(ballots.sum()))


def majority_share(wrong: Array, total: float) -> Array:
    """Return 1 where more than half of *total* votes are wrong, 1/2 where it is exactly half, else
    0.
    """
    margin = wrong / total - 0.5
    return np.asarray(np.where(np.abs(margin) < TOLERANCE, 0.5, margin > 0))


def checked_weights(weights: Sequence[float] | Array, name: str) -> Array:
    """Return *weights* as floats that are not negative and sum to one, or say which of them does
    not fit.
    """
    values = np.array(weights, dtype=float)
    if values.ndim != 1 or not values.size:
        raise InputError(
            f"{name} must be a non-empty list of numbers, got an array of shape {values.shape}"
        )
    bad = np.flatnonzero(~(values >= 0) | ~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"{name} must be finite and not negative, got {values[bad[0]]} at position {bad[0]}"
        )
    total = float(values.sum())
    if abs(total - 1) > TOLERANCE:
        raise InputError(f"{name} must sum to one, got a sum of {total:.10g}: divide them by it")
    return values


# Inner steps of the rollouts: rows are rollouts, columns items.


_BINS = 256
_AT_ONCE = 1 << 15
"""Numbers of a block of rollouts: what lies between two steps stays in the processor's cache."""


def _blocks(rows: int, size: int) -> list[slice]:
    step = max(1, _AT_ONCE // max(1, size))
    return [slice(start, start + step) for start in range(0, rows, step)]


def fill(
    scores: Array, weights: Array, clean: Array, epsilon: Array, luck: Array, errors: Array
) -> None:
    """Mark the clean items of highest score as *errors* until their mass reaches *epsilon*, per
    row.

    The item on the boundary is taken if *luck* (uniform, one per row) falls below the part of it
    that still fits; luck above one never takes it. A histogram of scores finds the boundary, so
    only the few items beside it are sorted.

    >>> errors = np.empty((1, 4), bool)
    >>> scores, weights = np.array([[0.1, 0.9, 0.5, 0.7]]), np.full((1, 4), 0.25)
    >>> fill(scores, weights, np.ones(4, bool), np.array([0.5]), np.array([2.0]), errors)
    >>> errors.tolist()
    [[False, True, False, True]]
    """
    items = np.flatnonzero(clean)
    some = items if items.size < clean.size else slice(None)
    for block in _blocks(*scores.shape):
        part = scores[block, some], weights[block, some], epsilon[block], luck[block]
        errors[block] = False
        if items.size:
            errors[block, some] = _filled(*part)


def _filled(score: Array, weight: Array, epsilon: Array, luck: Array) -> Array:
    rows = len(score)

    # Bins from the highest score downwards. What is infinite lies in the first or the last one.
    high, low = score.max(axis=1, keepdims=True), score.min(axis=1, keepdims=True)
    if not (np.isfinite(high) & np.isfinite(low)).all():
        finite = np.isfinite(score)
        high = np.where(finite, score, -np.inf).max(axis=1, keepdims=True)
        low = np.where(finite, score, np.inf).min(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(high > low, (_BINS - 1) / (high - low), 0.0)
        place = np.clip((high - score) * scale, 0.0, _BINS - 1.0)
    if (high <= low).any() or not np.isfinite(place).all():
        place = np.where(score >= high, 0, np.where(score <= low, _BINS - 1, place))
    place = place.astype(np.intp)

    # The first bin that does not fit as a whole is the boundary.
    place += np.arange(rows)[:, None] * _BINS
    mass = np.bincount(place.ravel(), weight.ravel(), rows * _BINS).reshape(rows, _BINS)
    reached = np.cumsum(mass, axis=1)
    edge = (reached <= epsilon[:, None]).sum(axis=1)
    before = np.where(edge > 0, reached[np.arange(rows), edge - 1], 0.0)
    bounds = (edge + np.arange(rows) * _BINS)[:, None]
    taken = place < bounds

    # Its items in order of their scores, one row per rollout, filled up with what never fits.
    row, column = np.nonzero(place == bounds)
    order = np.lexsort((-score[row, column], row))
    row, column = row[order], column[order]
    count = np.bincount(row, minlength=rows)
    position = np.arange(row.size) - np.repeat(np.cumsum(count) - count, count)
    beside = np.zeros((rows, int(count.max()) + 2 if row.size else 2))
    beside[:, 0] = before
    beside[row, position + 1] = weight[row, column]
    together = np.cumsum(beside, axis=1)
    fits = together[row, position + 1] <= epsilon[row]
    # The first that does not fit is left to luck, and nothing after it is taken.
    last = np.full(rows, row.size)
    np.minimum.at(last, row[~fits], position[~fits])
    with np.errstate(invalid="ignore"):  # luck that never comes, on an item without weight
        lucky = luck[row] * weight[row, column] < epsilon[row] - together[row, position]
    taken[row, column] = (position < last[row]) | ((position == last[row]) & lucky)
    return np.asarray(taken)


def count_votes(
    errors: Array,
    ballot: float,
    half: float,
    close: float,
    clean: Array,
    weights: Array,
    wrong: Array,
    out: Array,
) -> None:
    """Add a round's votes to *wrong*; write majority risk, model risk and excess risk of each
    rollout into *out*.

    >>> wrong, out = np.zeros((1, 2)), np.zeros((1, 3))
    >>> share = np.array([0.4, 0.6])
    >>> count_votes(np.array([[True, False]]), 1.0, 0.5, 1e-9, share, share[None], wrong, out)
    >>> wrong.tolist(), out.tolist()
    ([[1.0, 0.0]], [[0.4, 0.4, 0.4]])
    """
    for block in _blocks(*errors.shape):
        failed = errors[block].astype(np.float64)
        wrong[block] += ballot * failed
        # A tie counts half: it is above one of two bars.
        votes = wrong[block]
        out[block, 0] = 0.5 * (
            (votes > half + close).astype(np.float64) @ clean
            + (votes >= half - close).astype(np.float64) @ clean
        )
        out[block, 1] = failed @ clean
        out[block, 2] = np.einsum("ij,ij->i", failed, weights[block])


def add_errors(errors: Array, coin: Array, population: Array, total: Array, count: Array) -> None:
    """Add the error distribution of each rollout, as ideal annotators return it, to the running sum
    *total*.

    >>> total, count = np.zeros((1, 2)), np.zeros(1)
    >>> add_errors(np.array([[True, False]]), np.zeros(2, bool), np.full(2, 0.5), total, count)
    >>> total.tolist(), count.tolist()
    ([[1.0, 0.0]], [1.0])
    """
    for block in _blocks(*errors.shape):
        found = np.where(coin, 0.5, errors[block]) * population
        mass = found.sum(axis=1)
        some = mass > 0
        count[block] += some
        total[block] += found / np.where(some, mass, 1.0)[:, None]


# How much does a rollout resemble the bad sequence of Theorem 3.5: the score :math:`z_T`.
#
# [SAH23]_, section B.2: where two models err together, does the majority err too,
#
# .. math:: z_{s,t} = \frac{\mathcal D(E_s \cap E_t \cap E_m)}{\mathcal D(E_s \cap E_t)}, \qquad
#           z_T = \text{mean over pairs } s \ne t.
#
# The text leaves two cases open. A pair without common errors (0/0) says nothing and is left out
# of
# the mean; without any other pair :math:`z_T` is unknown (NaN). A tie of the majority counts one
# half. For three models and a binary majority :math:`z_3 = 1` always: two of three *are* the
# majority.


def similarity(
    errors: Array, *, weights: Array | None = None, majority: Array | None = None
) -> Array:
    """Return :math:`z_T` of each rollout.

    Parameters
    ----------
    errors
        Booleans of shape (..., models, items).
    weights
        The population's weights; equal ones if not given.
    majority
        Error share of the vote, (..., items), where it is not the binary majority of *errors* (a
        plurality, say).

    Examples
    --------
    >>> similarity(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=bool)).item()
    1.0
    >>> similarity(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=bool)).item()
    nan
    """
    wrong = np.asarray(errors).astype(np.float32)
    models, items = wrong.shape[-2:]
    if models < 2:
        raise InputError(f"z needs at least two models, got {models}")
    mass = np.full(items, 1 / items) if weights is None else np.asarray(weights, dtype=float)
    vote = (
        majority_share(wrong.sum(axis=-2), models)
        if majority is None
        else np.asarray(majority, dtype=float)
    )
    # Items that no two models get wrong are in no overlap: leaving them out saves most of the work
    # on good models.
    busy = (wrong.sum(axis=-2) >= 2).reshape(-1, items).any(axis=0)
    wrong, vote, mass = (
        wrong[..., busy],
        vote[..., busy].astype(np.float32),
        mass[busy].astype(np.float32),
    )
    both = (wrong * mass) @ np.swapaxes(wrong, -1, -2)
    all_three = (wrong * (mass * vote)[..., None, :]) @ np.swapaxes(wrong, -1, -2)
    upper = np.triu_indices(models, 1)
    both, all_three = both[..., *upper], all_three[..., *upper]
    known = both > 0
    ratio = np.divide(all_three, both, out=np.zeros_like(both), where=known)
    pairs = known.sum(axis=-1)
    mean = np.divide(ratio.sum(axis=-1), pairs, out=np.full(pairs.shape, np.nan), where=pairs > 0)
    return np.asarray(np.where(np.isnan(mean), np.nan, np.clip(mean, 0, 1)), dtype=float)


@dataclass(frozen=True, kw_only=True)
class Signals:
    """What an early round says about the final risk, over rollouts (Figure 5): Pearson correlations
    with intervals.
    """

    early: int
    final: int
    z_correlation: float | None
    z_interval: Interval | None
    risk_correlation: float | None
    risk_interval: Interval | None
    rollouts: int


def early_signals(
    errors: Array,
    risk: Array,
    *,
    early: int,
    weights: Array | None = None,
    majority: Array | None = None,
) -> Signals:
    """Correlate :math:`z` and majority risk at round *early* (counted from 1) with the final
    majority risk.

    [SAH23]_, section B.2 and Figure 5. A correlation is None where one side does not vary.

    Parameters
    ----------
    errors
        (rollouts, rounds, items).
    risk
        (rollouts, rounds), majority risk by round.
    majority
        Error share of the vote of the first *early* models, (rollouts, items), where *risk* is not
        that of the binary majority: a plurality of many labels, say.
    """
    rollouts, rounds = risk.shape
    if not 2 <= early < rounds:
        raise InputError(f"early must be a round from 2 to {rounds - 1}, got {early!r}")
    if rollouts < 4:
        raise InputError(f"a correlation over rollouts needs at least 4 of them, got {rollouts}")
    z = similarity(errors[:, :early], weights=weights, majority=majority)
    by_z, by_risk = _pearson(z, risk[:, -1]), _pearson(risk[:, early - 1], risk[:, -1])
    return Signals(
        early=early,
        final=rounds,
        z_correlation=by_z[0],
        z_interval=by_z[1],
        risk_correlation=by_risk[0],
        risk_interval=by_risk[1],
        rollouts=rollouts,
    )


def rank_persistence(risk: Array) -> Array:
    """Return the rank correlation of the rollouts' risk at each round with their final risk: do bad
    ones stay bad.

    NaN where all rollouts are alike.

    >>> rank_persistence(np.array([[0.3, 0.2], [0.4, 0.1], [0.5, 0.3]])).round(2).tolist()
    [0.5, 1.0]
    """
    ranks = np.column_stack([_ranks(column) for column in risk.T])
    centred = ranks - ranks.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    product = centred.T @ centred[:, -1]
    out = np.full(risk.shape[1], np.nan)
    return np.asarray(np.divide(product, scale * scale[-1], out=out, where=scale * scale[-1] > 0))


def _ranks(values: Array) -> Array:
    """Ranks from 1, ties sharing their mean."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def _pearson(x: Array, y: Array) -> tuple[float | None, Interval | None]:
    """Pearson's r with Fisher's interval."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None, None
    r = float(np.corrcoef(x, y)[0, 1])
    half = 1.959964 / np.sqrt(x.size - 3)
    low, high = np.tanh(np.arctanh(np.clip(r, -0.9999999, 0.9999999)) + np.array([-half, half]))
    return r, Interval(
        float(min(low, r)),
        float(max(high, r)),
        level=0.95,
        guarantee="approximate",
        method="fisher",
    )


# In which order rounds come, whatever people call them: numbers, dates or names.


_MOST_DAYS = 60
_DIGITS = re.compile(r"\d+")
_YEAR = re.compile(r"(19|20)\d\d")


@dataclass(frozen=True, eq=False)
class RoundOrder:
    """The rounds in order, and the place in it of every row.

    Parameters
    ----------
    codes
        One place per row, from 0.
    names
        What each round is called: a number, a day or month, or a name.
    notes
        What was read into the cells.
    """

    codes: Array
    names: tuple[Any, ...]
    notes: tuple[str, ...] = ()


def round_name(name: Any) -> str:
    """Return what a round is called in a sentence.

    >>> round_name(3), round_name("Round 12"), round_name("pilot")
    ('round 3', 'Round 12', 'round pilot')
    """
    text = str(name)
    return text if text.lower().startswith("round") else f"round {text}"


def order_rounds(
    cells: Sequence[Any], *, when: Sequence[float] | None = None, clock: str = "time"
) -> RoundOrder:
    """Order rounds by number, by day, by the numbers in their names, by time, or as they appear.

    A date with a time counts as its day. More than 60 days are read as months.

    Parameters
    ----------
    cells
        The round of each row.
    when, clock
        When each row was made, where that is known, and what that column is called: names without
        numbers are put in the order of the middle time of their rows.

    Examples
    --------
    >>> order_rounds(["10", "9", "9"]).names, order_rounds(["R10", "R9"]).names
    ((9, 10), ('R9', 'R10'))
    >>> order_rounds(["2024-03-02 10:00", "2024-03-01"]).names
    ('2024-03-01', '2024-03-02')
    >>> order_rounds([1, 4]).notes
    ('rounds 2 and 3 are missing: the rounds that there are count in order',)
    """
    words = [str(cell).strip() for cell in cells]
    numbers = [_whole(cell) for cell in cells]
    if all(number is not None for number in numbers):
        names = tuple(sorted({number for number in numbers if number is not None}))
        return RoundOrder(_places(numbers, names), names, _gaps(names))

    days = _days(words)
    if days is not None:
        if len(set(days)) > _MOST_DAYS:
            days = [day[:7] for day in days]
            note = f"the rounds are dates of more than {_MOST_DAYS} days: they are read as months"
            return RoundOrder(_places(days, sorted(set(days))), tuple(sorted(set(days))), (note,))
        return RoundOrder(_places(days, sorted(set(days))), tuple(sorted(set(days))))

    seen = list(dict.fromkeys(words))
    keys = _numbers_in(seen)
    if keys is not None:
        seen.sort(key=lambda word: keys[word])
        return RoundOrder(_places(words, seen), tuple(seen))
    if when is not None:
        times = np.asarray(when, dtype=float)
        codes = _places(words, seen)
        middle = {name: float(np.median(times[codes == k])) for k, name in enumerate(seen)}
        seen.sort(key=lambda word: middle[word])
        note = f"the rounds are in the order of {clock!r}: {_listed(seen)}"
        return RoundOrder(_places(words, seen), tuple(seen), (note,))
    note = f"the rounds are in the order in which they first appear: {_listed(seen)}"
    return RoundOrder(_places(words, seen), tuple(seen), (note,))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _numbers_in(names: Sequence[str]) -> dict[str, tuple[int, ...]] | None:
    """Return the numbers in names that differ by them alone (R9, v1.10, 2024-Q1); None otherwise.

    >>> _numbers_in(["Q4 2023", "Q1 2024"])
    {'Q4 2023': (2023, 4), 'Q1 2024': (2024, 1)}
    """
    found: dict[str, tuple[int, ...]] = {}
    for name in names:
        digits = _DIGITS.findall(name)
        # The year comes first in time, wherever it stands in the name.
        digits.sort(key=lambda text: _YEAR.fullmatch(text) is None)
        found[name] = tuple(map(int, digits))
    lengths = {len(key) for key in found.values()}
    one_number = lengths == {1}
    alike = len({_DIGITS.sub("#", name) for name in names}) == 1
    # 03/02/2024: which is the day is not known, so its numbers are no order.
    dates = any(re.fullmatch(r"\d{1,2}([/.-])\d{1,2}\1\d{2,4}", name) for name in names)
    if not (one_number or (alike and 0 not in lengths)) or dates:
        return None
    return found if len(set(found.values())) == len(names) else None


def _whole(cell: Any) -> int | None:
    if isinstance(cell, bool):
        return int(cell)
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return int(value) if value == value // 1 and abs(value) < 1e15 else None


def _days(words: Sequence[str]) -> list[str] | None:
    """Return the day of each date, None where the rounds are not dates."""
    # A month or a quarter has no day: such names are ordered by their numbers.
    if not all(
        len(_DIGITS.findall(word)) >= 3 or re.search(r"[A-Za-z]{3}", word) for word in words
    ):
        return None
    found = read_times(words)
    if found.seconds is None or not found.dated:
        return None
    return [datetime.fromtimestamp(value, UTC).date().isoformat() for value in found.seconds]


def _places(values: Sequence[Any], names: Sequence[Any]) -> Array:
    at = {name: place for place, name in enumerate(names)}
    return np.array([at[value] for value in values], dtype=np.int64)


def _gaps(names: Sequence[int]) -> tuple[str, ...]:
    if names[-1] - names[0] > 1000:
        return ()  # ids of rounds, not their numbers
    absent = [str(n) for n in range(names[0], names[-1]) if n not in names]
    if not absent:
        return ()
    one = len(absent) == 1
    listed = absent[0] if one else f"{', '.join(absent[:-1])} and {absent[-1]}"
    verb = "is" if one else "are"
    return (
        f"round{'s' * (not one)} {listed} {verb} missing: the rounds that there are count in order",
    )
