"""Long work shows that it goes on: one line on a terminal, with the seconds, and nothing elsewhere.

How long a count or a fit takes is not known ahead, so there is no bar to fill; verbs that ask an
API have one (`tallystick.cli.show_progress`).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["working"]

AFTER = 2.0
"""Seconds of work from which it is shown."""

EVERY = 0.5


@contextmanager
def working(
    what: str, *, stream: TextIO | None = None, after: float = AFTER, every: float = EVERY
) -> Iterator[None]:
    """Show *what* is being done, and for how long, while the block runs; the line goes afterwards.

    Parameters
    ----------
    what
        A present participle: ``reading``, ``answering``.
    stream
        Where to show it; stderr by default. Nothing is written unless it is a terminal.
    after, every
        Seconds until the line appears, and between two of its versions.

    Examples
    --------
    >>> with working("reading"):  # a pipe: nothing is shown
    ...     2 + 2
    4
    """
    target = sys.stderr if stream is None else stream
    if not target.isatty():
        yield
        return
    done = threading.Event()
    ticking = threading.Thread(target=_tick, args=(target, what, done, after, every), daemon=True)
    ticking.start()
    try:
        yield
    finally:
        # The line is gone before anything else is written, an error message included.
        done.set()
        ticking.join()


def _tick(target: TextIO, what: str, done: threading.Event, after: float, every: float) -> None:
    began = time.monotonic()
    if done.wait(after):
        return
    while not done.is_set():
        target.write(f"\r{what} … {time.monotonic() - began:.0f} s")
        target.flush()
        done.wait(every)
    target.write("\r\x1b[K")
    target.flush()
