"""Watch a stream of votes: blocks, series, alarms, notices, and a start anew after each alarm.

Items join blocks in order of arrival, so the borders of the batches in which they come have no
effect. A block that has closed is never opened again: late votes change results, never the test.

The label set is fixed by the first 20 blocks, taken as a set; alarms come from block 20 on. After
an alarm the blocks behind the change point are the new reference, and all bets start anew. That the
false-alarm bound counts again from there is measured, not exact: after a *false* alarm the next one
is about 1.5 times as frequent, after a real change there is no harm.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.stream.detector import Detector
from tallystick.stats.stream.events import Event, Naming, StreamAlarm
from tallystick.stats.stream.notices import NoticeBoard
from tallystick.stats.stream.options import FIRST_BLOCKS, WatchOptions
from tallystick.stats.stream.series import BlockCounts, SeriesLayout, count_blocks, lay_out
from tallystick.stats.stream.when import change_point
from tallystick.stats.stream.who import Explanations, explain

__all__ = ["Watch"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
CodeArray: TypeAlias = npt.NDArray[np.int64]

_FINAL = 1000  # items after which the name of what changed is final
_VERSION = 1


@dataclass(kw_only=True, eq=False)
class Watch:
    """A stream of votes under watch; build it with :meth:`start`.

    Examples
    --------
    Three judges; from item 1,500 on the first one answers at random.

    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, 3000)
    >>> right = rng.random((3000, 3)) < 0.9
    >>> right[1500:, 0] = rng.random(1500) < 0.5
    >>> votes = np.where(right, truth[:, None], 1 - truth[:, None])
    >>> watch = Watch.start(3, WatchOptions(key="example"))
    >>> alarm = next(e for e in watch.update(votes, ["fail", "pass"]) if isinstance(e, StreamAlarm))
    >>> alarm.series.kind, alarm.items[0] <= 1500 <= alarm.items[1], alarm.item < 1900
    ('agreement', True, True)
    >>> alarm.explanations.likely.judge
    0
    """

    n_judges: int
    options: WatchOptions
    labels: list[Hashable] = field(default_factory=list)
    pending: CodeArray
    board: NoticeBoard
    blocks: int = 0
    memory: list[CodeArray] = field(default_factory=list)
    layout: SeriesLayout | None = None
    detector: Detector | None = None
    before: tuple[CodeArray, FloatArray, int] | None = None

    @classmethod
    def start(cls, n_judges: int, options: WatchOptions) -> Watch:
        """Start to watch a panel of this many judges."""
        if n_judges < 1:
            raise InputError(f"n_judges must be at least 1, got {n_judges!r}")
        return cls(
            n_judges=n_judges,
            options=options,
            pending=np.empty((0, n_judges), dtype=np.int64),
            board=NoticeBoard.start(n_judges),
        )

    @property
    def n_items(self) -> int:
        """Items seen so far, those of the open block included."""
        return self.blocks * self.options.block + len(self.pending)

    def update(self, codes: npt.ArrayLike, labels: Sequence[Hashable]) -> list[Event]:
        """Take items in order of arrival and return what happened, oldest first.

        Parameters
        ----------
        codes
            Items x judges: places in *labels*, -1 for a missing vote.
        labels
            What the codes of this call stand for; another call may have another list.
        """
        rows = self._renumber(np.asarray(codes), labels)
        waiting = np.concatenate((self.pending, rows))
        size = self.options.block
        whole = len(waiting) // size
        self.pending = waiting[whole * size :]
        if not whole:
            return []

        blocks = waiting[: whole * size].reshape(whole, size, self.n_judges)
        counts = count_blocks(blocks, len(self.labels))
        events: list[Event] = []
        layout, values = self.layout, None
        for k in range(whole):
            self.memory = [*self.memory[-(self.options.memory - 1) :], blocks[k]]
            events += self.board.update(counts[k : k + 1], block=self.blocks)
            # Values of all blocks of this call at once; made anew when the series changed.
            if self.layout is not None and (values is None or layout is not self.layout):
                layout, values = self.layout, self.layout.values(counts)
            events += self._close(None if values is None else values[k])
            self.blocks += 1
        return events

    def _close(self, values: FloatArray | None) -> list[Event]:
        """Bet on one block, and raise an alarm where the evidence reaches the bar."""
        if self.detector is None or values is None:
            if len(self.memory) < FIRST_BLOCKS:
                return []
            evidence = self._fix_labels()
        else:
            evidence = self.detector.update(values, block=self.blocks)
        if self.layout is None or self.detector is None:
            return []
        strength = evidence * self.layout.weights / self.options.bar
        if strength.max() >= 1:
            return [self._alarm(int(strength.argmax()), float(strength.max()))]
        return self._name()

    def _fix_labels(self) -> FloatArray:
        """Fix the label set by the first blocks and bet on them one after the other."""
        counts = self._counts()
        self.layout = lay_out(self.n_judges, self._slots(counts))
        self.detector = self._start(self.layout, None)
        for k, row in enumerate(self.layout.values(counts)):
            self.detector.update(row, block=k)
        return self.detector.evidence

    def _alarm(self, place: int, strength: float) -> StreamAlarm:
        """Date the change, name its likely cause, and start anew behind it."""
        layout, size = self._layout(), self.options.block
        counts = self._counts()
        column = layout.values(counts)[:, place]
        first = self.blocks + 1 - len(self.memory)
        at = first + np.flatnonzero(np.isfinite(column))  # block numbers of the series
        change = change_point(column[np.isfinite(column)])
        split = int(at[change.split - 1]) + 1  # blocks before the change
        end = (self.blocks + 1) * size
        items = None
        if change.low is not None and change.high is not None:
            low = size * int(at[change.low - 1])
            items = max(0, low), min(end, size * (int(at[change.high - 1]) + 2))

        # What was before is kept as pattern counts for the final name; memory starts behind it.
        patterns, tally = _patterns(np.concatenate(self.memory[: split - first]))
        self.memory = self.memory[split - first :]
        self.before = patterns, tally, self.blocks
        explanations = self._explain(layout)
        self._start_anew(layout)
        series = layout.series[place]
        label = None if series.slot is None or series.slot < 0 else self.labels[series.slot]
        return StreamAlarm(
            block=self.blocks,
            item=end,
            series=series,
            label=label,
            evidence=strength,
            around=split * size,
            items=items,
            change=change,
            explanations=explanations,
        )

    def _start_anew(self, layout: SeriesLayout) -> None:
        """Take the blocks behind the change as reference; bets and kappa start from nothing."""
        counts = self._counts()
        slots = sorted({*layout.labels, *self._slots(counts)})[: self.options.max_labels]
        self.layout = lay_out(self.n_judges, slots)
        self.detector = self._start(self.layout, self.layout.values(counts))

    def _name(self) -> list[Event]:
        """Name an earlier alarm's cause for good, once enough items came after it."""
        if self.before is None:
            return []
        alarm_block = self.before[2]
        if (self.blocks - alarm_block) * self.options.block < _FINAL:
            return []
        explanations = self._explain(self._layout())
        self.before = None
        return [Naming(block=self.blocks, alarm_block=alarm_block, explanations=explanations)]

    def _explain(self, layout: SeriesLayout) -> Explanations:
        """Compare patterns before the change with those in memory, rare labels as one vote."""
        if self.before is None:
            return Explanations(tested=())
        old, old_tally, _ = self.before
        new, new_tally = _patterns(np.concatenate(self.memory))
        codes, place = np.unique(np.concatenate((old, new)), axis=0, return_inverse=True)
        a, b = np.zeros((2, len(codes)))
        np.add.at(a, place.ravel()[: len(old)], old_tally)
        np.add.at(b, place.ravel()[len(old) :], new_tally)

        known = len(layout.labels)
        lookup = np.full(len(self.labels) + 1, known)
        lookup[list(layout.labels)] = np.arange(known)
        lookup[-1] = -1  # a missing vote stays one
        n_labels = max(known, 2)
        return explain(lookup[codes], a, b, n_labels=n_labels, n_votes=max(known + 1, n_labels))

    def _start(self, layout: SeriesLayout, reference: FloatArray | None) -> Detector:
        names = [series.name for series in layout.series]
        return Detector.start(
            names,
            key=self.options.key,
            falls=layout.falls,
            ever=self.options.ever,
            reference=reference,
        )

    def _counts(self) -> BlockCounts:
        return count_blocks(np.stack(self.memory), len(self.labels))

    def _slots(self, counts: BlockCounts) -> list[int]:
        """Return the commonest labels of these blocks; the order of the blocks does not matter."""
        votes = counts.label.sum(axis=(0, 1))
        order = np.argsort(-votes, kind="stable")[: self.options.max_labels]
        return sorted(int(label) for label in order if votes[label] > 0)

    def _layout(self) -> SeriesLayout:
        if self.layout is None:
            raise InputError("the label set is fixed after 20 blocks: there is no series yet")
        return self.layout

    def _renumber(self, codes: npt.NDArray[Any], labels: Sequence[Hashable]) -> CodeArray:
        """Return the codes of this stream: labels are numbered as they first appear in it."""
        if codes.ndim != 2 or codes.shape[1] != self.n_judges or codes.dtype.kind not in "iu":
            raise InputError(
                f"codes must be integers, items x {self.n_judges} judges, "
                f"got {codes.dtype} of shape {codes.shape}"
            )
        if codes.size and not -1 <= int(codes.min()) <= int(codes.max()) < len(labels):
            raise InputError(
                f"codes must be in -1..{len(labels) - 1} (places in labels), got "
                f"{int(codes.min())}..{int(codes.max())}"
            )
        found, first = np.unique(codes, return_index=True)
        for code in found[np.argsort(first)]:
            if code >= 0 and labels[code] not in self.labels:
                self.labels.append(labels[code])
        places = {label: place for place, label in enumerate(self.labels)}
        lookup = np.array([places.get(label, -1) for label in labels] + [-1], dtype=np.int64)
        return np.asarray(lookup[codes])

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types, from which :meth:`from_dict` goes on as if nothing had happened."""
        before = self.before
        return {
            "version": _VERSION,
            "n_judges": self.n_judges,
            "options": asdict(self.options),
            "labels": list(self.labels),
            "pending": self.pending.tolist(),
            "board": self.board.to_dict(),
            "blocks": self.blocks,
            "memory": [block.tolist() for block in self.memory],
            "slots": None if self.layout is None else list(self.layout.labels),
            "detector": None if self.detector is None else self.detector.to_dict(),
            "before": None
            if before is None
            else [before[0].tolist(), before[1].tolist(), before[2]],
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Watch:
        """Return the watch that :meth:`to_dict` wrote."""
        if saved.get("version") != _VERSION:
            raise InputError(
                f"this checkpoint has version {saved.get('version')!r}, and {_VERSION} is read: "
                "it was written by another release"
            )
        n_judges = int(saved["n_judges"])
        before = saved["before"]
        return cls(
            n_judges=n_judges,
            options=WatchOptions(**saved["options"]),
            labels=list(saved["labels"]),
            pending=np.array(saved["pending"], dtype=np.int64).reshape(-1, n_judges),
            board=NoticeBoard.from_dict(saved["board"]),
            blocks=int(saved["blocks"]),
            memory=[np.array(block, dtype=np.int64) for block in saved["memory"]],
            layout=None if saved["slots"] is None else lay_out(n_judges, saved["slots"]),
            detector=None if saved["detector"] is None else Detector.from_dict(saved["detector"]),
            before=None
            if before is None
            else (np.array(before[0], np.int64), np.array(before[1], np.float64), int(before[2])),
        )


def _patterns(rows: CodeArray) -> tuple[CodeArray, FloatArray]:
    codes, counts = np.unique(rows, axis=0, return_counts=True)
    return codes, counts.astype(np.float64)
