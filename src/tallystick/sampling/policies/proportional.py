"""Each stratum by its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.sampling.policies.policy import Policy, Rule

if TYPE_CHECKING:
    from tallystick.sampling.book import Book
    from tallystick.sampling.plan import Plan

__all__ = ["Proportional", "ProportionalRule"]


@dataclass(frozen=True, kw_only=True)
class Proportional(Policy):
    r"""Ask :math:`n_k \approx N p_k`, at every moment of the run.

    .. math:: \arg\max_k \; p_k / (n_k + \tfrac12)   \tag{A1}

    (Webster's rule, which rounds to the nearest). Most of what stratification gains is gained here:
    MASA beats it by 1.02-1.5 times only (ERRATA, api-shifts). It never looks at an answer.
    """

    def rule(self, plan: Plan) -> Rule:
        """Return (A1)."""
        return ProportionalRule(plan)


class ProportionalRule(Rule):
    """(A1)."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.shares = plan.strata.shares

    def score(self, book: Book, at: Any, k: Any) -> Any:
        """Return p / (n + ½)."""
        return self.shares[k] / (book.asked[at] + 0.5)  # (A1)
