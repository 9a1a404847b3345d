"""Votes that keep coming: one evaluation per window, and a watch that tells when the votes change.

Change is not looked for window by window. All items pass through one watch (the rank e-detector of
`tallystick.stats.stream`), in blocks of 25 whatever the window is, so a small lasting drift adds
up. What it promises: at most 5% false alarms per 10,000 items while blocks are exchangeable.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.errors import FileError, InputError, NotIdentifiable
from tallystick.results import Json, Sentences, Unknown, count, percent, to_json
from tallystick.stats.exact_tails import whole
from tallystick.stats.stream import Notice, Series, WatchOptions
from tallystick.stats.stream_watch import (
    Event,
    Explanation,
    Explanations,
    Naming,
    StreamAlarm,
    Watch,
)
from tallystick.table import Data, Tally, atomic, is_no_answer, spelling
from tallystick.table.cells import Label, plain
from tallystick.verbs.judge.grade import grade
from tallystick.verbs.judge.question import JudgeQuestion
from tallystick.verbs.judge.result import Alarm, JudgeResult

_VERSION = 1
_BLOCK = 25
"""Items per block of the watch: at least four times as many as bursts of like items are long."""
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
    alarms
        Every alarm that was raised in this window, with what it proves.
    details
        For every alarm: the series, where the change lies, and what may have changed.
    notices
        Facts that need no test, as kind and words: a judge fell ``silent``, or writes a ``new
        label``; and the ``naming`` of what an earlier alarm was about.
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
    alarms: tuple[Alarm, ...] = ()
    details: tuple[Mapping[str, Any], ...] = ()
    notices: tuple[tuple[str, str], ...] = ()
    namings: tuple[Mapping[str, Any], ...] = ()
    partial: bool = False

    @property
    def change(self) -> Alarm | None:
        """The first alarm of this window, if the votes changed."""
        return self.alarms[0] if self.alarms else None

    def to_dict(self) -> dict[str, Json]:
        """Return the result's JSON object with the window's place, change, alarms and notices."""
        body: dict[str, Any] = {} if self.result is None else self.result.to_dict()
        change = None if self.change is None else asdict(self.change)
        seen = self._seen()
        seen["alarms"] += body.get("alarms", [])
        place = {**self._place(), "change": change}
        return {**body, "window": place, "change": (*self.details, None)[0], **seen}

    def summary(self) -> dict[str, Any]:
        """Return the window in short: its place, verdict, accuracies, and what changed."""
        scores = () if self.result is None else self.result.judges
        return {
            **self._place(),
            "verdict": None if self.result is None else self.result.verdict,
            "accuracy": {
                score.name: score.accuracy if isinstance(score.accuracy, float) else None
                for score in scores
            },
            "change": None if self.change is None else self.change.proves,
            **self._seen(),
        }

    def _place(self) -> dict[str, Any]:
        place = {"index": self.index, "start": self.start, "end": self.end}
        return {**place, "partial": self.partial, "reason": self.reason or None}

    def _seen(self) -> dict[str, Any]:
        return {
            "changes": [dict(one) for one in self.details],
            "alarms": [asdict(alarm) for alarm in self.alarms],
            "notices": [words for _, words in self.notices],
        }


@dataclass(kw_only=True)
class Windows:
    """A stream of votes, cut into windows; memory does not grow with items.

    Shares of every block (agreement with the majority of the others, dissent, labels, missing
    votes) are ranked among all earlier blocks, and the watch bets on the ranks: at most *alpha*
    false alarms per 10,000 items, whatever the rates are. Alarms come after 20 blocks (500 items).

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
    >>> rng = np.random.default_rng(1)
    >>> right = rng.random((1500, 3)) < 0.9
    >>> right[1000:, 0] = rng.random(500) < 0.3
    >>> votes = {name: right[:, j].astype(int) for j, name in enumerate(("ann", "bob", "eve"))}
    >>> [window.change is not None for window in Windows(size=500).push(votes)]
    [False, False, True]
    """

    size: int
    evaluation: Callable[[Tally], JudgeResult] = grade
    alpha: float = 0.05
    truth: str | None = None
    missing: tuple[str, ...] = ()
    coerce: bool = False
    key: str = "judge"
    _rows: dict[str, list[Label]] = field(default_factory=dict, repr=False)
    _done: int = 0
    _watch: Watch | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        whole(1, size=self.size)
        self._options()  # checks alpha before any work

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
        changes = [
            alarm_of(one, names, self.alpha) for one in events if isinstance(one, StreamAlarm)
        ]
        notices: list[tuple[str, str]] = []
        namings: list[dict[str, Any]] = []
        for event in events:
            if isinstance(event, Notice):
                notices.append((event.kind, notice_of(event, names, labels)))
            elif isinstance(event, Naming):
                told, naming = naming_of(event, names)
                notices.append(("naming", told))
                namings.append(naming)
        start = index * self.size
        return Window(
            index=index,
            start=start,
            end=start + len(next(iter(rows.values()))),
            result=result,
            reason=reason,
            alarms=tuple(alarm for alarm, _ in changes),
            details=tuple(detail for _, detail in changes),
            notices=tuple(notices),
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
        return WatchOptions(key=self.key, block=_BLOCK, horizon=10_000, alpha=self.alpha)

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
        now = {"version": _VERSION, "size": self.size, "truth": self.truth}
        for name, own in now.items():
            if saved[name] != own:
                option = "window" if name == "size" else name
                raise InputError(
                    f"this state was written with {option} {saved[name]!r}, and now it is {own!r}:"
                    " use the same, or start a new state"
                )
        self._rows = {name: list(values) for name, values in saved["rows"].items()}
        self._done = int(saved["done"])
        self._watch = None if saved["watch"] is None else Watch.from_dict(saved["watch"])


# A result over all rows, told what its windows saw: a change is part of the answer.


def evaluate_windows(
    data: Data, question: JudgeQuestion, evaluation: Callable[[Tally], JudgeResult]
) -> list[Window]:
    """Evaluate the rows in their order, window by window."""
    stream = Windows(
        size=question.window or 1,
        evaluation=evaluation,
        alpha=question.alpha,
        truth=data.roles.truth,
    )
    if question.state is not None:
        load_state(stream, question.state)
    done = stream.push(data.label_lists(*data.roles.columns("judges", "truth")))
    if question.state is not None:
        save_state(stream, question.state)
    return [*done, *stream.finish()]


_MOST_TOLD = 3
"""Changes and notices that are shown; the windows of the JSON hold all."""


def with_windows(result: JudgeResult, windows: Sequence[Window]) -> JudgeResult:
    """Return the result with its windows; alarms and notices of any window are those of the whole.

    Figures over all rows mix what was before a change with what came after it, so the verdict says
    where it was.
    """
    alarms = [alarm for window in windows for alarm in window.alarms]
    notices = [words for window in windows for _, words in window.notices]
    result = replace(result, windows=tuple(window.summary() for window in windows))
    if not alarms and not notices:
        return result
    told = [one.proves for one in alarms] + notices
    more = len(told) - _MOST_TOLD
    rest = (f"{count(more)} more changes are in the windows of --json",) if more > 0 else ()
    said = _sentences(result)
    return replace(
        result,
        alarms=(*result.alarms, *alarms),
        warnings=(*result.warnings, *told[:_MOST_TOLD], *rest),
        sentences=said,
        verdict=said.verdict,
    )


def _sentences(result: JudgeResult) -> Sentences:
    """Say in the opening that something changed, and where."""
    said = result.sentences or Sentences(answer=result.verdict)
    changes = [change for window in result.windows for change in window["changes"]]
    if not changes:
        return said
    first = changes[0]
    what = first["likely"] or "the votes changed"
    text = (
        f"But {what} around item {count(first['around'])}: figures over all items mix before"
        " and after."
    )
    return replace(said, contrast=f"{text} {said.contrast}".strip())


# What is said of a stream: alarms with what they prove, notices, and what may have changed.


_DOES_NOT_PROVE = (
    "who is right: a bias that all judges come to share looks like a change of the items, and only"
    " labels tell them apart"
)


def alarm_of(
    event: StreamAlarm, names: Sequence[str], alpha: float
) -> tuple[Alarm, dict[str, Any]]:
    """Return an alarm of the watch in words, and the same as JSON types.

    *alpha* is the chance of a false alarm per 10,000 items that the watch was set to.
    """
    what = _series(event.series, event.label, names)
    before, after = event.change.before, event.change.after
    where = f"around item {count(event.around)}"
    if event.items is not None:
        where += f" (between {count(event.items[0])} and {count(event.items[1])})"
    cause = _cause(event.explanations, names)
    alarm = Alarm(
        name="change",
        proves=(
            f"{what} went from {percent(before)} to {percent(after)} {where}; at most"
            f" {percent(alpha)} of streams without change raise an alarm in 10,000 items. {cause}"
        ),
        does_not_prove=_DOES_NOT_PROVE,
    )
    detail: dict[str, Any] = {
        "series": event.series.kind,
        "judge": None if event.series.judge is None else names[event.series.judge],
        "label": None if event.label is None else str(event.label),
        "before": before,
        "after": after,
        "item": event.item,
        "around": event.around,
        "range": None if event.items is None else list(event.items),
        "evidence": min(event.evidence, 1e300),
        "likely": _short(event.explanations.likely, names),
        "not_ruled_out": [_short(one, names) for one in event.explanations.kept],
        "cause": cause,
    }
    return alarm, detail


def notice_of(event: Notice, names: Sequence[str], labels: Sequence[Hashable]) -> str:
    """Return a notice in words."""
    name = names[event.judge]
    if event.kind == "silent":
        return (
            f"{name} cast no vote on the last {event.of} items; before, it voted on"
            f" {percent(event.before)}"
        )
    label = "a new label" if event.label is None else repr(str(labels[event.label]))
    return f"{name} began to write {label} ({event.votes} of {event.of} votes)"


def naming_of(event: Naming, names: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return the final name of what an earlier alarm was about, in words and as JSON types."""
    item = (event.alarm_block + 1) * _BLOCK
    cause = _cause(event.explanations, names)
    likely = _short(event.explanations.likely, names)
    told = f"more items have come since the alarm at item {count(item)}. {cause}"
    return told, {"item": item, "cause": cause, "likely": likely}


def _series(series: Series, label: Hashable, names: Sequence[str]) -> str:
    """Name a series of shares."""
    if series.judge is None:
        return "how often the two judges agree"
    who = names[series.judge]
    if series.kind == "agreement":
        return f"{who}'s agreement with the majority of the others"
    if series.kind == "missing":
        return f"{who}'s share of missing votes"
    word = "another label" if label is None else str(label)
    if series.kind == "share":
        return f"{who}'s share of {word}"
    return f"how often {who} says {word} against the majority of the others"


def _cause(found: Explanations, names: Sequence[str]) -> str:
    """Say what may have changed."""
    if found.likely is not None:
        told = f"Likely cause: {_short(found.likely, names)}"
        others = [text for one in found.kept[1:] if (text := _short(one, names))]
        return f"{told}. Not ruled out: {', '.join(others)}" if others else told
    if found.several:
        return "More than one thing changed"
    why = [one.p_value.reason for one in found.tested if isinstance(one.p_value, Unknown)]
    return "What changed cannot be named" + (f" ({why[0]})" if why else "")


def _short(one: Explanation | None, names: Sequence[str]) -> str | None:
    if one is None:
        return None
    if one.kind == "judge" and one.judge is not None:
        return f"{names[one.judge]} alone changed"
    if one.kind == "mix":
        return "the shares of the labels changed"
    easier = bool(one.size) and one.size[0] < 0
    return f"the items got {'easier' if easier else 'harder'}"


# The checkpoint of a stream: one JSON file that survives a restart.


def load_state(stream: Windows, path: Path) -> None:
    """Let *stream* go on from *path*, if there is a state to go on from."""
    if not path.exists():
        return
    try:
        stream.restore(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise FileError(
            f"--state {path} cannot be read ({error!r}): name another file to start anew"
        ) from error


def save_state(stream: Windows, path: Path) -> None:
    """Write the state beside *path* and move it there, so that a crash leaves the old one."""
    with atomic(path) as file:
        file.write(to_json(stream.to_dict()).encode("utf-8"))
