"""Logs of inspect_ai in JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.io.logs.inspect_log import inspect_log
from tallystick.io.logs.json_text import document
from tallystick.io.logs.log import Log
from tallystick.io.logs.registry import LogReader
from tallystick.io.sources import File

__all__ = ["READER", "read_inspect_json"]

_OPENING = re.compile(r'\{\s*"version":\s*\d+,\s*"status":\s*"\w+",\s*"eval":\s*\{')


def read_inspect_json(file: File) -> Log:
    """Read one log."""
    log = document(file)
    return inspect_log(file, log, log.get("samples") or [])


def _read(files: Sequence[File]) -> list[list[Log]]:
    return [[read_inspect_json(file)] for file in files]


READER = LogReader(
    name="inspect-json", read=_read, opens=lambda head: _OPENING.match(head) is not None
)
