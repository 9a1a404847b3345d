"""Reports of garak: what each probe tried on a model, and what its detectors scored."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.json_text import each_line
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_garak"]

_REPORT = re.compile(r'\{[^\n]*"entry_type"\s*:\s*"(start_run setup|init|attempt|config)"')
_HIT = re.compile(
    r'\{[^\n]*"detector"\s*:[^\n]*"attempt_id"|\{[^\n]*"attempt_id"[^\n]*"detector"\s*:'
)
_EVALUATED = 2


def read_garak(files: Sequence[File]) -> dict[str, list[Any]]:
    """Return one row per output of an evaluated attempt.

    An output is a hit if some detector scores it at the run's threshold (0.5 by default) or above.
    The probe stands for the annotator, because the attempts of one probe are alike; every file is a
    round.
    """
    names = ("item", "probe", "round", "model", "hit")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for number, file in enumerate(files, start=1):
        model, threshold = "model", 0.5
        for _, entry in each_line(file):
            kind = entry.get("entry_type")
            if kind is None and "detector" in entry:
                raise FileError(
                    f"{file.name} is a hit log of garak, which holds only the attempts that"
                    " succeeded: a rate needs all of them. Give the report beside it"
                    " (garak.….report.jsonl)"
                )
            if kind == "start_run setup":
                model = str(
                    entry.get("plugins.target_name") or entry.get("plugins.model_name") or model
                )
                threshold = float(entry.get("run.eval_threshold") or threshold)
            if kind != "attempt" or entry.get("status") != _EVALUATED:
                continue
            for place, hit in enumerate(_hits(entry, threshold)):
                row = (f"{entry.get('uuid')}.{place}", entry.get("probe_classname"), number)
                for name, value in zip(names, (*row, model, hit), strict=True):
                    columns[name].append(value)
    if not columns["item"]:
        raise FileError(
            f"{files[0].name} holds no evaluated attempt (status 2): the scan did not finish"
        )
    return {name: [str(cell) for cell in cells] for name, cells in columns.items()}


def _hits(entry: Mapping[str, Any], threshold: float) -> list[bool]:
    """Return for each output whether a detector caught it; None scores are no verdict."""
    scores = [held for held in (entry.get("detector_results") or {}).values() if held]
    count = max((len(held) for held in scores), default=0)
    return [
        any(
            place < len(held) and held[place] is not None and held[place] >= threshold
            for held in scores
        )
        for place in range(count)
    ]


def _opens(head: str) -> bool:
    return _REPORT.match(head) is not None or _HIT.match(head) is not None


READER = LogReader(name="garak", rows=read_garak, opens=_opens)
