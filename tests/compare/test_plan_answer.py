import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.verbs.compare.planning import PLAN, PlanQuestion, plan_answer

PILOT = {"a": [1, 1, 1, 0, 1, 0, 1, 1] * 20, "b": [1, 0, 1, 0, 0, 1, 1, 1] * 20}


def planned(table=None, **options):
    data = None if table is None else read(table, PLAN.door)
    return plan_answer(data, PlanQuestion(**options))


def test_a_pilot_gives_the_difference_and_the_disagreement_and_is_said_to_flatter():
    result = planned(PILOT)
    named = planned(difference=0.125, disagreement=0.375, accuracy=0.6875)
    assert [row.n_items for row in result.methods] == [row.n_items for row in named.methods]
    assert any("may flatter" in text for text in result.warnings)
    assert not any("may flatter" in text for text in planned(PILOT, difference=0.05).warnings)


def test_a_pilot_of_equal_models_asks_for_the_difference():
    with pytest.raises(InputError, match=r"are equal: say which difference is to be shown"):
        planned({"a": [1, 0] * 20, "b": [0, 1] * 20})


def test_nothing_to_plan_for_is_refused_with_the_ways_out():
    with pytest.raises(InputError, match=r"--difference, a pilot file, or --judges"):
        planned()
    with pytest.raises(InputError, match="leave out the pilot"):
        planned(PILOT, judges=True, limit=0.05)
