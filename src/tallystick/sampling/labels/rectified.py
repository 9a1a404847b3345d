r"""What one draw says of the mean of all items: its value, put right by a guess for the rest.

Before a draw, :math:`x` is the sum of the values so far, :math:`R_h` the items of stratum h that
are left, :math:`g_h` the guess of their mean and :math:`q_h` the probability of the stratum. A draw
from stratum h with value y gives

.. math:: Z = A + c_h (y - g_h), \qquad A = \frac{x + \sum_h R_h g_h}{N}, \quad
          c_h = \frac{R_h}{N q_h}, \quad g_h = \frac{x_h + 4 \pi_h}{k_h + 4}   \tag{W3}

whose expectation given the past is the mean of all N values, *exactly and whatever the guesses
are*: :math:`\sum_h q_h c_h (\bar y_h - g_h) = \sum_h R_h (\bar y_h - g_h)/N`. A good guess makes Z
vary less. The guesses are frozen while a batch is drawn, like the probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.sampling.labels.consensus import Floats
from tallystick.sampling.labels.journal import HALF_WIDTH, DrawJournal

__all__ = ["PRIOR_LABELS", "Steps", "rectified_steps"]

PRIOR_LABELS = 4.0
"""The guess from votes counts as this many labels of its stratum."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """One entry per draw: Z of (W3), and the least and largest value that it could have had.

    Parameters
    ----------
    z, low, high
        As said. ``low <= z <= high``, and the two ends are known before the draw. Draws from a part
        of the strata only, such as labels that were drawn among disagreements, have no entry here.
    values
        The values that were read.
    items
        N, the items of the population.
    half_width
        w of (W6), from the journal.
    floor, ceiling
        The least and largest value of an item.
    """

    z: Floats
    low: Floats
    high: Floats
    values: Floats
    items: int
    half_width: float = HALF_WIDTH
    floor: float = 0.0
    ceiling: float = 1.0

    @property
    def logical(self) -> tuple[float, float]:
        """What the mean of all items can be, whatever the items that are left turn out to be."""
        total, left = float(self.values.sum()), self.items - self.values.size
        return (
            (total + left * self.floor) / self.items,
            (total + left * self.ceiling) / self.items,
        )


def rectified_steps(
    journal: DrawJournal,
    values: ArrayLike,
    guess: ArrayLike,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    learn: bool = True,
) -> Steps:
    """Return (W3) for each draw whose value is there.

    Parameters
    ----------
    journal
        The draws.
    values
        The values in draw order; fewer than the draws is fine, any prefix is valid.
    guess
        π_h, the mean value that the votes lead one to expect in each stratum.
    bounds
        The least and the largest value an item can have.
    learn
        If False the guess stays as given, instead of moving with the values of earlier batches.

    Examples
    --------
    >>> from tallystick.sampling.labels.journal import Draw
    >>> first = Draw(t=0, item=0, stratum=0, q=0.8, batch=0)
    >>> journal = DrawJournal.of([400, 100], [first], [[0.5, 0.5]])
    >>> steps = rectified_steps(journal, [1.0], [0.95, 0.3])
    >>> [float(part[0].round(4)) for part in (steps.z, steps.low, steps.high)]
    [0.87, -0.13, 1.52]
    """
    y = np.asarray(values, dtype=np.float64)
    n, n_strata = y.size, journal.sizes.size
    floor, ceiling = bounds
    if n > journal.n_draws:
        raise InputError(f"values must not be more than the {journal.n_draws} draws, got {n}")
    if not ((y >= floor) & (y <= ceiling)).all():
        raise InputError(
            f"values must lie in [{floor:g}, {ceiling:g}], in draw order, without gaps"
        )
    prior = np.asarray(guess, dtype=np.float64)
    if prior.shape != (n_strata,):
        raise InputError(f"guess must have one entry per stratum ({n_strata}), got {prior.shape}")
    items = int(journal.sizes.sum())
    known: dict[str, float] = {"half_width": journal.half_width, "floor": floor, "ceiling": ceiling}
    if not n:
        none = np.empty(0)
        return Steps(z=none, low=none, high=none, values=none, items=items, **known)

    # What each stratum had given when the batch of a draw began: all earlier batches.
    where, rows = journal.stratum[:n], np.arange(n)
    begin = np.searchsorted(journal.batch[:n], journal.batch[:n], side="left")
    hit = np.zeros((n + 1, n_strata))
    hit[rows + 1, where] = 1.0
    worth = hit.copy()
    worth[rows + 1, where] = y
    k, x = (np.cumsum(part, axis=0)[begin] for part in (hit, worth))
    g = (x + PRIOR_LABELS * prior) / (k + PRIOR_LABELS) if learn else np.tile(prior, (n, 1))

    left = journal.remaining()[:n].astype(np.float64)
    q = journal.probabilities()[:n]
    base = (np.cumsum(y) - y + (left * g).sum(axis=1)) / items
    # (W3); a stratum with nothing left can not be drawn and limits nothing.
    c = np.divide(left, items * q, out=np.zeros_like(left), where=q > 0)
    z = base + c[rows, where] * (y - g[rows, where])
    low = base + np.where(left > 0, c * (floor - g), np.inf).min(axis=1)
    high = base + np.where(left > 0, c * (ceiling - g), -np.inf).max(axis=1)

    # A draw that could not fall into some stratum says nothing of that stratum, so its Z does not
    # have the mean of all items as its expectation. Its value counts; nobody bets on it.
    fair = ((left == 0) | (q > 0)).all(axis=1)
    return Steps(z=z[fair], low=low[fair], high=high[fair], values=y, items=items, **known)
