"""The operator's own watches: ``watches.json`` in the folder of the service.

Only here may a watch name ``python:`` or ``command:``, which run code on this machine. The file
holds one object per watch, by name, with the fields of `WatchOrder`; ``items`` may be the name of a
table beside it. It is read when the service starts.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tallystick.errors import InputError
from tallystick.serve.problem import HttpProblem
from tallystick.serve.watches.order import WatchOrder, check_order
from tallystick.serve.watches.routes import keep_watch

if TYPE_CHECKING:
    from tallystick.serve.service import Service

__all__ = ["FILE", "read_watches", "take_file"]

FILE = "watches.json"


def read_watches(path: Path) -> dict[str, WatchOrder]:
    """Return the orders of the operator's file, checked."""
    try:
        given: dict[str, dict[str, Any]] = msgspec.json.decode(
            path.read_bytes(), type=dict[str, dict[str, Any]]
        )
        for fields in given.values():
            items = fields.get("items")
            if isinstance(items, str):
                with (path.parent / items).open(encoding="utf-8-sig", newline="") as table:
                    fields["items"] = [dict(row) for row in csv.DictReader(table)]
        orders = {name: msgspec.convert(fields, WatchOrder) for name, fields in given.items()}
        for order in orders.values():
            check_order(order, allow=(), by_operator=True)
    except (OSError, msgspec.MsgspecError, HttpProblem) as error:
        raise InputError(f"{path} cannot be used: {error}") from error
    return orders


def take_file(service: Service) -> int:
    """Keep the watches of the operator's file; return how many there are."""
    folder = service.config.folder
    if folder is None or not (folder / FILE).exists():
        return 0
    orders = read_watches(folder / FILE)
    for name, order in orders.items():
        service.writer.do(
            lambda transaction, name=name, order=order: keep_watch(  # type: ignore[misc]
                transaction, name, order, now=service.clock(), by_operator=True
            )
        )
    return len(orders)
