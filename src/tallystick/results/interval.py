"""A range for an unknown number, together with the guarantee it carries."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from tallystick.errors import InputError

Guarantee: TypeAlias = Literal["exact", "anytime", "approximate", "under"]


@dataclass(frozen=True, slots=True)
class Interval:
    """A range for an unknown number, together with the guarantee it carries.

    Parameters
    ----------
    low, high
        The ends, with ``low <= high``. An end may be infinite but never NaN.
    level
        Nominal coverage, for instance 0.95.
    guarantee
        ``exact`` (coverage is always at least nominal), ``anytime`` (the same at any stopping
        time), ``approximate``, or ``under`` (valid only under *assumption*).
    assumption
        What an ``under`` interval assumes; None for the other three.
    method
        Short name of the method that made it.

    Examples
    --------
    >>> interval = Interval(0.61, 0.74, level=0.95, guarantee="exact", method="clopper-pearson")
    >>> 0.7 in interval
    True
    >>> print(interval)
    [0.610, 0.740] (95%, exact)
    """

    low: float
    high: float
    level: float = 0.95
    guarantee: Guarantee = "approximate"
    assumption: str | None = None
    method: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))

        if not self.low <= self.high:  # also catches NaN
            raise InputError(f"an interval needs low <= high, got [{self.low!r}, {self.high!r}]")
        if not 0 < self.level < 1:
            raise InputError(f"level must be in (0, 1), got {self.level!r}")
        assumed = self.guarantee == "under"
        if self.guarantee not in get_args(Guarantee) or assumed != (self.assumption is not None):
            raise InputError(
                "an interval is exact, anytime or approximate, or under an assumption: got"
                f" {self.guarantee!r} with {self.assumption!r}"
            )

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.high - self.low

    @property
    def promise(self) -> str:
        """The guarantee in words: ``exact``, ``anytime``, ``approximate`` or ``under …``."""
        return f"under {self.assumption}" if self.assumption else self.guarantee

    def __neg__(self) -> Interval:
        """Return the interval of the number with its sign turned."""
        return dataclasses.replace(self, low=-self.high, high=-self.low)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}] ({100 * self.level:g}%, {self.promise})"


# What is not known, and what would settle it.


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number that cannot be given, and why.

    In JSON it becomes null, and the reason is listed under ``unknown``.
    """

    reason: str

    def __str__(self) -> str:
        return f"unknown: {self.reason}"


def about(n: float) -> str:
    """Return a forecast of a count with two significant digits: no forecast has more.

    >>> about(137), about(11_234), about(7), about(0.4)
    ('about 140', 'about 11,000', 'about 7', 'about 1')
    """
    whole = max(1, math.ceil(n))
    digits = len(str(whole))
    return f"about {round(whole, min(0, 2 - digits)):,}"


@dataclass(frozen=True, slots=True)
class Needed:
    """About how many more items, labels or calls would settle an undecided question.

    >>> print(Needed(40, "labels on items where a and b disagree"))
    about 40 more labels on items where a and b disagree
    >>> print(Needed(1, "labelled rows, drawn at random"))
    about 1 more labelled row, drawn at random
    >>> print(Needed(2_747, "labels"))
    about 2,700 more labels
    """

    count: int | None
    of: str

    def __str__(self) -> str:
        if self.count is None:
            return f"more {self.of}"

        # "1 more labelled rows" would be wrong: the first plural becomes a singular.
        of = re.sub(r"(\w)s\b", r"\1", self.of, count=1) if self.count == 1 else self.of
        return f"{about(self.count)} more {of}"


# From Python values to strict JSON: the contract of the command line and of HTTP.


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
