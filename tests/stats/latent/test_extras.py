"""Votes that can never be true."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.latent_checks import fit_unreadable
from tallystick.stats.latent_covotes import with_extras


def ends(found):
    return [end for interval in found.intervals for end in interval]


def test_printed_intervals(extra):
    fit = fit_unreadable(extra.codes, extra.counts, n_labels=2, n_votes=3)
    found = with_extras(fit)
    assert found.on_new_items == pytest.approx([0.9100, 0.8182, 0.7611], abs=5e-5)
    known = [0.8057, 0.9610, 0.7287, 0.8830, 0.6721, 0.8320]
    assert ends(found) == pytest.approx(known, abs=5e-5)
    assert found.intervals[0].promise == "under errors are independent given the label"


def test_printed_intervals_where_one_judge_never_casts_the_extra_vote(one_silent):
    fit = fit_unreadable(one_silent.codes, one_silent.counts, n_labels=2, n_votes=3)
    found = with_extras(fit)
    assert found.balance[0] == pytest.approx(0.5267, abs=5e-5)
    assert found.on_new_items == pytest.approx([0.8713, 0.7946, 0.8422], abs=5e-5)
    known = [0.7563, 0.9366, 0.6872, 0.8720, 0.7367, 0.9106]
    assert ends(found) == pytest.approx(known, abs=5e-5)
    assert found.answered[2] == 1


def test_shares_add_up(extra):
    fit = fit_unreadable(extra.codes, extra.counts, n_labels=2, n_votes=3)
    found = with_extras(fit)
    cast = extra.counts @ (extra.codes == 2)
    assert 1 - found.answered == pytest.approx(cast / extra.counts.sum())
    assert found.accuracy == pytest.approx(found.answered * found.when_answered)


def test_a_weak_panel_gets_no_interval():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 300)
    right = rng.random((300, 3)) < [0.9, 0.6, 0.6]
    codes = np.where(right, truth[:, None], 1 - truth[:, None])
    codes[rng.random((300, 3)) < 0.05] = 2
    found = with_extras(fit_unreadable(codes, np.ones(300), n_labels=2, n_votes=3))
    assert all(isinstance(interval, Unknown) for interval in found.intervals)
    assert "below 70 %" in found.intervals[0].reason


def test_coverage_of_three_good_judges_with_refusals():
    """Under independence, for new items: the page measured .945 on average, worst .903."""
    rng = np.random.default_rng(9)
    known = np.array([0.9, 0.85, 0.8]) * 0.93
    covered, shown = np.zeros(3), 0
    for _ in range(120):
        truth = rng.integers(0, 2, 400)
        right = rng.random((400, 3)) < [0.9, 0.85, 0.8]
        codes = np.where(right, truth[:, None], 1 - truth[:, None])
        codes[rng.random((400, 3)) < 0.07] = 2
        found = with_extras(fit_unreadable(codes, np.ones(400), n_labels=2, n_votes=3))
        if isinstance(found.intervals[0], Interval):
            shown += 1
            covered += [a in i for a, i in zip(known, found.intervals, strict=True)]
    assert shown > 100
    assert (covered / shown > 0.903 - 0.06).all()


def test_a_level_outside_the_unit_interval_is_refused(extra):
    fit = fit_unreadable(extra.codes, extra.counts, n_labels=2, n_votes=3)
    with pytest.raises(InputError, match="level"):
        with_extras(fit, level=0)
