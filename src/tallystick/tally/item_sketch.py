r"""A small sample of the rows that a tally has counted, to see whether two hold the same rows.

Each row becomes one number: 48 bits of a hash of its item and 16 bits of a hash of its votes. A
sketch keeps the rows whose items have the smallest hashes, about 256 of them: everything below a
*limit*. That is a bottom-k sample (k minimum values), kept whole per item. Below the smaller of two
limits both sketches are complete, so the rows that they share there are a fair sample of the rows
that the two tables share:

.. math:: |A \cap B| \approx |A_{<L} \cap B_{<L}| \cdot 2^{64} / L,
          \qquad L = \min(L_A, L_B) \tag{S1}

and exact where neither table has more than 256 rows.

Items alone do not say that rows are the same: ids may start again at 1 in each file, or two files
may hold two systems on the same questions. Rows are called the same if the votes agree too, clearly
more often than they would by chance (S2).
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tallystick.results.numbers import about, count
from tallystick.values.label import Label
from tallystick.values.missing import is_missing
from tallystick.values.spelling import spelling

__all__ = ["ItemSketch", "SharedRows", "row_key", "votes_hash"]

MOST = 256
"""Rows that a sketch keeps: 2 kB."""

WHOLE = 1 << 64
"""The limit of a sketch that holds every row."""

_VOTES = (1 << 16) - 1


@dataclass(frozen=True, kw_only=True)
class SharedRows:
    """How many rows two tallies hold in common, by what their sketches show.

    Parameters
    ----------
    rows
        How many rows, estimated by (S1).
    share
        Their share of the tally that has fewer rows.
    exact
        Whether both sketches hold every row.
    """

    rows: int
    share: float
    exact: bool

    def __str__(self) -> str:
        number = count(self.rows) if self.exact else about(self.rows)
        rows = f"{number} row{'s' * (self.rows != 1)}"
        share = f"{100 * self.share:.0f} % of the smaller one"
        return f"{rows} with the same item and the same votes ({share})"


@dataclass(frozen=True, kw_only=True)
class ItemSketch:
    """The rows whose items have the smallest hashes.

    Sketches join in any order: the result is the sketch of all rows.

    Parameters
    ----------
    rows
        One number per row that is kept, rising: the hash of its item, then that of its votes.
    limit
        Every row whose item has a hash below this is kept.

    Examples
    --------
    >>> monday = ItemSketch.of(row_key(i << 40, i % 2) for i in range(1, 101))
    >>> both_days = ItemSketch.of(row_key(i << 40, i % 2) for i in range(1, 201))
    >>> print(monday.shared(both_days))
    100 rows with the same item and the same votes (100 % of the smaller one)
    >>> other_ids = ItemSketch.of(row_key(i << 40, i % 2) for i in range(101, 201))
    >>> monday.shared(other_ids) is None, monday.joined(other_ids) == both_days
    (True, True)
    """

    rows: tuple[int, ...] = ()
    limit: int = WHOLE

    @classmethod
    def of(cls, rows: Iterable[int], *, limit: int = WHOLE) -> ItemSketch:
        """Keep the smallest of *rows*, which hold every row whose item is below *limit*."""
        kept = sorted({row for row in rows if row & ~_VOTES < limit})
        if len(kept) > MOST:
            # All rows of an item stay or go, so that its votes can be compared as a whole.
            limit = kept[MOST] & ~_VOTES
            kept = [row for row in kept[:MOST] if row < limit]
        return cls(rows=tuple(kept), limit=limit)

    def joined(self, other: ItemSketch) -> ItemSketch:
        """Return the sketch of the rows of both."""
        return ItemSketch.of((*self.rows, *other.rows), limit=min(self.limit, other.limit))

    def shared(self, other: ItemSketch) -> SharedRows | None:
        """Return how many rows both hold, or None if items that both hold are other rows."""
        limit = min(self.limit, other.limit)
        mine, its = self._votes_below(limit), other._votes_below(limit)
        items = mine.keys() & its.keys()
        same = [item for item in items if mine[item] == its[item]]
        if not same:
            return None

        # (S2): two items drawn at random agree with probability e. The same rows agree always,
        # rows of other things on the same ids about as often as chance. Half way is the line.
        chance = _chance(mine.values(), its.values())
        if len(same) / len(items) < (1 + chance) / 2:
            return None

        rows = sum(len(mine[item]) for item in same)
        smaller = min(sum(map(len, votes.values())) for votes in (mine, its))
        return SharedRows(
            rows=round(rows * (WHOLE / limit)),  # (S1)
            share=rows / smaller,
            exact=limit == WHOLE,
        )

    def _votes_below(self, limit: int) -> dict[int, frozenset[int]]:
        """Return the votes of each item whose hash is below *limit*."""
        votes: dict[int, set[int]] = {}
        for row in self.rows:
            if row & ~_VOTES < limit:
                votes.setdefault(row & ~_VOTES, set()).add(row & _VOTES)
        return {item: frozenset(seen) for item, seen in votes.items()}

    def to_json(self) -> dict[str, Any]:
        """Return what a saved tally keeps."""
        rows = b"".join(row.to_bytes(8, "big") for row in self.rows)
        return {"rows": b64encode(rows).decode(), "limit": f"{self.limit:x}"}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> ItemSketch:
        """Read what :meth:`to_json` returned."""
        held = b64decode(written["rows"], validate=True)
        rows = [int.from_bytes(held[k : k + 8], "big") for k in range(0, len(held), 8)]
        return cls.of(rows, limit=int(written["limit"], 16))


def row_key(item: int, votes: int) -> int:
    """Return the number of a row: 48 bits of the hash of its item, 16 bits of that of its votes."""
    return (item & ~_VOTES) | (votes & _VOTES)


def votes_hash(votes: Mapping[str, Label], missing: frozenset[str] = frozenset()) -> int:
    """Return 16 bits that stand for the votes of a row.

    The order of the columns and the type of a vote do not matter: a Parquet file may hold the
    number 1 where a CSV has the text.

    >>> votes_hash({"a": "1", "b": None}) == votes_hash({"b": " ", "a": 1})
    True
    """
    text = repr(
        sorted(
            (name, None if is_missing(vote, missing) else str(spelling(vote)))
            for name, vote in votes.items()
        )
    )
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=2).digest(), "big")


def _chance(mine: Iterable[frozenset[int]], its: Iterable[frozenset[int]]) -> float:
    """Return how often an item of one and an item of the other, drawn at random, agree."""
    a, b = Counter(mine), Counter(its)
    return sum(a[votes] * b[votes] for votes in a) / (a.total() * b.total())
