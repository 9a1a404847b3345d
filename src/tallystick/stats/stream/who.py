r"""Who or what changed? Every explanation is tested, and all that survive are named.

Counts of vote patterns before the change (a, n_a items) and after it (b, n_b items) are compared.

*Judge j alone*: the joint votes of the other judges are as before, by a chi-square test of
homogeneity (a missing vote is a value). This needs no model.

*Mix of labels*: b is a reweighted by :math:`w(v) = \sum_y (x_y/\pi_y)\, q_y(v)`, with q the
Dawid-Skene posterior fitted on a, :math:`\pi` its mean, and x by EM on b,

.. math:: X^2 = \sum_v \frac{(b_v - E_v)^2}{E_v (1 + n_b w_v / n_a)}, \qquad
          E_v = n_b\, p_a(v)\, w(v)   \tag{S6}

with cells - K degrees of freedom.

*Items harder or easier*: a share :math:`\varepsilon` of the votes became fair draws,

.. math:: E = n_b ((1-\varepsilon) p_a + \varepsilon r), \qquad
          \mathrm{var} = E + n_b^2 (1-\varepsilon)^2 p_a / n_a   \tag{S7}

where r draws every vote evenly among the labels and leaves missing votes as they were; the
:math:`\varepsilon` in [-.5, .95] with the least :math:`X^2` is taken, with cells - 2 degrees of
freedom.

Cells expected under 5 become one cell; while that is under 5, the next smallest joins it; patterns
unseen before go there too. With two judges Dawid-Skene is not identified, so a change of mix
cannot be tested. One judge alone allows no name at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Unknown
from tallystick.stats.latent.unreadable import fit_plain
from tallystick.stats.latent.votes import Votes, as_votes

__all__ = ["Explanation", "Explanations", "explain"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
IntArray: TypeAlias = npt.NDArray[np.int64]

_LEAST = 5.0  # expected count of a cell
_RULED_OUT = 0.01


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """One thing that may have changed.

    Parameters
    ----------
    kind
        ``judge`` (one judge alone), ``mix`` (shares of the labels) or ``difficulty``.
    judge
        Which judge, for ``judge``.
    p_value
        Of the test that nothing else changed, or why it cannot be tested.
    size
        For ``mix`` the new shares of the labels; for ``difficulty`` one number, the share of votes
        that became fair draws (negative: items got easier).
    """

    kind: Literal["judge", "mix", "difficulty"]
    judge: int | None = None
    p_value: float | Unknown
    size: tuple[float, ...] = ()

    @property
    def kept(self) -> bool:
        """True if it was tested and not ruled out at .01."""
        return not isinstance(self.p_value, Unknown) and self.p_value >= _RULED_OUT


@dataclass(frozen=True, kw_only=True)
class Explanations:
    """All explanations of a change.

    Parameters
    ----------
    tested
        Every explanation, with its p-value or the reason why it has none.
    """

    tested: tuple[Explanation, ...]

    @property
    def kept(self) -> tuple[Explanation, ...]:
        """Explanations that are not ruled out, the likeliest first."""
        left = [one for one in self.tested if one.kept]
        return tuple(sorted(left, key=lambda one: -float(_number(one.p_value))))

    @property
    def likely(self) -> Explanation | None:
        """The explanation with the largest p-value among those kept; None if none is."""
        return self.kept[0] if self.kept else None

    @property
    def several(self) -> bool:
        """True if something was tested and everything is ruled out: more than one thing changed."""
        return not self.kept and any(not isinstance(one.p_value, Unknown) for one in self.tested)


def explain(
    codes: npt.ArrayLike,
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    *,
    n_labels: int,
    n_votes: int | None = None,
) -> Explanations:
    """Test what may explain the difference between two sets of pattern counts.

    Parameters
    ----------
    codes
        Patterns x judges: all patterns of both sets; -1 is a missing vote.
    before, after
        Items that show each pattern.
    n_labels
        Number of labels that can be true.
    n_votes
        Number of possible votes, where some are never true; by default *n_labels*.

    Examples
    --------
    The first of three judges got worse.

    >>> import itertools
    >>> codes = list(itertools.product([0, 1], repeat=3))
    >>> found = explain(codes, [610, 50, 60, 30, 40, 45, 55, 610],
    ...                 [175, 17, 20, 45, 42, 15, 18, 168], n_labels=2)
    >>> found.likely.kind, found.likely.judge, len(found.kept)
    ('judge', 0, 1)
    """
    patterns = np.asarray(codes)
    a, b = (np.asarray(x, dtype=np.float64) for x in (before, after))
    if a.shape != patterns.shape[:1] or b.shape != a.shape:
        raise InputError(
            f"before and after must have one count per pattern ({len(patterns)}), "
            f"got {a.shape} and {b.shape}"
        )
    if a.sum() == 0 or b.sum() == 0:
        raise InputError("before and after must each hold at least one item")
    votes = as_votes(patterns, a, n_classes=n_labels, n_votes=n_votes)
    if votes.n_judges < 2:
        return Explanations(tested=())
    judges = [
        Explanation(kind="judge", judge=j, p_value=_others_unchanged(votes, a, b, j))
        for j in range(votes.n_judges)
    ]
    return Explanations(
        tested=(*judges, _mix(votes, a, b, n_labels), _difficulty(votes, a, b, n_labels))
    )


def _others_unchanged(votes: Votes, a: FloatArray, b: FloatArray, judge: int) -> float | Unknown:
    """Return the p-value that the joint votes of all judges but one are as before."""
    rest, place = np.unique(np.delete(votes.codes, judge, axis=1), axis=0, return_inverse=True)
    x, y = np.zeros((2, len(rest)))
    np.add.at(x, place.ravel(), a)
    np.add.at(y, place.ravel(), b)
    both, n_x, n_y = x + y, x.sum(), y.sum()
    fewest = min(n_x, n_y) / (n_x + n_y) * both
    merged = _merged(fewest, x == 0)

    total = _pool(both, merged)
    e_x, e_y = total * n_x / (n_x + n_y), total * n_y / (n_x + n_y)
    statistic = ((_pool(x, merged) - e_x) ** 2 / e_x + (_pool(y, merged) - e_y) ** 2 / e_y).sum()
    return _p_value(float(statistic), len(total) - 1)


def _mix(votes: Votes, a: FloatArray, b: FloatArray, n_labels: int) -> Explanation:
    if votes.n_judges < 3:
        reason = "two judges cannot tell a new mix of labels from a judge that changed"
        return Explanation(kind="mix", p_value=Unknown(reason))
    try:
        q = fit_plain(votes, n_labels).posterior
    except NotIdentifiable as error:  # a third judge that cast no vote before the change
        return Explanation(kind="mix", p_value=Unknown(str(error)))
    n_a, n_b = a.sum(), b.sum()
    pi = np.maximum(a @ q / n_a, 1e-12)

    # EM for the new shares x: each step cannot lower the likelihood of b.
    x = pi.copy()
    for _ in range(1000):
        odds = q * (x / pi)
        new = b @ (odds / odds.sum(axis=1, keepdims=True)) / n_b
        done = np.abs(new - x).max() < 1e-10
        x = new
        if done:
            break

    w = q @ (x / pi)
    expected = n_b * a / n_a * w
    merged = _merged(expected, a == 0)
    cells = _pool(expected, merged)
    variance = _pool(expected * (1 + n_b * w / n_a), merged)  # (S6)
    statistic = ((_pool(b, merged) - cells) ** 2 / variance).sum()
    p_value = _p_value(float(statistic), len(cells) - n_labels)
    return Explanation(kind="mix", p_value=p_value, size=tuple(float(share) for share in x))


def _difficulty(votes: Votes, a: FloatArray, b: FloatArray, n_labels: int) -> Explanation:
    n_a, n_b = a.sum(), b.sum()
    fair = _fair_draws(votes, a, n_labels)

    # Patterns that nobody showed are one more pattern: fair draws spread over them too.
    p = np.append(a / n_a, 0.0)
    r = np.append(fair, max(0.0, 1 - fair.sum()))
    counts = np.append(b, 0.0)

    # The cells depend on epsilon, so they are made at 0 first and once more at the first answer.
    epsilon, statistic, n_cells = 0.0, np.inf, 0
    for _ in range(2):
        merged = _merged(n_b * np.maximum((1 - epsilon) * p + epsilon * r, 0), p == 0)
        parts = tuple(_pool(x, merged) for x in (p, r, counts))
        n_cells = len(parts[0])
        epsilon, statistic = _least_squares(*parts, n_a=float(n_a), n_b=float(n_b))
    p_value = _p_value(statistic, n_cells - 2)
    return Explanation(kind="difficulty", p_value=p_value, size=(epsilon,))


def _fair_draws(votes: Votes, a: FloatArray, n_labels: int) -> FloatArray:
    """Return r: votes that are labels become fair draws, missing and extra votes stay."""
    drawn = (votes.codes >= 0) & (votes.codes < n_labels)
    fixed = np.where(drawn, -2, votes.codes)
    _, place = np.unique(fixed, axis=0, return_inverse=True)
    share = np.bincount(place.ravel(), weights=a) / a.sum()
    return np.asarray(share[place.ravel()] * float(n_labels) ** -drawn.sum(axis=1))


def _least_squares(
    p: FloatArray, r: FloatArray, counts: FloatArray, *, n_a: float, n_b: float
) -> tuple[float, float]:
    """Return the epsilon of (S7) with the least chi-square, and that chi-square."""
    from scipy.optimize import minimize_scalar

    def chi_square(epsilon: FloatArray | float) -> FloatArray:
        e = np.asarray(epsilon, dtype=np.float64)[..., None]
        expected = n_b * ((1 - e) * p + e * r)
        variance = expected + n_b**2 * (1 - e) ** 2 * p / n_a
        possible = (expected > 0).all(axis=-1)
        safe = np.where(variance > 0, variance, 1.0)
        return np.where(possible, ((counts - expected) ** 2 / safe).sum(axis=-1), np.inf)

    # A grid finds the right valley, a bounded search its bottom.
    grid = np.linspace(-0.5, 0.95, 146)
    values = chi_square(grid)
    best = int(values.argmin())
    if not np.isfinite(values[best]):
        return 0.0, np.inf
    ends = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
    found = minimize_scalar(
        lambda e: min(float(chi_square(float(e))), 1e300), bounds=ends, method="bounded"
    )
    if float(found.fun) < values[best]:
        return float(found.x), float(found.fun)
    return float(grid[best]), float(values[best])


def _merged(expected: FloatArray, unseen: BoolArray) -> BoolArray:
    """Return which patterns form the one merged cell."""
    merged = (expected < _LEAST) | unseen
    order = np.argsort(np.where(merged, np.inf, expected), kind="stable")
    for place in order:
        if not merged.any() or expected[merged].sum() >= _LEAST or merged.all():
            break
        merged[place] = True
    return np.asarray(merged)


def _pool(values: FloatArray, merged: BoolArray) -> FloatArray:
    """Return one value per cell: the merged cell last."""
    alone = values[~merged]
    return np.append(alone, values[merged].sum()) if merged.any() else alone


def _p_value(statistic: float, degrees: int) -> float | Unknown:
    if degrees < 1:
        return Unknown("there are too few items or patterns to test it")
    from scipy.special import chdtrc

    return float(chdtrc(degrees, statistic)) if np.isfinite(statistic) else 0.0


def _number(p_value: float | Unknown) -> float:
    return -1.0 if isinstance(p_value, Unknown) else p_value
