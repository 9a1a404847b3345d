import pytest

from tallystick.errors import InputError
from tallystick.table import read, slice_labels


def test_cells_that_are_not_a_number_and_empty_ones_are_one_blank_slice():
    data = read({"part": [0.5, float("nan"), None, 0.5], "n": [1, 2, 3, 4]}, by="part")
    assert slice_labels(data) == [0.5, None]
    assert data.where("part", None).cells("n") == {"n": [2, 3]}


def test_too_many_slices_are_refused():
    data = read({"part": list(range(201))}, by="part")
    with pytest.raises(InputError, match="201 different values, and at most 200"):
        slice_labels(data)
