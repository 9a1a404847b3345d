from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.draws import DrawJournal
from tallystick.sampling.bets import both_ways, crossed, for_drawing, rectified_steps, refused_claim
from tallystick.sampling.planned import Apart
from tallystick.sampling.bets import anytime_share
from tallystick.sampling.draws import LabelStrata, draw_batch


@pytest.fixture
def strata():
    return LabelStrata(of=[0] * 60 + [1] * 40, side=[0, 1], guess=[[0.8, 0.2], [0.1, 0.9]])


def test_the_mean_of_all_and_of_the_sampled_part_are_inverse():
    apart = Apart(known=30, total=12.0, sampled=170)
    assert apart.part(apart.whole(0.37)) == pytest.approx(0.37)
    moved = apart.interval(Interval(0.2, 0.4, level=0.9, guarantee="anytime", method="m"))
    assert (moved.guarantee, moved.level, moved.method) == ("anytime", 0.9, "m")


def test_disagreements_become_strata_of_their_own(strata):
    flags = np.arange(100) % 3 == 0
    cut = crossed(strata.without([0, 99]), flags)
    assert cut.sizes.sum() == 98
    for one in range(len(cut)):
        inside = cut.of == one
        assert np.unique(flags[inside]).size == 1
        assert np.unique(strata.of[inside]).size == 1
    assert len(crossed(strata, np.zeros(100, bool))) == 2


@pytest.mark.parametrize(
    ("origin", "claim", "target", "drawn", "refused"),
    [
        ("random", "share", "new", 0, False),
        ("disagreements", "difference", "these", 0, False),
        ("disagreements", "share", "these", 0, True),
        ("disagreements", "accuracies", "these", 0, True),
        ("disagreements", "share", "these", 20, False),
        ("unknown", "share", "these", 0, True),
        ("unknown", "share", "these", 20, False),
        ("unknown", "share", "new", 20, True),
    ],
)
def test_only_claims_are_refused(origin, claim, target, drawn, refused):
    reason = refused_claim(origin, claim, target=target, drawn=drawn)
    assert (reason is not None) == refused


def test_skips_count_as_the_worst_for_each_end():
    skipped = np.array([False, True, False])
    low, high = both_ways([-1.0, np.nan, 1.0], skipped, bounds=(-1.0, 1.0))
    assert for_drawing([-1.0, np.nan, 1.0], skipped, bounds=(-1.0, 1.0)).tolist() == [
        -1.0,
        0.0,
        1.0,
    ]
    assert low.tolist() == [-1.0, -1.0, 1.0]
    assert high.tolist() == [-1.0, 1.0, 1.0]


def test_labels_of_unknown_origin_are_known_exactly_and_bias_nothing(strata):
    """Complaints, all of them failures: taken for random ones they would bias the share."""
    truth = (np.arange(100) >= 30).astype(float)
    complaints = np.arange(25)
    rest = strata.without(complaints)
    apart = Apart(known=25, total=truth[complaints].sum(), sampled=rest.n_items)
    journal = draw_batch(rest, DrawJournal.empty(rest.sizes), size=75, spread=[1, 1], rng=1)
    inner = anytime_share(rectified_steps(journal, truth[journal.item], [0.2, 0.9]))
    assert tuple(apart.interval(inner)) == pytest.approx((0.7, 0.7))


def test_what_does_not_fit_is_refused(strata):
    with pytest.raises(InputError, match="disagree"):
        crossed(strata, [True])
    with pytest.raises(InputError, match="skipped"):
        both_ways([1.0], np.array([True, False]))
