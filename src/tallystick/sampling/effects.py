"""What an answer does to the quantity that is estimated: a sparse vector an outcome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError

__all__ = ["Effects"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Effects:
    r"""The vector that outcome j stands for in stratum k: weight[k, j] times the sparse row j.

    Without a baseline an answer adds x = row(new); with one it adds x = row(new) - row(old).
    One-hot rows make the mean of x the distribution of answers (or its change), which is what a
    confusion matrix needs. Outcome number J stands for "no baseline" and adds nothing.

    Parameters
    ----------
    index, value
        Row j has the entries ``value[m, j]`` at the coordinates ``index[m, j]``; shape (width, J +
        1).
    weight
        Shape (S, J + 1).
    dimensions
        How many coordinates there are.
    """

    index: NDArray[np.intp]
    value: FloatArray
    weight: FloatArray
    dimensions: int

    @classmethod
    def of(
        cls,
        n_outcomes: int,
        n_strata: int,
        *,
        matrix: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Effects:
        """Return one-hot rows, or the rows of *matrix* (J, d), with weights of shape (J,) or (S,
        J).

        Examples
        --------
        >>> Effects.of(3, 1, weights=[1, 1, 2]).reach
        array([2.])
        """
        if n_outcomes < 1:
            raise InputError(f"n_outcomes must be at least 1, got {n_outcomes!r}")
        if matrix is None:
            dimensions = n_outcomes
            index = np.append(np.arange(n_outcomes), 0)[None, :]
            value = np.append(np.ones(n_outcomes), 0.0)[None, :]
        else:
            rows = np.asarray(matrix, dtype=np.float64)
            if rows.ndim != 2 or len(rows) != n_outcomes or not np.isfinite(rows).all():
                raise InputError(
                    f"effects must be a finite table of {n_outcomes} rows, got shape {rows.shape}"
                )
            dimensions = rows.shape[1]
            index = np.repeat(np.arange(dimensions)[:, None], n_outcomes + 1, axis=1)
            value = np.column_stack([rows.T, np.zeros(dimensions)])
        weight = (
            np.ones((1, n_outcomes))
            if weights is None
            else np.atleast_2d(np.asarray(weights, dtype=np.float64))
        )
        if (
            weight.shape not in ((1, n_outcomes), (n_strata, n_outcomes))
            or not np.isfinite(weight).all()
        ):
            raise InputError(
                f"weights must be finite, of shape ({n_outcomes},) or ({n_strata}, {n_outcomes}),"
                f" got {weight.shape}"
            )
        padded = np.column_stack([weight, np.zeros(len(weight))])
        return cls(index, value, np.broadcast_to(padded, (n_strata, n_outcomes + 1)), dimensions)

    @property
    def width(self) -> int:
        """How many entries a row has."""
        return len(self.index)

    @property
    def squared(self) -> FloatArray:
        """Squared length of every outcome's vector in every stratum, shape (S, J)."""
        rows: FloatArray = np.square(self.value[:, :-1]).sum(axis=0)
        return np.square(self.weight[:, :-1]) * rows

    @property
    def reach(self) -> FloatArray:
        """The longest vector that an answer can add in each stratum."""
        return np.asarray(np.sqrt(self.squared.max(axis=1)))
