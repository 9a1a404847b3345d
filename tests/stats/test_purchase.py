import numpy as np
import pytest

from tallystick.stats.replicates import variance_parts

PILOT = ([0, 1, 3, 5, 4, 2, 5, 5], [5] * 8)


def test_the_printed_vector_comes_out():
    assert [round(part, 4) for part in variance_parts(*PILOT)] == [0.1250, 0.1286]


def test_the_split_is_unbiased_also_with_unequal_runs():
    rng = np.random.default_rng(0)
    rates = np.tile([0.1, 0.5, 0.9, 0.95], 25)
    runs = np.where(rates < 0.3, 8, 3)
    found = [variance_parts(rng.binomial(runs, rates), runs) for _ in range(800)]
    within, between = np.mean(found, axis=0)
    assert within == pytest.approx(np.mean(rates * (1 - rates)), rel=0.02)
    assert between == pytest.approx(np.var(rates, ddof=1), rel=0.02)
