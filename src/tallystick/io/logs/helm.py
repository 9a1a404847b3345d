"""Logs of HELM: ``per_instance_stats.json`` in a folder that names the run and the model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.errors import FileError
from tallystick.io.logs.json_text import document
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_helm"]

_OPENING = re.compile(r'\[\s*\{[^\[]*"instance_id"[^\[]*"train_trial_index"', re.DOTALL)

_MODEL = re.compile(r"(?:^|[,:])model=([^,]+)")


def read_helm(file: File) -> Log:
    """Read one run; perturbed instances are left out, trials of an instance are its replicates.

    The model stands only in the name of the folder (``mmlu:subject=…,model=openai_gpt-4``); a
    folder without ``model=`` is itself the name.
    """
    records = document(file)
    scores: Scores = {}
    for record in records:
        if not isinstance(record, dict) or "stats" not in record or "instance_id" not in record:
            raise FileError(
                f"{file.name} is not a list of instances with stats: it is of another version of"
                " HELM"
            )
        if record.get("perturbation") is not None:
            continue
        for stat in record["stats"]:
            value = number(stat.get("mean"))
            if value is None and stat.get("count"):
                value = number(stat["sum"] / stat["count"])
            if value is not None and stat["name"].get("perturbation") is None:
                item = scores.setdefault(str(stat["name"]["name"]), {})
                item.setdefault(str(record["instance_id"]), []).append(value)
    if not scores:
        raise FileError(f"{file.name} holds no score of an unperturbed instance")
    folder = file.path.resolve().parent.name
    found = _MODEL.search(folder)
    task = _MODEL.sub("", folder) if found else ""
    return Log(found[1] if found else folder, task, file.name, scores)


def _read_each(files: Sequence[File]) -> list[list[Log]]:
    return [[read_helm(file)] for file in files]


READER = LogReader(
    name="helm", read=_read_each, opens=lambda head: _OPENING.match(head) is not None
)
