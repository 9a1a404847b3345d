"""Batches that are kept together: their records in a row, and which batch each of them is of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from tallystick.serve.ingest.merge import Changes
from tallystick.serve.ingest.parse import VoteRecord

__all__ = ["Batch", "Group", "RefusedBatches", "Source"]


class Source(msgspec.Struct):
    """Where a batch comes from.

    Parameters
    ----------
    by
        Who sent it; labels without a name of their own are theirs.
    origin
        ``imported``, ``draw`` or ``volunteered``: how its labels were chosen.
    key
        The idempotency key, None for none.
    body
        The body as it came; made from the records if None.
    frame, seconds
        For labels of a draw: the frame, and how long the person took.
    """

    by: str
    origin: str = "imported"
    key: str | None = None
    body: bytes | None = None
    frame: int | None = None
    seconds: float | None = None


Batch = tuple[Sequence[VoteRecord], Source]
"""What one request brings."""


class RefusedBatches(Exception):
    """Some batches of a group were refused: the others are kept without them.

    Parameters
    ----------
    places
        Which batches.
    """

    def __init__(self, places: frozenset[int]) -> None:
        super().__init__(f"{len(places)} batches of the group were refused")
        self.places = places


class Group:
    """Batches of one stream, one after the other.

    >>> group = Group([([VoteRecord("a"), VoteRecord("b")], Source("x")),
    ...                ([VoteRecord("c")], Source("y"))])
    >>> group.places, group.source(3).by
    ([0, 0, 1], 'y')
    """

    def __init__(self, batches: Sequence[Batch]) -> None:
        self._sources = [source for _, source in batches]
        sizes = [len(records) for records, _ in batches]
        self._ends = list(itertools.accumulate(sizes))
        self.records = list(itertools.chain.from_iterable(records for records, _ in batches))
        self.places = [place for place, size in enumerate(sizes) for _ in range(size)]
        """Which batch a record is of."""

    def source(self, line: int) -> Source:
        """Return where a line comes from; lines count from 1 over the whole group."""
        return self._sources[self.places[line - 1]]

    def outcomes(self, changes: Changes) -> list[bytearray]:
        """Return what the records of each batch did."""
        starts = [0, *self._ends[:-1]]
        return [changes.outcomes[a:b] for a, b in zip(starts, self._ends, strict=True)]

    def check(self, changes: Changes) -> None:
        """Refuse a batch with a wrong line; from a group such batches are taken out first."""
        if changes.wrong and len(self._sources) > 1:
            raise RefusedBatches(
                frozenset(self.places[(fix.line or 1) - 1] for fix in changes.wrong)
            )
        changes.check()
