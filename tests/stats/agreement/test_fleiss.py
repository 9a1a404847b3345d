"""Fleiss' kappa."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.stats.agreement import fleiss_kappa


@pytest.mark.parametrize("seed", range(6))
def test_complete_ratings_follow_the_formula_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    n, raters, labels = 30, int(rng.integers(2, 6)), 3
    codes = rng.integers(0, labels, (n, raters))
    table = np.stack([(codes == k).sum(axis=1) for k in range(labels)], axis=1)
    observed = ((table**2).sum(axis=1) - raters).mean() / (raters * (raters - 1))
    chance = ((table.sum(axis=0) / (n * raters)) ** 2).sum()
    known = (observed - chance) / (1 - chance)
    assert fleiss_kappa(codes, n_labels=labels).estimate == pytest.approx(known, abs=1e-12)


def test_no_item_with_two_ratings_is_unknown_with_its_reason():
    found = fleiss_kappa([[0, -1], [-1, 1]])
    assert isinstance(found.estimate, Unknown)
    assert "two raters" in found.estimate.reason
    assert found.n_items == 0


def test_one_item_has_a_kappa_and_says_nothing_about_others():
    found = fleiss_kappa([[0, 1]])
    assert found.estimate == -1
    assert tuple(found.interval) == (-1, 1)


def test_the_second_commonest_label_is_counted():
    found = fleiss_kappa([[0, 0, 0]] * 20 + [[0, 1, 2]] + [[0, 1, 0]])
    assert found.second_commonest == 2
