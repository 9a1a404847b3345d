"""Real leaderboards and hand-checked counts."""

import numpy as np
import pytest

from tallystick.verbs.compare import Board, CompareQuestion, evaluate

# All pairs told apart by step-down max-T; contenders; tiers. Measured beforehand with other code on
# the same files.
EXPECTED = {"all": (399, 1, 12), "gsm:": (392, 1, 8), "med_qa:": (324, 2, 2)}


@pytest.fixture(scope="module")
def helm(shared_data):
    import pyarrow.parquet as pq

    table = pq.read_table(shared_data / "compare" / "helm_lite_binary.parquet")
    names = tuple(name for name in table.column_names if name not in ("scenario", "item_id"))
    return (
        names,
        np.stack([table[name].to_numpy() for name in names], axis=1).astype(float),
        table["scenario"].to_pylist(),
    )


@pytest.mark.parametrize("scenario", EXPECTED)
def test_leaderboards_tell_apart_what_was_told_apart(helm, scenario):
    names, scores, scenarios = helm
    part = scores if scenario == "all" else scores[np.array(scenarios) == scenario]
    result = evaluate(Board(names=names, scores=part), question=CompareQuestion(draws=4000))
    pairs, contenders, tiers = EXPECTED[scenario]
    assert abs(result.pairs_told - pairs) <= 3
    assert (len(result.contenders), abs(len(result.tiers) - tiers) <= 1) == (contenders, True)


def test_alpaca_eval_tells_apart_what_was_told_apart(shared_data):
    import pyarrow.parquet as pq

    table = pq.read_table(shared_data / "compare" / "alpaca_eval2_winrate_805x.parquet")
    names = tuple(name for name in table.column_names if name not in ("item_id", "dataset"))
    scores = np.stack([table[name].to_numpy() for name in names], axis=1).astype(float)
    board = Board(names=names, scores=scores[~np.isnan(scores).any(axis=1)])
    result = evaluate(board, question=CompareQuestion(bounds=(0.0, 1.0), draws=200_000))
    assert abs(result.pairs_told - 1062) <= 3
    assert (len(result.contenders), len(result.tiers)) == (1, 6)
