"""The adverse likelihood on the strata of a labelling session."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.sampling.planned import planned_mean


def planned(sizes, labelled, ones):
    """Return the planned mean of so many ones among the labels of each stratum."""
    stratum = np.repeat(np.arange(len(sizes)), labelled)
    first = [np.arange(k) < x for k, x in zip(labelled, ones, strict=True)]
    values = np.concatenate(first).astype(float)
    return planned_mean(sizes, stratum, (values, values))


@pytest.mark.parametrize(
    ("sizes", "labelled", "ones", "estimate", "ends"),
    [
        ([28, 80], [10, 20], [3, 19], 0.7815, (0.6574, 0.8704)),
        ([108], [30], [22], None, (0.5741, 0.8611)),
        ([15], [13], [0], None, (0.0, 0.0667)),
        ([400, 300, 300], [12, 9, 9], [12, 6, 1], 0.6333, (0.5030, 0.7560)),
        ([200, 200, 100], [20, 12, 8], [20, 9, 1], 0.7250, (0.6000, 0.8280)),
        ([400, 400, 200], [16, 10, 14], [16, 10, 14], None, (0.8960, 1.0)),
        ([30, 10], [10, 10], [9, 4], 0.7750, (0.5750, 0.8250)),
        ([10, 5], [10, 5], [4, 5], 0.6, (0.6, 0.6)),
        # The third stratum takes (300 + 50)/400.
        ([300, 100, 100], [10, 10, 0], [10, 5, 0], 0.875, None),
    ],
)
def test_estimates_and_intervals_are_those_of_the_page(sizes, labelled, ones, estimate, ends):
    mean, interval = planned(sizes, labelled, ones)
    assert estimate is None or mean == pytest.approx(estimate, abs=5e-5)
    assert ends is None or tuple(interval) == pytest.approx(ends, abs=5e-5)
