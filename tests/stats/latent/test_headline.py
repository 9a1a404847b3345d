"""The label-free headline, its range and its tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.results import Unknown
from tallystick.stats.latent_checks import misfit, simulate
from tallystick.stats.latent_headline import blend, fit_unreadable, half_to_double
from tallystick.stats.latent_model import LatentModel


def headline(fit, *, rng):
    """Return the headline as a panel without labels gets it: pulled by its misfit."""
    try:
        ratio = misfit(fit.plain, rng=rng).ratio
    except NotIdentifiable as error:
        return blend(fit, pull=0.5, ratio=Unknown(str(error)))
    return blend(fit, pull=float(np.clip(ratio - 1, 0, 1)), ratio=ratio)


@pytest.mark.parametrize(
    ("pull", "known"),
    [
        (0.0, [0.9189, 0.8935, 0.8646, 0.8196]),
        (0.5, [0.8902, 0.8689, 0.8447, 0.8023]),
        (1.0, [0.8615, 0.8444, 0.8247, 0.7851]),
    ],
)
def test_printed_estimates(four, pull, known):
    fit = fit_unreadable(four.codes, four.counts, n_labels=2)
    untested = Unknown("nothing can be tested")
    assert blend(fit, pull=pull, ratio=untested).accuracy == pytest.approx(known, abs=5e-5)


def test_printed_estimates_with_missing_votes(gaps):
    fit = fit_unreadable(gaps.codes, gaps.counts, n_labels=3)
    found = blend(fit, pull=0.5, ratio=Unknown("nothing can be tested")).accuracy
    assert found == pytest.approx([0.9119, 0.8928, 0.8291], abs=5e-5)


def test_printed_ranges():
    """The page's rule has equal ends; the corrections take the lower end from A^.4 = .8230."""
    assert half_to_double(0.8902, 0.8902, 100) == pytest.approx((0.7491, 0.9764), abs=5e-5)
    assert half_to_double(0.8230, 0.9202, 100) == pytest.approx((0.6078, 0.9872), abs=5e-5)
    assert half_to_double(0.99, 0.99, 50) == pytest.approx((0.9659, 1), abs=5e-5)


def test_measured_misfit_pulls_to_the_majority_of_the_others(four):
    fit = fit_unreadable(four.codes, four.counts, n_labels=2)
    loo = [0.90, 0.88, 0.86, 0.82]
    assert blend(fit, pull=1.0, ratio=2.0).accuracy == pytest.approx(loo, abs=1e-9)
    half = np.add(loo, [0.9189, 0.8935, 0.8646, 0.8196]) / 2
    half[3] = 0.82  # A^0 = .8206 and LOO = .82, and the mean over h is below both
    assert blend(fit, pull=0.5, ratio=1.5).accuracy == pytest.approx(half, abs=5e-5)


def test_a_measured_headline_stays_between_dawid_skene_and_the_others(four):
    """With all weight on h > 0 the mean over h lies below both."""
    fit = fit_unreadable(four.codes, four.counts, n_labels=2)
    sure = replace(fit, weight=np.array([0.0, 0, 0, 0, 1, 0, 0]))
    found = blend(sure, pull=0.2, ratio=1.2)
    assert found.accuracy == pytest.approx([0.90, 0.88, 0.86, 0.82], abs=3e-4)
    assert np.einsum("jyy->j", found.tables) == pytest.approx(found.accuracy)


def test_the_range_uses_the_ends_of_the_corrections(four):
    fit = fit_unreadable(four.codes, four.counts, n_labels=2)
    found = blend(fit, pull=0.5, ratio=1.0)
    # The printed .6078 comes from A^.4 rounded to .8230; unrounded (.823018) it is .60787.
    assert found.low[0] == pytest.approx(0.60787, abs=1e-5)
    assert found.high[0] == pytest.approx(0.9872, abs=5e-5)


def test_three_binary_judges_cannot_be_tested_and_get_half(four):
    fit = fit_unreadable(four.codes[:, :3], four.counts, n_labels=2)
    with pytest.raises(NotIdentifiable, match="fits anything"):
        misfit(fit.plain, rng=1)
    unknown = blend(fit, pull=0.5, ratio=Unknown("nothing can be tested"))
    assert headline(fit, rng=1).accuracy.tolist() == unknown.accuracy.tolist()


def test_tables_sum_to_one_and_their_diagonal_is_the_accuracy(gaps):
    fit = fit_unreadable(gaps.codes, gaps.counts, n_labels=3)
    found = blend(fit, pull=0.3, ratio=1.3)
    assert found.tables.sum(axis=(1, 2)) == pytest.approx(np.ones(3))
    assert np.einsum("jyy->j", found.tables) == pytest.approx(found.accuracy)
    assert found.per_label.sum(axis=2) == pytest.approx(np.ones((3, 3)))
    assert found.balance.sum() == pytest.approx(1)


def test_a_judge_whom_nobody_meets_is_graded_by_the_model_alone(four):
    """Its row of (U5) would be missing: A^.4 stands for LOO."""
    codes = np.vstack((np.column_stack((four.codes, [-1] * 12)), [[-1] * 4 + [0]]))
    fit = fit_unreadable(codes, [*four.counts, 20], n_labels=2)
    found = blend(fit, pull=1.0, ratio=2.0)
    assert found.accuracy[4] == pytest.approx(fit.accuracy[fit.at(0.4), 4])
    assert np.isfinite(found.low[4])


def test_the_balance_follows_the_truth_of_a_simulated_panel():
    model = LatentModel([0.8, 0.2], [[[0.9, 0.1], [0.15, 0.85]]] * 5)
    codes, truth = simulate(model, 4000, rng=5)
    found = headline(fit_unreadable(codes, np.ones(4000), n_labels=2), rng=1)
    assert found.balance[1] == pytest.approx((truth == 1).mean(), abs=0.02)
    assert found.per_label[:, 1, 1] == pytest.approx(np.full(5, 0.85), abs=0.06)
