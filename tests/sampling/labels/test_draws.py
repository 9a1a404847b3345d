from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import BudgetError
from tallystick.sampling.draws import (
    DrawJournal,
    LabelStrata,
    class_spread,
    draw_batch,
    share_spread,
)


def _strata(sizes):
    of = np.repeat(np.arange(len(sizes)), sizes)
    return LabelStrata(of=of, side=np.zeros(len(sizes), int), guess=np.full((len(sizes), 2), 0.5))


@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    seed=st.integers(0, 1000),
    batch=st.integers(1, 9),
)
def test_every_item_is_drawn_once_and_its_stratum_is_right(sizes, seed, batch):
    strata = _strata(sizes)
    journal = DrawJournal.empty(sizes)
    while journal.n_draws < strata.n_items:
        spread = share_spread(journal.stratum, journal.item % 2.0, len(sizes))
        rng = seed + journal.n_batches
        journal = draw_batch(strata, journal, size=batch, spread=spread, rng=rng)
    assert sorted(journal.item.tolist()) == list(range(strata.n_items))
    assert (strata.of[journal.item] == journal.stratum).all()
    at = np.arange(journal.n_draws), journal.stratum
    assert journal.probabilities()[at] == pytest.approx(journal.q)
    with pytest.raises(BudgetError):
        draw_batch(strata, journal, size=1, spread=np.ones(len(sizes)), rng=0)


def test_draws_have_the_probabilities_that_are_written_down():
    strata = _strata([2, 3])
    spread = np.array([0.2, 0.5])
    rng, runs = np.random.default_rng(3), 6_000
    seen, chance = Counter(), {}
    for _ in range(runs):
        journal = draw_batch(strata, DrawJournal.empty([2, 3]), size=2, spread=spread, rng=rng)
        pair = tuple(journal.item.tolist())
        seen[pair] += 1
        left = journal.remaining()[np.arange(2), journal.stratum]
        chance[pair] = float((journal.q / left).prod())
    assert set(seen) == set(itertools.permutations(range(5), 2))
    assert sum(chance.values()) == pytest.approx(1.0)
    for pair, p in chance.items():
        assert abs(seen[pair] / runs - p) < 5 * np.sqrt(p / runs)


def test_a_stratum_of_spread_zero_takes_no_part():
    strata = _strata([5, 50])
    journal = draw_batch(strata, DrawJournal.empty([5, 50]), size=20, spread=[1.0, 0.0], rng=1)
    assert journal.n_draws == 5
    assert (journal.stratum == 0).all()


def test_items_outside_the_population_are_never_drawn():
    strata = _strata([10, 10]).without([0, 1, 2, 15])
    journal = draw_batch(strata, DrawJournal.empty(strata.sizes), size=99, spread=[1, 1], rng=1)
    assert sorted(journal.item.tolist()) == [*range(3, 15), *range(16, 20)]


def test_spreads_of_two_classes_draw_like_those_of_a_share():
    stratum, codes = np.array([0, 0, 1, 2]), np.array([1, 0, 1, 1])
    share = share_spread(stratum, codes.astype(float), 3)
    assert class_spread(stratum, codes, 3, n_classes=2) == pytest.approx(np.sqrt(2) * share)
    assert class_spread(stratum, codes, 3, n_classes=4).shape == (3,)
