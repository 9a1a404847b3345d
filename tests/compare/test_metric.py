import pytest

from tallystick.errors import InputError
from tallystick.verbs.compare import CompareQuestion
from tallystick.verbs.compare.question import split_metric


def test_the_caller_overrules_the_guess_and_the_guess_is_said():
    assert CompareQuestion().direction("latency_ms") == (
        "lower",
        "lower is better, by the name 'latency_ms'; add --higher-is-better if it is not so",
    )
    assert CompareQuestion(higher_is_better=True).direction("latency_ms") == ("higher", "")
    assert CompareQuestion(lower_is_better=True).direction("points") == ("lower", "")
    with pytest.raises(InputError, match="exclude each other"):
        CompareQuestion(higher_is_better=True, lower_is_better=True)


@pytest.mark.parametrize("metric", ["elo", "Bradley-Terry", "glicko"])
def test_a_rating_model_is_refused_in_words(metric):
    with pytest.raises(InputError, match="a rating assumes that strength is one number"):
        CompareQuestion(metric=metric)


def test_no_runs_at_all_are_refused():
    with pytest.raises(InputError, match="k must be at least 1"):
        split_metric("pass@0")
