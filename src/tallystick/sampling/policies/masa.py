"""MASA's upper-confidence rule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.errors import InputError
from tallystick.sampling.book import column
from tallystick.sampling.policies.policy import Policy, Rule
from tallystick.stats.ustat import spread

if TYPE_CHECKING:
    from tallystick.sampling.book import Book
    from tallystick.sampling.plan import Plan

__all__ = ["Masa"]


@dataclass(frozen=True, kw_only=True)
class Masa(Policy):
    r"""Ask where the share times an upper bound of the spread, over the questions so far, is
    largest.

    .. math:: \arg\max_k \; \frac{p_k}{\sqrt{c_k}\, n_k} \Bigl( \hat\sigma_k + w_k \sqrt[4]{a / n_k} \Bigr)  \tag{A3}

    after two questions everywhere. [CZZ22]_ (api-shifts), Algorithm 1, line 3, corrected by ERRATA:
    σ̂² is the unbiased U-statistic of (3.1) rather than line 7, and exploration has the fourth root
    of the theory rather than line 3's square root. Weights W enter σ̂ entry by entry and
    exploration by the largest weight :math:`w_k` of the stratum (the paper says only that line 3 is
    multiplied by them). Prices :math:`c_k` are ours. With fewer than two answers in a stratum
    (failed calls) its spread counts as the largest possible, :math:`w_k`.

    Parameters
    ----------
    exploration
        The paper's a > 0. Nothing between 0.01 and 20 differs measurably; 0 is a disaster (7-170
        times worse).

    Examples
    --------
    >>> Masa(exploration=0.0)
    Traceback (most recent call last):
    tallystick.errors.InputError: exploration must be positive, got 0.0: without it strata that look clean are abandoned
    """

    exploration: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.exploration < float("inf"):
            raise InputError(
                f"exploration must be positive, got {self.exploration!r}: "
                "without it strata that look clean are abandoned"
            )

    def rule(self, plan: Plan) -> Rule:
        """Return (A3)."""
        return _MasaRule(plan, self.exploration)


class _MasaRule(Rule):
    adaptive = True

    def __init__(self, plan: Plan, exploration: float) -> None:
        super().__init__(plan)
        self.table = np.stack([plan.worth, plan.vectors.reach])
        self.exploration = exploration

    def score(self, book: Book, at: Any, k: Any) -> Any:
        """Return (A3). Roots are taken twice, not to the power ¼: square roots round alike
        everywhere.
        """
        n, m, _, square, length = column(book.sums, at)
        worth, reach = column(self.table, k)
        sqrt: Any = math.sqrt if isinstance(at, int) else np.sqrt
        n = n + (n < 1)
        variance = spread(m, square, length) + reach * reach * (m < 2)
        return worth / n * (sqrt(variance) + reach * sqrt(sqrt(self.exploration / n)))  # (A3)
