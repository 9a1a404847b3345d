r"""One number per output from the judges' grades alone, never from labels.

Three or more judges who say pass or fail: the posterior of a pass in the two-coin model of Dawid
and Skene, fitted to the outputs of all systems. Otherwise: the mean grade. The consensus sorts
outputs into strata and adjusts labels, so a wrong one costs width and never validity.
"""

from __future__ import annotations

import numpy as np

from tallystick.errors import ConvergenceError, NotIdentifiable
from tallystick.score.outputs import Floats, Ints, Outputs
from tallystick.stats.adverse import graded_strata, vote_strata

__all__ = ["consensus", "strata_of"]

_FEWEST = 3
"""Judges below which the latent model has no unique solution."""

_PACKED = 39
"""Judges whose votes (0, 1, none) fit into one 64-bit number."""


def consensus(outputs: Outputs) -> Floats:
    """Return the consensus of every entry; the system's mean where no judge graded.

    Examples
    --------
    >>> grades = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 0]] * 25, dtype=float)
    >>> outputs = Outputs(systems=("a",), judges=("x", "y", "z"), system=np.zeros(100, np.int64),
    ...     grades=grades, truth=np.full(100, np.nan), counts=np.ones(100), pass_fail=True, votes=True)
    >>> (consensus(outputs)[:4] > 0.5).tolist()
    [True, False, True, False]
    """
    mean = outputs.mean_grade()
    found = _posterior(outputs) if outputs.votes and len(outputs.judges) >= _FEWEST else None
    values = mean if found is None else np.where(np.isnan(mean), np.nan, found)

    # An output that nobody graded is still one of the system's outputs: it says nothing.
    blank = np.isnan(values)
    if not blank.any():
        return values
    k, seen = len(outputs.systems), ~blank
    weight = outputs.counts[seen]
    total = np.bincount(outputs.system[seen], weights=weight * values[seen], minlength=k)
    times = np.bincount(outputs.system[seen], weights=weight, minlength=k)
    middle = np.divide(total, times, out=np.full(k, 0.5), where=times > 0)
    return np.where(blank, middle[outputs.system], values)


def _posterior(outputs: Outputs) -> Floats | None:
    """Return the posterior of a pass, None where the votes do not identify the model."""
    from tallystick.stats.latent import fit

    codes = np.where(np.isnan(outputs.grades), -1, outputs.grades).astype(np.int64)
    patterns, where = _patterns(codes)
    counts = np.bincount(where, weights=outputs.counts)
    try:
        found = fit(patterns, counts, n_classes=2).posterior[:, 1]
    except (NotIdentifiable, ConvergenceError):
        return None  # the mean vote says all that such votes can say
    return np.asarray(found[where])


def _patterns(codes: Ints) -> tuple[Ints, Ints]:
    """Return the distinct rows and which of them each row is."""
    if codes.shape[1] <= _PACKED:
        # One number per row is sorted ten times as fast as rows are.
        packed = (codes + 1) @ (3 ** np.arange(codes.shape[1], dtype=np.int64))
        _, first, where = np.unique(packed, return_index=True, return_inverse=True)
        return codes[first], where.ravel()
    patterns, where = np.unique(codes, axis=0, return_inverse=True)
    return patterns, where.ravel()


def strata_of(values: Floats, counts: Floats, *, votes: bool) -> Ints:
    """Return the stratum of each output of one system: by vote, or three bins of grades.

    >>> strata_of(np.array([0.2, 0.7, 0.9]), np.ones(3), votes=True).tolist()
    [0, 2, 2]
    """
    return vote_strata(values) if votes else graded_strata(values, counts)
