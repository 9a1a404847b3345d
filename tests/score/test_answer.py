"""From a table to JSON, by slice, and what contradicts itself."""

import pytest

from tallystick.errors import InputError
from tallystick.table import Tally
from tallystick.verbs.score import evaluate
from tests.score.tables import ROLES, drawn


def test_the_bias_is_judges_minus_score_with_the_same_doubt():
    for row in evaluate(drawn(), **ROLES).systems:
        assert row.bias == pytest.approx(row.judge_only - row.score)
        assert row.bias_interval.width == pytest.approx(row.interval.width)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"certified": True, "probability": "p"}, "drawn uniformly"),
        ({"certified": True, "target_mix": {"0": 1}, "by": "p"}, "drawn uniformly"),
        ({"weight": "w", "certified": True}, "counts rows"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, message):
    table = {**drawn(), "p": [0.2] * 600, "w": [1, 2] * 300}
    with pytest.raises(InputError, match=message):
        evaluate(table, **options, **ROLES)


def test_preferences_need_rows():
    tally = Tally.of({"a": ["x"], "b": ["y"], "gpt": ["a"]}, columns=["a", "b", "gpt"])
    with pytest.raises(InputError, match="read from the rows"):
        evaluate(tally, systems=("a", "b"), judges="gpt")


def test_an_unknown_pair_or_system_is_refused_by_name():
    result = evaluate(drawn(), **ROLES)
    with pytest.raises(InputError, match="'nobody'"):
        result.system("nobody")
    with pytest.raises(InputError, match="'nobody'"):
        result.pair("a", "nobody")
