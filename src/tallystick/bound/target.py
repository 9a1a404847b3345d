"""What is asked of a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.bound.metrics import Summary, summary
from tallystick.bound.weak_votes import WeakTable
from tallystick.errors import InputError
from tallystick.tally import Label

__all__ = ["BoundTarget"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BoundTarget:
    """Which metrics, how surely, and which claim is to be proved.

    Parameters
    ----------
    metrics
        accuracy, precision, recall, f1, macro-precision, macro-recall, macro-f1, micro-f1 or risk.
    positive
        The class that precision, recall and F1 are of; two classes may do without, the last one is
        meant.
    cost
        For risk: cost[h, y] of predicting class h where y is true, classes in their canonical
        order.
    delta
        By how much total variation, on average over the rows, P(Y | Z) may be wrong.
    at_least
        The claim that the leading metric, which is then not risk, is at least this much.
    alpha
        One minus the confidence of each bound.
    """

    metrics: tuple[str, ...] = ("accuracy",)
    positive: Label = None
    cost: npt.ArrayLike | None = None
    delta: float = 0.0
    at_least: float | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not self.metrics:
            raise InputError("metrics must name at least one metric")
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must be in (0, 1), got {self.alpha!r}")
        if not 0 <= self.delta <= 1:
            raise InputError(f"delta must be in [0, 1], got {self.delta!r}")
        if self.at_least is not None and self.metrics[0] == "risk":
            raise InputError(
                f"at_least ({self.at_least:g}) is a claim about a metric for which more is"
                " better, not about risk: name another metric first, or leave the claim out and"
                " read the bounds of the risk"
            )
        if ("risk" in self.metrics) != (self.cost is not None):
            raise InputError(
                "risk needs a cost matrix, and a cost matrix is for risk: give both, or neither"
            )

    def summaries(self, table: WeakTable) -> list[Summary]:
        """Return the metrics other than risk, checked against the classes."""
        positive: int | None = None
        if self.positive is not None:
            positive = table.class_of(self.positive, role="positive")
        elif len(table.classes) == 2:
            positive = 1
        return [summary(name, positive) for name in self.metrics if name != "risk"]

    def cost_matrix(self, classes: int) -> npt.NDArray[np.float64]:
        """Return the cost matrix, checked."""
        held = np.asarray(self.cost, dtype=np.float64)
        if held.shape != (classes, classes) or not np.isfinite(held).all():
            raise InputError(
                f"cost must be a finite matrix {classes} x {classes} (prediction, truth), got"
                f" {held.shape}"
            )
        return held
