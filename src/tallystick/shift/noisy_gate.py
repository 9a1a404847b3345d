r"""The gate "accuracy is not down by more than x", when answers are random.

After a fixed number of calls the interval decides. Sequentially, on items in uniformly random order
with d = (new answer right) - (old answer right),

.. math:: E_t = \text{mean over } c = .02, .05, .1, .2, .4 \text{ of } \prod_{s \le t}
          (1 + c (d_s + x)) \ge 1/α   \tag{N6}

passes. The null is not updated for items already seen: with noise that update is wrong. Drawing
without replacement makes this an approximation, not a martingale; measured, it passes wrongly in at
most 1.9 % at α = .05. docs/theory/shift.md, *Stopping early*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.evalues import average_log_e
from tallystick.stats.ranges import open_unit

__all__ = ["STAKES", "AccuracyGate", "accuracy_gate", "accuracy_log_e"]

FloatArray = NDArray[np.float64]

STAKES = (0.02, 0.05, 0.1, 0.2, 0.4)
"""The stakes c of (N6): small ones for small leads, large ones for clear cases."""


def accuracy_gate(interval: Interval | tuple[float, float], *, limit: float) -> bool | None:
    """Decide "accuracy is not down by more than *limit*": True, False, or None for undecided.

    Parameters
    ----------
    interval
        Of the change of accuracy, with noise.
    limit
        x, at least 0.

    Examples
    --------
    >>> accuracy_gate((-0.01, 0.02), limit=0.03), accuracy_gate((-0.09, -0.04), limit=0.03)
    (True, False)
    >>> accuracy_gate((-0.04, 0.02), limit=0.03) is None
    True
    """
    _check_limit(limit)
    low, high = interval
    if low > -limit:
        return True
    return False if high < -limit else None


def accuracy_log_e(changes: ArrayLike, *, limit: float) -> FloatArray:
    """Return log E of (N6) after each item, along the last axis.

    Parameters
    ----------
    changes
        d of each item in the order asked, from -1 to 1.
    limit
        x.

    Examples
    --------
    >>> found = accuracy_log_e([0, 0, -1, 0, 1, 0, 0, 0, 1, 0], limit=0.05)
    >>> round(float(np.exp(found[-1])), 4)
    1.1911
    """
    _check_limit(limit)
    return average_log_e(np.cumsum(_steps(_changes(changes), limit), axis=-1), axis=0)


@dataclass(frozen=True, kw_only=True)
class AccuracyGate:
    """The sequential gate: ``update`` returns the next state.

    A failed call (NaN) counts as an answer that became wrong: it cannot help to pass.

    Parameters
    ----------
    limit
        x, the loss of accuracy that is still allowed.
    alpha
        The chance of passing wrongly.
    asked
        Items so far.
    passed
        Whether the gate has passed; it never fails early, it only runs out of items.

    Examples
    --------
    >>> gate = AccuracyGate(limit=0.05)
    >>> gate.update(np.zeros(224)).passed, gate.update(np.zeros(225)).passed
    (False, True)
    """

    limit: float
    alpha: float = 0.05
    asked: int = 0
    passed: bool = False
    logs: tuple[float, ...] = (0.0,) * len(STAKES)

    def __post_init__(self) -> None:
        _check_limit(self.limit)
        open_unit(alpha=self.alpha)

    @property
    def log_e(self) -> float:
        """Log of the e-value now."""
        return float(average_log_e(self.logs))

    def update(self, changes: ArrayLike) -> AccuracyGate:
        """Return the gate after more items in the order asked; once passed it stays passed."""
        d = np.atleast_1d(np.asarray(changes, dtype=np.float64))
        if self.passed or not d.size:
            return self
        d = _changes(np.where(np.isnan(d), -1.0, d))
        path = np.array(self.logs)[:, None] + np.cumsum(_steps(d, self.limit), axis=-1)
        over = average_log_e(path, axis=0) >= -log(self.alpha)
        end = int(np.argmax(over)) if over.any() else d.size - 1
        return replace(
            self,
            asked=self.asked + end + 1,
            passed=bool(over.any()),
            logs=tuple(path[:, end].tolist()),
        )


def _steps(changes: FloatArray, limit: float) -> FloatArray:
    """Return ln(1 + c (d + x)), with the stakes on a new first axis."""
    stakes = np.array(STAKES).reshape(-1, *[1] * changes.ndim)
    return np.asarray(np.log1p(stakes * (changes + limit)))  # (N6)


def _changes(values: ArrayLike) -> FloatArray:
    d = np.asarray(values, dtype=np.float64)
    if not np.all(np.abs(d) <= 1):
        raise InputError("changes must be numbers from -1 (became wrong) to 1 (became right)")
    return d


def _check_limit(limit: float) -> None:
    if not 0 <= limit < 1:
        raise InputError(f"limit must be in [0, 1), got {limit!r}: a loss of accuracy, as a share")
