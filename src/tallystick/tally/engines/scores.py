"""Scores on any engine: matrices in memory, record batches out of DuckDB, sums inside a lazy
frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.tally.engines import frame_of, is_relation, is_source, opened
from tallystick.tally.engines.encode import encode, numbers_of, weights_of
from tallystick.tally.recipe import Recipe
from tallystick.tally.sums import Sums, merge, sums_of
from tallystick.values.label import Label
from tallystick.values.missing import is_missing

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

__all__ = ["add_up"]

_BATCH = 1 << 16
_MOST_GROUPS = 1_000_000


def add_up(data: Any, recipe: Recipe, by: str | None) -> Sums:
    """Return the sums of *data*; what lies outside memory is read batch by batch or added up where
    it is.
    """
    if isinstance(data, Mapping):
        return _of_columns(data, recipe, by)
    if is_source(data):
        from tallystick.io import reading

        with opened(data) as table, reading(table.source):
            return _of_relation(table.relation, recipe, by)
    if is_relation(data):
        return _of_relation(data, recipe, by)
    import narwhals as nw

    from tallystick.tally.engines.frames import checked_names, columns_in
    from tallystick.tally.engines.lazy_scores import sums_of_lazy

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
    from tallystick.values.sql import identifier

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
