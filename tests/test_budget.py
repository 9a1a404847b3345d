"""The house stays within its budget, and the table of the documentation is the present one."""

from __future__ import annotations

from tests.budget import PAGE, ceilings, excesses, lower, measured, with_rooms


def test_nothing_is_above_its_ceiling() -> None:
    assert excesses(measured(), ceilings()) == []


def test_the_documentation_shows_the_rooms_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_rooms(page, ceilings()) == page, "run: python -m tests.budget --lower"


def test_a_number_above_its_ceiling_and_one_without_are_both_named() -> None:
    now = {"lines": {"stats": 12.0, "new": 3.0}}
    assert excesses(now, {"lines": {"stats": 10.0}}) == [
        "lines.stats is 12, above 10",
        "lines.new is 3 and has no ceiling",
    ]


def test_ceilings_fall_and_never_rise() -> None:
    lowered = lower({"lines": {"stats": 8.0, "cli": 7.0}}, {"lines": {"stats": 10.0, "cli": 5.0}})
    assert lowered == {"lines": {"stats": 8.0, "cli": 5.0}}
