"""Where data lies decides how it is counted: in memory by the kernel, elsewhere by the engine that
holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError
from tallystick.tally.engines.memory import Counted, count_columns
from tallystick.tally.recipe import Recipe

if TYPE_CHECKING:
    from tallystick.io import Table

__all__ = ["Counted", "columns_of", "count", "frame_of", "is_relation", "is_source", "opened"]


def count(data: Any, recipe: Recipe) -> Counted:
    """Count *data* with the engine that holds it; only counts come back."""
    if isinstance(data, Mapping):
        return count_columns(data, recipe)
    if is_source(data):
        from tallystick.io import reading
        from tallystick.tally.engines.duck import count_relation

        with opened(data) as table:
            _refuse_doubtful(table, recipe)
            with reading(table.source):
                # Parts of a file and data in memory have no origin: they add up in any way.
                rows = sum(part.rows for part in table.parts) if table.origin else None
                return count_relation(table.relation, recipe, rows=rows)
    if is_relation(data):
        from tallystick.tally.engines.duck import count_relation

        return count_relation(data, recipe)
    import narwhals as nw

    from tallystick.tally.engines.frames import count_eager, count_lazy

    frame = frame_of(data)
    return (
        count_lazy(frame, recipe) if isinstance(frame, nw.LazyFrame) else count_eager(frame, recipe)
    )


def columns_of(data: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns *names* of *data* in memory, for a question that has one answer a row."""
    if isinstance(data, Mapping):
        Recipe(columns=tuple(names)).select(tuple(data))
        return data
    if is_source(data):
        from tallystick.io import reading
        from tallystick.tally.engines.duck import fetch_columns

        with opened(data) as table, reading(table.source):
            return fetch_columns(table.relation, names)
    if is_relation(data):
        from tallystick.tally.engines.duck import fetch_columns

        return fetch_columns(data, names)
    import narwhals as nw

    from tallystick.tally.engines.frames import checked_names, columns_in

    frame = frame_of(data)
    Recipe(columns=tuple(names)).select(checked_names(list(frame.collect_schema())))
    return columns_in(
        frame.select(*names).collect() if isinstance(frame, nw.LazyFrame) else frame, names
    )


def is_source(data: Any) -> bool:
    """Say whether *data* names files, or is a table that was read from some."""
    from tallystick.io import Table

    if isinstance(data, str | Path | Table):
        return True
    return (
        isinstance(data, Sequence)
        and bool(data)
        and all(isinstance(item, str | Path) for item in data)
    )


def is_relation(data: Any) -> bool:
    """Say whether *data* is a DuckDB relation."""
    return type(data).__name__ == "DuckDBPyRelation"  # without loading DuckDB to look


def opened(data: Any) -> AbstractContextManager[Table]:
    """Open files; the table removes what it spooled when it is left. A table that is open stays
    so.
    """
    from tallystick.io import Table, scan

    return nullcontext(data) if isinstance(data, Table) else scan(data)


def _refuse_doubtful(table: Table, recipe: Recipe) -> None:
    """Refuse a column of nested values, and one whose values had several types in the source unless
    they are to be coerced.
    """
    for name in recipe.select(table.columns):
        # Its cells would all count as missing.
        if name in table.left_out:
            raise InputError(f"{table.source}: {table.left_out[name]}, or leave it out")
        if name in table.doubtful and not recipe.coerce:
            raise InputError(
                f"column {name!r} of {table.source}: {table.doubtful[name]}; coerce it, or leave"
                " it out"
            )


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
