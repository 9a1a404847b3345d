import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.replicates import runs_per_item, variance_parts

PILOT = ([0, 1, 3, 5, 4, 2, 5, 5], [5] * 8)


def test_the_printed_vector_comes_out():
    parts = variance_parts(*PILOT)
    assert round(parts.within, 4) == 0.1250
    assert round(parts.between, 4) == 0.1286
    assert round(runs_per_item(parts, item_price=4, run_price=1), 2) == 1.97


def test_the_split_is_unbiased_also_with_unequal_runs():
    rng = np.random.default_rng(0)
    rates = np.tile([0.1, 0.5, 0.9, 0.95], 25)
    runs = np.where(rates < 0.3, 8, 3)
    found = [variance_parts(rng.binomial(runs, rates), runs) for _ in range(800)]
    assert np.mean([p.within for p in found]) == pytest.approx(
        np.mean(rates * (1 - rates)), rel=0.02
    )
    assert np.mean([p.between for p in found]) == pytest.approx(np.var(rates, ddof=1), rel=0.02)


def test_a_pair_adds_what_runs_of_both_models_vary():
    one, other = ([3, 2, 5, 1], [5] * 4), ([1, 2, 2, 0], [4] * 4)
    parts = variance_parts(*one, against=other)
    assert parts.within == pytest.approx(
        variance_parts(*one).within + variance_parts(*other).within
    )
    assert parts.items == 4


def test_runs_get_cheaper_than_items_as_items_get_dear():
    parts = variance_parts(*PILOT)
    assert runs_per_item(parts, item_price=0.01, run_price=1) == 1
    dear = runs_per_item(parts, item_price=100, run_price=1)
    assert dear == pytest.approx(5 * runs_per_item(parts, item_price=4, run_price=1))


def test_items_that_do_not_differ_ask_for_runs_only():
    parts = variance_parts([2, 3, 2, 3], [5] * 4)
    assert parts.between == 0
    assert runs_per_item(parts, item_price=1, run_price=1) == float("inf")
    never = variance_parts([0, 0], [5, 5])
    assert runs_per_item(never, item_price=1, run_price=1) == 1


@pytest.mark.parametrize(
    ("correct", "runs", "named"),
    [
        ([1, 0], [2, 1], "item 1 has one run"),
        ([3, 0], [2, 2], "correct at most runs"),
        ([1], [2], "at least two items"),
    ],
)
def test_a_pilot_that_says_nothing_is_refused(correct, runs, named):
    with pytest.raises(InputError, match=named):
        variance_parts(correct, runs)


def test_two_models_on_different_items_are_refused():
    with pytest.raises(InputError, match="same 2 items"):
        variance_parts([1, 0], [2, 2], against=([1, 1, 1], [2, 2, 2]))


def test_more_runs_of_the_same_items_never_pass_the_floor():
    parts = variance_parts(*PILOT)
    assert parts.floor == pytest.approx(parts.between / 8)
