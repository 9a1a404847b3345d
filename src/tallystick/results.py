"""What is known, how surely, and what would settle the rest: Interval, Figure, Result.

Pure Python on purpose: a result can be read, printed and sent on a machine that has no NumPy.
"""

from __future__ import annotations

import dataclasses
import html
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from tallystick.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "SCHEMA",
    "Decision",
    "Figure",
    "Guarantee",
    "Interval",
    "Json",
    "Locator",
    "Needed",
    "PatternTable",
    "Result",
    "Unknown",
    "harmless",
    "to_json",
]

SCHEMA = 1
"""Version of the JSON contract of command line and HTTP. Fields may be added to it, never renamed.
"""

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Guarantee: TypeAlias = Literal["exact", "anytime", "approximate", "under"]
Decision: TypeAlias = Literal["decided", "undecided", "unknowable"]

_GUARANTEES = ("exact", "anytime", "approximate", "under")
_DECISIONS = ("decided", "undecided", "unknowable")
_SPACES = "\u00a0\u202f\u2009"  # harmless, though Python does not call them printable
_MOST_ROWS = 200  # more would make a notebook slow, and nobody reads them
_KINDS = ("forest", "bands", "matrix", "rounds", "curve")


@dataclass(frozen=True, slots=True)
class Interval:
    """A range for an unknown number, with the promise that it makes.

    Parameters
    ----------
    low, high
        The ends; ``low <= high``. An end may be infinite, never NaN.
    level
        Nominal coverage, for instance 0.95.
    guarantee
        ``exact`` (coverage is at least nominal, always), ``anytime`` (at any stopping time),
        ``approximate``, or ``under`` (only under *assumption*).
    assumption
        What an ``under`` interval rests on; None for the others.
    method
        Short name of how it was made.

    Examples
    --------
    >>> interval = Interval(0.61, 0.74, level=0.95, guarantee="exact", method="clopper-pearson")
    >>> 0.7 in interval
    True
    >>> print(interval)
    [0.610, 0.740] (95 %, exact)
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
        if self.guarantee not in _GUARANTEES:
            raise InputError(f"guarantee must be one of {_GUARANTEES}, got {self.guarantee!r}")
        if (self.guarantee == "under") != (self.assumption is not None):
            raise InputError(
                "guarantee 'under' names its assumption and no other guarantee has one, "
                f"got {self.guarantee!r} with {self.assumption!r}"
            )

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.high - self.low

    @property
    def promise(self) -> str:
        """The guarantee in words: ``exact``, ``anytime``, ``approximate`` or ``under …``."""
        return f"under {self.assumption}" if self.assumption else self.guarantee

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"[{self.low:.3f}, {self.high:.3f}] ({100 * self.level:g} %, {self.promise})"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number that cannot be given, and why. In JSON: null, with the reason under ``unknown``."""

    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise InputError("an Unknown needs a reason")

    def __str__(self) -> str:
        return f"unknown: {self.reason}"


@dataclass(frozen=True, slots=True)
class Needed:
    """About how many more of what would settle an undecided question.

    >>> print(Needed(40, "labels on items where a and b disagree"))
    about 40 more labels on items where a and b disagree
    >>> print(Needed(1, "labelled rows, drawn at random"))
    about 1 more labelled row, drawn at random
    """

    count: int | None
    of: str

    def __str__(self) -> str:
        if self.count is None:
            return f"more {self.of}"
        of = re.sub(r"(\w)s\b", r"\1", self.of, count=1) if self.count == 1 else self.of
        return f"about {self.count:,} more {of}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture as data: all that report/ needs in order to draw it.

    Parameters
    ----------
    kind
        ``forest`` (estimates with intervals, one row a name), ``bands`` (a range along an axis),
        ``matrix`` (a signed heat map), ``rounds`` (values by round with envelopes) or ``curve``
        (lines).
    title
        One line that says what is seen.
    columns
        Tidy columns of equal length; None marks a gap.
    roles
        What each column does, role to column name, e.g. ``{"x": "threshold", "low": "lower",
        "high": "upper"}``. Roles in use: x, y, low, high, name, group, value, row, column, mark,
        outer_low, outer_high, text.
    labels
        Axis titles by role, where the column's name does not say it.
    """

    kind: Literal["forest", "bands", "matrix", "rounds", "curve"]
    title: str
    columns: Mapping[str, Sequence[Any]]
    roles: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise InputError(f"kind must be one of {_KINDS}, got {self.kind!r}")
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"the columns of a figure have equal lengths, got {lengths}")
        for role, name in self.roles.items():
            if name not in self.columns:
                raise InputError(
                    f"role {role!r} names column {name!r}, which is not one of"
                    f" {sorted(self.columns)}"
                )


class Locator(Protocol):
    """Whatever can say which pattern each row of *data* shows; a Tally is one."""

    def locate(self, data: Any) -> Any:
        """Return one pattern index a row, -1 where the pattern never occurred."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PatternTable:
    """What was learnt of each vote pattern, so that it can be attached to the items that show
    it.
    """

    locator: Locator
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class Result:
    """The base of every answer. A subclass adds its own fields, a ``verb`` and its figures.

    Parameters
    ----------
    verdict
        One plain sentence with its number and its doubt.
    decision
        ``decided``; ``undecided`` (then *needed* says what would settle it); ``unknowable`` (this
        way, because …).
    needed
        About how many more of which items; None when nothing is needed or nothing helps.
    n_items
        How many items the answer rests on.
    assumptions
        Everything it rests on, in words.
    warnings
        What the reader has to know before relying on it.
    seed
        The seed of all that was drawn, None if nothing was.
    """

    verb: ClassVar[str] = ""

    verdict: str
    decision: Decision = "decided"
    needed: Needed | None = None
    n_items: int
    assumptions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.decision not in _DECISIONS:
            raise InputError(f"decision must be one of {_DECISIONS}, got {self.decision!r}")
        if not self.verdict.strip():
            raise InputError("a result needs a verdict")

    def to_dict(self) -> dict[str, Json]:
        """Return JSON types only: the contract of command line and HTTP.

        An Interval becomes ``[low, high]``, with its promise beside it under ``…_guarantee``. What
        is unknown becomes null and its reason stands in ``unknown``, by path.
        """
        unknown: dict[str, str] = {}
        body = {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)
            if not f.metadata.get("private", False)
        }
        head: dict[str, Json] = {"schema": SCHEMA, "verb": self.verb}
        head.update(_fields(body, "", unknown))
        head["unknown"] = dict(unknown)
        return head

    def rows(self) -> list[dict[str, Any]]:
        """Return the main table as one mapping a row; a subclass says which of its parts that
        is.
        """
        return [{"verdict": self.verdict, "decision": self.decision, "n_items": self.n_items}]

    def figures(self) -> tuple[Figure, ...]:
        """Return the pictures of this result, the most telling one first."""
        return ()

    def patterns(self) -> PatternTable | None:
        """Return what was learnt of each vote pattern, or None if nothing can be attached to
        items.
        """
        return None

    def to_frame(self) -> pa.Table:
        """Return the main table as an Arrow table (``.to_pandas()`` and ``polars.from_arrow`` take
        it from there).
        """
        import pyarrow as pa

        return pa.Table.from_pylist(_flat(self.rows()))

    def summary(self) -> str:
        """Return plain text to paste: the verdict, the table, what it rests on.

        Names and labels come from data: signs that steer a terminal are spelled out, never sent.
        """
        parts = [self.verdict]
        if self.needed is not None:
            parts.append(f"To settle it: {self.needed}.")
        rows = _flat(self.rows())
        if rows and rows != _flat(Result.rows(self)):
            parts += _text_table(rows)
        parts += [f"Rests on: {text}" for text in self.assumptions]
        parts += [f"Warning: {text}" for text in self.warnings]
        return "\n".join(harmless(part) for part in parts)

    def _repr_html_(self) -> str:
        rows = _flat(self.rows())
        names = list(rows[0]) if rows else []
        head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
        cells = (
            "".join(f"<td>{html.escape(_cell(row[name]))}</td>" for name in names)
            for row in rows[:_MOST_ROWS]
        )
        body = "".join(f"<tr>{row}</tr>" for row in cells)
        cut = (
            [f"the first {_MOST_ROWS} of {len(rows):,} rows are shown"]
            if len(rows) > _MOST_ROWS
            else []
        )
        notes = "".join(
            f"<li>{html.escape(text)}</li>" for text in (*cut, *self.assumptions, *self.warnings)
        )
        return (
            f"<p><strong>{html.escape(self.verdict)}</strong></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            + (f"<ul>{notes}</ul>" if notes else "")
        )


def to_json(value: Any) -> str:
    """Return one line of strict JSON for the dictionary of a result."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def harmless(text: str) -> str:
    r"""Return *text* on one line, with control signs and signs that steer the direction of writing
    spelled out.

    >>> harmless("red \x1b[31m\nnext \u202e")
    'red \\x1b[31m\\nnext \\u202e'
    """
    return "".join(
        sign if sign.isprintable() or sign in _SPACES else repr(sign)[1:-1] for sign in text
    )


def _clean(value: Any, path: str, unknown: dict[str, str]) -> Json:
    """Turn *value* into JSON types, noting under *path* why something became null."""
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
        return [_clean(end, f"{path}[{i}]", unknown) for i, end in enumerate(value)]
    if isinstance(value, Result):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(
            {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, path, unknown
        )
    if isinstance(value, Mapping):
        return _fields({str(key): item for key, item in value.items()}, path, unknown)
    if hasattr(value, "tolist"):  # a NumPy scalar or array, without importing NumPy
        return _clean(value.tolist(), path, unknown)
    if isinstance(value, Sequence | set | frozenset):
        items = value if isinstance(value, Sequence) else sorted(value, key=repr)
        return [_clean(item, f"{path}[{i}]", unknown) for i, item in enumerate(items)]
    raise InputError(f"{path or 'value'}: a {type(value).__name__} has no JSON form")


def _fields(items: Mapping[str, Any], path: str, unknown: dict[str, str]) -> dict[str, Json]:
    out: dict[str, Json] = {}
    for name, item in items.items():
        out[name] = _clean(item, f"{path}.{name}" if path else name, unknown)
        if isinstance(item, Interval):
            out[f"{name}_guarantee"] = item.promise
    return out


def _flat(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """Rows of plain cells, all with the same names: an interval is two columns, what is nested is
    JSON text.
    """
    intervals = {name for row in rows for name, item in row.items() if isinstance(item, Interval)}
    out: list[dict[str, Json]] = []
    for row in rows:
        cells: dict[str, Json] = {}
        for name, item in row.items():
            if name in intervals:
                low, high = item if isinstance(item, Interval) else (None, None)
                cells[f"{name}_low"], cells[f"{name}_high"] = (
                    _clean(low, name, {}),
                    _clean(high, name, {}),
                )
            else:
                value = _clean(item, name, {})
                cells[name] = to_json(value) if isinstance(value, dict | list) else value
        out.append(cells)
    names = dict.fromkeys(name for row in out for name in row)
    return [{name: row.get(name) for name in names} for row in out]


def _cell(value: Json) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _text_table(rows: Sequence[Mapping[str, Json]]) -> list[str]:
    names = list(rows[0])
    cells = [names, *([_cell(row[name]) for name in names] for row in rows)]
    lines = [[harmless(cell) for cell in line] for line in cells]
    widths = [max(len(line[j]) for line in lines) for j in range(len(names))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
