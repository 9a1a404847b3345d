from __future__ import annotations

import numpy as np
import pytest

from tallystick.sampling.bets import anytime_share, rectified_steps
from tallystick.sampling.draws import DrawJournal, LabelStrata, draw_batch
from tallystick.sampling.planned import Apart


@pytest.fixture
def strata():
    return LabelStrata(of=[0] * 60 + [1] * 40, side=[0, 1], guess=[[0.8, 0.2], [0.1, 0.9]])


def test_labels_of_unknown_origin_are_known_exactly_and_bias_nothing(strata):
    """Complaints, all of them failures: taken for random ones they would bias the share."""
    truth = (np.arange(100) >= 30).astype(float)
    complaints = np.arange(25)
    rest = strata.without(complaints)
    apart = Apart(known=25, total=truth[complaints].sum(), sampled=rest.n_items)
    journal = draw_batch(rest, DrawJournal.empty(rest.sizes), size=75, spread=[1, 1], rng=1)
    inner = anytime_share(rectified_steps(journal, truth[journal.item], [0.2, 0.9]))
    assert tuple(apart.interval(inner)) == pytest.approx((0.7, 0.7))
