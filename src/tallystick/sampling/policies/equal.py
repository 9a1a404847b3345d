"""Each stratum as often as every other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.sampling.policies.policy import Policy, Rule

if TYPE_CHECKING:
    from tallystick.sampling.book import Book
    from tallystick.sampling.plan import Plan

__all__ = ["Equal"]


@dataclass(frozen=True, kw_only=True)
class Equal(Policy):
    """Ask every stratum equally often: right when each stratum is reported by itself, wasteful for
    the whole.
    """

    def rule(self, plan: Plan) -> Rule:
        """Return the rule: whichever was asked least."""
        return _EqualRule(plan)


class _EqualRule(Rule):
    def score(self, book: Book, at: Any, k: Any) -> Any:
        """Return -n."""
        return -book.asked[at]
