"""The lower end of (AL19), against its definition by plain halving."""

import math

import numpy as np
import pytest

from tallystick.stats.adverse_binary import least_stratified_mean


def by_halving(strata, share, each, pseudo, bar):
    """(AL19) as it is written, with a halving for each ν inside one for μ."""

    def stratum(tilt, labels, w, a):
        size = a + w * len(labels)
        low, high = a * 1e-9, size
        for _ in range(200):
            nu = (low + high) / 2
            mass = a / nu + sum(w / (nu + tilt * d) for d in labels)
            low, high = (nu, high) if mass > 1 else (low, nu)
        lost = a * math.log(nu / size) + sum(w * math.log((nu + tilt * d) / size) for d in labels)
        return lost, sum(w * d / (nu + tilt * d) for d in labels)

    def both(t):
        found = [
            stratum(math.exp(t) * W, labels, w, pseudo * math.sqrt(W))
            for labels, W, w in zip(strata, share, each, strict=True)
            if len(labels)
        ]
        means = [mean for _, mean in found]
        used = [W for labels, W in zip(strata, share, strict=True) if len(labels)]
        return 2 * sum(lost for lost, _ in found), sum(
            map(math.prod, zip(used, means, strict=True))
        )

    low, high = -12.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if both(middle)[0] < bar else (low, middle)
    return both(high)[1]


def test_the_end_is_that_of_the_definition_with_ties_and_empty_strata():
    rng = np.random.default_rng(5)
    for _ in range(6):
        strata = [rng.choice([0.0, 1.0, 2.0], 6), rng.random(4), np.empty(0), np.full(3, 0.5)]
        share, each = rng.dirichlet(np.ones(4)), rng.uniform(1, 2, 4)
        start = np.concatenate(([0], np.cumsum([part.size for part in strata])))
        found = least_stratified_mean(np.concatenate(strata), start, share, each, 0.25, 3.84)
        assert found == pytest.approx(by_halving(strata, share, each, 0.25, 3.84), abs=1e-9)


def test_labels_at_the_least_value_have_the_least_mean():
    start = np.array([0, 3, 3])
    found = least_stratified_mean(np.zeros(3), start, np.full(2, 0.5), np.ones(2), 0.25, 3.84)
    assert found == 0.0
    nothing = least_stratified_mean(
        np.zeros(0), np.array([0, 0]), np.ones(1), np.ones(1), 0.25, 3.84
    )
    assert nothing == 0.0
