r"""Dawid-Skene with unreadable items: a share of the items tells the judges nothing.

Shared difficulty makes plain Dawid-Skene too optimistic: judges who fail on the same items look
independent only if somebody is taken to be right there. So a fixed share h of the items may be
*unreadable*: on them every judge only follows its own vote frequencies :math:`g_{jv}`. With K true
labels and :math:`V_j \ge K` possible votes,

.. math::
    Q_{iy} = (1-h)\,\pi_y \prod_j C_{j y v_{ij}} / D_i, \qquad
    r_i = h \prod_j g_{j v_{ij}} / D_i   \tag{U1}

where :math:`D_i` is the sum of the K + 1 numerators and products run over the votes present. The M
step is

.. math::
    \pi_y \propto \sum_i Q_{iy}, \qquad
    C_{jyv} \propto g_{jv} + \sum_{i:\, v_{ij} = v} Q_{iy}   \tag{U2}

with one pseudo-vote per row of C, spread by g. Then

.. math::
    P^h_{iy} = Q_{iy} + r_i \pi_y, \qquad
    A^h_j = \text{mean of } P^h_{i v_{ij}} \text{ over the votes of } j   \tag{U3}

(0 for a vote that can never be true). The votes say little about h, so it runs over a grid with
weights :math:`w_h \propto \mathrm{prior}_h\, e^{\ell_h}`, :math:`\ell_h = \sum_i \ln D_i`.

Everything works on pattern counts: the cost is that of the patterns, not of the items.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.latent.em import Expectation, Problem, climb
from tallystick.stats.latent.fit import LatentFit, fit_votes
from tallystick.stats.latent.model import LatentModel, class_scores, pack, spread, unpack
from tallystick.stats.latent.options import LatentOptions
from tallystick.stats.latent.votes import FloatArray, OneHot, Votes, as_votes

__all__ = ["SHARES", "UnreadableFit", "fit_plain", "fit_unreadable"]

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
