"""Real leaderboards and hand-checked counts."""

import numpy as np
import pytest

from tallystick.compare import Board, Settings, evaluate
from tallystick.compare.clusters import satterthwaite

# Adjacent pairs told apart by Hoeffding and the union bound, by Holm on exact McNemar, by step-down max-T; all pairs by
# max-T; contenders; tiers. Measured beforehand with other code on the same files.
EXPECTED = {"all": (0, 12, 12, 399, 1, 12), "gsm:": (0, 7, 7, 392, 1, 8), "med_qa:": (0, 1, 1, 324, 2, 2)}


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
    result = evaluate(Board(names=names, scores=part), settings=Settings(draws=4000))
    hoeffding, holm, max_t, pairs, contenders, tiers = EXPECTED[scenario]
    assert [row.adjacent for row in result.guarantees[:2]] == [hoeffding, holm]
    assert abs(result.guarantees[2].adjacent - max_t) <= 1
    assert abs(result.guarantees[2].pairs - pairs) <= 3
    assert (len(result.contenders), abs(len(result.tiers) - tiers) <= 1) == (contenders, True)


def test_twenty_scenarios_are_worth_seven_degrees_of_freedom(helm):
    sizes = np.unique(helm[2], return_counts=True)[1]
    assert satterthwaite(sizes) == pytest.approx(7.44, abs=0.005)
