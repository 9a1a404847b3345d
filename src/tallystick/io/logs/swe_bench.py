"""Reports of the SWE-bench harness: which instances a model's patches resolved."""

from __future__ import annotations

import re
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.json_text import document
from tallystick.io.logs.log import Log
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_swe_bench"]

_OPENING = re.compile(r'\{.*"(resolved_ids|resolved_instances|resolved)"\s*:', re.DOTALL)
_LISTS = ("submitted_ids", "completed_ids", "unresolved_ids", "error_ids", "empty_patch_ids")


def read_swe_bench(file: File) -> Log:
    """Read one report; an instance that was submitted and not resolved counts 0.

    The file of the harness is called ``MODEL.RUN_ID.json``; the repository of an instance is
    offered as its group.
    """
    held = document(file)
    resolved = _resolved(held)
    if not resolved:
        raise FileError(
            f"{file.name} names no instance as resolved or not: it is not a SWE-bench report"
        )
    groups = {"repository": {one: one.rpartition("-")[0].replace("__", "/") for one in resolved}}
    scores = {"resolved": {one: [value] for one, value in resolved.items()}}
    parts = file.path.name.removesuffix(".gz").removesuffix(".json").split(".")
    # The harness writes "/" in the name of a model as "__".
    model = parts[0].replace("__", "/") if len(parts) > 1 else parts[0]
    facts = {"run": ".".join(parts[1:])}
    return Log(model, "", file.name, scores, facts=facts, groups=groups)


def _resolved(held: Any) -> dict[str, float]:
    if not isinstance(held, dict):
        return {}
    if isinstance(held.get("resolved_ids"), list):
        every = [one for name in _LISTS for one in held.get(name) or ()]
        found = dict.fromkeys(map(str, every), 0.0)
        return found | dict.fromkeys(map(str, held["resolved_ids"]), 1.0)
    if isinstance(held.get("resolved"), list):  # the form of the leaderboard's results.json
        every = [one for value in held.values() if isinstance(value, list) for one in value]
        found = dict.fromkeys(map(str, every), 0.0)
        return found | dict.fromkeys(map(str, held["resolved"]), 1.0)
    # report.json of single instances: {"repo__name-1": {"resolved": true, …}}
    return {
        str(name): float(one["resolved"])
        for name, one in held.items()
        if isinstance(one, dict) and isinstance(one.get("resolved"), bool)
    }


def _opens(head: str) -> bool:
    if _OPENING.match(head) is None:
        return False
    lists = '"resolved_ids"' in head or '"no_generation"' in head or '"no_logs"' in head
    return lists or re.search(r'"\w+__[\w.-]+-\d+"\s*:\s*\{', head) is not None


READER = LogReader(
    name="swe-bench", read=lambda files: [[read_swe_bench(file)] for file in files], opens=_opens
)
