"""Logs of lm-evaluation-harness: ``samples_TASK_DATE.jsonl``, one document a line and filter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tallystick.errors import FileError
from tallystick.io.logs.json_text import each_line
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_lm_eval"]

_OPENING = re.compile(
    r'\{"doc_id":\s*\d+,(.*"(doc_hash|filtered_resps|resps)"|\s*"doc":\s*\{[^\n]*\Z)', re.DOTALL
)
"""The first line may be longer than what is looked at: then it must end inside the document."""

_NAME = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl(\.gz)?")
_NEEDED = ("doc_hash", "filter", "metrics")
_GROUPS = (
    "subject",
    "category",
    "topic",
    "domain",
    "group",
    "type",
    "level",
    "source",
    "document",
    "passage_id",
    "story_id",
    "language",
)
"""Fields of a document that name the group of a question, in the tasks of the harness."""


def read_lm_eval(files: Sequence[File]) -> list[Log]:
    """Read the logs; items are told apart by ``doc_hash``, scores by ``METRIC,FILTER`` as the
    harness prints them.

    The harness writes a folder a model and does not name the model inside: files in different
    folders are called after their folder, files in one folder after themselves.
    """
    folders = {file.path.parent.resolve() for file in files}
    return [_read(file, by_folder=len(folders) > 1 or _told_by_task(files)) for file in files]


def _told_by_task(files: Sequence[File]) -> bool:
    """Say whether files of one folder are one model's: each is named for another task."""
    tasks = [_task(file.path) for file in files]
    return None not in tasks and len(set(tasks)) == len(tasks)


def _task(path: Path) -> str | None:
    found = _NAME.fullmatch(path.name)
    return found["task"] if found else None


def _read(file: File, *, by_folder: bool) -> Log:
    scores: Scores = {}
    groups: dict[str, dict[str, str]] = {}
    unscored = 0
    for line, sample in each_line(file):
        lacking = [key for key in _NEEDED if key not in sample]
        if lacking:
            raise FileError(
                f"{file.name}, line {line} has no {lacking[0]!r}: it was written by another version"
                " of lm-eval (0.4.3 or newer is read); run it again, or make a table with one"
                " column per model"
            )
        doc = sample.get("doc")
        named = doc if isinstance(doc, dict) else {}
        for key in _GROUPS:
            if isinstance(named.get(key), str | int):
                groups.setdefault(key, {})[sample["doc_hash"]] = str(named[key])
        scored = False
        for metric in sample["metrics"]:
            value = number(sample.get(metric))
            if value is not None:
                scored = True
                key = metric if sample["filter"] == "none" else f"{metric},{sample['filter']}"
                scores.setdefault(key, {}).setdefault(sample["doc_hash"], []).append(value)
        unscored += not scored
    if not scores:
        raise FileError(f"{file.name} holds no score that is a number")
    task = _task(file.path)
    model = (
        file.path.parent.resolve().name
        if by_folder
        else file.path.name.removesuffix(".gz").removesuffix(".jsonl")
    )
    return Log(model, task or "" if by_folder else "", file.name, scores, unscored, groups=groups)


def _read_all(files: Sequence[File]) -> list[list[Log]]:
    return [[log] for log in read_lm_eval(files)]


READER = LogReader(
    name="lm-eval", read=_read_all, opens=lambda head: _OPENING.match(head) is not None
)
