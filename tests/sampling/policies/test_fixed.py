"""The policies that never look at an answer: uniform and proportional."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.replays import replay
from tallystick.sampling import (
    Plan,
    Policy,
    Proportional,
    Strata,
    Uniform,
)

STRATA = Strata(np.repeat([0, 1, 2], [60, 30, 10]))


def asked(policy: Policy, calls: int, **change: object) -> np.ndarray:
    plan = Plan(strata=STRATA, policy=policy, budget=calls, n_outcomes=1, **change)
    result = replay(plan, np.zeros(100, int), runs=200, rng=0)
    assert result.blind.all()
    return result.observed().asked


def test_proportional_is_proportional_to_the_nearest() -> None:
    assert (asked(Proportional(), 40) == [24, 12, 4]).all()
    assert (asked(Proportional(minimum=0), 7) == [4, 2, 1]).all()


def test_uniform_ignores_strata() -> None:
    counts = asked(Uniform(), 20)
    assert counts.mean(axis=0) == pytest.approx([12, 6, 2], abs=0.5)
    hypergeometric = 20 * 0.6 * 0.4 * 80 / 99
    assert counts[:, 0].var() == pytest.approx(hypergeometric, rel=0.35)
