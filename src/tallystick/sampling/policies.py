"""What a policy is: a frozen choice of options that, for a plan, gives a rule scoring strata."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.papers.api_shifts import masa_score, running_uncertainty

if TYPE_CHECKING:
    from tallystick.sampling.strata import Plan


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
    def score(self, book: Book, k: Any) -> Any:
        """Return the score of stratum *k*, or of several.

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


# Every item is as likely as every other; strata play no part.


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


# Each stratum by its size.


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

    def score(self, book: Book, k: Any) -> Any:
        """Return p / (n + ½)."""
        return self.shares[k] / (book.asked[k] + 0.5)  # (A1)


# MASA's upper-confidence rule.


@dataclass(frozen=True, kw_only=True)
class Masa(Policy):
    r"""Ask where the share times an upper bound of the spread, over the questions so far, is
    largest.

    .. math:: \arg\max_k \; \frac{p_k}{n_k} \Bigl( \hat\sigma_k + w_k \sqrt[4]{a / n_k} \Bigr)  \tag{A3}

    after two questions everywhere: :func:`~tallystick.papers.api_shifts.masa_score`. With fewer
    than two answers in a stratum (failed calls) its spread counts as the largest possible,
    :math:`w_k`.

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
        # The longest vector that an answer can add.
        reach = np.abs(plan.weight).max(axis=1)
        self.table = np.stack([plan.strata.shares, reach])
        self.exploration = exploration

    def score(self, book: Book, k: Any) -> Any:
        """Return (A3)."""
        n, m, _, square, length = column(book.sums, k)
        share, reach = column(self.table, k)
        n = n + (n < 1)
        variance = running_uncertainty(m, square, length) + reach * reach * (m < 2)
        return masa_score(share, n, variance, exploration=self.exploration, reach=reach)  # (A3)


# The default: seven tenths of the budget blind, the rest where answers still change.


FIRST = 1e200
"""Puts phase 1 above every score of phase 2."""


@dataclass(frozen=True, kw_only=True)
class Flips(Policy):
    r"""Ask proportionally and blindly until :math:`n_k = b N p_k`; then where one more answer
    lowers the error most.

    .. math::

       \arg\max_k \; p_k \sqrt{\frac{v_k}{n_k (n_k + 1)}}, \qquad
       v_k = \frac{Q_k + q_g}{m_k + 1/\bar f_g} - \frac{\lVert D_k \rVert^2}{(m_k + 1/\bar f_g)^2}   \tag{A4}

    with m answers, Q = Σ‖x‖², D = Σx and x = e(new) - e(old). The flip rate is shrunk to that of
    the family g, :math:`\bar f_g = (\sum F + \tfrac12)/(\sum m + 1)`, and :math:`q_g` is what one
    flip adds to Q there (exactly 2 for unweighted one-hot outcomes, so that the first term is 2 (F
    + 1)/(m + 1/f̄)). v goes to 0 where everything flips alike, and where nothing flips. Rates
    divide by answers, allocation counts questions, those in flight included.

    docs/theory/shift.md, *Better: the old answers by item*, with b = .7: with less the
    strata that look clean are starved and the flip rate is biased low. Phase 1 stays apart
    (:attr:`Rule.blind_until`), because adaptive allocation biases sums of flips and intervals have
    to undo that. Its questions go in uniformly random order: some of them are asked twice to
    measure noise, and in proportional order large strata would come first.

    Parameters
    ----------
    blind
        The share b of the budget that is spent proportionally, blind to answers.
    refresh
        Family rates are read again after this many answers.
    first
        The first questions go in uniformly random order over all items (a gate needs that); they
        count as blind.
    reserve
        Questions of the budget that phase 1 must leave, if the minimum of each stratum allows it:
        they may be needed for repeats.
    """

    blind: float = 0.7
    refresh: int = 16
    first: int = 0
    reserve: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.blind <= 1:
            raise InputError(f"blind must be in [0, 1], got {self.blind!r}")

    def opening(self, calls: int) -> int:
        """Return *first*."""
        return min(self.first, calls)

    def shuffled(self, plan: Plan) -> NDArray[np.intp] | None:
        """Return the questions of phase 1; None where the first ones are random already."""
        if self.opening(plan.calls):
            return None
        return self.blind_questions(plan).astype(np.intp)

    def blind_questions(self, plan: Plan) -> NDArray[np.float64]:
        """Return how many questions of each stratum are blind: b N p, at least the minimum.

        With many small strata the minimum alone may fill the budget: then b falls until phase 1
        leaves the reserve, so that no stratum goes without an answer.
        """
        room = max(float(plan.floors.sum()), plan.calls - float(self.reserve))

        def at(share: float) -> NDArray[np.float64]:
            # Rounded down: rounding up lets small strata eat phase 2 (2% more error at 500
            # calls). 1e-9 is for 30 - ulp.
            proportional = np.floor(share * plan.calls * plan.strata.shares + 1e-9)
            return np.minimum(np.maximum(plan.floors, proportional), plan.limits)

        if at(self.blind).sum() <= room:
            return at(self.blind)
        low, high = 0.0, self.blind
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if at(middle).sum() <= room else (low, middle)
        return at(low)

    def rule(self, plan: Plan) -> Rule:
        """Return (A4)."""
        return _FlipsRule(plan, self)


class _FlipsRule(Rule):
    adaptive = True

    def __init__(self, plan: Plan, options: Flips) -> None:
        super().__init__(plan)
        self.refresh_every = options.refresh
        shares = plan.strata.shares
        self.blind_until = options.blind_questions(plan)
        self.table = np.stack([self.blind_until, FIRST * shares, np.square(shares)])
        self.family = np.unique(plan.strata.families, return_inverse=True)[1]
        # What a flip is expected to add to Q before any was seen: e(new) and e(old), each of mean
        # squared weight.
        squared = float(np.square(plan.weight[:, :-1]).mean())
        self.usual = squared * (1 if plan.baseline is None else 2)

    def refresh(self, book: Book) -> None:
        """Read the flip rate of every family."""
        answers, flips, square = (
            np.bincount(self.family, sums) for sums in (book.answered, book.flips, book.square)
        )
        slack = (answers + 1) / (flips + 0.5)  # 1 / f̄
        size = (square + 0.5 * self.usual) / (flips + 0.5)
        self.rates = np.stack([slack[self.family], size[self.family]])

    def score(self, book: Book, k: Any) -> Any:
        """Return the square of (A4), or, in phase 1, the proportional rule lifted above it."""
        n, m, _, square, length = column(book.sums, k)
        until, first, gain = column(self.table, k)
        slack, size = column(self.rates, k)
        m = m + slack
        v = (square + size) / m - length / (m * m)
        used = n + (n < 1)
        # (A4)
        return (n < until) * first / (n + 0.5) + (n >= until) * gain * v / (used * (used + 1))


# The running sums that policies decide by: one set per stratum.


def column(table: Any, k: Any) -> Any:
    """Return the entries of each row at *k*: plain floats for one stratum, arrays for several.

    Plain floats are several times faster than NumPy's for the dozen operations of a rule, and round
    alike.
    """
    return table[:, k].tolist() if isinstance(k, int) else table[:, k]


class Book:
    """Per stratum: questions asked, answers, how many of them changed anything, and two sums of
    their vectors x = w e(new) - w e(old), or w e(new) where there is no earlier answer.

    Attributes
    ----------
    sums
        The five rows below, so that one read fetches a stratum.
    asked, answered
        Questions put (those in flight included) and answers received (failed ones excluded).
    flips
        Answers with x ≠ 0.
    square, length
        Σ‖x‖² and ‖Σx‖².
    """

    def __init__(self, plan: Plan) -> None:
        self._weight = plan.weight
        self.sums = np.zeros((5, len(plan.strata)))
        self.asked, self.answered, self.flips, self.square, self.length = self.sums
        self._total = np.zeros(plan.weight.shape)

    def tell(self, k: int, new: int, old: int) -> None:
        """Add one answer in stratum *k*: outcome *new* where it had been *old*."""
        self.answered[k] += 1
        if new == old:
            return
        square = 0.0
        # ‖s + a e_i‖² = ‖s‖² + a (2 s_i + a): the length of the sum is kept in O(1), too.
        for outcome, sign in ((new, 1.0), (old, -1.0)):
            step = sign * float(self._weight[k, outcome])
            square += step * step
            self.length[k] += step * (2 * self._total[k, outcome] + step)
            self._total[k, outcome] += step
        self.square[k] += square
        self.flips[k] += square > 0
