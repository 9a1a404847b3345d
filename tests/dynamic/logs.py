"""Read the log of a dynamic benchmark as the verb does."""

from __future__ import annotations

from typing import Any

from tallystick.table import read
from tallystick.verbs.dynamic.log import RoundLog
from tallystick.verbs.dynamic.reading import DOOR, log_of


def read_log(source: Any, **options: Any) -> RoundLog:
    with read(source, DOOR, **options) as data:
        return log_of(data)[0]
