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


def test_a_damaged_workbook_is_refused(tmp_path):
    path = workbook(tmp_path / "bad.xlsx", a=[["x"], [1]])
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(FileError, match=r"bad\.xlsx"):
        scan(path)


def test_a_title_above_the_header_is_refused_with_its_row(tmp_path):
    rows = [["Run of 3 May"], [None], ["id", "gpt", "claude"], [1, "yes", "no"], [2, "no", "no"]]
    with pytest.raises(FileError, match="seems to be in row 3, below a title"):
        scan(workbook(tmp_path / "titled.xlsx", votes=rows))
    blanks = [["id", None, "claude"], [1, "yes", "no"], [2, "no", "no"]]
    with scan(workbook(tmp_path / "plain.xlsx", votes=blanks)) as table:
        assert table.query("select count(*) from rows") == [(2,)]


@pytest.mark.parametrize(
    "above",
    [[["Evaluation", "May 2024"]], [["Notes"]] * 25, [["", "judges", ""]]],
)
def test_a_title_of_several_cells_or_lines_is_refused_too(tmp_path, above):
    votes = [[f"q{i}", "yes", "no", "yes" if i % 3 else "no"] for i in range(12)]
    rows = [*above, ["id", "gpt", "claude", "gold"], *votes]
    with pytest.raises(FileError, match=f"seems to be in row {len(above) + 1}, below a title"):
        scan(workbook(tmp_path / "titled.xlsx", votes=rows))


def test_a_header_without_the_name_of_the_first_column_is_a_header(tmp_path):
    votes = [[f"q{i}", "yes", "no", "yes" if i % 3 else "no"] for i in range(12)]
    path = workbook(tmp_path / "plain.xlsx", votes=[[None, "gpt", "claude", "gold"], *votes])
    with scan(path) as table:
        assert table.query("select count(*) from rows") == [(12,)]
