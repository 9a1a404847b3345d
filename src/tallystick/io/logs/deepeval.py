"""Results of deepeval: the test run that it saves as JSON, one test case per item."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.json_rows import content_key, first_of
from tallystick.io.logs.json_text import document
from tallystick.io.logs.log import Log, Scores, number, without_twins
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_deepeval"]

_OPENING = re.compile(r'\{.*"(testCases|test_cases|testRunData)"\s*:', re.DOTALL)
_METRICS = re.compile(r'"(metricsData|metrics_data|metricsMetadata|conversationalTestCases)"')


def read_deepeval(file: File) -> Log:
    """Read one test run: every metric gives its score, and ``METRIC/success`` whether it passed.

    Items are matched by what was asked (the input and the expected output), because deepeval
    numbers its test cases anew in every run.
    """
    held = document(file)
    run = held.get("testRunData", held) if isinstance(held, dict) else {}
    cases = first_of(run, ("testCases", "test_cases")) or []
    cases = [*cases, *(first_of(run, ("conversationalTestCases",)) or [])]
    scores: Scores = {}
    unscored = 0
    for case in cases:
        found = _scored(case)
        unscored += not found
        item = content_key(
            first_of(case, ("input", "turns", "name")),
            first_of(case, ("expectedOutput", "expected_output")),
        )
        for metric, value in found.items():
            scores.setdefault(metric, {}).setdefault(item, []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no test case with a metric's score")
    hyper = run.get("hyperparameters") or {}
    model = first_of(hyper, ("model", "Model"))
    facts = {f"hyperparameters.{key}": f"{key}={value}" for key, value in hyper.items()}
    name = str(model or file.path.stem)
    return Log(name, "", file.name, without_twins(scores, "success"), unscored, facts=facts)


def _scored(case: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric in first_of(case, ("metricsData", "metrics_data", "metricsMetadata")) or ():
        name = str(first_of(metric, ("name", "metric")) or "score")
        score, passed = number(metric.get("score")), metric.get("success")
        if score is not None:
            found[name] = score
        if isinstance(passed, bool):
            found[f"{name}/success"] = float(passed)
    return found


def _opens(head: str) -> bool:
    return _OPENING.match(head) is not None and _METRICS.search(head) is not None


READER = LogReader(
    name="deepeval", read=lambda files: [[read_deepeval(file)] for file in files], opens=_opens
)
