"""When enough has been asked: a limit on flips, proved or refuted at any time, or a target error of
the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.stats.rate import RateTest

__all__ = ["FlipGate", "frobenius_bound", "looks"]


@dataclass(frozen=True, kw_only=True)
class FlipGate:
    r"""Watch items in uniformly random order, until it is proved which side of *limit* the share of
    flips is on.

    Two e-processes run side by side (:mod:`tallystick.stats.rate`): one for "under the limit", one
    for "over it". Each is wrong with probability at most *alpha*, however often one looks. With a
    limit of 0 the first flip settles it (for an API whose answers do not vary by chance), and only
    a clean run over all items passes. Where the items not yet asked can no longer matter, the count
    decides.

    A call that failed proves nothing: it counts as a flip against "under" and as no flip
    against "over".

    Parameters
    ----------
    limit
        The share x of flips that is still allowed.
    population
        How many items there are.
    alpha
        The chance of a wrong decision, for either.

    Examples
    --------
    >>> gate = FlipGate(limit=0.01, population=20_000)
    >>> gate.update(np.zeros(303)).passed, gate.update(np.zeros(304)).passed
    (None, True)
    """

    limit: float
    population: int
    alpha: float = 0.05
    asked: int = 0
    flips: int = 0
    failures: int = 0
    passed: bool | None = None
    _tests: tuple[RateTest, RateTest] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.limit < 1:
            raise InputError(f"the limit of a gate on flips must be in [0, 1), got {self.limit!r}")
        if self.limit > 0 and self._tests is None:
            under = RateTest(limit=self.limit, population=self.population, side="below")
            over = RateTest(limit=self.limit, population=self.population, side="above")
            object.__setattr__(self, "_tests", (under, over))

    def update(self, flips: ArrayLike) -> FlipGate:
        """Return the gate after more items in the order asked: 1 flipped, 0 not, NaN failed.

        Once it has decided it stays as it is.
        """
        events = np.atleast_1d(np.asarray(flips, dtype=np.float64))
        if self.passed is not None or not events.size:
            return self
        after = self._after(events)
        if after.passed is None or len(events) == 1:
            return after
        # It was decided somewhere in here: find the very answer, so that batches make no
        # difference.
        half = len(events) // 2
        return self.update(events[:half]).update(events[half:])

    def _after(self, events: NDArray[np.float64]) -> FlipGate:
        """Return the gate after all *events*, decided if it was decided at any of them."""
        failed = np.isnan(events)
        flips = int(np.nansum(events))
        seen = replace(
            self,
            asked=self.asked + len(events),
            flips=self.flips + flips,
            failures=self.failures + int(failed.sum()),
        )
        if self._tests is None:
            clean = seen.asked == self.population and not seen.flips and not seen.failures
            return replace(seen, passed=False if seen.flips else True if clean else None)
        under = self._tests[0].update(np.where(failed, 1.0, events))
        over = self._tests[1].update(np.where(failed, 0.0, events))
        most = self.limit * self.population * (1 + 1e-9)
        if seen.flips > most:  # whatever the others say
            return replace(seen, passed=False, _tests=(under, over))
        # even if all others flipped
        if self.population - seen.asked + seen.flips + seen.failures <= most:
            return replace(seen, passed=True, _tests=(under, over))
        enough = -log(self.alpha)
        passed = True if under.peak >= enough else False if over.peak >= enough else None
        return replace(seen, passed=passed, _tests=(under, over))


def frobenius_bound(
    variance: ArrayLike, *, calls: int, alpha: float = 0.05, unseen: float = 0.0
) -> float:
    r"""Return the ε that the Frobenius error of the matrix stays below with probability 1 - α.

    .. math:: \varepsilon^2 = T \, \chi^2_{1-\alpha}(\nu) / \nu, \qquad T = \sum_i T_i, \quad \nu = T^2 / \sum_i T_i^2

    with :math:`T_i` the estimated squared error of the row of true label i; inflated by 1.1 below
    500 calls. docs/theory/shift.md, *Stopping early*: held .92-1 at a fixed number of calls, so it
    is approximate. A variance estimated from no flip, or from few, says nothing: the bound is never
    below *unseen*.

    Parameters
    ----------
    variance
        :math:`T_i`, one per row.
    calls
        Answers that came.
    alpha
        One minus the level.
    unseen
        How large the error can be although no answer showed it
        (:func:`~tallystick.shift.change.unseen_error`).

    Examples
    --------
    >>> round(frobenius_bound([2e-5, 2e-5], calls=2000), 5)
    0.01095
    >>> frobenius_bound([0.0, 0.0], calls=2000, unseen=0.0026)
    0.0026
    """
    rows: NDArray[np.float64] = np.asarray(variance, dtype=np.float64)
    total = float(rows.sum())
    if total <= 0:
        return unseen
    from scipy.special import chdtri

    degrees = total**2 / float((rows**2).sum())
    bound = sqrt(total * float(chdtri(degrees, alpha)) / degrees)
    return max(bound * (1.1 if calls < 500 else 1.0), unseen)


def looks(*, first: int, calls: int) -> tuple[int, ...]:
    """Return after how many answers to look at a target error: each time half as many again have
    come.

    α is split over the looks, so few of them are wanted.

    Examples
    --------
    >>> looks(first=100, calls=500)
    (100, 150, 225, 338, 500)
    """
    at = []
    n = float(first)
    while round(n) < calls:
        at.append(round(n))
        n = max(1.5 * n, n + 1)
    return (*at, calls)
