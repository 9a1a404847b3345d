import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.verbs.judge import evaluate, grade, independent


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


@pytest.mark.parametrize("method", [evaluate, grade, independent])
def test_a_range_that_the_data_contradict_raises_an_alarm_by_name(votes, method):
    result = method(votes, truth="gold", prevalence={"n": (0.9, 0.95)})
    alarm = next(one for one in result.alarms if one.name == "prevalence contradicted")
    assert (
        f"the prevalence of n is given as 0.9 to 0.95, and by {result.method} it is "
        in alarm.proves
    )
    assert any(
        "bounds by logic hold if the range is right" in warning for warning in result.warnings
    )
