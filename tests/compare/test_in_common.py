import numpy as np
import pytest

from tallystick import compare
from tallystick.errors import InputError


def _long(rows):
    ids, models, scores = zip(*rows, strict=True)
    return {"id": list(ids), "model": list(models), "correct": list(scores)}


def test_a_model_with_one_row_is_named_with_the_way_out():
    rng = np.random.default_rng(0)
    rows = [(i, "A", int(rng.integers(2))) for i in range(60)]
    rows += [(i, "B", int(rng.integers(2))) for i in range(40)]
    with pytest.raises(InputError, match=r"A answered 60, B 40, C 1"):
        compare(_long([*rows, (99, "C", 1)]))
    assert compare(_long([*rows, (99, "C", 1)]), models=("A", "B")).n_items == 40
