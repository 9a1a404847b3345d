"""Labels on a few conversations are said to be."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick import judge
from tallystick.table import read
from tallystick.table.label_doubts import label_groups

ROLES = {"judges": ("x", "y", "z"), "truth": "gold"}
N = 750


def table(rng: np.random.Generator, known: np.ndarray, group: np.ndarray) -> dict[str, list[Any]]:
    truth = rng.integers(0, 2, N)
    votes = {
        name: np.where(rng.random(N) < 0.8, truth, 1 - truth).tolist() for name in ("x", "y", "z")
    }
    gold = [int(y) if one else None for y, one in zip(truth, known, strict=True)]
    return {"conversation": [f"c{k}" for k in group], **votes, "gold": gold}


def test_labels_of_six_conversations_are_told() -> None:
    rng = np.random.default_rng(1)
    group = rng.permutation(np.arange(N) % 25)
    result = judge.evaluate(table(rng, np.isin(group, range(6)), group), **ROLES)
    assert any("on 6 of the 25 different 'conversation'" in one for one in result.warnings)


def test_rows_drawn_at_random_are_not_doubted_even_if_groups_are_small() -> None:
    for seed in range(40):
        rng = np.random.default_rng(50 + seed)
        group = rng.integers(0, 200, N)  # most groups have no label
        assert label_groups(read(table(rng, rng.random(N) < 0.1, group), **ROLES)) is None
