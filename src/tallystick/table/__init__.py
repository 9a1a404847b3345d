"""The one door: bytes become a table, a table gets its meaning, decisions are counted once.

Names load on first use: the service reads words and spellings without loading what computes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tallystick.errors import no_attribute

if TYPE_CHECKING:
    from tallystick.table.capability import (
        Capability,
        Case,
        Cases,
        Demo,
        Found,
        ItemTable,
        Question,
        answered,
        by_slice,
        conclude,
        gather,
        option,
        options_of,
        slice_labels,
    )
    from tallystick.table.cells import (
        NUMBER,
        Label,
        identifier,
        identity,
        in_order,
        is_missing,
        spelling,
        whole,
        without_missing,
    )
    from tallystick.table.data import Data
    from tallystick.table.door import Door, read
    from tallystick.table.meaning import LabelRules
    from tallystick.table.moments import Moments
    from tallystick.table.reading import Reading, reading_of, with_reading
    from tallystick.table.roles import GROUPS, ROLE_HELP, Roles
    from tallystick.table.scanning import scan
    from tallystick.table.sources import lock
    from tallystick.table.tables import Table, atomic, check_ending, unescape, write_csv
    from tallystick.table.tally import Tally, TallySink, unordered
    from tallystick.table.tally_files import attach, describe
    from tallystick.table.words import (
        PASS_FAIL,
        as_pass_fail,
        is_never_true,
        is_no_answer,
        two_vocabularies,
    )

__all__ = ["Data", "Moments", "Tally", "TallySink", "attach", "read"]

_NAMES = {
    "capability": (
        "Capability Case Cases Demo Found ItemTable Question answered by_slice conclude "
        "gather option options_of slice_labels"
    ),
    "cells": "Label NUMBER identifier identity in_order is_missing spelling whole without_missing",
    "data": "Data",
    "door": "Door read",
    "meaning": "LabelRules",
    "moments": "Moments",
    "reading": "Reading reading_of with_reading",
    "roles": "GROUPS ROLE_HELP Roles",
    "scanning": "scan",
    "sources": "lock",
    "tables": "Table atomic check_ending unescape write_csv",
    "tally": "Tally TallySink unordered",
    "tally_files": "attach describe",
    "words": "PASS_FAIL as_pass_fail is_never_true is_no_answer two_vocabularies",
}
"""File to the names that other rooms use."""

_HOME = {name: file for file, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise no_attribute(__name__, name)
    found = getattr(import_module(f"tallystick.table.{_HOME[name]}"), name)
    globals()[name] = found  # the next look finds it without asking
    return found
