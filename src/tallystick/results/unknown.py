"""What is not known, and what would settle it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tallystick.errors import InputError

__all__ = ["Needed", "Unknown"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A number that cannot be given, and why.

    In JSON it becomes null, and the reason is listed under ``unknown``.
    """

    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise InputError("an Unknown needs a reason")

    def __str__(self) -> str:
        return f"unknown: {self.reason}"


@dataclass(frozen=True, slots=True)
class Needed:
    """About how many more items, labels or calls would settle an undecided question.

    >>> print(Needed(40, "labels on items where a and b disagree"))
    about 40 more labels on items where a and b disagree
    >>> print(Needed(1, "labelled rows, drawn at random"))
    about 1 more labelled row, drawn at random
    """

    count: int | None
    of: str

    def __str__(self) -> str:
        if self.count is None:
            return f"more {self.of}"

        # "1 more labelled rows" would be wrong: the first plural becomes a singular.
        of = re.sub(r"(\w)s\b", r"\1", self.of, count=1) if self.count == 1 else self.of
        return f"about {self.count:,} more {of}"
