"""Which of two scores is larger, item by item: counts and the exact sign test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.binomial import binomial_up_to
from tallystick.stats.ranges import whole

__all__ = ["SignCount", "paired_scores", "sign_count", "sign_p_value"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class SignCount:
    """On how many items the first score is larger, smaller or the same.

    Parameters
    ----------
    larger, smaller, same
        Items of each kind.
    p_value
        Exact two-sided sign test over the items that differ; 1 if none does.
    """

    larger: int
    smaller: int
    same: int
    p_value: float


def sign_count(first: npt.ArrayLike, second: npt.ArrayLike) -> SignCount:
    r"""Count on how many items the first score is larger, with the exact sign test.

    With b larger, c smaller and m = b + c,
    :math:`p = \min\{1, 2 P(\mathrm{Bin}(m, ½) \le \min(b, c))\}`.

    Examples
    --------
    >>> found = sign_count([5, 0, 2, 7, 3, 9, 4], [1, 0, 1, 3, 2, 4, 1])
    >>> found.larger, found.smaller, found.same, found.p_value
    (6, 0, 1, 0.03125)
    """
    x, y = paired_scores(first, second)
    larger, smaller = int((x > y).sum()), int((x < y).sum())
    p_value = sign_p_value(larger, smaller)
    return SignCount(
        larger=larger, smaller=smaller, same=x.size - larger - smaller, p_value=p_value
    )


def sign_p_value(larger: int, smaller: int) -> float:
    """Return the exact two-sided sign test of *larger* against *smaller*.

    Examples
    --------
    >>> sign_p_value(0, 0), round(sign_p_value(30, 20), 4)
    (1.0, 0.2026)
    """
    whole(0, larger=larger, smaller=smaller)
    tail = float(binomial_up_to(min(larger, smaller), larger + smaller, 0.5))
    return min(1.0, 2 * tail)


def paired_scores(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return both scores as arrays; raise InputError unless they belong to the same items.

    Examples
    --------
    >>> paired_scores([1, 2], [0, 3])[1].tolist()
    [0.0, 3.0]
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise InputError(
            f"first and second must be scores on the same items, at least two, "
            f"got shapes {x.shape} and {y.shape}"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("first and second must be finite: leave out items without a score")
    return x, y
