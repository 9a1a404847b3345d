"""Data in memory is counted by the kernel, other data by the engine that holds it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError
from tallystick.table.cells import (
    MOST_LABELS,
    identifier,
    not_labels,
    too_many,
)
from tallystick.table.counting import count_columns, count_groups
from tallystick.table.engine import fits, require
from tallystick.table.patterns import Patterns, Recipe
from tallystick.table.sources import check_names

if TYPE_CHECKING:
    import narwhals as nw
    import pyarrow as pa
    from duckdb import DuckDBPyRelation

    from tallystick.table.tables import Table

ROWS = "rows of it"
"""What the number of rows is called in another engine."""
CELL = 48
"""Bytes that one fetched cell takes at the peak: in the engine's answer, as Arrow and as codes."""
_GLANCE = 1 << 16
"""Rows that are looked at before a group-by on text fills the memory of an engine."""


@contextmanager
def held(data: Any) -> Iterator[Any]:
    """Hold *data* as columns in memory by name, a DuckDB relation, or a narwhals frame."""
    if are_rows(data):
        data = columns_of_rows(data)
    if isinstance(data, Mapping) or is_relation(data):
        yield data
    elif is_source(data):
        from tallystick.table.engine import reading

        with opened(data) as table, reading(table.source):
            yield table.relation
    else:
        frame = frame_of(data)
        check_names(list(frame.collect_schema()), "the frame")
        yield frame


def names_of(data: Any) -> tuple[str, ...]:
    """Return the names of what `held` gives."""
    if isinstance(data, Mapping):
        return tuple(data)
    return tuple(data.columns) if is_relation(data) else tuple(data.collect_schema())


def fetched(data: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns *names* of what `held` gives in memory, if they fit."""
    Recipe(columns=tuple(dict.fromkeys(names))).select(names_of(data))
    if isinstance(data, Mapping):
        return data
    if is_relation(data):
        found = data.project(", ".join(map(identifier, names))).to_arrow_table()
    elif is_unread(data):
        found = fetch(data, names)
    else:
        found = arrow_table(data.select(*names))
    return {name: found[name] for name in names}


def is_unread(data: Any) -> bool:
    """Say whether what `held` gives is a frame that has run nothing yet."""
    return type(data).__name__ == "LazyFrame"  # without loading narwhals to look


def columns_of(data: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns *names* of *data* in memory."""
    with held(data) as rows:
        return fetched(rows, names)


def count(data: Any, recipe: Recipe) -> Patterns:
    """Count *data* with the engine that holds it; only counts come back."""
    if is_source(data):
        with opened(data) as table:
            _refuse_doubtful(table, recipe)
            return _count(table, recipe)
    return _count(data, recipe)


def _count(data: Any, recipe: Recipe) -> Patterns:
    with held(data) as there:
        if isinstance(there, Mapping):
            return count_columns(there, recipe)
        names = recipe.select(names_of(there))
        # Bins and weights are numbers of single rows.
        if not (recipe.cut or recipe.weight is not None):
            if is_relation(there):
                return count_relation(there, names)
            if is_unread(there):
                return count_lazy(there, names)
        weight = [] if recipe.weight is None else [recipe.weight]
        return count_columns(fetched(there, [*names, *weight]), replace(recipe, columns=names))


def is_source(data: Any) -> bool:
    """Say whether *data* names files, or is a table that was read from some."""
    from tallystick.table.tables import Table

    if isinstance(data, str | Path | Table):
        return True
    return (
        isinstance(data, Sequence)
        and bool(data)
        and all(isinstance(item, str | Path) for item in data)
    )


def are_rows(data: Any) -> bool:
    """Say whether *data* is a list of objects, one per row."""
    return isinstance(data, Sequence) and bool(data) and isinstance(data[0], Mapping)


def columns_of_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return a list of objects as columns; a key that a row lacks is blank there.

    >>> columns_of_rows([{"gpt": 1}, {"gpt": 0, "gold": 1}])
    {'gpt': [1, 0], 'gold': [None, 1]}
    """
    odd = next((place for place, row in enumerate(rows, 1) if not isinstance(row, Mapping)), None)
    if odd is not None:
        raise InputError(
            f"row {odd} of the list is {rows[odd - 1]!r:.40}, and no object: correct it"
        )
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def is_relation(data: Any) -> bool:
    """Say whether *data* is a DuckDB relation."""
    return type(data).__name__ == "DuckDBPyRelation"  # without loading DuckDB to look


def opened(data: Any) -> AbstractContextManager[Table]:
    """Open files; the table removes what it spooled when it is left. A table that is open stays
    so.
    """
    from tallystick.table.scanning import scan
    from tallystick.table.tables import Table

    return nullcontext(data) if isinstance(data, Table) else scan(data)


def _refuse_doubtful(table: Table, recipe: Recipe) -> None:
    """Refuse a column of nested values, and one of several types that are not to be coerced."""
    for name in recipe.select(table.columns):
        # Its cells would all count as missing.
        if name in table.left_out:
            raise InputError(f"{table.source}: {table.left_out[name]}, or leave it out")
        if name in table.doubtful and not recipe.coerce:
            raise InputError(
                f"column {name!r} of {table.source}: {table.doubtful[name]}; coerce it, or leave"
                " it out"
            )


# DuckDB relations, and files behind them: one GROUP BY, out of core; only the groups are fetched.


_TINY = frozenset({"BOOLEAN", "TINYINT", "UTINYINT"})
_LABELS = _TINY | frozenset(
    {
        "SMALLINT",
        "USMALLINT",
        "INTEGER",
        "UINTEGER",
        "BIGINT",
        "UBIGINT",
        "FLOAT",
        "DOUBLE",
        "VARCHAR",
    }
)


def count_relation(relation: DuckDBPyRelation, names: tuple[str, ...]) -> Patterns:
    """Group and count a relation where it lies."""
    kinds = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    for name in names:
        if not (kinds[name] in _LABELS or kinds[name].startswith("ENUM")):
            raise not_labels(name, f"has type {kinds[name]}")
    _refuse_text(relation, [name for name in names if kinds[name] not in _TINY])
    keys = ", ".join(f"{identifier(name)} as k{j}" for j, name in enumerate(names))
    by = ", ".join(f"k{j}" for j in range(len(names)))
    groups = relation.project(keys).aggregate(f"{by}, count(*) as total", by).to_arrow_table()
    columns = {name: groups[f"k{j}"] for j, name in enumerate(names)}
    return count_groups(columns, groups["total"])


def _refuse_text(relation: DuckDBPyRelation, names: Sequence[str]) -> None:
    """Look at the first rows before a group-by on text fills memory and disk."""
    if not names:
        return
    glance = relation.limit(_GLANCE)
    # The sketch of each column takes some bytes where an exact count takes a hash table: hundreds
    # of columns fit.
    sketches = ", ".join(f"approx_count_distinct({identifier(name)})" for name in names)
    [sketched] = glance.aggregate(sketches).fetchall()
    for name, about in zip(names, sketched, strict=True):
        if about > MOST_LABELS // 2:  # the sketch is off by some ten per cent
            [(number,)] = glance.aggregate(f"count(distinct {identifier(name)})").fetchall()
            if number > MOST_LABELS:
                raise too_many(name, number)


# Frames through narwhals: an eager one gives its columns to the kernel, a lazy one counts where it
# is.


def frame_of(data: Any) -> Any:
    """Return *data* as a narwhals frame, eager or lazy; what is none is refused."""
    import narwhals as nw

    if type(data).__name__ == "RecordBatch":
        import pyarrow as pa

        data = pa.Table.from_batches([data])
    try:
        return nw.from_native(data)
    except nw.exceptions.DuplicateError as error:
        raise InputError(
            f"the frame has two columns with the same name: rename one of them ({error})"
        ) from error
    except TypeError as error:
        raise InputError(
            "data must be a mapping of columns, an Arrow, pandas, Polars, Dask or Spark frame, a"
            f" relation or a path, got a {type(data).__name__}"
        ) from error


def is_lazy(data: Any) -> bool:
    """Say whether *data* is a frame whose rows lie in another engine, or are not computed yet."""
    if isinstance(data, str | bytes | Path | Sequence | Mapping):
        return False
    if type(data).__module__.startswith(("pyarrow", "duckdb", "_duckdb")):
        return False  # without loading narwhals to look
    import narwhals as nw

    return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)


def count_lazy(frame: nw.LazyFrame[Any], names: tuple[str, ...]) -> Patterns:
    """Let the engine of a lazy frame group and count; only the groups are collected."""
    import narwhals as nw

    schema = frame.collect_schema()
    tiny = (nw.Boolean, nw.Int8, nw.UInt8)
    for name in names:
        kind = schema[name]
        if kind.is_temporal() or kind.is_nested() or kind.is_decimal() or kind == nw.Binary:
            raise not_labels(name, f"has type {kind}")
    if wide := [name for name in names if schema[name] not in tiny]:
        glance = frame.select(*wide).head(_GLANCE)
        distinct = glance.select(*(nw.col(name).n_unique() for name in wide)).collect()
        for name in wide:
            if (found := int(distinct[name][0])) > MOST_LABELS:
                raise too_many(name, found)
    groups = frame.select(*names).group_by(*names).agg(nw.len().alias(ROWS)).collect()
    found = arrow_table(groups)
    return count_groups({name: found[name] for name in names}, found[ROWS])


def fetch(frame: Any, columns: Sequence[str]) -> pa.Table:
    """Return *columns* of a frame as Arrow, where they fit into memory."""
    import narwhals as nw

    rows, names = row_count(frame), list(dict.fromkeys(columns))
    require(
        rows * len(names) * CELL,
        f"The frame has {rows:,} rows: fetching {len(names)} columns of it",
        "Name the columns in use, or count them where they are: Tally.of(frame, columns=[…]).",
    )
    return arrow_table(lazily(frame).select(*(nw.col(name) for name in names)).collect())


def row_count(frame: Any) -> int:
    """Return how many rows a frame has, counted in its engine.

    Examples
    --------
    >>> import polars as pl
    >>> row_count(pl.LazyFrame({"a": [1, 2, 3]}))
    3
    """
    import narwhals as nw

    return int(lazily(frame).select(nw.len().alias(ROWS)).collect()[ROWS][0])


def rows_fit(frame: Any, columns: Sequence[str]) -> bool:
    """Say whether *columns* of a frame can be fetched within the memory limit."""
    return fits(row_count(frame) * len(set(columns)) * CELL)


def lazily(frame: Any) -> nw.LazyFrame[Any]:
    """Return a frame of any engine as a narwhals frame that runs nothing yet."""
    import narwhals as nw

    made: nw.LazyFrame[Any] = nw.from_native(frame).lazy()
    return made


def arrow_table(frame: nw.DataFrame[Any]) -> pa.Table:
    """Return an eager frame as Arrow, without the row numbers of pandas."""
    return frame.to_arrow().select(frame.columns)
