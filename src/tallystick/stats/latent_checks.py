r"""Majority of the others: grade each judge by the vote of all judges but itself.

.. math:: \mathrm{LOO}_j = \text{mean over the votes of } j \text{ of } W_{i v_{ij}}   \tag{U4}

where :math:`W_{iy} = 1/k` if y is one of the k labels with most votes among the other judges, else
0. Votes that are never true do not enter the majority and are never right. Items on which no other
judge cast a possible label are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng
from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent_fit import LatentFit, fit_votes, refits
from tallystick.stats.latent_model import (
    Expectation,
    FloatArray,
    IntArray,
    LatentModel,
    LatentOptions,
    OneHot,
    Problem,
    Votes,
    as_votes,
    class_scores,
    climb,
    expected_agreement,
    pack,
    spread,
    unpack,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Others:
    """What the majority of the others says about each judge.

    Parameters
    ----------
    tables
        Judges x labels x votes: how many votes of each kind fell on items that the others call by
        each label. Tied labels count in equal parts.
    """

    tables: FloatArray

    @property
    def accuracy(self) -> FloatArray:
        """Share of each judge's votes that the others confirm; NaN where it cannot be graded."""
        labels = self.tables.shape[1]
        right = np.einsum("jyy->j", self.tables[:, :, :labels])
        votes = self.tables.sum(axis=(1, 2))
        unknown = np.full_like(right, np.nan)
        return np.asarray(np.divide(right, votes, out=unknown, where=votes > 0))


def majority_of_others(votes: Votes, n_labels: int) -> Others:
    """Return (U4) as tables, from which accuracies and shares per label follow.

    >>> from tallystick.stats.latent_model import as_votes
    >>> votes = as_votes([[0, 0, 0], [0, 0, 1], [1, 0, 1]], [5, 3, 2], n_classes=2)
    >>> majority_of_others(votes, 2).accuracy
    array([0.75, 0.65, 0.6 ])
    """
    every = vote_table(votes.codes, n_labels)
    pattern, judge = np.nonzero(votes.codes >= 0)
    mine = votes.codes[pattern, judge]
    others = every[pattern] - (mine[:, None] == np.arange(n_labels))
    most = others.max(axis=1)
    winners = (others == most[:, None]) & (most > 0)[:, None]
    share = winners / np.maximum(winners.sum(axis=1), 1)[:, None]  # a tie of k counts 1/k

    shape = (votes.n_judges, int(votes.n_votes.max()))
    cell = judge * shape[1] + mine
    weighted = votes.counts[pattern, None] * share
    by_label = [np.bincount(cell, column, shape[0] * shape[1]) for column in weighted.T]
    tables = np.stack(by_label, axis=1).reshape(*shape, -1).transpose(0, 2, 1)
    return Others(tables=tables.astype(np.float64))


def vote_table(codes: IntArray, n_labels: int) -> FloatArray:
    """Return patterns x labels: how many judges voted for each label that can be true.

    >>> vote_table(np.array([[0, 1, 2]]), 2)
    array([[1., 1.]])
    """
    return np.stack([(codes == y).sum(axis=1) for y in range(n_labels)], axis=1).astype(np.float64)


# Without labels, per item: a support for each label, which is not a probability.
#
# .. math:: s_{iy} = \tfrac12 (\text{vote share of } y \text{ on item } i + P^{.4}_{iy})
# \tag{U7}
#
# The consensus is the label with most support. Neither the vote share nor the posterior of
# Dawid-Skene is a probability of being right: on 19 real panels the calibration error of the
# support was .119, of Dawid-Skene .182, and up to .28 and .50. Print it as "support"; with 20
# random labels use :func:`calibrate`.


@dataclass(frozen=True, kw_only=True, eq=False)
class Support:
    """Support per pattern.

    Parameters
    ----------
    support
        Patterns x labels: (U7), rows sum to 1.
    share
        Patterns x labels: vote shares among the votes that can be true; the support itself where
        none was cast.
    consensus
        The label with most support, ties to the first label.
    """

    support: FloatArray
    share: FloatArray
    consensus: IntArray


def support(fit: UnreadableFit, codes: npt.ArrayLike | None = None) -> Support:
    """Return the support of every label on every pattern, and the consensus.

    Parameters
    ----------
    fit
        Of :func:`fit_unreadable`.
    codes
        Other patterns of the same judges, where the fit is of a random part of the items; by
        default the patterns of the fit.

    Examples
    --------
    >>> from tallystick.stats.latent_checks import fit_unreadable
    >>> patterns = [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0], [0, 1, 0, 0]]
    >>> found = support(fit_unreadable(patterns, [40, 35, 10, 8, 7], n_labels=2))
    >>> found.consensus
    array([0, 1, 0, 1, 0])
    >>> found.support[2].round(3)
    array([0.779, 0.221])
    """
    if codes is None:
        firm, rows = fit.posterior[fit.at(0.4)], fit.votes.codes
    else:
        rows = np.asarray(codes, dtype=np.int64)
        firm = fit.apply(rows, 0.4)
    votes = vote_table(rows, fit.n_labels)
    cast = votes.sum(axis=1, keepdims=True)

    # An item with only ties or refusals has no vote share: the model alone speaks.
    share = np.where(cast > 0, votes / np.maximum(cast, 1), firm)
    level = (share + firm) / 2  # (U7)
    return Support(support=level, share=share, consensus=level.argmax(axis=1))


# Whether pairs of judges agree as often as conditional independence says.


CROWD = 20
"""More judges than this are a crowd."""

_CROWD_REFITS = 3
"""A crowd has so many pairs that the root mean square of a true model hardly varies: its largest
of 19 was 3 to 17 % above their mean."""


@dataclass(frozen=True, eq=False)
class Misfit:
    """The misfit of pairwise agreement against what it would be if the model were true.

    Parameters
    ----------
    rms
        Root mean square of the pairs' z.
    null
        The same for refits to data drawn from the fitted model.
    z
        Judges x judges; NaN where a pair shares too few items.
    n_pairs
        Pairs that count.
    n_unconverged
        Refits that stopped at ``max_iterations``; they are kept, and should be none.
    """

    rms: float
    null: FloatArray
    z: FloatArray
    n_pairs: int
    n_unconverged: int

    @property
    def ratio(self) -> float:
        """RMS over its null mean."""
        return self.rms / float(self.null.mean())

    @property
    def p_value(self) -> float:
        """Share of null draws, the data among them, that misfit at least as much."""
        return (1 + int((self.null >= self.rms).sum())) / (1 + self.null.size)

    @property
    def refuted(self) -> bool:
        """True if the RMS is above every null draw and above 1.7 times their mean.

        It proves that judges err together given the class. False proves nothing: a bias that all
        judges share leaves no trace in their agreement.
        """
        return self.rms > float(self.null.max()) and self.ratio > 1.7


def misfit(fit: LatentFit, *, n_refits: int = 19, min_common: int = 10, rng: Rng) -> Misfit:
    r"""Measure how far pairwise agreement is from the model's, with a null from parametric refits.

    For a pair with :math:`n \ge` *min_common* common items, observed agreement :math:`o` and model
    agreement :math:`e`,

    .. math:: z = (o - e) \big/ \sqrt{e(1-e)/n}   \tag{L3}

    The fit has seen the same votes, so the z of a true model are smaller than standard normal ones;
    hence the refits.

    Raises
    ------
    NotIdentifiable
        The model is saturated (three binary judges): it fits any votes, so nothing can be tested.

    Examples
    --------
    >>> from tallystick.stats.latent_model import LatentModel
    >>> from tallystick.stats.latent_fit import fit, simulate
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 4)
    >>> codes, _ = simulate(model, 500, rng=1)
    >>> misfit(fit(codes, [1] * 500, n_classes=2), rng=2).refuted
    False
    >>> codes[:, 1] = codes[:, 0]  # the second judge copies the first
    >>> misfit(fit(codes, [1] * 500, n_classes=2), rng=2).refuted
    True
    """
    if n_refits < 19:
        raise InputError(f"n_refits must be at least 19, got {n_refits!r}")
    if degrees_of_freedom(fit) <= 0:
        raise NotIdentifiable(
            "the model has as many parameters as the votes have free frequencies and fits anything:"
            " add a judge"
        )
    z = agreement_z(fit, min_common=min_common)
    again = refits(fit, n_refits if fit.votes.n_judges <= CROWD else _CROWD_REFITS, rng)
    null = np.array([_rms(agreement_z(one, min_common=min_common)) for one in again])
    return Misfit(
        _rms(z), null, z, int(np.isfinite(z).sum()) // 2, sum(not one.converged for one in again)
    )


def agreement_z(fit: LatentFit, *, min_common: int = 10) -> FloatArray:
    """Return (L3) for every pair of judges; NaN on the diagonal and where it is not defined.

    Pairs with fewer than *min_common* common items are left out, and pairs whose agreement the
    model calls certain.
    """
    agree, common = _observed(fit.votes)
    e = expected_agreement(fit.model)
    variance = e * (1 - e)
    counts = (common >= min_common) & (variance > 1e-12)
    np.fill_diagonal(counts, False)
    z = np.full_like(e, np.nan)
    z[counts] = (agree[counts] / common[counts] - e[counts]) / np.sqrt(
        variance[counts] / common[counts]
    )
    return z


def degrees_of_freedom(fit: LatentFit) -> float:
    """Return free frequencies, summed over the sets of judges seen together, less free
    parameters.
    """
    votes, options = fit.votes, fit.options
    n_classes = fit.model.n_classes
    # a known truth is one more vote
    seen = np.column_stack((votes.codes, votes.truth))[votes.weights > 0] >= 0
    sizes = np.append(votes.n_votes, n_classes).astype(np.float64)
    cells = np.where(np.unique(seen, axis=0), sizes, 1.0).prod(axis=1)
    free = [int(v) - 1 for j, v in enumerate(votes.n_votes) if j not in options.confusion]
    return (
        float((cells - 1).sum())
        - n_classes * sum(free)
        - (n_classes - 1) * (options.balance is None)
    )


def _rms(z: FloatArray) -> float:
    seen = z[np.isfinite(z)]
    if not seen.size:
        raise NotIdentifiable(
            "no pair of judges shares enough items: lower min_common or collect more common votes"
        )
    return float(np.sqrt((seen**2).mean()))


def _observed(votes: Votes) -> tuple[FloatArray, FloatArray]:
    """Return items on which each pair agrees, and items on which both vote."""
    one_hot = votes.one_hot
    together = one_hot.together(votes.counts)  # by (judge, vote) x (judge, vote)
    vote = np.arange(one_hot.judge.size) - one_hot.start[one_hot.judge]
    alike = np.where(vote[:, None] == vote, together, 0.0)
    by_judge = [np.add.reduceat(table, one_hot.start, axis=0) for table in (alike, together)]
    agree, common = (np.add.reduceat(table, one_hot.start, axis=1) for table in by_judge)
    return agree, common


# Dawid-Skene with unreadable items: a share of the items tells the judges nothing.
#
# Shared difficulty makes plain Dawid-Skene too optimistic: judges who fail on the same items look
# independent only if somebody is taken to be right there. So a fixed share h of the items may be
# *unreadable*: on them every judge only follows its own vote frequencies :math:`g_{jv}`. With K
# true
# labels and :math:`V_j \ge K` possible votes,
#
# .. math::
#     Q_{iy} = (1-h)\,\pi_y \prod_j C_{j y v_{ij}} / D_i, \qquad
#     r_i = h \prod_j g_{j v_{ij}} / D_i   \tag{U1}
#
# where :math:`D_i` is the sum of the K + 1 numerators and products run over the votes present. The
# M step is
#
# .. math::
#     \pi_y \propto \sum_i Q_{iy}, \qquad
#     C_{jyv} \propto g_{jv} + \sum_{i:\, v_{ij} = v} Q_{iy}   \tag{U2}
#
# with one pseudo-vote per row of C, spread by g. Then
#
# .. math::
#     P^h_{iy} = Q_{iy} + r_i \pi_y, \qquad
#     A^h_j = \text{mean of } P^h_{i v_{ij}} \text{ over the votes of } j   \tag{U3}
#
# (0 for a vote that can never be true). The votes say little about h, so it runs over a grid with
# weights :math:`w_h \propto \mathrm{prior}_h\, e^{\ell_h}`, :math:`\ell_h = \sum_i \ln D_i`.
#
# Everything works on pattern counts: the cost is that of the patterns, not of the items.


SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""The grid of h; half of the prior is on h = 0, the rest is spread evenly."""

_BLOCK = 20_000
"""Patterns that `UnreadableFit.apply` takes at once."""


@dataclass(frozen=True, kw_only=True, eq=False)
class UnreadableFit:
    r"""Fits of the model for every share of unreadable items.

    Parameters
    ----------
    shares
        The grid of h.
    log_likelihood, weight
        :math:`\ell_h` and :math:`w_h`, one per share.
    posterior
        Shares x patterns x labels: :math:`P^h_{iy}` of (U3).
    unreadable
        Shares x patterns: :math:`r_i`, the probability that an item of the pattern is unreadable.
    models
        Label shares and confusion matrices on readable items, one per share.
    plain
        The fit at h = 0, which the misfit test needs.
    converged
        Whether EM reached its tolerance, one per share.
    """

    shares: tuple[float, ...]
    log_likelihood: FloatArray
    weight: FloatArray
    posterior: FloatArray
    unreadable: FloatArray
    models: tuple[LatentModel, ...]
    plain: LatentFit
    converged: tuple[bool, ...]

    @property
    def votes(self) -> Votes:
        """The checked input."""
        return self.plain.votes

    @property
    def n_labels(self) -> int:
        """Number of labels that can be true, K."""
        return int(self.posterior.shape[2])

    @cached_property
    def tables(self) -> FloatArray:
        """Shares x judges x labels x votes: expected votes of each kind on items of each label."""
        one_hot, weights = self.votes.one_hot, self.votes.weights
        sums = [one_hot.add(p.T * weights) for p in self.posterior]
        return np.stack([spread(table, self.votes.n_votes) for table in sums])

    @cached_property
    def accuracy(self) -> FloatArray:
        """Shares x judges: :math:`A^h_j`; NaN for a judge without a vote."""
        right = np.einsum("hjyy->hj", self.tables[..., : self.n_labels])
        votes = self.tables.sum(axis=(2, 3))
        unknown = np.full_like(right, np.nan)
        return np.asarray(np.divide(right, votes, out=unknown, where=votes > 0))

    def at(self, share: float) -> int:
        """Return the place of a share in the grid.

        >>> fit_unreadable([[0, 0, 1]] * 2, [1, 1], n_labels=2).at(0.4)
        4
        """
        return self.shares.index(share)

    def apply(self, codes: npt.ArrayLike, share: float) -> FloatArray:
        r"""Return :math:`P^h` of (U3) for other patterns of the same judges: patterns x labels.

        A fit on a random part of the items speaks for all of them this way. Patterns are taken in
        blocks, so that memory stays bounded.

        >>> found = fit_unreadable([[0, 0, 0], [1, 1, 1], [0, 0, 1]], [4, 4, 2], n_labels=2)
        >>> bool(np.allclose(found.apply([[0, 0, 1]], 0.4), found.posterior[found.at(0.4)][2]))
        True
        """
        model, votes = self.models[self.at(share)], self.votes
        table, balance = pack(model), self._balance(share)
        logs = np.log(np.maximum(_frequencies(votes), 1e-300))
        rows = np.asarray(codes, dtype=np.int64)
        out = np.empty((len(rows), self.n_labels))
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            one_hot = OneHot.of(rows[part], votes.n_votes)
            scores = class_scores(table, one_hot)
            if share > 0:
                noise = one_hot.score(logs)[0] + np.log(share)
                scores = scores + np.log(1 - share)
                top = np.maximum(scores.max(axis=0), noise)
                background = np.exp(noise - top)
            else:
                top, background = scores.max(axis=0), np.zeros(scores.shape[1])
            q = np.exp(scores - top)
            total = q.sum(axis=0) + background
            out[part] = ((q + background * balance[:, None]) / total).T  # (U1), (U3)
        return out

    def _balance(self, share: float) -> FloatArray:
        """Return the mean of Q over items, normalised: the pi of (U3)."""
        place = self.at(share)
        # P = Q + r pi and pi is the mean of Q over its sum, so that the mean of P is pi itself.
        mean = self.votes.weights @ self.posterior[place]
        return np.asarray(mean / mean.sum())


def fit_unreadable(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    n_labels: int,
    n_votes: int | npt.ArrayLike | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 10_000,
) -> UnreadableFit:
    """Fit Dawid-Skene with a share h of unreadable items, for every h of the grid.

    Equations (U1) to (U3) of this module. The fit at h = 0 starts from the vote shares of each
    pattern (ties split), every further one from the fit before; the labels keep the names of that
    start.

    Parameters
    ----------
    codes
        Patterns x judges of vote codes. Codes below *n_labels* are labels that can be true, codes
        from *n_labels* on are votes that never are (tie, error, refusal); -1 is a missing vote.
    counts
        Items that show each pattern.
    n_labels
        Number of labels that can be true, K.
    n_votes
        Alphabet size including the votes that are never true; one for all or one per judge. By
        default *n_labels*.
    tolerance, max_iterations
        When EM stops, as in :class:`LatentOptions`. A fit that stops early is kept and marked.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges voted: their votes say how far they agree, not who is right.

    Examples
    --------
    >>> patterns = [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 1, 0], [0, 1, 0, 0]]
    >>> found = fit_unreadable(patterns, [40, 35, 10, 8, 7], n_labels=2)
    >>> found.accuracy[found.at(0.0)].round(3)
    array([1.  , 0.93, 1.  , 0.82])
    >>> found.accuracy[found.at(0.4)].round(3)
    array([0.908, 0.883, 0.908, 0.795])
    """
    votes = as_votes(codes, counts, n_classes=n_labels, n_votes=n_votes)
    plain = fit_plain(votes, n_labels, tolerance=tolerance, max_iterations=max_iterations)
    options = plain.options
    base = Problem.of(votes, n_labels, options)
    noise = votes.one_hot.score(np.log(np.maximum(_frequencies(votes), 1e-300)))[0]

    table, models = pack(plain.model), [plain.model]
    posterior, unreadable = [plain.posterior], [np.zeros(len(votes.counts))]
    likelihood, converged = [plain.log_likelihood], [plain.converged]
    for share in SHARES[1:]:
        problem = _Blurred(
            base.one_hot, base.weights, base.barred, base.prior, base.fixed, noise, share
        )
        run = climb(problem, table, options)
        table = run.table
        q = run.expectation.responsibility
        r = 1 - q.sum(axis=0)
        balance = (q @ votes.weights) / (q @ votes.weights).sum()
        posterior.append((q + r * balance[:, None]).T)  # (U3)
        unreadable.append(r)
        models.append(unpack(table, votes.n_votes))
        likelihood.append(run.expectation.log_likelihood)
        converged.append(run.converged)

    ell = np.array(likelihood)
    log_weight = ell + np.log([0.5, *[0.5 / (len(SHARES) - 1)] * (len(SHARES) - 1)])
    weight = np.exp(log_weight - log_weight.max())
    return UnreadableFit(
        shares=SHARES,
        log_likelihood=ell,
        weight=weight / weight.sum(),
        posterior=np.stack(posterior),
        unreadable=np.stack(unreadable),
        models=tuple(models),
        plain=plain,
        converged=tuple(converged),
    )


def fit_plain(
    votes: Votes, n_labels: int, *, tolerance: float = 1e-8, max_iterations: int = 10_000
) -> LatentFit:
    """Fit Dawid-Skene with one pseudo-vote per row of C, (U1) and (U2) at h = 0.

    Raises what :func:`fit_unreadable` raises.

    >>> votes = as_votes([[0, 0, 0], [1, 1, 1], [0, 0, 1]], [4, 4, 2], n_classes=2)
    >>> fit_plain(votes, 2).balance.round(2)
    array([0.59, 0.41])
    """
    if (votes.n_votes < n_labels).any():
        raise InputError(
            f"n_votes must be at least n_labels = {n_labels}, got {votes.n_votes.tolist()}"
        )
    cast = votes.one_hot.add(votes.weights[None, :])[0]
    voted = int((np.add.reduceat(cast, votes.one_hot.start) > 0).sum())
    if voted < 3:
        raise NotIdentifiable(
            f"{voted} judges voted and three are needed: add a judge or label some items"
        )
    # The pseudo-votes of (U2) are a Dirichlet prior whose counts are g, the same for every label.
    prior = np.repeat(spread(_frequencies(votes), votes.n_votes), n_labels, axis=1)
    options = LatentOptions(
        confusion_prior=prior,
        branch="as-started",
        tolerance=tolerance,
        max_iterations=max_iterations,
        strict=False,
    )
    return fit_votes(votes, n_labels, options, 0)


def _frequencies(votes: Votes) -> FloatArray:
    """Return g: 1 x all votes of all judges, each judge's share of its own votes."""
    cast = votes.one_hot.add(votes.weights[None, :])
    return np.asarray(cast / np.maximum(votes.one_hot.total(cast), 1e-300))


@dataclass(frozen=True, eq=False)
class _Blurred(Problem):
    """The EM problem with a background: the M step is that of Dawid-Skene, the E step is (U1)."""

    noise: FloatArray
    share: float

    def expect(self, table: FloatArray) -> Expectation:
        """Return the E step (U1): responsibilities sum to the chance that the item is readable."""
        scores = class_scores(table, self.one_hot)
        # In place: with a hundred labels a new array of this size costs more than its arithmetic.
        scores += np.log(1 - self.share)
        background = self.noise + np.log(self.share)
        top = np.maximum(scores.max(axis=0), background)
        scores -= top
        np.exp(scores, out=scores)
        total = scores.sum(axis=0) + np.exp(background - top)
        scores /= total
        likelihood = float(self.weights @ (top + np.log(total)))
        penalty = float((self.prior * np.log(np.maximum(table, 1e-300))).sum())
        return Expectation(scores, likelihood, likelihood + penalty)
