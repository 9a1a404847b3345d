from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.papers.detecting_differences import Hoeffding
from tallystick.stats.exact_tails import (
    acceptance_plan,
    binomial_up_to,
    interval_items,
)


@settings(max_examples=40)
@given(limit=st.floats(0.02, 0.5), share=st.floats(0, 0.7), power=st.floats(0.5, 0.95))
def test_an_acceptance_plan_holds_both_promises(limit, share, power):
    plan = acceptance_plan(limit, share * limit, power=power)
    assert binomial_up_to(plan.failures, plan.items, limit) <= 0.05
    assert binomial_up_to(plan.failures, plan.items, share * limit) >= power
    if plan.failures:
        fewer = plan.failures - 1
        n = next(n for n in range(1, plan.items + 1) if binomial_up_to(fewer, n, limit) <= 0.05)
        assert binomial_up_to(fewer, n, share * limit) < power


@given(half=st.floats(0.01, 0.3), rate=st.floats(0.01, 0.99))
def test_the_width_is_reached_and_not_before(half, rate):
    def width(n):
        z = 1.959963984540054
        return z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))

    n = interval_items(half, rate=rate)
    assert width(n) <= half
    assert n == 1 or width(n - 1) > half
    assert n <= Hoeffding().items(half, 0.05)
