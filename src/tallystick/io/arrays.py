"""Arrow columns of numbers as NumPy arrays, without waking pandas.

Arrow's own ``to_numpy``, and every Python value that it is given (``fill_null(-1)``), import pandas
wherever it is installed. That costs every command more than half a second, and numbers need none
of it: they are read where they lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["as_arrow", "as_numpy", "codes_of", "present"]


def as_numpy(column: Any) -> NDArray[Any]:
    """Return an Arrow column as a NumPy array; a null among numbers becomes NaN.

    The array shares its memory with the column where it can, and is then read-only.

    >>> import pyarrow as pa
    >>> as_numpy(pa.chunked_array([[1, None], [3]])).tolist()
    [1.0, nan, 3.0]
    >>> as_numpy(pa.array([True, False])).dtype
    dtype('bool')
    """
    import numpy as np
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # columns too long for one array stay in pieces
            return np.concatenate([as_numpy(chunk) for chunk in column.chunks])

    kind = column.type
    if pa.types.is_boolean(kind) and not column.null_count:
        return _values(column.cast(pa.uint8())).view(np.bool_)
    if not (pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if not column.null_count:
        return _values(column)
    floats = kind if pa.types.is_floating(kind) else pa.float64()
    return np.where(present(column), _values(column.cast(floats)), floats.to_pandas_dtype()("nan"))


def as_arrow(numbers: NDArray[Any]) -> Any:
    """Return NumPy's numbers as an Arrow array over the same memory.

    >>> import numpy as np
    >>> as_arrow(np.array([1, 2])).to_pylist()
    [1, 2]
    """
    import numpy as np
    import pyarrow as pa

    held = np.ascontiguousarray(numbers)
    kind = pa.from_numpy_dtype(held.dtype)
    return pa.Array.from_buffers(kind, len(held), [None, pa.py_buffer(held)])


def present(column: Any) -> NDArray[np.bool_]:
    """Say which cells of an Arrow array hold a value.

    >>> import pyarrow as pa
    >>> present(pa.array(["a", None])).tolist()
    [True, False]
    """
    import numpy as np
    import pyarrow as pa

    return _values(column.is_valid().cast(pa.uint8())).view(np.bool_)


def codes_of(coded: Any, *, missing: int) -> NDArray[Any]:
    """Return the codes of a dictionary array, *missing* where a cell is null.

    >>> import pyarrow as pa
    >>> codes_of(pa.array(["a", None, "b"]).dictionary_encode(), missing=2).tolist()
    [0, 2, 1]
    """
    import numpy as np

    codes = _values(coded.indices)
    return np.where(present(coded.indices), codes, missing) if coded.null_count else codes


def _values(column: Any) -> NDArray[Any]:
    """Return the numbers of an array as they lie in memory; what lies at a null is arbitrary."""
    import numpy as np

    kind = np.dtype(column.type.to_pandas_dtype())
    held = column.buffers()[1]
    if held is None:
        return np.zeros(0, kind)
    return np.frombuffer(held, kind)[column.offset : column.offset + len(column)]
