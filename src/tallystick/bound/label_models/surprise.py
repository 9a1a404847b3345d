"""Do labels contradict a label model? How surprising they are under it, against its own draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.bound.blocks import FloatArray, IntArray, known_rows

__all__ = ["Surprise", "surprise"]

_FLOOR = 0.001
"""Less probability than this is not taken at its word: one label could never be forgiven."""
_DRAWS = 499


@dataclass(frozen=True, eq=False, kw_only=True)
class Surprise:
    """The log probability of the labels, and what it would be if the model were right.

    Parameters
    ----------
    statistic
        S of (B5).
    null
        The same for labels that were drawn from the model.
    labels
        How many labels were used.
    """

    statistic: float
    null: FloatArray
    labels: int

    @property
    def p_value(self) -> float:
        """Two-sided: labels may be too surprising, or not surprising enough."""
        # Rounding must not decide between labels that are equally probable.
        slack = 1e-9 * max(1.0, abs(self.statistic))
        below = int((self.null <= self.statistic + slack).sum())
        above = int((self.null >= self.statistic - slack).sum())
        return min(1.0, 2 * (1 + min(below, above)) / (1 + self.null.size))


def surprise(p: FloatArray, gold: IntArray, *, draws: int = _DRAWS, rng: Rng) -> Surprise | None:
    r"""Test P(Y | Z) by labels, whatever made it.

    .. math:: S = \sum_i \ln p(y_i \mid z_i)   \tag{B5}

    with p floored at .001 and renormalised. The null comes from labels drawn from p. Measured size
    at 5 %: 0 to 7 %.

    Parameters
    ----------
    p
        Patterns x classes; a row of NaN says nothing and is left out.
    gold
        Labelled rows by pattern and class.
    draws
        Null draws.
    rng
        A stream of its own: draws that share their uniforms with the data would be worthless.

    Returns
    -------
    Surprise
        None if no labelled row has a known P(Y | z).

    Examples
    --------
    >>> law = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    >>> found = surprise(law, np.array([[0, 1], [1, 0], [0, 1], [0, 1]]), rng=1)
    >>> round(found.statistic, 4), found.labels
    (-3.7987, 4)
    """
    here = known_rows(p) & (gold.sum(axis=1) > 0)
    if not here.any():
        return None
    law = np.maximum(p[here], _FLOOR)
    law /= law.sum(axis=1, keepdims=True)
    log, size = np.log(law), gold[here].sum(axis=1)
    drawn = as_rng(rng).multinomial(size, law, size=(draws, len(size)))
    return Surprise(
        statistic=float((gold[here] * log).sum()),  # (B5)
        null=np.asarray(np.einsum("dzc,zc->d", drawn, log)),
        labels=int(size.sum()),
    )
