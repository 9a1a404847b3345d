"""Agreement beyond chance: printed vectors, definitions done the long way, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from tallystick.results import Unknown
from tallystick.stats.agreement import (
    as_ratings,
    cohen_kappa,
    extra_items,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    mean_bias,
    raw_agreement,
    two_commonest,
)
from tallystick.stats.intervals import clopper_pearson


def read(text):
    """Turn words of digits into codes: one word per item, "." for a missing rating."""
    return np.array([[-1 if c == "." else int(c) for c in word] for word in text.split()])


# Every printed vector of the methods page and its corrections.


FIRST = "000 001 111 111 000 101 222 221 000 111 010 222"
SECOND = "0000 0001 1111 1101 2222 2212 0000 1111"


@pytest.mark.parametrize(
    ("text", "statistic", "estimate", "low", "high"),
    [
        (FIRST, fleiss_kappa, 0.6571, 0.2574, 0.9964),
        (FIRST, gwet_ac1, 0.6712, 0.3283, 0.9805),
        (FIRST, krippendorff_alpha, 0.6667, 0.2772, 0.9958),
        (SECOND, fleiss_kappa, 0.7100, 0.2398, 1),
        (SECOND, gwet_ac1, 0.7229, 0.3255, 1),
        (SECOND, krippendorff_alpha, 0.7190, 0.2623, 1),
    ],
)
def test_nominal_statistics(text, statistic, estimate, low, high):
    found = statistic(read(text))
    assert found.estimate == pytest.approx(estimate, abs=5e-5)
    assert tuple(found.interval) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("text", "estimate", "low"), [(FIRST, 0.7965, 0.4599), (SECOND, 0.8317, 0.4297)]
)
def test_ordinal_alpha_with_the_third_added_item(text, estimate, low):
    found = krippendorff_alpha(read(text), metric="ordinal")
    assert found.estimate == pytest.approx(estimate, abs=5e-5)
    assert tuple(found.interval) == pytest.approx((low, 1), abs=5e-5)


@pytest.mark.parametrize(
    ("text", "estimate", "low"),
    [(FIRST, 0.7447, 0.2148), (SECOND, 1, 0.4303), ("00 " * 6 + "11 " * 6, 1, 0.5119)],
)
def test_cohen_of_the_first_two_raters(text, estimate, low):
    found = cohen_kappa(read(text)[:, :2])
    assert found.estimate == pytest.approx(estimate, abs=5e-5)
    assert tuple(found.interval) == pytest.approx((low, 1), abs=5e-5)


def test_ten_items_with_one_label():
    codes = read("00 " * 10)
    ac1 = gwet_ac1(codes, n_labels=2)
    assert ac1.estimate == 1
    assert tuple(ac1.interval) == pytest.approx((0.6766, 1), abs=5e-5)
    cohen = cohen_kappa(codes, n_labels=2)
    assert isinstance(cohen.estimate, Unknown)
    assert "same one label" in cohen.estimate.reason
    assert tuple(cohen.interval) == (-1, 1)


def test_labels_that_nobody_gave_lower_the_chance_of_ac1():
    codes = [[0, 0], [1, 1], [0, 1]]
    assert gwet_ac1(codes, n_labels=5).estimate > gwet_ac1(codes).estimate


def test_raw_agreement_of_two_raters_is_a_share_of_items_with_an_exact_interval():
    found = raw_agreement([[0, 0]] * 17 + [[0, 1]] * 3)
    assert found.estimate == pytest.approx(0.85)
    assert tuple(found.interval) == pytest.approx(tuple(clopper_pearson(17, 20)))
    assert found.interval.guarantee == "exact"


def test_raw_agreement_of_several_raters_is_the_mean_share_of_agreeing_pairs():
    found = raw_agreement([[0, 0, 0], [0, 0, 1], [-1, 1, 1], [1, -1, -1]])
    assert found.estimate == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert found.n_items == 3
    assert found.interval.guarantee == "approximate"
    never = raw_agreement([[0, 1, 2]] * 10)
    assert (never.estimate, never.interval.low) == (0, 0)
    assert 0.1 < never.interval.high < 0.5


def test_mean_bias_is_the_first_less_the_second_in_the_unit_of_the_values():
    grades = [[3, 2], [4, 4], [0, 2], [1, 1], [2, 3], [4, -1]]
    assert mean_bias(grades).estimate == pytest.approx((1 + 0 - 2 + 0 - 1) / 5)
    assert mean_bias([[4, 3]] * 4, values=[1, 2, 3, 4, 10]).estimate == 6


def test_the_interval_of_the_bias_does_not_collapse_when_the_raters_agree():
    found = mean_bias([[2, 2]] * 30, n_labels=5)
    assert found.estimate == 0
    assert found.interval.low < -0.1 < 0.1 < found.interval.high


def test_one_item_has_a_bias_and_no_interval():
    found = mean_bias([[3, 1]])
    assert found.estimate == 2
    assert isinstance(found.interval, Unknown)


@pytest.mark.parametrize(
    "statistic", [raw_agreement, cohen_kappa, fleiss_kappa, gwet_ac1, krippendorff_alpha, mean_bias]
)
def test_raters_without_a_common_item_are_unknown_with_the_reason(statistic):
    found = statistic([[0, -1], [-1, 1]])
    assert found.n_items == 0
    for part in (found.estimate, found.interval):
        assert isinstance(part, Unknown)
        assert "two raters" in part.reason


@pytest.mark.parametrize("statistic", [fleiss_kappa, krippendorff_alpha])
def test_one_label_is_unknown_with_its_reason(statistic):
    found = statistic([[1, 1, 1]] * 4)
    assert isinstance(found.estimate, Unknown)
    assert "one label" in found.estimate.reason


def test_one_item_has_a_kappa_and_says_nothing_about_others():
    found = fleiss_kappa([[0, 1]])
    assert found.estimate == -1
    assert tuple(found.interval) == (-1, 1)


def test_the_second_commonest_label_is_counted():
    found = fleiss_kappa([[0, 0, 0]] * 20 + [[0, 1, 2]] + [[0, 1, 0]])
    assert found.second_commonest == 2


# The interval, against the jackknife done the long way.


EVERY = {
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac1,
    "alpha": krippendorff_alpha,
    "ordinal": lambda codes, **more: krippendorff_alpha(codes, metric="ordinal", **more),
    "cohen": lambda codes, **more: cohen_kappa(codes[:, :2], **more),
    "linear": lambda codes, **more: cohen_kappa(codes[:, :2], weights="linear", **more),
}


def long_way(codes, function, n_labels):
    """Recompute the statistic for every item left out, with the three added items of the page."""
    value = lambda table: (  # noqa: E731
        1.0 if isinstance(e := function(table, n_labels=n_labels).estimate, Unknown) else e
    )
    first, second = two_commonest(np.bincount(codes.ravel(), minlength=n_labels).astype(float))
    raters = codes.shape[1]
    ends = []
    for one, two in ((first, second), (second, second), (second, first)):
        more = np.vstack((codes, [one if r % 2 == 0 else two for r in range(raters)]))
        n = len(more)
        without = np.array([value(np.delete(more, i, axis=0)) for i in range(n)])
        error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
        half = t.ppf(0.975, n - 1) * error
        ends += [value(more) - half, value(more) + half]
    return max(-1, min(ends)), min(1, max(ends))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_equals_the_jackknife_done_the_long_way(name, seed):
    rng = np.random.default_rng(seed)
    raters = 2 if name in ("cohen", "linear") else (3, 4)[seed % 2]
    truth = rng.integers(0, 3, 15)
    wrong = rng.random((15, raters)) < 0.3
    codes = np.where(wrong, rng.integers(0, 3, (15, raters)), truth[:, None])
    found = EVERY[name](codes, n_labels=3)
    assert tuple(found.interval) == pytest.approx(long_way(codes, EVERY[name], 3), abs=1e-10)


@pytest.mark.parametrize("name", EVERY)
def test_patterns_with_counts_are_the_same_as_rows(name):
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 3, (60, 3))
    rows[rng.random(rows.shape) < 0.1] = -1
    rows = rows[(rows >= 0).any(axis=1)]
    patterns, counts = np.unique(rows, axis=0, return_counts=True)
    one = EVERY[name](rows, n_labels=3)
    other = EVERY[name](patterns, counts=counts, n_labels=3)
    assert other.estimate == pytest.approx(one.estimate, abs=1e-12)
    assert tuple(other.interval) == pytest.approx(tuple(one.interval), abs=1e-10)
    assert other.n_items == one.n_items


def test_added_items_have_the_three_forms_of_the_page():
    ratings = as_ratings([[0, 0, 0], [0, 0, 1]])
    assert [item.tolist() for item in extra_items(ratings)] == [[2, 1], [0, 3], [1, 2]]


def test_added_items_of_a_sparse_table_carry_an_average_number_of_ratings():
    codes = np.full((30, 20), -1)
    for i in range(30):
        codes[i, [i % 20, (i + 1) % 20, (i + 5) % 20]] = i % 2
    assert [item.sum() for item in extra_items(as_ratings(codes))] == [3, 3, 3]


# What may come in as ratings.


def test_rows_without_a_rating_or_an_item_are_left_out_and_a_second_label_is_invented():
    ratings = as_ratings([[0, 1], [-1, -1], [1, 1]], [3, 5, 0])
    assert ratings.codes.tolist() == [[0, 1]]
    assert ratings.counts.tolist() == [3]
    assert as_ratings([[0, 0]]).n_labels == 2
