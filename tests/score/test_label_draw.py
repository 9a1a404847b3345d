"""Which outputs were graded decides what the grades can say."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.table.doubts import find_doubt
from tallystick.verbs.score import evaluate
from tallystick.verbs.score.answer import CAPABILITY
from tests.score.tables import ROLES, drawn


def split(table):
    """Return which outputs the judges disagree on."""
    votes = zip(table["x"], table["y"], table["z"], strict=True)
    return [len(set(row)) > 1 for row in votes]


def test_two_such_labels_may_be_chance_and_pass():
    table = drawn(items=200, graded=200)
    places = [i for i, apart in enumerate(split(table)) if apart][:2]
    human = [value if i in places else None for i, value in enumerate(table["human"])]
    assert evaluate({**table, "human": human}, **ROLES).n_labels == 2


def test_all_means_all():
    with pytest.raises(InputError, match="480 of 600 have none"):
        evaluate(drawn(), label_draw="all", **ROLES)


def test_labels_of_unknown_origin_change_the_guarantee_and_warn():
    result = evaluate(drawn(), label_draw="unknown", **ROLES)
    assert result.systems[0].interval.guarantee == "under"
    assert result.pairs[0].interval.promise == "under the graded outputs are like a random draw"
    assert any("complaints" in text for text in result.warnings)
    body = result.to_dict()
    assert body["systems"][0]["interval_guarantee"].startswith("under")


def test_a_draw_that_favours_judged_failures_is_noticed():
    table = drawn(items=400, graded=400)
    rng = np.random.default_rng(0)
    human = [
        value if rng.random() < (0.4 if x == "fail" else 0.05) else None
        for value, x in zip(table["human"], table["x"], strict=True)
    ]
    result = evaluate({**table, "human": human}, **ROLES)
    [warning] = [text for text in result.warnings if "drawn at random" in text]
    assert "x says fail, which are" in warning
    assert warning.endswith("Label rows that are drawn at random")


def test_labels_on_one_system_only_are_said_and_not_taken_for_a_bad_draw():
    table = drawn()
    human = [
        value if system == "b" else None
        for value, system in zip(table["human"], table["system"], strict=True)
    ]
    result = evaluate({**table, "human": human}, **ROLES)
    assert result.verdict.startswith("Only b has human grades")
    assert any("does not carry over to" in text for text in result.warnings)
    assert not any("drawn at random" in text for text in result.warnings)
    assert result.decision == "undecided"


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
