"""How a session is run: everything that is fixed when it begins."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.errors import InputError

__all__ = ["SessionSettings"]


@dataclass(frozen=True, kw_only=True)
class SessionSettings:
    """How a session is run; everything here is fixed when it begins.

    Parameters
    ----------
    target
        The half-width that is wanted; None where only a verdict is.
    budget
        The most labels that may be bought.
    alpha, seed
        The level and the seed of the draws.
    show
        The columns that a person sees; by default all but votes, labels, judges and systems.
    ask, instructions
        What a person is asked, and what counts as which answer.
    readers
        How many people read: 1, 2, or 3 (the third reads only disagreements).
    origin
        How labels that the table holds already came to be: random, disagreements or unknown.
    epsilon
        For the best of several models: how far behind the best is good enough.
    """

    target: float | None = None
    budget: int | None = None
    alpha: float = 0.05
    seed: int = 0
    show: tuple[str, ...] = ()
    ask: str = ""
    instructions: str = ""
    readers: int = 1
    origin: str = "unknown"
    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.target is not None and not 0 < self.target < 1:
            raise InputError(
                f"target must be in (0, 1), got {self.target!r}: .05 asks for ± 5 points"
            )
        if self.readers not in (1, 2, 3):
            raise InputError(f"readers must be 1, 2 or 3, got {self.readers!r}")
        if self.origin not in ("random", "disagreements", "unknown"):
            raise InputError(
                "the origin of labels must be random, disagreements or unknown, got"
                f" {self.origin!r}"
            )
        if self.budget is not None and self.budget < 1:
            raise InputError(f"budget must be at least 1 label, got {self.budget!r}")
