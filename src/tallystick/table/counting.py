"""Columns in memory become counts: Arrow numbers the labels of each, and NumPy counts the rows."""

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
from tallystick.table.engine import as_arrow, as_numpy, codes_of
from tallystick.table.patterns import Counts, Patterns, Recipe

_SAMPLE = 1 << 16


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """A column in memory, as an Arrow array.

    Parameters
    ----------
    name
        The column.
    values
        Its cells, or whole numbers that stand for *labels*, where these are given.
    """

    name: str
    values: Any
    labels: Sequence[Label] | None = None

    def coded(self, most: int = MOST_LABELS) -> tuple[Sequence[Label], NDArray[Any]]:
        """Return the different labels, and the place of each cell among them."""
        coded = self.values.dictionary_encode()
        found = coded.dictionary.to_pylist()
        if len(found) > most:
            raise too_many(self.name, len(found), found)
        if self.labels is not None:
            labels = [self.labels[place] for place in found]
        else:
            labels = [plain(value, column=self.name) for value in found]
        blank = (None,) if coded.null_count else ()
        return (*labels, *blank), codes_of(coded, missing=len(labels))


_MOST_CELLS = 1 << 20
"""Patterns that could occur, up to which each has a counter of its own."""


def count_columns(columns: Mapping[str, Any], recipe: Recipe) -> Patterns:
    """Count the rows of a mapping of equally long columns.

    >>> count_columns({"a": ["x", "x", "y"], "b": [1, 1, 1]}, Recipe()).counts.tolist()
    [2, 1]
    """
    names = recipe.select(tuple(columns))
    cells = cells_of(columns, names, recipe)
    weights = None if recipe.weight is None else weights_of(recipe.weight, columns[recipe.weight])
    both = [cell.coded() for cell in cells]
    labels = {name: own for name, (own, _) in zip(names, both, strict=True)}
    sizes = [len(own) for own in labels.values()]
    rows = len(cells[0].values)

    possible = math.prod(sizes)
    if possible > _MOST_CELLS or not rows:
        # Every row as it is: they are sorted and added up where patterns come into order.
        counts: Counts = np.ones(rows, np.int64) if weights is None else weights
        return Patterns(labels, np.stack([own for _, own in both], axis=1), counts)
    place = np.zeros(rows, np.int32)
    for size, (_, own) in zip(sizes, both, strict=True):
        place *= size
        place += own
    table = np.bincount(place, weights, minlength=possible)
    found = np.flatnonzero(table)
    codes = np.stack(np.unravel_index(found, sizes), axis=1).astype(np.int32)
    return Patterns(labels, codes, table[found])


def count_groups(columns: Mapping[str, Any], counts: Any, *, weighted: bool = False) -> Patterns:
    """Take over what another engine has grouped: patterns, some of them twice, and counts."""
    held = as_numpy(counts) if hasattr(counts, "dictionary_encode") else np.asarray(counts)
    both = [cell.coded() for cell in cells_of(columns, tuple(columns), Recipe())]
    labels = {name: own for name, (own, _) in zip(columns, both, strict=True)}
    codes = np.stack([own for _, own in both], axis=1)
    return Patterns(labels, codes, held.astype(np.float64 if weighted else np.int64))


def cells_of(columns: Mapping[str, Any], names: Sequence[str], recipe: Recipe) -> list[ColumnCells]:
    """Return the columns *names* as Arrow arrays, with their cuts."""
    found = [
        _cut(name, columns[name], recipe) if name in recipe.cut else as_cells(name, columns[name])
        for name in names
    ]
    lengths = {cell.name: len(cell.values) for cell in found}
    if recipe.weight is not None:
        lengths[recipe.weight] = len(columns[recipe.weight])
    check_lengths(lengths)
    return found


def check_lengths(lengths: Mapping[str, int]) -> None:
    """Refuse columns of different lengths."""
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns must have equal lengths, got {dict(lengths)}")


def as_cells(name: str, column: Any, *, most: int = MOST_LABELS) -> ColumnCells:
    """Return a column (a NumPy array, a pyarrow array or a plain sequence) as an Arrow array.

    A list is taken element by element, because Arrow holds one type and ``[1, "1"]`` are two
    labels. A column with more than *most* labels in its first rows is refused.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    mask = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
    if isinstance(column, np.ndarray) and column.dtype.kind != "O":
        if column.ndim != 1:
            raise InputError(f"column {name!r} must be one-dimensional, got shape {column.shape}")
        if column.dtype.kind not in "biufU":
            raise not_labels(name, f"has dtype {column.dtype}")
        numbers = np.asarray(column.astype(np.float32) if column.dtype == np.float16 else column)
        # Arrow's own way loads pandas, for half a second, wherever it is installed.
        simple = mask is None and column.dtype.kind in "iuf"
        column = as_arrow(numbers) if simple else pa.array(numbers, mask=mask)
    if not hasattr(column, "dictionary_encode"):
        return _by_identity(name, column, most)

    column = combined(column)
    kind = column.type
    if pa.types.is_null(kind):
        column, kind = column.cast(pa.bool_()), pa.bool_()
    if not (pa.types.is_primitive(kind) or is_text(column)) or pa.types.is_temporal(kind):
        raise not_labels(name, f"has type {kind}")
    if len(column) > most:
        glance = pc.count_distinct(column.slice(0, _SAMPLE)).as_py()
        if glance > most:
            raise too_many(name, glance, [column[0].as_py()])
    return ColumnCells(name, column)


def is_text(column: Any) -> bool:
    """Say whether an Arrow column holds text."""
    import pyarrow as pa

    types = pa.types
    return any(
        is_kind(column.type)
        for is_kind in (types.is_string, types.is_large_string, types.is_string_view)
    )


def combined(column: Any) -> Any:
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


def _by_identity(name: str, column: Sequence[Any], most: int) -> ColumnCells:
    """Return Python objects as numbers with their labels: 1 is not True."""
    seen: dict[Any, int] = {}
    labels: list[Label] = []
    codes = np.empty(len(column), np.int32)
    for row, value in enumerate(column.tolist() if hasattr(column, "tolist") else column):
        label = plain(value, column=name)
        key = identity(label)
        code = seen.get(key)
        if code is None:
            code = seen[key] = len(labels)
            labels.append(label)
            if code > most:
                raise too_many(name, code + 1, labels)
        codes[row] = code
    return ColumnCells(name, as_arrow(codes), labels)


def _cut(name: str, column: Any, recipe: Recipe) -> ColumnCells:
    """Return the bin of every number: bin i is ``edges[i] <= x < edges[i + 1]``, the last one
    closed; NaN is missing.
    """
    edges = recipe.cut[name]
    numbers = numbers_of(name, column, "cut", recipe.missing)
    bins = np.searchsorted(np.asarray(edges), numbers, side="right") - 1
    bins[numbers == edges[-1]] = len(edges) - 2
    outside = (numbers < edges[0]) | (numbers > edges[-1])
    if outside.any():
        raise InputError(
            f"column {name!r} holds {float(numbers[outside][0])!r}, outside cut[{name!r}] ="
            f" [{edges[0]!r} … {edges[-1]!r}]: widen the edges, with -inf and inf if need be"
        )
    bins[np.isnan(numbers)] = len(edges) - 1
    return ColumnCells(name, as_arrow(bins), (*range(len(edges) - 1), None))


def numbers_of(
    name: str, column: Any, purpose: str, missing: frozenset[str] = frozenset()
) -> NDArray[np.float64]:
    """Return the column as floats, NaN where missing; refuse what is no number."""
    if hasattr(column, "dictionary_encode"):
        column = combined(column)
        if is_text(column):
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
        odd = [value for value in held if isinstance(value, str) and "_" in value]
        values = np.array([f"not a number: {odd[0]!r}"] if odd else held, object)
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
    """Return the weights; refuse a missing, negative or infinite one."""
    weights = numbers_of(name, column, "weight")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise InputError(
            f"weight {name!r} must hold numbers that are finite and not negative, got"
            f" {weights[row]!s} in row {row}"
        )
    return weights
