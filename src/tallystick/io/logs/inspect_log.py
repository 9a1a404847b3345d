"""What the two forms of an inspect_ai log share: the header, and the scores of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.sources import File

__all__ = ["VERSION", "inspect_log"]

VERSION = 2
"""The version of the log format that is read; inspect_ai has written it since 2024."""

_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Correct, incorrect, partial, no answer: the numbers inspect_ai itself gives to these letters."""
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Words that inspect_ai itself reads as numbers, in any case."""


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
    groups: dict[str, dict[str, str]] = {}
    unscored = 0
    for sample in samples:
        for key, value in (sample.get("metadata") or {}).items():
            if isinstance(value, str | int) and not isinstance(value, bool):
                groups.setdefault(str(key), {})[str(sample["id"])] = str(value)
        found = {
            key: value
            for scorer, score in (sample.get("scores") or {}).items()
            for key, value in _values(scorer, score.get("value"))
        }
        unscored += not found
        for key, value in found.items():
            scores.setdefault(key, {}).setdefault(str(sample["id"]), []).append(value)
    if not scores:
        raise FileError(
            f"{file.name} holds no score that is a number, one of C, I, P, N, or yes and no"
        )
    run = header["eval"]
    return Log(
        str(run["model"]),
        str(run.get("task", "")),
        file.name,
        scores,
        unscored,
        facts=_facts(header),
        groups=groups,
        reported=_reported(header),
    )


def _facts(header: Mapping[str, Any]) -> dict[str, str]:
    """Return what else names a run: its prompts, then the arguments of its task and solver."""
    facts: dict[str, str] = {}
    for step in (header.get("plan") or {}).get("steps") or ():
        for key, value in (step.get("params") or {}).items():
            if isinstance(value, str) and value.strip():
                facts[f"{step.get('solver')}.{key}"] = value
    run = header["eval"]
    for block in ("task_args", "solver_args"):
        for key, value in (run.get(block) or {}).items():
            facts[f"{block}.{key}"] = f"{key}={value}"
    return facts


def _reported(header: Mapping[str, Any]) -> dict[str, float]:
    """Return the means that inspect_ai reports, whatever reducer made them."""
    found: dict[str, float] = {}
    for score in (header.get("results") or {}).get("scores") or ():
        metrics = score.get("metrics") or {}
        value = number((metrics.get("accuracy") or metrics.get("mean") or {}).get("value"))
        if value is not None:
            found.setdefault(str(score.get("name")), value)
    return found


def _values(scorer: str, value: object) -> list[tuple[str, float]]:
    """Return the numbers of one score: the score itself, or each of its named parts."""
    if isinstance(value, dict):
        return [
            (f"{scorer}/{part}", number_)
            for part, one in value.items()
            for _, number_ in _values("", one)
        ]
    as_number = _of_text(value) if isinstance(value, str) else number(value)
    return [] if as_number is None else [(scorer, as_number)]


def _of_text(value: str) -> float | None:
    """Return the number that inspect_ai gives to a text: a letter, yes or no, or digits."""
    if value in _LETTERS:
        return _LETTERS[value]
    if value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    try:
        return number(float(value))
    except ValueError:
        return None
