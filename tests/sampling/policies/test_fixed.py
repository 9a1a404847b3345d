"""The policies that never look at an answer: uniform, proportional, equal, Neyman."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling import (
    Budget,
    Equal,
    Neyman,
    Plan,
    Policy,
    Proportional,
    Strata,
    Uniform,
    replay,
)

STRATA = Strata(np.repeat([0, 1, 2], [60, 30, 10]))


def asked(policy: Policy, calls: int, **change: object) -> np.ndarray:
    plan = Plan(strata=STRATA, policy=policy, budget=Budget(calls=calls), n_outcomes=1, **change)
    result = replay(plan, np.zeros(100, int), runs=200, rng=0)
    assert result.blind.all()
    return result.observed().asked


def test_proportional_is_proportional_to_the_nearest() -> None:
    assert (asked(Proportional(), 40) == [24, 12, 4]).all()
    assert (asked(Proportional(minimum=0), 7) == [4, 2, 1]).all()


def test_equal_is_equal_until_a_stratum_is_exhausted() -> None:
    assert (asked(Equal(), 24) == [8, 8, 8]).all()
    assert (asked(Equal(), 70) == [30, 30, 10]).all()


def test_uniform_ignores_strata() -> None:
    counts = asked(Uniform(), 20)
    assert counts.mean(axis=0) == pytest.approx([12, 6, 2], abs=0.5)
    hypergeometric = 20 * 0.6 * 0.4 * 80 / 99
    assert counts[:, 0].var() == pytest.approx(hypergeometric, rel=0.35)


def test_neyman_is_the_best_whole_number_allocation() -> None:
    sigmas = np.array([0.1, 0.5, 1.0])
    got = asked(Neyman(sigmas=tuple(sigmas), minimum=1), 12, replacement=True)[0]

    def loss(n: tuple[int, ...]) -> float:
        return float((STRATA.shares**2 * sigmas**2 / n).sum())

    best = min((n for n in itertools.product(range(1, 11), repeat=3) if sum(n) == 12), key=loss)
    assert got.tolist() == list(best)


def test_neyman_with_prices_asks_dear_strata_less() -> None:
    prices = np.repeat([1.0, 4.0, 1.0], [60, 30, 10])
    got = asked(Neyman(sigmas=(0.2, 0.8, 0.6)), 60, prices=prices, replacement=True)[0]
    weight = STRATA.shares * [0.2, 0.8, 0.6] / np.sqrt([1, 4, 1])
    assert got == pytest.approx(60 * weight / weight.sum(), abs=1)


def test_neyman_needs_one_finite_spread_a_stratum() -> None:
    with pytest.raises(InputError, match=r"one number per stratum \(3\), got 2"):
        asked(Neyman(sigmas=(0.1, 0.2)), 10)
    with pytest.raises(InputError, match="finite and not negative"):
        Neyman(sigmas=(0.1, float("nan"), 0.2))
