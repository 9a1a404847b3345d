from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.adverse_ratios import four_cells

SIZES, HITS = [40, 10, 20, 30], [36, 5, 4, 3]


def test_fully_labelled_cells_give_recall_and_f1_of_the_confusion_table() -> None:
    """41 of 48 rows of class c are predicted, among 50 predictions: recall 41/48, F1 82/98."""
    recall, scale = four_cells(SIZES, SIZES, HITS, "recall").estimate()
    assert recall == pytest.approx(41 / 48)
    assert scale == pytest.approx(48 / 100)
    f1, scale = four_cells(SIZES, SIZES, HITS, "f1").estimate()
    assert f1 == pytest.approx(2 * 41 / (48 + 50))
    assert scale == pytest.approx((48 + 50) / 100)


def test_labels_of_one_cell_speak_for_all_its_rows() -> None:
    found, _ = four_cells([40, 10, 20, 30], [20, 10, 5, 10], [18, 5, 1, 1], "recall").estimate()
    assert found == pytest.approx((40 * 0.9 + 10 * 0.5) / (36 + 5 + 20 * 0.2 + 30 * 0.1))


def test_merging_forgets_the_consensus_and_keeps_the_totals() -> None:
    cells = four_cells(SIZES, SIZES, HITS, "f1")
    merged = cells.merged()
    assert merged.sizes.tolist() == [50, 50]
    assert merged.labelled.tolist() == [50, 50]
    assert merged.hits.tolist() == [41, 7]
    assert merged.predicted.tolist() == [True, False]
    assert merged.estimate() == pytest.approx(cells.estimate())


def test_nothing_of_the_class_leaves_recall_without_an_estimate() -> None:
    assert four_cells(SIZES, SIZES, [0, 0, 0, 0], "recall").estimate() == (None, 0.0)
    # F1 is 0 there, not unknown: rows were predicted to be of the class.
    assert four_cells(SIZES, SIZES, [0, 0, 0, 0], "f1").estimate()[0] == 0.0
    assert four_cells(SIZES, [0, 0, 0, 0], [0, 0, 0, 0], "f1").estimate()[0] is None


@pytest.mark.parametrize(
    ("sizes", "labelled", "hits"),
    [([1, 2, 3], [1, 1, 1], [0, 0, 0]), ([0] * 4, [0] * 4, [0] * 4)],
)
def test_anything_but_four_cells_with_rows_is_refused(sizes, labelled, hits) -> None:
    with pytest.raises(InputError, match="four cells with at least 1 row"):
        four_cells(sizes, labelled, hits, "recall")


def test_more_labels_than_rows_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="labelled"):
        four_cells([1, 1, 1, 1], np.array([2, 1, 1, 1]), [0, 0, 0, 0], "recall")
