"""Frames through narwhals: an eager one gives its columns to the kernel, a lazy one counts where it
is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError
from tallystick.tally.engines.encode import bad_weight, outside_edges
from tallystick.tally.engines.memory import Counted, count_columns, count_groups
from tallystick.tally.recipe import Recipe
from tallystick.values.label import MOST_LABELS, not_labels, too_many
from tallystick.values.missing import numbers_among

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["columns_in", "count_eager", "count_lazy"]

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
