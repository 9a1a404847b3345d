r"""What a block of votes is reduced to: a few shares per judge, and how much each of them weighs.

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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["OTHER", "BlockCounts", "Kind", "Series", "SeriesLayout", "count_blocks", "lay_out"]

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
        return BlockCounts(
            n_items=self.n_items,
            votes=self.votes[blocks],
            faced=self.faced[blocks],
            agree=self.agree[blocks],
            label=self.label[blocks],
            dissent=self.dissent[blocks],
        )


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
