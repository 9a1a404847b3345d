"""Say a result: one JSON object on stdout, or its summary; messages go to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import NoReturn

from tallystick.results import Result, to_json

__all__ = ["deliver", "leave_by_gate", "tell"]


def tell(messages: Iterable[str]) -> None:
    """Write messages for a person to stderr, a line each."""
    for message in messages:
        sys.stderr.write(f"{message}\n")


def deliver(result: Result, *, as_json: bool) -> None:
    """Print *result* on stdout and make sure that it arrived."""
    sys.stdout.write((to_json(result.to_dict()) if as_json else result.summary()) + "\n")
    sys.stdout.flush()  # a closed pipe shows here, inside the verb, and not at the interpreter's end


def leave_by_gate(passed: bool | None) -> NoReturn:
    """Leave with the exit code of a gate: 0 it holds, 10 it fails, 11 it could not be decided."""
    sys.exit({True: 0, False: 10, None: 11}[passed])
