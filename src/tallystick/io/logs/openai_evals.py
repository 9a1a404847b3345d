"""Logs of OpenAI evals: a line with the spec, then one event a line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.json_text import each_line
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_openai_evals"]

_OPENING = re.compile(r'\{"spec":\s*\{[^\n]*"(completion_fns|eval_name)"')


def read_openai_evals(file: File) -> Log:
    """Read one run: ``match`` events score 1 where they are correct, ``metrics`` events score by
    their names.
    """
    spec: dict[str, Any] | None = None
    scores: Scores = {}
    finished = False
    for line, event in each_line(file):
        if "spec" in event:
            spec = event["spec"]
        finished = finished or "final_report" in event
        for key, value in _scored(event):
            sample = event.get("sample_id")
            if sample is None:
                raise FileError(
                    f"{file.name}, line {line} has a score but no sample_id: it is of another"
                    " version"
                )
            scores.setdefault(key, {}).setdefault(str(sample), []).append(value)
    if spec is None or not scores:
        raise FileError(
            f"{file.name} holds no spec with match or metrics events: only such evals can be"
            " compared"
        )
    if not finished:
        raise FileError(f"{file.name} has no final report: the run did not finish; run it again")
    names = spec.get("completion_fns") or [spec.get("model_name", "model")]
    return Log(
        "+".join(str(name) for name in names), str(spec.get("base_eval", "")), file.name, scores
    )


def _scored(event: dict[str, Any]) -> list[tuple[str, float]]:
    data = event.get("data")
    if not isinstance(data, dict):
        return []
    if event.get("type") == "match":
        value = number(data.get("correct"))
        return [] if value is None else [("match", value)]
    if event.get("type") == "metrics":
        return [(key, value) for key, one in data.items() if (value := number(one)) is not None]
    return []


def _read_each(files: Sequence[File]) -> list[list[Log]]:
    return [[read_openai_evals(file)] for file in files]


READER = LogReader(
    name="openai-evals", read=_read_each, opens=lambda head: _OPENING.match(head) is not None
)
