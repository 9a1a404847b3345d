"""The best fixed allocation, for those who know the spread of every stratum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import InputError
from tallystick.sampling.policies.policy import Policy, Rule

if TYPE_CHECKING:
    from tallystick.sampling.book import Book
    from tallystick.sampling.plan import Plan

__all__ = ["Neyman"]


@dataclass(frozen=True, kw_only=True)
class Neyman(Policy):
    r"""Ask :math:`n_k \propto p_k \sigma_k / \sqrt{c_k}` with spreads σ and mean prices c that are
    known beforehand.

    .. math:: \arg\max_k \; \frac{p_k^2 \sigma_k^2}{c_k\, n_k (n_k + 1)}   \tag{A2}

    is the drop in Σ p²σ²/n that one more question buys, a unit of money; taking the largest drop
    each time gives the best whole-number allocation. Without prices this is Lemma 1 of [CZZ22]_
    (api-shifts).

    Parameters
    ----------
    sigmas
        The spread of every stratum.
    """

    sigmas: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "sigmas", tuple(float(sigma) for sigma in self.sigmas))
        if not all(0 <= sigma < float("inf") for sigma in self.sigmas):
            raise InputError(f"sigmas must be finite and not negative, got {self.sigmas!r}")

    def rule(self, plan: Plan) -> Rule:
        """Return (A2)."""
        if len(self.sigmas) != len(plan.strata):
            raise InputError(
                f"sigmas must hold one number per stratum ({len(plan.strata)}), got"
                f" {len(self.sigmas)}"
            )
        return _NeymanRule(plan, np.square(plan.worth * np.array(self.sigmas)))


class _NeymanRule(Rule):
    def __init__(self, plan: Plan, gain: Any) -> None:
        super().__init__(plan)
        self.gain = gain

    def score(self, book: Book, at: Any, k: Any) -> Any:
        """Return (A2); a stratum not asked yet (minimum 0) counts as asked once."""
        n = book.asked[at]
        n = n + (n < 1)
        return self.gain[k] / (n * (n + 1))  # (A2)
