"""What a result says first, line by line."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Sentences"]


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """A verdict in the order in which it is told: in a terminal, on a page, in an e-mail.

    Parameters
    ----------
    answer
        The answer with its number and its doubt.
    contrast
        What a reader would otherwise believe, or the second most important fact.
    open
        What is not settled, beginning with "Not settled:".
    next
        What to do, beginning with "Next:".
    """

    answer: str
    contrast: str = ""
    open: str = ""
    next: str = ""

    @property
    def verdict(self) -> str:
        """All but the next step, as one paragraph."""
        return " ".join(part for part in (self.answer, self.contrast, self.open) if part)
