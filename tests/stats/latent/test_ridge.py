"""Ridges: where EM alone takes thousands of steps, the same answer comes in a few hundred."""

import sys

import numpy as np
import pytest

from tallystick.stats.latent_model import (
    LatentOptions,
    Problem,
    Votes,
    as_votes,
    cross_ridge,
    fit_plain,
    pack,
)


def coins(judges: int, seed: int, labels: int = 2, items: int = 4000) -> Votes:
    votes = np.random.default_rng([judges, seed]).integers(0, labels, (items, judges))
    codes, counts = np.unique(votes, axis=0, return_counts=True)
    return as_votes(codes, counts, n_classes=labels)


@pytest.mark.parametrize(("judges", "seed", "labels"), [(6, 2, 2), (4, 1, 3)])
def test_coin_flips_converge_in_a_few_hundred_steps(judges, seed, labels):
    votes = coins(judges, seed, labels)
    found = fit_plain(votes, labels)
    assert found.converged
    assert found.iterations < 600  # EM alone: 3,753 to more than 10,000


def test_the_answer_is_the_one_that_em_alone_reaches(monkeypatch):
    votes = coins(5, 2)
    quick = fit_plain(votes, 2)
    monkeypatch.setattr(sys.modules["tallystick.stats.latent_model"], "_PATIENCE", 10**6)
    slow = fit_plain(votes, 2)
    assert slow.converged
    assert slow.iterations > 10 * quick.iterations
    assert quick.objective == pytest.approx(slow.objective, abs=1e-6)
    assert quick.accuracy == pytest.approx(slow.accuracy, abs=2e-4)


def test_crossing_never_lowers_the_objective_and_keeps_known_parts():
    votes = coins(4, 1)
    sure = [[0.7, 0.3], [0.4, 0.6]]
    options = LatentOptions(confusion={1: sure}, confusion_prior=0.5)
    problem = Problem.of(votes, 2, options)
    start = problem.normalise(pack(fit_plain(votes, 2).model))
    end, seen = cross_ridge(problem, start, tolerance=1e-8, most=500)
    assert problem.expect(end).objective >= problem.expect(start).objective
    assert end[:, 3:5] == pytest.approx(np.array(sure))
    assert 1 < seen <= 520
