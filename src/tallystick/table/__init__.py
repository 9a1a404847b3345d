"""The one door: bytes become a table, a table gets its meaning, decisions are counted once.

Names load on first use: the service reads words and spellings without loading what computes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
        Kind,
        Label,
        as_number,
        check_vocabulary,
        identifier,
        identity,
        in_order,
        is_missing,
        numbers_among,
        plain,
        spelling,
        whole,
        without_missing,
    )
    from tallystick.table.data import (
        Data,
    )
    from tallystick.table.door import (
        Door,
        read,
    )
    from tallystick.table.engine import (
        connect,
    )
    from tallystick.table.meaning import (
        LabelRules,
        Meaning,
        agree,
    )
    from tallystick.table.moments import (
        Moments,
    )
    from tallystick.table.numbers import (
        check_numbers,
        unmatched,
    )
    from tallystick.table.reading import (
        Reading,
        reading_of,
        with_reading,
    )
    from tallystick.table.roles import (
        GROUPS,
        ROLE_HELP,
        Layout,
        Roles,
    )
    from tallystick.table.scanning import (
        scan,
    )
    from tallystick.table.sources import (
        lock,
    )
    from tallystick.table.tables import (
        Table,
        atomic,
        check_ending,
        escape,
        unescape,
        write_csv,
    )
    from tallystick.table.tally import (
        Tally,
        TallySink,
        unordered,
    )
    from tallystick.table.tally_files import (
        attach,
        describe,
    )
    from tallystick.table.words import (
        NEVER_TRUE,
        NO_ANSWER,
        PASS_FAIL,
        TIES,
        as_pass_fail,
        is_never_true,
        is_no_answer,
        is_tie,
        two_vocabularies,
    )

__all__ = ["Data", "Moments", "Tally", "TallySink", "attach", "read"]

_NAMES = {
    "capability": (
        "Capability Case Cases Demo Found ItemTable Question answered by_slice conclude "
        "gather option options_of slice_labels"
    ),
    "cells": (
        "Kind Label NUMBER as_number check_vocabulary identifier identity in_order "
        "is_missing numbers_among plain spelling whole without_missing"
    ),
    "data": "Data",
    "numbers": "check_numbers unmatched",
    "door": "Door read",
    "engine": "connect",
    "meaning": "LabelRules Meaning agree",
    "moments": "Moments",
    "reading": "Reading reading_of with_reading",
    "roles": "GROUPS Layout ROLE_HELP Roles",
    "scanning": "scan",
    "sources": "lock",
    "tables": "Table atomic check_ending escape unescape write_csv",
    "tally": "Tally TallySink unordered",
    "tally_files": "attach describe",
    "words": (
        "NEVER_TRUE NO_ANSWER PASS_FAIL TIES as_pass_fail is_never_true is_no_answer "
        "is_tie two_vocabularies"
    ),
}
"""File to the names that other rooms use."""

_HOME = {name: file for file, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tallystick.table' has no attribute {name!r}")
    found = getattr(import_module(f"tallystick.table.{_HOME[name]}"), name)
    globals()[name] = found  # the next look finds it without asking
    return found
