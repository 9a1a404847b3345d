"""The ends of (AL15), against their definition by plain halving."""

import math

import numpy as np
import pytest

from tallystick.stats.adverse_ratios import ratio_end


def by_halving(weight, factor, seen, size, constant, bar, upper):
    """(AL15) as it is written, with a halving for μ inside one for θ."""
    sign = -1.0 if upper else 1.0

    def rate(tilt, s, n):
        if abs(tilt) < 1e-300:
            return s / n
        root = math.sqrt(max(0.0, (n + tilt) ** 2 - 4 * tilt * s))
        return 2 * s / (n + tilt + root) if n + tilt >= 0 else (n + tilt - root) / (2 * tilt)

    def statistic(theta):
        def rates(t):
            mu = sign * math.exp(t)
            parts = zip(weight, factor, seen, size, strict=True)
            return [(w * (f - theta), rate(mu * w * (f - theta), s, n)) for w, f, s, n in parts]

        low, high = -10.0, 25.0
        for _ in range(60):
            middle = (low + high) / 2
            total = sum(omega * p for omega, p in rates(middle)) - theta * constant
            low, high = (middle, high) if sign * total > 0 else (low, middle)
        lost = 0.0
        for s, n, (_, p) in zip(seen, size, rates(high), strict=True):
            lost += s * math.log(s / n / p) if s > 0 else 0.0
            lost += (n - s) * math.log((n - s) / n / (1 - p)) if n > s else 0.0
        return 2 * lost

    inside = sum(w * f * s / n for w, f, s, n in zip(weight, factor, seen, size, strict=True)) / (
        constant + sum(w * s / n for w, s, n in zip(weight, seen, size, strict=True))
    )
    outside = 1.0 if upper else 0.0
    for _ in range(50):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if statistic(middle) < bar else (inside, middle)
    return outside


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize(("top", "constant"), [(1.0, 0.0), (2.0, 0.3)])
def test_the_ends_are_those_of_the_definition(top, constant, upper):
    rng = np.random.default_rng(4)
    for _ in range(12):
        weight = rng.dirichlet(np.ones(4))
        factor = np.array([top, top, 0.0, 0.0])
        size = rng.uniform(5, 60, 4)
        seen = size * rng.uniform(0.05, 0.95, 4)
        found = ratio_end(weight, factor, seen, size, constant, 3.84, upper)
        expected = by_halving(weight, factor, seen, size, constant, 3.84, upper)
        assert found == pytest.approx(expected, abs=1e-9)
