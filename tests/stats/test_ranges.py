from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.exact_tails import at_least, closed_unit, open_unit, positive, whole


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (open_unit, [0.5, [0.1, 0.9]], [0, 1, -0.1, np.nan, [0.5, 1.0]]),
        (closed_unit, [0, 1, [0.0, 1.0]], [-1e-9, 1.1, np.nan]),
        (positive, [1e-300, 5], [0, -1, np.inf, np.nan]),
    ],
)
def test_a_range_accepts_its_inside_and_refuses_the_rest(check, good, bad):
    for value in good:
        check(argument=value)
    for value in bad:
        with pytest.raises(InputError, match="argument must be"):
            check(argument=value)


def test_whole_numbers_may_be_floats_but_not_fractions():
    whole(0, n=[0, 3.0])
    for value in (0.5, -1, np.inf, np.nan):
        with pytest.raises(InputError, match="n must be a whole number"):
            whole(0, n=value)


def test_at_least_names_its_limit():
    at_least(2, n=2)
    with pytest.raises(InputError, match=r"n must be at least 2 and finite, got 1\.5"):
        at_least(2, n=1.5)
