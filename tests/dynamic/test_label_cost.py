import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from tallystick.dynamic import label_cost
from tallystick.dynamic.label_cost import _worth
from tallystick.errors import InputError
from tallystick.results import Unknown

X, Y = load_digits(return_X_y=True)


def test_adversarial_labels_are_priced_in_uniform_ones():
    cost = label_cost(
        GaussianNB(),
        X / 16,
        Y,
        start=60,
        batch=10,
        rounds=5,
        rollouts=4,
        rng=0,
        multiples=(0.5, 1, 4, 8),
    )
    assert cost.adversarial_labels == 40
    assert cost.search > 1
    assert [n for n, _ in cost.fresh_curve] == [80, 100, 220, 380]
    assert cost.fresh_curve[-1][1] < cost.fresh_curve[0][1]
    assert 0 < cost.fresh_risk < 1


def test_the_break_even_price_is_read_off_the_curve_and_unknown_beyond_it():
    curve = ((150, 0.3), (200, 0.2), (300, 0.1))
    assert _worth(0.2, curve, 100, 50) == 2.0
    assert _worth(0.15, curve, 100, 50) == 3.0
    low, high = _worth(0.4, curve, 100, 50), _worth(0.05, curve, 100, 50)
    assert isinstance(low, Unknown)
    assert "less than 1" in low.reason
    assert isinstance(high, Unknown)
    assert "more than 4" in high.reason


def test_a_pool_that_is_too_small_is_refused():
    with pytest.raises(InputError, match="lower multiples"):
        label_cost(GaussianNB(), X[:100], Y[:100], start=50, batch=20, rounds=5, rollouts=2, rng=0)
    with pytest.raises(InputError, match="at least"):
        label_cost(GaussianNB(), X, Y, start=50, batch=20, rounds=1, rollouts=2, rng=0)
    with pytest.raises(InputError, match="test_share"):
        label_cost(
            GaussianNB(), X, Y, start=50, batch=20, rounds=3, rollouts=2, rng=0, test_share=1.0
        )
    assert np.unique(Y).size == 10
