"""Output items of OpenAI's evals API: what each grader said of each item of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.json_rows import json_rows
from tallystick.io.logs.log import Log, Scores, number, without_twins
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_openai_api"]


def read_openai_api(file: File) -> list[Log]:
    """Read output items as one log per run: a grader's ``score``, and ``GRADER/passed``.

    Items are matched by the identifier of the data source item. Items that failed have no score.
    """
    runs: dict[str, Scores] = {}
    unscored: dict[str, int] = {}
    models: dict[str, str] = {}
    for place, row in json_rows(file, "data"):
        if "datasource_item_id" not in row:
            raise FileError(
                f"{file.name}, {place} has no datasource_item_id: it is not an output item"
            )
        run = str(row.get("run_id", ""))
        sample = row.get("sample")
        models.setdefault(run, str((sample or {}).get("model") or file.path.stem))
        found = _scored(row)
        unscored[run] = unscored.get(run, 0) + (not found)
        held = runs.setdefault(run, {})
        for name, value in found.items():
            held.setdefault(name, {}).setdefault(str(row["datasource_item_id"]), []).append(value)
    logs = [
        Log(
            models[run],
            "",
            file.name,
            without_twins(held, "passed"),
            unscored[run],
            facts={"run": run},
        )
        for run, held in runs.items()
        if held
    ]
    if not logs:
        raise FileError(f"{file.name} holds no result of a grader")
    return logs


def _scored(row: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for one in row.get("results") or ():
        name = str(one.get("name", "score"))
        score, passed = number(one.get("score")), one.get("passed")
        if score is not None:
            found[name] = score
        if isinstance(passed, bool):
            found[f"{name}/passed"] = float(passed)
    return found


READER = LogReader(
    name="openai-api",
    read=lambda files: [read_openai_api(file) for file in files],
    opens=lambda head: '"eval.run.output_item"' in head or '"datasource_item_id"' in head,
)
