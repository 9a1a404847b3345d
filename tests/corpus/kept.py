"""What is kept of an answer: exit code, decision, verdict, a few words and the numbers.

The numbers of an answer stand by the path of their field, in the order of the answer. A long list
is kept as its length, its first numbers, its sum and its sum of squares.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["ANSWERS", "differences", "load", "reduced", "same", "save", "short"]

ANSWERS = Path(__file__).resolve().parent / "answers"
RELATIVE, ABSOLUTE = 2e-5, 1e-9
"""How far a number may be from the kept one; the second is for what should be zero.

Five digits: fits that end by a tolerance differ in the seventh between processors, because BLAS sums
in another order, and where a likelihood is flat in the sixth. A reader sees three.
"""

LONG, FIRST = 16, 3

ASIDE = {
    *(
        "schema",
        "verb",
        "verdict",
        "decision",
        "seed",
        "assumptions",
        "notes",
        "unknown",
        "reading",
    ),
    *("as_of", "command", "asked_hash", "data_hash", "hash", "session", "version", "at"),
}
"""Fields that are kept elsewhere, or that say how and when, not what."""

SAID = {"notes", "assumptions", "unknown", "schema", "reading"}
"""Fields that are kept elsewhere wherever they stand."""

TIMES = {"latency", "slowest"}
"""Fields that are other ones at every run."""

WORDS = {
    *("name", "a", "b", "verdict", "decision", "contenders", "tiers", "leader", "rivals", "best"),
    *("stop", "method", "positive", "classes", "labels", "better", "population", "metric"),
    *("item", "system", "column", "verb", "columns", "consensus", "change", "judge", "of"),
}
"""Fields whose words belong to the answer."""


def reduced(answer: Any) -> dict[str, Any]:
    """Return what is kept of one JSON object."""
    numbers: dict[str, list[Any]] = {}
    words: dict[str, list[str]] = {}
    _walk(answer, "", "", numbers, words)
    kept: dict[str, Any] = {}
    if isinstance(answer, Mapping):
        kept = {key: answer[key] for key in ("decision", "verdict") if answer.get(key) is not None}
    return {
        **kept,
        "words": {path: _repeated(said) for path, said in words.items()},
        "numbers": {
            path: short(column)
            for path, column in numbers.items()
            if any(one is not None for one in column)
        },
    }


def _walk(value: Any, path: str, field: str, numbers: Any, words: Any) -> None:
    """Put every number and every word that is kept under the path of its field."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if path == "" and key in ASIDE:
                continue
            if key == "warnings":
                numbers.setdefault(f"{path}warnings", []).append(len(inner))
            elif key not in TIMES and key not in SAID:
                _walk(inner, f"{path}{key}.", key, numbers, words)
    elif isinstance(value, list):
        for inner in value:
            _walk(inner, path, field, numbers, words)
    elif isinstance(value, str):
        if field.endswith("guarantee"):
            promise = f"guarantees.{value[:40]}"
            numbers[promise] = [numbers.get(promise, [0])[0] + 1]
        elif field in WORDS:
            words.setdefault(path.rstrip("."), []).append(value)
    else:
        numbers.setdefault(path.rstrip("."), []).append(_number(value))


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return float(f"{value:.13g}") if isinstance(value, float) else value


def short(column: list[Any]) -> Any:
    """Return a list of numbers as it is kept."""
    if len(column) == 1:
        return column[0]
    if len(column) <= LONG:
        return column
    known = [float(one) for one in column if one is not None]
    return {
        "n": len(column),
        "first": column[:FIRST],
        "sum": _number(math.fsum(known)),
        "squares": _number(math.fsum(one * one for one in known)),
    }


def _repeated(said: list[str]) -> Any:
    """Return one word for many that are equal, and the first of many others."""
    if len(set(said)) == 1:
        return said[0] if len(said) == 1 else f"{len(said)} x {said[0]}"
    return said if len(said) <= LONG else [f"{len(said)} words", *said[:FIRST]]


def differences(kept: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Say where an answer differs from the kept one; nothing if it does not."""
    lines = []
    for key in ("exit", "decision", "verdict", "text"):
        if kept.get(key) != found.get(key):
            lines.append(f"{key}: {kept.get(key)!r} -> {found.get(key)!r}")
    for part in ("words", "numbers"):
        old, new = kept.get(part, {}), found.get(part, {})
        for path in [*old, *(path for path in new if path not in old)]:
            if path not in new:
                lines.append(f"- {path} {_shown(old[path])}")
            elif path not in old:
                lines.append(f"+ {path} {_shown(new[path])}")
            elif not same(old[path], new[path]):
                lines.append(f"{path}: {_shown(old[path])} -> {_shown(new[path])}")
    return lines


def same(a: Any, b: Any) -> bool:
    """Say whether two kept values are equal, numbers to five digits."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) or (a != a and b != b)
    return bool(a == b)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:157] + "..."


def load(folder: Path = ANSWERS) -> dict[str, dict[str, Any]]:
    """Return every kept answer by the name of its pair."""
    return {
        line["pair"]: line
        for path in sorted(folder.glob("*.jsonl"))
        for line in map(json.loads, path.read_text(encoding="ascii").splitlines())
    }


def save(answers: Iterable[tuple[str, Mapping[str, Any]]], folder: Path = ANSWERS) -> None:
    """Write answers, given with their verbs: one file per verb, one line per pair."""
    by_verb: dict[str, list[str]] = {}
    for verb, answer in answers:
        by_verb.setdefault(verb, []).append(json.dumps(answer, separators=(",", ":")))
    folder.mkdir(exist_ok=True)
    for path in folder.glob("*.jsonl"):
        path.unlink()
    for verb, lines in by_verb.items():
        (folder / f"{verb}.jsonl").write_text("\n".join(lines) + "\n", encoding="ascii")
