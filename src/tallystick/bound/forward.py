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
from functools import cached_property

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.bound.blocks import (
    FloatArray,
    IntArray,
    Scheme,
    earlier,
    known_rows,
    over_classes,
    over_rows,
    shrunk,
    split,
)
from tallystick.bound.metrics import Slopes, Summary, moved
from tallystick.errors import InputError
from tallystick.stats.latent import LatentInformation
from tallystick.stats.transport import Side

__all__ = [
    "Evidence",
    "ForwardEnd",
    "ForwardRun",
    "LabelDoubt",
    "draw",
    "ends_of",
    "forward",
    "row_table",
    "slopes_of",
]


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


@dataclass(frozen=True, eq=False)
class ForwardRun:
    """One random order of the rows, with the choices that earlier blocks made for later ones.

    ``rows`` and ``gold`` are the counts of blocks 2, 3, …; ``q`` is what came before them; ``p``
    has 0 where ``known`` is False.
    """

    first: IntArray
    rows: FloatArray
    gold: FloatArray | None
    p: FloatArray
    q: FloatArray
    known: FloatArray

    @cached_property
    def of_pattern(self) -> FloatArray:
        """Rows of each pattern, (blocks - 1, …, patterns, 1)."""
        return over_classes(self.rows)

    @cached_property
    def expected(self) -> FloatArray:
        """Rows of each pattern and class, if the label model is right."""
        return np.asarray(self.of_pattern * self.p)

    @cached_property
    def n(self) -> FloatArray:
        """Rows that count, (…, 1)."""
        return over_rows(self.of_pattern)

    def choose(self, side: Side) -> FloatArray:
        """Return m of (B1), (blocks - 1, …, patterns, classes)."""
        if side == "upper":
            return np.asarray((self.q > self.p) * self.known)
        both = self.q + self.p
        best = both.argmax(axis=-1)[..., None]
        on = np.take_along_axis(both, best, axis=-1) > 1
        return np.asarray((np.arange(both.shape[-1]) == best) * on * self.known)


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
    return ForwardRun(parts[0], parts[1:].astype(np.float64), later, p, q, known)


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
    n, n_z = run.n, run.of_pattern
    h = over_rows(run.rows) / n
    if side == "upper":
        t = h + over_rows(m * (run.expected - run.rows)) / n
    else:
        t = over_rows(m * (run.expected + run.rows - n_z)) / n
    y = over_rows(run.expected) / n
    if not run.known.all():
        # Where nothing is known of Y, the worst case for a ratio is Y = h above and Y ≠ h below.
        free = run.rows * (1 - run.known)
        y = y + over_rows(free if side == "upper" else over_classes(free) - free) / n
    if run.gold is not None:
        m_gold = np.maximum(over_rows(over_classes(run.gold)), 1)
        missed = run.gold - over_classes(run.gold) * run.p
        t = t + over_rows(m * missed) / m_gold
        y = y + over_rows(missed) / m_gold
    t, y = moved(wanted, t, h, y, side=side, delta=delta)
    return wanted.slopes(t, h, y)


def row_table(run: ForwardRun, m: FloatArray, slopes: Slopes, side: Side) -> FloatArray:
    """Return the linearised value of a row that shows (z, h), (blocks - 1, …, patterns,
    predictions).
    """
    by_t, by_h, by_y = (part[..., None, :] for part in (slopes.by_t, slopes.by_h, slopes.by_y))
    chosen = by_t * m
    of_z = over_classes((chosen + by_y * run.known) * run.p)
    own = by_t - chosen if side == "upper" else chosen - over_classes(chosen)
    value = own + (of_z + by_h)
    if not run.known.all():
        value = value + (1 - run.known) * (by_y if side == "upper" else over_classes(by_y) - by_y)
    return np.asarray(value)


def _row_variance(
    run: ForwardRun, m: FloatArray, slopes: Slopes, side: Side, evidence: Evidence
) -> FloatArray:
    value = row_table(run, m, slopes, side)
    n = run.n[..., 0]
    weighted = run.rows * value
    mean = over_rows(weighted).sum(axis=-1) / n
    own = over_rows(weighted * value).sum(axis=-1) / n**2 - mean**2 / n
    if evidence.doubt is None:
        return np.asarray(own)
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
