"""Columns in memory become counts: each column turns into whole numbers, whose rows are counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table.cells import (
    MOST_LABELS,
    Label,
    identity,
    is_missing,
    not_labels,
    numbers_among,
    plain,
    too_many,
)
from tallystick.table.engine import as_numpy, codes_of
from tallystick.table.patterns import Codes, Counts, Recipe, group, pack, unpack


@dataclass(frozen=True, eq=False)
class Counted:
    """What an engine brings back: patterns, of which some may repeat, as codes into the labels as
    they were written.
    """

    names: tuple[str, ...]
    labels: tuple[Sequence[Label], ...]
    codes: Codes
    counts: Counts


def count_columns(columns: Mapping[str, Any], recipe: Recipe) -> Counted:
    """Count the rows of a mapping of equally long columns."""
    names = recipe.select(tuple(columns))
    encoded = encode_columns(columns, names, recipe)
    weights = None if recipe.weight is None else weights_of(recipe.weight, columns[recipe.weight])
    if not len(encoded[0].values):
        dtype = np.int64 if weights is None else np.float64
        return Counted(
            names, tuple(() for _ in names), np.zeros((0, len(names)), np.int32), np.zeros(0, dtype)
        )
    values, counts = count_integers([column.values for column in encoded], weights)
    return decode(names, encoded, values, counts)


def count_groups(
    names: tuple[str, ...], columns: Mapping[str, Any], counts: Any, *, weighted: bool
) -> Counted:
    """Take over what another engine has grouped: one row a pattern (a pattern may come twice) and
    its count.
    """
    encoded = [encode(name, columns[name]) for name in names]
    values = np.stack([column.values.astype(np.int64) for column in encoded], axis=1)
    held = as_numpy(counts) if hasattr(counts, "dictionary_encode") else np.asarray(counts)
    return decode(names, encoded, values, held.astype(np.float64 if weighted else np.int64))


def decode(
    names: tuple[str, ...], encoded: Sequence[Encoded], values: NDArray[np.int64], counts: Counts
) -> Counted:
    """Turn counted rows of integers into codes and the labels that they stand for."""
    labels: list[Sequence[Label]] = []
    codes = np.empty(values.shape, np.int32)
    for j, column in enumerate(encoded):
        distinct, codes[:, j] = np.unique(values[:, j], return_inverse=True)
        labels.append([column.label(value) for value in distinct.tolist()])
    return Counted(names, tuple(labels), codes, counts)


def encode_columns(
    columns: Mapping[str, Any], names: Sequence[str], recipe: Recipe
) -> list[Encoded]:
    """Encode the columns *names*, with their cuts; unequal lengths are refused."""
    encoded = [
        (
            cut_numbers(name, columns[name], recipe.cut[name], recipe.missing)
            if name in recipe.cut
            else encode(name, columns[name])
        )
        for name in names
    ]
    lengths = {name: len(column.values) for name, column in zip(names, encoded, strict=True)}
    if recipe.weight is not None:
        lengths[recipe.weight] = len(columns[recipe.weight])
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns must have equal lengths, got {lengths}")
    return encoded


# Rows of whole numbers: a table with a cell for each row that can be, or sorted packed rows where
# that is too wide.


_CHUNK = 1 << 18
"""Rows a step: the cell numbers of a chunk stay in the processor's cache."""
_MOST_CELLS = 1 << 20
"""The table is kept under this many cells (8 MiB); beyond, rows are packed and sorted."""


def count_integers(
    columns: Sequence[NDArray[Any]], weights: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int64], Counts]:
    """Return the distinct rows of integer *columns* and how often (or with what weight) each
    occurs.

    >>> values, counts = count_integers([np.array([3, 3, 9]), np.array([1, 1, 1])])
    >>> values.tolist(), counts.tolist()
    ([[3, 1], [9, 1]], [2, 1])
    """
    lows = [int(column.min()) for column in columns]
    sizes = [int(column.max()) - low + 1 for column, low in zip(columns, lows, strict=True)]
    total = math.prod(sizes)
    if total > _MOST_CELLS:
        return _count_wide(columns, lows, sizes, weights)

    # Cell numbers wrap round while they are made; what comes out is below the number of cells.
    kind = np.min_scalar_type(total)
    most = int(np.iinfo(kind).max)
    table: Counts = np.zeros(total, np.int64 if weights is None else np.float64)
    for start in range(0, len(columns[0]), _CHUNK):
        part = slice(start, start + _CHUNK)
        cells = np.zeros(len(columns[0][part]), kind)
        for column, low, size in zip(columns, lows, sizes, strict=True):
            cells *= kind.type(size)
            cells += column[part].astype(kind, copy=False)
            if low:
                cells -= kind.type(low & most)
        weight = None if weights is None else weights[part]
        table += np.bincount(cells, weight, minlength=total)

    found = np.flatnonzero(table)
    values = np.stack(np.unravel_index(found, sizes), axis=1).astype(np.int64)
    return values + np.asarray(lows), table[found]


def _count_wide(
    columns: Sequence[NDArray[Any]],
    lows: Sequence[int],
    sizes: Sequence[int],
    weights: NDArray[np.float64] | None,
) -> tuple[NDArray[np.int64], Counts]:
    """Pack each row into words, sort, count; in steps, so that memory follows the patterns and not
    the rows.
    """
    n, step = len(columns[0]), 8 * _CHUNK
    keys: NDArray[Any] | None = None
    counts: Counts = np.zeros(0, np.int64)
    for start in range(0, n, step):
        chunk = [
            np.subtract(column[start : start + step], low, dtype=np.int64)
            for column, low in zip(columns, lows, strict=True)
        ]
        found = pack(np.stack(chunk, axis=1), sizes)
        weight: Counts = (
            np.ones(len(found), np.int64) if weights is None else weights[start : start + step]
        )
        found, weight = group(found, weight)
        keys, counts = (
            (found, weight)
            if keys is None
            else group(np.concatenate([keys, found]), np.concatenate([counts, weight]))
        )
    assert keys is not None
    return unpack(keys, sizes).astype(np.int64) + np.asarray(lows), counts


# One column becomes whole numbers: small integers as they are, everything else by its dictionary.


_SAMPLE = 1 << 16


@dataclass(frozen=True, eq=False)
class Encoded:
    """A column as integers; ``labels`` says what they stand for, None where they stand for
    themselves.
    """

    values: NDArray[Any]
    labels: Sequence[Label] | None = None
    boolean: bool = False

    def label(self, value: int) -> Label:
        """Return the label of one of the values."""
        if self.labels is not None:
            return self.labels[value]
        return bool(value) if self.boolean else int(value)


def encode(name: str, column: Any, *, most: int = MOST_LABELS) -> Encoded:
    """Return *column* (a NumPy array, a pyarrow array or a plain sequence) as integers with their
    labels.

    A list is taken element by element, because NumPy would turn ``[1, "1"]`` into two equal
    strings. A column with more than *most* labels is refused.
    """
    if isinstance(column, np.ma.MaskedArray):
        return _by_dictionary(
            name, _arrow(name, column.data, mask=np.ma.getmaskarray(column)), most
        )
    if isinstance(column, np.ndarray):
        if column.ndim != 1:
            raise InputError(f"column {name!r} must be one-dimensional, got shape {column.shape}")
        if column.dtype.kind == "b":
            return Encoded(column.view(np.uint8), boolean=True)
        if column.dtype.kind in "iu":
            if column.itemsize == 1 or _narrow(column):
                return Encoded(column)
            return _by_dictionary(name, _arrow(name, column), most)
        if column.dtype.kind in "fU":
            return _by_dictionary(name, _arrow(name, column), most)
        if column.dtype.kind != "O":
            raise not_labels(name, f"has dtype {column.dtype}")
        return _by_identity(name, column.tolist(), most)
    if hasattr(column, "dictionary_encode"):
        return _from_arrow(name, column, most)
    return _by_identity(name, list(column), most)


def _narrow(column: NDArray[Any]) -> bool:
    if not len(column):
        return True
    low, high = int(column.min()), int(column.max())
    return high - low < MOST_LABELS and high < 1 << 63


def _arrow(name: str, column: NDArray[Any], *, mask: NDArray[np.bool_] | None = None) -> Any:
    import pyarrow as pa

    try:
        return pa.array(
            column.astype(np.float32) if column.dtype == np.float16 else column, mask=mask
        )
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise not_labels(name, f"has dtype {column.dtype}") from error


def _from_arrow(name: str, column: Any, most: int) -> Encoded:
    import pyarrow as pa

    column = _combined(column)
    if pa.types.is_null(column.type):
        return Encoded(np.zeros(len(column), np.uint8), labels=(None,))
    if not column.null_count and (
        pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
    ):
        return encode(name, as_numpy(column), most=most)
    return _by_dictionary(name, column, most)


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    kind = column.type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _combined(column: Any) -> Any:
    """Return an Arrow column in one piece, its dictionary opened."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not isinstance(column, pa.ChunkedArray):
        return column
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
    )


def _by_dictionary(name: str, column: Any, most: int) -> Encoded:
    """Encode an Arrow column by its hash table; a column that looks like text is refused after a
    glance.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (pa.types.is_primitive(kind) or _is_text(column)) or pa.types.is_temporal(kind):
        raise not_labels(name, f"has type {kind}")
    glance = pc.count_distinct(column.slice(0, _SAMPLE)).as_py()
    if glance > most:
        raise too_many(name, glance, [column[0].as_py()])
    coded = _combined(column).dictionary_encode()
    labels = [plain(value, column=name) for value in coded.dictionary.to_pylist()]
    if len(labels) > most:
        raise too_many(name, len(labels), labels)
    return Encoded(codes_of(coded, missing=len(labels)), labels=(*labels, None))


def _by_identity(name: str, column: Sequence[Any], most: int) -> Encoded:
    """Encode arbitrary Python objects, telling 1 from True."""
    seen: dict[Any, int] = {}
    labels: list[Label] = []
    codes = np.empty(len(column), np.int32)
    for row, value in enumerate(column):
        label = plain(value, column=name)
        key = identity(label)
        code = seen.get(key)
        if code is None:
            code = seen[key] = len(labels)
            labels.append(label)
            if code > most:
                raise too_many(name, code + 1, labels)
        codes[row] = code
    return Encoded(codes, labels=labels)


def cut_numbers(
    name: str, column: Any, edges: Sequence[float], missing: frozenset[str] = frozenset()
) -> Encoded:
    """Return the bin of every number: bin i is ``edges[i] <= x < edges[i + 1]``, the last one
    closed; NaN is missing.

    >>> coded = cut_numbers("score", np.array([0.0, 0.5, 1.0, np.nan]), [0.0, 0.5, 1.0])
    >>> [coded.label(value) for value in coded.values]
    [0, 1, 1, None]
    """
    numbers = numbers_of(name, column, "cut", missing)
    bins = np.searchsorted(np.asarray(edges), numbers, side="right") - 1
    bins[numbers == edges[-1]] = len(edges) - 2
    outside = (numbers < edges[0]) | (numbers > edges[-1])
    if outside.any():
        raise outside_edges(name, repr(float(numbers[outside][0])), edges)
    bins[np.isnan(numbers)] = len(edges) - 1
    return Encoded(bins.astype(np.int32), labels=(*range(len(edges) - 1), None))


def outside_edges(name: str, value: str, edges: Sequence[float]) -> InputError:
    """Return the error for a number that no bin holds."""
    return InputError(
        f"column {name!r} holds {value}, outside cut[{name!r}] = [{edges[0]!r} … {edges[-1]!r}]: "
        "widen the edges, with -inf and inf if need be"
    )


def numbers_of(
    name: str, column: Any, purpose: str, missing: frozenset[str] = frozenset()
) -> NDArray[np.float64]:
    """Return the column as floats, what is missing as NaN; what is not a number is refused."""
    if hasattr(column, "dictionary_encode"):
        column = _combined(column)
        if _is_text(column):
            # Each different cell is read once.
            coded = column.dictionary_encode()
            words = np.array([*coded.dictionary.to_pylist(), None], object)
            read = numbers_of(name, words, purpose, missing)
            return np.asarray(read[codes_of(coded, missing=len(read) - 1)])
        column = as_numpy(column)
    if hasattr(column, "filled"):  # a masked array, by what it can: numpy.ma loads slowly
        column = column.astype(np.float64).filled(np.nan)
    values = np.asarray(column)
    if values.dtype.kind in "OU":
        held = [None if is_missing(value, missing) else value for value in values.tolist()]
        # Python reads 1_000 as a thousand.
        odd = next((value for value in held if isinstance(value, str) and "_" in value), None)
        if odd is not None:
            raise InputError(
                f"column {name!r} is asked for as numbers ({purpose}), but {odd!r} is not a number"
            )
        values = np.array(held, object)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"column {name!r} is asked for as numbers ({purpose}), but {error}"
        ) from error
    return (
        np.where(np.isin(numbers, numbers_among(missing)), np.nan, numbers) if missing else numbers
    )


def weights_of(name: str, column: Any) -> NDArray[np.float64]:
    """Return the weights; a missing, negative or infinite one is refused with its row."""
    weights = numbers_of(name, column, "weight")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise bad_weight(name, weights[row], f" in row {row}")
    return weights


def bad_weight(name: str, value: Any, where: str = "") -> InputError:
    """Return the error for a weight that cannot count."""
    return InputError(
        f"weight {name!r} must hold numbers that are finite and not negative, got {value!s}{where}"
    )
