from __future__ import annotations

import numpy as np

from tallystick.sampling import Masa, Plan, Strata
from tallystick.sampling.sampler import Allocation

OLD = 2
"""The code for no earlier answer, where there are two outcomes."""


def plan(sizes: tuple[int, ...] = (3, 5), *, policy=None, **options) -> Plan:
    strata = Strata(np.repeat(np.arange(len(sizes)), sizes))
    return Plan(strata=strata, policy=policy or Masa(), budget=sum(sizes), n_outcomes=2, **options)


def test_a_stratum_below_its_floor_comes_first_and_an_exhausted_one_never() -> None:
    made = plan((3, 5))
    held = Allocation(made)
    floor = int(made.floors[0])
    assert floor >= 1
    assert np.isposinf(held.scores).all()
    for _ in range(3):
        held.ask(0)
        held.tell(0, 1, OLD)
    assert np.isneginf(held.scores[0])
    assert held.scores.argmax() == 1
