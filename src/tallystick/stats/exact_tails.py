"""Exact tails of counts: binomial ends, acceptance regions, and the smallest number that
suffices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    from scipy import special

    whole(0, n=n)
    closed_unit(p=p)
    reach = 12 * sqrt(n * p * (1 - p)) + 30
    m = np.arange(max(0, int(n * p - reach)), min(n, int(n * p + reach)) + 1, dtype=float)
    log_ways = special.gammaln(n + 1) - special.gammaln(m + 1) - special.gammaln(n - m + 1)
    return m, np.exp(log_ways + special.xlogy(m, p) + special.xlog1py(n - m, -p))


def _tail(k: npt.ArrayLike, n: npt.ArrayLike, p: npt.ArrayLike, *, upper: bool) -> Floats:
    from scipy import special

    at, size, rate = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (k, n, p)))
    inside = (at >= 0) & (at < size)
    heads, tails = np.where(inside, at + 1, 1), np.where(inside, size - at, 1)
    value = (
        special.betainc(heads, tails, rate) if upper else special.betainc(tails, heads, 1 - rate)
    )
    return np.where(at < 0, float(upper), np.where(at >= size, float(not upper), value))


# How many items does a *rate* need: to accept a limit, to reach a width.


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Try *items* of them and accept if at most *failures* fail."""

    items: int
    failures: int


def acceptance_plan(
    limit: float, rate: float = 0.0, *, alpha: float = 0.05, power: float = 0.8
) -> Acceptance:
    r"""Return the smallest trial that proves a failure rate below *limit* when it truly is *rate*.

    The smallest c, and its smallest n, with

    .. math:: P(\mathrm{Bin}(n, \text{limit}) \le c) \le α \quad\text{and}\quad
              P(\mathrm{Bin}(n, \text{rate}) \le c) \ge \text{power} .

    Exact. With rate 0 no failure is allowed: `papers.detecting_differences.zero_failure_items`.

    >>> acceptance_plan(0.05, 0.01)
    Acceptance(items=124, failures=2)
    """
    open_unit(limit=limit, alpha=alpha, power=power)
    if not 0 <= rate < limit:
        raise InputError(
            f"rate must be in [0, limit = {limit!r}), got {rate!r}: a rate at the limit cannot be"
            " accepted"
        )

    def trial(failures: int) -> int:
        return smallest(
            lambda n: bool(binomial_up_to(failures, n, limit) <= alpha), start=failures + 1
        )

    failures = smallest(lambda c: bool(binomial_up_to(c, trial(c), rate) >= power), start=0)
    return Acceptance(trial(failures), failures)


def interval_items(half_width: float, *, rate: float = 0.5, alpha: float = 0.05) -> int:
    r"""Return the labels at which a Wilson interval for *rate* is no wider than ± *half_width*.

    .. math:: h(n) = \frac{z}{1 + z^2/n} \sqrt{\frac{p(1-p)}{n} + \frac{z^2}{4n^2}}

    Approximate, as Wilson's interval is; Hoeffding's inequality gives the certified number.

    >>> interval_items(0.05), interval_items(0.05, rate=0.9)
    (381, 141)
    """
    open_unit(half_width=half_width, rate=rate, alpha=alpha)
    z = float(-special.ndtri(alpha / 2))
    return smallest(
        lambda n: (
            z / (1 + z * z / n) * sqrt(rate * (1 - rate) / n + (z / (2 * n)) ** 2) <= half_width
        )
    )


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
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        _require(bool(np.all((array > 0) & (array < 1))), name, value, "in (0, 1)")


def closed_unit(**values: npt.ArrayLike) -> None:
    """Refuse what is not a probability, 0 and 1 included.

    >>> closed_unit(rate=1.0)
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        _require(bool(np.all((array >= 0) & (array <= 1))), name, value, "in [0, 1]")


def positive(**values: npt.ArrayLike) -> None:
    """Refuse what is not a finite number above 0.

    >>> positive(width=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: width must be above 0 and finite, got 0
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        _require(bool(np.all((array > 0) & np.isfinite(array))), name, value, "above 0 and finite")


def at_least(least: float, **values: npt.ArrayLike) -> None:
    """Refuse what lies below *least*, and what is not finite.

    >>> at_least(0, items=3)
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        _require(
            bool(np.all((array >= least) & np.isfinite(array))),
            name,
            value,
            f"at least {least:g} and finite",
        )


def whole(least: int, **values: npt.ArrayLike) -> None:
    """Refuse what is not a whole number of at least *least*.

    >>> whole(1, items=2.5)
    Traceback (most recent call last):
    tallystick.errors.InputError: items must be a whole number of at least 1, got 2.5
    """
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        fits = np.isfinite(array) & (array >= least) & (array == np.floor(array))
        _require(bool(np.all(fits)), name, value, f"a whole number of at least {least}")


def _require(fits: bool, name: str, value: npt.ArrayLike, wanted: str) -> None:
    if not fits:
        raise InputError(f"{name} must be {wanted}, got {value!r}")
