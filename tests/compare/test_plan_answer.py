import numpy as np
import pytest

from tallystick import plan
from tallystick.errors import InputError
from tallystick.stats.pairs import fit_scores
from tallystick.table import read
from tallystick.verbs.compare.planning import PLAN, PlanQuestion, plan_answer

PILOT = {"a": [1, 1, 1, 0, 1, 0, 1, 1] * 20, "b": [1, 0, 1, 0, 0, 1, 1, 1] * 20}


def planned(table=None, **options):
    data = None if table is None else read(table, PLAN.door)
    return plan_answer(data, PlanQuestion(**options))


def test_a_pilot_of_equal_models_asks_for_the_difference():
    with pytest.raises(InputError, match=r"are equal: say which difference is to be shown"):
        planned({"a": [1, 0] * 20, "b": [0, 1] * 20})


def test_a_pilot_of_several_runs_per_item_is_planned_for_the_test_that_compare_runs():
    rng = np.random.default_rng(0)

    def scores(items):
        hard = rng.beta(1, 1, (items, 1))
        return (rng.random((items, 4, 2)) < np.clip(hard[:, None] + [0.0, 0.12], 0, 1)).astype(
            float
        )

    runs = scores(400)
    table = {
        "item": np.repeat(np.arange(400), 4),
        "run": np.tile(np.arange(4), 400),
        "old": runs[..., 0].ravel(),
        "new": runs[..., 1].ravel(),
    }
    given = {"item": "item", "replicate": "run"}
    items = plan(table, difference=0.1, **given).n_items
    gaps = runs[..., 1].mean(axis=1) - runs[..., 0].mean(axis=1)
    told = 0
    for _ in range(150):
        drawn = rng.choice(gaps - gaps.mean() + 0.1, items)
        pair = np.stack([np.clip(0.5 - drawn / 2, 0, 1), np.clip(0.5 + drawn / 2, 0, 1)], axis=1)
        found = fit_scores(pair, bounds=(0, 1)).difference(1, 0).interval[0]
        told += found.low > 0
    assert told / 150 == pytest.approx(0.8, abs=0.1)
