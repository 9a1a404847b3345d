"""Results of promptfoo: one file holds every provider and prompt."""

from __future__ import annotations

import json
from typing import Any

from tallystick.errors import FileError
from tallystick.io.logs.json_text import document
from tallystick.io.logs.log import Log, Scores, number
from tallystick.io.sources import File

__all__ = ["read_promptfoo"]

VERSION = 3


def read_promptfoo(file: File) -> list[Log]:
    """Read one file as one log a provider (and prompt, if there are several); items are told apart by their variables.

    Scores: ``success`` (passed or not), ``score`` (in [0, 1]) and every named score.
    """
    held = document(file).get("results")
    if not isinstance(held, dict) or held.get("version") != VERSION:
        found = held.get("version") if isinstance(held, dict) else None
        raise FileError(f"{file.name} is of version {found!r} of promptfoo's results, version {VERSION} is read")
    rows = held["results"]
    prompts = {row.get("promptIdx", 0) for row in rows}
    found_scores: dict[str, Scores] = {}
    unscored: dict[str, int] = {}
    for row in rows:
        model = _provider(row["provider"]) + (f" prompt {row['promptIdx']}" if len(prompts) > 1 else "")
        scores = found_scores.setdefault(model, {})
        if row.get("failureReason") == 2:  # the call failed: that is no score
            unscored[model] = unscored.get(model, 0) + 1
            continue
        item = json.dumps(row.get("vars") or row.get("testIdx"), sort_keys=True, ensure_ascii=False)
        given = {"success": row.get("success"), "score": row.get("score"), **(row.get("namedScores") or {})}
        for key, value in given.items():
            as_number = number(value)
            if as_number is not None:
                scores.setdefault(key, {}).setdefault(item, []).append(as_number)
    return [Log(model, "", file.name, scores, unscored.get(model, 0)) for model, scores in found_scores.items()]


def _provider(provider: Any) -> str:
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id"))
    return str(provider)
