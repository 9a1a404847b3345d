r"""Bet on ranks: an alarm whose false alarms are bounded, whatever the rate was before.

Each block of a series gives a share :math:`z_t`, rounded to 1/200. If blocks are exchangeable, its
rank among all blocks so far is uniform and independent of the earlier ranks, so nothing about the
series needs to be known or fitted:

.. math::
    U_t = \frac{\#\{i \le t: z_i < z_t\} + \theta_t\, \#\{i \le t: z_i = z_t\}}{t}, \qquad
    Z_t = \Phi^{-1}(U_t)   \tag{S1}

with :math:`\theta_t` in (0, 1) from a keyed hash of stream, series and block, so that a replay
gives the same alarms. Blocks that depend on each other are slowed down by

.. math::
    \kappa_t = \sqrt{\frac{1+\rho}{1-\rho}}, \qquad
    \rho = \mathrm{clip}\!\left(\frac{D_2}{D_1} - 1 - \frac{1}{\sqrt m},\, 0,\, .9\right)  \tag{S2}

:math:`D_k = \sum (Z_i - Z_{i-k})^2` over the m earlier blocks :math:`i \ge 3`; 1 while m < 10. It
uses the past only, so the bound below stays exact. The bets are

.. math::
    R^\delta_t = (R^\delta_{t-1} + 1)\, \exp(\delta Z_t/\kappa_t - \delta^2/2), \qquad
    R_t = \sum_\delta v_\delta R^\delta_t   \tag{S3}

for :math:`\delta = -1.2, -.5, .5, 1.2`, with falls of agreement counting double. **Alarm when some
weight times** :math:`R_t` **reaches** :math:`T/\alpha`: the chance of any false alarm in T blocks
is at most :math:`\alpha` (optional stopping of :math:`R_t - t`, union over series); without an
alarm it is at most :math:`k \alpha` after kT blocks. The *ever* form replaces the 1 by
:math:`1/(t(t+1))` and the bar by :math:`1/\alpha`: the chance of a false alarm ever is at most
:math:`\alpha`, and later changes are ever harder to see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

__all__ = ["DELTAS", "Detector", "hashed_uniform", "rank_bet", "slowdown"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

DELTAS = np.array([-1.2, -0.5, 0.5, 1.2])
_BINS = 201  # shares rounded to 1/200
_FALLS = np.array([1 / 3, 1 / 3, 1 / 6, 1 / 6])
_EVEN = np.full(4, 0.25)
_EDGE = 1e-9
_MOST = 1e300  # far above any bar, and JSON knows no infinity


@dataclass(kw_only=True, eq=False)
class Detector:
    """Bets on the ranks of several series at once.

    Build it with :meth:`start`; :meth:`update` takes one block. :meth:`to_dict` and
    :meth:`from_dict` carry it over a restart without changing a digit.

    Parameters
    ----------
    names
        Series; they enter the hash of the random ranks.
    falls
        Series whose falls count double.
    key
        Name of the stream: the same key and data give the same ranks.
    ever
        Bound false alarms forever instead of per T blocks.
    histogram
        Series x 201: how often each value was seen.
    lags
        Series x 2: the last Z and the one before; NaN where there is none.
    sums
        Series x 2: D1 and D2 of (S2).
    terms
        How many blocks the sums hold.
    bets
        How many bets were made, per series.
    capital
        Series x 4: the R of (S3), one per delta.
    """

    names: tuple[str, ...]
    falls: npt.NDArray[np.bool_]
    key: str
    ever: bool
    histogram: FloatArray
    lags: FloatArray
    sums: FloatArray
    terms: FloatArray
    bets: FloatArray
    capital: FloatArray

    @classmethod
    def start(
        cls,
        names: Sequence[str],
        *,
        key: str,
        falls: npt.ArrayLike = False,
        ever: bool = False,
        reference: npt.ArrayLike | None = None,
    ) -> Detector:
        """Start without a past, or with *reference* blocks (blocks x series) that are not bet on.

        >>> detector = Detector.start(["pass rate"], key="my stream")
        >>> for share in [0.8, 0.84, 0.76, 0.8] * 5 + [0.2] * 6:
        ...     evidence = detector.update([share])
        >>> bool(evidence[0] > 100)
        True
        """
        s = len(names)
        if not s or len(set(names)) != s:
            raise InputError(f"names must hold at least one series and no name twice, got {names}")
        histogram = np.zeros((s, _BINS))
        if reference is not None:
            past = np.asarray(reference, dtype=np.float64).reshape(-1, s)
            block, series = np.nonzero(np.isfinite(past))
            np.add.at(histogram, (series, _bins(past[block, series])), 1.0)
        return cls(
            names=tuple(names),
            falls=np.broadcast_to(np.asarray(falls, dtype=np.bool_), (s,)).copy(),
            key=key,
            ever=ever,
            histogram=histogram,
            lags=np.full((s, 2), np.nan),
            sums=np.zeros((s, 2)),
            terms=np.zeros(s),
            bets=np.zeros(s),
            capital=np.zeros((s, 4)),
        )

    def update(self, values: npt.ArrayLike, *, block: int | None = None) -> FloatArray:
        """Take one block, NaN where a series has none, and return R of every series.

        A skipped block changes nothing of its series. *block* is the number that enters the hash;
        by default the number of blocks that the series has seen.
        """
        z = np.asarray(values, dtype=np.float64)
        if z.shape != (len(self.names),):
            raise InputError(f"values must be one per series ({len(self.names)}), got {z.shape}")
        on = np.flatnonzero(np.isfinite(z))
        if ((z[on] < 0) | (z[on] > 1)).any():
            raise InputError(f"values must be shares in [0, 1], got {z[on].tolist()}")
        if on.size:
            self._bet(on, _bins(z[on]), block)
        return self.evidence

    @property
    def evidence(self) -> FloatArray:
        """R of (S3), one per series: compare weight times this to the bar."""
        return np.asarray(np.where(self.falls, self.capital @ _FALLS, self.capital @ _EVEN))

    @property
    def dependence(self) -> FloatArray:
        """D2/D1 - 1 per series: near 0 for exchangeable blocks, NaN before 38 differences.

        Above .2 the blocks depend on each other: use larger ones, at least four times as long as
        the bursts in the stream.
        """
        ready = (self.terms >= 38) & (self.sums[:, 0] > 0)
        ratio = self.sums[:, 1] / np.where(ready, self.sums[:, 0], 1.0) - 1
        return np.where(ready, ratio, np.nan)

    def _bet(
        self, on: npt.NDArray[np.intp], bins: npt.NDArray[np.int64], block: int | None
    ) -> None:
        rows = np.arange(on.size)
        self.histogram[on, bins] += 1
        seen = self.histogram[on]
        below = seen.cumsum(axis=1)
        equal = seen[rows, bins]
        t = below[:, -1]
        theta = np.array(
            [
                hashed_uniform(self.key, self.names[s], int(t[i]) if block is None else block)
                for i, s in enumerate(on)
            ]
        )
        u = (below[rows, bins] - equal + theta * equal) / t  # (S1)
        z = _normal_quantile(np.clip(u, _EDGE, 1 - _EDGE))

        kappa = slowdown(self.sums[on, 0], self.sums[on, 1], self.terms[on])
        self.bets[on] += 1
        self.capital[on] = rank_bet(self.capital[on], z, kappa, self.bets[on], ever=self.ever)

        # The differences enter after the bet: kappa may use the past only.
        lags = self.lags[on]
        far = np.isfinite(lags[:, 1])
        self.sums[on] += np.where(far[:, None], (z[:, None] - lags) ** 2, 0.0)
        self.terms[on] += far
        self.lags[on] = np.column_stack((z, lags[:, 0]))

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types, from which :meth:`from_dict` makes the same detector."""
        return {
            "names": list(self.names),
            "falls": self.falls.tolist(),
            "key": self.key,
            "ever": self.ever,
            "histogram": [_sparse(row) for row in self.histogram],
            "lags": [[None if np.isnan(z) else z for z in row] for row in self.lags.tolist()],
            "sums": self.sums.tolist(),
            "terms": self.terms.astype(int).tolist(),
            "bets": self.bets.astype(int).tolist(),
            "capital": self.capital.tolist(),
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Detector:
        """Return the detector that :meth:`to_dict` wrote."""
        histogram = np.zeros((len(saved["names"]), _BINS))
        for row, cells in zip(histogram, saved["histogram"], strict=True):
            row[[place for place, _ in cells]] = [count for _, count in cells]
        lags = [[np.nan if z is None else z for z in row] for row in saved["lags"]]
        return cls(
            names=tuple(saved["names"]),
            falls=np.array(saved["falls"], dtype=np.bool_),
            key=saved["key"],
            ever=saved["ever"],
            histogram=histogram,
            lags=np.array(lags, dtype=np.float64),
            sums=np.array(saved["sums"], dtype=np.float64),
            terms=np.array(saved["terms"], dtype=np.float64),
            bets=np.array(saved["bets"], dtype=np.float64),
            capital=np.array(saved["capital"], dtype=np.float64),
        )


def rank_bet(
    capital: FloatArray, z: FloatArray, kappa: FloatArray, t: FloatArray, *, ever: bool = False
) -> FloatArray:
    """Return the capital (series x deltas) after a block with normal rank *z*, (S3).

    >>> zero = np.zeros((1, 4))
    >>> rank_bet(zero, np.array([0.0]), np.ones(1), np.ones(1)).round(4)
    array([[0.4868, 0.8825, 0.8825, 0.4868]])
    """
    stake = 1 / (t * (t + 1)) if ever else np.ones_like(t)
    grown = (capital + stake[:, None]) * np.exp(np.outer(z / kappa, DELTAS) - DELTAS**2 / 2)  # (S3)
    return np.minimum(grown, _MOST)


def slowdown(d1: npt.ArrayLike, d2: npt.ArrayLike, terms: npt.ArrayLike) -> FloatArray:
    """Return kappa of (S2): 1 for exchangeable blocks, more where neighbours resemble each other.

    >>> slowdown([10.0], [15.0], [100]).round(4)
    array([1.5275])
    """
    one, two, m = (np.asarray(x, dtype=np.float64) for x in (d1, d2, terms))
    ready = (m >= 10) & (one > 0)
    rho = two / np.where(ready, one, 1.0) - 1 - 1 / np.sqrt(np.maximum(m, 1))
    rho = np.where(ready, np.clip(rho, 0, 0.9), 0.0)
    return np.sqrt((1 + rho) / (1 - rho))


def hashed_uniform(key: str, series: str, block: int) -> float:
    """Return a number in (0, 1) that depends on its arguments only.

    >>> hashed_uniform("s", "agreement 0", 7) == hashed_uniform("s", "agreement 0", 7)
    True
    """
    text = f"{series}|{block}".encode()
    whole = int.from_bytes(hashlib.blake2b(text, key=_secret(key), digest_size=8).digest(), "big")
    return ((whole >> 11) + 0.5) / 2**53


@lru_cache(maxsize=64)
def _secret(key: str) -> bytes:
    """Return a key of the length that the hash takes, for a name of any length."""
    return hashlib.blake2b(key.encode(), digest_size=32).digest()


def _bins(shares: FloatArray) -> npt.NDArray[np.int64]:
    return np.rint(shares * (_BINS - 1)).astype(np.int64)


def _sparse(row: FloatArray) -> list[list[int]]:
    """Return the bins in use and their counts: most of the 201 are empty."""
    places = np.flatnonzero(row)
    return [[int(place), int(row[place])] for place in places]


def _normal_quantile(u: FloatArray) -> FloatArray:
    from scipy.special import ndtri

    return np.asarray(ndtri(u))
