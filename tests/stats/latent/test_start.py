from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.stats.latent_model import (
    as_votes,
    best_order,
    majority_share,
)


def test_shares_count_votes_named_like_a_class_and_fall_back_on_the_overall_ones() -> None:
    codes = np.array([[0, 0, 1], [2, 2, 2], [1, 1, 1]])
    share = majority_share(as_votes(codes, [2, 5, 1], n_classes=2, n_votes=[3, 3, 3]), 2)
    np.testing.assert_allclose(share[:, 0], [2 / 3, 1 / 3])
    # Pattern 1 abstains: overall, 4 votes for class 0 and 2 + 3 for class 1.
    np.testing.assert_allclose(share[:, 1], [4 / 9, 5 / 9])
    np.testing.assert_allclose(share[:, 2], [0, 1])


def test_votes_that_name_no_class_are_refused() -> None:
    codes = np.full((2, 3), 2)
    with pytest.raises(NotIdentifiable, match="no vote names a class"):
        majority_share(as_votes(codes, [1, 1], n_classes=2, n_votes=[3, 3, 3]), 2)


def test_classes_are_named_so_that_judges_are_right_most() -> None:
    held = as_votes(np.array([[0, 1, 2], [1, 2, 0]]), np.ones(2), n_classes=3, n_votes=[3, 3, 3])
    # Class k of this table answers (k + 1) % 3, so its right name is that.
    rolled = np.roll(0.7 * np.eye(3) + 0.1, 1, axis=1)
    table = np.column_stack((np.full(3, 1 / 3), *([rolled] * 3)))
    assert best_order(table, held, np.ones(3)).tolist() == [2, 0, 1]
    # A judge without votes has no say, however clear its table is.
    mixed = np.column_stack((np.full(3, 1 / 3), rolled, 0.7 * np.eye(3) + 0.1, rolled))
    assert best_order(mixed, held, np.array([0.0, 5.0, 0.0])).tolist() == [0, 1, 2]
