"""Random plans with known answers, and the loop that runs them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st

from tallystick.sampling import (
    Flips,
    Masa,
    Plan,
    Policy,
    Proportional,
    Sampler,
    Strata,
    Uniform,
)

Answers = list[int | None]


@pytest.fixture(scope="session")
def scenarios() -> st.SearchStrategy[tuple[Plan, Answers]]:
    """Plans with whatever options they may have, each with the answer to every item (None: the call
    fails)."""
    return _scenarios()


@pytest.fixture(scope="session")
def finish() -> Callable[[Sampler, Answers], Sampler]:
    """Answer what is in flight, then ask and tell to the end."""

    def run(sampler: Sampler, answers: Answers) -> Sampler:
        sampler.tell([(item, answers[item]) for item in sampler.waiting])
        while batch := sampler.ask():
            sampler.tell([(item, answers[item]) for item in batch])
        return sampler

    return run


@st.composite
def _scenarios(draw: st.DrawFn) -> tuple[Plan, Answers]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = rng.integers(1, 25, draw(st.integers(1, 6)))
    S, M, J = len(sizes), int(sizes.sum()), draw(st.integers(1, 4))
    strata = Strata(rng.permutation(np.repeat(np.arange(S), sizes)), rng.integers(0, 3, S))
    policy: Policy = draw(
        st.sampled_from(
            [
                Uniform(),
                Proportional(),
                Proportional(minimum=0),
                Masa(exploration=0.3),
                Masa(minimum=1),
                Flips(),
                Flips(blind=0.2, refresh=3, first=min(5, M - int(np.minimum(2, sizes).sum()))),
                Flips(blind=0.0, minimum=1),
            ]
        )
    )
    replacement = draw(st.booleans())
    floors = np.minimum(policy.minimum, np.where(replacement, policy.minimum, sizes)).sum()
    least = max(1, int(floors) + (policy.first if isinstance(policy, Flips) else 0))
    calls = draw(st.integers(least, least + M))
    plan = Plan(
        strata=strata,
        policy=policy,
        budget=calls,
        n_outcomes=J,
        baseline=rng.integers(0, J, M) if draw(st.booleans()) else None,
        weights=draw(st.sampled_from([None, rng.random(J), rng.random((S, J))])),
        in_flight=draw(st.sampled_from([1, 2, 7, 64])),
        replacement=replacement,
    )
    failing = rng.random(M) < draw(st.sampled_from([0.0, 0.3]))
    answers = [
        None if fails else int(code)
        for fails, code in zip(failing, rng.integers(0, J, M), strict=True)
    ]
    return plan, answers
