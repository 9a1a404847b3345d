"""How an answer looks in a terminal."""

import io

from tallystick.report import show
from tallystick.verbs.score import evaluate
from tallystick.verbs.score.terminal import lines
from tests.score.tables import ROLES, drawn


def text_of(result, width=100):
    return [text for text, _ in lines(result, width)]


def test_answer_doubt_and_next_step_come_first_in_their_styles():
    result = evaluate(drawn(items=300, graded=30, rates={"a": 0.3, "b": 0.9, "c": 0.85}), **ROLES)
    found = lines(result, 100)
    assert found[0][1] == "bold"
    assert any(style == "yellow" and text.startswith("Not settled") for text, style in found)
    assert any(text.startswith("Next: ") for text, _ in found)
    assert found[-1][1] == "dim"


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


def test_a_difference_that_is_shown_is_that_of_the_scores_shown_to_rounding():
    result = evaluate(drawn(), **ROLES)
    for pair in result.pairs:
        gap = result.system(pair.a).score - result.system(pair.b).score
        assert round(100 * pair.difference, 1) == round(100 * gap, 1)


def test_without_people_there_is_no_corrected_column():
    table = drawn()
    table.pop("human")
    roles = {name: value for name, value in ROLES.items() if name != "truth"}
    shown = "\n".join(text_of(evaluate(table, **roles)))
    assert "corrected" not in shown
    assert "Next: grade 20 random items for all three systems (60 outputs)." in shown


def test_a_system_without_grades_says_so_in_its_cell():
    table = drawn()
    table["human"] = [
        v if s == "b" else None for v, s in zip(table["human"], table["system"], strict=True)
    ]
    assert "no human grades" in "\n".join(text_of(evaluate(table, **ROLES)))


def test_the_report_prints_these_lines():
    stream = io.StringIO()
    show(evaluate(drawn(), **ROLES), stream=stream)
    assert "95% intervals" in stream.getvalue()
