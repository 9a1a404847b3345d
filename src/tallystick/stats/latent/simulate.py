"""Draw votes from the latent-class model: new items, or a replica of the data with the same
gaps.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.stats.latent.fit import LatentFit
from tallystick.stats.latent.model import LatentModel, log_likelihood
from tallystick.stats.latent.votes import FloatArray, IntArray, Votes

__all__ = ["Replica", "simulate"]

_MOST_CELLS = 4096  # patterns of one group that are worth enumerating


def simulate(model: LatentModel, n: int, *, rng: Rng) -> tuple[IntArray, IntArray]:
    """Return vote codes (items x judges, none missing) and the true classes of *n* new items.

    >>> model = LatentModel([0.5, 0.5], [[[1, 0], [0, 1]]] * 2)
    >>> codes, truth = simulate(model, 4, rng=1)
    >>> bool((codes == truth[:, None]).all())
    True
    """
    if n < 0:
        raise InputError(f"n must not be negative, got {n!r}")
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
    """Draws data sets like those of a fit: as many items, the same votes missing, the same items
    labelled.

    Groups of items with one gap pattern are drawn as one multinomial over all vote patterns where
    these are fewer than the items; the rest is drawn item by item.
    """

    model: LatentModel
    grids: tuple[tuple[IntArray, FloatArray, int], ...]
    voted: npt.NDArray[np.bool_]
    labelled: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, fit: LatentFit) -> Replica:
        """Prepare replicas of the data of *fit*."""
        votes = fit.votes
        sizes = votes.counts.astype(np.int64)
        if (sizes != votes.counts).any():
            raise InputError(
                "counts must be whole numbers for a parametric replica: weights are not items"
            )
        marks = np.column_stack((votes.codes >= 0, votes.truth >= 0))
        groups, member = np.unique(marks, axis=0, return_inverse=True)
        items = np.bincount(member.ravel(), weights=votes.counts).astype(np.int64)
        grids = []
        one_by_one = []
        for mark, n in zip(groups, items, strict=True):
            cells = float(np.prod(votes.n_votes[mark[:-1]].astype(np.float64)))
            if mark[-1] or cells > min(int(n), _MOST_CELLS):
                one_by_one.append(np.repeat(mark[None, :], n, axis=0))
                continue
            alphabets = [
                range(int(v)) if on else (-1,)
                for v, on in zip(votes.n_votes, mark[:-1], strict=True)
            ]
            codes = np.array(list(itertools.product(*alphabets)), dtype=np.int64)
            chance = np.exp(log_likelihood(fit.model, codes))
            grids.append((codes, chance / chance.sum(), int(n)))
        rest = (
            np.vstack(one_by_one) if one_by_one else np.empty((0, marks.shape[1]), dtype=np.bool_)
        )
        return cls(fit.model, tuple(grids), rest[:, :-1], rest[:, -1])

    def draw(self, rng: Rng) -> Votes:
        """Return one replica."""
        generator = as_rng(rng)
        codes, truth = simulate(self.model, self.voted.shape[0], rng=generator)
        parts = [np.where(self.voted, codes, -1)]
        known = [np.where(self.labelled, truth, -1)]
        counts = [np.ones(truth.size)]
        for grid, chance, n in self.grids:
            drawn = generator.multinomial(n, chance)
            seen = drawn > 0
            parts.append(grid[seen])
            known.append(np.full(int(seen.sum()), -1))
            counts.append(drawn[seen].astype(np.float64))
        return Votes(
            np.vstack(parts), np.concatenate(counts), self.model.n_votes, np.concatenate(known)
        )
