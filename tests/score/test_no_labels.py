"""Without human grades nothing is ranked."""

import numpy as np

from tallystick.results import Unknown
from tallystick.verbs.score import evaluate
from tallystick.verbs.score.result import Units
from tallystick.verbs.score.scored import breakdown
from tests.score.tables import ROLES, drawn, outputs_of


def without():
    table = drawn()
    table.pop("human")
    return evaluate(table, **{k: v for k, v in ROLES.items() if k != "truth"})


def test_judges_alone_give_means_and_no_rank():
    result = without()
    assert result.decision == "undecided"
    assert result.contenders == ()
    assert result.tiers == ()
    for row in result.systems:
        assert isinstance(row.score, Unknown)
        assert isinstance(row.rank_interval, Unknown)
        assert isinstance(row.judge_only, float)
        assert set(row.by_judge) == {"x", "y", "z"}
    assert result.to_dict()["pairs"] is None


def test_the_verdict_says_what_would_undo_the_order():
    result = without()
    assert result.verdict.startswith("The judges pass ")
    assert "That is not a ranking: judges " in result.verdict
    assert str(result.needed) == "about 60 more human grades, on 20 random items for every system"


def test_a_column_of_blank_grades_is_no_label_either():
    table = drawn()
    table["human"] = [None] * len(table["x"])
    assert evaluate(table, **ROLES).n_labels == 0


def test_half_the_lead_is_the_error_that_undoes_it():
    held = outputs_of([[1], [1], [np.nan]], [np.nan] * 3, [0, 1, 2])
    found = breakdown(held, np.array([0.7, 0.9, np.nan]), Units((1.0, 5.0)))
    assert [(one.a, one.b) for one in found] == [("b", "a")]
    assert round(found[0].lead, 9) == 0.8
    assert round(found[0].error, 9) == 0.1
