"""Readers of foreign data: bytes in, tables out.

`scan` reads any table, `write_csv` writes tables that a spreadsheet can open without running them.
What a cell means is defined in `tallystick.values`, what a column is in `tallystick.data`.
"""

from __future__ import annotations

from tallystick.io.cells import check_numbers, unmatched
from tallystick.io.engine import connect, reading
from tallystick.io.lock import lock
from tallystick.io.scan import Source, scan
from tallystick.io.table import Place, Table
from tallystick.io.write import atomic, check_ending, escape, unescape, write_csv
from tallystick.values.label import Label
from tallystick.values.sql import Kind, identifier, literal

__all__ = [
    "Kind",
    "Label",
    "Place",
    "Source",
    "Table",
    "atomic",
    "check_ending",
    "check_numbers",
    "connect",
    "escape",
    "identifier",
    "literal",
    "lock",
    "reading",
    "scan",
    "unescape",
    "unmatched",
    "write_csv",
]
