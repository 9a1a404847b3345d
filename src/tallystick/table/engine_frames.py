"""Frames through narwhals: an eager one gives its columns to the kernel, a lazy one counts where it
is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table.cells import (
    MOST_LABELS,
    Label,
    identity,
    in_order,
    is_missing,
    not_labels,
    numbers_among,
    too_many,
)
from tallystick.table.engines import (
    Counted,
    bad_weight,
    count_columns,
    count_groups,
    encode,
    frame_of,
    is_relation,
    is_source,
    numbers_of,
    opened,
    outside_edges,
    weights_of,
)
from tallystick.table.moments import EXACT, Recipe, Sums, merge, sums_of

if TYPE_CHECKING:
    import narwhals as nw
    from duckdb import DuckDBPyRelation

_GLANCE = 1 << 16
_COUNT, _LEAST, _ABSENT = "tally count", "least weight", "absent weights"


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
    sums = [nw.len().alias(_COUNT)]
    if recipe.weight is not None:
        weight = nw.col(recipe.weight)
        keys += [weight.cast(nw.Float64), weight.is_null().cast(nw.Int64).alias(_ABSENT)]
        sums = [weight.sum().alias(_COUNT), weight.min().alias(_LEAST), nw.col(_ABSENT).sum()]
    groups = frame.select(*keys).group_by(*names).agg(*sums).collect()
    columns = columns_in(groups, groups.columns)
    if recipe.weight is not None:
        _check_weights(recipe.weight, groups)
    for name, edges in recipe.cut.items():
        # Dask has no integers with gaps, so bins may come back as floats.
        columns[name] = [
            None if bin_ is None or bin_ != bin_ else int(bin_) for bin_ in groups[name].to_list()
        ]
        _check_bins(name, columns[name], edges)
    return count_groups(names, columns, columns[_COUNT], weighted=recipe.weight is not None)


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
            raise InputError(
                f"column {name!r} has type {schema[name]}, and numbers are needed: cast it in the"
                " frame"
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


def _check_bins(name: str, bins: Sequence[int | None], edges: Sequence[float]) -> None:
    if -1 in bins:
        raise outside_edges(name, f"a number below {edges[0]!r}", edges)
    if len(edges) - 1 in bins:
        raise outside_edges(name, f"a number above {edges[-1]!r}", edges)


def _check_weights(name: str, groups: nw.DataFrame[Any]) -> None:
    import math

    if sum(groups[_ABSENT].to_list()):
        raise bad_weight(name, "a missing one")
    for least, total in zip(groups[_LEAST].to_list(), groups[_COUNT].to_list(), strict=True):
        if least < 0:
            raise bad_weight(name, least)
        if not math.isfinite(total):  # a sum passes NaN and infinity on
            raise bad_weight(name, total)


# Sums inside a lazy frame: counts and sums by group, then products about a common origin; only
# sums are collected.


_WEIGHT, _ROWS, _GROUP = "row weight", "rows", "row group"
_MOST_GROUPS = 1_000_000


def sums_of_lazy(
    frame: nw.LazyFrame[Any], names: tuple[str, ...], recipe: Recipe, by: str | None
) -> Sums:
    """Add up a lazy frame in its own engine: two passes, the second one about the means of the
    first.
    """
    schema = frame.collect_schema()
    for name in (*names, *([recipe.weight] if recipe.weight is not None else [])):
        if not (schema[name].is_numeric() or schema[name].is_boolean()):
            raise InputError(
                f"column {name!r} has type {schema[name]}, and numbers are needed: cast it in the"
                " frame"
            )
    rows, complete = _prepared(frame, names, recipe, by)
    overview = _first_pass(rows, complete, names, recipe)
    groups, counts, sums = _by_group(complete, names, recipe, by)
    n, dropped = float(counts.sum()), int(overview["all"]) - int(overview["complete"])
    exact = recipe.weight is None and overview["broken"] == 0 and max(overview["squares"]) < EXACT
    origin = np.zeros(len(names)) if exact or not n else sums.sum(axis=0) / n
    products = _products(complete, names, origin)
    return Sums(
        names=names,
        groups=groups,
        grouped=by is not None,
        weighted=recipe.weight is not None,
        exact=exact,
        counts=counts,
        sums=sums,
        products=products,
        dropped=dropped,
    )


def _prepared(
    frame: nw.LazyFrame[Any], names: Sequence[str], recipe: Recipe, by: str | None
) -> tuple[nw.LazyFrame[Any], nw.LazyFrame[Any]]:
    """Return all rows with the columns needed as floats, and those rows that have every score."""
    import narwhals as nw

    columns = [nw.col(name).cast(nw.Float64).alias(f"x{j}") for j, name in enumerate(names)]
    weight = nw.lit(1.0) if recipe.weight is None else nw.col(recipe.weight).cast(nw.Float64)
    group = nw.lit(0) if by is None else nw.col(by)
    rows = frame.with_columns(*columns, weight.alias(_WEIGHT), group.alias(_GROUP))
    rows = rows.select(*(f"x{j}" for j in range(len(names))), _WEIGHT, _GROUP)
    absent = numbers_among(recipe.missing)
    present = [~nw.col(f"x{j}").is_null() & ~nw.col(f"x{j}").is_nan() for j in range(len(names))]
    if absent:
        present += [~nw.col(f"x{j}").is_in(absent) for j in range(len(names))]
    return rows, rows.filter(reduce(and_, present))


def _first_pass(
    rows: nw.LazyFrame[Any], complete: nw.LazyFrame[Any], names: Sequence[str], recipe: Recipe
) -> dict[str, Any]:
    """Count rows, look for scores that are not whole and for weights that cannot be."""
    import narwhals as nw

    weight = nw.col(_WEIGHT)
    every = rows.select(
        weight.is_null().cast(nw.Int64).sum().alias("absent"),
        nw.len().alias("rows"),
        weight.min().alias("least"),
        weight.sum().alias("total"),
    ).collect()
    if recipe.weight is not None and every["rows"][0]:
        if every["absent"][0]:
            raise bad_weight(recipe.weight, "a missing one")
        if every["least"][0] < 0:
            raise bad_weight(recipe.weight, every["least"][0])
        if not np.isfinite(every["total"][0]):
            raise bad_weight(recipe.weight, every["total"][0])
    x = [nw.col(f"x{j}") for j in range(len(names))]
    found = complete.select(
        nw.len().alias("rows"),
        *(
            (column != column.round(0)).cast(nw.Int64).sum().alias(f"b{j}")
            for j, column in enumerate(x)
        ),
        *((column * column).sum().alias(f"s{j}") for j, column in enumerate(x)),
    ).collect()
    squares = [float(found[f"s{j}"][0] or 0.0) for j in range(len(x))]
    for name, square in zip(names, squares, strict=True):
        if not np.isfinite(square):
            raise InputError(
                f"score {name!r} holds an infinite or enormous number: mark it as missing, or"
                " correct it"
            )
    broken = sum(int(found[f"b{j}"][0] or 0) for j in range(len(x)))
    return {
        "all": every["rows"][0],
        "complete": found["rows"][0],
        "broken": broken,
        "squares": squares,
    }


def _by_group(
    complete: nw.LazyFrame[Any], names: Sequence[str], recipe: Recipe, by: str | None
) -> tuple[tuple[Any, ...], Any, Any]:
    """Return the groups in canonical order, with the weight and the sums of each."""
    import narwhals as nw

    weight = nw.col(_WEIGHT)
    weighed = complete.with_columns(
        *((nw.col(f"x{j}") * weight).alias(f"x{j}") for j in range(len(names)))
    )
    sums = [weight.sum(), *(nw.col(f"x{j}").sum() for j in range(len(names)))]
    found = weighed.group_by(_GROUP).agg(*sums).collect()
    counts = np.asarray(found[_WEIGHT].to_list(), np.float64)
    totals = np.stack(
        [np.asarray(found[f"x{j}"].to_list(), np.float64) for j in range(len(names))], axis=1
    )
    if by is None:
        return (), counts.sum(keepdims=True), totals.sum(axis=0, keepdims=True)
    encoded = encode(by, columns_in(found, [_GROUP])[_GROUP], most=_MOST_GROUPS)
    written = [encoded.label(value) for value in encoded.values.tolist()]
    labels = [None if is_missing(label, recipe.missing) else label for label in written]
    groups = in_order(labels)
    place = {identity(group): i for i, group in enumerate(groups)}
    rows = np.array([place[identity(label)] for label in labels], np.int64)
    group_counts, group_sums = np.zeros(len(groups)), np.zeros((len(groups), len(names)))
    np.add.at(group_counts, rows, counts)
    np.add.at(group_sums, rows, totals)
    return groups, group_counts, group_sums


def _products(complete: nw.LazyFrame[Any], names: Sequence[str], origin: Any) -> Any:
    import narwhals as nw

    k = len(names)
    x = [nw.col(f"x{j}") - float(origin[j]) for j in range(k)]
    pairs = [(i, j) for i in range(k) for j in range(i, k)]
    sums = [(x[i] * x[j] * nw.col(_WEIGHT)).sum().alias(f"p{i}_{j}") for i, j in pairs]
    found = complete.select(*sums).collect()
    products = np.zeros((k, k))
    for i, j in pairs:
        products[i, j] = products[j, i] = float(found[f"p{i}_{j}"][0] or 0.0)
    return products


# Scores on any engine: matrices in memory, record batches out of DuckDB, sums inside a lazy
# frame.


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
        return sums_of_lazy(frame, names, recipe, by)
    wanted = _with_roles(names, recipe, by)
    return _of_columns(columns_in(frame, wanted), recipe, by)


def _scores(available: Sequence[str], recipe: Recipe, by: str | None) -> tuple[str, ...]:
    if by is not None:
        Recipe(columns=(by,)).select(tuple(available))
    return recipe.select(tuple(name for name in available if name != by))


def _with_roles(names: Sequence[str], recipe: Recipe, by: str | None) -> list[str]:
    return [*names, *(role for role in (by, recipe.weight) if role is not None)]


def _of_columns(columns: Mapping[str, Any], recipe: Recipe, by: str | None) -> Sums:
    names = _scores(tuple(columns), recipe, by)
    scores = [numbers_of(name, columns[name], "score", recipe.missing) for name in names]
    weights = None if recipe.weight is None else weights_of(recipe.weight, columns[recipe.weight])
    groups, codes = (None, None) if by is None else _groups(by, columns[by], recipe)
    lengths = {name: len(score) for name, score in zip(names, scores, strict=True)}
    if weights is not None:
        lengths[str(recipe.weight)] = len(weights)
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
