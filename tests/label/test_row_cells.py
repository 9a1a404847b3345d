"""Cells of single rows are fetched once, in one scan for many."""

from __future__ import annotations

import pytest

from tallystick.table import Table, read
from tallystick.verbs.label.work import RowCells


@pytest.fixture
def scans(monkeypatch):
    seen = []
    query = Table.query

    def counted(self, sql):
        seen.append(sql)
        return query(self, sql)

    monkeypatch.setattr(Table, "query", counted)
    return seen


def test_rows_that_were_fetched_are_not_fetched_again(scans):
    data = read({"id": ["a", "b", "  "], "system": [1, 2, 3], "text": ["x", None, "z"]})
    cells = RowCells(data, "id", "system", ("text",))
    cells.fetch([2, 0])
    before = len(scans)
    assert (cells.name(0), cells.shown(0)) == (("a", "1"), ("x",))
    assert (cells.name(2), cells.shown(2)) == ((None, "3"), ("z",))
    cells.fetch([0, 2])
    assert len(scans) == before
    assert cells.shown(1) == ("",)
    assert len(scans) == before + 1
