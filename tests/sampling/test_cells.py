from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sampling import history_cells

seeds = st.integers(0, 10_000)


def expected(right: np.ndarray, calls: int) -> np.ndarray:
    worth = np.where(right, 1, 2)
    return calls * worth / worth.sum()


@given(seeds, st.integers(20, 2000), st.booleans())
def test_history_cells_partition_all_items_and_expect_enough_questions(
    seed: int, calls: int, ranked: bool
) -> None:
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 6, 400)
    old = np.where(rng.random(400) < 0.2, rng.integers(0, 6, 400), true)
    strata = history_cells(true, old, calls=calls, confidence=rng.random(400) if ranked else None)
    e = np.bincount(strata.of, weights=expected(old == true, calls))
    mixed = [len(np.unique(true[strata.of == k])) > 1 for k in range(len(strata))]
    assert sum(mixed) <= 4, "only the pool mixes labels, cut into at most four bins"
    least = 3 if ranked else 4  # a bin by confidence, or a cell
    # leftovers of wrong answers may expect less
    assert np.quantile(e, 0.9) >= min(least, calls / 2)
    assert 2 * len(strata) <= max(calls, 2), "two questions everywhere fit the budget"


def test_each_rule_of_the_default_shows_on_a_small_example() -> None:
    # label 0: 60 right, 20 wrong as 1, 4 wrong as 2; label 1: 50 right, 1 wrong; label 2: 3 items.
    true = np.repeat([0, 0, 0, 1, 1, 2], [60, 20, 4, 50, 1, 3])
    old = np.repeat([0, 1, 2, 1, 0, 2], [60, 20, 4, 50, 1, 3])
    strata = history_cells(true, old, calls=40)
    # e: label 0 right 14.7, wrong as 1 9.8, wrong as 2 2.0 (leftover); label 1 in all 12.7, its
    # wrong side .5 (mixed); label 2 in all .7 (pooled).
    assert strata.sizes.tolist() == [60, 20, 4, 51, 3]
    # families: right or not; all in the lowest third, as there is no confidence
    assert strata.families.tolist() == [3, 0, 0, 3, 3]
    cut = history_cells(true, old, calls=40, confidence=np.arange(138))
    # ⌊14.7/3⌋ = 4, ⌊9.8/3⌋ = 3, ⌊2.0/3⌋ = 0 is one, ⌊12.7/3⌋ = 4
    assert cut.sizes.tolist() == [15, 15, 15, 15, 7, 7, 6, 4, 13, 13, 13, 12, 3]
    assert cut.families.tolist() == [3, 3, 3, 4, 1, 1, 1, 1, 4, 5, 5, 5, 5]


def test_a_lone_leftover_joins_a_cell_that_can_show_its_spread() -> None:
    true = np.zeros(31, int)
    old = np.repeat([0, 1, 2], [20, 10, 1])
    assert history_cells(true, old, calls=20).sizes.tolist() == [20, 11]
