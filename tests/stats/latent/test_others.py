"""Majority of the others."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.latent_headline import majority_of_others
from tallystick.stats.latent_model import as_votes


def test_printed_values(four, gaps):
    found = majority_of_others(as_votes(four.codes, four.counts, n_classes=2), 2)
    assert found.accuracy == pytest.approx([0.90, 0.88, 0.86, 0.82], abs=1e-12)
    found = majority_of_others(as_votes(gaps.codes, gaps.counts, n_classes=3), 3)
    assert found.accuracy == pytest.approx([0.8571, 0.8583, 0.8106], abs=5e-5)


def test_extra_votes_are_never_right_and_never_a_majority():
    votes = as_votes([[0, 2, 2], [2, 0, 0]], [1, 1], n_classes=2, n_votes=3)
    found = majority_of_others(votes, 2)
    # The first judge's vote 0 meets nobody with a possible vote; its vote 2 is wrong.
    assert found.accuracy[0] == 0
    assert found.tables[0].sum() == 1
    # The second judge: vote 2 where the first says 0 (wrong), vote 0 where the third says 0.
    assert found.accuracy[1] == 0.5


def test_a_judge_alone_on_its_items_cannot_be_graded():
    votes = as_votes([[0, 0, -1], [-1, -1, 1]], [3, 2], n_classes=2)
    assert np.isnan(majority_of_others(votes, 2).accuracy[2])
