"""The place of a row never changes: draws that were made rest on it, and rows are found by it."""

from __future__ import annotations

from tallystick.serve.ingest import RowPlaces


def test_places_are_those_that_earlier_versions_gave() -> None:
    assert RowPlaces(b"0123456789abcdef")["item-7", "new"] == 2251863899260676614
    assert RowPlaces(b"0")["\u00e4", ""] == 258497132133684658


def test_a_place_is_worked_out_once() -> None:
    places = RowPlaces(b"salt")
    assert not places
    assert places["a", "b"] == places["a", "b"]
    assert len(places) == 1
