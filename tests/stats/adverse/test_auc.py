"""The AUC from few labels: the vectors, the edges, and the lumps it failed on before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("positives", "low"), [([0.9, 0.8, 0.7, 0.3], 0.4309), ([0.9, 0.8, 0.7, 0.65], 0.5381)]
)
def test_the_page_s_ends_before_the_correction_lie_inside(positives, low):
    # Without the third variance the end solves centre - t = z sqrt(max(V_HM, V_DeLong)).
    pilot = auc_pilot(positives, NEGATIVES)
    n1, n0 = pilot.positives, pilot.negatives
    hanley = low * (1 - low) / (n1 * n0)
    hanley *= 1 + (n1 - 1) * (1 - low) / (2 - low) + (n0 - 1) * low / (1 + low)
    centre = pilot.estimate * n1 * n0 / ((n1 + 0.2) * (n0 + 0.2))
    assert centre - low == pytest.approx(1.959964 * np.sqrt(max(hanley, pilot.delong)), abs=2e-4)
    assert adverse_auc(positives, NEGATIVES).interval.low < low


def test_a_class_without_labels_leaves_everything_open():
    for found in (adverse_auc([], [0.1, 0.2]), adverse_auc([0.3], [])):
        assert isinstance(found.estimate, Unknown)
        assert tuple(found.interval) == (0.0, 1.0)


def test_one_label_of_a_class_adds_nothing_to_delong_s_variance():
    placements = np.array([1.0, 1.0, 0.0, 1.0])  # of four negatives against one positive
    assert auc_pilot([0.5], [0.1, 0.2, 0.7, 0.3]).delong == pytest.approx(
        placements.var(ddof=1) / 4
    )
    assert auc_pilot([0.5], [0.1]).delong == 0
    assert 0 <= adverse_auc([0.5], [0.1]).interval.low < 0.5


def test_ties_count_one_half():
    assert adverse_auc([0.5, 0.5], [0.5, 0.5, 0.5]).estimate == 0.5
    assert adverse_auc([0.5, 1.0], [0.5, 0.0]).estimate == pytest.approx((0.5 + 1 + 1 + 1) / 4)


def test_placements_are_those_of_all_pairs():
    rng = np.random.default_rng(0)
    one, zero = rng.integers(0, 8, 12), rng.integers(0, 8, 17)
    pairs = (one[:, None] > zero) + 0.5 * (one[:, None] == zero)
    found = auc_pilot(one, zero)
    assert found.estimate == pytest.approx(pairs.mean())
    expected = pairs.mean(axis=1).var(ddof=1) / 12 + pairs.mean(axis=0).var(ddof=1) / 17
    assert found.delong == pytest.approx(expected)


scores = st.lists(st.integers(0, 9), min_size=1, max_size=12)


@given(scores, scores)
def test_swapping_the_classes_turns_the_interval_around(one, zero):
    found, turned = adverse_auc(one, zero), adverse_auc(zero, one)
    assert found.interval.low == pytest.approx(1 - turned.interval.high, abs=1e-9)
    assert found.interval.high == pytest.approx(1 - turned.interval.low, abs=1e-9)
    assert found.interval.low <= found.estimate <= found.interval.high


@given(scores, scores)
def test_only_the_order_of_scores_matters(one, zero):
    plain = adverse_auc(one, zero)
    assert plain == adverse_auc([np.exp(s / 3) for s in one], [np.exp(s / 3) for s in zero])


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
