"""Results of ragas: ``result.to_pandas()`` as CSV or JSON, and the list of scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.csv_rows import csv_header, csv_rows
from tallystick.io.logs.json_rows import content_key, first_of, json_rows
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_ragas"]

_ASKED = ("user_input", "question")
_TEXTS = frozenset(
    {
        "user_input",
        "question",
        "response",
        "answer",
        "contexts",
        "retrieved_contexts",
        "reference",
        "reference_contexts",
        "ground_truth",
        "ground_truths",
        "rubrics",
    }
)
"""Columns that ragas copies from the data set; every other column is a metric."""
_OPENING = re.compile(r'[\[{][^\[{]*\{?\s*"(user_input|question)"\s*:')
_KNOWN = (
    "faithfulness",
    "answer_relevancy",
    "context_precision",
    "context_recall",
    "answer_correctness",
    "factual_correctness",
    "semantic_similarity",
    "answer_similarity",
    "context_entity_recall",
    "noise_sensitivity",
    "exact_match",
    "string_present",
    "non_llm_string_similarity",
    "bleu_score",
    "rouge_score",
)
"""Metrics of ragas, one of which its results have."""


def read_ragas(file: File) -> Log:
    """Read one result; items are matched by what was asked, and by the reference if there is one.

    A metric without a number (ragas writes NaN where a grader failed) has no score.
    """
    rows: Iterable[Mapping[str, Any]]
    if file.name.lower().removesuffix(".gz").endswith(".csv"):
        rows = csv_rows(file)
    else:
        rows = (row for _, row in json_rows(file, "scores", "data"))
    scores: Scores = {}
    unscored = 0
    for row in rows:
        item = content_key(first_of(row, _ASKED), first_of(row, ("reference", "ground_truth")))
        found = {name: _number(value) for name, value in row.items() if name not in _TEXTS}
        known = {name: value for name, value in found.items() if name and value is not None}
        unscored += not known
        for name, value in known.items():
            scores.setdefault(name, {}).setdefault(item, []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no metric with a number")
    return Log(file.path.name.partition(".")[0], "", file.name, scores, unscored)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return number(float(value))
        except ValueError:
            return None
    return number(value)


def _opens(head: str) -> bool:
    header = csv_header(head)
    if header:
        return bool(set(header) & set(_ASKED)) and any(name.startswith(_KNOWN) for name in header)
    return _OPENING.match(head) is not None and any(f'"{name}' in head for name in _KNOWN)


READER = LogReader(
    name="ragas", read=lambda files: [[read_ragas(file)] for file in files], opens=_opens
)
