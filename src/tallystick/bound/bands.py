"""A metric along a score: bounds at every threshold that hold together, the ROC curve, reliability.

The score was cut at the thresholds when it was counted, so every threshold, and every bin of the
score, comes from one table by sums over bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist

import numpy as np

from tallystick.bound.blocks import IntArray, Scheme
from tallystick.bound.forward import Evidence, ForwardEnd, draw, forward, row_table, slopes_of
from tallystick.bound.label_intervals import ENOUGH, LabelledRows
from tallystick.bound.label_models import consensus_of
from tallystick.bound.metric_bounds import bound_of
from tallystick.bound.metrics import Summary
from tallystick.bound.prepared import Prepared
from tallystick.bound.result import Bound, GoldEstimate, ReliabilityBin, RocPoint
from tallystick.bound.robust import robust_bound
from tallystick.bound.target import BoundTarget
from tallystick.bound.weak_votes import WeakTable
from tallystick.results import Interval, Unknown
from tallystick.stats.maxt import sup_t_critical
from tallystick.stats.transport import Side

__all__ = ["Band"]

_CELLS = 20_000_000
"""Rows of the correlation of all thresholds that are held at once; beyond it Bonferroni, which is a
little wider."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Band:
    """A score that was cut at *edges*, and what is asked of it.

    Parameters
    ----------
    edges
        Of the bins; the inner ones are the thresholds.
    positive
        The class of high scores.
    target
        Metrics and level.
    table
        Patterns x bins.
    """

    edges: tuple[float, ...]
    positive: int
    target: BoundTarget
    table: WeakTable

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The inner edges."""
        return self.edges[1:-1]

    @property
    def labels(self) -> int:
        """Labelled rows."""
        return 0 if self.table.gold is None else int(self.table.gold.sum())

    def bounds(self, one: Prepared, wanted: Summary, generator: np.random.Generator) -> list[Bound]:
        """Return one metric at every threshold under one label model, holding together."""
        view = partial(_at_thresholds, positive=self.positive)
        evidence = replace(one.evidence, view=view)
        critical = _critical(evidence, wanted, self.target.alpha, generator)
        return self._bounds(one, evidence, wanted, critical, generator)

    def _bounds(
        self,
        one: Prepared,
        evidence: Evidence,
        wanted: Summary,
        critical: float,
        generator: np.random.Generator,
    ) -> list[Bound]:
        if evidence.view is None:
            raise TypeError("a band has a view")
        scheme = Scheme.fitting(self.table.n)
        [(low, high)] = forward(evidence, [wanted], rng=generator, scheme=scheme)
        seen = evidence.view(one.table.counts[None])[0]
        out = []
        for t in range(len(seen)):
            at = replace(one, evidence=replace(one.evidence, counts=seen[t]))
            ends = tuple(ForwardEnd(e.side, e.estimate[t], e.error[t]) for e in (low, high))
            where = self.edges[t + 1]  # a threshold, or the upper edge of a bin
            pair = (ends[0], ends[1])
            out.append(bound_of(at, wanted, pair, self.target.alpha, critical, where))
        return out

    def robust(self, members: Sequence[Sequence[Bound]]) -> list[Bound]:
        """Return the robust range at every threshold, from the bounds of the family's members."""
        return [robust_bound(same) for same in zip(*members, strict=True)]

    def from_labels(self) -> tuple[GoldEstimate, ...]:
        """Return every metric at every threshold from labels, one threshold at a time."""
        if self.labels < ENOUGH:
            return ()
        found = []
        for wanted in self.target.summaries(self.table):
            label = None if wanted.positive is None else self.table.classes[wanted.positive]
            for t, threshold in enumerate(self.thresholds):
                rows = self._labelled(t)
                one = rows.estimate(wanted, alpha=self.target.alpha)
                found.append(
                    GoldEstimate(
                        metric=wanted.metric,
                        positive=label,
                        threshold=threshold,
                        labels=rows.labels,
                        estimate=one.estimate,
                        interval=one.interval,
                        worth=one.worth,
                    )
                )
        return tuple(found)

    def _labelled(self, t: int) -> LabelledRows:
        """Return the labelled rows with "score ≥ threshold" as the prediction."""
        counts = _at_thresholds(self.table.counts[None], positive=self.positive)[0][t]
        held = self.table.gold
        if held is None:
            raise TypeError("no labels")
        by_class = np.moveaxis(held, -1, 0)  # (classes, patterns, bins)
        gold = _at_thresholds(by_class, positive=self.positive)[:, t]
        return LabelledRows.of(counts, np.moveaxis(gold, 0, -1), consensus_of(self.table))

    def curves(
        self, members: Sequence[Prepared], generator: np.random.Generator
    ) -> tuple[tuple[RocPoint, ...], tuple[ReliabilityBin, ...]]:
        """Return the ROC curve and the reliability of the score: from labels, else robustly.

        The points of each rate hold together, and so do the bins.
        """
        if self.labels >= ENOUGH:
            return self._roc_from_labels(), self._reliability_from_labels()
        if not members:
            return (), ()
        return self._roc(members, generator), self._reliability(members, generator)

    def _roc(
        self, members: Sequence[Prepared], generator: np.random.Generator
    ) -> tuple[RocPoint, ...]:
        rates = []
        for c in (self.positive, 1 - self.positive):
            wanted = Summary("recall", c)
            rates.append(self.robust([self.bounds(one, wanted, generator) for one in members]))
        return tuple(
            RocPoint(
                threshold=threshold,
                true_positive_rate=_interval(tpr),
                false_positive_rate=_mirrored(_interval(tnr)),
                method="robust",
            )
            for threshold, tpr, tnr in zip(self.thresholds, *rates, strict=True)
        )

    def _roc_from_labels(self) -> tuple[RocPoint, ...]:
        alpha = self.target.alpha / (2 * len(self.thresholds))
        out = []
        for t, threshold in enumerate(self.thresholds):
            rows = self._labelled(t)
            tpr, tnr = (
                rows.estimate(Summary("recall", c), alpha=alpha).interval
                for c in (self.positive, 1 - self.positive)
            )
            out.append(
                RocPoint(
                    threshold=threshold,
                    true_positive_rate=tpr,
                    false_positive_rate=_mirrored(tnr),
                    method="labels",
                )
            )
        return tuple(out)

    def _reliability(
        self, members: Sequence[Prepared], generator: np.random.Generator
    ) -> tuple[ReliabilityBin, ...]:
        """Bound P(Y = positive | score in a bin): the precision of "the score lies in it"."""
        view = partial(_in_bins, positive=self.positive)
        wanted = Summary("precision", self.positive)
        critical = NormalDist().inv_cdf(1 - self.target.alpha / (2 * self.table.counts.shape[1]))
        ranges = self.robust(
            [
                self._bounds(one, replace(one.evidence, view=view), wanted, critical, generator)
                for one in members
            ]
        )
        return self._reliability_bins([_interval(one) for one in ranges], "robust")

    def _reliability_from_labels(self) -> tuple[ReliabilityBin, ...]:
        bins = self.table.counts.shape[1]
        held, consensus = self.table.gold, consensus_of(self.table)
        if held is None:
            raise TypeError("no labels")
        counts = _in_bins(self.table.counts[None], positive=self.positive)[0]
        gold = _in_bins(np.moveaxis(held, -1, 0), positive=self.positive)
        shares: list[Interval | Unknown] = []
        for t in range(bins):
            rows = LabelledRows.of(counts[t], np.moveaxis(gold[:, t], 0, -1), consensus)
            wanted = Summary("precision", self.positive)
            shares.append(rows.estimate(wanted, alpha=self.target.alpha / bins).interval)
        return self._reliability_bins(shares, "labels")

    def _reliability_bins(
        self, shares: Sequence[Interval | Unknown], method: str
    ) -> tuple[ReliabilityBin, ...]:
        rows = self.table.counts.sum(axis=0)
        return tuple(
            ReliabilityBin(
                low=self.edges[b],
                high=self.edges[b + 1],
                rows=int(rows[b]),
                share=share if rows[b] else Unknown("no score lies here"),
                method=method,
            )
            for b, share in enumerate(shares)
        )


def _interval(one: Bound) -> Interval | Unknown:
    """Return what a bound leaves possible, as an interval."""
    if isinstance(one.lower_interval, Unknown) or isinstance(one.upper_interval, Unknown):
        return one.lower_interval if isinstance(one.lower_interval, Unknown) else Unknown("unknown")
    return replace(one.lower_interval, high=one.upper_interval.high)


def _mirrored(interval: Interval | Unknown) -> Interval | Unknown:
    """Return one minus a rate."""
    if isinstance(interval, Unknown):
        return interval
    return replace(interval, low=1 - interval.high, high=1 - interval.low)


def _in_bins(parts: IntArray, *, positive: int) -> IntArray:
    """Turn blocks of (patterns, bins) into blocks of (bins, patterns, classes): in the bin, or
    not.
    """
    inside = np.moveaxis(parts, -1, 1)
    both = [parts.sum(axis=-1)[:, None] - inside, inside]
    return np.stack(both if positive == 1 else both[::-1], axis=-1)


def _at_thresholds(parts: IntArray, *, positive: int) -> IntArray:
    """Turn blocks of (patterns, bins) into blocks of (thresholds, patterns, classes), by cumulative
    counts.
    """
    above = parts[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]
    both = [parts.sum(axis=-1, keepdims=True) - above, above]
    return np.moveaxis(np.stack(both if positive == 1 else both[::-1], axis=-1), -2, 1)


def _critical(
    evidence: Evidence, wanted: Summary, alpha: float, generator: np.random.Generator
) -> float:
    """Return the critical value for the ends of all thresholds at once."""
    if evidence.view is None:
        raise TypeError("a sweep has a view")
    bins = evidence.counts.shape[-1]
    ends = 2 * (bins - 1)
    if evidence.counts.size * ends > _CELLS:
        return NormalDist().inv_cdf(1 - alpha / (2 * ends))
    run = draw(evidence, Scheme(), generator)
    # One unit of mass in each bin says which prediction a bin means at each threshold.
    says = evidence.view(np.eye(bins, dtype=np.int64)[None])[0].argmax(axis=-1)
    weight = evidence.counts.reshape(-1) / evidence.counts.sum()
    sides: tuple[Side, Side] = ("lower", "upper")
    values = []
    for side in sides:
        m = run.choose(side)
        table = row_table(run, m, slopes_of(run, m, wanted, side, evidence.delta), side)[-1]
        values += [table[t][:, says[t]].reshape(-1) for t in range(bins - 1)]
    rows = np.nan_to_num(np.stack(values))
    rows -= (rows @ weight)[:, None]
    return max(
        sup_t_critical((rows * weight) @ rows.T, rng=generator, alpha=alpha),
        NormalDist().inv_cdf(1 - alpha / 2),
    )
