"""Where the labels of a stream stand, by its rows and by its index."""

from __future__ import annotations

from typing import Any

import pytest

from tallystick.serve import rows as module
from tallystick.serve.answer import answer_stream, counted_rows
from tallystick.serve.auth import Span
from tallystick.serve.jobs import Service
from tallystick.serve.rows import book_of, label_rows
from tallystick.serve.streams import find_stream
from tests.serve.web import Web


def fill(web: Web, labelled: range, n: int = 100) -> None:
    """Post *n* rows, every other one in English; those of *labelled* have a label."""
    assert web.put("/v1/streams/qa", json={}).status_code == 200
    records: list[dict[str, Any]] = []
    for k in range(n):
        votes = {"a": "x" if k % 3 else "y", "b": "x" if k % 5 else "y"}
        record = {"item": f"i{k}", "votes": votes, "slice": {"lang": "en" if k % 2 else "de"}}
        records.append(record | ({"label": {"value": votes["a"]}} if k in labelled else {}))
    assert web.post("/v1/streams/qa/records", json=records).status_code == 200


def places(service: Service, span: Span) -> tuple[int, int] | None:
    with service.store.snapshot() as reader:
        book = book_of(reader, find_stream(reader, "qa"), span)
        counted = counted_rows(reader, book, span)
        labelled = counted.labelled(frozenset())
        return label_rows(reader, book, span, labelled, int(counted.tally.n))


@pytest.mark.parametrize("glance", [2_000, 3])
@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
def test_first_and_last_label_are_found_near_and_far(
    web: Web, service: Service, monkeypatch: pytest.MonkeyPatch, glance: int
) -> None:
    monkeypatch.setattr(module, "_GLANCE", glance)
    fill(web, range(20, 41))
    assert places(service, Span()) == (21, 41)
    assert places(service, Span(slices=(("lang", "de"),))) == (11, 21)
    assert places(service, Span(high=1)) is None


def test_labels_on_one_block_are_warned_of(web: Web, service: Service) -> None:
    fill(web, range(10, 30))
    result = answer_stream(service.store, "qa", "judge", {}, Span()).result
    assert result is not None
    assert any("are on rows 11 to 30 of 100" in one for one in result.warnings)
    silent = answer_stream(service.store, "qa", "judge", {"missing": ["x"]}, Span()).result
    assert silent is None or not any("are on rows" in one for one in silent.warnings)
