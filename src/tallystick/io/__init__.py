"""Readers of foreign data; all validation of foreign data happens here.

``scan`` reads any table, ``assign`` says which column is what, ``check_vocabulary`` holds all label
columns to one spelling of each label, ``write_csv`` writes tables that a spreadsheet can open
without running them.
"""

from __future__ import annotations

from tallystick.io.engine import connect, identifier, literal, reading
from tallystick.io.labels import check_numbers, label_sets, select, unmatched
from tallystick.io.roles import ColumnOptions, Roles, assign
from tallystick.io.scan import Source, scan
from tallystick.io.shapes import ShapeOption
from tallystick.io.table import Kind, Label, Place, Table
from tallystick.io.truth import check_truth, check_truth_labels
from tallystick.io.vocabulary import canonical, check_vocabulary
from tallystick.io.write import atomic, check_ending, escape, unescape, write_csv

__all__ = [
    "ColumnOptions",
    "Kind",
    "Label",
    "Place",
    "Roles",
    "ShapeOption",
    "Source",
    "Table",
    "assign",
    "atomic",
    "canonical",
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
