"""From patterns back to items: what was learnt of each pattern, put beside the rows that show
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Result
from tallystick.tally.engines import frame_of, is_relation, is_source, opened

__all__ = ["attach"]


def attach(result: Result, data: Any) -> Any:
    """Return *data* with the columns that *result* has learnt of each row's pattern.

    A mapping gives a dictionary of arrays; an Arrow, pandas or Polars frame gives a frame of its
    kind. What is not in memory (a path, a DuckDB relation, a lazy, Dask or Spark frame) is read
    whole and gives an Arrow table. A row whose pattern was never counted gets null.

    Examples
    --------
    >>> from tallystick.tally import Tally, describe
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
    held = data if isinstance(data, Mapping) else _in_memory(data)
    names = list(held) if isinstance(held, Mapping) else list(held.columns)
    clash = [name for name in table.columns if name in names]
    if clash:
        raise InputError(
            f"the data already has a column {clash[0]!r}: rename or drop it before attaching"
        )
    places = table.locator.locate(held if isinstance(held, Mapping) else held.to_native())
    learnt = {name: _spread(values, places) for name, values in table.columns.items()}
    if isinstance(held, Mapping):
        return {
            **held,
            **{name: column.to_numpy(zero_copy_only=False) for name, column in learnt.items()},
        }
    return _with_columns(held, learnt)


def _spread(values: Sequence[Any], places: Any) -> Any:
    """Give each row the value of its pattern, null where it has none."""
    import pyarrow as pa

    column = pa.array(values.tolist() if hasattr(values, "tolist") else list(values))
    return column.take(pa.array(places, mask=np.asarray(places) < 0))


def _with_columns(frame: Any, learnt: Mapping[str, Any]) -> Any:
    import narwhals as nw

    backend = nw.get_native_namespace(frame)
    series = [
        nw.new_series(name, column.to_pylist(), backend=backend) for name, column in learnt.items()
    ]
    return frame.with_columns(*series).to_native()


def _in_memory(data: Any) -> Any:
    """Return an eager frame: read once, so that rows and places stay in step whatever order an
    engine gives them.
    """
    import narwhals as nw

    if is_source(data):
        with opened(data) as table:
            return nw.from_native(table.arrow("select * from rows"))
    if is_relation(data):
        return nw.from_native(data.to_arrow_table())
    frame = frame_of(data)
    return nw.from_native(frame.collect().to_arrow()) if isinstance(frame, nw.LazyFrame) else frame
