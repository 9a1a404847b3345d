"""Frames through narwhals: an eager one gives its columns to the kernel, a lazy one counts where it
is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table.cells import (
    MOST_LABELS,
    Label,
    is_missing,
    not_labels,
    numbers_among,
    too_many,
)
from tallystick.table.engine import require
from tallystick.table.engines import (
    Counted,
    bad_weight,
    check_bins,
    count_columns,
    count_groups,
    encode,
    frame_of,
    is_relation,
    is_source,
    numbers_of,
    opened,
    weights_of,
)
from tallystick.table.moments import Recipe, Sums, merge, sums_of

if TYPE_CHECKING:
    import narwhals as nw
    from duckdb import DuckDBPyRelation

_GLANCE = 1 << 16
_COUNT, _LEAST, _ABSENT = "tally count", "least weight", "absent weights"
_ROWS = "rows of it"
_MOST_GROUPS = 1_000_000
_CELL = 48
"""Bytes that one fetched cell takes at the peak."""


def columns_in(frame: nw.DataFrame[Any], names: Sequence[str]) -> dict[str, Any]:
    """Return columns of an eager frame as arrays, without a copy where that is possible."""
    return {name: _column(frame[name]) for name in names}


def _column(series: nw.Series[Any]) -> Any:
    native = series.to_native()
    if series.implementation.is_pandas_like() and getattr(native.dtype, "kind", "") in "biufO":
        numpy_backed = type(native.dtype).__module__.startswith("numpy")
        return native.to_numpy() if numpy_backed else series.to_arrow()
    return series.to_arrow()


def count_eager(frame: nw.DataFrame[Any], recipe: Recipe) -> Counted:
    """Count a frame that lies in memory."""
    names = recipe.select(checked_names(frame.columns))
    weight = [recipe.weight] if recipe.weight is not None else []
    return count_columns(columns_in(frame, [*names, *weight]), recipe)


def count_lazy(frame: nw.LazyFrame[Any], recipe: Recipe) -> Counted:
    """Let the engine of a lazy frame group and count; only the groups are collected."""
    import narwhals as nw

    schema = frame.collect_schema()
    names = recipe.select(checked_names(list(schema)))
    _check_types(schema, names, recipe)
    _refuse_text(
        frame, [name for name in names if name not in recipe.cut and schema[name] not in _TINY()]
    )
    keys = [_binned(name, recipe) if name in recipe.cut else nw.col(name) for name in names]
    weight, sums = _weighing(recipe)
    groups = frame.select(*keys, *weight).group_by(*names).agg(*sums).collect()
    columns = columns_in(groups, groups.columns)
    if recipe.weight is not None:
        _check_weights(recipe.weight, groups)
    for name, edges in recipe.cut.items():
        # Dask has no integers with gaps, so bins may come back as floats.
        columns[name] = [
            None if bin_ is None or bin_ != bin_ else int(bin_) for bin_ in groups[name].to_list()
        ]
        check_bins(name, columns[name], edges)
    return count_groups(
        names,
        columns,
        columns[_ROWS if recipe.weight is None else _COUNT],
        weighted=recipe.weight is not None,
    )


def _weighing(recipe: Recipe) -> tuple[list[nw.Expr], list[nw.Expr]]:
    """Return what is selected besides the keys, and what is added up for each group."""
    import narwhals as nw

    if recipe.weight is None:
        return [], [nw.len().alias(_ROWS)]
    weight = nw.col(recipe.weight)
    return (
        [weight.cast(nw.Float64), weight.is_null().cast(nw.Int64).alias(_ABSENT)],
        [
            weight.sum().alias(_COUNT),
            weight.min().alias(_LEAST),
            nw.col(_ABSENT).sum(),
            nw.len().alias(_ROWS),
        ],
    )


def checked_names(names: Sequence[Any]) -> tuple[str, ...]:
    """Return the names of a frame's columns; one that is not text, or comes twice, is refused."""
    for name in names:
        if not isinstance(name, str):
            raise InputError(
                f"columns must be named by text, got {name!r}: rename the columns of the frame"
            )
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise InputError(f"the frame has more than one column {twice[0]!r}: rename one of them")
    return tuple(names)


def _TINY() -> tuple[Any, ...]:
    import narwhals as nw

    return (nw.Boolean, nw.Int8, nw.UInt8)


def _check_types(schema: Mapping[str, Any], names: Sequence[str], recipe: Recipe) -> None:
    import narwhals as nw

    for name in names:
        kind = schema[name]
        if kind.is_temporal() or kind.is_nested() or kind.is_decimal() or kind == nw.Binary:
            raise not_labels(name, f"has type {kind}")
    for name in (*recipe.cut, *([recipe.weight] if recipe.weight is not None else [])):
        if not schema[name].is_numeric():
            raise _no_numbers(name, schema[name])


def _no_numbers(name: str, kind: Any) -> InputError:
    return InputError(
        f"column {name!r} has type {kind}, and numbers are needed: cast it in the frame"
    )


def _refuse_text(frame: nw.LazyFrame[Any], names: Sequence[str]) -> None:
    """Look at the first rows before a group-by on text fills the memory of the engine."""
    import narwhals as nw

    if not names:
        return
    distinct = (
        frame.select(*names)
        .head(_GLANCE)
        .select(*(nw.col(name).n_unique() for name in names))
        .collect()
    )
    for name in names:
        if (found := int(distinct[name][0])) > MOST_LABELS:
            raise too_many(name, found)


def _binned(name: str, recipe: Recipe) -> nw.Expr:
    """Return the bin of a number: -1 below the first edge, one past the last bin above the last;
    NaN is null.
    """
    import narwhals as nw

    edges = recipe.cut[name]
    number = nw.col(name).cast(nw.Float64)
    bins = nw.lit(-1).cast(nw.Int32)
    for edge in edges[:-1]:
        bins = bins + (number >= edge).cast(nw.Int32)
    bins = bins + (number > edges[-1]).cast(nw.Int32)
    known = ~number.is_null() & ~number.is_nan()
    if absent := numbers_among(recipe.missing):
        known = known & ~number.is_in(absent)
    return nw.when(known).then(bins).alias(name)


def _check_weights(name: str, groups: nw.DataFrame[Any]) -> None:
    import math

    if sum(groups[_ABSENT].to_list()):
        raise bad_weight(name, "a missing one")
    for least, total in zip(groups[_LEAST].to_list(), groups[_COUNT].to_list(), strict=True):
        if least < 0:
            raise bad_weight(name, least)
        if not math.isfinite(total):  # a sum passes NaN and infinity on
            raise bad_weight(name, total)


# Scores on any engine: matrices in memory, record batches out of DuckDB, and from a lazy frame the
# different rows with their counts, as for a tally.


_BATCH = 1 << 16


def add_up(data: Any, recipe: Recipe, by: str | None) -> Sums:
    """Return the sums of *data*; what lies outside memory is read batch by batch or added up where
    it is.
    """
    if isinstance(data, Mapping):
        return _of_columns(data, recipe, by)
    if is_source(data):
        from tallystick.table.engine import reading

        with opened(data) as table, reading(table.source):
            return _of_relation(table.relation, recipe, by)
    if is_relation(data):
        return _of_relation(data, recipe, by)
    import narwhals as nw

    frame = frame_of(data)
    names = _scores(checked_names(list(frame.collect_schema())), recipe, by)
    if isinstance(frame, nw.LazyFrame):
        return _of_lazy(frame, names, recipe, by)
    wanted = _with_roles(names, recipe, by)
    return _of_columns(columns_in(frame, wanted), recipe, by)


def _of_lazy(
    frame: nw.LazyFrame[Any], names: tuple[str, ...], recipe: Recipe, by: str | None
) -> Sums:
    """Let the engine count the different rows; only these are collected, if they fit."""
    import narwhals as nw

    schema = frame.collect_schema()
    keys = list(names) if by is None else [*names, by]
    for name in (*names, *([recipe.weight] if recipe.weight is not None else [])):
        if not (schema[name].is_numeric() or schema[name].is_boolean()):
            raise _no_numbers(name, schema[name])
    cells = [nw.col(name).cast(nw.Float64) for name in names]
    cells += [] if by is None else [nw.col(by)]
    weight, sums = _weighing(recipe)
    groups = frame.select(*cells, *weight).group_by(*keys).agg(*sums)
    rows = int(groups.select(nw.len().alias(_LEAST)).collect()[_LEAST][0])
    require(
        rows * (len(keys) + 1) * _CELL,
        f"The frame has {rows:,} different rows of scores: adding them up",
        "Give fewer columns or rows.",
    )
    found = groups.collect()
    columns = columns_in(found, keys)
    counts = np.asarray(found[_ROWS].to_numpy(), np.float64)
    held = _of_columns(columns, replace(recipe, columns=names, weight=None), by, counts)
    if recipe.weight is None:
        return held
    _check_weights(recipe.weight, found)
    columns[recipe.weight] = np.asarray(found[_COUNT].to_numpy(), np.float64)
    weighed = _of_columns(columns, replace(recipe, columns=names), by)
    return replace(weighed, dropped=held.dropped)


def _scores(available: Sequence[str], recipe: Recipe, by: str | None) -> tuple[str, ...]:
    if by is not None:
        Recipe(columns=(by,)).select(tuple(available))
    return recipe.select(tuple(name for name in available if name != by))


def _with_roles(names: Sequence[str], recipe: Recipe, by: str | None) -> list[str]:
    return [*names, *(role for role in (by, recipe.weight) if role is not None)]


def _of_columns(
    columns: Mapping[str, Any],
    recipe: Recipe,
    by: str | None,
    counts: NDArray[np.float64] | None = None,
) -> Sums:
    names = _scores(tuple(columns), recipe, by)
    scores = [numbers_of(name, columns[name], "score", recipe.missing) for name in names]
    weights = counts
    if recipe.weight is not None:
        weights = weights_of(recipe.weight, columns[recipe.weight])
    groups, codes = (None, None) if by is None else _groups(by, columns[by], recipe)
    lengths = {name: len(score) for name, score in zip(names, scores, strict=True)}
    if weights is not None:
        lengths[recipe.weight or "counts"] = len(weights)
    if codes is not None:
        lengths[str(by)] = len(codes)
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns must have equal lengths, got {lengths}")
    for name, score in zip(names, scores, strict=True):
        if np.isinf(score).any():
            raise InputError(
                f"score {name!r} holds an infinite number: mark it as missing, or correct it"
            )
    total: Sums | None = None
    for start in range(0, max(1, len(scores[0])), _BATCH):
        part = slice(start, start + _BATCH)
        fresh = sums_of(
            names,
            np.stack([score[part] for score in scores], axis=1),
            groups=groups,
            codes=None if codes is None else codes[part],
            weights=None if weights is None else weights[part],
            weighted=recipe.weight is not None,
        )
        total = fresh if total is None else merge(total, fresh)
    assert total is not None
    return total


def _groups(name: str, column: Any, recipe: Recipe) -> tuple[list[Label], NDArray[np.int64]]:
    encoded = encode(name, column, most=_MOST_GROUPS)
    distinct, codes = np.unique(encoded.values, return_inverse=True)
    written = (encoded.label(value) for value in distinct.tolist())
    return [
        None if is_missing(label, recipe.missing) else label for label in written
    ], codes.astype(np.int64)


def _of_relation(relation: DuckDBPyRelation, recipe: Recipe, by: str | None) -> Sums:
    """Read a relation batch by batch: memory holds one batch, however long the table is."""
    from tallystick.table.cells import identifier

    names = _scores(tuple(relation.columns), recipe, by)
    wanted = _with_roles(names, recipe, by)
    narrow = replace(recipe, columns=names)
    total: Sums | None = None
    for columns in _batches(relation.project(", ".join(map(identifier, wanted))), wanted):
        fresh = _of_columns(columns, narrow, by)
        total = fresh if total is None else merge(total, fresh)
    return (
        total
        if total is not None
        else _of_columns({name: np.zeros(0) for name in wanted}, narrow, by)
    )


def _batches(relation: DuckDBPyRelation, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for batch in relation.to_arrow_reader(_BATCH):
        yield {name: batch.column(j) for j, name in enumerate(names)}
