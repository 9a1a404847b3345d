"""Columns that lie in memory: encode each, count the rows of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.io.arrays import as_numpy
from tallystick.tally.counter import count_integers
from tallystick.tally.engines.encode import Encoded, cut_numbers, encode, weights_of
from tallystick.tally.item_sketch import ItemSketch
from tallystick.tally.recipe import Recipe
from tallystick.tally.store import Codes, Counts
from tallystick.values.label import Label

__all__ = ["Counted", "count_columns", "count_groups", "decode", "encode_columns"]


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
