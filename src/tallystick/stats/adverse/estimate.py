"""What every adverse likelihood returns: an estimate, its interval, and what the judges added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.results import Guarantee, Interval, Unknown
from tallystick.stats.adverse.population import Ends
from tallystick.stats.intervals.array import Floats, Intervals

__all__ = ["AdverseEstimate", "AdverseEstimates", "labels_worth"]


@dataclass(frozen=True, kw_only=True)
class AdverseEstimate:
    """One number learnt from labels and judges.

    Parameters
    ----------
    estimate
        The number, or why there is none.
    interval
        Its interval.
    labels_only
        The interval of the same kind from the labels alone, without the judges.
    n_labels
        How many labels were used.
    worth
        How many labels alone would give an interval as narrow as *interval*.
    """

    estimate: float | Unknown
    interval: Interval
    labels_only: Interval
    n_labels: int
    worth: float

    def __str__(self) -> str:
        number = self.estimate if isinstance(self.estimate, Unknown) else f"{self.estimate:.4f}"
        return f"{number} {self.interval}"


@dataclass(frozen=True, kw_only=True, eq=False)
class AdverseEstimates:
    """Many numbers of one kind, one entry per row of the input.

    Parameters
    ----------
    estimate
        The numbers; NaN where a row has no labels.
    interval, labels_only
        Their intervals, with the judges and without.
    n_labels
        Labels per row.
    worth
        What these labels are worth, as in :class:`AdverseEstimate`.
    """

    estimate: Floats
    interval: Intervals
    labels_only: Intervals
    n_labels: NDArray[np.int64]
    worth: Floats

    @classmethod
    def of(
        cls,
        estimate: Floats,
        ends: Ends,
        alone: Ends,
        *,
        n_labels: NDArray[np.int64],
        alpha: float,
        method: str,
        guarantee: Guarantee = "approximate",
    ) -> AdverseEstimates:
        """Pack the arrays that a method computed, and add what the labels are worth."""
        interval, labels_only = (
            Intervals(low, high, 1 - alpha, guarantee, None, method) for low, high in (ends, alone)
        )
        worth = labels_worth(n_labels, labels_only.width, interval.width)
        return cls(
            estimate=estimate,
            interval=interval,
            labels_only=labels_only,
            n_labels=n_labels,
            worth=worth,
        )

    def __len__(self) -> int:
        return len(self.estimate)

    def __getitem__(self, row: int) -> AdverseEstimate:
        value = float(self.estimate[row])
        return AdverseEstimate(
            estimate=Unknown("there are no labels") if np.isnan(value) else value,
            interval=self.interval[row],
            labels_only=self.labels_only[row],
            n_labels=int(self.n_labels[row]),
            worth=float(self.worth[row]),
        )

    def __iter__(self) -> Iterator[AdverseEstimate]:
        return (self[row] for row in range(len(self)))


def labels_worth(labels: NDArray[np.int64], alone: Floats, width: Floats) -> Floats:
    r"""Return how many labels alone would have given the same width.

    Widths fall with the square root of the number of labels, so

    .. math:: \text{worth} = m \left(\frac{\text{width of the labels alone}}{\text{width}}\right)^2.

    Once every item is labelled both widths are 0 and the labels are worth what they are.

    >>> labels_worth(np.array([30, 40]), np.array([0.3, 0.0]), np.array([0.15, 0.0])).tolist()
    [120.0, 40.0]
    """
    ratio = np.divide(alone, width, out=np.ones_like(width), where=width > 0)
    return np.asarray(labels * ratio**2, dtype=np.float64)
