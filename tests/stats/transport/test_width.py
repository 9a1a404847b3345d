from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.transport import programme
from tallystick.stats.transport_smoothed import entropy_width


def test_no_cost_of_the_spread_has_wider_bounds() -> None:
    rng = np.random.default_rng(12)
    for sharpness in (0.02, 0.1, 0.5):
        q, p = rng.dirichlet(np.ones(4), 10), rng.dirichlet(np.full(3, sharpness), 10)
        weights = rng.dirichlet(np.ones(10))
        limit = entropy_width(q, p, weights=weights, spread=2.0)
        for _ in range(5):
            g = rng.uniform(9, 11, (4, 3))  # far from zero: the constant does not count
            ends = [weights @ programme(q, p, g, side=side).value for side in ("lower", "upper")]
            assert ends[1] - ends[0] <= limit


def test_knowing_the_label_leaves_no_width() -> None:
    assert entropy_width([[0.5, 0.5]], [[1.0, 0.0]]) == 0


def test_it_never_exceeds_the_spread() -> None:
    assert entropy_width([[0.5, 0.5]], [[0.5, 0.5]], spread=3) == 3


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="one row per pattern"):
        entropy_width([[0.5, 0.5]], [[0.5, 0.5]] * 2)
    with pytest.raises(InputError, match="spread must be finite"):
        entropy_width([[0.5, 0.5]], [[0.5, 0.5]], spread=-1)
