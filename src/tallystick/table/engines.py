"""Where data lies decides how it is counted: in memory by the kernel, elsewhere by the engine that
holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table.cells import (
    MOST,
    MOST_LABELS,
    WHOLE,
    ItemSketch,
    Label,
    as_number,
    double,
    identifier,
    identity,
    is_missing,
    is_nan,
    kind_of,
    not_labels,
    null_if_missing,
    numbers_among,
    plain,
    row_key,
    too_many,
    votes_hash,
)
from tallystick.table.counting import Counter, count_integers
from tallystick.table.engine import as_numpy, codes_of
from tallystick.table.moments import Recipe
from tallystick.table.patterns import Codes, Counts, Patterns

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from tallystick.table.tables import Table


def count(data: Any, recipe: Recipe) -> Counted:
    """Count *data* with the engine that holds it; only counts come back."""
    if are_rows(data):
        data = columns_of_rows(data)
    if isinstance(data, Mapping):
        return count_columns(data, recipe)
    if is_source(data):
        from tallystick.table.engine import reading

        with opened(data) as table:
            _refuse_doubtful(table, recipe)
            with reading(table.source):
                # Parts of a file and data in memory have no origin: they add up in any way.
                rows = sum(part.rows for part in table.parts) if table.origin else None
                return count_relation(table.relation, recipe, rows=rows)
    if is_relation(data):
        return count_relation(data, recipe)
    import narwhals as nw

    from tallystick.table.engine_frames import count_eager, count_lazy

    frame = frame_of(data)
    return (
        count_lazy(frame, recipe) if isinstance(frame, nw.LazyFrame) else count_eager(frame, recipe)
    )


def columns_of(data: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the columns *names* of *data* in memory, for a question that has one answer a row."""
    if are_rows(data):
        data = columns_of_rows(data)
    if isinstance(data, Mapping):
        Recipe(columns=tuple(names)).select(tuple(data))
        return data
    if is_source(data):
        from tallystick.table.engine import reading

        with opened(data) as table, reading(table.source):
            return fetch_columns(table.relation, names)
    if is_relation(data):
        return fetch_columns(data, names)
    import narwhals as nw

    from tallystick.table.engine_frames import checked_names, columns_in

    frame = frame_of(data)
    Recipe(columns=tuple(names)).select(checked_names(list(frame.collect_schema())))
    return columns_in(
        frame.select(*names).collect() if isinstance(frame, nw.LazyFrame) else frame, names
    )


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


# DuckDB relations, and files behind them: one GROUP BY, out of core; only the groups are
# fetched.


_GLANCE = 1 << 16
_TINY = frozenset({"BOOLEAN", "TINYINT", "UTINYINT"})
_TEXT = frozenset({"VARCHAR"})
_WHOLE = frozenset({"SMALLINT", "USMALLINT", "INTEGER", "UINTEGER", "BIGINT", "UBIGINT"}) | _TINY
_NUMBERS = _WHOLE | {"FLOAT", "DOUBLE"}


def count_relation(
    relation: DuckDBPyRelation, recipe: Recipe, *, rows: int | None = None
) -> Counted:
    """Group and count a relation where it lies.

    *rows* is how many rows a relation has that comes from files. Its items are then sketched in the
    same scan, if the recipe names them.
    """
    kinds = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    names = recipe.select(tuple(kinds))
    for name in names:
        if not (kinds[name] in _NUMBERS | _TEXT or kinds[name].startswith("ENUM")):
            raise not_labels(name, f"has type {kinds[name]}")
    _refuse_text(
        relation, [name for name in names if name not in recipe.cut and kinds[name] not in _TINY]
    )
    keys = [
        f"{_binned(name, kinds[name], recipe) if name in recipe.cut else identifier(name)} as k{j}"
        for j, name in enumerate(names)
    ]
    sums = "count(*) as total"
    if recipe.weight is not None:
        keys.append(f"{_number(recipe.weight, kinds[recipe.weight])} as weight")
        sums = "sum(weight) as total, min(weight) as least, count(*) - count(weight) as absent"
    least = None
    if rows is not None and recipe.item is not None and recipe.item in kinds:
        least = LeastItems(column=recipe.item, sql_type=kinds[recipe.item], rows=rows)
        keys.append(least.key())
        sums = f"{sums}, {least.sums()}"
    by = ", ".join(f"k{j}" for j in range(len(names)))
    groups = relation.project(", ".join(keys)).aggregate(f"{by}, {sums}", by).to_arrow_table()
    if recipe.weight is not None:
        _check_weights(recipe.weight, groups)
    columns = {name: groups[f"k{j}"] for j, name in enumerate(names)}
    for name, edges in recipe.cut.items():
        check_bins(name, columns[name].to_pylist(), edges)
    counted = count_groups(names, columns, groups["total"], weighted=recipe.weight is not None)
    if least is None:
        return counted
    return replace(counted, sketch=least.sketch(columns, groups, recipe.missing))


def fetch_columns(relation: DuckDBPyRelation, names: Sequence[str]) -> Mapping[str, Any]:
    """Return columns of a relation as Arrow arrays, for a question that has one answer a row."""
    Recipe(columns=tuple(names)).select(tuple(relation.columns))
    table = relation.project(", ".join(map(identifier, names))).to_arrow_table()
    return {name: table[name] for name in names}


def _refuse_text(relation: DuckDBPyRelation, names: Sequence[str]) -> None:
    """Look at the first rows before a group-by on text fills memory and disk."""
    if not names:
        return
    glance = relation.limit(_GLANCE)
    # The sketch of each column takes some bytes where an exact count takes a hash table: hundreds
    # of columns fit.
    [sketched] = _rows(
        glance.aggregate(", ".join(f"approx_count_distinct({identifier(name)})" for name in names))
    )
    for name, about in zip(names, sketched, strict=True):
        if about > MOST_LABELS // 2:  # the sketch is off by some ten per cent
            [(number,)] = _rows(glance.aggregate(f"count(distinct {identifier(name)})"))
            if number > MOST_LABELS:
                raise too_many(name, number)


def _rows(relation: DuckDBPyRelation) -> list[tuple[Any, ...]]:
    return list(relation.fetchall())


def _number(name: str, sql_type: str) -> str:
    return as_number(identifier(name), kind_of(sql_type))


def _binned(name: str, sql_type: str, recipe: Recipe) -> str:
    """Return the SQL of a number's bin: -1 below the first edge, one past the last bin above, -2
    for no number.
    """
    edges = recipe.cut[name]
    number = _number(name, sql_type)
    # A column of another type, such as an enumeration, is read by its text.
    kind, cell = kind_of(sql_type), identifier(name)
    if kind == "other":
        kind, cell = "text", f"{cell}::varchar"
    missing = f"{null_if_missing(cell, kind, recipe.missing)} is null or {is_nan(number)}"
    return (
        f"case when {missing} then null when {number} is null then -2 "
        f"when {number} > {double(edges[-1])} then {len(edges) - 1} "
        f"else {_search(number, edges, 0, len(edges) - 1)} end"
    )


def _search(number: str, edges: Sequence[float], low: int, high: int) -> str:
    """Return nested cases that find the bin by halving, between the edges *low* and *high*."""
    if high - low == 1:
        return f"{low}" if low else f"case when {number} < {double(edges[0])} then -1 else 0 end"
    middle = (low + high) // 2
    left, right = _search(number, edges, low, middle), _search(number, edges, middle, high)
    return f"case when {number} < {double(edges[middle])} then {left} else {right} end"


def check_bins(name: str, bins: Sequence[int | None], edges: Sequence[float]) -> None:
    """Refuse bins that stand for what is no number between the edges."""
    if -2 in bins:
        raise InputError(
            f"column {name!r} is asked for as numbers (cut), but holds text that is not a number"
        )
    if -1 in bins:
        raise outside_edges(name, f"a number below {edges[0]!r}", edges)
    if len(edges) - 1 in bins:
        raise outside_edges(name, f"a number above {edges[-1]!r}", edges)


def _check_weights(name: str, groups: Any) -> None:
    import numpy as np

    if sum(groups["absent"].to_pylist()):
        raise bad_weight(name, "a blank cell or a word")
    least, total = as_numpy(groups["least"]), as_numpy(groups["total"])
    if (least < 0).any():
        raise bad_weight(name, least.min())
    if not np.isfinite(total).all():  # a sum passes NaN and infinity on
        raise bad_weight(name, total[~np.isfinite(total)][0])


# The sketch of items, made in the same scan that counts: no second pass over a file.


_SPARE = 16
"""How many times the rows of a sketch are looked at in a large table, in case items repeat."""


@dataclass(frozen=True, kw_only=True)
class LeastItems:
    """The rows of each pattern whose items have the smallest hashes.

    Parameters
    ----------
    column, sql_type
        The column of items.
    rows
        How many rows the table has.
    """

    column: str
    sql_type: str
    rows: int

    @property
    def limit(self) -> int:
        """Hashes below this are looked at: all in a small table, so that its sketch is whole.

        In a large table nearly all rows are passed over by one comparison, which costs less than
        keeping the smallest of each pattern.
        """
        if self.rows <= _SPARE * MOST:
            return WHOLE
        return row_key(WHOLE * _SPARE * MOST // self.rows, 0)

    def key(self) -> str:
        """Return the SQL of an item's hash; an item is hashed as text, so that its type does not
        matter.
        """
        cell = identifier(self.column)
        if kind_of(self.sql_type) == "float":  # pandas writes whole numbers beside a gap as 1.0
            whole = f"{cell} = floor({cell}) and abs({cell}) < 9e15"
            cell = f"case when {whole} then {cell}::bigint::varchar else {cell}::varchar end"
        elif kind_of(self.sql_type) != "text":
            cell = f"{cell}::varchar"
        return f"case when {cell} is not null then hash({cell}) end as item"

    def sums(self) -> str:
        """Return the SQL of what is fetched for each pattern."""
        below = "" if self.limit == WHOLE else f" filter (where item < {self.limit}::ubigint)"
        # The hash function of the engine may change from one version to the next, and sketches of
        # two functions cannot be compared: the hash of a fixed word tells them apart.
        return f"min(item, {MOST + 1}){below} as items, min(hash('tallystick')) as kind"

    def sketch(
        self, votes: Mapping[str, Any], groups: Any, missing: frozenset[str]
    ) -> dict[str, ItemSketch]:
        """Return the sketch, by the hash function that made it.

        *votes* has the cells of each pattern by column, *groups* what :meth:`sums` fetched.
        """
        import pyarrow as pa

        found = {place: items for place, items in enumerate(groups["items"].to_pylist()) if items}
        places = pa.array(found, pa.int64())
        cells = {name: column.take(places).to_pylist() for name, column in votes.items()}

        limit = self.limit
        rows: list[int] = []
        for k, items in enumerate(found.values()):
            # A full list may have left out rows of its last item and beyond.
            if len(items) > MOST:
                limit = min(limit, row_key(items[-1], 0))
            seen = votes_hash({name: column[k] for name, column in cells.items()}, missing)
            rows.extend(row_key(item, seen) for item in items)
        kinds = {f"{kind:x}" for kind in groups["kind"].to_pylist()}
        return {kind: ItemSketch.of(rows, limit=limit) for kind in kinds}


# One column in memory becomes whole numbers: small integers as they are, everything else by its
# dictionary.


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
    return not len(column) or int(column.max()) - int(column.min()) < MOST_LABELS


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

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return Encoded(np.zeros(len(column), np.uint8), labels=(None,))
    if not column.null_count and (
        pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)
    ):
        return encode(name, as_numpy(column), most=most)
    return _by_dictionary(name, column, most)


def _by_dictionary(name: str, column: Any, most: int) -> Encoded:
    """Encode an Arrow column by its hash table; a column that looks like text is refused after a
    glance.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (
        pa.types.is_primitive(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    ) or pa.types.is_temporal(kind):
        raise not_labels(name, f"has type {kind}")
    glance = pc.count_distinct(column.slice(0, _SAMPLE)).as_py()
    if glance > most:
        raise too_many(name, glance, [column[0].as_py()])
    coded = column.dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks() if coded.num_chunks != 1 else coded.chunk(0)
        if isinstance(coded, pa.ChunkedArray):  # combine_chunks of no chunk at all
            return Encoded(np.zeros(0, np.uint8), labels=(None,))
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
        column = as_numpy(column)
    if isinstance(column, np.ma.MaskedArray):
        column = np.where(np.ma.getmaskarray(column), np.nan, column.data.astype(np.float64))
    values = np.asarray(column)
    if values.dtype.kind == "O":
        values = np.array(
            [None if is_missing(value, missing) else value for value in values.tolist()], object
        )
    if values.dtype.kind in "OU":  # Python reads 1_000 as a thousand
        odd = next(
            (value for value in values.tolist() if isinstance(value, str) and "_" in value), None
        )
        if odd is not None:
            raise InputError(
                f"column {name!r} is asked for as numbers ({purpose}), but {odd!r} is not a number"
            )
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


# Columns that lie in memory: encode each, count the rows of integers.


@dataclass(frozen=True, eq=False)
class Counted:
    """What an engine brings back: patterns (rows may repeat) as codes into the labels as they were
    written; and a sketch of the items, where the recipe asks for one and the data come from files.
    """

    names: tuple[str, ...]
    labels: tuple[Sequence[Label], ...]
    codes: Codes
    counts: Counts
    sketch: Mapping[str, ItemSketch] = field(default_factory=dict)


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


# A stream of batches of small integers, counted without looking at labels until somebody asks.
#
# A batch of ten thousand rows takes the kernel some ten microseconds, so all that is checked here
# is that the batch looks like the ones before; whatever else arrives goes the general way.


_CONTIGUOUS = (1,)  # the strides of bytes that lie side by side


class Stream:
    """An open counter for batches that are dictionaries of integer (or all boolean) arrays."""

    def __init__(
        self, names: tuple[str, ...], dtypes: tuple[np.dtype[Any], ...], recipe: Recipe
    ) -> None:
        self.recipe = recipe
        self._names = names
        self._columns = tuple(zip(names, dtypes, strict=True))
        self._bytes = all(dtype.itemsize == 1 for dtype in dtypes)
        self._boolean = dtypes[0].kind == "b"
        self._exactly = recipe.columns is None
        self._counter = Counter(len(names), weighted=False)

    @classmethod
    def open(cls, batch: Any, held: Patterns, recipe: Recipe) -> Stream | None:
        """Return a stream that goes on from *held*, if batches like this one can be counted without
        looking at labels.

        That is so if nothing is cut or weighted and all labels, those of *held* included, are of
        one type: then no two spellings of one value can meet.
        """
        if type(batch) is not dict or recipe.cut or recipe.weight is not None:
            return None
        columns = [batch[name] for name in held.names]
        if not all(
            isinstance(column, np.ndarray) and column.dtype.kind in "biu" for column in columns
        ):
            return None
        boolean = {column.dtype.kind == "b" for column in columns}
        kind = bool if boolean == {True} else int
        known = {
            type(label) for labels in held.labels.values() for label in labels if label is not None
        }
        if len(boolean) > 1 or not known <= {kind}:
            return None
        return cls(held.names, tuple(column.dtype for column in columns), recipe)

    @property
    def rows(self) -> int:
        """How many rows wait to be taken over."""
        return self._counter.rows

    def take(self, batch: Any) -> int | None:
        """Count the batch: None if all of it was taken, else how many of its first rows were."""
        names = self._names
        if type(batch) is not dict or (self._exactly and len(batch) != len(names)):
            return 0
        columns, plain = [], self._bytes
        shape = None
        for name, dtype in self._columns:
            column = batch.get(name)
            if type(column) is not np.ndarray or column.dtype is not dtype:
                return 0
            if shape is None:
                shape = column.shape
            if column.shape != shape or len(shape) != 1:
                return 0
            plain = plain and column.strides == _CONTIGUOUS
            columns.append(column)
        n = len(columns[0])
        if self._boolean:
            columns = [column.view(np.uint8) for column in columns]
        if plain and self._counter.add_bytes(columns, n):
            return None
        taken = self._counter.add(columns)
        return None if taken == n else taken

    def drain(self) -> Counted:
        """Return what was counted, and start again."""
        values, counts = self._counter.patterns()
        self._counter = Counter(len(self._names), weighted=False)
        stand_in = Encoded(np.zeros(0, np.int64), boolean=self._boolean)
        return decode(self._names, [stand_in] * len(self._names), values, counts)
