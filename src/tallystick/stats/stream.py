"""What a block of votes is reduced to: a few shares per judge, and how much each of them weighs.

For judge j and label l, in a block of B items:

- :math:`A_j`: share of j's votes that agree with the majority of the other judges (a tie of which
  j's vote is part counts 1/2), among its votes on items where another judge voted;
- :math:`D_{jl}`: share of j's votes that are l where that majority, not tied, says something else;
- :math:`S_{jl}`: share of j's votes that are l;
- :math:`M_j`: share of items without a vote of j.

Two judges have one A, their agreement. One judge has S and M only. A share without a vote under it
is NaN: the block does not count for that series.

The weights are .6 for all A, .15 for D, .15 for S and .1 for M, each split evenly over judges and
labels (one S per judge where there are two labels), and rescaled to sum 1 over the series that
exist. Labels that come later share the slot "other". It must weigh something from the start, or
the weights would pass 1 when a label appears; it counts a tenth of a label, so that it costs the
other series almost nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.stats.exact_tails import at_least, closed_unit, open_unit, whole

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Kind: TypeAlias = Literal["agreement", "dissent", "share", "missing"]

OTHER = -1
"""The slot of labels that were not seen in the first blocks."""

_TENTH = 0.1
_SHARES: dict[Kind, float] = {"agreement": 0.6, "dissent": 0.15, "share": 0.15, "missing": 0.1}


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockCounts:
    """Counts from which every series of one or more blocks follows; the first axis is the block.

    Parameters
    ----------
    n_items
        Items per block.
    votes, faced, agree
        Blocks x judges: votes; votes on items where another judge voted; how many of these agree
        with the majority of the others.
    label, dissent
        Blocks x judges x labels: votes by label; those against the majority of the others.
    """

    n_items: int
    votes: FloatArray
    faced: FloatArray
    agree: FloatArray
    label: FloatArray
    dissent: FloatArray

    def __len__(self) -> int:
        return len(self.votes)

    def __getitem__(self, blocks: slice) -> BlockCounts:
        names = ("votes", "faced", "agree", "label", "dissent")
        return replace(self, **{name: getattr(self, name)[blocks] for name in names})


def count_blocks(codes: IntArray, n_labels: int) -> BlockCounts:
    """Count blocks of votes (blocks x items x judges of label codes, -1 for a missing vote).

    >>> block = np.array([[[0, 0, 1], [1, 1, 1], [0, -1, 1]]])
    >>> counts = count_blocks(block, 2)
    >>> counts.agree.tolist(), counts.faced.tolist()
    ([[1.5, 1.5, 1.0]], [[3.0, 2.0, 3.0]])
    >>> counts.dissent[0, 2].tolist()
    [0.0, 2.0]
    """
    cast = (codes[..., None] == np.arange(n_labels)).astype(np.float64)  # blocks, items, judges, l
    others = cast.sum(axis=2, keepdims=True) - cast
    most = others.max(axis=3, keepdims=True, initial=0.0)
    leads = (others == most) & (most > 0)
    ways = leads.sum(axis=3)

    # A lone winner that j confirms counts 1, a tie with j's vote in it counts 1/2.
    confirmed = (cast * leads).sum(axis=3)
    agree = np.where(ways > 1, confirmed / 2, confirmed)
    dissent = cast * (~leads & (ways == 1)[..., None])
    voted = codes >= 0
    return BlockCounts(
        n_items=codes.shape[1],
        votes=voted.sum(axis=1).astype(np.float64),
        faced=(voted & (ways > 0)).sum(axis=1).astype(np.float64),
        agree=agree.sum(axis=1),
        label=cast.sum(axis=1),
        dissent=dissent.sum(axis=1),
    )


@dataclass(frozen=True)
class Series:
    """One series: its kind, its judge (None for the agreement of two), and its slot of labels."""

    kind: Kind
    judge: int | None = None
    slot: int | None = None

    @property
    def name(self) -> str:
        """A stable name: it enters the keyed hash of the random ranks."""
        judge = "" if self.judge is None else f" {self.judge}"
        slot = "" if self.slot is None else " other" if self.slot == OTHER else f" {self.slot}"
        return f"{self.kind}{judge}{slot}"


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesLayout:
    """Which series exist, and what each weighs.

    Parameters
    ----------
    series
        All series, in a fixed order.
    weights
        One per series; they sum to 1.
    labels
        Codes of the labels that have a slot of their own.
    """

    series: tuple[Series, ...]
    weights: FloatArray
    labels: tuple[int, ...]

    @property
    def falls(self) -> npt.NDArray[np.bool_]:
        """Series in which a fall counts double: agreement."""
        return np.array([one.kind == "agreement" for one in self.series])

    def values(self, counts: BlockCounts) -> FloatArray:
        """Return blocks x series; NaN where a block has nothing to divide by."""
        n_labels = counts.label.shape[2]
        own = [label for label in self.labels if label < n_labels]
        votes = np.where(counts.votes > 0, counts.votes, np.nan)
        columns = []
        for one in self.series:
            if one.kind == "missing":
                columns.append(1 - counts.votes[:, one.judge] / counts.n_items)
            elif one.kind == "agreement":
                j = slice(None) if one.judge is None else one.judge
                faced = counts.faced[:, j].reshape(len(counts), -1).sum(axis=1)
                agree = counts.agree[:, j].reshape(len(counts), -1).sum(axis=1)
                columns.append(agree / np.where(faced > 0, faced, np.nan))
            else:
                table = counts.dissent if one.kind == "dissent" else counts.label
                mine = table[:, one.judge]
                if one.slot == OTHER:
                    part = mine.sum(axis=1) - mine[:, own].sum(axis=1)
                elif one.slot is not None and one.slot < n_labels:
                    part = mine[:, one.slot]
                else:
                    part = np.zeros(len(counts))
                columns.append(part / votes[:, one.judge])
        return np.column_stack(columns)


def lay_out(n_judges: int, labels: Sequence[int]) -> SeriesLayout:
    """Return the series of a panel, with weights that sum to 1.

    >>> layout = lay_out(3, [0, 1])
    >>> [one.name for one in layout.series][:3]
    ['agreement 0', 'agreement 1', 'agreement 2']
    >>> round(float(layout.weights.sum()), 12), round(float(layout.weights[0]), 12)
    (1.0, 0.2)
    >>> [one.name for one in lay_out(1, [0, 1]).series]
    ['share 0 0', 'share 0 other', 'missing 0']
    """
    known = sorted(labels)
    judges = range(n_judges)
    found: list[tuple[Series, float]] = []
    if n_judges == 2:
        found.append((Series("agreement"), 1.0))
    elif n_judges > 2:
        found += [(Series("agreement", j), 1.0) for j in judges]
    if n_judges > 1:
        found += [(Series("dissent", j, slot), 1.0) for j in judges for slot in known]
        found += [(Series("dissent", j, OTHER), _TENTH) for j in judges]
    # The shares of two labels are one number.
    told = known[:1] if len(known) == 2 else known
    found += [(Series("share", j, slot), 1.0) for j in judges for slot in told]
    found += [(Series("share", j, OTHER), _TENTH) for j in judges]
    found += [(Series("missing", j), 1.0) for j in judges]

    mass = dict.fromkeys(_SHARES, 0.0)
    for one, part in found:
        mass[one.kind] += part
    raw = np.array([_SHARES[one.kind] * part / mass[one.kind] for one, part in found])
    return SeriesLayout(
        series=tuple(one for one, _ in found), weights=raw / raw.sum(), labels=tuple(known)
    )


# How a stream is watched: block length and the promise about false alarms.


FIRST_BLOCKS = 20
"""Blocks that fix the label set; alarms come from there on."""


@dataclass(frozen=True, kw_only=True)
class WatchOptions:
    """How a stream is watched.

    Parameters
    ----------
    key
        Name of the stream: the same key and votes give the same alarms.
    block
        Items per block; at least four times as many as bursts of similar items are long.
    horizon, alpha
        False alarms: at most *alpha* per *horizon* items.
    memory
        Blocks that are kept for dating a change and naming its cause.
    max_labels
        Labels with series of their own; rarer ones share a slot.
    """

    key: str
    block: int = 25
    horizon: int = 10_000
    alpha: float = 0.05
    memory: int = 400
    max_labels: int = 32

    def __post_init__(self) -> None:
        whole(2, block=self.block)
        at_least(self.block, horizon=self.horizon)
        open_unit(alpha=self.alpha)
        whole(FIRST_BLOCKS, memory=self.memory)
        whole(1, max_labels=self.max_labels)

    @property
    def bar(self) -> float:
        """What weight times evidence must reach: T/alpha, with T in blocks."""
        return self.horizon / self.block / self.alpha


# Bet on ranks: an alarm whose false alarms are bounded, whatever the rate was before.
#
# Each block of a series gives a share :math:`z_t`, rounded to 1/200. If blocks are exchangeable,
# its rank among all blocks so far is uniform and independent of the earlier ranks, so nothing about
# the series needs to be known or fitted:
#
# .. math::
#     U_t = \frac{\#\{i \le t: z_i < z_t\} + \theta_t\, \#\{i \le t: z_i = z_t\}}{t}, \qquad
#     Z_t = \Phi^{-1}(U_t)   \tag{S1}
#
# with :math:`\theta_t` in (0, 1) from a keyed hash of stream, series and block, so that a replay
# gives the same alarms. Blocks that depend on each other are slowed down by
#
# .. math::
#     \kappa_t = \sqrt{\frac{1+\rho}{1-\rho}}, \qquad
#     \rho = \mathrm{clip}\!\left(\frac{D_2}{D_1} - 1 - \frac{1}{\sqrt m},\, 0,\, .9\right)
# \tag{S2}
#
# :math:`D_k = \sum (Z_i - Z_{i-k})^2` over the m earlier blocks :math:`i \ge 3`; 1 while m < 10.
# It
# uses the past only, so the bound below stays exact. The bets are
#
# .. math::
#     R^\delta_t = (R^\delta_{t-1} + 1)\, \exp(\delta Z_t/\kappa_t - \delta^2/2), \qquad
#     R_t = \sum_\delta v_\delta R^\delta_t   \tag{S3}
#
# for :math:`\delta = -1.2, -.5, .5, 1.2`, with falls of agreement counting double. **Alarm when
# some
# weight times** :math:`R_t` **reaches** :math:`T/\alpha`: the chance of any false alarm in T
# blocks
# is at most :math:`\alpha` (optional stopping of :math:`R_t - t`, union over series); without an
# alarm it is at most :math:`k \alpha` after kT blocks.


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
    histogram
        Series x 201: how often each value was seen.
    lags
        Series x 2: the last Z and the one before; NaN where there is none.
    sums
        Series x 2: D1 and D2 of (S2).
    terms
        How many blocks the sums hold.
    capital
        Series x 4: the R of (S3), one per delta.
    """

    names: tuple[str, ...]
    falls: npt.NDArray[np.bool_]
    key: str
    histogram: FloatArray
    lags: FloatArray
    sums: FloatArray
    terms: FloatArray
    capital: FloatArray

    @classmethod
    def start(
        cls,
        names: Sequence[str],
        *,
        key: str,
        falls: npt.ArrayLike = False,
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
        histogram = np.zeros((s, _BINS))
        if reference is not None:
            past = np.asarray(reference, dtype=np.float64).reshape(-1, s)
            block, series = np.nonzero(np.isfinite(past))
            np.add.at(histogram, (series, _bins(past[block, series])), 1.0)
        return cls(
            names=tuple(names),
            falls=np.broadcast_to(np.asarray(falls, dtype=np.bool_), (s,)).copy(),
            key=key,
            histogram=histogram,
            lags=np.full((s, 2), np.nan),
            sums=np.zeros((s, 2)),
            terms=np.zeros(s),
            capital=np.zeros((s, 4)),
        )

    def update(self, values: npt.ArrayLike, *, block: int | None = None) -> FloatArray:
        """Take one block, NaN where a series has none, and return R of every series.

        A skipped block changes nothing of its series. *block* is the number that enters the hash;
        by default the number of blocks that the series has seen.
        """
        z = np.asarray(values, dtype=np.float64)
        closed_unit(values=z[np.isfinite(z)])
        on = np.flatnonzero(np.isfinite(z))
        if on.size:
            self._bet(on, _bins(z[on]), block)
        return self.evidence

    @property
    def evidence(self) -> FloatArray:
        """R of (S3), one per series: compare weight times this to the bar."""
        return np.asarray(np.where(self.falls, self.capital @ _FALLS, self.capital @ _EVEN))

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
        self.capital[on] = rank_bet(self.capital[on], z, kappa)

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
            "histogram": [_sparse(row) for row in self.histogram],
            "lags": [[None if np.isnan(z) else z for z in row] for row in self.lags.tolist()],
            "sums": self.sums.tolist(),
            "terms": self.terms.astype(int).tolist(),
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
            histogram=histogram,
            lags=np.array(lags, dtype=np.float64),
            sums=np.array(saved["sums"], dtype=np.float64),
            terms=np.array(saved["terms"], dtype=np.float64),
            capital=np.array(saved["capital"], dtype=np.float64),
        )


def rank_bet(capital: FloatArray, z: FloatArray, kappa: FloatArray) -> FloatArray:
    """Return the capital (series x deltas) after a block with normal rank *z*, (S3).

    >>> zero = np.zeros((1, 4))
    >>> rank_bet(zero, np.array([0.0]), np.ones(1)).round(4)
    array([[0.4868, 0.8825, 0.8825, 0.4868]])
    """
    grown = (capital + 1) * np.exp(np.outer(z / kappa, DELTAS) - DELTAS**2 / 2)  # (S3)
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


# Notices: facts about a block that need no test. A judge fell silent, or writes a new label.
#
# They come with the block and cost nothing of the false-alarm budget, because they claim nothing
# about the future: "c cast no vote on the last 25 items; before, it voted on 99%".


_PAST_MISSING = 0.10  # a judge that skips more than this of the items may well skip a whole block
_LEAST_BLOCKS = 20
_LEAST_SHARE, _LEAST_VOTES = 0.10, 3


@dataclass(frozen=True, kw_only=True)
class Notice:
    """A fact about one block.

    Parameters
    ----------
    kind
        ``silent`` or ``new label``.
    judge
        Which judge, by place.
    block
        The number of the block, from 0.
    label
        Code of the new label; None for a silent judge.
    votes, of
        How many votes in this block are that label, and how many votes the judge cast; for a
        silent judge 0 and the items of the block.
    before
        For a silent judge, the share of earlier items on which it voted.
    """

    kind: Literal["silent", "new label"]
    judge: int
    block: int
    label: int | None = None
    votes: int = 0
    of: int = 0
    before: float | None = None


@dataclass(kw_only=True)
class NoticeBoard:
    """What earlier blocks said about each judge, as far as notices need it.

    A label is new to a judge if it wrote it for the first time after at least 20 blocks. The
    notice comes when the label first reaches 10% and 3 votes of a block, once per label: a
    change in mid-block starts with a vote or two.
    """

    blocks: int = 0
    items: list[int] = field(default_factory=list)
    votes: list[int] = field(default_factory=list)
    silent: list[bool] = field(default_factory=list)
    known: list[list[int]] = field(default_factory=list)

    @classmethod
    def start(cls, n_judges: int) -> NoticeBoard:
        """Return an empty board for this many judges."""
        return cls(
            items=[0] * n_judges,
            votes=[0] * n_judges,
            silent=[False] * n_judges,
            known=[[] for _ in range(n_judges)],
        )

    def update(self, counts: BlockCounts, *, block: int) -> list[Notice]:
        """Take one block (counts of a single one) and return what is to be said about it.

        >>> import numpy as np
        >>> from tallystick.stats.stream import count_blocks
        >>> board = NoticeBoard.start(2)
        >>> for k in range(20):
        ...     _ = board.update(count_blocks(np.zeros((1, 25, 2), dtype=int), 1), block=k)
        >>> quiet = np.zeros((1, 25, 2), dtype=int)
        >>> quiet[0, :, 1] = -1
        >>> board.update(count_blocks(quiet, 1), block=20)[0].kind
        'silent'
        """
        found: list[Notice] = []
        for j, cast in enumerate(counts.votes[0].astype(int).tolist()):
            found += self._silence(j, cast, counts.n_items, block)
            found += self._spelling(j, cast, counts.label[0, j].astype(int).tolist(), block)
        self.blocks += 1
        return found

    def _silence(self, j: int, cast: int, n_items: int, block: int) -> list[Notice]:
        if cast:
            self.silent[j] = False
            self.items[j] += n_items
            self.votes[j] += cast
            return []
        past = self.votes[j] / self.items[j] if self.items[j] else 0.0
        told = self.silent[j]
        self.silent[j] = True  # said once, until the judge votes again
        if told or past < 1 - _PAST_MISSING:
            return []
        return [Notice(kind="silent", judge=j, block=block, of=n_items, before=past)]

    def _spelling(self, j: int, cast: int, labels: list[int], block: int) -> list[Notice]:
        found = []
        for label, votes in enumerate(labels):
            if not votes or label in self.known[j]:
                continue
            if self.blocks < _LEAST_BLOCKS:
                self.known[j].append(label)
            elif votes >= _LEAST_VOTES and votes >= _LEAST_SHARE * cast:
                self.known[j].append(label)
                found.append(
                    Notice(
                        kind="new label", judge=j, block=block, label=label, votes=votes, of=cast
                    )
                )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> NoticeBoard:
        """Return the board that :meth:`to_dict` wrote."""
        return cls(**deepcopy(dict(saved)))
