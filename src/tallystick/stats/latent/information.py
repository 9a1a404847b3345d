r"""How sure the estimates are under the model: scores, information, intervals on the logit scale.

Each row of probabilities (the balance; judge j's votes given class y) is written as a softmax of
free coordinates :math:`\eta`, with its largest entry as reference. With responsibilities
:math:`r_{iy}` the score of pattern i is

.. math::
    s_{i,y} = r_{iy} - \pi_y, \qquad
    s_{i,jyv} = r_{iy}\,(1[x_{ij} = v] - C_{jyv})\,1[x_{ij} \ne -1]   \tag{L4}

With the score :math:`s_i^y` that pattern i would have if its class were known to be y, the observed
information is

.. math::
    I = J + \sum_i w_i s_i s_i' - \sum_i w_i \sum_y r_{iy} s_i^y s_i^{y\prime}   \tag{L5}

where J, block by block :math:`n\,(\mathrm{diag}\,p - p p')`, is what complete data would tell. The
middle term alone is the *outer* form. For three binary judges, where the fit is saturated, both
have the inverse that the delta method gives on the multinomial frequencies; with nearly as many
parameters as items the outer form is far too wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent.em import Problem
from tallystick.stats.latent.fit import LatentFit
from tallystick.stats.latent.model import LatentModel, pack, posterior, spread
from tallystick.stats.latent.votes import FloatArray, IntArray

__all__ = ["LatentInformation", "information"]

MOST_PARAMETERS = 10_000
"""Their matrix takes 800 MB; nobody means a model of more."""

_BOUNDARY = 1e-6  # a probability this near to 0 or 1 has no interval of this kind
# smallest eigenvalue of the information, scaled to unit diagonal, that is still inverted
_SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class LatentInformation:
    """Scores and covariance of the free softmax coordinates, and the intervals that follow.

    All intervals are valid under conditional independence only: off the model they fail, however
    narrow they are.

    Parameters
    ----------
    model
        The fitted model.
    position
        One row a coordinate: its class and its column (0 for the balance, then every judge's votes
        side by side).
    scores
        Patterns x coordinates, for one item of each pattern.
    information, covariance
        Over coordinates; the covariance is the inverse.
    unsupported
        Judges x classes x votes: True where an estimated probability lies on the boundary (0 or 1)
        or rests on no vote. It has no interval here, and the others are taken with it held fixed.
    """

    model: LatentModel
    position: IntArray
    scores: FloatArray
    information: FloatArray
    covariance: FloatArray
    unsupported: npt.NDArray[np.bool_]

    def balance_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper ends for the class balance; NaN where it was known or a class is
        empty.
        """
        return self.interval(self.model.balance, self._jacobian()[:, 0], level)

    def confusion_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper ends, judges x classes x votes; NaN where known beforehand or
        unsupported.
        """
        jacobian = self._jacobian()[:, 1:]
        flat = pack(self.model)[:, 1:]
        ends = self.interval(flat.ravel(), jacobian.reshape(flat.size, -1), level)
        low, high = (spread(end.reshape(flat.shape), self.model.n_votes) for end in ends)
        nothing = self.unsupported | (np.arange(low.shape[2]) >= self.model.n_votes[:, None, None])
        return np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)

    def accuracy_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        r"""Return lower and upper ends for each judge's accuracy :math:`\sum_y \pi_y C_{jyy}` on a
        new item.

        NaN for a judge with an unsupported entry among its own accuracies: its doubt is not known.
        """
        model, jacobian = self.model, self._jacobian()
        start = 1 + np.cumsum(model.n_votes) - model.n_votes
        gradient = np.zeros((model.n_judges, self.position.shape[0]))
        doubtful = np.zeros(model.n_judges, dtype=np.bool_)
        for y in range(model.n_classes):
            named = np.flatnonzero(model.n_votes > y)
            gradient[named] += model.confusion[named, y, y][:, None] * jacobian[y, 0]
            gradient[named] += model.balance[y] * jacobian[y, start[named] + y]
            doubtful[named] |= self.unsupported[named, y, y] & (model.balance[y] > _BOUNDARY)
        low, high = self.interval(model.accuracy, gradient, level)
        return np.where(doubtful, np.nan, low), np.where(doubtful, np.nan, high)

    def interval(
        self, estimate: FloatArray, gradient: FloatArray, level: float = 0.95
    ) -> tuple[FloatArray, FloatArray]:
        """Return logit intervals for probabilities with this *gradient* (estimates x coordinates).

        NaN where an estimate is 0 or 1 or depends on no coordinate.
        """
        if not 0 < level < 1:
            raise InputError(f"level must be in (0, 1), got {level!r}")
        from scipy.special import expit, logit

        error = np.sqrt(((gradient @ self.covariance) * gradient).sum(axis=1))
        inside = (estimate > 0) & (estimate < 1) & (error > 0)
        p = np.where(inside, estimate, 0.5)
        half = NormalDist().inv_cdf((1 + level) / 2) * error / (p * (1 - p))
        low, high = (np.where(inside, expit(logit(p) + sign * half), np.nan) for sign in (-1, 1))
        return low, high

    def posterior_gradient(self, codes: npt.ArrayLike, direction: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_i \sum_y d_{iy}\, \partial P(y \mid x_i) / \partial \eta` for
        *direction* d.

        With G this gradient, a statistic of the posteriors has label-model variance :math:`G'
        I^{-1} G`, and :math:`G' I^{-1} s_i` is what pattern i contributes to its error.
        """
        p = posterior(self.model, codes)
        slope = p * (direction - (direction * p).sum(axis=1, keepdims=True))
        return np.asarray(_scores(slope, np.asarray(codes), self.position, self.model).sum(axis=0))

    def _jacobian(self) -> FloatArray:
        """Return the derivative of every probability (classes x columns) by every coordinate."""
        table = pack(self.model)
        part = _parts(self.model)
        out = np.zeros((*table.shape, self.position.shape[0]))
        for d, (y, m) in enumerate(self.position):
            if m == 0:
                out[:, 0, d] = table[:, 0] * ((np.arange(table.shape[0]) == y) - table[y, 0])
            else:
                mine = part == part[m]
                out[y, mine, d] = table[y, mine] * ((np.flatnonzero(mine) == m) - table[y, m])
        return out


def information(
    fit: LatentFit, *, kind: Literal["observed", "outer"] = "observed"
) -> LatentInformation:
    """Return scores, information and intervals of a fit, under conditional independence.

    A prior counts as the pseudo-votes that it is: minus the second derivatives of its log density
    are added.

    Parameters
    ----------
    fit
        A converged fit.
    kind
        ``observed``, minus the second derivatives of the log likelihood (L5), or ``outer``, the sum
        of outer products of scores. They agree for few judges; for 39 judges on 108 items the outer
        form is 2.6 times as wide and often singular, while the observed one covers as promised
        (docs/coverage/latent.md).

    Raises
    ------
    NotIdentifiable
        The information is singular or nearly so: the votes do not pin all parameters down. The
        message names the parameter in which the flat direction is steepest.

    Examples
    --------
    >>> from tallystick.stats.latent import LatentModel, fit, simulate
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> codes, _ = simulate(model, 2000, rng=3)
    >>> low, high = information(fit(codes, [1] * 2000, n_classes=2)).accuracy_interval()
    >>> bool((low < 0.85).all() and (high > 0.85).all() and (high - low < 0.1).all())
    True
    """
    model = fit.model
    problem = Problem.of(fit.votes, model.n_classes, fit.options)
    position, unsupported = _coordinates(fit, problem.known)
    if not position.size:
        raise NotIdentifiable(
            "every parameter is known or on the boundary: there is nothing to be unsure of"
        )
    if len(position) > MOST_PARAMETERS:
        raise NotIdentifiable(
            f"{model.n_classes} labels and {model.n_judges} judges have {len(position):,}"
            f" parameters, more than {MOST_PARAMETERS:,}: leave out a column that names items, or"
            " merge labels"
        )
    scores = _scores(fit.posterior, fit.votes.codes, position, model)
    scores[fit.votes.weights == 0] = 0.0
    matrix = scores.T @ (fit.votes.weights[:, None] * scores)
    matrix += _complete(problem.prior, position, model)
    if kind == "observed":
        matrix += _complete(problem.counts(fit.posterior.T), position, model) - _spread_of_scores(
            fit, position
        )
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    flat = int(scale.argmin())
    if scale[flat] > 0:
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        flat = int(np.abs(vectors[:, 0]).argmax())
        if values[0] > _SINGULAR:
            inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
            return LatentInformation(model, position, scores, matrix, inverse, unsupported)
    y, m = (int(k) for k in position[flat])
    where = (
        f"the balance of class {y}" if m == 0 else f"judge {int(_parts(model)[m]) - 1} on class {y}"
    )
    raise NotIdentifiable(
        f"the information is singular, most of all for {where}: use more items, fewer judges, some"
        " truth or a known class balance, or the parametric bootstrap"
    )


def _complete(counts: FloatArray, position: IntArray, model: LatentModel) -> FloatArray:
    r"""Return the information of complete data with these *counts* (classes x columns): n (diag p -
    p p') a row.
    """
    y, m = position.T
    part = _parts(model)
    p = pack(model)[y, m]
    # classes x parts
    rows = np.add.reduceat(counts, np.flatnonzero(np.diff(part, prepend=-1)), axis=1)
    rows[:, 0] = counts[:, 0].sum()
    same_row = (part[m][:, None] == part[m]) & ((y[:, None] == y) | (m == 0))
    return np.asarray(
        np.where(same_row, rows[y, part[m]][:, None] * (np.diag(p) - np.outer(p, p)), 0.0)
    )


def _spread_of_scores(fit: LatentFit, position: IntArray) -> FloatArray:
    """Return the last sum of (L5)."""
    codes, n_classes = fit.votes.codes, fit.model.n_classes
    out = np.zeros((position.shape[0], position.shape[0]))
    for y in range(n_classes):
        # Given class y only its own coordinates and those of the balance have a score: with many
        # classes nearly all of the matrix is zero, and it is not computed.
        mine = np.flatnonzero((position[:, 0] == y) | (position[:, 1] == 0))
        scores = _scores(np.eye(n_classes)[[y] * codes.shape[0]], codes, position[mine], fit.model)
        weighted = (fit.votes.weights * fit.posterior[:, y])[:, None] * scores
        out[np.ix_(mine, mine)] += scores.T @ weighted
    return out


def _parts(model: LatentModel) -> IntArray:
    """Return, by column of a packed table, 0 for the balance and 1 + j for judge j."""
    return np.concatenate(([0], 1 + np.repeat(np.arange(model.n_judges), model.n_votes)))


def _coordinates(
    fit: LatentFit, known: npt.NDArray[np.bool_]
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return the free coordinates and the mask of unsupported probabilities."""
    model, table = fit.model, pack(fit.model)
    part = _parts(model)
    exposed = np.column_stack((np.ones(model.n_classes), fit.n_effective.T[:, part[1:] - 1]))
    inside = (table > _BOUNDARY) & (table < 1 - _BOUNDARY) & (exposed > _BOUNDARY)
    # nothing is known of the votes on a class that does not occur
    inside[:, 1:] &= table[:, :1] > _BOUNDARY
    free = inside & ~known
    for k in range(model.n_judges + 1):
        columns = np.flatnonzero(part == k)
        rows = [(slice(None), 0)] if k == 0 else [(y, columns) for y in range(model.n_classes)]
        for row in rows:  # the largest probability of each row is its reference and no coordinate
            if free[row].any():
                last = int(np.where(free[row], table[row], -1.0).argmax())
                cell = (last, 0) if k == 0 else (row[0], columns[last])
                free[cell] = False
    unsupported = spread((~inside & ~known)[:, 1:].astype(np.float64), model.n_votes) > 0
    return np.argwhere(free), unsupported


def _scores(
    weight: FloatArray, codes: IntArray, position: IntArray, model: LatentModel
) -> FloatArray:
    """Return (L4) with *weight* (patterns x classes) for the responsibilities; it is linear in
    them.
    """
    table = pack(model)
    part = _parts(model)
    y, m = position.T
    judge = np.maximum(part[m] - 1, 0)
    start = 1 + np.cumsum(model.n_votes) - model.n_votes
    p = table[y, m]
    votes = codes[:, judge]
    out = weight[:, y] * ((votes == m - start[judge]) - p * (votes >= 0))
    balance = m == 0
    out[:, balance] = weight[:, y[balance]] - p[balance] * weight.sum(axis=1, keepdims=True)
    return np.asarray(out)
