"""Experiments of Arize Phoenix, from its JSON download: one record per run of an example."""

from __future__ import annotations

import re

from tallystick.errors import FileError
from tallystick.io.logs.json_rows import json_rows
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_phoenix"]

_OPENING = re.compile(r'\[\s*\{[^\[]*"example_id"', re.DOTALL)


def read_phoenix(file: File) -> Log:
    """Read one experiment: every annotation with a score is a metric, repetitions are replicates.

    ``latency_ms`` is a metric too.
    """
    scores: Scores = {}
    unscored = 0
    for place, row in json_rows(file):
        if "example_id" not in row:
            raise FileError(
                f"{file.name}, {place} has no example_id: it is not a Phoenix experiment"
            )
        found = {
            str(one.get("name")): value
            for one in row.get("annotations") or ()
            if (value := number(one.get("score"))) is not None
        }
        unscored += not found
        latency = number(row.get("latency_ms"))
        if latency is not None:
            found["latency_ms"] = latency
        for name, value in found.items():
            scores.setdefault(name, {}).setdefault(str(row["example_id"]), []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no annotation with a score")
    return Log(file.path.name.partition(".")[0], "", file.name, scores, unscored)


READER = LogReader(
    name="phoenix",
    read=lambda files: [[read_phoenix(file)] for file in files],
    opens=lambda head: _OPENING.match(head) is not None and '"annotations"' in head,
)
