from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.replays import observed
from tallystick.errors import InputError
from tallystick.sampling import (
    Flips,
    Masa,
    Plan,
    Sampler,
    Strata,
)

Finish = Callable[[Sampler, list[Any]], Sampler]


def plan_of(**change: Any) -> Plan:
    basic: dict[str, Any] = {
        "strata": Strata(np.repeat([0, 1, 2], [30, 20, 10])),
        "policy": Masa(),
        "budget": 40,
        "n_outcomes": 3,
        "in_flight": 4,
    }
    return Plan(**basic | change)


@given(st.data(), st.integers(0, 99))
def test_a_run_keeps_its_budget_its_minimum_and_its_items(
    scenarios: Any, finish: Finish, data: st.DataObject, seed: int
) -> None:
    plan, answers = data.draw(scenarios)
    sampler = finish(Sampler(plan, rng=seed), answers)
    seen = observed(sampler)
    assert len(sampler.items) == seen.asked.sum() == plan.calls
    assert (seen.asked >= plan.floors).all()
    if not plan.replacement:
        assert len(set(sampler.items)) == plan.calls
        assert (seen.asked <= plan.strata.sizes).all()
    told = [answers[item] for item in sampler.items]
    assert seen.answered.sum() == sum(answer is not None for answer in told)
    assert seen.new.sum(axis=0).tolist() == [told.count(code) for code in range(plan.n_outcomes)]
    assert sampler.ask() == []


@given(st.data(), st.integers(0, 99), st.randoms(use_true_random=False))
def test_neither_order_nor_timing_of_answers_changes_a_run(
    scenarios: Any, finish: Finish, data: st.DataObject, seed: int, chance: Any
) -> None:
    plan, answers = data.draw(scenarios)
    straight = finish(Sampler(plan, rng=seed), answers)
    ragged = Sampler(plan, rng=seed)
    while not ragged.done or ragged.waiting:
        waiting = ragged.waiting
        if waiting and (chance.random() < 0.6 or len(waiting) == plan.in_flight or ragged.done):
            for item in chance.sample(waiting, chance.randint(1, len(waiting))):
                ragged.tell({item: answers[item]})
        else:
            try:
                ragged.ask(chance.randint(1, 3))
            except InputError:  # the next choice depends on an answer that is due
                ragged.tell([(waiting[0], answers[waiting[0]])])
    assert ragged.items == straight.items
    assert np.array_equal(observed(ragged).new, observed(straight).new)
    assert np.array_equal(observed(ragged, blind=True).new, observed(straight, blind=True).new)


def test_asking_with_the_limit_in_flight_is_refused_rather_than_answered_by_nothing() -> None:
    sampler = Sampler(plan_of(), rng=1)
    batch = sampler.ask()
    assert len(batch) == 4
    with pytest.raises(InputError, match="in_flight = 4 and the answer to item"):
        sampler.ask()
    sampler.tell({batch[3]: 0})  # a later answer does not open the way
    with pytest.raises(InputError, match=f"item {batch[0]} is due"):
        sampler.ask()
    sampler.tell({batch[0]: None})  # a failed call does
    assert len(sampler.ask()) == 1


def test_only_items_in_flight_can_be_answered_once_with_a_code() -> None:
    sampler = Sampler(plan_of(), rng=1)
    item = sampler.ask()[0]
    with pytest.raises(InputError, match="code 0 … 2, or None, got 3"):
        sampler.tell({item: 3})
    with pytest.raises(InputError, match=r"or None, got 1\.5"):
        sampler.tell({item: 1.5})
    sampler.tell({np.int64(item): np.int8(2)})
    with pytest.raises(InputError, match="not in flight"):
        sampler.tell({item: 2})


def test_blind_tells_of_each_question_whether_its_choice_looked_at_answers(finish: Finish) -> None:
    strata = Strata(np.repeat([0, 1], [300, 100]))
    plan = plan_of(strata=strata, policy=Flips(), budget=80, baseline=[0] * 400)
    quiet = finish(Sampler(plan, rng=2), [0] * 400)
    loud = finish(Sampler(plan, rng=2), [0] * 300 + [0, 1] * 50)
    assert quiet.blind == loud.blind == [True] * 56 + [False] * 24
    # what is called blind is the same whatever was answered, the rest is not
    assert quiet.items[:48] == loud.items[:48]
    assert quiet.items[48:] != loud.items[48:]
    counted = np.bincount(strata.of[np.array(loud.items)[loud.blind]])
    assert counted.tolist() == observed(loud, blind=True).asked.tolist()


def test_a_seed_names_the_run_and_a_generator_draws_one(finish: Finish) -> None:
    a, b = (finish(Sampler(plan_of(), rng=7), [0] * 60) for _ in range(2))
    assert a.items == b.items
    assert finish(Sampler(plan_of(), rng=8), [0] * 60).items != a.items
    drawn = Sampler(plan_of(), rng=np.random.default_rng(7))
    assert Sampler(plan_of(), rng=drawn.key).ask() == drawn.ask()
    with pytest.raises(InputError, match="rng must be"):
        Sampler(plan_of(), rng=None)
