from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.stats.intervals import split_alpha


def test_all_of_alpha_is_spent_and_no_more():
    assert split_alpha(0.1, "two") == (0.05, 0.05)
    assert split_alpha(0.1, "lower") == (0.1, 0.0)
    assert split_alpha(0.1, "upper") == (0.0, 0.1)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, float("nan")])
def test_an_alpha_outside_its_range_is_refused(alpha):
    with pytest.raises(InputError, match=r"alpha must be in \(0, 1\)"):
        split_alpha(alpha, "two")


def test_an_unknown_side_is_refused():
    with pytest.raises(InputError, match="side must be one of"):
        split_alpha(0.05, "both")
