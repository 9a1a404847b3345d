"""From Python values to strict JSON: the contract of the command line and of HTTP."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from tallystick.errors import InputError
from tallystick.results.interval import Interval
from tallystick.results.unknown import Unknown

__all__ = ["SCHEMA", "Json", "clean", "clean_fields", "to_json"]

SCHEMA = 1
"""Version of the JSON contract of command line and HTTP. Fields may be added, never renamed."""

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None


@runtime_checkable
class _HasDict(Protocol):
    """A record that writes its own JSON: a Result, a Slice, a GateOutcome."""

    def to_dict(self) -> dict[str, Json]: ...


def to_json(value: Any) -> str:
    """Return the dictionary of a result as one line of strict JSON."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def clean(value: Any, path: str, unknown: dict[str, str]) -> Json:
    """Turn *value* into JSON types.

    Whatever becomes null is recorded in *unknown*, under its *path*, with the reason.
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        unknown[path] = "not a number" if math.isnan(value) else "unbounded"
        return None
    if isinstance(value, Unknown):
        unknown[path] = value.reason
        return None
    if isinstance(value, Interval):
        return [clean(end, f"{path}[{i}]", unknown) for i, end in enumerate(value)]

    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        if isinstance(value, _HasDict):
            return value.to_dict()
        held = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        return clean_fields(held, path, unknown)
    if isinstance(value, Mapping):
        return clean_fields({str(key): item for key, item in value.items()}, path, unknown)

    if hasattr(value, "tolist"):  # a NumPy scalar or array, recognised without importing NumPy
        return clean(value.tolist(), path, unknown)
    if isinstance(value, Sequence | set | frozenset):
        items = value if isinstance(value, Sequence) else sorted(value, key=repr)
        return [clean(item, f"{path}[{i}]", unknown) for i, item in enumerate(items)]
    raise InputError(f"{path or 'value'}: a {type(value).__name__} has no JSON form")


def clean_fields(items: Mapping[str, Any], path: str, unknown: dict[str, str]) -> dict[str, Json]:
    """Clean every value of *items*; an interval gets its guarantee beside it."""
    out: dict[str, Json] = {}
    for name, item in items.items():
        out[name] = clean(item, f"{path}.{name}" if path else name, unknown)
        if isinstance(item, Interval):
            out[f"{name}_guarantee"] = item.promise
    return out
