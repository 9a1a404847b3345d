"""Sums inside a lazy frame: counts and sums by group, then products about a common origin; only
sums are collected.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import InputError
from tallystick.tally.engines.encode import bad_weight, encode
from tallystick.tally.engines.frames import columns_in
from tallystick.tally.recipe import Recipe
from tallystick.tally.sums import EXACT, Sums
from tallystick.values.label import identity, in_order
from tallystick.values.missing import is_missing, numbers_among

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["sums_of_lazy"]

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
