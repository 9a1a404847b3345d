"""Say a result: one JSON object on stdout, or its summary; messages go to stderr."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tallystick.errors import FileError
from tallystick.results import Json, Result, harmless, to_json

if TYPE_CHECKING:
    from tallystick.cli.slices import Slice
    from tallystick.io import Table

__all__ = ["deliver", "leave_by_gate", "tell"]


def tell(messages: Iterable[str]) -> None:
    """Write messages for a person to stderr, a line each."""
    for message in messages:
        sys.stderr.write(f"{harmless(message)}\n")


def deliver(
    result: Result,
    *,
    as_json: bool = False,
    slices: Sequence[Slice] = (),
    html: Path | None = None,
    table: Table | None = None,
) -> None:
    """Print *result* (and, with ``--by``, its slices) on stdout and make sure that it arrived;
    write its page first.

    Parameters
    ----------
    result, slices
        What to say.
    as_json
        Exactly one JSON object instead of text.
    html
        Where to write the self-contained page, if anywhere; if that fails, the answer is printed
        before the error.
    table
        What was read: the page names the fingerprints of its files.
    """
    failed: FileError | None = None
    if html is not None:
        try:
            _write(html, result, slices, table)
        except FileError as error:  # the answer may have been paid for: it is said all the same
            failed = error
    if as_json:
        more: dict[str, Json] = {"slices": [part.to_dict() for part in slices]} if slices else {}
        sys.stdout.write(to_json({**result.to_dict(), **more}) + "\n")
    else:
        from tallystick.report import show

        show(result, slices=slices)
    # a closed pipe shows here, inside the verb, and not at the interpreter's end
    sys.stdout.flush()
    if failed is not None:
        raise failed


def _write(html: Path, result: Result, slices: Sequence[Slice], table: Table | None) -> None:
    from tallystick.report import Provenance, write_page

    digests = table.digests() if table is not None else {}
    write_page(
        html, result, slices=slices, provenance=Provenance(command=_command(), digests=digests)
    )
    tell([f"report: {html}"])


def _command() -> str:
    return shlex.join(["tallystick", *sys.argv[1:]])


def leave_by_gate(passed: bool | None) -> NoReturn:
    """Leave with the exit code of a gate: 0 it holds, 10 it fails, 11 it could not be decided."""
    sys.exit({True: 0, False: 10, None: 11}[passed])
