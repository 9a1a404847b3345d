"""What is said first: the answer, what judges alone would say, and what stays open."""

from tallystick.verbs.score import evaluate
from tests.score.tables import ROLES, drawn


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
    assert verdict.startswith("a scores 100.0% [20.8, 100.0].")
    assert "Not settled: how good b and c are, without human grades." in verdict


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
