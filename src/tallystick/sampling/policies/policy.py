"""What a policy is: a frozen choice of options that, for a plan, gives a rule scoring strata."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.sampling.book import Book
    from tallystick.sampling.plan import Plan

__all__ = ["Policy", "Rule"]


class Rule(ABC):
    """A policy at work: the stratum with the highest score is asked next, the first of equals.

    A score depends on the sums of its own stratum, and on what :meth:`refresh` last read from the
    whole book.

    Attributes
    ----------
    adaptive
        Whether answers matter. If not, the book is never told any.
    refresh_every
        After how many answers to refresh; 0 means never.
    blind_until
        Per stratum: questions below this number were chosen without regard to answers.
    """

    adaptive: ClassVar[bool] = False
    refresh_every: int = 0
    blind_until: NDArray[np.float64]

    def __init__(self, plan: Plan) -> None:
        self.blind_until = plan.floors if self.adaptive else np.full(len(plan.strata), np.inf)

    @abstractmethod
    def score(self, book: Book, at: Any, k: Any) -> Any:
        """Return the score of stratum *k*, whose sums stand at position *at*: a number, or an array
        of them.

        Without branches, so that one formula serves both: ``n + (n < 1)`` keeps a division from 0.
        """

    def refresh(self, book: Book) -> None:
        """Read what scores need of the whole book; most rules need nothing."""
        return


@dataclass(frozen=True, kw_only=True)
class Policy(ABC):
    """The options of a policy.

    Parameters
    ----------
    minimum
        Each stratum gets this many questions (or all it has) before anything else.
    """

    minimum: int = 2

    def __post_init__(self) -> None:
        if self.minimum < 0:
            raise InputError(f"minimum must not be negative, got {self.minimum!r}")

    def opening(self, calls: int) -> int:
        """Return how many of the first questions go to items in uniformly random order, whatever
        their stratum.
        """
        return 0

    def shuffled(self, plan: Plan) -> NDArray[np.intp] | None:
        """Return how many blind questions of each stratum come first, in uniformly random order.

        None where a policy has no such phase, or chooses the order itself.
        """
        return None

    @abstractmethod
    def rule(self, plan: Plan) -> Rule:
        """Return the rule for *plan*."""
