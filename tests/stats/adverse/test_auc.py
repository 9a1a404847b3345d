"""The AUC from few labels: the vectors, the edges, and the lumps it failed on before."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.adverse_ratios import adverse_auc, auc_pilot

DIGITS = 5.01e-5
NEGATIVES = [0.6, 0.5, 0.4, 0.2, 0.1, 0.05]


@pytest.mark.parametrize(
    ("positives", "negatives", "estimate", "ends"),
    [
        ([0.9, 0.8, 0.7, 0.3], NEGATIVES, 0.8750, (0.3417, 1.0)),
        ([0.9, 0.8, 0.7, 0.65], NEGATIVES, 1.0, (0.4357, 1.0)),
        (0.55 + 0.05 * np.arange(10), 0.01 + 0.03 * np.arange(30), 0.8517, (0.6185, 0.9762)),
    ],
)
def test_the_vectors_of_the_page_are_reached(positives, negatives, estimate, ends):
    found = adverse_auc(positives, negatives)
    assert found.estimate == pytest.approx(estimate, abs=DIGITS)
    assert tuple(found.interval) == pytest.approx(ends, abs=DIGITS)


def test_a_class_without_labels_leaves_everything_open():
    for found in (adverse_auc([], [0.1, 0.2]), adverse_auc([0.3], [])):
        assert isinstance(found.estimate, Unknown)
        assert tuple(found.interval) == (0.0, 1.0)


def test_placements_are_those_of_all_pairs():
    rng = np.random.default_rng(0)
    one, zero = rng.integers(0, 8, 12), rng.integers(0, 8, 17)
    pairs = (one[:, None] > zero) + 0.5 * (one[:, None] == zero)
    found = auc_pilot(one, zero)
    assert found.estimate == pytest.approx(pairs.mean())
    expected = pairs.mean(axis=1).var(ddof=1) / 12 + pairs.mean(axis=0).var(ddof=1) / 17
    assert found.delong == pytest.approx(expected)


@pytest.mark.parametrize(("m", "share", "truth"), [(20, 0.2, 0.65), (50, 0.07, 0.5)])
def test_a_few_positives_in_two_lumps_are_covered(m, share, truth):
    # Positives lie above or below all negatives: .904 and .916 before the correction.
    rng = np.random.default_rng(4)
    held, runs = 0, 700
    for _ in range(runs):
        n1 = rng.binomial(m, share)
        positives = np.where(rng.random(n1) < truth, 2.0, -2.0) + 0.1 * rng.random(n1)
        held += truth in adverse_auc(positives, rng.random(m - n1)).interval
    assert held / runs >= 0.94


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="positives must be one sequence"):
        auc_pilot([np.nan], [0.5])
    with pytest.raises(InputError, match="negatives must be one sequence"):
        auc_pilot([0.5], [])
