"""A tally outside its process: saved and loaded, shown, and attached back to items."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tallystick.errors import FormatError, InputError
from tallystick.results import Json, PatternTable, Result
from tallystick.table.cells import Label
from tallystick.table.engine import as_arrow, as_numpy
from tallystick.table.engines import frame_of, is_relation, is_source, opened
from tallystick.table.patterns import Patterns, Recipe
from tallystick.table.sources import absent, damaged
from tallystick.table.tables import atomic
from tallystick.table.tally import Sources, Tally

if TYPE_CHECKING:
    import pyarrow as pa

# Keeping tallies: one Arrow IPC file with a format version, written whole or not at
# all.


FORMAT = "tallystick"
VERSION = 1
"""Version of the file format; a file of a higher version is refused."""


def save_tally(patterns: Patterns, recipe: Recipe | None, sources: Sources, path: Path) -> None:
    """Write patterns, recipe and sources to *path*."""
    import pyarrow as pa

    codes = patterns.codes
    columns = {f"c{j}": as_arrow(codes[:, j]) for j in range(codes.shape[1])}
    columns["count"] = as_arrow(patterns.counts)
    write_table(
        path,
        "tally",
        pa.table(columns),
        {
            # JSON keeps bool, int, float and str apart.
            "labels": [[name, list(column)] for name, column in patterns.labels.items()],
            "recipe": _recipe_out(recipe),
            "sources": sources.to_json(),
        },
    )


def load_tally(path: Path) -> tuple[Patterns, Recipe | None, Sources]:
    """Read what :func:`save_tally` wrote."""
    table, head = read_table(path, "tally")
    try:
        labels = {str(name): tuple(map(label_in, column)) for name, column in head["labels"]}
        recipe, counts = _recipe_in(head["recipe"]), as_numpy(table["count"])
        codes, fits = np.zeros((len(counts), len(labels)), np.int32), True
        for j, own in enumerate(labels.values()):
            held = as_numpy(table[f"c{j}"])
            fits &= held.dtype.kind == "i" and bool(((held >= 0) & (held < len(own))).all())
            codes[:, j] = held if fits else -1
        # The checksum knows bytes and not types: eight of them are a count or a weight.
        weighted = recipe is not None and recipe.weight is not None
        numbers = counts.dtype.kind == ("f" if weighted else "i")
        if not (fits and numbers and (np.isfinite(counts) & (counts >= 0)).all()):
            raise InputError("a code or a count is out of range")
        # Files of earlier versions hold whole floats, and integers before all fractions.
        made = Patterns(labels, codes, counts).settled(Recipe(apart=frozenset(labels)))
        return made, recipe, Sources.from_json(head.get("sources"))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise damaged(path, "tally", error, FormatError) from error


def write_table(path: Path, kind: str, table: pa.Table, head: Mapping[str, Any]) -> None:
    """Write one Arrow table with its head, whole or not at all."""
    import pyarrow as pa

    meta: dict[str, Any] = {"format": FORMAT, "kind": kind, "version": VERSION, **head}
    meta["sum"] = _checksum(table, meta)
    table = table.replace_schema_metadata(
        {FORMAT: json.dumps(meta, ensure_ascii=False, allow_nan=True)}
    )
    with atomic(path) as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def read_table(path: Path, kind: str) -> tuple[pa.Table, dict[str, Any]]:
    """Read a table that :func:`write_table` wrote; anything else is refused by name."""
    import pyarrow as pa

    if not path.exists():
        raise absent(path, str(path))
    try:
        # Opened by Python: Arrow takes no name that is not UTF-8.
        with path.open("rb") as file:
            reader = pa.ipc.open_file(file)
            head = json.loads((reader.schema.metadata or {})[FORMAT.encode()])
            table = reader.read_all()
        table.validate(full=True)
        version, found = int(head["version"]), str(head["kind"])
    except (pa.ArrowException, OSError, MemoryError, LookupError, TypeError, ValueError) as error:
        raise FormatError(
            f"{path} is not a saved {kind}, or it is damaged ({error}). A table becomes a tally by"
            " `tallystick tally TABLE -o FILE.tally`"
        ) from error
    if version > VERSION:
        raise FormatError(
            f"{path} has format version {version}, this Tallystick reads up to {VERSION}:"
            " upgrade it"
        )
    if found != kind:
        raise FormatError(f"{path} holds a saved {found}, not a {kind}")
    # Files of earlier versions have no checksum.
    if "sum" in head:
        written_sum = head.pop("sum")
        try:
            is_whole = _checksum(table, head) == written_sum
        except (KeyError, TypeError, ValueError):  # columns that nobody wrote
            is_whole = False
        if not is_whole:
            raise damaged(path, kind, "its checksum differs", FormatError)
    return table, head


def _checksum(table: pa.Table, head: Mapping[str, Any]) -> str:
    """Return a digest of what a file says: its numbers column by column, and its head."""
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for name in table.column_names:
        digest.update(f"{name}\0".encode())
        digest.update(np.ascontiguousarray(as_numpy(table[name])).tobytes())
    return digest.hexdigest()[:32]


def label_in(item: Any) -> Any:
    """Return a label of a file's head; anything else is no label."""
    if item is None or isinstance(item, bool | int | float | str):
        return item
    raise ValueError(f"{item!r} is not a label")


def _recipe_out(recipe: Recipe | None) -> dict[str, Any] | None:
    if recipe is None:
        return None
    held = {name: value for name, value in vars(recipe).items() if name != "item"}
    return held | {name: sorted(held[name]) for name in ("missing", "apart")}


def _recipe_in(written: dict[str, Any] | None) -> Recipe | None:
    if written is None:
        return None
    return Recipe(
        columns=None if written["columns"] is None else tuple(written["columns"]),
        cut={name: tuple(edges) for name, edges in written["cut"].items()},
        weight=written["weight"],
        missing=frozenset(written["missing"]),
        coerce=bool(written["coerce"]),
        apart=frozenset(written["apart"]),
    )


# A tally as a result: what was counted, in a sentence and a table.


_SHOWN = 20
_WIDE = 8


@dataclass(frozen=True, kw_only=True)
class TallyResult(Result):
    """What the verbs ``tally`` and ``merge`` answer; JSON has ``columns{}`` (their labels) and
    ``patterns`` (how many).

    Parameters
    ----------
    columns
        The labels of each column, None for missing.
    weighted
        Whether counts are sums of weights.
    tally
        The tally itself; it is saved, not printed.
    """

    verb: ClassVar[str] = "tally"

    columns: Mapping[str, tuple[Label, ...]]
    weighted: bool
    tally: Tally = field(repr=False, metadata={"private": True})

    def to_dict(self) -> dict[str, Json]:
        """Return JSON types only, with the number of patterns under ``patterns``."""
        return {**super().to_dict(), "patterns": self.tally.patterns}

    def rows(self) -> list[dict[str, Any]]:
        """Return the most frequent patterns, the commonest first."""
        tally, names = self.tally, self.tally.names
        count = "count" if "count" not in names else "tally_count"
        rows: list[dict[str, Any]] = []
        for place in _commonest(tally):
            labels, n = _pattern(tally, place), tally.counts[place].item()
            wide = len(names) > _WIDE
            shown = {"pattern": _text(labels)} if wide else dict(labels)
            rows.append({**shown, count: n, "share": n / tally.n})
        return rows

    def details(self) -> tuple[str, ...]:
        """Say how many patterns there are, if some are not shown."""
        most = self.tally.patterns
        shown = (
            f"The {_SHOWN} commonest of {most:,} patterns are shown; a saved tally (-o) holds all."
        )
        return (shown,) if most > _SHOWN else ()

    def patterns(self) -> PatternTable:
        """Return how often each pattern occurred, to be attached to the rows that show it."""
        return PatternTable(self.tally, {"pattern_count": self.tally.counts.tolist()})


def describe(tally: Tally) -> TallyResult:
    """Say what was counted.

    >>> describe(Tally.of({"a": [1, 1, 0], "b": [1, 1, 1]})).verdict
    '3 rows of 2 columns show 2 of 2 possible patterns; the commonest is a=1, b=1 (67%).'
    """
    columns = f"{len(tally.names)} column{'s' * (len(tally.names) != 1)}"
    verdict = f"No rows of {columns} were counted."
    if tally.patterns:
        possible = math.prod(len(labels) for labels in tally.labels.values())
        most = _commonest(tally)[0]
        unit = f"{tally.n:,} row{'s' * (tally.n != 1)}"
        unit = f"{tally.n:,.6g} units of weight" if tally.weighted else unit
        many = f"{possible:,}" if possible < 10**12 else f"about 10^{int(math.log10(possible))}"
        verdict = (
            f"{unit} of {columns} show {tally.patterns:,} of {many} possible patterns;"
            f" the commonest is {_text(_pattern(tally, most))} ({tally.counts[most] / tally.n:.0%})."
        )
    told = ", ".join(tally.sources.repeats)
    warnings = (f"the rows of {told} are counted more than once",) if told else ()
    if tally.weighted:
        warnings = (*warnings, "counts are sums of weights; n_items is their total, rounded")
    return TallyResult(
        verdict=verdict,
        n_items=round(tally.n),
        warnings=warnings,
        columns=tally.labels,
        weighted=tally.weighted,
        tally=tally,
    )


def _commonest(tally: Tally) -> list[int]:
    order: list[int] = np.argsort(-tally.counts, kind="stable")[:_SHOWN].tolist()
    return order


def _pattern(tally: Tally, place: int) -> list[tuple[str, Label]]:
    codes = tally.codes[place].tolist()
    return [(name, tally.labels[name][code]) for name, code in zip(tally.names, codes, strict=True)]


def _text(labels: Sequence[tuple[str, Label]]) -> str:
    """Write a pattern; of a wide one only what is not missing, and not more than fits a line."""
    wide = len(labels) > _WIDE
    told = [
        f"{name}={'missing' if label is None else label}"
        for name, label in labels
        if not wide or label is not None
    ]
    return ", ".join(told[:_WIDE]) + (", …" if len(told) > _WIDE else "") or "all missing"


# From patterns back to items: what was learnt of each pattern, put beside the rows that show
# it.


def attach(result: Result, data: Any) -> Any:
    """Return *data* with the columns that *result* has learnt of each row's pattern.

    A mapping gives a dictionary of arrays, a frame in memory one of its kind, anything else an
    Arrow table. A row whose pattern was never counted gets null.

    Examples
    --------
    >>> from tallystick.table import Tally, describe
    >>> votes = {"a": [1, 1, 0], "b": [1, 1, 1]}
    >>> attached = attach(describe(Tally.of(votes)), votes)
    >>> attached["pattern_count"].tolist()
    [2, 2, 1]
    """
    table = result.patterns()
    if table is None:
        raise InputError(
            f"a {result.verb or type(result).__name__} result has nothing to attach: it says"
            " nothing about single items"
        )
    held: Any = data if isinstance(data, Mapping) else _in_memory(data)
    names = list(held) if isinstance(held, Mapping) else list(held.columns)
    clash = [name for name in table.columns if name in names]
    if clash:
        raise InputError(
            f"the data already has a column {clash[0]!r}: rename or drop it before attaching"
        )
    places = table.locator.locate(held if isinstance(held, Mapping) else held.to_native())
    learnt = {name: _spread(values, places) for name, values in table.columns.items()}
    if isinstance(held, Mapping):
        return {**held, **{n: one.to_numpy(zero_copy_only=False) for n, one in learnt.items()}}
    import narwhals as nw

    backend = nw.get_native_namespace(held)
    added = (nw.new_series(n, one.to_pylist(), backend=backend) for n, one in learnt.items())
    return held.with_columns(*added).to_native()


def _spread(values: Sequence[Any], places: Any) -> Any:
    """Give each row the value of its pattern, null where it has none."""
    import pyarrow as pa

    column = pa.array(values.tolist() if hasattr(values, "tolist") else list(values))
    return column.take(pa.array(places, mask=np.asarray(places) < 0))


def _in_memory(data: Any) -> Any:
    """Return an eager frame: read once, so that rows and places stay in step."""
    import narwhals as nw

    if is_source(data):
        with opened(data) as table:
            return nw.from_native(table.arrow("select * from rows"))
    if is_relation(data):
        return nw.from_native(data.to_arrow_table())
    frame = frame_of(data)
    return nw.from_native(frame.collect().to_arrow()) if isinstance(frame, nw.LazyFrame) else frame
