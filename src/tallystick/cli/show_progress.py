"""Verbs that call an API: how the run goes, and what it costs before it begins.

On a terminal there is a bar, and a question before money is spent. In a script there is a line
every ten seconds, and money is spent only with ``--yes`` or under ``--max-cost``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.clients import ClientQuestion
from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

__all__ = ["ask_first", "progress_bar", "progress_lines", "with_progress"]

EVERY = 10.0
"""Seconds between two lines."""


def with_progress(call: Call) -> Call:
    """Return the call with what shows its progress and asks before money is spent."""
    question = call.question
    if not isinstance(question, ClientQuestion):
        return call
    _refuse_to_lose(call, question)
    shown = progress_bar if sys.stderr.isatty() else progress_lines
    return replace(call, question=replace(question, progress=shown, confirm=ask_first(question)))


def _refuse_to_lose(call: Call, question: ClientQuestion) -> None:
    """Refuse to ask for a column of answers that no file would keep."""
    makes_table = hasattr(question, "out") and not getattr(question, "dry_run", False)
    kept = getattr(question, "out", None) or question.journal
    if makes_table and not kept and not call.delivery.items_out:
        raise InputError(
            "name a file for the answers (-o FILE): without one, what you pay for is lost"
        )


def ask_first(question: ClientQuestion) -> Callable[[str], None]:
    """Return what is told the cost before a run, and asks where there is somebody to ask."""
    costs = bool(question.price or question.price_input or question.price_output)

    def confirm(text: str) -> None:
        if not costs:
            return
        sys.stderr.write(f"{text}\n")
        if question.yes:
            return
        if sys.stdin.isatty() and sys.stderr.isatty():
            sys.stderr.write("Go on? [y/N] ")
            sys.stderr.flush()
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                raise InputError("nothing was asked and nothing was spent")
        elif question.max_cost is None:
            raise InputError(
                "this costs money and nobody is there to confirm it: add --yes, or set a limit"
                " (--max-cost)"
            )

    return confirm


@contextmanager
def progress_lines(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[Any], None]]:
    """Write a line to stderr every ten seconds, for logs and pipes."""
    last = clock()

    def show(now: Any) -> None:
        nonlocal last
        if clock() - last < EVERY:
            return
        last = clock()
        cost = f", cost {now.cost:.4g}" if now.cost else ""
        error = f", error ± {now.error:.4f}" if now.error is not None else ""
        sys.stderr.write(f"{now.calls:,} of {now.planned:,} calls{cost}{error}\n")
        sys.stderr.flush()

    yield show


@contextmanager
def progress_bar() -> Iterator[Callable[[Any], None]]:
    """Open a bar on stderr; what it yields is told how the run goes."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    texts: tuple[Any, ...] = (
        TextColumn("{task.completed:,} of {task.total:,} calls"),
        BarColumn(),
        TextColumn("cost {task.fields[cost]:.4g}, error ± {task.fields[error]}"),
        TimeRemainingColumn(),
    )
    with Progress(*texts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1, cost=0.0, error="?")

        def show(now: Any) -> None:
            known: dict[str, Any] = {} if now.error is None else {"error": f"{now.error:.4f}"}
            bar.update(task, total=now.planned, completed=now.calls, cost=now.cost, **known)

        yield show
