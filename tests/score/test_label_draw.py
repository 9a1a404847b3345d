"""Which outputs were graded decides what the grades can say."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.table.doubts import find_doubt
from tallystick.verbs.score import evaluate
from tallystick.verbs.score.answer import CAPABILITY
from tests.score.tables import ROLES, drawn


def test_all_means_all():
    with pytest.raises(InputError, match="480 of 600 have none"):
        evaluate(drawn(), label_draw="all", **ROLES)


def test_labels_of_unknown_origin_change_the_guarantee_and_warn():
    result = evaluate(drawn(), label_draw="unknown", **ROLES)
    assert result.systems[0].interval.guarantee == "under"
    assert (
        result.pairs[0].interval.promise
        == "under the outputs that people graded were drawn at random"
    )
    assert any("complaints" in text for text in result.warnings)
    body = result.to_dict()
    assert body["systems"][0]["interval_guarantee"].startswith("under")


def outputs_of(grades, known):
    table = {"item": np.repeat(np.arange(200), 2).tolist(), "system": ["a", "b"] * 200}
    table |= {name: grades[:, j].tolist() for j, name in enumerate("xy")}
    human = [5.0 if one else None for one in known]
    roles = {"judges": ("x", "y"), "truth": "human", "system": "system", "item": "item"}
    return read({**table, "human": human}, CAPABILITY.door, **roles)


def test_false_doubts_are_as_rare_as_promised_although_systems_share_their_items():
    """200 items, both outputs of an item are graded together, and hard items are hard for both."""
    doubts = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        hard = rng.integers(0, 5, 200)
        noise = rng.integers(-1, 2, (400, 2))
        grades = np.clip(np.repeat(hard, 2)[:, None] + noise, 0, 4) + 1
        known = np.repeat(rng.permutation(200) < 40, 2)
        doubts += find_doubt(outputs_of(grades, known)) is not None
    assert doubts <= 1  # at most 0.1% each: 2 or more have a chance of 0.08%


def test_grades_of_many_values_are_looked_at_as_an_order():
    rng = np.random.default_rng(1)
    grades = 1 + 4 * rng.random((400, 2))
    low = grades[:, 0] < 2.5
    found = find_doubt(outputs_of(grades, low & (rng.random(400) < 0.5)))
    assert found is not None
    assert "on rows with 'x' from 1." in found.seen
