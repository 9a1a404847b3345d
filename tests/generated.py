"""The tables of the demonstrations, by verb."""

from __future__ import annotations

from typing import Any

from tallystick.registry import capability

GENERATED = ("audit", "compare", "judge", "bound", "shift", "dynamic")


def generate(question: str, *, rng: int) -> dict[str, Any]:
    """Return the demonstration table of a verb."""
    if question == "audit":
        from tallystick.verbs.audit.answer import demo

        return dict(demo(rng).table)
    shown = capability("dynamic analyse" if question == "dynamic" else question)
    assert shown.demo is not None
    return dict(shown.demo(rng).table)
