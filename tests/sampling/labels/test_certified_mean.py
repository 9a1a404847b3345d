from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling.label_means import _rectified, certified_mean


def test_the_forty_items_of_the_page():
    found = certified_mean(
        np.arange(40) / 39, [35, 30, 16, 37, 12, 24, 33, 21], [1, 0.75, 0.5, 1, 0.25, 0.75, 1, 0.5]
    )
    assert tuple(found) == pytest.approx((0.3845, 0.9184), abs=5e-5)
    assert found.guarantee == "exact"


@pytest.mark.parametrize(("anytime", "ends"), [(False, (0.4776, 0.6135)), (True, (0.4744, 0.6151))])
def test_the_two_hundred_items_of_the_page(anytime, ends):
    c = np.tile([0, 0.25, 0.5, 0.75, 1], 40)
    items = 3 * np.arange(60) % 200
    y = np.where(np.arange(60) % 4 == 0, np.minimum(1, c[items] + 0.25), c[items])
    found = certified_mean(c, items, y, anytime=anytime)
    assert tuple(found) == pytest.approx(ends, abs=5e-5)


def test_a_constant_consensus_and_thirty_ones():
    found = certified_mean(np.ones(100), range(30), np.ones(30))
    assert tuple(found) == pytest.approx((0.8744, 1.0), abs=5e-5)


def test_values_put_right_have_the_mean_of_what_is_left_as_expectation():
    """Every order of four items: E[x_i | past] is the mean label of the items that are left."""
    c, y = np.array([0.1, 0.4, 0.5, 1.0]), np.array([0.0, 0.5, 0.25, 1.0])
    for past in itertools.permutations(range(4), 2):
        rest = [i for i in range(4) if i not in past]
        xs = []
        for last in rest:
            order = np.array([*past, last])
            xs.append(_rectified(c, order, y[order])[0][-1])
        assert sum(map(Fraction, xs)) / len(xs) == pytest.approx(y[rest].mean(), abs=1e-12)


def test_the_reach_covers_every_item_that_is_left():
    rng = np.random.default_rng(2)
    c, y = rng.random(30), rng.random(30)
    order = rng.permutation(30)[:20]
    x, down, up = _rectified(c, order, y[order])
    assert (x >= -down - 1e-12).all()
    assert (x <= 1 + up + 1e-12).all()


def test_it_covers_at_its_level_on_a_skewed_population():
    rng, missed = np.random.default_rng(3), 0
    c = rng.random(150)
    y = np.where(rng.random(150) < 0.05, 0.0, np.clip(c + 0.1 * rng.standard_normal(150), 0, 1))
    for _ in range(300):
        order = rng.permutation(150)[:40]
        missed += y.mean() not in certified_mean(c, order, y[order])
    assert missed <= 15


def test_every_item_labelled_is_a_point():
    y = np.array([0.2, 0.4, 0.9])
    assert tuple(certified_mean(y, [0, 1, 2], y)) == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize(
    ("items", "values", "options", "match"),
    [
        ([0, 0], [1, 1], {}, "distinct"),
        ([0], [1.5], {}, "values"),
        ([9], [1], {}, "positions"),
        ([0], [1], {"alpha": 2}, "alpha"),
    ],
)
def test_what_can_not_be_used_is_refused(items, values, options, match):
    with pytest.raises(InputError, match=match):
        certified_mean([0.1, 0.2], items, values, **options)
