from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling.strata import Effects


def test_one_hot_rows_have_length_one_and_no_baseline_adds_nothing() -> None:
    effects = Effects.of(3, 2)
    assert effects.squared.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert effects.weight[:, 3].tolist() == [0, 0]
    assert (effects.width, effects.dimensions) == (1, 3)


def test_weights_by_stratum_scale_the_reach_of_each() -> None:
    assert Effects.of(2, 2, weights=[[1, 3], [0, 0.5]]).reach.tolist() == [3, 0.5]


def test_a_table_of_vectors_replaces_one_hot_rows() -> None:
    effects = Effects.of(2, 1, matrix=[[3.0, 4.0], [0.0, 1.0]])
    assert effects.reach.tolist() == [5]
    assert (effects.width, effects.dimensions) == (2, 2)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="2 rows, got shape"):
        Effects.of(2, 1, matrix=[[1.0, 2.0]])
    with pytest.raises(InputError, match=r"\(2,\) or \(3, 2\), got \(1, 3\)"):
        Effects.of(2, 3, weights=[1, 2, 3])
    with pytest.raises(InputError, match="finite"):
        Effects.of(2, 3, weights=[1, np.inf])
    with pytest.raises(InputError, match="n_outcomes must be at least 1"):
        Effects.of(0, 1)
