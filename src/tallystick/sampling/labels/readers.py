r"""Two readers: how often people err, when that matters, and what to do where they disagree.

If both readers err independently on a share e of the items, they disagree on
:math:`\delta = 2 e (1 - e)` of them, so

.. math:: e = \frac{1 - \sqrt{1 - 2\delta}}{2}   \tag{W10}

and a share θ read by one of them is off by :math:`e |1 - 2\theta|`. The mean of two readers is off
by as much; a third who reads only their disagreements repairs it, for 10 % more readings (coverage
.66 → .64 for the mean, .96 with the third; pass rate .9, error 5 %).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.labels.consensus import Floats, Ints

__all__ = ["ReaderError", "read_twice", "reader_error", "resolve", "too_noisy"]

LEAST_TWICE = 20
"""At least this many items are read twice."""
UNRESOLVED = 0.5
"""The value of an item on which readers disagree and no third one read: the average reader's."""


@dataclass(frozen=True, kw_only=True)
class ReaderError:
    """How often one reader errs, from items that two have read.

    Parameters
    ----------
    estimate
        e of (W10); 1/2 where readers agree no more than coins do.
    interval
        From the exact interval of the share of disagreements.
    disagreed, twice
        Of how many items read twice, how many came out differently.
    """

    estimate: float
    interval: Interval
    disagreed: int
    twice: int


def reader_error(disagreed: int, twice: int, *, alpha: float = 0.05) -> ReaderError:
    """Estimate how often a reader errs (W10).

    Parameters
    ----------
    disagreed, twice
        How many items read twice came out differently, of how many.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = reader_error(4, 40)
    >>> round(found.estimate, 4), str(found.interval)
    (0.0528, '[0.014, 0.137] (95 %, under readers who err independently and equally often)')
    """
    from tallystick.stats.intervals import clopper_pearson

    if not 0 <= disagreed <= twice or twice < 1:
        raise InputError(f"0 <= disagreed <= twice, got {disagreed!r} of {twice!r}")
    ends = clopper_pearson(disagreed, twice, alpha=alpha)
    interval = Interval(
        _error(ends.low),
        _error(ends.high),
        level=1 - alpha,
        guarantee="under",
        assumption="readers who err independently and equally often",
        method="double reading",
    )
    return ReaderError(
        estimate=_error(disagreed / twice), interval=interval, disagreed=disagreed, twice=twice
    )


def read_twice(drawn: ArrayLike, *, planned: int, rng: Rng) -> Ints:
    """Return which draws a second reader reads: max(20, a tenth of the labels), at random.

    Parameters
    ----------
    drawn
        The draws that one reader has read.
    planned
        How many labels are expected in all.
    rng
        A seed or generator.

    Examples
    --------
    >>> read_twice(np.arange(300), planned=300, rng=1).size
    30
    """
    read = np.asarray(drawn, dtype=np.int64)
    count = min(read.size, max(LEAST_TWICE, ceil(planned / 10)))
    return np.sort(as_rng(rng).choice(read, size=count, replace=False))


def too_noisy(error: float, share: float, half_width: float) -> bool:
    """Say whether reader error moves the share by more than a third of the precision asked.

    >>> too_noisy(0.05, 0.9, 0.05), too_noisy(0.05, 0.5, 0.05)
    (True, False)
    """
    if not 0 <= error <= 0.5:
        raise InputError(f"error must be in [0, 1/2], got {error!r}")
    return error * abs(1 - 2 * share) > half_width / 3


def resolve(first: ArrayLike, second: ArrayLike, third: ArrayLike | None = None) -> Floats:
    """Return the value of each item from two readers, and a third one where they disagree.

    Parameters
    ----------
    first, second, third
        0 or 1 per item, NaN where that reader did not read it. Of more than two classes, pass the
        indicator of one class at a time.

    Returns
    -------
    array
        The value both give, or the one who read it gives, or the third's, or 1/2 where they
        disagree and no third has read. NaN where nobody has.

    Examples
    --------
    >>> nan = np.nan
    >>> resolve([1, 1, 0, nan], [1, 0, 1, 0], [nan, nan, 1, nan]).tolist()
    [1.0, 0.5, 1.0, 0.0]
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    c = np.full(a.shape, np.nan) if third is None else np.asarray(third, dtype=np.float64)
    if not a.shape == b.shape == c.shape:
        raise InputError(
            f"readers must have one entry per item each: {a.shape}, {b.shape}, {c.shape}"
        )
    for name, values in (("first", a), ("second", b), ("third", c)):
        if not (np.isnan(values) | (values == 0) | (values == 1)).all():
            raise InputError(f"{name} must hold 0, 1 or NaN")
    one = np.where(np.isnan(a), b, a)
    apart = (a != b) & ~np.isnan(a) & ~np.isnan(b)
    return np.where(apart, np.where(np.isnan(c), UNRESOLVED, c), one)


def _error(disagree: float) -> float:
    return (1 - sqrt(max(0.0, 1 - 2 * disagree))) / 2  # (W10)
