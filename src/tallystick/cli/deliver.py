"""Print a result: one JSON object on stdout, or its summary; messages go to stderr."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tallystick.errors import FileError
from tallystick.results import GateOutcome, Result, Slice, exit_code, harmless, to_json

if TYPE_CHECKING:
    from tallystick.io import Table

__all__ = ["deliver", "leave_by_gates", "tell"]


def tell(messages: Iterable[str]) -> None:
    """Write messages for a person to stderr, one line each."""
    for message in messages:
        sys.stderr.write(f"{harmless(message)}\n")


def deliver(
    result: Result,
    *,
    as_json: bool = False,
    slices: tuple[Slice, ...] = (),
    html: Path | None = None,
    table: Table | None = None,
) -> None:
    """Print *result* on stdout and make sure that it arrived; write its page first.

    Parameters
    ----------
    result
        The answer.
    as_json
        Print exactly one JSON object instead of text.
    slices
        The answers by slice (``--by``), which become part of the result.
    html
        Where to write the self-contained page, if anywhere. If that fails, the answer is printed
        before the error.
    table
        The table that was read: the page lists the fingerprints of its files.
    """
    if slices:
        result = replace(result, slices=slices)

    failed: FileError | None = None
    if html is not None:
        try:
            _write(html, result, table)
        except FileError as error:  # the answer may have been paid for, so it is still printed
            failed = error
    if as_json:
        sys.stdout.write(to_json(result.to_dict()) + "\n")
    else:
        from tallystick.report import show

        show(result)

    # A closed pipe shows here, inside the verb, and not when the interpreter ends.
    sys.stdout.flush()
    if failed is not None:
        raise failed


def _write(html: Path, result: Result, table: Table | None) -> None:
    from tallystick.report import Provenance, write_page

    digests = table.digests() if table is not None else {}
    write_page(html, result, provenance=Provenance(command=_command(), digests=digests))
    tell([f"report: {html}"])


def _command() -> str:
    return shlex.join(["tallystick", *sys.argv[1:]])


def leave_by_gates(outcomes: Iterable[GateOutcome]) -> NoReturn:
    """Leave with the exit code of gates: 0 passed, 10 one failed, 11 one could not be decided."""
    sys.exit(exit_code(outcomes))
