"""What is said first: the answer, what judges alone would say, and what stays open."""

from tallystick.verbs.score import evaluate
from tests.score.tables import ROLES, drawn


def test_the_best_is_named_and_the_judges_other_winner_with_it():
    result = evaluate(drawn(items=300, graded=100), **ROLES)
    said = result.sentences
    assert said.answer.startswith("b is the best of three systems: ")
    assert "The next best, c, scores " in said.answer
    assert said.contrast.startswith("Your judges alone put a first, at ")
    assert said.open == ""
    assert result.decision == "decided"
    assert result.needed is None


def test_two_systems_say_the_opposite():
    result = evaluate(drawn(items=300, graded=60, rates={"a": 0.5, "b": 0.8}), **ROLES)
    assert result.sentences.answer.startswith("b is better than a: ")
    assert result.sentences.contrast.startswith("Your judges alone put a first")


def test_what_is_open_is_said_after_what_is_settled():
    result = evaluate(drawn(items=300, graded=30, rates={"a": 0.3, "b": 0.9, "c": 0.85}), **ROLES)
    assert result.sentences.answer.startswith("b is better than a: ")
    assert result.sentences.open == "Not settled: whether b is also better than c."


def test_no_difference_is_no_winner():
    result = evaluate(drawn(items=300, graded=12, rates={"b": 0.8, "c": 0.8}), **ROLES)
    assert result.sentences.answer.startswith("We cannot tell which system is best: b ")
    assert result.decision == "undecided"


def test_two_labels_settle_nothing_and_say_what_would():
    table = drawn(items=120) | {"human": ["pass", "fail", *[None] * 358]}
    result = evaluate(table, gates="a >= b", **ROLES)
    assert result.verdict.startswith("We cannot tell which system is best: a 100.0% [0.8, 100.0]")
    assert "20 random items for every system (58 outputs without a grade yet)." in str(result)
    assert "from 2 human grades on 1 item." in result.basis
    assert "People graded outputs of a and b only." in str(result)
    assert result.gates[0].passed is None


def test_two_labels_of_one_system_rank_nobody():
    table = drawn(items=120) | {"human": ["pass", None, None, "pass", *[None] * 356]}
    verdict = evaluate(table, **ROLES).verdict
    assert verdict.startswith("Only a has human grades: it scores 100.0% [20.8, 100.0].")
    assert "Not settled: how good b and c are, and which system is best." in verdict


def test_labels_that_are_all_equal_leave_doubt_on_one_side():
    table = drawn(items=120, graded=30)
    table["human"] = [word and "pass" for word in table["human"]]
    verdict = evaluate(table, **ROLES).verdict
    assert verdict.startswith("We cannot tell which system is best: a 100.0% [90.8")
    assert "[100.0, 100.0]" not in verdict


def test_one_system_is_scored_and_the_judges_error_is_named():
    result = evaluate(drawn(items=400, graded=80, rates={"a": 0.4}), **ROLES)
    assert result.sentences.answer.startswith("a scores ")
    assert "which is too kind." in result.sentences.contrast
    assert "best" not in result.verdict
    assert result.pairs == ()
    assert result.decision == "decided"


def test_the_basis_counts_grades_items_and_pairs():
    basis = evaluate(drawn(), **ROLES).basis
    assert basis.startswith("95% intervals, approximate, from 120 human grades on 40 items.")
    assert "adjusted for three pairs" in basis


def test_assumptions_follow_the_options():
    new = evaluate(drawn(), population="new", **ROLES)
    assert "items are a random draw from those that matter" in new.assumptions
    exact = evaluate(drawn(), certified=True, **ROLES)
    assert not any("approximate" in text for text in exact.assumptions)


def test_a_terminal_shows_systems_and_pairs_in_lines_that_fit():
    table = drawn()
    table["human"] = [
        v if s != "a" else None for v, s in zip(table["human"], table["system"], strict=True)
    ]
    text = str(evaluate(table, **ROLES))
    lines = text.splitlines()
    assert max(map(len, lines[1:])) <= 100  # what was read is wrapped by the terminal
    [head] = [line for line in lines if line.startswith("system ")]
    assert head.split("   ")[:3] == ["system", "judges", "score"]
    assert head.endswith("○ judges alone")
    [blank] = [line for line in lines if line.startswith("a ")]
    assert blank.split()[2:] == ["–", "–", "0", "○"]
    assert any(line.startswith("pair ") and "judges alone" in line for line in lines)
