"""What reproduces the source of `judge`: exact points, their tests, and figures of the paper.

| question | call |
|---|---|
| which votes does a point with correlated judges give? | :func:`correlated` |
| what is the smallest test that shows a point exactly? | :func:`simulate` |
| is the square root of a trio rational? | :func:`exact` |
| how far is an estimate from what the votes allow? | :func:`variety_distance` |
| which trios of judges could be independent? | :func:`search` |
| what does a small correlation do to a trio's solution? | :func:`sensitivity` |

Nothing here is needed to grade judges. Source: [CE23]_; theory: ``docs/theory/judge.md``.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt, lcm, prod
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Figure, Result
from tallystick.stats.latent_triplet import Trios, trio_point
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.verbs.judge.ballots import Alarm, Ballots, Floats, Ints
from tallystick.verbs.judge.independent import integer_square, solve, trio_alarms, trio_counts
from tallystick.verbs.judge.supervised import Correlations
from tallystick.verbs.judge.verdict import INDEPENDENCE, SENSIBLE, SHARED_BIAS
from tallystick.verbs.judge.verdict_methods import search_verdict

# A point in evaluation space: prevalence, accuracies and correlations of binary judges, as exact
# fractions.


@dataclass(frozen=True, kw_only=True)
class Point:
    """Everything that decides the vote patterns of binary judges [CE23]_, supplement, definitions
    1.4-1.6.

    Parameters
    ----------
    labels
        The two labels, α and β.
    prevalence
        Share of items that are truly α.
    accuracy
        Judge to its accuracies on α and on β.
    correlations
        Those that are not zero; by default the judges err independently.

    Examples
    --------
    >>> point = Point(prevalence="1/4", accuracy={"ann": ("9/10", "4/5"), "bob": (1, "1/2")})
    >>> point.prevalence, point.accuracy["ann"]
    (Fraction(1, 4), (Fraction(9, 10), Fraction(4, 5)))
    """

    prevalence: Fraction
    accuracy: Mapping[str, tuple[Fraction, Fraction]]
    labels: tuple[Label, Label] = ("a", "b")
    correlations: Correlations = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", _share("prevalence", self.prevalence))
        pairs = {name: (_share(name, a), _share(name, b)) for name, (a, b) in self.accuracy.items()}
        object.__setattr__(self, "accuracy", pairs)
        found = {}
        for (label, judges), value in self.correlations.items():
            unknown = [name for name in judges if name not in pairs]
            if (
                label not in self.labels
                or unknown
                or len(set(judges)) != len(judges)
                or len(judges) < 2
            ):
                raise InputError(
                    f"correlations: ({label!r}, {judges!r}) names no label with two or more judges"
                    " of it"
                )
            found[label, tuple(sorted(judges, key=list(pairs).index))] = Fraction(value)
        object.__setattr__(self, "correlations", found)

    @property
    def names(self) -> tuple[str, ...]:
        """The judges."""
        return tuple(self.accuracy)

    def mirror(self) -> Point:
        """Return the point that gives the same votes with the labels exchanged (Eqs 33-35).

        >>> Point(prevalence="1/4", accuracy={"ann": ("9/10", "4/5")}).mirror().accuracy["ann"]
        (Fraction(1, 5), Fraction(1, 10))
        """
        alpha, beta = self.labels
        other = {alpha: beta, beta: alpha}
        return Point(
            prevalence=1 - self.prevalence,
            accuracy={name: (1 - b, 1 - a) for name, (a, b) in self.accuracy.items()},
            labels=self.labels,
            correlations={
                (other[label], judges): value * (-1) ** len(judges)
                for (label, judges), value in self.correlations.items()
            },
        )


def _share(name: str, value: Fraction | int | str) -> Fraction:
    if isinstance(value, float):
        raise InputError(
            f"{name} must be an exact share such as Fraction(9, 10) or '9/10', got the float"
            f" {value!r}"
        )
    share = Fraction(value)
    if not 0 <= share <= 1:
        raise InputError(f"{name} must be in [0, 1], got {value!r}")
    return share


# One trio in exact arithmetic: fractions, and square roots that resolve or do not.


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
    >>> from tallystick.verbs.judge.papers import Point, simulate
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


# The surface that must contain the truth: a self-check, a constraint for foreign estimates, never
# a gauge.


@dataclass(frozen=True, kw_only=True)
class Projection:
    """A foreign estimate moved to the nearest point that the votes allow."""

    prevalence: float
    accuracy: Mapping[str, tuple[float, float]]
    distance: float


def variety_distance(
    votes: Tally,
    prevalence: float,
    accuracy: Mapping[str, tuple[float, float]],
    *,
    labels: tuple[Label, Label] | None = None,
) -> float:
    r"""Return how far an estimate is from explaining each judge's own vote shares.

    Whatever the correlations, the true point satisfies, for every judge,

    .. math:: P_\alpha (P_{i\alpha} - f_{i\alpha}) = P_\beta (P_{i\beta} - f_{i\beta})   \tag{J5}

    [CE23]_, Eq 22 (Theorem 4; Eq 23 follows from it), which is the share of votes α rearranged.
    Returned is the root of the summed squares of the differences of both sides. For every real
    point of ``independent`` it is zero, correlated or not: so it checks arithmetic and judges
    *other* methods; it is no gauge of correlation, against section 5 and Figure 3 of the text
    (``docs/theory/judge.md#j5``).

    Examples
    --------
    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1]})
    >>> variety_distance(votes, 0.5, {"ann": (0.8, 0.8), "bob": (0.5, 1.0)})
    0.0
    """
    found = _shares(votes, accuracy, labels)
    a, b = (np.array([accuracy[name][c] for name in accuracy]) for c in (0, 1))
    gaps = prevalence * (a - found) - (1 - prevalence) * (b - (1 - found))
    return float(np.sqrt((gaps**2).sum()))


def variety_projection(
    votes: Tally,
    prevalence: float,
    accuracy: Mapping[str, tuple[float, float]],
    *,
    labels: tuple[Label, Label] | None = None,
) -> Projection:
    r"""Move each judge's two accuracies to the nearest ones that its vote shares allow, at the same
    prevalence.

    At a fixed prevalence (J5) is one line a judge, so the nearest point is a closed form; a line
    that leaves the unit square is followed to the nearest point inside. The prevalence is kept:
    moving it too would let one judge's error spoil all the others.

    Examples
    --------
    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1]})
    >>> moved = variety_projection(votes, 0.5, {"ann": (0.9, 0.7), "bob": (0.5, 0.9)})
    >>> moved.accuracy["ann"], [round(p, 3) for p in moved.accuracy["bob"]]
    ((0.8, 0.8), [0.45, 0.95])
    """
    if not 0 < prevalence < 1:
        raise InputError(f"prevalence must be in (0, 1), got {prevalence!r}")
    found = _shares(votes, accuracy, labels)
    moved: dict[str, tuple[float, float]] = {}
    total = 0.0
    for f, (name, (a, b)) in zip(found, accuracy.items(), strict=True):
        # P a - Q b = P f - Q (1 - f): go along the normal (P, -Q), then keep inside the square
        # along the line.
        p, q = prevalence, 1 - prevalence
        right = p * f - q * (1 - f)
        gap = (p * a - q * b - right) / (p * p + q * q)
        new_a = float(np.clip(a - p * gap, max(0.0, right / p), min(1.0, (right + q) / p)))
        new_b = float(np.clip((p * new_a - right) / q, 0.0, 1.0))
        moved[name] = (new_a, new_b)
        total += (new_a - a) ** 2 + (new_b - b) ** 2
    return Projection(prevalence=prevalence, accuracy=moved, distance=float(np.sqrt(total)))


def _shares(
    votes: Tally, accuracy: Mapping[str, tuple[float, float]], labels: tuple[Label, Label] | None
) -> Floats:
    """Return each judge's share of votes for the first label."""
    ballots = Ballots.of(votes, judges=tuple(accuracy), labels=labels or ())
    ballots.require_binary("the containing variety")
    return np.asarray(ballots.vote_counts[:, 0] / ballots.voted)


# From a point to the votes: the generating set of arbitrarily correlated judges.


_MOST = 12


def correlated(point: Point) -> dict[tuple[Label, ...], Fraction]:
    r"""Return the share of every vote pattern that *point* implies: the votes that such judges
    would give.

    With :math:`c_i` = "judge i is right", :math:`c_i = p_i + z_i`, and :math:`\Gamma_S` the mean of
    :math:`\prod_{i \in S} z_i` over the items of a label (1 for no judge, 0 for one), the judges in
    A alone are right on a share

    .. math:: \sum_S \Gamma_S (-1)^{|S \setminus A|} \prod_{i \in A \setminus S} p_i
              \prod_{i \notin A \cup S} (1 - p_i)   \tag{J3}

    of the items of that label; the two labels add with their prevalences. [CE23]_, Theorem 3
    (Theorem 1 without correlations). Exact.

    Raises
    ------
    InputError
        No votes have these correlations: a pattern would have a negative share.

    Examples
    --------
    >>> from tallystick.verbs.judge.papers import Point
    >>> votes = correlated(Point(prevalence="1/2", accuracy={"ann": ("3/4", "3/4"), "bob": (1, 1)}))
    >>> votes["a", "a"], votes["b", "a"], sum(votes.values())
    (Fraction(3, 8), Fraction(1, 8), Fraction(1, 1))
    """
    if len(point.names) > _MOST:
        raise InputError(
            f"{len(point.names)} judges have 2^{len(point.names)} patterns: give at most {_MOST}"
        )
    return {
        pattern: sum(by_label.values(), Fraction(0))
        for pattern, by_label in shares_by_truth(point).items()
    }


def shares_by_truth(point: Point) -> dict[tuple[Label, ...], dict[Label, Fraction]]:
    """Return, for every vote pattern, the share of items with that pattern and each true label."""
    alpha, beta = point.labels
    names = point.names
    out: dict[tuple[Label, ...], dict[Label, Fraction]] = {}
    for pattern in itertools.product(point.labels, repeat=len(names)):
        out[pattern] = {}
        for side, label, weight in ((0, alpha, point.prevalence), (1, beta, 1 - point.prevalence)):
            right = tuple(vote == label for vote in pattern)
            accuracies = tuple(point.accuracy[name][side] for name in names)
            share = _chance(right, accuracies)
            for (where, judges), gamma in point.correlations.items():
                if where == label:
                    chosen = {names.index(name) for name in judges}
                    rest = [i for i in range(len(names)) if i not in chosen]
                    sign = (-1) ** sum(not right[i] for i in chosen)
                    share += (
                        sign
                        * gamma
                        * _chance([right[i] for i in rest], [accuracies[i] for i in rest])
                    )
            if share < 0:
                raise InputError(
                    f"correlations: no items can have them, since the votes {pattern} on {label!r}"
                    f" would have the share {share}: make them smaller"
                )
            out[pattern][label] = weight * share
    return out


def _chance(
    right: tuple[bool, ...] | list[bool], accuracy: tuple[Fraction, ...] | list[Fraction]
) -> Fraction:
    return prod(
        (p if ok else 1 - p for ok, p in zip(right, accuracy, strict=True)), start=Fraction(1)
    )


# Search many judges for trios that could be independent, and say how each of the others fails.


@dataclass(frozen=True, kw_only=True)
class SearchResult(Result):
    """Every trio of judges, solved; the best-conditioned sensible ones are shown.

    Parameters
    ----------
    trios
        How many ended how.
    found
        One mapping a sensible trio: judges, prevalence of the first label, accuracies, condition
        number.
    by_judge
        Judge to the share of its trios that are sensible.
    alarms
        What the failures prove.
    """

    verb: ClassVar[str] = "judge"

    trios: Mapping[str, int]
    found: tuple[dict[str, Any], ...]
    by_judge: Mapping[str, float]
    alarms: tuple[Alarm, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a trio shown; accuracies in the order of judges, by label."""
        return [
            {
                "judges": ", ".join(row["judges"]),
                "prevalence": row["prevalence"],
                "accuracy": ", ".join(
                    "/".join(f"{value:.3f}" for value in parts.values())
                    for parts in row["accuracy"].values()
                ),
                "condition": row["condition"],
            }
            for row in self.found
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the share of sensible trios by judge."""
        return (
            Figure(
                kind="forest",
                title="Share of each judge's trios with a sensible solution",
                columns={"judge": list(self.by_judge), "share": list(self.by_judge.values())},
                roles={"name": "judge", "x": "share"},
            ),
        )


def search(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    limit: int = 20,
) -> SearchResult:
    """Solve every trio, reject those that cannot be independent, and rank the rest by how little
    correlation could do.

    [CE23]_, section 4: a trio without a sensible solution is too correlated. The ranking is by the
    condition number of `sensitivity`. That a trio is sensible is no evidence that it is
    independent: in four of five real data sets the sensible trios were as correlated as the
    rejected ones.

    Examples
    --------
    >>> from tallystick.verbs.judge.papers import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={"w": ("9/10", "4/5"), "x": ("3/4", "3/4"), "y": ("2/3", "4/5")})
    >>> result = search(simulate(point).tally, truth="truth")
    >>> result.trios["sensible"], result.found[0]["judges"]
    (1, ('w', 'x', 'y'))
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels).answered.blind
    trios = solve(ballots)
    counts = trio_counts(trios, ballots)
    _, condition = derivatives(trios)
    good = trios.status == "sensible"
    order = np.argsort(np.where(good, condition, np.inf), kind="stable")[
        : min(limit, int(good.sum()))
    ]
    found = tuple(
        {
            "judges": tuple(ballots.names[j] for j in trios.judges[t]),
            "prevalence": float(trios.balance[t]),
            "accuracy": {
                ballots.names[j]: {
                    key: float(trios.accuracy[t, a, c]) for c, key in enumerate(ballots.keys)
                }
                for a, j in enumerate(trios.judges[t].tolist())
            },
            "condition": float(condition[t]),
        }
        for t in order.tolist()
    )
    members = np.stack([(trios.judges == j).any(axis=1) for j in range(len(ballots.names))])
    shares = members @ good / members.sum(axis=1)
    return SearchResult(
        verdict=search_verdict(int(good.sum()), len(good)),
        decision="undecided",
        n_items=round(ballots.n),
        assumptions=(INDEPENDENCE,),
        warnings=(SHARED_BIAS, SENSIBLE),
        trios=counts,
        found=found,
        by_judge=dict(zip(ballots.names, shares.tolist(), strict=True)),
        alarms=trio_alarms(counts),
    )


# Blind spots: how much a little correlation would spoil the independent answer.


_STEP = 1e-30


@dataclass(frozen=True, kw_only=True, eq=False)
class Sensitivity:
    """First-order damage a unit of pair correlation would do to each trio's prevalence and
    accuracies.

    Parameters
    ----------
    judges
        Trios x 3.
    prevalence
        Trios x 3 x 2: derivative of the prevalence by the correlation of the pair without judge a,
        on each label.
    condition
        Trios: the largest derivative of any number of the point by any of the six pair
        correlations. Large means a blind spot: a judge whose two accuracies sum to nearly one.
    names
        The judges.
    """

    names: tuple[str, ...]
    judges: Ints
    prevalence: Floats
    condition: Floats

    def worst(self) -> tuple[tuple[str, str, str], float]:
        """Return the trio with the largest condition number, and that number."""
        t = int(np.nanargmax(self.condition))
        i, j, k = self.judges[t].tolist()
        return (self.names[i], self.names[j], self.names[k]), float(self.condition[t])


def sensitivity(
    votes: Tally, *, judges: Sequence[str] | None = None, truth: str | None = None
) -> Sensitivity:
    r"""Differentiate every sensible trio's answer by the correlations that it takes to be zero.

    A pair correlation :math:`\Gamma_{ij\ell}` moves the moments by :math:`\partial D_{ij} = P_\ell`
    and, with :math:`p_{k|\ell}` the share of votes β of judge k on label ℓ, :math:`\partial T =
    P_\ell (p_{k|\ell} - f_k)`; the chain rule through (J1) gives the rest. The terms grow like
    :math:`1/(P_{k\alpha} + P_{k\beta} - 1)`: [CE23]_, Eqs 24 and 41.

    Examples
    --------
    >>> from tallystick.verbs.judge.papers import Point, simulate
    >>> good = Point(prevalence="1/2", accuracy={"x": ("9/10", "9/10"), "y": ("9/10", "9/10"), "z": ("9/10", "9/10")})
    >>> poor = Point(prevalence="1/2", accuracy={"x": ("9/10", "9/10"), "y": ("9/10", "9/10"), "z": ("3/5", "1/2")})
    >>> at = [sensitivity(simulate(point).tally, truth="truth").condition[0] for point in (good, poor)]
    >>> [round(float(condition), 1) for condition in at]
    [1.3, 10.0]
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth).blind
    trios = solve(ballots)
    prevalence, condition = derivatives(trios)
    return Sensitivity(
        names=ballots.names, judges=trios.judges, prevalence=prevalence, condition=condition
    )


def derivatives(trios: Trios) -> tuple[Floats, Floats]:
    """Return derivatives of prevalence (trios x 3 x 2) and condition numbers; NaN where a trio is
    not sensible.
    """
    n = len(trios.status)
    good = trios.status == "sensible"
    prevalence, condition = np.full((n, 3, 2), np.nan), np.full(n, np.nan)
    if not good.any():
        return prevalence, condition
    mean, d, third = trios.mean[good], trios.covariance[good], trios.third[good]
    balance, accuracy = trios.balance[good], trios.accuracy[good]
    sign = np.where((1 / d).sum(axis=1) > 0, 1.0, -1.0)
    worst = np.zeros(len(mean))
    for a in range(3):
        for c, weight in enumerate((balance, 1 - balance)):
            # votes 1 of judge a on label c
            share = 1 - accuracy[:, a, 0] if c == 0 else accuracy[:, a, 1]
            step_d = np.zeros_like(d)
            step_d[:, a] = weight
            step_t = weight * (share - mean[:, a])
            moved, point = trio_point(
                mean, d + 1j * _STEP * step_d, third + 1j * _STEP * step_t, sign
            )
            prevalence[good, a, c] = np.imag(moved) / _STEP
            worst = np.maximum(worst, np.abs(prevalence[good, a, c]))
            worst = np.maximum(worst, np.abs(np.imag(point) / _STEP).max(axis=(1, 2)))
    condition[good] = worst
    return prevalence, condition


# Tests made to measure: votes whose judges have exactly a given quality, and exactly no
# correlation.


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation:
    """The smallest test with the quality of *point*: whole numbers of items, and nothing left to
    chance.

    Parameters
    ----------
    point
        What was asked for.
    size
        Fewest items on which it can hold exactly.
    counts
        (votes, true label) to number of items.
    truth
        Name of the column of true labels.
    """

    point: Point
    size: int
    counts: dict[tuple[tuple[Label, ...], Label], int]
    truth: str

    @property
    def tally(self) -> Tally:
        """The counts as a tally, true labels included."""
        rows = list(self.counts)
        columns: dict[str, list[Label]] = {
            name: [votes[j] for votes, _ in rows] for j, name in enumerate(self.point.names)
        }
        columns[self.truth] = [label for _, label in rows]
        return Tally.from_patterns(columns, list(self.counts.values()))

    def stream(self, *, rng: Rng) -> dict[str, Any]:
        """Return the items in random order: every order has exactly the same counts."""
        order = as_rng(rng).permutation(self.size)
        return self._columns(
            np.repeat(np.arange(len(self.counts)), list(self.counts.values()))[order]
        )

    def independent_draws(self, n: int, *, rng: Rng) -> dict[str, Any]:
        """Return *n* items drawn independently from the same point, for contrast: their
        correlations are not zero.
        """
        chance = np.array(list(self.counts.values())) / self.size
        return self._columns(as_rng(rng).choice(len(chance), size=n, p=chance))

    def _columns(self, places: Any) -> dict[str, Any]:
        rows = list(self.counts)
        columns = {
            name: np.array([votes[j] for votes, _ in rows])[places]
            for j, name in enumerate(self.point.names)
        }
        return {**columns, self.truth: np.array([label for _, label in rows])[places]}


def simulate(point: Point, *, truth: str = "truth") -> Simulation:
    """Return the smallest test on which judges have exactly the quality of *point*.

    Its size is the least common multiple of the denominators of all pattern shares [CE23]_,
    supplement 7 (where "GCD of the frequencies" is meant as this). On it, judges of an independent
    point have sample correlations of exactly zero, which independent draws never have.

    Parameters
    ----------
    point
        Prevalence, accuracies and, if wanted, correlations.
    truth
        Name of the column of true labels.

    Examples
    --------
    >>> test = simulate(Point(prevalence="1/2", accuracy={"ann": ("3/4", "3/4"), "bob": ("2/3", 1), "eve": (1, "1/2")}))
    >>> test.size, test.tally.n
    (48, 48)
    >>> sorted(test.stream(rng=1))
    ['ann', 'bob', 'eve', 'truth']
    """
    if truth in point.accuracy:
        raise InputError(f"truth is called {truth!r} and so is a judge: rename one")
    shares = {
        (votes, label): share
        for votes, by_label in shares_by_truth(point).items()
        for label, share in by_label.items()
        if share
    }
    size = lcm(*(share.denominator for share in shares.values()))
    return Simulation(
        point=point,
        size=size,
        counts={key: int(share * size) for key, share in shares.items()},
        truth=truth,
    )
