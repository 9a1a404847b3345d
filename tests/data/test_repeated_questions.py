"""Rows that ask the same are said to, with the way out."""

from __future__ import annotations

import numpy as np

from tallystick import compare
from tallystick.table import read
from tallystick.table.cautions import repeated_question


def table(times: int) -> dict[str, list]:
    rng = np.random.default_rng(2)
    old, new = (rng.random(40) < 0.45).astype(int), (rng.random(40) < 0.5).astype(int)
    order = np.repeat(np.arange(40), times)
    return {
        "id": list(range(40 * times)),
        "prompt": [f"p{k}" for k in order],
        "old": old[order].tolist(),
        "new": new[order].tolist(),
    }


def test_forty_prompts_are_not_a_thousand_items() -> None:
    result = compare.evaluate(table(25))
    assert any("1,000 rows have 40 different cells in 'prompt'" in one for one in result.warnings)
    assert any("--cluster prompt" in one for one in result.warnings)
    assert "rows with the same 'prompt' are as good as new ones" in result.assumptions


def test_prompts_that_hardly_repeat_and_declared_clusters_are_not_told() -> None:
    assert repeated_question(read(table(1), models=("old", "new"))) is None
    held = read(table(25), models=("old", "new"), cluster="prompt")
    assert repeated_question(held) is None
