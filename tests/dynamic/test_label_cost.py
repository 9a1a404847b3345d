import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from tallystick.dynamic import label_cost
from tallystick.dynamic.label_cost import Campaign, _worth
from tallystick.errors import InputError
from tallystick.results import Unknown

X, Y = load_digits(return_X_y=True)


def test_adversarial_labels_are_priced_in_uniform_ones():
    cost = label_cost(
        GaussianNB(),
        X / 16,
        Y,
        campaign=Campaign(start=60, batch=10, rounds=5, multiples=(0.5, 1, 4, 8)),
        rollouts=4,
        rng=0,
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
    campaign = Campaign(start=50, batch=20, rounds=5)
    with pytest.raises(InputError, match="lower multiples"):
        label_cost(GaussianNB(), X[:100], Y[:100], campaign=campaign, rollouts=2, rng=0)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"start": 0}, "start and batch"),
        ({"batch": 0}, "start and batch"),
        ({"rounds": 1}, "rounds at least 2"),
        ({"multiples": ()}, "multiples must be positive"),
        ({"multiples": (1.0, 0.0)}, "multiples must be positive"),
        ({"test_share": 1.0}, "test_share"),
    ],
)
def test_an_impossible_campaign_is_refused_by_name(change, named):
    with pytest.raises(InputError, match=named):
        Campaign(**({"start": 50, "batch": 20, "rounds": 3} | change))


def test_a_campaign_without_rollouts_is_refused():
    campaign = Campaign(start=50, batch=20, rounds=3)
    with pytest.raises(InputError, match="rollouts must be at least 1"):
        label_cost(GaussianNB(), X, Y, campaign=campaign, rollouts=0, rng=0)


def test_the_last_control_buys_as_many_labels_as_the_path():
    campaign = Campaign(start=50, batch=20, rounds=3, multiples=(0.5, 4.0))
    assert campaign.sizes == [70, 210, 90]
