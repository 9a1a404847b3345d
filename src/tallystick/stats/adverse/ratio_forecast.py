"""How many labels precision, recall and F1 would need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick.errors import InputError
from tallystick.stats.adverse.binary import PSEUDO
from tallystick.stats.adverse.cells import Cells, four_cells
from tallystick.stats.adverse.forecast import Outlook, pilot_rate, share_outlook
from tallystick.stats.intervals.array import Vector

__all__ = ["f1_outlook", "precision_outlook", "recall_outlook"]

SPREAD = (0.72, 1.45)
"""Usual range of forecast over actual width for these measures."""


def precision_outlook(sizes: Vector, labelled: Vector, hits: Vector) -> Outlook:
    """Sum up a pilot for forecasts of :func:`adverse_precision`.

    Only labels with h = c count, so M labels in all bring M times the share of such rows.

    Parameters
    ----------
    sizes, labelled, hits
        All four cells, as in :func:`adverse_recall`.
    """
    cells = four_cells(sizes, labelled, hits, "recall")
    inside = share_outlook(*(part[:2] for part in (cells.sizes, cells.labelled, cells.hits)))
    fraction = float(cells.sizes[:2].sum() / cells.sizes.sum())
    return replace(inside, fraction=fraction, spread=SPREAD)


def recall_outlook(sizes: Vector, labelled: Vector, hits: Vector) -> Outlook:
    r"""Sum up a pilot for forecasts of :func:`adverse_recall`.

    With :math:`\tilde p = (x + ¼)/(k + ½)`, :math:`D = \sum_s W_s \tilde p_s + C`,

    .. math:: V = \sum_s W_s (A_s - \hat\theta)^2 \tilde p_s (1 - \tilde p_s)/D^2, \qquad
              A = .35 \sum_s \sqrt{W_s}\, |A_s - \hat\theta|/D.   \tag{AL17}

    Parameters
    ----------
    sizes, labelled, hits
        As in :func:`adverse_recall`; at least one label of class c.

    Examples
    --------
    >>> outlook = recall_outlook([200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2])
    >>> round(outlook.variance, 4), round(outlook.pull, 4), round(outlook.width(200), 4)
    (0.3318, 1.2417, 0.149)
    """
    return _outlook(four_cells(sizes, labelled, hits, "recall"))


def f1_outlook(sizes: Vector, labelled: Vector, hits: Vector) -> Outlook:
    """Sum up a pilot for forecasts of :func:`adverse_f1`, by (AL17).

    Parameters
    ----------
    sizes, labelled, hits
        As in :func:`adverse_recall`.
    """
    return _outlook(four_cells(sizes, labelled, hits, "f1"))


def _outlook(cells: Cells) -> Outlook:
    estimate, _ = cells.estimate()
    if estimate is None:
        raise InputError("hits: no label is of this class, so nothing can be forecast")
    rate, weights = pilot_rate(cells.hits, cells.labelled), cells.weights
    scale = float((weights * rate).sum() + cells.constant)
    off = np.abs(cells.factor - estimate)
    return Outlook(
        variance=float((weights * off**2 * rate * (1 - rate)).sum() / scale**2),  # (AL17)
        pull=float(PSEUDO * (np.sqrt(weights) * off).sum() / scale),
        items=int(cells.sizes.sum()),
        spread=SPREAD,
    )
