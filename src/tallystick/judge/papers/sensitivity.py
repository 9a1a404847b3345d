"""Blind spots: how much a little correlation would spoil the independent answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.judge.ballots import Ballots, Floats, Ints
from tallystick.judge.independent import solve
from tallystick.stats.latent import Trios, trio_point
from tallystick.tally import Tally

__all__ = ["Sensitivity", "sensitivity"]

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
    >>> from tallystick.judge.papers import Point, simulate
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
