"""The laws of moments: exact for whole scores, to rounding for the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.table import Moments

ROWS = st.lists(
    st.tuples(st.integers(-50, 50), st.integers(0, 1), st.sampled_from(["x", "y", None])),
    max_size=12,
)
TIGHT = {"rtol": 1e-13, "atol": 1e-13}


def _moments(rows: list[Any], scale: float = 1.0) -> Moments:
    return Moments.of(
        {
            "a": [row[0] * scale for row in rows],
            "b": [row[1] * scale for row in rows],
            "g": [row[2] for row in rows],
        },
        by="g",
    )


@settings(max_examples=40)
@given(a=ROWS, b=ROWS, c=ROWS)
def test_whole_scores_add_up_exactly_in_any_order(a: list[Any], b: list[Any], c: list[Any]) -> None:
    x, y, z = map(_moments, (a, b, c))
    assert x + Moments() == x == Moments() + x
    assert x + y == y + x
    assert (x + y) + z == x + (y + z) == _moments(a + b + c)
    assert (x + y + z).exact


@settings(max_examples=40)
@given(a=ROWS, b=ROWS, c=ROWS)
def test_other_scores_add_up_to_rounding_in_any_order(
    a: list[Any], b: list[Any], c: list[Any]
) -> None:
    x, y, z = (_moments(rows, scale=0.1) for rows in (a, b, c))
    left, right, whole = (x + y) + z, z + (y + x), _moments(a + b + c, scale=0.1)
    for other in (right, whole):
        assert (left.n, left.groups, left.dropped) == (other.n, other.groups, other.dropped)
        np.testing.assert_allclose(left.sums, other.sums, **TIGHT)
        np.testing.assert_allclose(left.group_sums, other.group_sums, **TIGHT)
        np.testing.assert_allclose(left.centred, other.centred, rtol=1e-12, atol=1e-12)


@settings(max_examples=20)
@given(rows=ROWS, scale=st.sampled_from([1.0, 0.1]))
def test_saved_moments_come_back_to_the_last_bit(
    rows: list[Any], scale: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    held = _moments(rows, scale)
    path = tmp_path_factory.mktemp("saved") / "m.moments"
    held.save(path)
    assert Moments.load(path) == held
