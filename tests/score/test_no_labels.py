"""Without human grades nothing is ranked."""

from tallystick.results import Unknown
from tallystick.verbs.score import evaluate
from tests.score.tables import ROLES, drawn


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
    assert result.to_dict()["pairs"] is None


def test_the_verdict_says_that_judges_alone_rank_nobody():
    result = without()
    assert result.verdict.startswith("The judges pass ")
    assert "That is not a ranking: no human grade says" in result.verdict
    assert str(result.needed) == "about 60 more human grades, on 20 random items for every system"


def test_a_column_of_blank_grades_is_no_label_either():
    table = drawn()
    table["human"] = [None] * len(table["x"])
    assert evaluate(table, **ROLES).n_labels == 0
