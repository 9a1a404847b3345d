"""Say a result: one JSON object on stdout, or its summary; messages go to stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

from tallystick.results import Json, Result, to_json

if TYPE_CHECKING:
    from tallystick.cli.slices import Slice

__all__ = ["deliver", "leave_by_gate", "tell"]


def tell(messages: Iterable[str]) -> None:
    """Write messages for a person to stderr, a line each."""
    for message in messages:
        sys.stderr.write(f"{message}\n")


def deliver(result: Result, *, as_json: bool, slices: Sequence[Slice] | None = None) -> None:
    """Print *result* (and, with ``--by``, its slices) on stdout and make sure that it arrived."""
    if as_json:
        more: dict[str, Json] = {} if slices is None else {"slices": [part.to_dict() for part in slices]}
        text = to_json({**result.to_dict(), **more})
    else:
        text = "\n".join(
            [result.summary(), *(["By slice:"] if slices else []), *(f"  {part}" for part in slices or ())]
        )
    sys.stdout.write(text + "\n")
    sys.stdout.flush()  # a closed pipe shows here, inside the verb, and not at the interpreter's end


def leave_by_gate(passed: bool | None) -> NoReturn:
    """Leave with the exit code of a gate: 0 it holds, 10 it fails, 11 it could not be decided."""
    sys.exit({True: 0, False: 10, None: 11}[passed])
