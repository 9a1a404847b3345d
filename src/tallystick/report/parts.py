"""A result that is made of results: one answer on top, then a part for every question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tallystick.results import Result

__all__ = ["Composed", "ResultPart"]


@dataclass(frozen=True)
class ResultPart:
    """One question of a composed result.

    Parameters
    ----------
    name
        Short and unique; the page links to it.
    heading
        The question.
    short
        The answer in one clause, or why there is none.
    result
        The answer itself; None if there is none.
    """

    name: str
    heading: str
    short: str
    result: Result | None = None


@runtime_checkable
class Composed(Protocol):
    """What report needs of a result in order to draw it part by part."""

    @property
    def headline(self) -> str:
        """The verdict over all parts, in one clause."""
        ...

    @property
    def grounds(self) -> tuple[str, ...]:
        """What all parts rest on, in words; each part has more of its own."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings that belong to no single part."""
        ...

    def parts(self) -> tuple[ResultPart, ...]:
        """Return the parts, in the order in which they are told."""
        ...
