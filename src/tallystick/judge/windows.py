"""Votes that keep coming: one evaluation a window, and an alarm when the votes change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallystick.errors import InputError, NotIdentifiable
from tallystick.judge.ballots import Floats
from tallystick.judge.grade import grade
from tallystick.judge.result import Alarm, JudgeResult
from tallystick.results import Json
from tallystick.tally import Tally
from tallystick.values.label import Label, plain

__all__ = ["Window", "Windows", "windows"]


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
        The alarm, if the votes of this window differ from those before it.
    """

    index: int
    start: int
    end: int
    result: JudgeResult | None
    reason: str = ""
    change: Alarm | None = None

    def to_dict(self) -> dict[str, Json]:
        """Return the result's JSON object with the window's place in the stream."""
        body: dict[str, Json] = {} if self.result is None else self.result.to_dict()
        change: Json = None
        if self.change is not None:
            change = {
                "name": self.change.name,
                "proves": self.change.proves,
                "does_not_prove": self.change.does_not_prove,
            }
        place: dict[str, Json] = {
            "index": self.index,
            "start": self.start,
            "end": self.end,
            "change": change,
        }
        return {**body, "window": {**place, "reason": self.reason or None}}

    def summary(self) -> dict[str, Any]:
        """Return the window in short: its place, verdict, accuracies, and what changed."""
        scores = () if self.result is None else self.result.judges
        return {
            "index": self.index,
            "start": self.start,
            "end": self.end,
            "verdict": None if self.result is None else self.result.verdict,
            "reason": self.reason or None,
            "accuracy": {
                score.name: score.accuracy if isinstance(score.accuracy, float) else None
                for score in scores
            },
            "change": None if self.change is None else self.change.proves,
        }


@dataclass(kw_only=True)
class Windows:
    """A stream of votes, cut into windows; memory does not grow with items.

    Parameters
    ----------
    size
        Items a window.
    evaluation
        What is asked of each window's tally.
    alpha
        Chance of a false change alarm over the whole stream, however long.

    Examples
    --------
    >>> stream = Windows(size=4)
    >>> done = stream.push({"ann": [0, 1, 0, 1, 0], "bob": [0, 1, 1, 1, 0], "eve": [0, 1, 0, 0, 0]})
    >>> [(window.index, window.start, window.end) for window in done]
    [(0, 0, 4)]
    """

    size: int
    evaluation: Callable[[Tally], JudgeResult] = grade
    alpha: float = 0.05
    truth: str | None = None
    missing: tuple[str, ...] = ()
    coerce: bool = False
    _rows: dict[str, list[Label]] = field(default_factory=dict, repr=False)
    _done: int = 0
    _since: int = 0
    _seen: dict[tuple[str, ...], Floats] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InputError(f"size must be at least 1 item, got {self.size!r}")
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must be in (0, 1), got {self.alpha!r}")

    def push(self, batch: Mapping[str, Sequence[Any]]) -> list[Window]:
        """Take one more batch, a mapping of equally long columns, and return the windows that it
        completed.
        """
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

    def _close(self, rows: dict[str, list[Label]]) -> Window:
        index = self._done
        self._done += 1
        tally = Tally.of(rows, missing=self.missing, coerce=self.coerce)
        change = self._change(tally)
        result, reason = None, ""
        try:
            result = self.evaluation(tally)
        except (NotIdentifiable, InputError) as error:
            reason = str(error)
        start = index * self.size
        return Window(
            index=index,
            start=start,
            end=start + self.size,
            result=result,
            reason=reason,
            change=change,
        )

    def _change(self, tally: Tally) -> Alarm | None:
        """Compare this window with all since the last change; then let it join them."""
        now = _statistics(tally, self.truth)
        if not self._seen:
            self._seen, self._since = now, 1
            return None
        names = [name for name in now if name in self._seen]
        p = _two_sample_p(
            np.stack([now[name] for name in names]), np.stack([self._seen[name] for name in names])
        )
        # Spending alpha / t(t + 1) on the t-th comparison keeps the whole stream below alpha.
        t = self._done - 1
        allowed = self.alpha / (t * (t + 1)) / len(names)
        worst = int(p.argmin())
        if p[worst] <= allowed:
            self._seen, self._since = now, 1
            return Alarm(
                name="change",
                proves=(
                    f"{_what(names[worst])} is not what it was in the windows before (p ="
                    f" {p[worst]:.2g}, allowed {allowed:.2g})"
                ),
                does_not_prove="whether the judges changed or the items did",
            )
        self._seen = {
            name: self._seen.get(name, np.zeros(2)) + now.get(name, np.zeros(2))
            for name in {**self._seen, **now}
        }
        self._since += 1
        return None


def windows(
    batches: Iterable[Mapping[str, Sequence[Any]]],
    *,
    size: int,
    evaluation: Callable[[Tally], JudgeResult] = grade,
    alpha: float = 0.05,
    truth: str | None = None,
) -> Iterator[Window]:
    """Evaluate a stream window by window, and tell when the votes change.

    Each judge's share of each label, and each pair's agreement, is compared with all windows since
    the last change by Fisher's exact test; over the whole stream, however long, the chance of a
    false alarm is at most *alpha* for independent items.

    Parameters
    ----------
    batches
        Mappings of equally long columns of votes.
    size
        Items a window; a last, incomplete window is not reported.
    evaluation
        What is asked of each window's tally.
    alpha
        Chance of a false alarm over the whole stream.
    truth
        A column that is not a judge.

    Examples
    --------
    >>> quiet = {"ann": [0, 1] * 50, "bob": [0, 1] * 50, "eve": [0, 1] * 50}
    >>> loud = {"ann": [0, 1] * 50, "bob": [1, 1] * 50, "eve": [0, 1] * 50}
    >>> [window.change is not None for window in windows([quiet, quiet, loud], size=100)]
    [False, False, True]
    """
    stream = Windows(size=size, evaluation=evaluation, alpha=alpha, truth=truth)
    for batch in batches:
        yield from stream.push(batch)


def _statistics(tally: Tally, truth: str | None) -> dict[tuple[str, ...], Floats]:
    """Return (hits, items) of each judge's share of each label and each pair's agreement."""
    names = [name for name in tally.names if name != truth]
    labels = {name: tally.labels[name] for name in names}
    written = [[repr(label) for label in labels[name]] for name in names]
    columns = [
        np.array(written[k])[tally.codes[:, tally.names.index(name)]]
        for k, name in enumerate(names)
    ]
    voted = [column != "None" for column in columns]
    counts = tally.counts.astype(float)
    found: dict[tuple[str, ...], Floats] = {}
    for k, name in enumerate(names):
        for label in written[k]:
            found[name, label] = np.array([counts @ (columns[k] == label), counts.sum()])
        for m in range(k):
            both = voted[k] & voted[m]
            found[names[m], name, "agree"] = np.array(
                [counts @ (both & (columns[k] == columns[m])), counts @ both]
            )
    return found


def _two_sample_p(now: Floats, before: Floats) -> Floats:
    """Return two-sided exact p-values (twice the smaller tail) that two shares are equal."""
    from scipy.stats import hypergeom

    x, n = now.T
    hits, total = x + before[:, 0], n + before[:, 1]
    low = hypergeom.cdf(x, total, hits, n)
    high = hypergeom.sf(x - 1, total, hits, n)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(low, high)), dtype=np.float64)


def _what(name: tuple[str, ...]) -> str:
    if len(name) == 3:
        return f"how often {name[0]} and {name[1]} agree"
    return f"how often {name[0]} votes {name[1]}"
