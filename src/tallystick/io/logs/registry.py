"""The log formats that are read: one file per format, and one line here for each.

To add a format, write ``io/logs/NAME.py`` with a `LogReader` named ``READER``, and add its module
to `MODULES`. Detection, reading and error messages find it there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from tallystick.errors import InputError
from tallystick.io.logs.log import Log
from tallystick.io.sources import File

__all__ = ["MODULES", "LogReader", "log_readers", "read_logs", "sniff_archive", "sniff_text"]


@dataclass(frozen=True, kw_only=True)
class LogReader:
    """How one tool's log is recognised and read.

    Parameters
    ----------
    name
        The format, as notes and errors call it.
    read
        Reads all files of this format at once, and returns the logs of each file: models are told
        apart by what differs between the files. None for a log of attempts.
    rows
        Logs of attempts: reads all files at once into columns of text, one row per attempt.
    opens
        Whether a text that starts like this is such a log.
    holds
        Whether a zip archive with these entries is such a log.
    """

    name: str
    read: Callable[[Sequence[File]], list[list[Log]]] | None = None
    rows: Callable[[Sequence[File]], dict[str, list[Any]]] | None = None
    opens: Callable[[str], bool] = lambda head: False
    holds: Callable[[Sequence[str]], bool] = lambda names: False


MODULES: tuple[str, ...] = (
    "tallystick.io.logs.lm_eval",
    "tallystick.io.logs.inspect_eval",
    "tallystick.io.logs.inspect_json",
    "tallystick.io.logs.helm",
    "tallystick.io.logs.openai_evals",
    "tallystick.io.logs.promptfoo",
    "tallystick.io.logs.promptfoo_csv",
    "tallystick.io.logs.deepeval",
    "tallystick.io.logs.ragas",
    "tallystick.io.logs.mlflow",
    "tallystick.io.logs.openai_api",
    "tallystick.io.logs.swe_bench",
    "tallystick.io.logs.phoenix",
    "tallystick.io.logs.braintrust",
    "tallystick.io.logs.langfuse",
    "tallystick.io.logs.dynabench",
    "tallystick.io.logs.garak",
)
"""Where the readers are. They are asked in this order; the first that recognises a file wins."""


def log_readers() -> dict[str, LogReader]:
    """Return every reader by the name of its format."""
    return _load(MODULES)


@cache
def _load(modules: tuple[str, ...]) -> dict[str, LogReader]:
    readers: list[LogReader] = [import_module(name).READER for name in modules]
    return {reader.name: reader for reader in readers}


def sniff_text(head: str) -> str | None:
    """Return the format of a log that starts like this, or None.

    >>> sniff_text('{"doc_id": 0, "doc": {}, "resps": [], "doc_hash": "ab"}')
    'lm-eval'
    >>> sniff_text('{"item": 1, "gpt": 0}') is None
    True
    """
    return next((name for name, reader in log_readers().items() if reader.opens(head)), None)


def sniff_archive(names: Sequence[str]) -> str | None:
    """Return the format of a log that is a zip archive with these entries, or None.

    >>> sniff_archive(["_journal/start.json", "samples/q1_epoch_1.json", "header.json"])
    'inspect-eval'
    """
    return next((name for name, reader in log_readers().items() if reader.holds(names)), None)


def read_logs(files: Sequence[File], formats: Sequence[str]) -> list[Log]:
    """Read every file in the format that was detected for it, and keep the order of the files."""
    readers = log_readers()
    for name in formats:
        if name not in readers:
            raise InputError(f"{name!r} is not a log format: it is one of {', '.join(readers)}")

    # Each format sees all of its files at once, because a model's name may depend on the others.
    read: dict[str, list[list[Log]]] = {}
    for name in dict.fromkeys(formats):
        own = [file for file, one in zip(files, formats, strict=True) if one == name]
        reader = readers[name].read
        if reader is None:
            raise InputError(f"{own[0].name} is a log of attempts ({name}): read it on its own")
        read[name] = reader(own)

    each = {name: iter(logs) for name, logs in read.items()}
    return [log for name in formats for log in next(each[name])]
