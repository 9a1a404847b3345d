r"""Judges whose errors are correlated: points, their votes, and what Γ does to a trio.

A point in evaluation space holds the prevalence of α, two accuracies per judge, and the
correlations Γ of every group of judges on each label: :math:`1 + 2n + 2(2^n - n - 1) = 2^{n+1} - 1`
numbers for n judges (38). Votes follow from it exactly (Theorem 3; Theorem 1 if all Γ are 0) and a
labelled sample gives it back exactly. All of that is done in fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm, prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.noisy_judges.trio_quadratic import TrioMoments, Trios
from tallystick.stats.latent_model import FloatArray, IntArray, LatentOptions, fit, log_likelihood
from tallystick.table import Tally
from tallystick.table.cells import Label, in_order

Correlations: TypeAlias = Mapping[tuple[Label, tuple[str, ...]], Fraction]
"""(label, judges) to their Γ on the items of that label."""

_QUICK = LatentOptions(tolerance=1e-6)
_MOST_GROUPED = 10
_MOST_PATTERNS = 12


@dataclass(frozen=True, kw_only=True)
class Point:
    """Everything that decides the vote patterns of binary judges: supplement, definitions 1.4-1.6.

    Parameters
    ----------
    prevalence
        Share of items that are truly α.
    accuracy
        Judge to its accuracies on α and on β.
    labels
        The two labels, α and β.
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
            known = label in self.labels and set(judges) <= set(pairs)
            if not known or len(set(judges)) != len(judges) or len(judges) < 2:
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
        """Return the point that gives the same votes with the labels exchanged (33)-(35).

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


# From a point to the votes: the generating set of Theorems 1 and 3.


def vote_shares(point: Point) -> dict[tuple[Label, ...], Fraction]:
    r"""Return the share of every vote pattern that *point* implies: Theorem 3.

    With :math:`c_i` = "judge i is right", :math:`c_i = p_i + z_i`, and :math:`\Gamma_S` the mean of
    :math:`\prod_{i \in S} z_i` over the items of a label (1 for no judge, 0 for one), the judges in
    A alone are right on a share

    .. math:: \sum_S \Gamma_S (-1)^{|S \setminus A|} \prod_{i \in A \setminus S} p_i
              \prod_{i \notin A \cup S} (1 - p_i)   \tag{J3}

    of the items of that label; the two labels add with their prevalences. Without correlations
    these are (9)-(16), Theorem 1.

    Raises
    ------
    InputError
        No votes have these correlations: a pattern would have a negative share.

    Examples
    --------
    >>> votes = vote_shares(Point(prevalence="1/2", accuracy={"ann": ("3/4", "3/4"), "bob": (1, 1)}))
    >>> votes["a", "a"], votes["b", "a"], sum(votes.values())
    (Fraction(3, 8), Fraction(1, 8), Fraction(1, 1))
    """
    if len(point.names) > _MOST_PATTERNS:
        raise InputError(
            f"{len(point.names)} judges have 2^{len(point.names)} patterns: give at most"
            f" {_MOST_PATTERNS}"
        )
    shares: dict[tuple[Label, ...], Fraction] = {}
    for (pattern, _), share in joint_shares(point).items():
        shares[pattern] = shares.get(pattern, Fraction(0)) + share
    return shares


def joint_shares(point: Point) -> dict[tuple[tuple[Label, ...], Label], Fraction]:
    """Return the share of items of every vote pattern and true label: the two terms of (8)."""
    names, found = point.names, {}
    for pattern in itertools.product(point.labels, repeat=len(names)):
        for side, weight in enumerate((point.prevalence, 1 - point.prevalence)):
            label = point.labels[side]
            right = {name: vote == label for name, vote in zip(names, pattern, strict=True)}
            # (19) prints P_α on its right-hand side: the share within a label has none.
            share = _chance(point, side, right, names)
            for (where, judges), gamma in point.correlations.items():
                if where == label:
                    sign = (-1) ** sum(not right[name] for name in judges)
                    rest = [name for name in names if name not in judges]
                    share += sign * gamma * _chance(point, side, right, rest)
            if share < 0:
                raise InputError(
                    f"correlations: no items can have them, since the votes {pattern} on {label!r}"
                    f" would have the share {share}: make them smaller"
                )
            found[pattern, label] = weight * share
    return found


def _chance(point: Point, side: int, right: Mapping[str, bool], judges: Iterable[str]) -> Fraction:
    accuracies = ((right[name], point.accuracy[name][side]) for name in judges)
    return prod((p if ok else 1 - p for ok, p in accuracies), start=Fraction(1))


def pair_covariance(point: Point, first: str, second: str) -> Fraction:
    r"""Return the covariance of two judges' votes that *point* implies (48)-(51).

    .. math:: D_{ij} = P_\alpha P_\beta \delta_i \delta_j + P_\alpha \Gamma_{ij\alpha} + P_\beta
              \Gamma_{ij\beta}

    It vanishes at a blind spot, :math:`\delta = 0` (42), and where the two Γ cancel the rest (52):
    there the root of Theorem 5 resolves although the judges are correlated.

    >>> even = {"ann": ("3/4", "3/4"), "bob": ("3/4", "3/4")}
    >>> pair_covariance(Point(prevalence="1/2", accuracy=even), "ann", "bob")
    Fraction(1, 16)
    """
    # (51) prints 1 + P_iα + P_iβ.
    deltas = [sum(point.accuracy[name]) - 1 for name in (first, second)]
    weights = (point.prevalence, 1 - point.prevalence)
    pair = tuple(sorted((first, second), key=point.names.index))
    gammas = [point.correlations.get((label, pair), Fraction(0)) for label in point.labels]
    return prod(weights) * prod(deltas) + sum(map(Fraction.__mul__, weights, gammas), Fraction(0))


# From labelled votes to the point, and the smallest test that has a given one.


def correlation(right: npt.ArrayLike, counts: Sequence[int]) -> Fraction:
    r"""Return Γ of judges on the items of one label: the mean of :math:`\prod_i (c_i - p_i)`.

    S (9), S (10) and (20) for any number of judges, with the accuracies p of the same items, so
    that independence means 0. For three judges the mean of the product of votes is
    :math:`\Gamma_{ijk} + p_i \Gamma_{jk} + p_j \Gamma_{ik} + p_k \Gamma_{ij} + p_i p_j p_k`: (31)
    has the wrong signs.

    Parameters
    ----------
    right
        Patterns x judges: whether each is right.
    counts
        Items of each pattern.

    Examples
    --------
    >>> correlation([[True, True], [True, False], [False, False]], [1, 1, 1])
    Fraction(1, 9)
    """
    rows = np.asarray(right, dtype=np.bool_).tolist()
    total = sum(counts)
    if not total:
        raise InputError("counts: there is no item, so a correlation has no value")
    weighted = list(zip(counts, rows, strict=True))
    means = [
        Fraction(sum(count for count, row in weighted if row[j]), total)
        for j in range(len(rows[0]))
    ]
    products = (
        count * prod((int(ok) - p for ok, p in zip(row, means, strict=True)), start=Fraction(1))
        for count, row in weighted
    )
    return sum(products, Fraction(0)) / total


def sample_point(votes: Tally, *, truth: str, order: int | None = None) -> Point:
    """Return the exact point of labelled binary votes: prevalence, accuracies, correlations.

    Parameters
    ----------
    votes
        Judges who vote on every labelled item, and the column of true labels.
    truth
        Name of that column; items where it is blank are left out.
    order
        Up to how many judges a correlation may have; by default all, for at most ten judges.

    Examples
    --------
    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1], "gold": [0, 0, 1, 0]})
    >>> point = sample_point(votes, truth="gold")
    >>> point.prevalence, point.accuracy["ann"], point.correlations[0, ("ann", "bob")]
    (Fraction(3, 4), (Fraction(2, 3), Fraction(1, 1)), Fraction(1, 9))
    """
    names = [name for name in votes.names if name != truth]
    if order is None and len(names) > _MOST_GROUPED:
        raise InputError(f"{len(names)} judges have 2^{len(names)} correlations: pass order=2 or 3")
    if votes.weighted:
        raise InputError("sample_point counts items, and these votes are weighted")
    columns = zip(
        votes.counts.tolist(), votes.column(truth), *map(votes.column, names), strict=True
    )
    rows = [row for row in columns if row[0] and row[1] is not None]
    labels = in_order(label for row in rows for label in row[1:])
    if len(labels) != 2 or {row[1] for row in rows} != set(labels):
        raise InputError(
            "a point has two labels, items of each, and a vote of every judge on each of them; got"
            f" labels {list(labels)}"
        )

    accuracies, correlations = [], {}
    for label in labels:
        counts = [row[0] for row in rows if row[1] == label]
        right = np.array([[vote == label for vote in row[2:]] for row in rows if row[1] == label])
        ones = (np.array(counts, dtype=np.int64) @ right).tolist()
        accuracies.append([Fraction(one, sum(counts)) for one in ones])
        for size in range(2, (order or len(names)) + 1):
            for group in itertools.combinations(range(len(names)), size):
                gamma = correlation(right[:, group], counts)
                correlations[label, tuple(names[j] for j in group)] = gamma
    on_alpha = sum(row[0] for row in rows if row[1] == labels[0])
    return Point(
        prevalence=Fraction(on_alpha, sum(row[0] for row in rows)),
        accuracy=dict(zip(names, zip(*accuracies, strict=True), strict=True)),
        labels=(labels[0], labels[1]),
        correlations=correlations,
    )


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

    Its size is the least common multiple of the denominators of all pattern shares; supplement 7
    says "GCD of the frequencies". On it, judges of an independent point have sample correlations of
    exactly zero, which independent draws never have.

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
    shares = {key: share for key, share in joint_shares(point).items() if share}
    size = lcm(*(share.denominator for share in shares.values()))
    return Simulation(
        point=point,
        size=size,
        counts={key: int(share * size) for key, share in shares.items()},
        truth=truth,
    )


# The surface that must contain the truth: a self-check, a constraint for foreign estimates, never
# a gauge of correlation.


def variety_distance(shares: npt.ArrayLike, prevalence: float, accuracy: npt.ArrayLike) -> float:
    r"""Return how far an estimate is from the containing variety of Theorem 4.

    Whatever the correlations, the true point satisfies, for every judge,

    .. math:: P_\alpha (P_{i\alpha} - f_{i\alpha}) = P_\beta (P_{i\beta} - f_{i\beta})   \tag{J5}

    which is (22) and (45); (23) and (46) follow from it. Returned is the root of the summed squares
    of the differences of both sides. (J5) is the share of votes α rearranged, and the two points of
    Theorem 2 satisfy it by construction: for them the distance is zero, correlated or not, so it is
    no gauge of correlation, against section 5 and Figure 3. It judges *other* estimates.

    Parameters
    ----------
    shares
        Each judge's share of votes α.
    prevalence
        Of α, as estimated.
    accuracy
        Judges x 2, on α and on β, as estimated.

    Examples
    --------
    >>> variety_distance([0.5, 0.25], 0.5, [(0.8, 0.8), (0.5, 1.0)])
    0.0
    """
    f, (a, b) = np.asarray(shares, dtype=np.float64), np.asarray(accuracy, dtype=np.float64).T
    gaps = prevalence * (a - f) - (1 - prevalence) * (b - (1 - f))
    return float(np.sqrt((gaps**2).sum()))


def variety_projection(
    shares: npt.ArrayLike, prevalence: float, accuracy: npt.ArrayLike
) -> FloatArray:
    r"""Return the nearest accuracies (judges x 2) that the votes allow, at the same prevalence.

    At a fixed prevalence (J5) is one line per judge, so the nearest point is a closed form; a line
    that leaves the unit square is followed to the nearest point inside. The prevalence is kept:
    moving it too would let one judge's error spoil all the others. Parameters are those of
    :func:`variety_distance`.

    Examples
    --------
    >>> variety_projection([0.5, 0.25], 0.5, [(0.9, 0.7), (0.5, 0.9)]).round(3).tolist()
    [[0.8, 0.8], [0.45, 0.95]]
    """
    if not 0 < prevalence < 1:
        raise InputError(f"prevalence must be in (0, 1), got {prevalence!r}")
    f, (a, b) = np.asarray(shares, dtype=np.float64), np.asarray(accuracy, dtype=np.float64).T
    p, q = prevalence, 1 - prevalence
    # P a - Q b = P f - Q (1 - f): go along the normal (P, -Q), then stay on the line in the square.
    right = p * f - q * (1 - f)
    gap = (p * a - q * b - right) / (p * p + q * q)
    new_a = np.clip(a - p * gap, np.maximum(0.0, right / p), np.minimum(1.0, (right + q) / p))
    return np.stack((new_a, np.clip((p * new_a - right) / q, 0.0, 1.0)), axis=1)


# Blind spots: how much a little correlation would spoil the trio's answer, and the search by it.


@dataclass(frozen=True, eq=False)
class BlindSpots:
    """First-order damage that a unit of pair correlation would do to each trio.

    Parameters
    ----------
    prevalence
        Trios x 3 x 2: slope of the prevalence by Γ of the pair without judge a, on each label.
    condition
        Trios: the largest slope of any number of the point by any of the six Γ.
    """

    prevalence: FloatArray
    condition: FloatArray


def blind_spots(trios: Trios) -> BlindSpots:
    r"""Return the slopes of every trio's answer by the correlations that it takes to be zero.

    With i, j the correlated pair and k the third judge, :math:`\Gamma_{ij\alpha}` moves

    .. math:: P_\alpha: -\frac{P_\alpha}{\delta_i \delta_j}, \quad P_{i\alpha}: \frac1{\delta_j},
              \quad P_{j\alpha}: \frac1{\delta_i}, \quad
              P_{k\beta}: -\frac{P_\alpha}{P_\beta} \frac{\delta_k}{\delta_i \delta_j}   \tag{J13}

    and nothing else; :math:`\Gamma_{ij\beta}` does the same with the labels exchanged. (24) and
    (41) print :math:`1/(P_{k\ell} - f_{k\ell})` and :math:`1/\delta_k`: the blind judge that harms
    is one of the correlated pair, not the third one. NaN where a trio is not sensible.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.trio_quadratic import solve_trios
    >>> even = solve_trios(list(itertools.product([0, 1], repeat=3)), [7, 3, 3, 3, 3, 3, 3, 7])
    >>> blind_spots(even).prevalence[0, 0].round(6), blind_spots(even).condition.round(6)
    (array([-2.,  2.]), array([2.]))
    """
    good = trios.status == "sensible"
    prevalence = np.full((len(good), 3, 2), np.nan)
    condition = np.full(len(good), np.nan)
    first = trios.balance[good]
    delta = trios.accuracy[good].sum(axis=2) - 1
    worst = np.abs(1 / delta).max(axis=1)
    for k, (i, j) in enumerate(((1, 2), (0, 2), (0, 1))):
        for side, (mine, other) in enumerate(((first, 1 - first), (1 - first, first))):
            slope = mine / (delta[:, i] * delta[:, j])  # (J13)
            prevalence[good, k, side] = slope if side else -slope
            third = np.abs(slope * delta[:, k]) / other
            worst = np.maximum(worst, np.maximum(np.abs(slope), third))
    condition[good] = worst
    return BlindSpots(prevalence, condition)


def nearly_independent(trios: Trios, *, limit: int = 20) -> IntArray:
    """Return the places of the sensible trios, those that correlation could harm least first.

    Section 4 rejects trios without a sensible solution as too correlated, and section 5 ranks the
    others by their distance from the containing variety, which is rounding error. Here they are
    ranked by the condition number of :func:`blind_spots`. That a trio is sensible is no evidence
    that it is independent: in four of five real data sets the sensible trios were as correlated as
    the rejected ones.
    """
    good = trios.status == "sensible"
    condition = np.where(good, blind_spots(trios).condition, np.inf)
    return np.argsort(condition, kind="stable")[: min(limit, int(good.sum()))]


def feature_partition(n_features: int, *, judges: int = 3, each: int = 3, rng: Rng) -> IntArray:
    """Return judges x *each* features, all different: a candidate ensemble of section 4.1.

    Judges that are trained on disjoint features (and items) are as independent as training can make
    them. The search draws 300 partitions, and keeps those whose trios are sensible.

    >>> sorted(feature_partition(9, rng=1).ravel().tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 8]
    """
    if n_features < judges * each:
        raise InputError(f"{judges} judges of {each} features each need {judges * each} features")
    return as_rng(rng).permutation(n_features)[: judges * each].reshape(judges, each)


# What does detect dependence: not the variety, but four judges or more.


def independence_test(
    codes: npt.ArrayLike, counts: npt.ArrayLike, *, n_labels: int = 2
) -> tuple[float, int, float]:
    r"""Return G², its degrees of freedom and the p-value of independent errors of all these judges.

    Three judges can be explained whatever they vote. J judges are over-identified from four on:
    with L labels the :math:`L^J - 1` pattern shares have :math:`(L - 1) + J L (L - 1)` parameters,
    and

    .. math:: G^2 = 2 \sum_p O_p \log (O_p / E_p)   \tag{J10}

    is about chi-squared on the difference (6 for four judges and two labels) if errors are
    independent given the label. A bias that all judges share is absorbed into what is taken for the
    truth, and nothing without labels detects it. Items without a vote of each judge are left out.

    >>> patterns = list(itertools.product([0, 1], repeat=4))
    >>> independence_test(patterns, [20, 9, 9, 7, 9, 7, 7, 9, 9, 7, 7, 9, 7, 9, 9, 20])[1]
    6
    """
    from scipy.special import chdtrc

    table, weights = np.asarray(codes), np.asarray(counts, dtype=np.float64)
    n_judges = table.shape[1]
    freedom = n_labels**n_judges - n_labels - n_judges * n_labels * (n_labels - 1)
    if freedom <= 0:
        raise NotIdentifiable(
            f"{n_judges} judges can be explained by independent errors whatever they vote"
        )
    there = (table >= 0).all(axis=1) & (weights > 0)
    patterns, member = np.unique(table[there], axis=0, return_inverse=True)
    seen = np.bincount(member.ravel(), weights=weights[there])
    fitted = fit(patterns, seen, n_classes=n_labels, options=_QUICK)
    expected = seen.sum() * np.exp(log_likelihood(fitted.model, patterns))
    g2 = max(0.0, 2 * float((seen * np.log(seen / expected)).sum()))
    return g2, freedom, float(chdtrc(freedom, g2))


def error_correlation(moments: TrioMoments) -> FloatArray:
    r"""Return the estimated error correlation of every pair given the label; 1 on the diagonal.

    Without extra correlation a tetrad gives :math:`D_{ij} = D_{ik} D_{jl} / D_{kl}`. What is left
    over, the median over k, l, is scaled by the variances that remain within labels.
    """
    mean, d = moments.mean, moments.covariance
    n = mean.size
    between, expected = np.full(n, np.nan), np.full((n, n), np.nan)
    with np.errstate(all="ignore"):
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            ratio = d[i, rest][:, None] * d[i, rest][None, :] / d[np.ix_(rest, rest)]
            between[i] = np.nanmedian(ratio[np.triu_indices(n - 1, 1)])
            for j in range(i + 1, n):
                others = np.delete(np.arange(n), [i, j])
                tetrad = d[i, others][:, None] * d[j, others][None, :] / d[np.ix_(others, others)]
                tetrad[np.eye(n - 2, dtype=bool)] = np.nan
                expected[i, j] = expected[j, i] = np.nanmedian(tetrad)
        within = np.maximum(mean * (1 - mean) - np.clip(between, 0, mean * (1 - mean)), 1e-6)
        rho = np.clip((d - expected) / np.sqrt(np.outer(within, within)), -1, 1)
    np.fill_diagonal(rho, 1.0)
    return np.asarray(rho)
