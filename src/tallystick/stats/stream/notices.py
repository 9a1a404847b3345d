"""Notices: facts about a block that need no test. A judge fell silent, or writes a new label.

They come with the block and cost nothing of the false-alarm budget, because they claim nothing
about the future: "c cast no vote on the last 25 items; before, it voted on 99 %".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tallystick.stats.stream.series import BlockCounts

__all__ = ["Notice", "NoticeBoard"]

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
    notice comes when the label first reaches 10 % and 3 votes of a block, once per label: a
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
        return {
            "blocks": self.blocks,
            "items": self.items,
            "votes": self.votes,
            "silent": self.silent,
            "known": self.known,
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> NoticeBoard:
        """Return the board that :meth:`to_dict` wrote."""
        return cls(
            blocks=saved["blocks"],
            items=list(saved["items"]),
            votes=list(saved["votes"]),
            silent=list(saved["silent"]),
            known=[list(labels) for labels in saved["known"]],
        )
