import numpy as np
import pytest
from scipy.stats import binomtest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.analyse import step_change


@pytest.mark.parametrize("seed", range(5))
def test_the_step_change_is_the_exact_sign_test(seed):
    rng = np.random.default_rng(seed)
    errors = rng.random((5, 60)) < 0.35
    found = step_change(errors)
    before = errors[:3].sum(axis=0) >= 2
    now = errors.sum(axis=0) >= 3
    b, c = int((before & ~now).sum()), int((~before & now).sum())
    assert (found.repaired, found.broken) == (b, c)
    assert found.p_lower == pytest.approx(binomtest(b, b + c, alternative="greater").pvalue)
    assert found.p_higher == pytest.approx(binomtest(c, b + c, alternative="greater").pvalue)


def test_repeated_looks_share_one_level():
    errors = np.zeros((3, 50), dtype=bool)
    errors[0, :6] = True
    assert step_change(errors).proved == "lower"  # p = 1/64
    assert step_change(errors, look=1).level == 0.025
    assert step_change(errors, look=3).proved is None
    assert step_change(errors, look=3).level == pytest.approx(0.05 / 12)
    assert step_change(np.zeros((3, 9), dtype=bool)).p_lower == 1.0


def test_a_rise_of_the_risk_can_be_proved_too():
    errors = np.zeros((3, 50), dtype=bool)
    errors[1:, :7] = True
    assert step_change(errors).proved == "higher"


@pytest.mark.parametrize(("rounds", "look"), [(4, None), (1, None), (3, 0)])
def test_ties_and_impossible_looks_are_refused(rounds, look):
    with pytest.raises(InputError):
        step_change(np.zeros((rounds, 9), dtype=bool), look=look)
