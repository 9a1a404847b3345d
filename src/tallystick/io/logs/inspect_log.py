"""What the two forms of an inspect_ai log share: the header, and the scores of a sample."""

from __future__ import annotations

from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.sources import File

__all__ = ["VERSION", "inspect_log"]

VERSION = 2
"""The version of the log format that is read; inspect_ai has written it since 2024."""

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer: the numbers inspect_ai itself gives to these letters."""


def inspect_log(file: File, header: Any, samples: Any) -> Log:
    """Return the log of *header* and *samples*; a run that did not succeed is refused."""
    if not isinstance(header, dict) or header.get("version") != VERSION:
        found = header.get("version") if isinstance(header, dict) else None
        raise FileError(
            f"{file.name} is an inspect_ai log of version {found!r}, version {VERSION} is read:"
            " convert it with 'inspect log convert'"
        )
    if header.get("status") != "success":
        raise FileError(
            f"{file.name} is the log of a run that ended with {header.get('status')!r}: the items"
            " it scored are not a fair sample; finish it with 'inspect eval-retry'"
        )
    scores: Scores = {}
    unscored = 0
    for sample in samples:
        found = {
            key: value
            for scorer, score in (sample.get("scores") or {}).items()
            for key, value in _values(scorer, score.get("value"))
        }
        unscored += not found
        for key, value in found.items():
            scores.setdefault(key, {}).setdefault(str(sample["id"]), []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no score that is a number or one of C, I, P, N")
    run = header["eval"]
    return Log(str(run["model"]), str(run.get("task", "")), file.name, scores, unscored)


def _values(scorer: str, value: object) -> list[tuple[str, float]]:
    """Return the numbers of one score: the score itself, or each of its named parts."""
    if isinstance(value, dict):
        return [
            (f"{scorer}/{part}", number_)
            for part, one in value.items()
            for _, number_ in _values("", one)
        ]
    as_number = _LETTERS.get(value) if isinstance(value, str) else number(value)
    return [] if as_number is None else [(scorer, as_number)]
