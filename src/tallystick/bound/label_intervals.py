"""Every metric from random labels: likelihood intervals that trust no label model.

The consensus of the weighted votes only sorts rows into cells before a label is seen; it may be
wrong everywhere and the intervals hold. They speak of these rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.metrics import Summary
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse import (
    AdverseEstimate,
    Outlook,
    adverse_accuracy,
    adverse_f1,
    adverse_precision,
    adverse_recall,
    f1_outlook,
    precision_outlook,
    recall_outlook,
    share_outlook,
)
from tallystick.stats.adverse.forecast import settle_at

__all__ = ["ENOUGH", "LabelledRows", "labels_to_decide"]

ENOUGH = 20
"""Random labels from which these intervals decide; coverage was measured from there."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledRows:
    """Rows and labels by (consensus, prediction), which is all that the intervals need.

    Parameters
    ----------
    sizes
        (classes of the consensus, classes predicted): rows.
    gold
        (…, classes of the truth): labelled rows.
    """

    sizes: IntArray
    gold: IntArray

    @classmethod
    def of(cls, counts: IntArray, gold: IntArray, consensus: IntArray) -> LabelledRows:
        """Count from (patterns, predictions) and (patterns, predictions, classes)."""
        classes = gold.shape[2]
        sizes = np.zeros((classes, counts.shape[1]), dtype=np.int64)
        labels = np.zeros((classes, *gold.shape[1:]), dtype=np.int64)
        np.add.at(sizes, consensus, counts)
        np.add.at(labels, consensus, gold)
        return cls(sizes=sizes, gold=labels)

    @property
    def labels(self) -> int:
        """Labelled rows."""
        return int(self.gold.sum())

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.sizes.sum())

    def strata(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return rows, labels and right predictions where the consensus is h, and elsewhere."""
        classes = self.gold.shape[2]
        same = np.eye(classes, dtype=bool)
        right = np.einsum("khh->kh", self.gold)
        tables = (self.sizes, self.gold.sum(axis=2), right)
        parts = [np.array([t[same].sum(), t[~same].sum()], dtype=np.float64) for t in tables]
        return parts[0], parts[1], parts[2]

    def cells(self, c: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return rows, labels and labels of class *c* in the cells (h = c?) x (consensus = c?)."""
        tables = (self.sizes, self.gold.sum(axis=2), self.gold[:, :, c])
        parts = []
        for t in tables:
            both, h, k = t[c, c], t[:, c].sum(), t[c].sum()
            parts.append(np.array([both, h - both, k - both, t.sum() - h - k + both], dtype=float))
        return parts[0], parts[1], parts[2]

    def estimate(self, wanted: Summary, *, alpha: float) -> AdverseEstimate:
        """Estimate one metric; a macro average has the mean of its classes' ends.

        Examples
        --------
        >>> rows = LabelledRows(
        ...     sizes=np.array([[640, 100], [60, 200]]),
        ...     gold=np.array([[[62, 2], [5, 5]], [[3, 3], [2, 18]]]),
        ... )
        >>> print(rows.estimate(Summary("recall", 1), alpha=0.05))
        0.8214 [0.698, 0.917] (95 %, approximate)
        """
        if wanted.metric in ("accuracy", "micro-f1"):
            return adverse_accuracy(*self.strata(), alpha=alpha)
        ask = {
            "precision": adverse_precision,
            "recall": adverse_recall,
            "f1": adverse_f1,
        }[wanted.metric.removeprefix("macro-")]
        if wanted.positive is not None:
            return ask(*self.cells(wanted.positive), alpha=alpha)
        return _mean([ask(*self.cells(c), alpha=alpha) for c in range(self.gold.shape[2])])

    def outlook(self, wanted: Summary) -> Outlook | None:
        """Return what a forecast of the interval's width needs; None where none is known."""
        if wanted.metric in ("accuracy", "micro-f1"):
            return share_outlook(*self.strata())
        if wanted.positive is None:
            return None
        cells = self.cells(wanted.positive)
        if wanted.metric == "precision":
            return precision_outlook(*cells) if cells[0][:2].sum() else None
        if cells[2].sum() == 0:  # no label of the class: nothing to forecast from
            return None
        return recall_outlook(*cells) if wanted.metric == "recall" else f1_outlook(*cells)


def labels_to_decide(
    outlook: Outlook | None, estimate: float | Unknown, claim: float, *, rows: int, alpha: float
) -> int | None:
    r"""Forecast how many labels in all decide a claim, never more than there are rows.

    .. math:: M = \frac{q V}{\hat\Delta^2 + q V/N}, \qquad q = (z_{1-\alpha/2} + z_{.8})^2

    with :math:`\hat\Delta` the distance of the estimate from the claim. Not measured.

    >>> from tallystick.stats.adverse import share_outlook
    >>> labels_to_decide(share_outlook([500], [50], [41]), 0.82, 0.8, rows=500, alpha=0.05)
    428
    """
    if outlook is None or isinstance(estimate, Unknown) or outlook.variance <= 0:
        return None
    inside = settle_at(estimate - claim, outlook.variance, outlook.items, alpha=alpha)
    return min(rows, int(np.ceil(inside / outlook.fraction)))


def _mean(parts: list[AdverseEstimate]) -> AdverseEstimate:
    """Return the mean of the estimates and of their ends; wide, and it holds."""
    known = [one.estimate for one in parts if not isinstance(one.estimate, Unknown)]
    lacking = next((one.estimate for one in parts if isinstance(one.estimate, Unknown)), None)
    ends = []
    for pick in ("interval", "labels_only"):
        held = [getattr(one, pick) for one in parts]
        low, high = (float(np.mean([getattr(one, end) for one in held])) for end in ("low", "high"))
        ends.append(Interval(low, high, held[0].level, "approximate", None, held[0].method))
    labels = max(one.n_labels for one in parts)
    ratio = ends[1].width / ends[0].width if ends[0].width > 0 else 1.0
    return AdverseEstimate(
        estimate=float(np.mean(known)) if lacking is None else lacking,
        interval=ends[0],
        labels_only=ends[1],
        n_labels=labels,
        worth=labels * ratio**2,
    )
