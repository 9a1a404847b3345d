from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tallystick.errors import BudgetError, InputError
from tallystick.sampling import Masa, Plan, Strata, Uniform

BASIC: dict[str, Any] = {
    "strata": Strata([0, 0, 0, 1, 1]),
    "policy": Masa(),
    "budget": 4,
    "n_outcomes": 2,
}


def test_a_budget_too_small_for_the_minimum_is_refused_with_a_way_out() -> None:
    with pytest.raises(
        BudgetError,
        match="2 strata with at least 2 questions each need 4 calls, the budget has 3 for them",
    ):
        Plan(**BASIC | {"budget": 3})
    Plan(**BASIC | {"budget": 3, "policy": Uniform()})
    Plan(**BASIC | {"budget": 3, "policy": Masa(minimum=1)})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"in_flight": 0}, "in_flight must be at least 1"),
        ({"baseline": [0, 1, 0, 1, 2]}, "5 codes below n_outcomes = 2, got 5 up to 2"),
        ({"baseline": [0, 1]}, "got 2 up to 1"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"n_outcomes": 0}, "n_outcomes must be at least 1"),
        ({"weights": [1, 2, 3]}, r"weights must be finite, of shape \(2,\) or \(2, 2\)"),
        ({"weights": [1, np.inf]}, "weights must be finite"),
    ],
)
def test_parts_that_do_not_fit_are_refused_at_once(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Plan(**BASIC | change)


@pytest.mark.parametrize(
    "change",
    [
        {"policy": Masa(exploration=2.0)},
        {"budget": 5},
        {"in_flight": 2},
        {"replacement": True},
        {"baseline": [0, 0, 0, 0, 0]},
        {"weights": [1, 2]},
        {"strata": Strata([0, 0, 1, 1, 1])},
        {"strata": Strata([0, 0, 0, 1, 1], np.array([0, 1]))},
    ],
)
def test_whatever_decides_a_run_is_in_the_fingerprint(change: dict[str, Any]) -> None:
    assert Plan(**BASIC | change).fingerprint != Plan(**BASIC).fingerprint
    assert (
        Plan(**BASIC).fingerprint == Plan(**BASIC | {"strata": Strata([0, 0, 0, 1, 1])}).fingerprint
    )
