"""Pairs whose labels are on different items, or partly common ones: they come from the scores."""

import pytest

from tallystick.verbs.score import evaluate
from tests.score.tables import ROLES, drawn


def test_labels_on_different_items_are_compared_by_the_scores():
    table = drawn(items=300, graded=300)
    half = [
        value if (system == "a") == (int(item[1:]) % 2 == 0) and int(item[1:]) < 120 else None
        for value, system, item in zip(table["human"], table["system"], table["item"], strict=True)
    ]
    result = evaluate({**table, "human": half}, **ROLES)
    pair = result.pair("a", "b")
    assert pair.common_labels == 0
    assert pair.interval.method == "few labels, Bonferroni"
    assert pair.settled


def test_without_items_systems_are_compared_as_if_on_different_ones():
    table = drawn(items=200, graded=40)
    known = evaluate(table, **ROLES)
    table.pop("item")
    roles = {name: value for name, value in ROLES.items() if name != "item"}
    blind = evaluate(table, **roles)
    for row in blind.systems:
        assert row.score == pytest.approx(known.system(row.name).score, abs=1e-12)
    assert blind.pair("b", "a").common_labels == 0
    assert blind.pair("b", "a").interval.width > known.pair("b", "a").interval.width * 0.9
    assert any("items are not known" in text for text in blind.assumptions)


@pytest.mark.parametrize("name", ["id", "uid", "conversation_id"])
def test_a_number_of_each_row_is_no_item_whatever_it_is_called(name):
    table = drawn(items=200, graded=60)
    table.pop("item")
    table[name] = [f"r{row}" for row in range(len(table["system"]))]
    roles = {role: value for role, value in ROLES.items() if role != "item"}
    result = evaluate(table, **roles)
    assert "decide nothing" not in result.verdict
    assert any("items are not known" in text for text in result.assumptions)
    # Who names it says that the systems were run on different items.
    assert "systems on different items" in evaluate(table, item=name, **roles).verdict
    # Nor is anything asked of a name that says what the systems were asked.
    table["question_id"] = table.pop(name)
    assert "systems on different questions" in evaluate(table, **roles).verdict
