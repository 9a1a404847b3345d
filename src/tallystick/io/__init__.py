"""Readers of foreign data; all validation of foreign data happens here.

``scan`` reads any table, ``assign`` says which column is what, ``check_vocabulary`` holds all label columns to one
spelling of each label, ``write_csv`` writes tables that a spreadsheet can open without running them.
"""

from __future__ import annotations

from tallystick.io.scan import Source, scan
from tallystick.io.table import Label, Place, Table

__all__ = ["Label", "Place", "Source", "Table", "scan"]
