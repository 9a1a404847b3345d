"""Exact tails of counts, the smallest number that suffices, and checks of arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.errors import InputError, NotIdentifiable

# Binomial tails and masses that stay exact where the textbook forms lose their digits.


Floats = npt.NDArray[np.float64]


def binomial_up_to(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    r"""Return :math:`P(X \le k) = I_{1-p}(n-k, k+1)` for a binomial count; k may be -1 or n.

    >>> float(binomial_up_to(1, 2, 0.5))
    0.75
    """
    return _tail(k, n, p, upper=False)


def binomial_above(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    r"""Return :math:`P(X > k) = I_p(k+1, n-k)`: a tail of its own, not one minus the other.

    >>> float(binomial_above(1, 2, 0.5))
    0.25
    """
    return _tail(k, n, p, upper=True)


def binomial_window(n: int, p: float) -> tuple[Floats, Floats]:
    """Return the counts that matter and their probabilities; what is left out weighs less than
    1e-30.

    >>> counts, mass = binomial_window(2, 0.5)
    >>> counts.tolist(), [round(x, 12) for x in mass.tolist()]
    ([0.0, 1.0, 2.0], [0.25, 0.5, 0.25])
    """
    whole(0, n=n)
    closed_unit(p=p)
    reach = 12 * sqrt(n * p * (1 - p)) + 30
    m = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1, dtype=float)
    log_ways = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
    return m, np.exp(log_ways + special.xlogy(m, p) + special.xlog1py(n - m, -p))


def _tail(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike, *, upper: bool) -> Floats:

    at, size, rate = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (k, n, p)))
    inside = (at >= 0) & (at < size)
    heads, tails = np.where(inside, at + 1, 1), np.where(inside, size - at, 1)
    value = (
        special.betainc(heads, tails, rate) if upper else special.betainc(tails, heads, 1 - rate)
    )
    return np.where(at < 0, float(upper), np.where(at >= size, float(not upper), value))


# The smallest whole number at which a condition begins to hold: how every sample size here is
# found.


def smallest(holds: Callable[[int], bool], *, start: int = 1, limit: int = 10**12) -> int:
    r"""Return the smallest :math:`n \ge` *start* with ``holds(n)``, for a condition that stays true
    once it is.

    Steps double until the condition holds, then halve: about :math:`2 \log_2 (n - start)`
    evaluations. Asking the very function that will be reported, rather than rounding a closed form,
    keeps :math:`n` consistent with it to the last bit.

    Parameters
    ----------
    holds
        False below the answer and true from it on. If it is not, what comes back is a number where
        it changes from false to true.
    start
        Where to begin; returned at once if the condition holds there.
    limit
        Beyond this the question is refused.

    Examples
    --------
    >>> smallest(lambda n: n * n >= 1000)
    32
    >>> smallest(lambda n: False)
    Traceback (most recent call last):
    tallystick.errors.NotIdentifiable: no n up to 1,000,000,000,000 is enough: ask for less or allow more error
    """
    if holds(start):
        return start
    below, step = start, 1
    while not holds(below + step):
        below, step = below + step, 2 * step
        if below + step > limit:
            raise NotIdentifiable(
                f"no n up to {limit:,} is enough: ask for less or allow more error"
            )
    above = below + step
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above


# The declared ranges of parameters: each check names the argument, the value and the range it has
# to lie in.


def open_unit(**values: npt.ArrayLike) -> None:
    """Refuse what is not strictly between 0 and 1.

    >>> open_unit(alpha=1.5)
    Traceback (most recent call last):
    tallystick.errors.InputError: alpha must be in (0, 1), got 1.5
    """
    _require(values, lambda x: (x > 0) & (x < 1), "in (0, 1)")


def closed_unit(**values: npt.ArrayLike) -> None:
    """Refuse what is not a probability, 0 and 1 included.

    >>> closed_unit(rate=1.0)
    """
    _require(values, lambda x: (x >= 0) & (x <= 1), "in [0, 1]")


def within(ends: tuple[float, float], **values: npt.ArrayLike) -> None:
    """Refuse what lies outside two ends, NaN included.

    >>> within((-1, 1), codes=[0, 2])
    Traceback (most recent call last):
    tallystick.errors.InputError: codes must be in [-1, 1], got 2
    """
    low, high = ends
    _require(values, lambda x: (x >= low) & (x <= high), f"in [{low:g}, {high:g}]")


def zero_or_one(**values: npt.ArrayLike) -> None:
    """Refuse what is neither 0 nor 1.

    >>> zero_or_one(events=[0, 1, 1])
    """
    _require(values, lambda x: (x == 0) | (x == 1), "0 or 1")


def finite(**values: npt.ArrayLike) -> None:
    """Refuse NaN and infinities.

    >>> finite(consensus=[0.5])
    """
    _require(values, np.isfinite, "finite")


def positive(**values: npt.ArrayLike) -> None:
    """Refuse what is not a finite number above 0.

    >>> positive(width=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: width must be above 0 and finite, got 0
    """
    _require(values, lambda x: (x > 0) & np.isfinite(x), "above 0 and finite")


def at_least(least: float, **values: npt.ArrayLike) -> None:
    """Refuse what lies below *least*, and what is not finite.

    >>> at_least(0, items=3)
    """
    _require(values, lambda x: (x >= least) & np.isfinite(x), f"at least {least:g} and finite")


def whole(least: int, **values: npt.ArrayLike) -> None:
    """Refuse what is not a whole number of at least *least*.

    >>> whole(1, items=2.5)
    Traceback (most recent call last):
    tallystick.errors.InputError: items must be a whole number of at least 1, got 2.5
    """

    def fits(x: Floats) -> npt.NDArray[np.bool_]:
        # Codes of a crowd are ten million whole numbers: nothing else has to be looked at.
        whole_numbers = x.dtype.kind in "iu"
        return x >= least if whole_numbers else np.isfinite(x) & (x >= least) & (x == np.floor(x))

    _require(values, fits, f"a whole number of at least {least}")


def one_per(what: str, size: int, **values: npt.ArrayLike) -> None:
    """Refuse what is not one sequence with an entry for each of *size* things.

    >>> one_per("row", 3, counts=[1, 2])
    Traceback (most recent call last):
    tallystick.errors.InputError: counts must be one entry per row (3), got shape (2,)
    """
    for name, value in values.items():
        if np.shape(value) != (size,):
            raise InputError(
                f"{name} must be one entry per {what} ({size}), got shape {np.shape(value)}"
            )


def columns_of(least: int, most: float = np.inf, **values: npt.ArrayLike) -> None:
    """Refuse what is not a table with at least *least* columns and at most *most*.

    >>> columns_of(2, codes=[[0, 1], [1, 1]])
    """
    for name, value in values.items():
        shape = np.shape(value)
        if len(shape) != 2 or not least <= shape[1] <= most:
            raise InputError(
                f"{name} must be a table of {least} columns or more, got shape {shape}"
            )


def _require(
    values: Mapping[str, npt.ArrayLike],
    fits: Callable[[Floats], npt.NDArray[np.bool_]],
    wanted: str,
) -> None:
    for name, value in values.items():
        given = np.asarray(value)
        fit = fits(given if given.dtype.kind in "iuf" else given.astype(float))
        if not fit.all():
            wrong = given[~fit].flat[0] if given.ndim else repr(value)
            raise InputError(f"{name} must be {wanted}, got {wrong}")
