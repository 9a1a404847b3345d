from __future__ import annotations

import pytest

from tallystick.sampling.stopping import (
    LabelProgress,
    next_batch,
    stop_reason,
)


@pytest.mark.parametrize(
    ("labelled", "missing", "size"),
    [
        (0, None, 20),
        (8, None, 12),
        (20, 980, 50),
        (20, 60, 30),
        (80, 36, 20),
        (80, 2, 5),
        (30, None, 10),
    ],
)
def test_batches_are_half_of_what_is_missing_in_fives(labelled, missing, size):
    assert next_batch(LabelProgress(labelled=labelled, left=900, missing=missing)) == size


def test_a_batch_never_exceeds_the_items_or_the_budget():
    assert next_batch(LabelProgress(labelled=20, left=3, missing=300)) == 3
    assert next_batch(LabelProgress(labelled=20, left=99, missing=300, budget=27)) == 7
    assert next_batch(LabelProgress(labelled=30, left=99, missing=300, budget=27)) == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"missing": 0}, "precision"),
        ({"missing": None, "labelled": 15}, None),
        ({"verdict": True}, "verdict"),
        ({"certain": True, "verdict": True}, "certain"),
        ({"left": 0}, "certain"),
        ({"budget": 60}, "budget"),
        ({"budget": 90}, "not-worth-it"),
        ({"left": 55}, None),
        ({"missing": None, "budget": 60}, "budget"),
    ],
)
def test_the_first_reason_that_holds_is_given(change, reason):
    base = {"labelled": 60, "left": 500, "missing": 55}
    assert stop_reason(LabelProgress(**{**base, **change})) == reason
