"""A row that sums up the others is no item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tallystick import compare, judge


def table(*last: tuple[str, Any, Any]) -> dict[str, list[Any]]:
    rng = np.random.default_rng(1)
    old, new = (rng.random(200) < 0.5).astype(int), (rng.random(200) < 0.8).astype(int)
    rows = [(f"q{k}", int(a), int(b)) for k, (a, b) in enumerate(zip(old, new, strict=True))]
    return dict(zip(("id", "old", "new"), map(list, zip(*rows, *last, strict=True)), strict=True))


@pytest.mark.parametrize(
    "last",
    [
        [("Total", 100, 160)],
        [("TOTAL:", 100, 160)],
        [("Sum", 100, 160), ("Average", 0.5, 0.8)],
        [("Durchschnitt", 0.5, 0.8)],
    ],
)
def test_totals_and_means_at_the_end_are_left_out_and_told(last) -> None:
    plain = compare(table())
    result = compare(table(*last))
    assert result.verdict == plain.verdict
    assert any("left out" in note and "up the others" in note for note in result.notes)


def test_a_csv_file_with_a_total_is_read_without_it(tmp_path: Path) -> None:
    cells = table(("Total", 100, 160))
    lines = [",".join(map(str, row)) for row in zip(*cells.values(), strict=True)]
    path = tmp_path / "total.csv"
    path.write_text("id,old,new\n" + "\n".join(lines) + "\n", encoding="utf-8")
    assert compare(path).verdict == compare(table()).verdict


def test_items_that_are_called_so_elsewhere_stay() -> None:
    words = ["total", "mean", "x", "total recall", "y", "z", "u", "v", "w", "sum"] * 8
    votes = {"word": words, "gpt": ["a", "b"] * 40, "claude": ["a", "b", "b", "a"] * 20}
    with pytest.warns(UserWarning, match="10 different cells in 'word'"):
        result = judge(votes, judges=("gpt", "claude"))
    assert result.n_items == 80


def test_blank_lines_at_the_end_of_a_file_are_no_rows(tmp_path: Path) -> None:
    cells = table()
    lines = [",".join(map(str, row)) for row in zip(*cells.values(), strict=True)]
    path = tmp_path / "blank.csv"
    path.write_text("id,old,new\n" + "\n".join([*lines, *[",,"] * 30]) + "\n", encoding="utf-8")
    result = compare(path)
    assert result.verdict == compare(table()).verdict
