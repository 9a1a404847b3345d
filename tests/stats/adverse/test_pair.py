"""Two systems on different or partly common items."""

from __future__ import annotations

import pytest

from tallystick.stats.intervals import difference_ends

DIGITS = 5.01e-5


@pytest.mark.parametrize(
    ("first", "second", "correlation", "common", "reach"),
    [(0.10, 0.08, -0.5, 20, 0.1428), (0.10, 0.08, 0.3, 20, 0.1281), (0.12, 0.12, -1, 36, 0.2339)],
)
def test_the_vectors_of_the_page_are_reached(first, second, correlation, common, reach):
    parts = (0.5, 0.5 - first, 0.5 + first), (0.5, 0.5 - second, 0.5 + second)
    found = difference_ends(*parts, shared=common / 40, correlation=correlation)
    assert tuple(map(float, found)) == pytest.approx((-reach, reach), abs=DIGITS)
