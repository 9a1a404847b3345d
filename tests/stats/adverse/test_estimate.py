"""What every method of the family returns."""

from __future__ import annotations

import numpy as np

from tallystick.results import Unknown
from tallystick.stats.adverse_binary import AdverseEstimates, labels_worth


def made(estimate):
    ends = np.array([0.2, 0.0]), np.array([0.4, 1.0])
    alone = np.array([0.1, 0.0]), np.array([0.5, 1.0])
    return AdverseEstimates.of(
        np.array(estimate), ends, alone, n_labels=np.array([10, 0]), alpha=0.1, method="test"
    )


def test_a_row_is_an_estimate_of_its_own():
    one = made([0.3, np.nan])[0]
    assert (one.estimate, tuple(one.interval), one.n_labels) == (0.3, (0.2, 0.4), 10)
    assert one.worth == 10 * (0.4 / 0.2) ** 2
    assert str(one) == "0.3000 [0.200, 0.400] (90 %, approximate)"


def test_a_row_without_labels_says_why_it_has_no_estimate():
    rows = list(made([0.3, np.nan]))
    assert rows[1].estimate == Unknown("there are no labels")
    assert str(rows[1]).startswith("unknown: there are no labels")
    assert len(rows) == 2


def test_a_point_is_worth_the_labels_it_took():
    assert labels_worth(np.array([7]), np.array([0.0]), np.array([0.0])).tolist() == [7.0]
