"""``tallystick shift baseline``: the first measurement of an API, with its own noise.

Each item is asked K times, so that a later `shift` measures how noisy the old API was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from math import sqrt
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np

from tallystick.clients import (
    UNREAD,
    ClientQuestion,
    Gathered,
    Questions,
    Usage,
    client_columns,
    client_of,
    gather,
    read_journal,
    unread_warnings,
    usage_warnings,
)
from tallystick.errors import FileError, FormatError
from tallystick.results import Figure, Interval, Result, Unit, Unknown, to_json
from tallystick.table import Capability, Data, Door, answered, option, whole, write_csv
from tallystick.verbs.shift.noise import old_noise
from tallystick.verbs.shift.result import NO_LABELS, Change, ShiftResult
from tallystick.verbs.shift.verdict import (
    ASKED_ONCE,
    baseline_verdict,
    baseline_warnings,
    history_verdict,
)

_PRIVATE = {"private": True}


@dataclass(frozen=True, kw_only=True)
class BaselineQuestion(ClientQuestion):
    """The first measurement of an API: every item, K times."""

    repeats: int = option(
        2, "How many times to ask about each item; 2 or more show how much the answers vary.", low=1
    )
    name: str = option("old", "Name of the new column.", flag="--as")
    out: Path | None = option(
        None,
        "Write the table with the answers to this file.",
        flag="-o --out",
        metavar="FILE",
        writes=True,
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are added."""
        return (self.name, *(f"{self.name}.{draw}" for draw in range(2, self.repeats + 1)))


@dataclass(frozen=True, kw_only=True)
class BaselineResult(Result):
    """What an API answers now, and how much of it is chance.

    Parameters
    ----------
    columns
        The columns of answers, the first draw first.
    accuracy
        The expected accuracy on these items; unknown without true labels.
    unstable
        The share of items whose answers differ from draw to draw.
    noise
        ν: the variance of one answer around its item's own rate; unknown with one draw.
    calls, unread, failed, cost, usage
        What it took.
    """

    verb: ClassVar[str] = "shift baseline"

    columns: tuple[str, ...]
    accuracy: Change
    unstable: float | Unknown
    noise: float | Unknown
    calls: int
    unread: int
    failed: int
    cost: float
    usage: Usage | None = None
    table: Mapping[str, Sequence[Any]] = field(default_factory=dict, repr=False, metadata=_PRIVATE)

    def rows(self) -> list[dict[str, Any]]:
        """Return accuracy and noise."""
        return [
            {
                "what": "accuracy",
                "share": self.accuracy.estimate,
                "interval": self.accuracy.interval,
            },
            {"what": "items whose answer varies", "share": self.unstable, "interval": None},
        ]


def baseline(source: Any, **options: Any) -> BaselineResult:
    """Measure an API for the first time.

    Examples
    --------
    >>> table = {"gold": ["a", "b"] * 20, "said": ["a", "b"] * 19 + ["b", "b"]}
    >>> baseline(table, truth="gold", api="replay:said", labels=("a", "b")).accuracy.estimate
    0.975
    """
    return answered(BASELINE, source, options)


def answer(data: Data, question: BaselineQuestion) -> BaselineResult:
    """Ask every item K times, and say how good and how noisy the API is."""
    truth = data.roles.truth
    words = data.label_lists(truth)[truth] if truth is not None else []
    labels = tuple(str(whole(label)) for label in data.rules.labels) or tuple(
        sorted({str(word) for word in words if word is not None})
    )
    columns = client_columns(data)
    questions = Questions.of(data, question, labels=labels, added=question.columns)
    client = client_of(question, columns=columns, labels=labels)
    questions = replace(questions, draws=1 if client.recorded else question.repeats)
    with (question.progress or nullcontext)() as show:
        came = gather(client, questions, progress=show)
    result = _result(data, question, questions, came, [str(word) for word in words])
    if question.out is not None:
        write_csv(question.out, {**data.cells(*columns), **result.table})
    return result


def _result(
    data: Data, question: BaselineQuestion, asked: Questions, came: Gathered, truth: list[str]
) -> BaselineResult:
    """Read the draws, and compare them with the truth and with one another."""
    read = came.labels
    draws = [
        [read.get((row, draw)) for row in range(data.n_rows)] for draw in range(1, asked.draws + 1)
    ]
    whole_rows = [row for row in range(data.n_rows) if all(one[row] is not None for one in draws)]
    unstable: float | Unknown = Unknown(ASKED_ONCE)
    if asked.draws > 1 and whole_rows:
        unstable = float(np.mean([len({one[row] for one in draws}) > 1 for row in whole_rows]))
    known = [row for row in whole_rows if truth and truth[row] != "None"]
    accuracy = NO_LABELS
    noise: float | Unknown = Unknown(ASKED_ONCE)
    if known:
        right = np.array([[one[row] == truth[row] for one in draws] for row in known], float)
        mean = float(right.mean())
        interval = None
        if asked.draws > 1:
            noise = old_noise(right)
            # Over fresh answers to these items: only their noise is left.
            half = 1.96 * sqrt(noise / (asked.draws * len(known)))
            interval = Interval(
                max(0.0, mean - half),
                min(1.0, mean + half),
                level=0.95,
                method="draws",
            )
        accuracy = Change(estimate=mean, interval=interval)
    unread = sum(label == UNREAD for label in read.values())
    return BaselineResult(
        verdict=baseline_verdict(accuracy, unstable, items=data.n_rows, draws=asked.draws),
        n_items=data.n_rows,
        warnings=(
            *baseline_warnings(asked.draws, failed=came.failed),
            *unread_warnings(came.unread, answers=len(read)),
            *usage_warnings(came.journal.usage),
        ),
        columns=question.columns[: asked.draws],
        accuracy=accuracy,
        unstable=unstable,
        noise=noise,
        calls=len(read),
        unread=unread,
        failed=came.failed,
        cost=came.journal.spent,
        usage=came.journal.usage,
        table=dict(zip(question.columns, draws, strict=False)),
    )


# ``shift baseline``.
BASELINE = Capability(
    verb="shift baseline",
    question=BaselineQuestion,
    answer=answer,
    reads=("truth", "item"),
    door=Door(pivots=False),
)


# Assessments over time: kept in a file, drawn as a curve, and the next one begun from the last.


@dataclass(frozen=True, kw_only=True)
class HistoryResult(Result):
    """All assessments of one API, the oldest first, each as it was reported.

    Parameters
    ----------
    assessments
        As they were written.
    """

    verb: ClassVar[str] = "shift"

    assessments: tuple[dict[str, Any], ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per assessment."""
        return [
            {
                "date": one["date"],
                "accuracy change": one["accuracy_change"]["estimate"],
                "low": (one["accuracy_change"]["interval"] or (None, None))[0],
                "high": (one["accuracy_change"]["interval"] or (None, None))[1],
                "answers changed": one["flip_rate"]["estimate"],
                "calls": one["calls"],
                "cost": one.get("cost", 0.0),
            }
            for one in self.assessments
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the change of accuracy over dates; without true labels, what changed."""
        rows = self.rows()
        known = all(row["accuracy change"] is not None for row in rows)
        y, title = ("accuracy change", "Change of accuracy") if known else ("answers changed",) * 2
        roles = {"x": "date", "y": y} | ({"low": "low", "high": "high"} if known else {})
        columns = {name: [row[name] for row in rows] for name in roles.values()}
        unit: Unit = "points" if known else "share"
        return (Figure("rounds", f"{title} over time", columns, roles, unit=unit),)


def append_history(path: Path, result: ShiftResult, *, on: date) -> None:
    """Add an assessment to the file, one line of JSON; what is there is never rewritten.

    An assessment of another API, of another prompt or on other data is refused.
    """
    check_history(path, (result.api, result.asked_hash, result.data_hash))
    line = to_json({"date": on.isoformat(), **result.to_dict()}) + "\n"
    with _opened(path, "a") as stream:
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())


def read_history(path: Path) -> HistoryResult:
    """Return all assessments of a history file."""
    with _opened(path, "r") as stream:
        lines = stream.read().splitlines()
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines or [""], 1):
        try:
            one = json.loads(line)
            found.append({**one, "date": date.fromisoformat(one["date"]).isoformat()})
        except (ValueError, KeyError, TypeError) as error:
            raise FormatError(f"line {number} of {path} is not an assessment: {error}") from error
    found.sort(key=lambda one: str(one["date"]))
    last = found[-1]
    return HistoryResult(
        verdict=history_verdict(found),
        n_items=int(last["n_items"]),
        assessments=tuple(found),
    )


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[IO[str]]:
    """Open a history, or say why that fails; so does what is done with it."""
    try:
        with path.open(mode, encoding="utf-8") as stream:
            yield stream
    except OSError as error:
        raise FileError(f"the history {path} cannot be used: {error.strerror}") from error


def check_history(path: Path, identity: tuple[str, str, str] | None = None) -> None:
    """Refuse a history that cannot be continued, or is of another API, prompt or data.

    Parameters
    ----------
    path
        The file; a new one takes anything.
    identity
        The API, a digest of what is asked, and a digest of the data; None if not yet known.
    """
    with _opened(path, "a"):
        if not path.stat().st_size:
            return
    last = read_history(path).assessments[-1]
    names = {"api": "the API", "asked_hash": "the request", "data_hash": "the data"}
    for (name, words), now in zip(names.items(), identity or (), strict=False):
        if name in last and last[name] != now:
            raise FormatError(
                f"the history {path} is of another kind: {words} changed. Keep one history per API,"
                " prompt and data set: name another file"
            )


def models_before(history: Path | None, since: Path | None) -> tuple[str, ...]:
    """Return the models that the replies of the last run named, in the order of their appearance.

    Parameters
    ----------
    history
        Earlier assessments, the last of which counts; None, or a file not yet begun.
    since
        The journal of the last run, whose word counts first; None if there is none.
    """
    if since is not None:
        _, answers = read_journal(since)
        named = [one.facts["model"] for one in answers.values() if "model" in one.facts]
        return tuple(dict.fromkeys(named))
    if history is None or not history.exists() or not history.stat().st_size:
        return ()
    usage = read_history(history).assessments[-1].get("usage") or {}
    return tuple(usage.get("models") or ())
