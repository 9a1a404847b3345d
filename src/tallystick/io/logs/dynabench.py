"""Exports of Dynabench: one object per attempt, with the votes of its validators inside."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.io.logs.json_rows import first_of, json_rows
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_dynabench"]

_MARKS = re.compile(r'"model_wrong"\s*:')
_OWN = re.compile(r'"(anon_uid|metadata_json|validations|target_pred)"\s*:')
_VOTES = {"correct": "yes", "incorrect": "no"}


def read_dynabench(files: Sequence[File]) -> dict[str, list[Any]]:
    """Return one row per attempt: annotator, round, model, whether it was wrong, and the votes.

    A validator who flags an item casts no vote on its label. Attempts without an annotator are kept
    out of nothing: the export itself leaves them out.
    """
    names = ("item", "annotator", "round", "model", "model_wrong", "retracted")
    columns: dict[str, list[Any]] = {
        name: [] for name in (*names, "votes_yes", "votes_no", "seconds", "created_at")
    }
    for file in files:
        for _, row in json_rows(file):
            votes = [_vote(one) for one in row.get("validations") or ()]
            own = {
                "item": first_of(row, ("id", "eid", "uuid")),
                "annotator": _annotator(row),
                "round": _round(row),
                "model": first_of(row, ("target_model", "model_endpoint_name", "model")),
                "model_wrong": row.get("model_wrong"),
                "retracted": bool(row.get("retracted")),
                "votes_yes": votes.count("yes"),
                "votes_no": votes.count("no"),
                "seconds": row.get("time_elapsed"),
                "created_at": row.get("generated_datetime"),
            }
            for name, value in own.items():
                columns[name].append(None if value is None else str(value))
    return {name: cells for name, cells in columns.items() if any(c is not None for c in cells)}


def _annotator(row: Mapping[str, Any]) -> Any:
    named = first_of(row, ("anon_uid", "uid", "annotator_id"))
    return named if named is not None else _inside(row.get("metadata_json")).get("annotator_id")


def _round(row: Mapping[str, Any]) -> Any:
    direct = first_of(row, ("round", "rid", "round_id"))
    context = row.get("context")
    if direct is None and isinstance(context, Mapping):
        direct = first_of(context, ("rid", "round", "r_realid"))
    return direct if direct is not None else row.get("r_realid")


def _inside(text: Any) -> Mapping[str, Any]:
    """Return the object that a cell of JSON text holds; an empty one if it holds none."""
    try:
        held = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return held if isinstance(held, Mapping) else {}


def _vote(validation: Any) -> str | None:
    """Return yes or no of one validation, [label, mode, validator] or an object."""
    label = validation[0] if isinstance(validation, list) and validation else validation
    if isinstance(label, Mapping):
        label = label.get("label")
    return _VOTES.get(str(label).lower())


def _opens(head: str) -> bool:
    return head[:1] in "[{" and bool(_MARKS.search(head) and _OWN.search(head))


READER = LogReader(name="dynabench", rows=read_dynabench, opens=_opens)
