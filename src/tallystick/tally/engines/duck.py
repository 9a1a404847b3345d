"""DuckDB relations, and files behind them: one GROUP BY, out of core; only the groups are
fetched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.errors import InputError
from tallystick.io.arrays import as_numpy
from tallystick.tally.engines.duck_items import LeastItems
from tallystick.tally.engines.encode import bad_weight, outside_edges
from tallystick.tally.engines.memory import Counted, count_groups
from tallystick.tally.recipe import Recipe
from tallystick.values.label import MOST_LABELS, not_labels, too_many
from tallystick.values.missing import as_number, is_nan, null_if_missing
from tallystick.values.sql import double, identifier, kind_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

__all__ = ["count_relation", "fetch_columns"]

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
        _check_bins(name, columns[name].to_pylist(), edges)
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


def _check_bins(name: str, bins: Sequence[int | None], edges: Sequence[float]) -> None:
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
