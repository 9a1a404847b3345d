from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.table.engines import Stream
from tallystick.table.moments import Recipe
from tallystick.table.patterns import Patterns


def held(batch: dict[str, Any], **options: Any) -> Patterns:
    return Tally.of(batch, **options)._held


def batch(seed: int = 0, n: int = 50, kind: Any = np.int8) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {name: rng.integers(0, 2, n).astype(kind) for name in ("a", "b")}


def opened(first: dict[str, Any], recipe: Recipe | None = None) -> Stream:
    stream = Stream.open(first, held(first), recipe or Recipe())
    assert stream is not None
    return stream


@pytest.mark.parametrize("kind", [np.int8, np.int64, bool])
def test_a_stream_counts_what_the_general_way_counts(kind: Any) -> None:
    batches = [batch(seed, kind=kind) for seed in range(3)]
    stream = opened(batches[0])
    assert [stream.take(one) for one in batches] == [None, None, None]
    assert stream.rows == 150
    counted = stream.drain()
    found = {
        tuple(counted.labels[j][code] for j, code in enumerate(row)): int(n)
        for row, n in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)
    }
    rows = [row for one in batches for row in zip(*(c.tolist() for c in one.values()), strict=True)]
    assert found == {row: rows.count(row) for row in rows}
    assert all(type(label) is (bool if kind is bool else int) for row in found for label in row)
    assert stream.rows == 0


@pytest.mark.parametrize(
    "change",
    [
        {"a": np.zeros(50, np.int16)},
        {"a": np.zeros(49, np.int8)},
        {"a": [0] * 50},
        {"a": np.zeros((50, 1), np.int8)},
        {"c": np.zeros(50, np.int8)},
    ],
    ids=["type", "length", "list", "shape", "column"],
)
def test_a_batch_unlike_the_first_is_left_to_the_general_way(change: dict[str, Any]) -> None:
    stream = opened(batch())
    assert stream.take(batch() | change) == 0
    assert stream.rows == 0


def test_columns_beyond_the_recipe_are_passed_over_if_the_recipe_names_its_own() -> None:
    stream = opened(batch(), Recipe(columns=("a", "b")))
    assert stream.take(batch() | {"c": np.zeros(50, np.int8)}) is None
    assert stream.rows == 50


def test_only_plain_integers_of_one_kind_are_streamed() -> None:
    first = batch()
    assert Stream.open(first, held(first), Recipe(weight="w")) is None
    assert Stream.open(first, held(first), Recipe(cut={"a": (0.0, 1.0)})) is None
    words = {"a": ["x", "y"], "b": ["y", "x"]}
    assert Stream.open(words, held(words), Recipe()) is None
    # True and 1 are two spellings of one value: they may meet only where somebody looks.
    booleans = {name: column.astype(bool) for name, column in first.items()}
    assert Stream.open(booleans, held(first), Recipe()) is None
    mixed = first | {"a": booleans["a"]}
    assert Stream.open(mixed, held(first), Recipe()) is None
