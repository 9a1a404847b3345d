"""The one door: bytes become a table, a table gets its meaning, decisions are counted once.

Names load on first use: the service reads words and spellings without loading what computes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.table.capability import (
        MOST_SLICES,
        Capability,
        Case,
        Cases,
        Demo,
        Found,
        ItemTable,
        Option,
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
        LARGEST,
        MOST_LABELS,
        NUMBER,
        Kind,
        Label,
        as_number,
        check_vocabulary,
        identifier,
        identity,
        in_order,
        is_missing,
        is_nan,
        kind_of,
        literal,
        null_if_missing,
        numbers_among,
        plain,
        spelling,
        whole,
        without_missing,
    )
    from tallystick.table.data import VOTES, Coded, Data
    from tallystick.table.delimited import check_numbers, unmatched
    from tallystick.table.detect_doubts import Detection, OpenQuestion, Taken
    from tallystick.table.detecting import detect
    from tallystick.table.door import Door, read
    from tallystick.table.engine import connect, reading
    from tallystick.table.meaning import LabelRules, Meaning, agree
    from tallystick.table.moments import Moments
    from tallystick.table.roles import ALL_ROLES, GROUPS, ROLE_HELP, Layout, Roles, ShapeOption
    from tallystick.table.scanning import Source, scan
    from tallystick.table.sources import lock
    from tallystick.table.tables import (
        Place,
        Table,
        atomic,
        check_ending,
        escape,
        unescape,
        write_csv,
    )
    from tallystick.table.tally import Tally, TallySink, unordered
    from tallystick.table.tally_files import TallyResult, attach, describe
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

__all__ = [
    "ALL_ROLES",
    "GROUPS",
    "LARGEST",
    "MOST_LABELS",
    "MOST_SLICES",
    "NEVER_TRUE",
    "NO_ANSWER",
    "NUMBER",
    "PASS_FAIL",
    "ROLE_HELP",
    "TIES",
    "VOTES",
    "Capability",
    "Case",
    "Cases",
    "Coded",
    "Data",
    "Demo",
    "Detection",
    "Door",
    "Found",
    "ItemTable",
    "Kind",
    "Label",
    "LabelRules",
    "Layout",
    "Meaning",
    "Moments",
    "OpenQuestion",
    "Option",
    "Place",
    "Question",
    "Roles",
    "ShapeOption",
    "Source",
    "Table",
    "Taken",
    "Tally",
    "TallyResult",
    "TallySink",
    "agree",
    "answered",
    "as_number",
    "as_pass_fail",
    "atomic",
    "attach",
    "by_slice",
    "check_ending",
    "check_numbers",
    "check_vocabulary",
    "conclude",
    "connect",
    "describe",
    "detect",
    "escape",
    "gather",
    "identifier",
    "identity",
    "in_order",
    "is_missing",
    "is_nan",
    "is_never_true",
    "is_no_answer",
    "is_tie",
    "kind_of",
    "literal",
    "lock",
    "null_if_missing",
    "numbers_among",
    "option",
    "options_of",
    "plain",
    "read",
    "reading",
    "scan",
    "slice_labels",
    "spelling",
    "two_vocabularies",
    "unescape",
    "unmatched",
    "unordered",
    "whole",
    "without_missing",
    "write_csv",
]

_NAMES = {
    "capability": (
        "Capability Case Cases Demo Found ItemTable MOST_SLICES Option Question answered "
        "by_slice conclude gather option options_of slice_labels"
    ),
    "cells": (
        "Kind LARGEST Label MOST_LABELS NUMBER as_number check_vocabulary identifier "
        "identity in_order is_missing is_nan kind_of literal null_if_missing "
        "numbers_among plain spelling whole without_missing"
    ),
    "data": "Coded Data VOTES",
    "delimited": "check_numbers unmatched",
    "detect_doubts": "Detection OpenQuestion Taken",
    "detecting": "detect",
    "door": "Door read",
    "engine": "connect reading",
    "meaning": "LabelRules Meaning agree",
    "moments": "Moments",
    "roles": "ALL_ROLES GROUPS Layout ROLE_HELP Roles ShapeOption",
    "scanning": "Source scan",
    "sources": "lock",
    "tables": "Place Table atomic check_ending escape unescape write_csv",
    "tally": "Tally TallySink unordered",
    "tally_files": "TallyResult attach describe",
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
