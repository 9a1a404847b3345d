"""Several criteria: one answer for each, corrected for their number."""

import pytest

from tallystick.errors import InputError
from tallystick.verbs.score import CriteriaResult, evaluate
from tests.score.tables import ROLES, drawn


def table():
    one, two = drawn(seed=1), drawn(seed=2)
    held = {name: [*one[name], *two[name]] for name in one}
    held["kind"] = ["helpful"] * len(one["x"]) + ["safe"] * len(two["x"])
    return held


def test_each_criterion_is_answered_at_a_level_for_both():
    result = evaluate(table(), criterion="kind", **ROLES)
    assert isinstance(result, CriteriaResult)
    assert [part.label for part in result.criteria] == ["helpful", "safe"]
    alone = evaluate(drawn(seed=1), alpha=0.025, **ROLES)
    first = result.criteria[0].answer
    assert [row.interval for row in first.systems] == [row.interval for row in alone.systems]
    assert result.verdict.startswith("helpful: ")
    assert [part["slice"] for part in result.to_dict()["criteria"]] == ["helpful", "safe"]
    assert len(result.rows()) == 6
    assert len(result.figures()) == 2


def test_a_gate_names_its_criterion():
    result = evaluate(table(), criterion="kind", gates=("safe(b) >= safe(a)",), **ROLES)
    assert result.gates[0].passed is True
    with pytest.raises(InputError, match="names one"):
        evaluate(table(), criterion="kind", gates=("b >= a",), **ROLES)
    with pytest.raises(InputError, match="names one"):
        evaluate(table(), criterion="kind", gates=("kind(b) >= kind(a)",), **ROLES)


def test_a_criterion_that_cannot_be_answered_says_why_and_the_other_stands():
    held = table()
    held["human"] = [
        "3" if k == "safe" and v else v for v, k in zip(held["human"], held["kind"], strict=True)
    ]
    result = evaluate(held, criterion="kind", **ROLES)
    assert "neither pass/fail nor 0/1" in str(result.criteria[1].answer)
    assert result.decision == "undecided"


def test_a_blank_criterion_is_refused():
    held = table()
    held["kind"][0] = None
    with pytest.raises(InputError, match="blank"):
        evaluate(held, criterion="kind", **ROLES)
