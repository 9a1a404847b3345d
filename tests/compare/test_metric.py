import pytest

from tallystick.errors import InputError
from tallystick.verbs.compare import CompareQuestion
from tallystick.verbs.compare.question import split_metric


def test_the_caller_overrules_the_guess_and_the_guess_is_said():
    assert CompareQuestion().direction("latency_ms") == (
        "lower",
        "lower is better, by the name 'latency_ms'; add --higher-is-better if it is not so",
    )
    assert CompareQuestion(lower_is_better=False).direction("latency_ms") == ("higher", "")
    assert CompareQuestion(lower_is_better=True).direction("points") == ("lower", "")


def test_no_runs_at_all_are_refused():
    with pytest.raises(InputError, match="k must be at least 1"):
        split_metric("pass@0")
