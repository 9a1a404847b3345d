"""Labels on the wrong rows agree with nobody, and that is said."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import judge
from tallystick.table.door import read
from tallystick.table.doubts import find_doubt, is_unrelated

# A doubt is a Python warning too; here the results are looked at.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = 200


def votes(seed: int, right: tuple[float, ...]) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 2, ROWS)
    return true, [np.where(rng.random(ROWS) < share, true, 1 - true) for share in right]


def table(gold: np.ndarray, columns: list[np.ndarray]) -> dict[str, list]:
    return {"gold": gold.tolist(), **{f"j{k}": one.tolist() for k, one in enumerate(columns)}}


def test_labels_one_row_too_far_are_a_warning_and_an_assumption() -> None:
    true, columns = votes(1, (0.9, 0.85, 0.8))
    off = judge(table(np.roll(true, 1), columns), truth="gold")
    assert off.decision == "undecided"
    assert off.verdict.startswith("The labels decide nothing, because they look misplaced")
    assert any("on the right rows?" in text for text in off.warnings)
    assert any("stand on the right rows" in text for text in off.assumptions)
    right = judge(table(true, columns), truth="gold")
    assert not any("right rows" in text for text in (*right.warnings, *right.assumptions))


def test_poor_judges_and_opposite_ones_are_not_taken_for_it() -> None:
    true, columns = votes(2, (0.5, 0.5))  # they agree with nobody, not even with one another
    assert find_doubt(read(table(true, columns), truth="gold", judges=("j0", "j1"))) is None
    true, columns = votes(3, (0.1, 0.15))
    found = find_doubt(read(table(true, columns), truth="gold", judges=("j0", "j1")))
    assert found is not None
    assert "the other way round" in found.warning


def test_columns_that_always_say_the_rarer_label_are_wrong_and_not_opposite() -> None:
    true = (np.random.default_rng(5).random(ROWS) < 0.25).astype(int)
    ones = [np.ones(ROWS, int), np.where(np.arange(ROWS) % 40 == 0, 0, 1)]
    assert find_doubt(read(table(true, ones), truth="gold", judges=("j0", "j1"))) is None


def test_few_labels_say_nothing() -> None:
    true, columns = votes(4, (0.9, 0.9))
    codes = np.stack([np.roll(true, 1), *columns], axis=1).astype(np.int32)
    assert is_unrelated(codes, np.ones(ROWS, np.int64))
    assert not is_unrelated(codes[:15], np.ones(15, np.int64))
