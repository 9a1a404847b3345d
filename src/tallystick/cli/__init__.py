"""The command line: one file a verb, and one door through which every verb is run."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from tallystick.errors import TallystickError
from tallystick.results import harmless

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``tallystick VERB …`` and leave with the exit code of the contract.

    0 done · 1 bad input or failed work · 2 usage · 10 a gate failed · 11 a gate could not be
    decided · 130 interrupted. Usage errors, Ctrl-C and a reader that closes its pipe early are
    answered by click with 2, 130 and 1.
    """
    from tallystick.cli.app import app

    try:
        _run(app, arguments)
    except TallystickError as error:
        _leave(str(error))
    except KeyboardInterrupt:  # outside a verb, e.g. while it is still loading
        _leave("interrupted", code=130)
    except RuntimeError as error:
        if str(error) != "Query interrupted":  # how DuckDB reports Ctrl-C in the middle of a query
            raise
        _leave("interrupted", code=130)
    # a full disk, a missing right, no memory: no traceback helps the user
    except (OSError, MemoryError) as error:
        _leave(f"{type(error).__name__}: {error}")


def _run(app: click.Group, arguments: Sequence[str] | None) -> None:
    """Run the command line and leave with its exit code; Ctrl-C inside a verb is 130."""
    given = list(arguments) if arguments is not None else None
    try:
        code = app.main(args=given, prog_name="tallystick", standalone_mode=False)
    except click.exceptions.Abort:
        _leave("interrupted", code=130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:  # a reader that closed its pipe early wants no more
        sys.stdout = sys.stderr
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _leave(message: str, *, code: int = 1) -> None:
    sys.stderr.write(f"tallystick: {harmless(message)}\n")
    sys.exit(code)
