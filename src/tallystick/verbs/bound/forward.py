r"""The forward dual for accuracy, precision, recall and F1: outer bounds that hold at the kink,
from counts.

Any potentials give an outer bound ([MP23]_, Theorem 2.1), so they may be learnt, as long as the
rows that they are applied to come later. With :math:`m_{zc} \in \{0, 1\}` chosen from earlier
blocks a row that shows (z, h) counts

.. math::
    u_c = m_{zc}\, p_{zc} + (1 - m_{zc})\, 1[h = c], \qquad
    l_c = m_{zc}\,(p_{zc} + 1[h = c] - 1)   \tag{B1}

towards the upper and lower ends of :math:`T_c = P(h = c, Y = c)`. The best choices are, above,
:math:`m_{zc} = 1[q_{zc} > p_{zc}]` and, below, 1 for the class k with the largest :math:`q_k +
p_k`, if that exceeds 1: they are the same for every weighting of the classes, so one pass serves
all metrics. If labelled rows (z, y) are at hand the rectifier

.. math:: r_c = m_{zc}\,(1[y = c] - p_{zc})   \tag{B2}

is added, which makes the bound right whatever the label model is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.papers.frechet_bounds import (
    DualRows,
    Slopes,
    Summary,
    known_rows,
    moved,
    over_classes,
    over_rows,
)
from tallystick.papers.frechet_bounds.dual import (
    Side,
    pair_difference,
    programme,
    row_values,
    two_labels,
)
from tallystick.stats.latent_fit import LatentInformation
from tallystick.table import Label, identifier, scan


@dataclass(frozen=True, slots=True, eq=False)
class LabelDoubt:
    """What the doubt of an estimated label model is computed from: its information, at these vote
    codes.

    *same_rows* says that it was fitted on the very rows that are evaluated.
    """

    information: LatentInformation
    codes: IntArray
    same_rows: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What a bound is computed from.

    Parameters
    ----------
    counts
        Rows by (…, pattern, prediction).
    p
        P(Y | z), (patterns, classes); NaN where the label model says nothing. None: learnt from
        *gold*.
    bins
        The bin of each pattern.
    gold
        Labelled rows by (…, pattern, class), for the rectifier.
    doubt
        Of a label model fitted by EM, where there are no labels.
    delta
        Total-variation error of P(Y | z) that is allowed for, on average.
    view
        From blocks of *counts* to blocks of what is evaluated, e.g. of every threshold of a score:
        (blocks, thresholds, patterns, predictions).
    """

    counts: IntArray
    p: FloatArray | None
    bins: IntArray
    gold: IntArray | None = None
    doubt: LabelDoubt | None = None
    delta: float = 0.0
    view: Callable[[IntArray], IntArray] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ForwardEnd:
    """One end, averaged over the random orders: its estimate and its standard error."""

    side: Side
    estimate: FloatArray
    error: FloatArray

    def edge(self, critical: float) -> FloatArray:
        """Return the end moved outward by so many standard errors; not clipped."""
        return np.asarray(
            self.estimate + (critical if self.side == "upper" else -critical) * self.error
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class ForwardRun(DualRows):
    """One random order of the rows, with the choices that earlier blocks made for later ones.

    ``rows`` and ``gold`` are the counts of blocks 2, 3, …; ``q`` is what came before them.
    """

    first: IntArray
    gold: FloatArray | None
    q: FloatArray

    def choose(self, side: Side) -> FloatArray:
        """Return m of (B1), (blocks - 1, …, patterns, classes)."""
        return self.best(self.q, side)


def run_of(evidence: Evidence, parts: IntArray, gold: IntArray | None) -> ForwardRun:
    """Learn from the blocks so far, for each block."""
    q = shrunk(earlier(parts), evidence.bins)
    if evidence.p is None:
        if gold is None:
            raise InputError(
                "evidence without p needs gold: P(Y | z) is then learnt from labelled rows"
            )
        p = shrunk(earlier(gold), evidence.bins)
        known: FloatArray = np.ones((len(evidence.bins), 1))
    else:
        known = known_rows(evidence.p)[..., None].astype(np.float64)
        p = np.where(known > 0, evidence.p, 0.0)
    later = None if gold is None else gold[1:].astype(np.float64)
    rows = parts[1:].astype(np.float64)
    return ForwardRun(rows=rows, p=p, known=known, first=parts[0], gold=later, q=q)


def forward(
    evidence: Evidence, wanted: Sequence[Summary], *, rng: Rng, scheme: Scheme
) -> list[tuple[ForwardEnd, ForwardEnd]]:
    """Return the lower and the upper end of every wanted metric, averaged over random orders.

    An edge is the mean over orders of the edges, so it is linear in estimate and error; clip it
    last.
    """
    generator = as_rng(rng)
    sides: tuple[Side, Side] = ("lower", "upper")
    runs: list[list[tuple[tuple[FloatArray, FloatArray], ...]]] = []
    for _ in range(scheme.orders):
        run = draw(evidence, scheme, generator)
        runs.append([tuple(ends_of(run, one, side, evidence) for side in sides) for one in wanted])
    out = []
    for k in range(len(wanted)):
        ends = [
            ForwardEnd(
                side, *(np.mean([run[k][s][part] for run in runs], axis=0) for part in range(2))
            )
            for s, side in enumerate(sides)
        ]
        out.append((ends[0], ends[1]))
    return out


def draw(evidence: Evidence, scheme: Scheme, generator: np.random.Generator) -> ForwardRun:
    """Put the rows into one random order and learn from each block for the next."""
    parts = split(evidence.counts, scheme.blocks, rng=generator)
    if evidence.view is not None:
        parts = evidence.view(parts)
    gold = None if evidence.gold is None else split(evidence.gold, scheme.blocks, rng=generator)
    if gold is not None:
        gold = gold.reshape(len(gold), *([1] * (parts.ndim - gold.ndim)), *gold.shape[1:])
    return run_of(evidence, parts, gold)


def ends_of(
    run: ForwardRun, wanted: Summary, side: Side, evidence: Evidence
) -> tuple[FloatArray, FloatArray]:
    """Return the estimate of one end and its standard error, for one order."""
    m = run.choose(side)
    slopes = slopes_of(run, m, wanted, side, evidence.delta)
    variance = _row_variance(run, m, slopes, side, evidence)
    if run.gold is not None:
        variance = variance + _gold_variance(run, run.gold, m, slopes)
    return slopes.value, np.sqrt(np.maximum(variance, 0.0))


def slopes_of(run: ForwardRun, m: FloatArray, wanted: Summary, side: Side, delta: float) -> Slopes:
    """Return the metric at one end of T, with its slopes."""
    t, h, y = run.joint(m, side)
    if run.gold is not None:
        m_gold = np.maximum(over_rows(over_classes(run.gold)), 1)
        missed = run.gold - over_classes(run.gold) * run.p
        t = t + over_rows(m * missed) / m_gold
        y = y + over_rows(missed) / m_gold
    t, y = moved(wanted, t, h, y, side=side, delta=delta)
    return wanted.slopes(t, h, y)


def _row_variance(
    run: ForwardRun, m: FloatArray, slopes: Slopes, side: Side, evidence: Evidence
) -> FloatArray:
    value = run.values(m, slopes, side)
    mean, own = run.spread(value)
    if evidence.doubt is None:
        return own
    n = run.n[..., 0]
    share = run.of_pattern / n[..., None, None]
    direction = (
        share * (slopes.by_t[..., None, :] * m + slopes.by_y[..., None, :]) * run.known
    ).sum(axis=0)
    deviation = (value - mean[..., None, None]) / n[..., None, None]
    if direction.ndim == 2:
        return _with_doubt(evidence.doubt, own, direction, deviation, run.rows, run.first)
    return np.array(
        [
            _with_doubt(
                evidence.doubt, own[t], direction[t], deviation[:, t], run.rows[:, t], run.first[t]
            )
            for t in range(len(direction))
        ]
    )


def _with_doubt(
    doubt: LabelDoubt,
    own: FloatArray,
    direction: FloatArray,
    deviation: FloatArray,
    rows: FloatArray,
    first: IntArray,
) -> FloatArray:
    """Add what the label model's own error does: with G the gradient and I the information,
    :math:`G' I^{-1} G`.

    Fitted on the same rows, its error and theirs are correlated: the score sandwich, with the label
    model's part a second time (by simulation, not by proof).
    """
    gradient = doubt.information.posterior_gradient(doubt.codes, direction)
    spread = doubt.information.covariance @ gradient
    extra = float(gradient @ spread)
    if not doubt.same_rows:
        return np.asarray(own + extra)
    influence = (doubt.information.scores @ spread)[:, None]
    return np.asarray(
        (rows * (deviation + influence) ** 2).sum() + (first * influence**2).sum() + extra
    )


def _gold_variance(run: ForwardRun, gold: FloatArray, m: FloatArray, slopes: Slopes) -> FloatArray:
    """Return the variance of the mean rectifier, with one pseudo-row as far out as a row can be."""
    weight = slopes.by_t[..., None, :] * m + slopes.by_y[..., None, :]
    value = weight - over_classes(weight * run.p)
    of_pattern = over_classes(gold)
    size = np.maximum(over_rows(of_pattern)[..., 0], 1)
    weighted = gold * value
    mean = over_rows(weighted).sum(axis=-1) / size
    around = over_rows(weighted * value).sum(axis=-1) - size * mean**2
    seen = of_pattern > 0
    largest = np.abs(value * seen).max(axis=(0, -2, -1))
    return np.asarray((around + largest**2) / size**2)


# Rows in random order, cut into blocks; what the earlier blocks say of P(h | z).
#
# Potentials may be learnt from data only if the rows that they are applied to come later: then the
# values of the rows are martingale differences around a valid outer bound, also at the kink q = p,
# where ordinary cross-fitting undercovers.


FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

BLOCKS = 10
"""Blocks of rows; the first one only teaches."""

_ORDERS = 5
_MANY_ROWS = 100_000
_BIN_PRIOR = 2.0
_PATTERN_PRIOR = 10.0
_BINS = 8
_SLICES = 3


@dataclass(frozen=True, slots=True)
class Scheme:
    """How the rows are ordered: *blocks* of them, in so many random *orders* whose ends are
    averaged.
    """

    blocks: int = BLOCKS
    orders: int = _ORDERS

    @classmethod
    def fitting(cls, rows: float) -> Scheme:
        """Return the default; from 100,000 rows on one order is enough, since they all give the
        same.
        """
        return cls(orders=_ORDERS if rows < _MANY_ROWS else 1)


def split(counts: IntArray, blocks: int, *, rng: Rng) -> IntArray:
    """Let every row of a table of counts draw its block; the blocks come first.

    >>> parts = split(np.array([[30, 10], [5, 0]]), 4, rng=1)
    >>> parts.shape, parts.sum(axis=0).tolist()
    ((4, 2, 2), [[30, 10], [5, 0]])
    """
    held = np.asarray(counts)
    out = np.zeros((blocks, held.size), dtype=np.int64)
    seen = np.flatnonzero(held)  # most cells of many patterns are empty
    out[:, seen] = as_rng(rng).multinomial(held.reshape(-1)[seen], np.full(blocks, 1 / blocks)).T
    return out.reshape(blocks, *held.shape)


def earlier(parts: IntArray) -> IntArray:
    """Return, for every block but the first, the counts of all the blocks before it."""
    return np.asarray(parts[:-1].cumsum(axis=0))


def label_bins(p: FloatArray, weight: FloatArray) -> IntArray:
    """Sort the patterns into bins by what the label model says, and by nothing else.

    Two classes: eight bins of equal mass in p(1 | z). More: the likeliest class, in three slices of
    its probability. Bins only lend strength to rare patterns; they never replace the pattern.

    >>> label_bins(np.array([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1]]), np.array([1.0, 1.0, 1.0])).tolist()
    [0, 1, 0]
    """
    if p.shape[1] == 2:
        found = _slices(p[:, 1], weight, _BINS)
    else:
        found = p.argmax(axis=1) * _SLICES + _slices(p.max(axis=1), weight, _SLICES)
    return np.asarray(np.unique(found, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def _slices(value: FloatArray, weight: FloatArray, n: int) -> IntArray:
    """Return slices of about equal mass; equal values are never told apart."""
    distinct, place = np.unique(value, return_inverse=True)
    place = place.reshape(-1)
    mass = np.bincount(place, weights=weight, minlength=distinct.size)
    middle = (mass.cumsum() - mass / 2) / max(float(mass.sum()), 1e-300)
    return np.asarray(np.minimum((middle * n).astype(np.int64), n - 1)[place])


def shrunk(counts: NDArray[np.generic], bins: IntArray) -> FloatArray:
    r"""Estimate a law for every pattern from counts (…, patterns, labels): the pattern's own, drawn
    to its bin's.

    .. math:: q_b = \frac{T_b + 2 q}{n_b + 2}, \qquad q_z = \frac{T_z + 10\, q_{b(z)}}{n_z + 10}

    >>> shrunk(np.array([[90, 10], [0, 0]]), np.array([0, 0])).round(2)
    array([[0.9, 0.1],
           [0.9, 0.1]])
    """
    held = np.asarray(counts, dtype=np.float64)
    order = np.argsort(bins, kind="stable")
    first = np.flatnonzero(np.diff(bins[order], prepend=-1))
    by_bin = np.add.reduceat(held[..., order, :], first, axis=-2)
    everything = by_bin.sum(axis=-2, keepdims=True)
    total = over_classes(everything)
    labels = held.shape[-1]
    overall = np.where(total > 0, everything / np.maximum(total, 1), 1 / labels)
    q_bin = (by_bin + _BIN_PRIOR * overall) / (over_classes(by_bin) + _BIN_PRIOR)
    return np.asarray(
        (held + _PATTERN_PRIOR * q_bin[..., bins, :]) / (over_classes(held) + _PATTERN_PRIOR)
    )


# The forward dual for any cost g(atom, y): risk under a cost matrix, and the difference of two
# classifiers.
#
# With potentials from the closed forms or linear programmes of
# :mod:`~tallystick.papers.frechet_bounds.dual` in the place of the choices m above: a row counts
# :math:`\max_y (g_{iy} + a_{zy}) - \sum_y p_{zy} a_{zy}`, and a labelled row rectifies it by
# :math:`\sum_y p_{zy} a_{zy} - a_{zY}`. If P(Y | Z) may be wrong by δ on average, all of the error
# may lie where it counts most: an end moves by :math:`\delta \max_z (\max_y a_{zy} - \min_y
# a_{zy})`.


_OWN_ROWS = 50
"""Earlier rows from which a pattern has potentials of its own."""
_OWN_PROGRAMMES = 900
"""Patterns, counted once per block, that have potentials of their own at most."""

Learner: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray, IntArray, Side], FloatArray]
"""From q (patterns, atoms), p, rows seen per pattern, bins and a side to potentials (patterns,
labels)."""


def pair_learner(
    q: FloatArray, p: FloatArray, weight: FloatArray, bins: IntArray, side: Side
) -> FloatArray:
    """Return the potentials of the difference of two classifiers, whose atoms are pairs of
    classes.
    """
    del weight, bins
    size = p.shape[1]
    bounds = pair_difference(q.reshape(len(q), size, size), p)
    return (bounds.upper if side == "upper" else bounds.lower).potentials


def cost_learner(cost: FloatArray) -> Learner:
    """Return the learner of a cost matrix: closed form for two classes, linear programmes beyond.

    With three classes or more a pattern with enough rows has potentials of its own, since the
    bound is sharp only with those; the others share the potentials of their bin. The most frequent
    patterns come first, so that the programme stays small.
    """

    def learn(
        q: FloatArray, p: FloatArray, weight: FloatArray, bins: IntArray, side: Side
    ) -> FloatArray:
        if p.shape[1] == 2:
            bounds = two_labels(q, p, cost)
            return (bounds.upper if side == "upper" else bounds.lower).potentials
        share = np.maximum(weight, 1e-9)
        member = np.eye(int(bins.max()) + 1)[bins] * share[:, None]
        member /= member.sum(axis=0)
        of_bin = programme(member.T @ q, member.T @ p, cost, side=side).potentials
        out = np.asarray(of_bin[bins])

        # A pattern with few rows would only fit their noise. Any potentials are valid.
        order = np.argsort(-weight, kind="stable")[:_OWN_PROGRAMMES]
        own = order[weight[order] >= _OWN_ROWS]
        if own.size:
            out[own] = programme(q[own], p[own], cost, side=side).potentials
        return out

    return learn


def cost_ends(
    evidence: Evidence, cost: FloatArray, learn: Learner, *, rng: Rng, scheme: Scheme
) -> tuple[ForwardEnd, ForwardEnd]:
    """Return the lower and the upper end of E[g], averaged over random orders."""
    generator = as_rng(rng)
    found: dict[Side, list[tuple[float, float]]] = {"lower": [], "upper": []}
    for _ in range(scheme.orders):
        parts = split(evidence.counts, scheme.blocks, rng=generator)
        if evidence.view is not None:
            parts = evidence.view(parts)
        weight = earlier(parts).sum(axis=2).astype(np.float64)
        gold = None if evidence.gold is None else split(evidence.gold, scheme.blocks, rng=generator)
        q = shrunk(earlier(parts), evidence.bins)
        p, known = _laws(evidence, gold, len(q))
        for side in found:
            a = _learnt(learn, q, p, weight, evidence.bins, side)
            found[side].append(_one_order(evidence, p, cost, a * known[:, None], parts, gold, side))
    ends = [ForwardEnd(side, *np.mean(pairs, axis=0)) for side, pairs in found.items()]
    return ends[0], ends[1]


def _learnt(
    learn: Learner, q: FloatArray, p: FloatArray, weight: FloatArray, bins: IntArray, side: Side
) -> FloatArray:
    """Return the potentials of every block, (blocks, patterns, labels): blocks are but more
    patterns, in bins apart.
    """
    blocks = len(q)
    apart = bins + (int(bins.max()) + 1) * np.arange(blocks)[:, None]
    a = learn(_flat(q), _flat(p), weight.reshape(-1), apart.reshape(-1), side)
    return a.reshape(p.shape)


def _flat(table: FloatArray) -> FloatArray:
    return table.reshape(-1, table.shape[-1])


def _laws(evidence: Evidence, gold: IntArray | None, blocks: int) -> tuple[FloatArray, FloatArray]:
    """Return P(Y | z) for every block but the first, and 0 for the patterns of which nothing is
    known.
    """
    if evidence.p is None:
        if gold is None:
            raise InputError(
                "evidence without p needs gold: P(Y | z) is then learnt from labelled rows"
            )
        return shrunk(earlier(gold), evidence.bins), np.ones(len(evidence.bins))
    known = known_rows(evidence.p)
    p = np.where(known[:, None], evidence.p, 1 / evidence.p.shape[1])
    return np.broadcast_to(p, (blocks, *p.shape)), known.astype(np.float64)


def _one_order(
    evidence: Evidence,
    p: FloatArray,
    cost: FloatArray,
    potentials: FloatArray,
    parts: IntArray,
    gold: IntArray | None,
    side: Side,
) -> tuple[float, float]:
    rows = parts[1:].astype(np.float64)
    values = row_values(_flat(p), cost, _flat(potentials), side=side).reshape(rows.shape)
    n = rows.sum()
    mean = float((rows * values).sum() / n)
    variance = float((rows * values**2).sum() / n - mean**2) / n
    if evidence.doubt is not None:
        doubt = evidence.doubt
        direction = -(rows.sum(axis=2)[..., None] * potentials).sum(axis=0) / n
        gradient = doubt.information.posterior_gradient(doubt.codes, direction)
        spread = doubt.information.covariance @ gradient
        own = float(gradient @ spread)
        if doubt.same_rows:
            influence = (doubt.information.scores @ spread)[:, None]
            variance = float(
                (rows * ((values - mean) / n + influence) ** 2).sum()
                + (parts[0] * influence**2).sum()
            )
        variance += own
    if gold is not None:
        later = gold[1:].astype(np.float64)
        m = max(float(later.sum()), 1.0)
        missed = (p * potentials).sum(axis=-1, keepdims=True) - potentials
        shift = float((later * missed).sum() / m)
        seen = later.sum(axis=-1, keepdims=True) > 0
        largest = float(np.abs(missed * seen).max())
        variance += (float((later * missed**2).sum()) - m * shift**2 + largest**2) / m**2
        mean += shift
    # of every block: the most that a unit of error is worth in it
    reach = np.ptp(potentials, axis=-1).max(axis=-1)
    wrong = evidence.delta * float(rows.sum(axis=(1, 2)) @ reach / n)
    return mean + (wrong if side == "upper" else -wrong), float(np.sqrt(max(variance, 0.0)))


# The cost of each prediction where each class is true, read from a table.


def read_costs(path: Path, classes: tuple[Label, ...]) -> list[list[float]]:
    """Read a cost matrix: one row per prediction, one column per true class."""
    names = [str(c) for c in classes]
    with scan(str(path)) as table:
        lacking = [name for name in ("prediction", *names) if name not in table.columns]
        if lacking:
            raise InputError(
                f"{path} has no column {lacking[0]!r}: a cost table has 'prediction' and one per"
                f" class {names}"
            )
        columns = ", ".join(identifier(name) for name in ("prediction", *names))
        rows = [(str(row[0]), row[1:]) for row in table.query(f"select {columns} from rows")]
    found = dict(rows)
    shown = [name for name, _ in rows]
    twice = [name for name in found if shown.count(name) > 1]
    if twice:
        raise InputError(
            f"{path} has {shown.count(twice[0])} rows for the prediction {twice[0]!r}: keep the one"
            " that is meant"
        )
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(
            f"{path} has no row for the prediction {missing[0]!r}: give one per class {names}"
        )
    try:
        return [[float(cell) for cell in found[name]] for name in names]
    except (TypeError, ValueError):
        raise InputError(f"{path}: costs must be numbers") from None
