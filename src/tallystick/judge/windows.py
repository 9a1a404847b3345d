"""Votes that keep coming: one evaluation per window, and a watch that tells when the votes change.

Change is not looked for window by window. All items pass through one watch (the rank e-detector of
`tallystick.stats.stream`), in blocks of 25 whatever the window is, so a small lasting drift adds
up. What it promises: at most 5 % false alarms per 10,000 items while blocks are exchangeable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallystick.errors import InputError, NotIdentifiable
from tallystick.judge.grade import grade
from tallystick.judge.parts import Alarm
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict_stream import Naming, alarm_of, naming_of, notice_of
from tallystick.results import Json
from tallystick.stats.stream import Event, Notice, StreamAlarm, Watch, WatchOptions
from tallystick.tally import Tally
from tallystick.values import is_no_answer, spelling
from tallystick.values.label import Label, plain

__all__ = ["Window", "Windows", "windows"]

_VERSION = 1
_MOST_LABELS = 500


@dataclass(frozen=True, kw_only=True)
class Window:
    """One window of a stream.

    Parameters
    ----------
    index, start, end
        Which window, and its items: start included, end not.
    result
        The evaluation of these items; None where they allow none, for the *reason* given.
    change
        The first alarm of this window, if the votes changed.
    alarms
        Every alarm that was raised in this window, with what it proves.
    details
        For every alarm: the series, where the change lies, and what may have changed.
    notices, notice_kinds
        Facts that need no test: a judge fell ``silent``, or writes a ``new label``; and the
        ``naming`` of what an earlier alarm was about.
    namings
        For every such naming: the item of the alarm, and the cause that more items show.
    partial
        Whether the stream ended before the window was full.
    """

    index: int
    start: int
    end: int
    result: JudgeResult | None
    reason: str = ""
    change: Alarm | None = None
    alarms: tuple[Alarm, ...] = ()
    details: tuple[Mapping[str, Any], ...] = ()
    notices: tuple[str, ...] = ()
    notice_kinds: tuple[str, ...] = ()
    namings: tuple[Mapping[str, Any], ...] = ()
    partial: bool = False

    def to_dict(self) -> dict[str, Json]:
        """Return the result's JSON object with the window's place, change, alarms and notices."""
        body: dict[str, Json] = {} if self.result is None else self.result.to_dict()
        own = [_alarm(alarm) for alarm in self.alarms]
        kept = body.get("alarms")
        change = None if self.change is None else _alarm(self.change)
        place: dict[str, Json] = {
            "index": self.index,
            "start": self.start,
            "end": self.end,
            "partial": self.partial,
            "change": change,
            "reason": self.reason or None,
        }
        details: list[Json] = [dict(one) for one in self.details]
        return {
            **body,
            "window": place,
            "change": details[0] if details else None,
            "changes": details,
            "alarms": [*own, *(kept if isinstance(kept, list) else [])],
            "notices": list(self.notices),
        }

    def summary(self) -> dict[str, Any]:
        """Return the window in short: its place, verdict, accuracies, and what changed."""
        scores = () if self.result is None else self.result.judges
        return {
            "index": self.index,
            "start": self.start,
            "end": self.end,
            "partial": self.partial,
            "verdict": None if self.result is None else self.result.verdict,
            "reason": self.reason or None,
            "accuracy": {
                score.name: score.accuracy if isinstance(score.accuracy, float) else None
                for score in scores
            },
            "change": None if self.change is None else self.change.proves,
            "changes": [dict(one) for one in self.details],
            "alarms": [_alarm(alarm) for alarm in self.alarms],
            "notices": list(self.notices),
        }


@dataclass(kw_only=True)
class Windows:
    """A stream of votes, cut into windows; memory does not grow with items.

    Parameters
    ----------
    size
        Items per window.
    evaluation
        What is asked of each window's tally.
    alpha
        Chance of a false alarm per 10,000 items.
    truth
        A column that is not a judge.
    missing, coerce
        Which cells are no answer, and whether several spellings are one label.
    block
        Items per block of the watch; at least four times as many as bursts of like items are long.
    key
        Name of the stream: the same key and votes give the same alarms.

    Examples
    --------
    >>> stream = Windows(size=4)
    >>> done = stream.push({"ann": [0, 1, 0, 1, 0], "bob": [0, 1, 1, 1, 0], "eve": [0, 1, 0, 0, 0]})
    >>> [(window.index, window.start, window.end) for window in done]
    [(0, 0, 4)]
    >>> [(window.start, window.end, window.partial) for window in stream.finish()]
    [(4, 5, True)]
    """

    size: int
    evaluation: Callable[[Tally], JudgeResult] = grade
    alpha: float = 0.05
    truth: str | None = None
    missing: tuple[str, ...] = ()
    coerce: bool = False
    block: int = 25
    key: str = "judge"
    _rows: dict[str, list[Label]] = field(default_factory=dict, repr=False)
    _done: int = 0
    _watch: Watch | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InputError(f"size must be at least 1 item, got {self.size!r}")
        self._options()  # checks alpha and block before any work

    @property
    def names(self) -> tuple[str, ...]:
        """The judges, in the order of the first batch."""
        return tuple(name for name in self._rows if name != self.truth)

    def push(self, batch: Mapping[str, Sequence[Any]]) -> list[Window]:
        """Take one more batch of equally long columns and return the windows that it completed."""
        columns = {
            name: [plain(value, column=name) for value in values] for name, values in batch.items()
        }
        if self._rows and set(columns) != set(self._rows):
            raise InputError(
                f"a batch has columns {sorted(columns)}, and those before it {sorted(self._rows)}"
            )
        if len({len(values) for values in columns.values()}) > 1:
            raise InputError(
                f"the columns of a batch have lengths { {k: len(v) for k, v in columns.items()} }"
            )
        for name, values in columns.items():
            self._rows.setdefault(name, []).extend(values)
        found = []
        while self._rows and len(next(iter(self._rows.values()))) >= self.size:
            window = {name: values[: self.size] for name, values in self._rows.items()}
            self._rows = {name: values[self.size :] for name, values in self._rows.items()}
            found.append(self._close(window))
        return found

    def finish(self) -> list[Window]:
        """Return the last window, if it was begun and not completed.

        Nothing is consumed: a stream that goes on later completes the window.
        """
        rows = len(next(iter(self._rows.values()), ()))
        if not rows:
            return []
        return [self._evaluated(dict(self._rows), self._done, (), partial=True)]

    def _close(self, rows: dict[str, list[Label]]) -> Window:
        """Evaluate a full window and let its items pass the watch."""
        index = self._done
        self._done += 1
        return self._evaluated(rows, index, self._watched(rows), partial=False)

    def _evaluated(
        self,
        rows: dict[str, list[Label]],
        index: int,
        events: Sequence[Event],
        *,
        partial: bool,
    ) -> Window:
        tally = Tally.of(rows, missing=self.missing, coerce=self.coerce)
        result, reason = None, ""
        try:
            result = self.evaluation(tally)
        except (NotIdentifiable, InputError) as error:
            reason = str(error)
        names = self.names
        labels = [] if self._watch is None else self._watch.labels
        alarms, details, notices = [], [], []
        kinds: list[str] = []
        namings: list[dict[str, Any]] = []
        for event in events:
            if isinstance(event, StreamAlarm):
                alarm, detail = alarm_of(event, names, self.alpha)
                alarms.append(alarm)
                details.append(detail)
            elif isinstance(event, Notice):
                notices.append(notice_of(event, names, labels))
                kinds.append(event.kind)
            elif isinstance(event, Naming):
                told, naming = naming_of(event, names, self.block)
                notices.append(told)
                kinds.append("naming")
                namings.append(naming)
        start = index * self.size
        return Window(
            index=index,
            start=start,
            end=start + len(next(iter(rows.values()))),
            result=result,
            reason=reason,
            change=alarms[0] if alarms else None,
            alarms=tuple(alarms),
            details=tuple(details),
            notices=tuple(notices),
            notice_kinds=tuple(kinds),
            namings=tuple(namings),
            partial=partial,
        )

    def _watched(self, rows: Mapping[str, Sequence[Label]]) -> list[Event]:
        """Let the votes of a window pass the watch, and return what it reports."""
        names = [name for name in rows if name != self.truth]
        if self._watch is None:
            self._watch = Watch.start(len(names), self._options())
        tokens = set(self.missing)
        places: dict[str, int] = {}
        labels: list[str] = []
        codes = np.full((len(rows[names[0]]), len(names)), -1, dtype=np.int64)
        for j, name in enumerate(names):
            for i, label in enumerate(rows[name]):
                silent = label is None or is_no_answer(label) or str(label).strip() in tokens
                if silent:
                    continue
                word = str(spelling(label)) if self.coerce else str(label)
                if places.setdefault(word, len(labels)) == len(labels):
                    labels.append(word)
                codes[i, j] = places[word]
        if len(self._watch.labels) + len(labels) > _MOST_LABELS:
            raise InputError(
                f"the votes have more than {_MOST_LABELS} different labels, such as {labels[-1]!r}:"
                " that looks like scores or free text; cut them into classes first"
            )
        return self._watch.update(codes, labels)

    def _options(self) -> WatchOptions:
        return WatchOptions(
            key=self.key,
            block=self.block,
            horizon=max(10_000, self.block),
            alpha=self.alpha,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types, from which :meth:`restore` goes on as if nothing had happened."""
        return {
            "version": _VERSION,
            "size": self.size,
            "truth": self.truth,
            "rows": {name: list(values) for name, values in self._rows.items()},
            "done": self._done,
            "watch": None if self._watch is None else self._watch.to_dict(),
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Go on from what :meth:`to_dict` wrote; refuse another window size or another truth."""
        if saved.get("version") != _VERSION or "watch" not in saved:
            raise InputError(
                f"this state has version {saved.get('version')!r}, and {_VERSION} is read: start a"
                " new one"
            )
        for name in ("size", "truth"):
            if saved[name] != getattr(self, name):
                option = "window" if name == "size" else "truth"
                raise InputError(
                    f"this state was written with {option} {saved[name]!r}, and now it is"
                    f" {getattr(self, name)!r}: use the same, or start a new state"
                )
        self._rows = {name: list(values) for name, values in saved["rows"].items()}
        self._done = int(saved["done"])
        self._watch = None if saved["watch"] is None else Watch.from_dict(saved["watch"])


def windows(
    batches: Iterable[Mapping[str, Sequence[Any]]],
    *,
    size: int,
    evaluation: Callable[[Tally], JudgeResult] = grade,
    alpha: float = 0.05,
    truth: str | None = None,
) -> Iterator[Window]:
    """Evaluate a stream window by window, and tell when the votes change.

    Shares of every block (agreement with the majority of the others, dissent, labels, missing
    votes) are ranked among all earlier blocks, and the watch bets on the ranks: at most *alpha*
    false alarms per 10,000 items, whatever the rates are. Alarms come after 20 blocks (500 items).

    Parameters
    ----------
    batches
        Mappings of equally long columns of votes.
    size
        Items per window; a last, incomplete window is reported as partial.
    evaluation
        What is asked of each window's tally.
    alpha
        Chance of a false alarm per 10,000 items.
    truth
        A column that is not a judge.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> right = rng.random((1500, 3)) < 0.9
    >>> right[1000:, 0] = rng.random(500) < 0.3
    >>> votes = {name: right[:, j].astype(int) for j, name in enumerate(("ann", "bob", "eve"))}
    >>> [window.change is not None for window in windows([votes], size=500)]
    [False, False, True]
    """
    stream = Windows(size=size, evaluation=evaluation, alpha=alpha, truth=truth)
    for batch in batches:
        yield from stream.push(batch)
    yield from stream.finish()


def _alarm(alarm: Alarm) -> dict[str, Json]:
    return {
        "name": alarm.name,
        "proves": alarm.proves,
        "does_not_prove": alarm.does_not_prove,
    }
