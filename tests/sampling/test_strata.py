from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.sampling import Strata, merge_small


def some_strata(draw: st.DrawFn) -> Strata:
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=8))
    family = draw(st.lists(st.integers(0, 2), min_size=len(sizes), max_size=len(sizes)))
    return Strata(np.repeat(np.arange(len(sizes)), sizes), np.array(family))


@given(st.composite(some_strata)(), st.integers(1, 30))
def test_merging_leaves_no_small_stratum_unless_all_items_are_too_few(
    strata: Strata, least: int
) -> None:
    merged = merge_small(strata, least=least)
    assert merged.n_items == strata.n_items
    assert merged.sizes.min() >= min(least, strata.n_items)
    for k in range(len(strata)):  # no stratum is torn apart
        assert len(np.unique(merged.of[strata.of == k])) == 1


def test_merging_stays_in_the_family_where_it_can() -> None:
    strata = Strata(np.repeat([0, 1, 2, 3], [20, 2, 3, 30]), np.array([0, 1, 1, 0]))
    merged = merge_small(strata, least=5)
    assert merged.sizes.tolist() == [20, 5, 30]
    assert merged.families.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("of", "family", "complaint"),
    [
        ([], None, "at least one item"),
        ([0, 2], None, "without gaps"),
        ([0, -1], None, "integers from 0"),
        ([[0, 1]], None, "flat array"),
    ],
)
def test_what_is_no_partition_is_refused(
    of: list[float], family: list[int] | None, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        Strata(
            np.array(of, dtype=None if of else int), None if family is None else np.array(family)
        )
