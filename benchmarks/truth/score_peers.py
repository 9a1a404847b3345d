"""The intervals of other tools for a mean from few labels and a judge, many draws at once.

truescore and ppi_python are written out for rows of draws and held to the packages themselves
(:func:`largest_gap`). judgy's bootstrap resamples four counts, so they are drawn as such. cje is
called.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

Ends = tuple[np.ndarray, np.ndarray]

Z = float(ndtri(0.975))
BOOTSTRAPS = 2000
"""judgy's default is 20,000; its percentiles hardly differ."""


def wilson(y: np.ndarray, items: int) -> Ends:
    """Labels alone: Wilson's interval for these items, at the size m (N - 1)/(N - m)."""
    return _wilson_ends(y.mean(axis=1), _size(y.shape[1], items))


def student(y: np.ndarray, items: int) -> Ends:
    """Labels alone: Student's interval for these items, with the same correction."""
    m = y.shape[1]
    half = stdtrit(m - 1, 0.975) * y.std(axis=1, ddof=1) / np.sqrt(_size(m, items))
    return y.mean(axis=1) - half, y.mean(axis=1) + half


def _size(m: int, items: int) -> float:
    """Return how many labels with replacement m labels of these many items are worth."""
    return m * (items - 1) / (items - m)


def ppi_plus(y: np.ndarray, c: np.ndarray, every: np.ndarray) -> Ends:
    return _ppi(y, c, every, _tuned(y, c, every), ddof=0)


def ppi(y: np.ndarray, c: np.ndarray, every: np.ndarray) -> Ends:
    return _ppi(y, c, every, np.ones(len(y)), ddof=0)


def truescore(y: np.ndarray, c: np.ndarray, every: np.ndarray) -> Ends:
    low, high = _ppi(y, c, every, _tuned(y, c, every), ddof=1)
    if np.isin(y, (0, 1)).all():  # it widens around its own point if a class has under 5 labels
        right = y.sum(axis=1)
        few = np.minimum(right, y.shape[1] - right) < 5
        exact = _wilson_ends(right / y.shape[1], y.shape[1])
        half = np.where(
            few, np.maximum((high - low) / 2, (exact[1] - exact[0]) / 2), (high - low) / 2
        )
        centre = (low + high) / 2
        return centre - half, centre + half
    return low, high


def judgy(y: np.ndarray, c: np.ndarray, every: np.ndarray, rng: np.random.Generator) -> Ends:
    """Rogan-Gladen with a percentile bootstrap; NaN where the package raises.

    It estimates the pass rate of the items whose votes it is given, so it is given those of all
    items: with the unlabelled ones alone it would be held to a mean that it never aimed at.
    """
    m = y.shape[1]
    votes, labels = c > 0.5, y == 1
    seen = (every > 0.5).mean()
    low, high = np.full(len(y), np.nan), np.full(len(y), np.nan)
    for row in range(len(y)):
        cells = np.array([(labels[row] == a) & (votes[row] == b) for a, b in _CELLS]).sum(axis=1)
        if np.isnan(_rogan_gladen(cells[None], seen)[0]):
            continue
        drawn = _rogan_gladen(rng.multinomial(m, cells / m, size=BOOTSTRAPS), seen)
        drawn = drawn[~np.isnan(drawn)]
        if drawn.size:
            low[row], high[row] = np.percentile(drawn, [2.5, 97.5])
    return low, high


def cje(y: np.ndarray, c: np.ndarray, every: np.ndarray, at: np.ndarray) -> Ends:
    """Call the package on every row; NaN where it refuses."""
    from cje import calibrated_mean_ci

    logging.disable(logging.CRITICAL)
    ends = np.full((2, len(y)), np.nan)
    for row in range(len(y)):
        labels = np.full(every.size, np.nan)
        labels[at[row]] = y[row]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ends[:, row] = calibrated_mean_ci(every, labels).ci
            except ValueError:
                continue
    return ends[0], ends[1]


def largest_gap(y: np.ndarray, c: np.ndarray, every: np.ndarray, at: np.ndarray) -> float:
    """Return how far the rows above lie from what ppi_python and truescore themselves return."""
    from ppi_py import ppi_mean_ci
    from truescore import ppi_estimate

    gap = 0.0
    ours = {name: make(y, c, every) for name, make in _WRITTEN_OUT.items()}
    for row in range(len(y)):
        rest = np.delete(every, at[row])
        theirs = ppi_estimate(every, y[row], at[row])
        plus = np.ravel(ppi_mean_ci(y[row], c[row], rest, alpha=0.05))
        plain = np.ravel(ppi_mean_ci(y[row], c[row], rest, alpha=0.05, lam=1))
        found: dict[str, Any] = {
            "truescore": (theirs.low, theirs.high),
            "ppi_plus": plus,
            "ppi": plain,
        }
        for name, ends in found.items():
            gap = max(gap, *(abs(ours[name][side][row] - ends[side]) for side in (0, 1)))
    return gap


def _tuned(y: np.ndarray, c: np.ndarray, every: np.ndarray) -> np.ndarray:
    """Return λ of PPI++ as both packages choose it, within [0, 1]."""
    m, rest = y.shape[1], every.size - y.shape[1]
    spread = every.var(ddof=1)
    if spread <= 0:
        return np.zeros(len(y))
    both = ((y - y.mean(axis=1, keepdims=True)) * (c - c.mean(axis=1, keepdims=True))).mean(axis=1)
    return np.asarray(np.clip(both / (spread * (1 + m / rest)), 0, 1))


def _ppi(y: np.ndarray, c: np.ndarray, every: np.ndarray, weight: np.ndarray, *, ddof: int) -> Ends:
    m, n = y.shape[1], every.size
    rest = n - m
    # The unlabelled items are all of them but the labelled ones: their moments are differences.
    centre = every.mean()
    total, squares = (every - centre).sum(), ((every - centre) ** 2).sum()
    off = c - centre
    mean = (total - off.sum(axis=1)) / rest
    spread = np.maximum(squares - (off**2).sum(axis=1) - rest * mean**2, 0) / (rest - ddof)
    residual = y - weight[:, None] * c
    point = weight * (mean + centre) + residual.mean(axis=1)
    half = Z * np.sqrt(residual.var(axis=1, ddof=ddof) / m + weight**2 * spread / rest)
    return point - half, point + half


def _wilson_ends(share: np.ndarray, m: float) -> Ends:
    below = 1 + Z**2 / m
    centre = (share + Z**2 / (2 * m)) / below
    half = Z * np.sqrt(share * (1 - share) / m + Z**2 / (4 * m**2)) / below
    return centre - half, centre + half


_CELLS = ((1, 1), (1, 0), (0, 1), (0, 0))  # truth, vote


def _rogan_gladen(cells: np.ndarray, seen: float) -> np.ndarray:
    """Return judgy's estimate from counts of (truth, vote), NaN where it has none."""
    positive, negative = cells[:, 0] + cells[:, 1], cells[:, 2] + cells[:, 3]
    usable = (positive > 0) & (negative > 0)
    tpr = cells[:, 0] / np.where(usable, positive, 1)
    tnr = cells[:, 3] / np.where(usable, negative, 1)
    usable &= tpr + tnr - 1 > 0
    return np.where(
        usable, np.clip((seen + tnr - 1) / np.where(usable, tpr + tnr - 1, 1), 0, 1), np.nan
    )


_WRITTEN_OUT: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Ends]] = {
    "truescore": truescore,
    "ppi_plus": ppi_plus,
    "ppi": ppi,
}
