"""The house is kept as drawn."""

from __future__ import annotations

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tallystick"


def test_nobody_silences_the_formatter() -> None:
    silenced = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if "fmt: skip" in (text := path.read_text(encoding="utf-8")) or "fmt: off" in text
    ]
    assert not silenced


def test_only_the_door_of_a_room_lists_its_names() -> None:
    own = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        if path.name not in ("__init__.py", "__main__.py")
        and re.search(r"^__all__\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert own == []
