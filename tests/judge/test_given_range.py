import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.verbs.judge import evaluate, few_labels, independent


@pytest.fixture(scope="module")
def votes():
    """Four judges on 1000 items, 52% of them n; 60 labelled."""
    rng = np.random.default_rng(3)
    truth = rng.random(1000) < 0.52
    columns = {
        name: np.where(np.where(rng.random(1000) < right, truth, ~truth), "n", "p")
        for name, right in zip("wxyz", (0.85, 0.8, 0.75, 0.7), strict=True)
    }
    return Tally.of(
        {
            **columns,
            "gold": [("n" if one else "p") if i < 60 else None for i, one in enumerate(truth)],
        }
    )


@pytest.mark.parametrize("grade", [evaluate, few_labels, independent])
def test_a_range_that_the_data_contradict_raises_an_alarm_by_name(votes, grade):
    result = grade(votes, truth="gold", prevalence={"n": (0.9, 0.95)})
    alarm = next(one for one in result.alarms if one.name == "prevalence contradicted")
    assert (
        f"the prevalence of n is given as 0.9 to 0.95, and by {result.method} it is "
        in alarm.proves
    )
    assert any(
        "bounds by logic hold only if the range is right" in warning for warning in result.warnings
    )


def test_a_range_that_holds_raises_none(votes):
    for truth in ("gold", None):
        judges = list("wxyz")
        result = evaluate(votes, judges=judges, truth=truth, prevalence={"n": (0.505, 0.6)})
        assert not any("prevalence" in one.name for one in result.alarms)


def test_a_range_that_picks_no_mirror_point_is_told(votes):
    result = independent(votes, judges=list("wxyz"), prevalence={"n": (0.9, 0.95)})
    alarm = next(one for one in result.alarms if one.name == "prevalence picks no branch")
    assert "neither mirror point (54.2% and 45.8% of n)" in alarm.proves


def test_an_estimate_just_outside_a_range_may_be_chance(votes):
    share = evaluate(votes, truth="gold").prevalence["n"]
    result = evaluate(votes, truth="gold", prevalence={"n": (share.estimate + 0.005, 0.9)})
    assert not any(one.name == "prevalence contradicted" for one in result.alarms)
