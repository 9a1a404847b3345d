from __future__ import annotations

from tallystick.verbs.audit import audit


def test_an_audit_names_each_part_once() -> None:
    votes = {"a": [0, 1, 1, 0] * 20, "b": [0, 1, 0, 0] * 20, "gold": [0, 1, 1, 1] * 20}
    names = [part.name for part in audit(votes, truth="gold", judges=("a", "b")).result_parts()]
    assert names
    assert len(names) == len(set(names))
