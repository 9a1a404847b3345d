"""The edge of one request, one job, one order: an error there must not end the process.

Everywhere else errors are caught by their name. Here any error is taken, and whoever opened the
boundary has to answer for it: the request is told, the job is kept and tried again, the log has the
trace.
"""

from __future__ import annotations

from types import TracebackType

__all__ = ["Boundary"]


class Boundary:
    """Holds the error that the block raised, if it raised one.

    >>> with Boundary() as edge:
    ...     raise ValueError("no")
    >>> edge.error
    ValueError('no')
    """

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> Boundary:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        # An interrupt or the end of the process is nobody's answer.
        if isinstance(error, Exception):
            self.error = error
        return isinstance(error, Exception)
