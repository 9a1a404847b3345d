"""What the columns of a table are taken for, as the tests like to ask it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from tallystick.table import Detection, Layout, Roles, Table, detect, scan


class Seen:
    """A detection whose roles can be asked by name."""

    def __init__(self, found: Detection) -> None:
        self.found = found

    def __getattr__(self, name: str) -> Any:
        if hasattr(self.found, name):
            return getattr(self.found, name)
        alias = {"votes": "judges", "scores": "models"}
        held = getattr(self.found.roles, alias.get(name, name))
        return (held[0] if held else None) if name == "prediction" else held


def seen(table: Table | dict[str, Any], **said: Any) -> Seen:
    """Look at a table, with what the caller says of it."""
    held = table if isinstance(table, Table) else scan(pa.table(table))
    layout = {name: said.pop(name) for name in ("ignore", "rows_are_items") if name in said}
    rules = {name: said.pop(name) for name in ("missing", "coerce") if name in said}
    return Seen(detect(held, Roles.of(said), Layout(**layout), **rules))
