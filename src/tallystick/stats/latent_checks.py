"""What a fitted latent-class model leaves open: its information, and which pairs do not fit."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng, spawn
from tallystick.errors import NotIdentifiable
from tallystick.stats.exact_tails import whole
from tallystick.stats.latent_model import (
    FloatArray,
    IntArray,
    LatentFit,
    LatentModel,
    Problem,
    Votes,
    climb,
    expected_agreement,
    log_likelihood,
    pack,
    posterior,
)

# Whether pairs of judges vote together as often as conditional independence says.


CROWD = 20
"""More judges than this are a crowd."""

_REFITS, _CROWD_REFITS = 19, 3
"""A crowd has so many pairs that the root mean square of a true model hardly varies: its largest
of 19 was 3 to 17% above their mean."""

_STEPS = 500
"""Steps of EM that a refit may take: it starts where the fit ended."""

_LEAST_COMMON, _LEAST_EXPECTED = 10, 2.0
"""Pairs with fewer common items, and cells with fewer expected ones, are left out."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Misfit:
    """The misfit of pairs against what it would be if the model were true.

    Parameters
    ----------
    rms, null
        Root mean square of the pairs' z of agreement (L3), and of refits to data drawn from the
        fitted model; NaN where no pair counts.
    covote, covote_null
        The same of co-votes (L8), where they were asked for.
    """

    rms: float
    null: FloatArray
    covote: float
    covote_null: FloatArray

    @property
    def ratio(self) -> float:
        """RMS of agreement over its null mean."""
        return self.rms / float(self.null.mean())

    @property
    def refuted(self) -> bool:
        """True if the agreement's RMS is above every null draw and above 1.7 times their mean.

        It proves that judges err together given the class. False proves nothing: a bias that all
        judges share leaves no trace in their agreement.
        """
        return self.rms > float(self.null.max()) and self.ratio > 1.7

    @property
    def rejected(self) -> bool:
        """True if either RMS exceeds every refit; the level is at most 10%."""
        pairs = ((self.rms, self.null), (self.covote, self.covote_null))
        return any(
            np.isfinite(seen) and seen > float(np.nanmax(null, initial=-np.inf))
            for seen, null in pairs
        )


def misfit(
    fit: LatentFit, *, covotes: bool = False, tolerance: float | None = None, rng: Rng
) -> Misfit:
    r"""Measure how far pairs are from the model, with a null from parametric refits.

    For a pair with :math:`n \ge 10` common items, observed agreement :math:`o` and model agreement
    :math:`e`,

    .. math:: z = (o - e) \big/ \sqrt{e(1-e)/n}   \tag{L3}

    The fit has seen the same votes, so the z of a true model are smaller than standard normal ones;
    hence the refits. Each starts at the posterior of the fitted model, so that it ends on the same
    branch.

    Parameters
    ----------
    fit
        The fitted model.
    covotes
        Also count rows on which both vote alike, and differently. Rules that seldom fire agree
        mostly by being silent, and there a copy does not show.
    tolerance
        Of the refits; by default that of the fit.
    rng
        A stream of its own: a seed that also made the data would share its uniforms with it.

    Raises
    ------
    NotIdentifiable
        The model is saturated (three binary judges), so it fits any votes, or no pair shares enough
        items: nothing can be tested.

    Examples
    --------
    >>> from tallystick.stats.latent_model import fit
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 4)
    >>> codes, _ = simulate(model, 500, rng=1)
    >>> misfit(fit(codes, [1] * 500, n_classes=2), rng=2).refuted
    False
    >>> codes[:, 1] = codes[:, 0]  # the second judge copies the first
    >>> misfit(fit(codes, [1] * 500, n_classes=2), rng=2).refuted
    True
    """
    if degrees_of_freedom(fit) <= 0:
        raise NotIdentifiable(
            "the model has as many parameters as the votes have free frequencies and fits anything:"
            " add a judge"
        )
    seen = _both(fit, covotes)
    if not np.isfinite(seen).any():
        raise NotIdentifiable("no pair of judges shares enough items: collect more common votes")
    replica, options = Replica.of(fit), replace(fit.options, max_iterations=_STEPS)
    if tolerance is not None:
        options = replace(options, tolerance=tolerance)
    n = _REFITS if fit.votes.n_judges <= CROWD else _CROWD_REFITS
    null = []
    for stream in spawn(rng, n):
        votes = replica.draw(stream)
        problem = Problem.of(votes, fit.model.n_classes, options)
        start = problem.maximise(posterior(fit.model, votes.codes).T)
        again = LatentFit.of(problem, climb(problem, start, options), votes, options)
        null.append(_both(again, covotes))
    agreement, together = np.array(null).T
    return Misfit(rms=seen[0], null=agreement, covote=seen[1], covote_null=together)


def _both(fit: LatentFit, covotes: bool) -> tuple[float, float]:
    z = agreement_z(fit)
    return _rms(z[np.isfinite(z)]), _rms(covote_z(fit)) if covotes else math.nan


def _rms(z: FloatArray) -> float:
    return float(np.sqrt((z**2).mean())) if z.size else math.nan


def agreement_z(fit: LatentFit) -> FloatArray:
    """Return (L3) for every pair of judges; NaN on the diagonal and where it is not defined.

    Pairs with few common items are left out, and pairs whose agreement the model calls certain.
    """
    agree, common = _observed(fit.votes)
    e = expected_agreement(fit.model)
    variance = e * (1 - e)
    counts = (common >= _LEAST_COMMON) & (variance > 1e-12)
    np.fill_diagonal(counts, False)
    z = np.full_like(e, np.nan)
    z[counts] = (agree[counts] / common[counts] - e[counts]) / np.sqrt(
        variance[counts] / common[counts]
    )
    return z


def covote_z(fit: LatentFit) -> FloatArray:
    r"""Return z of co-votes for all pairs and both cells that count.

    For each pair, O are the rows on which both vote alike (in the second cell: differently), n the
    rows that show both, and

    .. math:: E = n \sum_k b_k \sum_c M_{jck} M_{ick}, \qquad z = (O - E)/\sqrt E
              \quad\text{where } E \ge 2.   \tag{L8}

    Votes beyond the classes, such as an abstention that is a vote, are no vote here.
    """
    votes, classes = fit.votes, fit.model.n_classes
    weight = votes.counts[:, None]
    confusion = fit.model.confusion[:, :, :classes]
    there = (votes.codes >= 0).astype(np.float64)
    cast = ((votes.codes >= 0) & (votes.codes < classes)).astype(np.float64)
    alike = np.zeros((votes.n_judges, votes.n_judges))
    for c in range(classes):
        gave = (votes.codes == c).astype(np.float64)
        alike += gave.T @ (weight * gave)

    rows = there.T @ (weight * there)
    balance, speaks = fit.model.balance, confusion.sum(axis=2)
    e_alike = rows * np.einsum("y,jyv,kyv->jk", balance, confusion, confusion, optimize=True)
    e_both = rows * np.einsum("y,jy,ky->jk", balance, speaks, speaks, optimize=True)
    pair = np.triu_indices(votes.n_judges, 1)
    seen = np.concatenate([alike[pair], (cast.T @ (weight * cast) - alike)[pair]])
    expected = np.concatenate([e_alike[pair], (e_both - e_alike)[pair]])
    counts = expected >= _LEAST_EXPECTED
    return np.asarray((seen[counts] - expected[counts]) / np.sqrt(expected[counts]))  # (L8)


def degrees_of_freedom(fit: LatentFit) -> float:
    """Return free frequencies, summed over the sets of judges seen together, less free
    parameters.
    """
    votes, options = fit.votes, fit.options
    n_classes = fit.model.n_classes
    seen = votes.codes[votes.weights > 0] >= 0
    first, _ = _distinct(np.packbits(seen, axis=1))
    with np.errstate(over="ignore"):
        cells = np.where(seen[first], votes.n_votes.astype(np.float64), 1.0).prod(axis=1)
    free = [int(v) - 1 for j, v in enumerate(votes.n_votes) if j not in options.confusion]
    return (
        float((cells - 1).sum())
        - n_classes * sum(free)
        - (n_classes - 1) * (options.balance is None)
    )


def _observed(votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Return items on which each pair agrees, and items on which both vote."""
    one_hot = votes.one_hot
    together = one_hot.together(votes.counts)  # by (judge, vote) x (judge, vote)
    vote = np.arange(one_hot.judge.size) - one_hot.start[one_hot.judge]
    alike = np.where(vote[:, None] == vote, together, 0.0)
    by_judge = [np.add.reduceat(table, one_hot.start, axis=0) for table in (alike, together)]
    agree, common = (np.add.reduceat(table, one_hot.start, axis=1) for table in by_judge)
    return agree, common


# Draw votes from the latent-class model: new items, or a replica of the data with the same
# gaps.


_MOST_CELLS = 4096  # patterns of one group that are worth enumerating


def simulate(model: LatentModel, n: int, *, rng: Rng) -> tuple[IntArray, IntArray]:
    """Return vote codes (items x judges, none missing) and the true classes of *n* new items.

    >>> from tallystick.stats.latent_model import fit
    >>> model = LatentModel([0.5, 0.5], [[[1, 0], [0, 1]]] * 2)
    >>> codes, truth = simulate(model, 4, rng=1)
    >>> bool((codes == truth[:, None]).all())
    True
    """
    generator = as_rng(rng)
    truth = np.searchsorted(np.cumsum(model.balance)[:-1], generator.random(n), side="right")
    levels = np.cumsum(model.confusion, axis=2)[:, :, :-1]
    codes = np.empty((n, model.n_judges), dtype=np.int64)
    for j in range(model.n_judges):
        # The last levels are 1 for votes beyond the alphabet, and a draw in [0, 1) never passes
        # them.
        levels[j, :, int(model.n_votes[j]) - 1 :] = 1.0
        codes[:, j] = (generator.random(n)[:, None] >= levels[j, truth]).sum(axis=1)
    return codes, truth.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Replica:
    """Draws data sets like those of a fit: as many items, the same votes missing.

    Groups of items with one gap pattern are drawn as one multinomial over all vote patterns where
    these are fewer than the items; the rest is drawn item by item.
    """

    model: LatentModel
    grids: tuple[tuple[IntArray, FloatArray, int], ...]
    voted: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, fit: LatentFit) -> Replica:
        """Prepare replicas of the data of *fit*."""
        votes = fit.votes
        whole(0, counts=votes.counts)  # weights are not items
        voted_by = votes.codes >= 0
        first, member = _distinct(np.packbits(voted_by, axis=1))
        groups = voted_by[first]
        items = np.bincount(member, weights=votes.counts).astype(np.int64)
        with np.errstate(over="ignore"):
            cells = np.where(groups, votes.n_votes.astype(np.float64), 1.0).prod(axis=1)
        listed = cells <= np.minimum(items, _MOST_CELLS)
        one_by_one = np.repeat(groups[~listed], items[~listed], axis=0)

        grids = []
        for voted, n in zip(groups[listed], items[listed].tolist(), strict=True):
            alphabets = [
                range(int(v)) if on else (-1,) for v, on in zip(votes.n_votes, voted, strict=True)
            ]
            codes = np.array(list(itertools.product(*alphabets)), dtype=np.int64)
            chance = np.exp(log_likelihood(fit.model, codes))
            grids.append((codes, chance / chance.sum(), n))
        return cls(fit.model, tuple(grids), one_by_one)

    def draw(self, rng: Rng) -> Votes:
        """Return one replica."""
        generator = as_rng(rng)
        codes, _ = simulate(self.model, self.voted.shape[0], rng=generator)
        parts, counts = [np.where(self.voted, codes, -1)], [np.ones(len(codes))]
        for grid, chance, n in self.grids:
            drawn = generator.multinomial(n, chance)
            seen = drawn > 0
            parts.append(grid[seen])
            counts.append(drawn[seen].astype(np.float64))
        patterns = np.vstack(parts)
        first, place = _distinct(patterns.astype(np.int32))
        whole = np.bincount(place, weights=np.concatenate(counts))
        return Votes(patterns[first], whole.astype(np.float64), self.model.n_votes)


def _distinct(rows: npt.NDArray[np.integer]) -> tuple[IntArray, IntArray]:
    """Return where each different row stands first, and which of these every row is.

    Rows are compared as bytes: comparing 50 columns one by one takes a second.
    """
    tight = np.ascontiguousarray(rows)
    whole = tight.view(np.dtype((np.void, tight.itemsize * tight.shape[1]))).ravel()
    _, first, member = np.unique(whole, return_index=True, return_inverse=True)
    return first, member.ravel()


# How sure the estimates are under the model: scores and information.
#
# Each row of probabilities (the balance; judge j's votes given class y) is written as a softmax of
# free coordinates :math:`\eta`, with its largest entry as reference. With responsibilities
# :math:`r_{iy}` the score of pattern i is
#
# .. math::
#     s_{i,y} = r_{iy} - \pi_y, \qquad
#     s_{i,jyv} = r_{iy}\,(1[x_{ij} = v] - C_{jyv})\,1[x_{ij} \ne -1]   \tag{L4}
#
# With the score :math:`s_i^y` that pattern i would have if its class were known to be y, the
# observed information is
#
# .. math::
#     I = J + \sum_i w_i s_i s_i' - \sum_i w_i \sum_y r_{iy} s_i^y s_i^{y\prime}   \tag{L5}
#
# where J, block by block :math:`n\,(\mathrm{diag}\,p - p p')`, is what complete data would tell.


MOST_PARAMETERS = 10_000
"""Their matrix takes 800 MB; nobody means a model of more."""

_BOUNDARY = 1e-6  # a probability this near to 0 or 1 is held fixed
# smallest eigenvalue of the information, scaled to unit diagonal, that is still inverted
_SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class LatentInformation:
    """Scores and covariance of the free softmax coordinates, under conditional independence only.

    Parameters
    ----------
    model
        The fitted model.
    position
        One row a coordinate: its class and its column (0 for the balance, then every judge's votes
        side by side).
    scores
        Patterns x coordinates, for one item of each pattern.
    covariance
        Over coordinates: the inverse of the information (L5).
    """

    model: LatentModel
    position: IntArray
    scores: FloatArray
    covariance: FloatArray

    def posterior_gradient(self, codes: npt.ArrayLike, direction: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_i \sum_y d_{iy}\, \partial P(y \mid x_i) / \partial \eta` for
        *direction* d.

        With G this gradient, a statistic of the posteriors has label-model variance :math:`G'
        I^{-1} G`, and :math:`G' I^{-1} s_i` is what pattern i contributes to its error.
        """
        p = posterior(self.model, codes)
        slope = p * (direction - (direction * p).sum(axis=1, keepdims=True))
        return np.asarray(_scores(slope, np.asarray(codes), self.position, self.model).sum(axis=0))


def information(fit: LatentFit) -> LatentInformation:
    """Return scores and the inverse of the observed information (L5) of a converged fit.

    A prior counts as the pseudo-votes that it is: minus the second derivatives of its log density
    are added. Probabilities on the boundary, or that rest on no vote, are held fixed.

    Raises
    ------
    NotIdentifiable
        The information is singular or nearly so: the votes do not pin all parameters down. The
        message names the parameter in which the flat direction is steepest.

    Examples
    --------
    >>> from tallystick.stats.latent_model import fit
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> codes, _ = simulate(model, 2000, rng=3)
    >>> found = information(fit(codes, [1] * 2000, n_classes=2))
    >>> found.position.shape, bool((np.diag(found.covariance) > 0).all())
    ((7, 2), True)
    """
    model = fit.model
    problem = Problem.of(fit.votes, model.n_classes, fit.options)
    position = _coordinates(fit, problem.known)
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
    matrix += _complete(problem.counts(fit.posterior.T), position, model)
    matrix -= _spread_of_scores(fit, position)
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    if scale.min() > 0:
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        if values[0] > _SINGULAR:
            inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
            return LatentInformation(model, position, scores, inverse)
    raise NotIdentifiable("the information is singular: use more items or fewer judges")


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


def _coordinates(fit: LatentFit, known: npt.NDArray[np.bool_]) -> IntArray:
    """Return the free coordinates."""
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
    return np.argwhere(free)


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
