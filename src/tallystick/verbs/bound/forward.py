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
all metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import Rng, as_rng
from tallystick.papers.frechet_bounds import DualRows, Slopes, Summary, known_rows, over_classes
from tallystick.papers.frechet_bounds.dual import Side
from tallystick.stats.latent_checks import LatentInformation


@dataclass(frozen=True, slots=True, eq=False)
class LabelDoubt:
    """What the doubt of an estimated label model is computed from: its information, at these vote
    codes. It was fitted on the very rows that are evaluated.
    """

    information: LatentInformation
    codes: IntArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What a bound is computed from.

    Parameters
    ----------
    counts
        Rows by (…, pattern, prediction).
    p
        P(Y | z), (patterns, classes); NaN where the label model says nothing.
    bins
        The bin of each pattern.
    doubt
        Of a label model fitted by EM.
    """

    counts: IntArray
    p: FloatArray
    bins: IntArray
    doubt: LabelDoubt | None = None


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

    ``rows`` are the counts of blocks 2, 3, …; ``q`` is what came before them.
    """

    first: IntArray
    q: FloatArray


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
    known = known_rows(evidence.p)[..., None].astype(np.float64)
    return ForwardRun(
        rows=parts[1:].astype(np.float64),
        p=np.where(known > 0, evidence.p, 0.0),
        known=known,
        first=parts[0],
        q=shrunk(earlier(parts), evidence.bins),
    )


def ends_of(
    run: ForwardRun, wanted: Summary, side: Side, evidence: Evidence
) -> tuple[FloatArray, FloatArray]:
    """Return the estimate of one end and its standard error, for one order."""
    m = run.best(run.q, side)  # (B1)
    slopes = wanted.slopes(*run.joint(m, side))
    variance = _row_variance(run, m, slopes, side, evidence)
    return slopes.value, np.sqrt(np.maximum(variance, 0.0))


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
    return _with_doubt(evidence.doubt, direction, deviation, run.rows, run.first)


def _with_doubt(
    doubt: LabelDoubt,
    direction: FloatArray,
    deviation: FloatArray,
    rows: FloatArray,
    first: IntArray,
) -> FloatArray:
    """Return the variance with the label model's own error: with G the gradient and I the
    information, :math:`G' I^{-1} G`.

    Its error and that of the rows are correlated: the score sandwich, with the label model's part a
    second time (by simulation, not by proof).
    """
    gradient = doubt.information.posterior_gradient(doubt.codes, direction)
    spread = doubt.information.covariance @ gradient
    influence = (doubt.information.scores @ spread)[:, None]
    return np.asarray(
        (rows * (deviation + influence) ** 2).sum()
        + (first * influence**2).sum()
        + float(gradient @ spread)
    )


# Rows in random order, cut into blocks; what the earlier blocks say of P(h | z).
#
# Potentials may be learnt from data only if the rows that they are applied to come later: then the
# values of the rows are martingale differences around a valid outer bound, also at the kink q = p,
# where ordinary cross-fitting undercovers.


FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

# Blocks of rows; the first one only teaches.
BLOCKS = 10

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
    # Rounding of a mean or a product must not tell equal laws apart.
    distinct, place = np.unique(value.round(9), return_inverse=True)
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
