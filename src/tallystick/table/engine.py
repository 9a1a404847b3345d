"""The one place where DuckDB is opened, bounded in memory and shut off from the network.

Every reader of a process shares one database, so that its memory limit holds for all together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError
from tallystick.table.sources import scratch, size_in, unreadable

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray


def connect() -> DuckDBPyConnection:
    """Return a cursor of this process's database: bounded, offline, its settings locked.

    Examples
    --------
    >>> connect().sql("select current_setting('autoload_known_extensions')").fetchall()
    [(False,)]
    """
    import duckdb

    try:
        found = cursor()
        found.execute("select 1").fetchall()
    except duckdb.Error:
        # An error inside DuckDB closes the whole database for good: one bad file must not cost the
        # next one.
        _database.cache_clear()
        found = cursor()
    return found


def cursor() -> DuckDBPyConnection:
    """Return a cursor for a query on rows that the database already holds.

    `connect` first asks whether it still works, which takes as long as a small query.
    """
    return _database(os.getpid()).cursor()


@contextmanager
def reading(source: str) -> Iterator[None]:
    """Turn DuckDB's errors into ours: every query on foreign data runs inside this."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{source} needs more memory than {written(engine_memory())}: allow more with the"
            " environment variable TALLYSTICK_MEMORY, for instance TALLYSTICK_MEMORY=4GB"
        ) from error
    # Arrow's own errors come through DuckDB while it scans a file; a name that is not UTF-8 fails
    # where Python asks for it.
    except (duckdb.Error, pa.ArrowException, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise unreadable(source, reason) from error


@lru_cache(maxsize=1)
def text_is_whole() -> bool:
    """Say whether the SQL text of a relation can be run by any cursor of its database.

    Before DuckDB 2 it names an Arrow table by an address that the parser refuses.
    """
    import duckdb

    return int(duckdb.__version__.split(".")[0]) >= 2


@lru_cache(maxsize=1)
# keyed by process: a forked child must not share its parent's
def _database(process: int) -> DuckDBPyConnection:
    import duckdb

    # With no extension to load there is no file system but the local one.
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{engine_memory()}B",
        "temp_directory": str(scratch()),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        # one pass over each file: a cache would only hold memory
        "enable_external_file_cache": False,
        "python_enable_replacements": False,  # a table name in SQL never reaches a Python variable
        "preserve_insertion_order": True,  # rows are numbered as they stand in the file
        "lock_configuration": True,
    }
    return duckdb.connect(":memory:", config=settings)


# How much memory a run may take.
#
# ``TALLYSTICK_MEMORY`` sets it, by default half of what the machine (or its container) has. DuckDB
# gets half of it and spills to disk beyond; the other half is for arrays of rows.


_FALLBACK = 4 * 1024**3
"""The memory of a machine that does not say how much it has."""

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def memory_limit() -> int:
    """Return the limit in bytes.

    Examples
    --------
    >>> memory_limit() > 0
    True
    """
    given = size_in("TALLYSTICK_MEMORY")
    return _machine() // 2 if given is None else given


def engine_memory() -> int:
    """Return the share of the limit that DuckDB may hold before it spills to disk, in bytes."""
    return memory_limit() // 2


def fits(size: float) -> bool:
    """Say whether arrays of *size* bytes fit into the share of the limit that is left for them."""
    return size <= memory_limit() - engine_memory()


def require(size: float, what: str, instead: str) -> None:
    """Refuse arrays that would not fit into the share of the limit that is left for them.

    Parameters
    ----------
    size
        Bytes that are needed at the peak.
    what
        What would take them, as the start of a sentence.
    instead
        The way out.

    Examples
    --------
    >>> require(1e18, "A table of 1e16 rows", "Give fewer rows.")
    Traceback (most recent call last):
    tallystick.errors.InputError: A table of 1e16 rows needs about 1,000,000,000 GB ...
    """
    room = memory_limit() - engine_memory()
    if not fits(size):
        raise InputError(
            f"{what} needs about {written(size)} of memory, and {written(room)} may be used."
            f" {instead} Or allow more with the environment variable TALLYSTICK_MEMORY, for"
            f" instance TALLYSTICK_MEMORY={max(1, round(2.2 * size / 1e9))}GB"
        )


def written(size: float) -> str:
    """Write a number of bytes.

    >>> written(3.2e9), written(145e6)
    ('3.2 GB', '145 MB')
    """
    if size >= 1e10:
        return f"{size / 1e9:,.0f} GB"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _machine() -> int:
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        physical = _FALLBACK
    try:
        inside = int(_CONTAINER.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return physical
    return min(physical, inside)


# Arrow columns of numbers as NumPy arrays, without waking pandas.
#
# Arrow's own ``to_numpy`` imports pandas wherever it is installed: half a second per command.


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
