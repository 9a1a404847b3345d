from __future__ import annotations

import numpy as np

from tallystick.sampling import Masa, Plan, Proportional, Strata
from tallystick.sampling.sampler import FAILED, Allocation

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


def test_an_answer_that_failed_counts_as_asked_and_not_as_answered() -> None:
    held = Allocation(plan((4, 4)))
    held.ask(0)
    held.tell(0, FAILED, OLD)
    held.ask(0)
    held.tell(0, 1, OLD)
    assert held.book.asked.tolist() == [2, 0]
    assert held.book.answered.tolist() == [1, 0]


def test_with_several_questions_in_flight_asking_alone_moves_the_score() -> None:
    # One question at a time is scored when its answer comes; a second one must not wait for it.
    alone, several = Allocation(plan((1, 9))), Allocation(plan((1, 9), in_flight=4))
    for held in (alone, several):
        held.ask(0)
    assert np.isposinf(alone.scores[0])
    assert np.isneginf(several.scores[0])


def test_proportional_allocation_follows_the_sizes() -> None:
    held = Allocation(plan((10, 30), policy=Proportional()))
    for _ in range(20):
        k = int(held.scores.argmax())
        held.ask(k)
        held.tell(k, 0, OLD)
    assert held.book.asked.tolist() == [5, 15]
