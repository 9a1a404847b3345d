"""Write ``src/tallystick/__init__.pyi``: what editors and type checkers see of the verbs.

``python -m docs.signatures`` writes the file; a test holds it to the declarations. Nobody forwards
a list of keywords by hand, so none can be lost.
"""

from __future__ import annotations

import re
from pathlib import Path

import tallystick
from tallystick.registry import FUNCTIONS, capability, keywords

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
    "dynamic": "AnalyseResult",
}
"""Function to the class of its result."""

_KNOWN = re.compile(r"str|int|float|bool|None|tuple|Mapping|Sequence|Path|Any")


def stub() -> str:
    """Return the text of the stub."""
    names = {
        f"from tallystick.{room} import {name} as {name}" for name, room in tallystick._HOME.items()
    }
    lines = sorted(names)
    lines += [
        "from tallystick.verbs.audit import audit as audit",
        "from tallystick.verbs.label import label as label",
        "from tallystick.verbs.look import look as look",
    ]
    for function, verb in FUNCTIONS.items():
        room = capability(verb).answer.__module__.rpartition(".")[0]
        lines.append(f"from {room} import {RESULTS[function]}")
    shown = [f'    "{name}",' for name in tallystick.__all__]
    lines += ["", "__all__ = [", *shown, "]", "", "__version__: str", ""]
    for function, verb in FUNCTIONS.items():
        asked = capability(verb)
        given = "data: Any" if asked.input == "required" else "data: Any = None"
        lines += [f"def {function}(", f"    {given},", "    *,"]
        lines += [f"    {one.name}: {_type(one.type)} = ...," for one in keywords(asked)]
        lines += [f") -> {RESULTS[function]}:", f'    """{asked.summary}"""', ""]
    return HEAD + "\n".join(lines)


def _type(written: str) -> str:
    """Return a type as written if the stub can say it, Any otherwise."""
    words = re.findall(r"[A-Za-z_]+", written)
    if not all(_KNOWN.fullmatch(word) for word in words):
        return "Any"
    # One name may stand for a group of one, and a path may be text.
    return written.replace("Path", "str | Path").replace("tuple[str, ...]", "str | Sequence[str]")


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
