"""Whether a judge's error depends on a column, such as the length of the answer.

With labels, the error (1 if the vote is wrong) is regressed on the standardised covariate, with
standard errors that hold whatever the variances are (HC3). Without labels, what is regressed is the
judge's disagreement with the majority of the others, less the mean of the same over the other
judges on that item. It is relative: what all judges have in common cancels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.judge.ballots import Floats
from tallystick.judge.parts import CovariateEffect, Number, Range, Share
from tallystick.judge.rates import positive_of
from tallystick.results import Interval, Unknown
from tallystick.stats.multiplicity import holm
from tallystick.values.label import Label, identity, in_order

if TYPE_CHECKING:
    from tallystick.data import Data

__all__ = ["covariate_effects", "robust_slope"]

_LEAST = 10
"""Items below which no slope is given."""


def covariate_effects(data: Data, *, alpha: float) -> tuple[CovariateEffect, ...]:
    """Return how errors and leanings of every judge depend on every covariate.

    p-values are adjusted over judges and covariates (Holm), errors and leanings apart.

    Parameters
    ----------
    data
        Rows with judges, covariates and, where they are known, true labels.
    alpha
        One minus the level of the intervals.
    """
    judges, columns = data.roles.judges, data.roles.covariate
    truth = data.roles.truth
    coded = data.labels(*judges, *([truth] if truth is not None else []))
    numbers = data.numbers(*columns)
    votes = coded.codes[:, : len(judges)].astype(np.int64)
    known = coded.codes[:, -1].astype(np.int64) if truth is not None else np.full(len(votes), -1)
    if known.max(initial=-1) >= 0:
        wrong, lean = _absolute(votes, known, coded.labels, data.meaning.never_true)
        relative = False
    else:
        if len(judges) < 2:
            raise InputError(
                "covariate without labels compares judges with one another, got one judge: give"
                " --truth, or another judge"
            )
        wrong, lean = _relative(votes, coded.labels, data.meaning.never_true)
        relative = True

    found = []
    for c, column in enumerate(columns):
        for j, judge in enumerate(judges):
            error, p = robust_slope(numbers[:, c], wrong[:, j], alpha=alpha)
            side = None if lean is None else robust_slope(numbers[:, c], lean[:, j], alpha=alpha)
            there = np.isfinite(numbers[:, c]) & np.isfinite(wrong[:, j])
            found.append(
                CovariateEffect(
                    judge=judge,
                    covariate=column,
                    error=error,
                    error_p=p,
                    lean=None if side is None else side[0],
                    lean_p=Unknown("there are more than two labels") if side is None else side[1],
                    n_items=int(there.sum()),
                    relative=relative,
                )
            )
    return _adjusted(found)


def robust_slope(x: Floats, y: Floats, *, alpha: float) -> tuple[Share, Number]:
    r"""Return the slope of y per standard deviation of x, with its interval and p-value.

    Least squares with HC3 standard errors,

    .. math:: \widehat{\mathrm{var}}(b) = \frac{\sum_i z_i^2 e_i^2 / (1 - h_i)^2}{(\sum_i z_i^2)^2},
              \qquad h_i = \frac1n + \frac{z_i^2}{\sum z^2}   \tag{J12}

    for the standardised covariate z and residuals e, and Student's t with n - 2 degrees of freedom.

    >>> x = np.arange(40.0)
    >>> slope, p = robust_slope(x, (x > 25).astype(float), alpha=0.05)
    >>> round(slope.estimate, 3), p < 0.001
    (0.394, True)
    """
    there = np.isfinite(x) & np.isfinite(y)
    n = int(there.sum())
    reason = None
    if n < _LEAST:
        reason = f"fewer than {_LEAST} items have what it takes"
    elif np.ptp(x[there]) == 0:
        reason = "the covariate is the same on all items"
    if reason is not None:
        nothing = Unknown(reason)
        return Share(estimate=nothing, interval=nothing), nothing
    from scipy.special import stdtr, stdtrit

    z = (x[there] - x[there].mean()) / x[there].std()
    values = y[there]
    squares = float((z**2).sum())
    slope = float(z @ values) / squares
    residual = values - values.mean() - slope * z
    leverage = 1 / n + z**2 / squares
    variance = float(((z * residual / np.maximum(1 - leverage, 1e-9)) ** 2).sum()) / squares**2
    error = float(np.sqrt(variance))  # (J12)
    if error == 0:
        nothing = Unknown("the judge's errors do not vary")
        return Share(estimate=slope, interval=nothing), nothing
    half = float(stdtrit(n - 2, 1 - alpha / 2)) * error
    ends: Range = Interval(slope - half, slope + half, level=1 - alpha, method="HC3")
    p = min(1.0, 2 * float(stdtr(n - 2, -abs(slope) / error)))
    return Share(estimate=slope, interval=ends), p


def _absolute(
    votes: NDArray[np.int64],
    known: NDArray[np.int64],
    labels: tuple[Label, ...],
    never: tuple[Label, ...],
) -> tuple[Floats, Floats | None]:
    """Return wrong votes on labelled items, and votes less truth where there are two labels."""
    there = (votes >= 0) & (known >= 0)[:, None]
    wrong = np.where(there, (votes != known[:, None]).astype(float), np.nan)
    positive = _positive(labels, never)
    if positive is None:
        return wrong, None
    lean = (votes == positive).astype(float) - (known == positive).astype(float)[:, None]
    return wrong, np.where(there, lean, np.nan)


def _relative(
    votes: NDArray[np.int64], labels: tuple[Label, ...], never: tuple[Label, ...]
) -> tuple[Floats, Floats | None]:
    """Return each judge's disagreement with the majority of the others, less that of the others."""
    size = len(labels)
    cast = np.stack([(votes == c).sum(axis=1) for c in range(size)], axis=1).astype(float)
    away = np.full(votes.shape, np.nan)
    for j in range(votes.shape[1]):
        mine = votes[:, j]
        others = cast - (mine[:, None] == np.arange(size))
        top = others.max(axis=1, keepdims=True)
        winners = (others == top) & (top > 0)
        share = winners / np.maximum(winners.sum(axis=1, keepdims=True), 1)
        use = (mine >= 0) & winners.any(axis=1)
        away[use, j] = 1 - share[use, mine[use]]
    positive = _positive(labels, never)
    lean = None
    if positive is not None:
        lean = _less_others(np.where(votes >= 0, (votes == positive).astype(float), np.nan))
    return _less_others(away), lean


def _less_others(values: Floats) -> Floats:
    """Subtract from each entry the mean of the other entries of its row."""
    seen = np.isfinite(values)
    total = np.where(seen, values, 0.0).sum(axis=1, keepdims=True)
    count = seen.sum(axis=1, keepdims=True)
    others = (total - np.where(seen, values, 0.0)) / np.maximum(count - seen, 1)
    return np.where(seen & (count > 1), values - others, np.nan)


def _positive(labels: tuple[Label, ...], never: tuple[Label, ...]) -> int | None:
    """Return the code of the positive label; None unless two labels are possible."""
    left = {identity(label) for label in never}
    possible = in_order(label for label in labels if identity(label) not in left)
    place = positive_of(possible)
    if place is None:
        return None
    return next(c for c, label in enumerate(labels) if identity(label) == identity(possible[place]))


def _adjusted(found: list[CovariateEffect]) -> tuple[CovariateEffect, ...]:
    """Adjust p-values over all judges and covariates."""
    from dataclasses import replace

    for name in ("error_p", "lean_p"):
        known = [i for i, one in enumerate(found) if isinstance(getattr(one, name), float)]
        if not known:
            continue
        adjusted = holm([getattr(found[i], name) for i in known]).tolist()
        for i, p in zip(known, adjusted, strict=True):
            found[i] = replace(found[i], **{name: p})
    return tuple(found)
