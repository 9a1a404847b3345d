"""A draw is a random sample inside each stratum, whatever was drawn before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.serve.queue import DrawPopulation, FramePlan, plan_frame

VOTES = {0: (0, 0), 1: (0, 1), 2: (1, 0), 3: (1, 1)}


def rows_of(n: int, *, seed: int = 1, patterns: int = 4) -> DrawPopulation:
    """Rows with two votes each; a judge says a or b."""
    rng = np.random.default_rng(seed)
    return DrawPopulation(
        as_of=9,
        row=np.arange(n),
        pattern=rng.integers(patterns, size=n),
        system=np.zeros(n, np.int64),
        systems=("",),
        votes=VOTES,
        n_classes=2,
    )


def plan(found: DrawPopulation, **given: object) -> FramePlan:
    order = {"budget": 60, "overlap": 0.1, "seed": 3, **given}
    return plan_frame(found, **order)  # type: ignore[arg-type]


def test_the_same_rows_and_seed_make_the_same_draw() -> None:
    assert plan(rows_of(500)) == plan(rows_of(500))
    assert plan(rows_of(500)).rows != plan(rows_of(500), seed=4).rows


def test_probabilities_are_those_of_the_strata_and_the_overlap_is_exact() -> None:
    made = plan(rows_of(1_000), budget=100, overlap=0.15)
    assert sum(one.size for one in made.strata) == 1_000
    for one in made.rows:
        stratum = made.strata[one.stratum]
        assert one.probability == stratum.rate == pytest.approx(100 / 1_000)
    assert sum(one.readers == 2 for one in made.rows) == 15
    assert len({one.row for one in made.rows}) == 100


def test_labels_steer_the_draw_to_where_they_differ() -> None:
    found = rows_of(20_000)
    labels = [(VOTES[0], 0, 40), (VOTES[3], 0, 20), (VOTES[3], 1, 20)]
    flat, steered = plan(found, budget=4_000), plan(replace(found, labels=labels), budget=4_000)

    def rate(made: FramePlan, pattern: int) -> float:
        one = next(s for s in made.strata if pattern in s.patterns)
        return one.drawn / one.size

    assert rate(steered, 3) / rate(steered, 0) > 1.3
    assert 0.85 < rate(flat, 3) / rate(flat, 0) < 1.15


def test_a_budget_beyond_the_rows_takes_all_of_them() -> None:
    made = plan(rows_of(30), budget=1_000)
    assert {one.row for one in made.rows} == set(range(30))
    assert {one.probability for one in made.rows} == {1.0}


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        plan(rows_of(0))
