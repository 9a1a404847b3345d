r"""Stop as soon as it is clear: the e-process of discordant signs, and the exact law of when it
stops.

Two models are compared on items in random order; only items on which exactly one is right speak, as
a sign. After :math:`b` signs for the first and :math:`c` for the second the likelihood ratio of
"some lean π, uniform on [0, 1]" against a fair coin is

.. math:: E = \int_0^1 \frac{π^b (1-π)^c}{2^{-(b+c)}}\,dπ = B(b+1, c+1)\, 2^{b+c}   \tag{E1}

and by Ville's inequality :math:`P(\sup E \ge 1/α) \le α` under equal models, however often one
looks. Everything is kept in logarithms: :math:`2^{5000}` is no float.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, lgamma, log

import numpy as np
import numpy.typing as npt
from scipy import special

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.binomial import Floats, binomial_window
from tallystick.stats.ranges import open_unit, positive, whole
from tallystick.stats.smallest import smallest

__all__ = ["SignTest", "StoppingLaw", "sequential_items", "sign_log_e", "sign_stopping"]

LONGEST = 300_000
"""Signs beyond which the exact law is refused: it costs the square root of this for every sign."""


def sign_log_e(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """Return log E of (E1) for counts of signs; every shape that broadcasts.

    >>> round(float(sign_log_e(12, 1)), 3)
    3.807
    """
    whole(0, first=first, second=second)
    b, c = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    return np.asarray(special.betaln(b + 1, c + 1) + (b + c) * log(2))


@dataclass(frozen=True, slots=True)
class SignTest:
    """The e-process of discordant signs, item by item or batch by batch.

    Parameters
    ----------
    first, second
        Signs so far for each side.
    peak
        The largest log E on the way, which is what the anytime p-value ``1/max E`` rests on.

    Examples
    --------
    >>> test = SignTest().update([1, 0, 1, 1, 0, 1]).update([1] * 5)
    >>> test.first, test.second, round(test.p_value, 4)
    (9, 0, 0.0195)
    """

    first: int = 0
    second: int = 0
    peak: float = 0.0

    @property
    def log_e(self) -> float:
        """Log of the e-value now."""
        return float(sign_log_e(self.first, self.second))

    @property
    def p_value(self) -> float:
        """The anytime p-value, one over the largest E so far; at most 1."""
        return exp(-self.peak)

    def update(self, signs: npt.ArrayLike) -> SignTest:
        """Return the test after more items, in order: positive for the first side, negative for the
        second, 0 for none.

        The peak is taken over every item of the batch, so batching changes nothing.
        """
        steps = np.sign(np.atleast_1d(np.asarray(signs, dtype=float)))
        if not np.all(np.isfinite(steps)):
            raise InputError(
                "signs must be positive, negative or 0, got NaN: leave out what was not answered"
            )
        b = self.first + np.cumsum(steps > 0)
        c = self.second + np.cumsum(steps < 0)
        if not steps.size:
            return self
        return SignTest(int(b[-1]), int(c[-1]), max(self.peak, float(np.max(sign_log_e(b, c)))))


@dataclass(frozen=True, slots=True, eq=False)
class StoppingLaw:
    """When the sign test stops: ``stopped[m]`` is the probability that it has by the m-th
    discordant sign.
    """

    stopped: Floats

    @property
    def mean(self) -> float:
        """Expected signs until it stops or the horizon ends."""
        return float(np.sum(1 - self.stopped[:-1]))

    def quantile(self, share: float) -> int:
        """Return the signs by which this share of all runs has stopped."""
        open_unit(share=share)
        if self.stopped[-1] < share:
            raise NotIdentifiable(
                f"only {self.stopped[-1]:.3f} of all runs stop within {len(self.stopped) - 1}"
                " signs: ask for a smaller share or a longer horizon"
            )
        return int(np.searchsorted(self.stopped, share))


def sign_stopping(
    lean: float, horizon: int, *, alpha: float = 0.05, until: float = 1.0
) -> StoppingLaw:
    r"""Return the exact law of the stopping time when each sign favours the first side with
    probability *lean*.

    Forward recursion over the runs that still go on, which lie in a band of width :math:`O(\sqrt{m
    \ln m})` around m/2. With lean 1/2 the last entry is the exact probability of a false stop. The
    law ends at the *horizon*, or earlier where the share *until* of all runs has stopped.

    >>> law = sign_stopping(0.5, 5000)
    >>> bool(law.stopped[-1] < 0.05)
    True
    >>> sign_stopping(0.7, 5000).quantile(0.8)
    83
    """
    open_unit(alpha=alpha)
    whole(1, horizon=horizon)
    if not 0 <= lean <= 1:
        raise InputError(f"lean must be in [0, 1], got {lean!r}")
    if horizon > LONGEST:
        raise InputError(f"horizon must be at most {LONGEST:,} signs, got {horizon!r}")
    stopped = np.zeros(horizon + 1)
    # probability of b = lowest, lowest + 1, … together with still going on
    going, lowest = np.ones(1), 0
    cut = -1  # the run stops if either count is at most this; it never falls as m grows
    for m in range(1, horizon + 1):
        after = np.zeros(going.size + 1)
        after[:-1] = going * (1 - lean)
        after[1:] += going * lean
        while _log_e(cut + 1, m - cut - 1) >= log(1 / alpha):
            cut += 1
        going = after[cut + 1 - lowest : m - cut - lowest]
        lowest = cut + 1
        stopped[m] = 1 - going.sum()
        if stopped[m] >= until:
            break
    return StoppingLaw(np.maximum.accumulate(np.clip(stopped[: m + 1], 0.0, 1.0)))


def sequential_items(
    difference: float, disagreement: float, *, alpha: float = 0.05, power: float = 0.8
) -> tuple[int, int]:
    r"""Return the items by which the sign test has stopped with this *power*, and the items it
    needs on average.

    Exact: the law of :func:`sign_stopping` at :math:`π = (1 + ε/d)/2` over the binomial number of
    signs among n items, and Wald's identity for the mean (over runs that may go on to where all but
    1 in 1000 have stopped).

    >>> sequential_items(0.02, 0.02), sequential_items(0.02, 0.1)
    ((511, 400), (3762, 2412))
    """
    positive(difference=difference)
    open_unit(power=power, alpha=alpha)
    if not difference <= disagreement <= 1:
        raise InputError(
            f"disagreement must be in [difference = {difference!r}, 1], got {disagreement!r}"
        )
    goal = max(0.999, (1 + power) / 2)
    law = sign_stopping((1 + difference / disagreement) / 2, LONGEST, alpha=alpha, until=goal)
    if law.stopped[-1] < goal:
        raise InputError(
            f"a lead of {difference / disagreement:.3g} on disagreements takes over {LONGEST:,}"
            " signs: plan it with paired_items"
        )

    def stopped_by(n: int) -> float:
        signs, mass = binomial_window(n, disagreement)
        return float(mass @ law.stopped[np.minimum(signs.astype(int), len(law.stopped) - 1)])

    return smallest(lambda n: stopped_by(n) >= power), ceil(law.mean / disagreement)


def _log_e(b: int, c: int) -> float:
    """(E1) for one pair of counts, without the weight of an array."""
    return lgamma(b + 1) + lgamma(c + 1) - lgamma(b + c + 2) + (b + c) * log(2)
