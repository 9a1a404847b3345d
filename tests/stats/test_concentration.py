from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.concentration import (
    Bernstein,
    Chebyshev,
    Chernoff,
    Hoeffding,
    Markov,
    McDiarmid,
)
from tallystick.stats.exact_tails import binomial_above, binomial_up_to

sides = st.sampled_from([1, 2])


def bounds_of_a_coin(p, side):
    variance, furthest = p * (1 - p), max(p, 1 - p)
    every = [
        Chebyshev(variance=variance, sides=side),
        Hoeffding(sides=side),
        McDiarmid(sensitivity=1.0, sides=side),
        Bernstein(variance=variance, deviation=furthest, sides=side),
        Chernoff(p=p, sides=side),
    ]
    return [*every, Markov(mean=p)] if side == 1 else every


@given(p=st.floats(0.01, 0.99), n=st.integers(1, 300), t=st.floats(0.005, 0.9), side=sides)
def test_no_bound_is_below_the_exact_binomial_tail(p, n, t, side):
    # heads >= n(p+t), a hair inside, so that rounding cannot move the exact tail across a whole
    # number
    exact = binomial_above(np.ceil(n * (p + t) + 1e-9) - 1, n, p)
    if side == 2:
        exact = exact + binomial_up_to(np.floor(n * (p - t) - 1e-9), n, p)
    for bound in bounds_of_a_coin(p, side):
        assert exact <= bound.tail(t, n) + 1e-12, bound


@given(p=st.floats(0.01, 0.99), t=st.floats(0.01, 0.5), alpha=st.floats(1e-6, 0.5), side=sides)
def test_items_is_the_first_n_whose_tail_is_small_enough(p, t, alpha, side):
    for bound in bounds_of_a_coin(p, side):
        if isinstance(bound, Markov):
            continue
        n = bound.items(t, alpha)
        assert bound.tail(t, n) <= alpha
        assert n == 1 or bound.tail(t, n - 1) > alpha


@given(p=st.floats(0.01, 0.99), n=st.integers(1, 10**5), alpha=st.floats(1e-6, 0.5), side=sides)
def test_the_tail_at_the_radius_is_alpha(p, n, alpha, side):
    for bound in bounds_of_a_coin(p, side):
        radius = float(bound.radius(n, alpha))
        if isinstance(bound, Chernoff) and radius >= (max(p, 1 - p) if side == 2 else 1 - p) * (
            1 - 1e-9
        ):
            continue  # the coin cannot stray further than this at all
        assert bound.tail(radius * (1 + 1e-9), n) <= alpha * (1 + 1e-6)
        if isinstance(bound, Chernoff) and side == 2:
            # beyond it one of the two tails drops out at once
            assume(radius < min(p, 1 - p) * (1 - 1e-6))
        assert bound.tail(radius * (1 - 1e-9), n) >= alpha * (1 - 1e-5)


@given(p=st.floats(0.01, 0.99), t=st.floats(0.01, 0.5), n=st.integers(1, 10**4))
def test_chernoff_is_the_sharpest_of_the_exponential_bounds(p, t, n):
    sharp = Chernoff(p=p).tail(t, n)
    assert sharp <= Hoeffding().tail(t, n) + 1e-12
    assert sharp <= Bernstein(variance=p * (1 - p), deviation=max(p, 1 - p)).tail(t, n) + 1e-12


def test_the_closed_forms_of_the_chapter():
    assert Hoeffding().items(0.02, 0.05) == int(np.ceil(np.log(40) / (2 * 0.02**2)))
    # section 3.5, t = 2
    assert Hoeffding().tail(2 / np.sqrt(100), 100) == pytest.approx(0.00067, abs=1e-5)
    a, n = 30.0, 100  # Theorem 1 for a sum of coins in {-1, 1}
    assert Hoeffding(width=2.0, sides=1).tail(a / n, n) == pytest.approx(np.exp(-(a**2) / (2 * n)))
    # two standard deviations of at most 1/2
    assert Chebyshev().radius(100, 0.25) == pytest.approx(0.1)


def test_markov_is_not_helped_by_more_items():
    bound = Markov(mean=0.1)
    assert bound.items(0.4, 0.2) == 1
    with pytest.raises(NotIdentifiable):
        bound.items(0.4, 0.1)
    with pytest.raises(InputError, match="one side"):
        Markov(mean=0.1, sides=2)


def test_arguments_out_of_range_are_named():
    for make, name in (
        (lambda: Hoeffding(width=0), "width"),
        (lambda: Chebyshev(variance=-1), "variance"),
        (lambda: Chernoff(p=1.0), "p must"),
        (lambda: Hoeffding(sides=3), "sides"),
        (lambda: Hoeffding().tail(0, 10), "t must"),
        (lambda: Hoeffding().radius(0, 0.05), "n must"),
        (lambda: Hoeffding().items(0.1, 1.5), "alpha"),
    ):
        with pytest.raises(InputError, match=name):
            make()


def test_every_bound_says_what_it_assumes_and_takes_arrays():
    for bound in bounds_of_a_coin(0.3, 1):
        assert bound.assumes
        assert bound.tail([0.1, 0.2], [[10], [20], [30]]).shape == (3, 2)
        assert bound.radius([10, 20], 0.05).shape == (2,)
