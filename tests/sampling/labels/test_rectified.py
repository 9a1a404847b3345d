from __future__ import annotations

import numpy as np
import pytest

from tallystick.sampling.bets import rectified_steps
from tallystick.sampling.draws import DrawJournal, drawing_probabilities, share_spread


def test_each_value_has_the_mean_of_all_items_as_its_expectation(scripted):
    """One more draw after some: its expectation over stratum and item is the true mean, exactly."""
    sizes, truth = (
        [5, 4, 3],
        [np.array([1, 1, 0, 1, 0]), np.array([0, 0, 1, 0]), np.array([1, 1, 1])],
    )
    mean = np.concatenate(truth).mean()
    seen = [0, 1, 0, 2, 1]
    place = [seen[:t].count(h) for t, h in enumerate(seen)]
    first = [truth[h][place[t]] for t, h in enumerate(seen)]
    total = 0.0
    for h in range(3):
        for i in range(seen.count(h), sizes[h]):
            values = [*first, truth[h][i]]
            journal, _ = scripted(
                sizes, lambda t, h=h: [*seen, h][t], lambda t, v=values: v[t], 6, freeze=[0, 2, 4]
            )
            steps = rectified_steps(journal, values, [0.7, 0.2, 0.9])
            total += journal.q[5] / (sizes[h] - seen.count(h)) * steps.z[5]
    assert total == pytest.approx(mean, abs=1e-12)


def test_guesses_are_frozen_while_a_batch_is_drawn(scripted):
    journal, values = scripted([20, 20], lambda t: t % 2, lambda t: 1, 10, freeze=[0, 10])
    learning = rectified_steps(journal, values, [0.5, 0.5])
    fixed = rectified_steps(journal, values, [0.5, 0.5], learn=False)
    assert learning.z == pytest.approx(fixed.z)
    longer, more = scripted([20, 20], lambda t: t % 2, lambda t: t % 4 == 1, 14, freeze=[0, 10])
    assert (
        rectified_steps(longer, more, [0.5, 0.5]).z[10:]
        != rectified_steps(longer, more, [0.5, 0.5], learn=False).z[10:]
    ).all()


def test_an_empty_stratum_limits_nothing(scripted):
    journal, values = scripted([1, 20], lambda t: min(t, 1), lambda t: 1, 5, freeze=[0])
    steps = rectified_steps(journal, values, [0.0, 0.5])
    q = drawing_probabilities([0, 20], share_spread(np.empty(0, int), np.empty(0), 2))
    assert q[0] == 0
    assert np.isfinite(steps.low).all()
    assert np.isfinite(steps.high).all()


def test_draws_from_a_part_of_the_strata_are_counted_and_not_bet_on():
    # Ten draws among the first stratum only, then ten from both: only the latter are fair.
    journal = DrawJournal(
        sizes=np.array([50, 50]),
        item=np.arange(20),
        stratum=np.array([0] * 10 + [0, 1] * 5),
        q=np.empty(20),
        batch=np.array([0] * 10 + [1] * 10),
        spreads=np.array([[1.0, 0.0], [1.0, 1.0]]),
    )
    steps = rectified_steps(journal, np.ones(20), [0.5, 0.5])
    assert steps.z.size == steps.low.size == steps.high.size == 10
    assert steps.values.size == 20
    assert steps.logical == (0.2, 1.0)
