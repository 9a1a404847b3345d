"""Sentences about several judges at once, by linear programming over the true labels of vote
patterns.
"""

from __future__ import annotations

import numpy as np

from tallystick.errors import InputError
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.prices import price_bound

__all__ = ["MOST_CELLS", "best_worst", "worst_best"]

MOST_CELLS = 20_000
"""Patterns x labels beyond which the programme is solved by prices: memory would grow with it."""


def best_worst(
    ballots: Ballots, ranges: dict[int, tuple[float, float]], *, whole: bool = False
) -> float:
    r"""Return the best accuracy that the worst judge can have: at least one judge is no better than
    this.

    With :math:`x_{p\ell}` of the :math:`c_p` items of pattern p truly ℓ, every accuracy is linear
    in x, and

    .. math:: t^* = \max_x \min_j \text{accuracy}_j(x), \qquad \sum_\ell x_{p\ell} = c_p   \tag{J9}

    within the prevalence ranges. Fractions of items only widen the bound; *whole* insists on whole
    ones.

    >>> from tallystick.tally import Tally
    >>> best_worst(Ballots.of(Tally.of({"a": [0, 0, 1, 1], "b": [1, 1, 1, 1]})), {})
    0.75
    """
    return _solve(ballots, ranges, sign=-1.0, whole=whole)


def worst_best(
    ballots: Ballots, ranges: dict[int, tuple[float, float]], *, whole: bool = False
) -> float:
    """Return the worst accuracy that the best judge can have: at least one judge is no worse than
    this.

    >>> from tallystick.tally import Tally
    >>> worst_best(Ballots.of(Tally.of({"a": [0, 0, 1, 1], "b": [1, 1, 1, 1]})), {})
    0.25
    """
    return _solve(ballots, ranges, sign=1.0, whole=whole)


def _solve(
    ballots: Ballots, ranges: dict[int, tuple[float, float]], *, sign: float, whole: bool
) -> float:
    """Minimise sign · t with every accuracy at least t (sign -1) or at most t (sign 1); x first, t
    last.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack, vstack

    n_classes = len(ballots.classes)
    n_patterns, n_judges = ballots.codes.shape
    width = n_patterns * n_classes
    if width > MOST_CELLS and not whole:
        return price_bound(ballots, _class_ends(ballots, ranges), sign=sign)
    size = ballots.voted
    possible = ballots.answered.codes  # a vote that is never true is never right
    pattern, judge = np.nonzero(possible >= 0)
    place = pattern * n_classes + possible[pattern, judge]
    right = csr_array((1 / size[judge], (judge, place)), shape=(n_judges, width))
    column = csr_array(np.full((n_judges, 1), -1.0))
    each = csr_array(
        (np.ones(width), (np.repeat(np.arange(n_patterns), n_classes), np.arange(width))),
        shape=(n_patterns, width),
    )
    of_class = csr_array(
        (np.ones(width), (np.tile(np.arange(n_classes), n_patterns), np.arange(width))),
        shape=(n_classes, width),
    )
    low, high = _class_ends(ballots, ranges)
    accuracy = LinearConstraint(
        hstack([right, column]).tocsr(),
        np.zeros(n_judges) if sign < 0 else np.full(n_judges, -np.inf),
        np.full(n_judges, np.inf) if sign < 0 else np.zeros(n_judges),
    )
    rest = hstack([vstack([each, of_class]), csr_array((n_patterns + n_classes, 1))]).tocsr()
    fixed = LinearConstraint(
        rest, np.concatenate((ballots.counts, low)), np.concatenate((ballots.counts, high))
    )
    least, most = np.zeros(width + 1), np.append(np.repeat(ballots.counts, n_classes), 1.0)
    known = np.flatnonzero(ballots.truth >= 0)
    cells = known * n_classes + ballots.truth[known]
    least[cells] = ballots.counts[known]
    found = milp(
        np.append(np.zeros(width), sign),
        constraints=[accuracy, fixed],
        bounds=Bounds(least, most),
        integrality=np.append(np.full(width, float(whole)), 0.0),
    )
    if not found.success:
        raise InputError(
            f"prevalence ranges and truth leave no possible truth for these votes ({found.message})"
        )
    return float(np.clip(sign * found.fun, 0.0, 1.0))


def _class_ends(ballots: Ballots, ranges: dict[int, tuple[float, float]]) -> tuple[Floats, Floats]:
    n = ballots.n
    ends = [ranges.get(c, (0.0, 1.0)) for c in range(len(ballots.classes))]
    return np.ceil([low * n - 1e-9 for low, _ in ends]), np.floor(
        [high * n + 1e-9 for _, high in ends]
    )
