"""The one door: bytes become a table, a table gets its meaning, decisions are counted once."""

from __future__ import annotations

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
from tallystick.table.data import Data
from tallystick.table.delimited import check_numbers, unmatched
from tallystick.table.detect import detect
from tallystick.table.detect_doubts import Detection, Taken
from tallystick.table.engine import connect
from tallystick.table.meaning import LabelRules, Meaning, agree
from tallystick.table.moments import Moments
from tallystick.table.read import Door, read
from tallystick.table.roles import GROUPS, ROLE_HELP, Layout, Roles
from tallystick.table.scan import scan
from tallystick.table.sources import lock
from tallystick.table.tables import Table, atomic, check_ending, escape, unescape, write_csv
from tallystick.table.tally import Tally, TallySink, unordered
from tallystick.table.tally_files import attach, describe
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
    "GROUPS",
    "NEVER_TRUE",
    "NO_ANSWER",
    "NUMBER",
    "PASS_FAIL",
    "ROLE_HELP",
    "TIES",
    "Capability",
    "Case",
    "Cases",
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
    "Question",
    "Roles",
    "Table",
    "Taken",
    "Tally",
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
    "is_never_true",
    "is_no_answer",
    "is_tie",
    "lock",
    "numbers_among",
    "option",
    "options_of",
    "plain",
    "read",
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
