"""Readers of foreign data: bytes in, tables out.

``scan`` reads any table, ``assign`` says which column is what, ``write_csv`` writes tables that a
spreadsheet can open without running them. What a cell means is defined in `tallystick.values`.
"""

from __future__ import annotations

from tallystick.io.engine import connect, reading
from tallystick.io.labels import check_numbers, label_sets, select, unmatched
from tallystick.io.roles import ColumnOptions, Roles, assign
from tallystick.io.scan import Source, scan
from tallystick.io.table import Place, Table
from tallystick.io.truth import check_truth, check_truth_labels
from tallystick.io.write import atomic, check_ending, escape, unescape, write_csv
from tallystick.values.label import Label
from tallystick.values.spelling import check_vocabulary
from tallystick.values.sql import Kind, identifier, literal

__all__ = [
    "ColumnOptions",
    "Kind",
    "Label",
    "Place",
    "Roles",
    "Source",
    "Table",
    "assign",
    "atomic",
    "check_ending",
    "check_numbers",
    "check_truth",
    "check_truth_labels",
    "check_vocabulary",
    "connect",
    "escape",
    "identifier",
    "label_sets",
    "literal",
    "reading",
    "scan",
    "select",
    "unescape",
    "unmatched",
    "write_csv",
]
