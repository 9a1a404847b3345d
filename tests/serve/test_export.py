"""Export: text formats with the same cells, and no formula for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json

import pytest

from tests.serve.equal import post
from tests.serve.web import Web


def test_the_text_formats_hold_the_same_cells(web: Web) -> None:
    post(web, "qa", 4)
    lines = web.get("/v1/streams/qa/rows").text.splitlines()
    rows = [json.loads(line) for line in lines]
    table = web.get("/v1/streams/qa/rows?format=csv")
    assert table.headers["content-disposition"] == 'attachment; filename="qa.csv"'
    cells = list(csv.DictReader(io.StringIO(table.text)))
    assert [{k: v for k, v in row.items() if v} for row in cells] == rows


def test_no_cell_is_a_formula_and_numbers_stay_numbers(web: Web) -> None:
    web.put("/v1/streams/qa", json={})
    records = [
        {"item": "=cmd|' /C calc'!A0", "votes": {"a": "@SUM(1)", "b": "-1", "c": "+x"}},
        {"item": "-2", "grades": {"d": -1.5}},
    ]
    assert web.post("/v1/streams/qa/records", json=records).status_code == 200
    text = web.get("/v1/streams/qa/rows?format=csv").text
    [_, first, second] = list(csv.reader(io.StringIO(text)))
    assert first == ["'=cmd|' /C calc'!A0", "'@SUM(1)", "-1", "'+x", ""]
    assert second == ["-2", "", "", "", "-1.5"]


def test_a_window_and_a_slice_choose_rows(web: Web) -> None:
    web.put("/v1/streams/qa", json={})
    records = [
        {"item": str(n), "at": 1_799_990_000 + 3600 * n, "slice": {"lang": "en" if n % 2 else "de"}}
        for n in range(6)
    ]
    web.post("/v1/streams/qa/records", json=records)

    def items(query: str) -> list[str]:
        text = web.get(f"/v1/streams/qa/rows?{query}").text
        return [json.loads(line)["item"] for line in text.splitlines()]

    assert items("") == ["0", "1", "2", "3", "4", "5"]
    assert items("slice=lang:en") == ["1", "3", "5"]
    assert items("slice=lang:en&slice=lang:de&window=last:3") == ["3", "4", "5"]
    assert items("window=last:2") == ["4", "5"]
    assert items("window=last:2&slice=lang:de") == ["2", "4"]
    assert items("window=2027-01-15T06:00Z..2027-01-15T08:00Z") == ["1", "2"]
    assert items("window=1h") == ["3", "4", "5"]  # the hour that runs, and what is dated ahead


@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_details_say_when_and_by_whom(web: Web) -> None:
    web.put("/v1/streams/qa", json={})
    records = [
        {"item": "a", "at": "2027-01-14T09:30:00Z", "votes": {"gpt": "x"}},
        {"item": "a", "label": {"value": "x", "by": "ann"}},
        {"item": "a", "label": {"value": "x", "by": "bob"}},
        {"item": "b", "at": "2027-01-14T11:00:00Z", "votes": {"gpt": "x"}},
    ]
    assert web.post("/v1/streams/qa/records", json=records).status_code == 200
    text = web.get("/v1/streams/qa/rows?format=csv&details=true").text
    [first, second] = list(csv.DictReader(io.StringIO(text)))
    assert first["at"] == "2027-01-14T09:00:00Z"
    assert (first["labelled_by"], first["label_origin"]) == ("ann;bob", "imported")
    assert first["labelled_at"] == "2027-01-15T08:00:00Z"
    assert (second["at"], second["labelled_by"]) == ("2027-01-14T11:00:00Z", "")
    [line, _] = web.get("/v1/streams/qa/rows?details=1").text.splitlines()
    assert json.loads(line) == {k: v for k, v in first.items() if v}
    assert "labelled_by" not in web.get("/v1/streams/qa/rows").text
    assert web.get("/v1/streams/qa/rows?details=perhaps").status_code == 422
