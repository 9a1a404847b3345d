"""``tallystick shift`` on a terminal: a bar with calls, money and the error so far."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.shift import ShiftQuestion

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

__all__ = ["progress_bar", "with_progress"]


def with_progress(call: Call) -> Call:
    """Return the call with a bar that lives while the API is asked; unchanged off a terminal."""
    if not (sys.stderr.isatty() and isinstance(call.question, ShiftQuestion)):
        return call
    return replace(call, question=replace(call.question, progress=progress_bar))


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
