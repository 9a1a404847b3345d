"""How an answer looks in a terminal."""

from tallystick.verbs.score import evaluate
from tallystick.verbs.score.terminal import lines
from tests.score.tables import ROLES, drawn


def text_of(result, width=100):
    return [text for text, _ in lines(result, width)]


def test_no_line_is_longer_than_a_hundred_columns():
    for result in (evaluate(drawn(), **ROLES), evaluate(drawn(rates={"a": 0.5}), **ROLES)):
        assert max(map(len, text_of(result, 300))) <= 100


def test_the_tables_show_the_numbers_of_the_result_with_a_picture():
    result = evaluate(drawn(), **ROLES)
    shown = "\n".join(text_of(result))
    assert "system   judges   corrected" in shown
    assert "difference, points" in shown
    assert "●" in shown
    assert "○" in shown
    assert "━" in shown


def test_a_narrow_terminal_leaves_the_picture_out_and_keeps_the_numbers():
    result = evaluate(drawn(), **ROLES)
    shown = "\n".join(text_of(result, 70))
    assert "━" not in shown
    assert "corrected" in shown


def test_a_system_without_grades_says_so_in_its_cell():
    table = drawn()
    table["human"] = [
        v if s == "b" else None for v, s in zip(table["human"], table["system"], strict=True)
    ]
    assert "no human grades" in "\n".join(text_of(evaluate(table, **ROLES)))
