from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from tallystick.report.terminal import Composed, ResultPart
from tallystick.verbs.audit import audit


class Complete:
    headline = "Stop."
    grounds = ("two tables",)
    remarks = ()

    def parts(self) -> tuple[ResultPart, ...]:
        return (ResultPart("judges", "Can the judges be trusted?", "not known"),)


def test_a_part_without_an_answer_still_says_why() -> None:
    part = Complete().parts()[0]
    assert part.result is None
    assert part.short == "not known"
    with pytest.raises(FrozenInstanceError):
        part.short = "yes"  # type: ignore[misc]


def test_a_result_is_composed_only_if_it_has_all_four_members() -> None:
    assert isinstance(Complete(), Composed)
    for name in ("headline", "grounds", "remarks", "parts"):
        members = {key: value for key, value in vars(Complete).items() if key != name}
        assert not isinstance(type("Partial", (), members)(), Composed), name


def test_an_audit_is_composed_and_names_each_part_once() -> None:
    votes = {"a": [0, 1, 1, 0] * 20, "b": [0, 1, 0, 0] * 20, "gold": [0, 1, 1, 1] * 20}
    result = audit(votes, truth="gold", judges=("a", "b"))
    assert isinstance(result, Composed)
    names = [part.name for part in result.parts()]
    assert names
    assert len(names) == len(set(names))
