"""Recall and F1 from four cells: the vectors, the edges, the laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.adverse_ratios import (
    adverse_f1,
    adverse_recall,
)

DIGITS = 5.01e-5
SIZES = [200, 100, 60, 640]


@pytest.mark.parametrize(
    ("measure", "labelled", "hits", "estimate", "ends"),
    [
        (adverse_recall, [20, 10, 6, 64], [18, 5, 3, 2], 0.8214, (0.6977, 0.9171)),
        (adverse_f1, [20, 10, 6, 64], [18, 5, 3, 2], 0.7931, (0.6788, 0.8774)),
        (adverse_recall, [4, 2, 1, 13], [4, 2, 0, 0], 1.0, (0.6783, 1.0)),
        (adverse_f1, [4, 2, 1, 13], [4, 2, 0, 0], 1.0, (0.7297, 1.0)),
        (adverse_f1, [20, 10, 6, 64], [0, 0, 0, 0], 0.0, (0.0, 0.1502)),
    ],
)
def test_the_vectors_of_the_page_are_reached(measure, labelled, hits, estimate, ends):
    found = measure(SIZES, labelled, hits)
    assert found.estimate == pytest.approx(estimate, abs=DIGITS)
    assert tuple(found.interval) == pytest.approx(ends, abs=DIGITS)


def test_without_a_label_of_the_class_recall_is_unknown():
    found = adverse_recall(SIZES, [20, 10, 6, 64], [0, 0, 0, 0])
    assert isinstance(found.estimate, Unknown)
    assert tuple(found.interval) == (0.0, 1.0)


def test_a_class_that_is_never_predicted_is_never_found():
    for measure in (adverse_recall, adverse_f1):
        found = measure([0, 0, 60, 640], [0, 0, 6, 64], [0, 0, 3, 2])
        assert (found.estimate, *found.interval) == (0.0, 0.0, 0.0)


def test_a_class_that_is_always_predicted_is_always_found():
    found = adverse_recall([300, 700, 0, 0], [20, 40, 0, 0], [15, 3, 0, 0])
    assert (found.estimate, *found.interval) == (1.0, 1.0, 1.0)
    f1 = adverse_f1([300, 700, 0, 0], [20, 40, 0, 0], [15, 3, 0, 0])
    assert 0 < f1.interval.low < f1.estimate < f1.interval.high < 1


def test_all_labels_give_the_number_itself():
    hits = [180, 50, 30, 20]
    recall, f1 = (measure(SIZES, SIZES, hits) for measure in (adverse_recall, adverse_f1))
    assert (recall.estimate, *recall.interval) == pytest.approx((230 / 280,) * 3)
    assert (f1.estimate, *f1.interval) == pytest.approx((2 * 230 / (300 + 280),) * 3)


@st.composite
def cells(draw):
    sizes = [draw(st.integers(0, 30)) for _ in range(4)]
    sizes[0] += 1
    labelled = [draw(st.integers(0, n)) for n in sizes]
    return sizes, labelled, [draw(st.integers(0, k)) for k in labelled]


@given(cells())
def test_recall_never_leaves_what_logic_allows(data):
    n, k, x = (np.array(part) for part in data)
    found = adverse_recall(n, k, x)
    if isinstance(found.estimate, Unknown) or n[2:].sum() == 0:
        return
    left = n - k
    tp, fn = x[:2].sum(), x[2:].sum()
    assert found.interval.low >= tp / (tp + fn + left[2:].sum()) - 1e-9
    assert found.interval.high <= (tp + left[:2].sum()) / (tp + left[:2].sum() + fn) + 1e-9
    assert found.interval.low <= found.estimate <= found.interval.high


def coverage(measure, truth, m, runs, seed):
    """Coverage over random draws of m rows from a fixed table of (cell, of class c)."""
    rng = np.random.default_rng(seed)
    cell, hit = truth
    n = np.bincount(cell, minlength=4)
    x = np.bincount(cell, hit, 4)
    on = x[:2].sum()
    true = on / x.sum() if measure is adverse_recall else 2 * on / (n[:2].sum() + x.sum())
    seen = {}
    held = 0
    for _ in range(runs):
        at = rng.permutation(len(cell))[:m]
        labelled = np.bincount(cell[at], minlength=4)
        hits = np.bincount(cell[at], hit[at], 4)
        key = (*labelled.tolist(), *hits.tolist())
        if key not in seen:  # few rows make the same counts again and again
            seen[key] = measure(n, labelled, hits).interval
        interval = seen[key]
        held += interval.low - 1e-9 <= true <= interval.high + 1e-9
    return held / runs


@pytest.mark.parametrize("measure", [adverse_recall, adverse_f1])
@pytest.mark.parametrize("m", [30, 90, 110])
def test_few_hits_are_covered_also_when_most_rows_are_labelled(measure, m):
    # 120 rows, eight of the class, one of them missed: .87-.93 before the correction at m > N/2.
    cell = np.repeat([0, 1, 2, 3], [8, 6, 6, 100])
    hit = np.zeros(120, dtype=int)
    hit[[0, 1, 2, 3, 4, 5, 9, 60]] = 1
    assert coverage(measure, (cell, hit), m, 400, 12) >= 0.95 - 2.33 * np.sqrt(0.05 * 0.95 / 400)


def test_counts_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="four cells"):
        adverse_recall([10, 10], [5, 5], [1, 1])
    with pytest.raises(InputError, match="hits must be between 0 and labelled"):
        adverse_f1(SIZES, [1, 1, 1, 1], [2, 0, 0, 0])
    with pytest.raises(InputError, match="alpha"):
        adverse_f1(SIZES, [1, 1, 1, 1], [1, 0, 0, 0], alpha=2)
