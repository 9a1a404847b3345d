"""Write ``src/tallystick/__init__.pyi``: what editors and type checkers see of the verbs.

``python -m docs.signatures`` writes the file; a test holds it to the declarations. Nobody forwards
a list of keywords by hand, so none can be lost.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import tallystick
from tallystick.registry import FUNCTIONS, capability, keywords, summary

STUB = Path(tallystick.__file__).with_name("__init__.pyi")

HEAD = '''"""Made by ``python -m docs.signatures``: change the declarations instead."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

'''

RESULTS = {
    "score": "ScoreResult",
    "compare": "CompareResult",
    "plan": "PlanResult",
    "judge": "JudgeResult",
    "bound": "BoundResult",
    "shift": "ShiftResult",
    "ask": "AskResult",
    "dynamic": "LogResult | AttemptResult",
}
"""Function to the class of its result."""

_KNOWN = re.compile(r"str|int|float|bool|None|tuple|Mapping|Sequence|Path|Any")


if TYPE_CHECKING:
    # A misspelt keyword is found by a type checker: strict mypy reports an ignore that is unused.
    tallystick.judge("votes.csv", jugdes=["gpt"])  # type: ignore[call-arg]
    tallystick.score("votes.csv", thruth="gold")  # type: ignore[call-arg]
    tallystick.compare("votes.csv", metrics="f1")  # type: ignore[call-arg]


def stub() -> str:
    """Return the text of the stub."""
    again: dict[str, list[str]] = {}
    results: dict[str, list[str]] = {}
    for name, room in vars(tallystick)["_HOME"].items():
        again.setdefault(f"tallystick.{room}", []).append(f"{name} as {name}")
    for verb in ("audit", "label", "look"):
        again.setdefault(f"tallystick.verbs.{verb}", []).append(f"{verb} as {verb}")
    for function, verb in FUNCTIONS.items():
        room = capability(verb).answer.__module__.rpartition(".")[0]
        results.setdefault(room, []).extend(RESULTS[function].split(" | "))

    # In the order of a linter: names that are passed on stand on lines of their own.
    lines = []
    for room in sorted({*again, *results}):
        lines += [f"from {room} import {name}" for name in sorted(again.get(room, []))]
        own = ", ".join(sorted(results.get(room, [])))
        lines += [f"from {room} import {own}"] if own else []
    shown = [f'    "{name}",' for name in tallystick.__all__]
    lines += ["", "__all__ = [", *shown, "]", "", "__version__: str", ""]
    for function, verb in FUNCTIONS.items():
        asked = capability(verb)
        given = "data: Any" if asked.input == "required" else "data: Any = None"
        lines += [f"def {function}(", f"    {given},", "    *,"]
        lines += [f"    {one.name}: {_type(one.type)} = ...," for one in keywords(asked)]
        lines += [f") -> {RESULTS[function]}:", f'    """{summary(verb)}"""', ""]
    return HEAD + "\n".join(lines)


def _type(written: str) -> str:
    """Return a type as written if the stub can say it, Any otherwise."""
    words = re.findall(r"[A-Za-z_]+", written)
    if not all(_KNOWN.fullmatch(word) for word in words):
        return "Any"
    # One name may stand for a group of one, and a path may be text.
    found = written.replace("tuple[str, ...]", "str | Sequence[str]")
    return found if "str" in words else found.replace("Path", "str | Path")


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
