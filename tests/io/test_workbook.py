"""A sheet of an Excel workbook is read by the rules of every other table."""

from __future__ import annotations

from datetime import date

import openpyxl
import pytest

from tallystick.errors import FileError
from tallystick.table import scan


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_cells_are_read_as_people_see_them(tmp_path):
    rows = [
        ["id", "gpt", "score", "day"],
        [1, "yes", 0.5, date(2026, 1, 2)],
        [2.0, None, 1.0, None],
        [3, True, 0, None],
    ]
    with scan(workbook(tmp_path / "votes.xlsx", votes=rows, empty=[])) as table:
        assert table.query("select * from rows") == [
            ("1", "yes", "0.5", "2026-01-02"),
            ("2", None, "1", None),
            ("3", "true", "0", None),
        ]


def test_several_filled_sheets_are_refused_by_name(tmp_path):
    path = workbook(tmp_path / "two.xlsx", a=[["x"], [1]], b=[["x"], [2]])
    with pytest.raises(FileError, match=r"two.xlsx must have one sheet.*has a, b"):
        scan(path)


HEADER = ["id", "gpt", "claude", "gold"]
VOTES = [[f"q{i}", "yes", "no", "yes" if i % 3 else "no"] for i in range(12)]


@pytest.mark.parametrize(
    "above", [[["Run of 3 May"], [None]], [["Evaluation", "May"]], [["Notes"]] * 25]
)
def test_a_title_above_the_header_is_refused_with_the_row_of_the_header(tmp_path, above):
    path = workbook(tmp_path / "titled.xlsx", votes=[*above, HEADER, *VOTES])
    with pytest.raises(FileError, match=f"seems to be in row {len(above) + 1}, below a title"):
        scan(path)


@pytest.mark.parametrize("blank", [0, 1])
def test_a_header_with_a_blank_cell_is_a_header(tmp_path, blank):
    header = [None if k == blank else name for k, name in enumerate(HEADER)]
    with scan(workbook(tmp_path / "plain.xlsx", votes=[header, *VOTES])) as table:
        assert table.query("select count(*) from rows") == [(12,)]
