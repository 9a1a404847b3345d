"""The index of a pandas frame: a named one holds facts of the rows, often their items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["with_index"]


def with_index(frame: Any, table: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """Return *table*, the columns of *frame*, with the named levels of its index before them, and
    what was left out.

    An index without a name is left out. It is mentioned only if it holds something else than whole
    numbers, which pandas gives to rows by itself.

    >>> import pandas as pd
    >>> import pyarrow as pa
    >>> frame = pd.DataFrame({"gpt": [1, 0]}, index=pd.Index(["q1", "q2"], name="question_id"))
    >>> with_index(frame, pa.table({"gpt": [1, 0]}))[0].column_names
    ['question_id', 'gpt']
    """
    import pyarrow as pa

    index = getattr(frame, "index", None)
    if type(frame).__module__.partition(".")[0] != "pandas" or index is None:
        return table, ()

    notes: list[str] = []
    for level in reversed(range(index.nlevels)):
        name, values = index.names[level], index.get_level_values(level)
        if isinstance(name, str) and name not in table.column_names:
            cells = pa.array(values.to_numpy(), from_pandas=True)
            table = table.add_column(0, name, cells)
        elif name is None and values.dtype.kind not in "iu":
            notes.append(
                f"the index of the frame ({str(values[0])[:40]!r}, …) has no name and was left out."
                ' To use it, name it: frame.index.name = "item"'
            )
    return table, tuple(notes)
