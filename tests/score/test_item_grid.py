"""Items side by side, put together by an engine."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tallystick.table import Tally
from tallystick.verbs.score import reading as item_grid
from tallystick.verbs.score.reading import ODD, TOO_MANY, grid_of

ROWS = {
    "q": [1, 1, 2, 2, 3, 3, 4],
    "system": ["a", "b", "a", "b", "a", "b", "a"],
    "gpt": ["pass", "fail", "pass", "fail", None, "fail", "pass"],
    "human": [None, None, None, None, 1, None, 0],
}
NAMES = ("system", "gpt", "human")


def _tally() -> Tally:
    return Tally.of({name: ROWS[name] for name in NAMES})


def test_items_that_look_alike_are_one_row() -> None:
    tally = _tally()
    grid = grid_of(pl.LazyFrame(ROWS), tally, item="q", system="system")
    assert not isinstance(grid, str)
    patterns = [tuple(tally.column(name)[i] for name in NAMES) for i in range(len(tally.counts))]
    rows = {
        tuple(None if entry < 0 else patterns[entry] for entry in row): count
        for row, count in zip(grid[0].tolist(), grid[1].tolist(), strict=True)
    }
    assert rows == {
        (("a", "pass", None), ("b", "fail", None)): 2,
        (("a", None, 1), ("b", "fail", None)): 1,
        (("a", "pass", 0), None): 1,
    }


def test_too_many_different_items_are_a_reason_and_not_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(item_grid, "fits", lambda size: False)
    assert grid_of(pl.LazyFrame(ROWS), _tally(), item="q", system="system") == TOO_MANY


def test_a_grid_that_does_not_add_up_to_the_tally_is_not_used() -> None:
    other = Tally.of({**{name: ROWS[name] for name in NAMES}, "gpt": [" x "] * 7})
    assert grid_of(pl.LazyFrame(ROWS), other, item="q", system="system") == ODD
    fewer = _tally() + _tally()
    assert grid_of(pl.LazyFrame(ROWS), fewer, item="q", system="system") == ODD


def test_one_system_needs_no_column() -> None:
    tally = Tally.of({"gpt": ROWS["gpt"][:3], "human": ROWS["human"][:3]})
    frame = pl.LazyFrame({"q": [1, 2, 3], "gpt": ROWS["gpt"][:3], "human": ROWS["human"][:3]})
    grid = grid_of(frame, tally, item="q", system=None)
    assert not isinstance(grid, str)
    assert np.sort(grid[1]).tolist() == [1, 2]
