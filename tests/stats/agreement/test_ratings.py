"""What may come in as ratings."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.agreement import as_ratings


def test_a_second_label_is_invented_where_only_one_was_seen():
    assert as_ratings([[0, 0]]).n_labels == 2


@pytest.mark.parametrize(
    ("codes", "counts", "n_labels", "message"),
    [
        ([[0], [1]], None, None, "at least two raters"),
        ([0, 1], None, None, "items x raters"),
        ([[0.5, 1.0]], None, None, "integers"),
        ([[0, 1]], [1, 2], None, "one entry per row"),
        ([[0, 1]], [0.5], None, "whole numbers"),
        ([[0, 1]], [-1], None, "whole numbers"),
        ([[0, 1]], [np.nan], None, "whole numbers"),
        ([[0, -2]], None, None, "got -2"),
        ([[0, 3]], None, 3, "got 3"),
        ([[0, 0]], None, 1, "n_labels must be at least 2"),
    ],
)
def test_input_that_cannot_be_used_is_refused_by_name(codes, counts, n_labels, message):
    with pytest.raises(InputError, match=message):
        as_ratings(codes, counts, n_labels=n_labels)


def test_rows_without_a_rating_or_an_item_are_left_out():
    ratings = as_ratings([[0, 1], [-1, -1], [1, 1]], [3, 5, 0])
    assert ratings.codes.tolist() == [[0, 1]]
    assert ratings.counts.tolist() == [3]
