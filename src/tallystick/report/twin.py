"""The JSON twin that a page carries: all of the result, or nothing if it would make the page too
long.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.results import Result, to_json

__all__ = ["MOST_JSON", "twin"]

MOST_JSON = 700_000
"""Bytes of JSON that a page carries; a longer one is asked for by ``--json``."""


def twin(result: Result) -> str:
    """Return *result* as JSON, or nothing if that is longer than `MOST_JSON`."""
    room = MOST_JSON // 2  # a value and the comma behind it are two bytes at least
    if _room_left(result, room) < 0:
        return ""  # a leaderboard of thousands has millions of pairs: they are not even spelled out
    text = to_json(result.to_dict())
    return text if len(text.encode("utf-8")) <= MOST_JSON else ""


def _room_left(value: Any, room: int) -> int:
    """Return *room* less the values in *value*; stop counting once it is used up.

    >>> _room_left({"a": [1, 2, 3], "b": None}, 10), _room_left([[0] * 100] * 100, 10) < 0
    (6, True)
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts: Any = [
            getattr(value, f.name)
            for f in dataclasses.fields(value)
            if not f.metadata.get("private", False)
        ]
    elif isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, Sequence) and not isinstance(value, str):
        parts = value
    else:
        return room - 1
    for part in parts:
        if room < 0:
            break
        room = _room_left(part, room)
    return room
