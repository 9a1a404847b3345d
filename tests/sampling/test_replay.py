from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.replays import observed, replay
from tallystick.sampling import Plan, Proportional, Sampler, Strata

Finish = Callable[[Sampler, list[Any]], Sampler]


@settings(max_examples=60)
@given(st.data(), st.integers(0, 99))
def test_every_run_of_a_replay_is_the_run_of_a_sampler(
    scenarios: Any, finish: Finish, data: st.DataObject, seed: int
) -> None:
    plan, answers = data.draw(scenarios)
    known = np.array([-1 if answer is None else answer for answer in answers])
    result = replay(plan, known, runs=3, rng=seed)
    for run, key in enumerate(result.keys):
        alone = finish(Sampler(plan, rng=int(key)), answers)
        assert result.items[run].tolist() == alone.items
        for blind in (False, True):
            together, single = result.observed(blind=blind), observed(alone, blind=blind)
            assert np.array_equal(together.new[run], single.new)
            assert np.array_equal(together.asked[run], single.asked)
            assert np.array_equal(together.answered[run], single.answered)
            if plan.baseline is not None:
                assert np.array_equal(together.old[run], single.old)
                assert np.array_equal(together.same[run], single.same)


def test_with_uniform_answers_every_item_is_drawn_equally_often() -> None:
    plan = Plan(
        strata=Strata([0, 0, 0, 1, 1, 1]),
        policy=Proportional(),
        budget=4,
        n_outcomes=1,
    )
    counts = np.bincount(replay(plan, [0] * 6, runs=3000, rng=1).items.ravel())
    assert counts == pytest.approx(2000, abs=4 * np.sqrt(3000 * 2 / 9))
