"""The four cells behind recall and F1: (h = c?) x (consensus = c?)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.stats.adverse.stratum import fill_unlabelled
from tallystick.stats.intervals.array import Floats, Vector, as_counts

__all__ = ["Cells", "Measure", "four_cells"]

Measure: TypeAlias = Literal["recall", "f1"]

PREDICTED = np.array([True, True, False, False])
"""Which of the four cells have h = c."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    r"""Counts per cell, and the ratio :math:`\sum W A p / (\sum W p + C)` that is asked for.

    Parameters
    ----------
    sizes, labelled, hits
        Rows, labels and labels of class c per cell.
    factor
        A: 1 (recall) or 2 (F1) where h = c, otherwise 0.
    constant
        C: 0 (recall), or the share of rows with h = c (F1).
    """

    sizes: Floats
    labelled: Floats
    hits: Floats
    factor: Floats
    constant: float

    @property
    def predicted(self) -> NDArray[np.bool_]:
        """Which cells have h = c."""
        return np.asarray(self.factor > 0)

    @property
    def weights(self) -> Floats:
        """Share of all rows per cell."""
        return np.asarray(self.sizes / self.sizes.sum())

    def merged(self) -> Cells:
        """Forget the consensus: one cell with h = c and one without."""
        on, off = self.predicted, ~self.predicted
        parts = (
            np.array([part[on].sum(), part[off].sum()])
            for part in (self.sizes, self.labelled, self.hits)
        )
        sizes, labelled, hits = parts
        factor = np.array([self.factor.max(initial=0.0), 0.0])
        return Cells(
            sizes=sizes, labelled=labelled, hits=hits, factor=factor, constant=self.constant
        )

    def estimate(self) -> tuple[float | None, float]:
        """Return θ̂ and its denominator D; None if no label is of the class and D is 0."""
        share = np.divide(
            self.hits, self.labelled, out=np.zeros_like(self.hits), where=self.labelled > 0
        )
        filled = fill_unlabelled(self.sizes[None], share[None], self.labelled[None])[0]
        scale = float(np.nansum(self.weights * filled) + self.constant)
        if self.labelled.sum() == 0 or scale <= 0:
            return None, scale
        return float((self.weights * self.factor * filled).sum() / scale), scale


def four_cells(sizes: Vector, labelled: Vector, hits: Vector, measure: Measure) -> Cells:
    """Check the counts of the four cells and say which ratio is meant."""
    x, k = as_counts(hits, labelled, names=("hits", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.shape != (4,) or x.shape != (4,) or n.sum() < 1:
        raise InputError(f"sizes must hold four cells with at least 1 row, got {n.tolist()}")
    share = float(n[PREDICTED].sum() / n.sum())
    factor, constant = (2.0, share) if measure == "f1" else (1.0, 0.0)
    return Cells(
        sizes=n, labelled=k, hits=x, factor=np.where(PREDICTED, factor, 0.0), constant=constant
    )
