"""What to grade next: a forecast where there is one, and the first few items where there is none."""

from dataclasses import replace

import pytest

from tallystick.score import evaluate
from tallystick.score.needed import SettlePlan
from tallystick.score.verdict_next import first_grades, first_step, needed_of, next_step
from tests.score.tables import ROLES, drawn


@pytest.fixture(scope="module")
def result():
    return evaluate(drawn(items=120, graded=5), **ROLES)


def test_every_system_gets_its_first_items(result):
    assert first_grades(result.systems) == 3 * 15
    text = first_step(result.systems, "question")
    assert text == "Next: grade 20 random questions for all three systems (45 more outputs)."
    full = [replace(row, n_labels=20) for row in result.systems]
    assert (first_grades(full), first_step(full, "item")) == (0, "")


def test_a_small_table_is_not_asked_for_more_than_it_has(result):
    few = [replace(row, n_outputs=8) for row in result.systems[:2]]
    assert first_step(few, "item").endswith("for both systems (6 more outputs).")


def test_a_plan_counts_the_outputs_of_both_systems(result):
    pair = replace(result.pairs[0], common_labels=5)
    plan = pair, SettlePlan(items=35, low=25, high=65, most=120, enough=True)
    assert "(30 items," in next_step(plan, "item")
    needed = needed_of(plan, labels=15, systems=3, unit="item", single=False)
    assert needed.count == 60
    hopeless = pair, replace(plan[1], enough=False)
    assert next_step(hopeless, "item").startswith("Next: even all 120 items may not settle")


def test_an_undecided_answer_with_few_grades_says_what_is_needed():
    table = drawn(items=120, graded=30)
    table["human"] = ["pass", "fail", *[None] * 358]
    result = evaluate(table, **ROLES)
    assert result.decision == "undecided"
    assert result.needed.count == 58
    assert "20 random items for every system" in str(result.needed)
