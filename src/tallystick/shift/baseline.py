"""``tallystick shift baseline``: the first measurement of an API, with its own noise.

Each item is asked K times. One more old run is the best cure for noise: with it, a later `shift`
measures how noisy the old API was instead of assuming it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tallystick.clients import (
    KINDS,
    UNREAD,
    Client,
    ClientQuestion,
    Reading,
    Usage,
    client_of,
    usage_warnings,
)
from tallystick.clients.gather import Gathered, Questions, gather
from tallystick.data import Capability, Data, Door, answered, option
from tallystick.errors import InputError
from tallystick.io import write_csv
from tallystick.results import Interval, Result, Unknown
from tallystick.shift.old_draws import old_noise
from tallystick.shift.prepare import client_columns
from tallystick.shift.result import Change
from tallystick.shift.verdict import baseline_verdict
from tallystick.shift.verdict_notes import baseline_warnings
from tallystick.values import whole

__all__ = ["BASELINE", "BaselineQuestion", "BaselineResult", "baseline"]

_API = f"Whom to ask: {', '.join(kind.example for kind in KINDS)}."
_PRIVATE = {"private": True}


@dataclass(frozen=True, kw_only=True)
class BaselineQuestion(ClientQuestion):
    """The first measurement of an API: every item, K times."""

    api: str | Client | None = option(None, _API)
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.out, str):
            object.__setattr__(self, "out", Path(self.out))

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
    if question.api is None:
        raise InputError("name the API to measure (--api)")
    truth = data.roles.truth
    words = data.label_lists(truth)[truth] if truth is not None else []
    labels = tuple(str(whole(label)) for label in data.rules.labels) or tuple(
        sorted({str(word) for word in words if word is not None})
    )
    columns = client_columns(data)
    for name in question.columns:
        if name in columns:
            raise InputError(f"{data.source} has a column {name!r} already: name another (--as)")
    cells = data.cells(*columns)
    item, number = data.roles.item, data.n_rows
    spec = question.client_spec(columns, labels)
    client = (
        question.api if isinstance(question.api, Client) else client_of(str(question.api), spec)
    )
    questions = Questions(
        names=[str(whole(cells[item][n])) if item is not None else str(n) for n in range(number)],
        rows=[{name: cells[name][n] for name in columns} for n in range(number)],
        draws=1 if client.recorded else question.repeats,
        reading=Reading(question.answer or "exact", data.rules.coerce),
        labels=labels or None,
        wire=question.wire(),
        journal=question.journal,
        durable=question.durable,
    )
    with (question.progress or nullcontext)() as show:
        came = gather(client, questions, progress=show)
    result = _result(data, question, questions, came, [str(word) for word in words])
    if question.out is not None:
        write_csv(question.out, {**cells, **result.table})
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
    unstable: float | Unknown = Unknown("each item was asked once")
    if asked.draws > 1 and whole_rows:
        unstable = float(np.mean([len({one[row] for one in draws}) > 1 for row in whole_rows]))
    known = [row for row in whole_rows if truth and truth[row] != "None"]
    accuracy = Change(estimate=Unknown("there are no true labels"), interval=None)
    noise: float | Unknown = Unknown("each item was asked once")
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
                method="noise of the draws, these items",
            )
        accuracy = Change(estimate=mean, interval=interval)
    unread = sum(label == UNREAD for label in read.values())
    return BaselineResult(
        verdict=baseline_verdict(accuracy, unstable, items=data.n_rows, draws=asked.draws),
        n_items=data.n_rows,
        warnings=(
            *baseline_warnings(asked.draws, unread=unread, failed=came.failed, answers=len(read)),
            *usage_warnings(came.usage),
        ),
        columns=question.columns[: asked.draws],
        accuracy=accuracy,
        unstable=unstable,
        noise=noise,
        calls=len(read),
        unread=unread,
        failed=came.failed,
        cost=came.spent,
        usage=came.usage,
        table=dict(zip(question.columns, draws, strict=False)),
    )


BASELINE = Capability(
    verb="shift baseline",
    summary="Record what an API answers now, several times per item, to compare with later.",
    question=BaselineQuestion,
    answer=answer,
    reads=("truth", "item"),
    door=Door(pivots=False),
)
"""``shift baseline``."""
