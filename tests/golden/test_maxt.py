"""Real leaderboards: how many pairs step-down max-T tells apart, against the figures measured
before it was written."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from tallystick.stats.maxt import pairwise_max_t


@pytest.mark.parametrize(
    ("file", "told_apart", "within", "neighbours"),
    [
        ("helm_lite_binary", 399, 1, 12),
        # 1059 on the 797 complete items at 200,000 draws; 10,000 give 1055 to 1062, which an
        # earlier program counted
        ("alpaca_eval2_winrate_805x", 1059, 2, 5),
    ],
)
def test_real_leaderboards_are_told_apart_as_measured(
    shared_data, file, told_apart, within, neighbours
):
    table = pq.read_table(shared_data / "compare" / f"{file}.parquet")
    models = table.column_names[2:]
    scores = np.column_stack([table[name].to_numpy().astype(float) for name in models])
    scores = scores[np.all(np.isfinite(scores), axis=1)]
    tests = pairwise_max_t(scores.sum(axis=0), scores.T @ scores, len(scores), rng=0, width=1.0)
    apart = np.zeros((len(models), len(models)), dtype=bool)
    apart[tests.first, tests.second] = tests.adjusted_p <= 0.05
    apart |= apart.T
    assert abs(apart.sum() // 2 - told_apart) <= within
    order = np.argsort(-scores.mean(axis=0))
    assert abs(apart[order[:-1], order[1:]].sum() - neighbours) <= 1
