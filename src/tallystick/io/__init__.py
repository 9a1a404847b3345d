"""Readers of foreign data; all validation of foreign data happens here.

``scan`` reads any table, ``assign`` says which column is what, ``check_vocabulary`` holds all label columns to one
spelling of each label, ``write_csv`` writes tables that a spreadsheet can open without running them.
"""

from __future__ import annotations

from tallystick.io.engine import connect, identifier, literal, reading
from tallystick.io.roles import ColumnOptions, Roles, assign
from tallystick.io.scan import Source, scan
from tallystick.io.shapes import ShapeOption
from tallystick.io.table import Kind, Label, Place, Table
from tallystick.io.vocabulary import canonical, check_vocabulary

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
    "canonical",
    "check_vocabulary",
    "connect",
    "identifier",
    "literal",
    "reading",
    "scan",
]
