"""One trio in exact arithmetic: fractions, and square roots that resolve or do not."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.judge.ballots import Ballots
from tallystick.judge.independent import integer_square
from tallystick.tally import Tally

__all__ = ["ExactTrio", "Surd", "exact"]


@dataclass(frozen=True)
class Surd:
    r"""An algebraic number :math:`a + b \sqrt{r}` with fractions a, b and a whole number r
    (negative: complex).

    >>> float(Surd(Fraction(1, 2), Fraction(1, 4), 2))
    0.8535533905932737
    >>> Surd(Fraction(1, 2), Fraction(1, 4), 9).fraction
    Fraction(5, 4)
    """

    a: Fraction
    b: Fraction
    r: int

    @property
    def fraction(self) -> Fraction | None:
        """The number itself where its root resolves, None where it is irrational or complex."""
        if not self.b:
            return self.a
        root = isqrt(self.r) if self.r >= 0 else -1
        return self.a + self.b * root if root >= 0 and root * root == self.r else None

    def __float__(self) -> float:
        if self.b and self.r < 0:
            raise NotIdentifiable(f"{self} is complex: these judges' errors are not independent")
        scale = 10**40  # the root to 40 more digits than a float holds
        root = Fraction(isqrt(max(self.r, 0) * scale**2), scale)
        return float(self.a + self.b * root)

    def __str__(self) -> str:
        return f"{self.a} + {self.b}·√{self.r}" if self.b else str(self.a)


@dataclass(frozen=True, kw_only=True)
class ExactTrio:
    """Both points of Theorem 2 in exact numbers.

    Parameters
    ----------
    judges
        Their names.
    resolved
        Whether the square root is rational. False proves that the judges' errors are not
        sample-independent (Theorem 5); True proves nothing.
    radicand
        The whole number :math:`n^6 S^2`.
    prevalence
        Of the first label, at both points.
    accuracy
        Judge to its accuracies on the first and on the second label, at both points.
    """

    judges: tuple[str, str, str]
    resolved: bool
    radicand: int
    prevalence: tuple[Surd, Surd]
    accuracy: dict[str, tuple[tuple[Surd, Surd], tuple[Surd, Surd]]]


def exact(
    votes: Tally, *, judges: Sequence[str] | None = None, truth: str | None = None
) -> ExactTrio:
    r"""Solve one trio of binary judges in exact arithmetic.

    With the sums of (J1) times powers of n, all whole numbers,

    .. math:: n^6 S^2 = 4 \prod (n\,n_{ij} - n_i n_j) + (n^2 n_{123} - n \sum n_i n_{jk} + 2 n_1 n_2 n_3)^2   \tag{J2}

    and the points are :math:`P_\alpha = \tfrac12 + s T S / 2 S^2`, :math:`P_{k\alpha} = f_{k\alpha}
    - T/2D_{ij} + s S/2 D_{ij}`, :math:`P_{k\beta} = f_{k\beta} + T/2D_{ij} + s S/2D_{ij}`. [CE23]_,
    Theorems 2 and 5.

    Examples
    --------
    >>> from tallystick.judge.papers import Point, simulate
    >>> point = Point(prevalence="1/4", accuracy={"x": ("9/10", "4/5"), "y": ("3/4", "3/4"), "z": ("2/3", "4/5")})
    >>> trio = exact(simulate(point).tally, truth="truth")
    >>> trio.resolved, [p.fraction for p in trio.prevalence]
    (True, [Fraction(1, 4), Fraction(3, 4)])
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth).blind
    ballots.require_binary("exact")
    ballots.require_items("exact")
    if len(ballots.names) != 3 or not ballots.complete:
        raise InputError(
            f"exact solves three judges who vote on every item, got {ballots.names}: name three"
            " (judges=)"
        )
    rows = ballots.codes.tolist()
    counts = [int(count) for count in ballots.counts]
    n = sum(counts)
    sums = {
        group: sum(c for c, row in zip(counts, rows, strict=True) if all(row[j] for j in group))
        for size in (1, 2, 3)
        for group in itertools.combinations(range(3), size)
    }
    d = {
        k: Fraction(n * sums[i, j] - sums[i,] * sums[j,], n * n)
        for k, (i, j) in enumerate(((1, 2), (0, 2), (0, 1)))
    }
    radicand, third = integer_square(n, sums)
    t = Fraction(third, n**3)
    if 0 in d.values() or not radicand:
        raise NotIdentifiable(
            f"judges {ballots.names}: two of them are uncorrelated (D = 0), so no two points exist"
        )
    half_root = Fraction(1, 2 * n**3)  # S = √radicand / n³
    # The first point is the one whose judges are better than chance together: s Σ 1/D > 0.
    s = 1 if sum(1 / value for value in d.values()) > 0 else -1
    signs = (s, -s)
    prevalence = tuple(
        Surd(Fraction(1, 2), sign * t * n**3 / (2 * radicand), radicand) for sign in signs
    )
    accuracy = {}
    for k, name in enumerate(ballots.names):
        beta = Fraction(sums[k,], n)
        points = tuple(
            (
                Surd(1 - beta - t / (2 * d[k]), sign * half_root / d[k], radicand),
                Surd(beta + t / (2 * d[k]), sign * half_root / d[k], radicand),
            )
            for sign in signs
        )
        accuracy[name] = (points[0], points[1])
    root = isqrt(max(radicand, 0))
    return ExactTrio(
        judges=(ballots.names[0], ballots.names[1], ballots.names[2]),
        resolved=root * root == radicand,
        radicand=radicand,
        prevalence=(prevalence[0], prevalence[1]),
        accuracy=accuracy,
    )
