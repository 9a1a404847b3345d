import numpy as np
import pytest

from tallystick.sampling import FAILED, Strata
from tallystick.verbs.shift.design import allocation_path, baselines, strata_rows


@pytest.fixture
def asked(items, rows):
    """Every third item, all answered but the first."""
    chosen = np.arange(0, len(items), 3)
    codes = np.array([items.code(rows[item]["new"]) for item in chosen])
    codes[0] = FAILED
    return Strata(items.truth), chosen, codes


def test_strata_count_what_was_asked_answered_and_flipped(items, asked):
    strata, chosen, codes = asked
    found = strata_rows(items, strata, chosen, codes)
    assert sum(one.items for one in found) == len(items)
    assert sum(one.asked for one in found) == len(chosen)
    assert sum(one.answered for one in found) == len(chosen) - 1
    flips = (codes != items.old[chosen]) & (codes != FAILED)
    assert sum(one.flips for one in found) == flips.sum()
    assert sum(one.optimal for one in found) == pytest.approx(len(chosen), abs=0.2)
    assert found[0].name.startswith("truly five, mixed, confidence ")


def test_the_path_ends_where_the_strata_end(items, asked):
    strata, chosen, codes = asked
    path = allocation_path(items, strata, chosen, codes)
    last = [
        asked_then
        for question, asked_then in zip(path["question"], path["asked"], strict=True)
        if question == len(chosen)
    ]
    assert last == [one.asked for one in strata_rows(items, strata, chosen, codes)]


def test_the_optimum_is_no_worse_than_proportional_sampling_of_a_large_table(items, asked):
    strata, chosen, codes = asked
    found = baselines(items, strata, chosen, codes)
    left = 1 - (len(chosen) - 1) / len(items)
    assert found["optimal"] <= found["proportional"] / left
    assert found["proportional"] <= found["uniform"]
