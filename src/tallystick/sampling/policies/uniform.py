"""Every item is as likely as every other; strata play no part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tallystick.sampling.policies.policy import Policy
from tallystick.sampling.policies.proportional import ProportionalRule

if TYPE_CHECKING:
    from tallystick.sampling.plan import Plan
    from tallystick.sampling.policies.policy import Rule

__all__ = ["Uniform"]


@dataclass(frozen=True, kw_only=True)
class Uniform(Policy):
    """Ask items in uniformly random order: the plainest baseline, and what a sequential gate needs.

    Parameters
    ----------
    minimum
        Ignored strata have no minimum.

    Examples
    --------
    >>> Uniform().opening(200)
    200
    """

    minimum: int = 0

    def opening(self, calls: int) -> int:
        """All questions."""
        return calls

    def rule(self, plan: Plan) -> Rule:
        """Never consulted while items are asked in random order."""
        return ProportionalRule(plan)
