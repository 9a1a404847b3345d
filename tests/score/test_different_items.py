"""Pairs whose labels are on different items, or partly common ones: they come from the scores."""

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
    assert pair.interval.method == "adverse likelihood, MOVER"
    assert pair.settled


def test_a_pair_with_all_labels_in_common_is_paired_even_if_a_third_system_is_not():
    table = drawn(items=200, graded=200)
    shown = [
        value if (int(item[1:]) < 40 if system != "c" else 60 <= int(item[1:]) < 90) else None
        for value, system, item in zip(table["human"], table["system"], table["item"], strict=True)
    ]
    result = evaluate({**table, "human": shown}, **ROLES)
    assert result.pair("a", "b").common_labels == 40
    assert result.pair("a", "b").interval.method == "adverse empirical likelihood"
    assert result.pair("b", "c").common_labels == 0


def test_without_items_the_worst_correlation_is_assumed():
    table = drawn(items=200, graded=40)
    known = evaluate(table, **ROLES)
    table.pop("item")
    roles = {name: value for name, value in ROLES.items() if name != "item"}
    blind = evaluate(table, **roles)
    assert [row.score for row in blind.systems] == [row.score for row in known.systems]
    assert blind.pair("b", "a").interval.width > known.pair("b", "a").interval.width * 0.9
