"""The command line: one file a verb, and one door through which every verb is run."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from tallystick.errors import AskError, TallystickError, UsageError
from tallystick.results import harmless

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run ``tallystick VERB …`` and leave with the exit code of the contract.

    0 done · 1 bad input or failed work · 2 usage, or a question · 10 a gate failed · 11 a gate
    could not be decided · 70 an error of ours · 130 interrupted · 143 ended (SIGTERM). Usage
    errors, Ctrl-C and a reader that closes its pipe early are answered by click with 2, 130 and 1.
    """
    from tallystick.cli.app import app

    with _ending_in_order():
        _answer(app, arguments)


def _answer(app: click.Group, arguments: Sequence[str] | None) -> None:
    """Run the command line and say every error in a sentence."""
    try:
        _run(app, arguments)
    except AskError as error:
        _ask(app, error, sys.argv[1:] if arguments is None else list(arguments))
    except TallystickError as error:
        _leave(str(error), code=2 if isinstance(error, UsageError) else 1)
    except KeyboardInterrupt:  # outside a verb, e.g. while it is still loading
        _leave("interrupted", code=130)
    except RuntimeError as error:
        # how DuckDB reports Ctrl-C in the middle of a query
        if str(error) != "Query interrupted":
            _leave(_ours(error), code=70)
        _leave("interrupted", code=130)
    # a full disk, a missing right, no memory: no traceback helps the user
    except (OSError, MemoryError) as error:
        _leave(f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001 - the last door: nobody sees a traceback
        _leave(_ours(error), code=70)


def _ask(app: click.Group, error: AskError, arguments: list[str]) -> None:
    """Put the question with the commands that answer it."""
    if not error.calls:
        _leave(str(error), code=2)
    words = [
        shlex.split(call)[1:]
        if call.startswith("tallystick ")
        else [*arguments, *shlex.split(call)]
        for call in error.calls
    ]
    lines = [harmless(f"  tallystick {shlex.join(one)}") for one in words]
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        sys.stderr.write("\n".join([f"tallystick: {harmless(error.question)}", *lines]) + "\n")
        sys.exit(2)
    sys.stderr.write("\n".join([harmless(error.question), *lines, "Run the first? [Y/n] "]))
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("", "y", "yes"):
        sys.exit(2)
    _answer(app, words[0])


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Let SIGTERM unwind the stack, so that scratch files go and the journal is closed."""
    # Only the main thread may; a handler that somebody else set stays.
    if threading.current_thread() is not threading.main_thread() or (
        signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _ours(error: Exception) -> str:
    """Say that this is a fault of ours, and where."""
    if os.environ.get("TALLYSTICK_TRACEBACK"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "tallystick" in frame.filename]
    last = own[-1] if own else frames[-1]
    return (
        f"internal error in {Path(last.filename).name}, line {last.lineno}:"
        f" {type(error).__name__}: {error}. This is a fault of Tallystick, not of your data. Please"
        " report it, with the command and what TALLYSTICK_TRACEBACK=1 prints"
    )


def _run(app: click.Group, arguments: Sequence[str] | None) -> None:
    """Run the command line and leave with its exit code."""
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
