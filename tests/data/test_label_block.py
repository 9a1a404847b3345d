"""Labels on one block of rows are said to be on one."""

from __future__ import annotations

import numpy as np

from tallystick import judge, score
from tallystick.table import read
from tallystick.table.label_doubts import label_block

RNG = np.random.default_rng(6)
ROLES = {"judges": ("x", "y", "z"), "truth": "gold"}


def votes(labelled: np.ndarray) -> dict[str, list]:
    n = len(labelled)
    truth = RNG.integers(0, 2, n)
    columns = {
        name: np.where(RNG.random(n) < 0.8, truth, 1 - truth).tolist() for name in ("x", "y", "z")
    }
    gold = [int(y) if known else None for y, known in zip(truth, labelled, strict=True)]
    return {**columns, "gold": gold}


def test_the_first_rows_are_a_block_and_every_interval_rests_on_random_order() -> None:
    result = judge.evaluate(votes(np.arange(500) < 60), **ROLES)
    assert any("on rows 1 to 60 of 500" in warning for warning in result.warnings)
    assert "the table is in random order" in result.assumptions
    assert result.judges[0].interval.guarantee == "under"


def test_a_block_in_the_middle_with_gaps_is_found() -> None:
    known = np.zeros(500, bool)
    known[200:280] = RNG.random(80) < 0.7
    found = label_block(read(votes(known), **ROLES))
    assert found is not None
    assert 201 <= found.first < found.last <= 280


def test_random_labels_and_few_or_all_labels_are_no_block() -> None:
    for _ in range(50):
        assert label_block(read(votes(RNG.random(300) < 0.1), **ROLES)) is None
    assert label_block(read(votes(np.arange(300) < 5), **ROLES)) is None
    assert label_block(read(votes(np.ones(300, bool)), **ROLES)) is None


def test_a_table_sorted_by_system_with_one_graded_system_is_no_block() -> None:
    n = 200
    truth = RNG.integers(0, 2, 2 * n)
    known = (np.arange(2 * n) < n) & (RNG.random(2 * n) < 0.3)
    table = {
        "item": [*range(n), *range(n)],
        "system": ["a"] * n + ["b"] * n,
        "gpt": np.where(RNG.random(2 * n) < 0.8, truth, 1 - truth).tolist(),
        "human": [int(y) if k else None for y, k in zip(truth, known, strict=True)],
    }
    roles = {"judges": ("gpt",), "truth": "human", "system": "system"}
    assert label_block(read(table, **roles)) is None
    result = score.evaluate(table, **roles, item="item")
    assert not any("random order" in warning for warning in result.warnings)
