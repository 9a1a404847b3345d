"""What votes alone say, fitted once: the label-free headline, its misfit, the support."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import NotIdentifiable
from tallystick.judge.ballots import Ballots
from tallystick.results import Unknown
from tallystick.stats.latent import (
    Headline,
    Misfit,
    Support,
    UnreadableFit,
    blend,
    fit_unreadable,
    misfit,
    support,
)
from tallystick.stats.latent.unreadable import fit_plain
from tallystick.stats.latent.votes import as_votes

__all__ = ["MOST_CELLS", "MOST_PATTERNS", "VoteModel", "fit_vote_model", "sample_items"]

MOST_PATTERNS = 20_000
"""Models are fitted to at most this many different vote patterns.

With 30 judges nearly every item has a pattern of its own, and the cost of a model is that of its
patterns. Beyond this number the models see a random part of the items; votes, labels and agreement
are still counted on all.
"""

MOST_CELLS = 400_000
"""Patterns times labels up to which models are fitted: each step of a fit takes that many numbers.

It lowers the number of patterns from 21 labels on; with 100 labels it is 4,000.
"""

_PATTERNS_FOR_REFITS, _CELLS_FOR_REFITS = 4_000, 200_000
"""The misfit test refits the model 19 times; beyond these sizes it sees a random part."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VoteModel:
    """Dawid-Skene with unreadable items, fitted to votes without any truth.

    Parameters
    ----------
    headline
        Accuracies, ranges, tables and label shares (U5, U6).
    misfit
        The test of independent errors, or why nothing can be tested.
    support
        Per pattern of the ballots it was asked for (U7).
    fit
        The fits for every share of unreadable items.
    n_model
        How many items the model was fitted to.
    """

    headline: Headline
    misfit: Misfit | Unknown
    support: Support
    fit: UnreadableFit
    n_model: int


def fit_vote_model(blind: Ballots, sample: Ballots, *, rng: Rng) -> VoteModel:
    """Fit the label-free model to *sample* and give every pattern of *blind* its support.

    Parameters
    ----------
    blind
        All votes, without any truth.
    sample
        The same, or what `sample_items` drew from them.
    rng
        For the refits of the misfit test.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges: their votes say how far they agree, not who is right.

    Examples
    --------
    >>> from tallystick.tally import Tally
    >>> votes = Tally.of({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 0] * 9, "c": [0, 1, 1, 1] * 9})
    >>> ballots = Ballots.of(votes)
    >>> fit_vote_model(ballots, ballots, rng=0).headline.accuracy.round(2)
    array([0.88, 0.71, 0.71])
    """
    n_labels, n_votes = len(blind.classes), len(blind.classes) + len(blind.extras)
    fit = fit_unreadable(sample.codes, sample.counts, n_labels=n_labels, n_votes=n_votes)

    # The misfit test counts items, so weights that are not whole numbers leave it out.
    found: Misfit | Unknown = Unknown("the votes are weighted, and the test counts items")
    if bool((sample.counts == np.floor(sample.counts)).all()):
        found = _tested(fit, sample, n_votes, rng)
    if isinstance(found, Misfit):
        headline = blend(fit, pull=float(np.clip(found.ratio - 1, 0, 1)), ratio=found.ratio)
    else:
        headline = blend(fit, pull=0.5, ratio=found)
    return VoteModel(
        headline=headline,
        misfit=found,
        support=support(fit, None if sample is blind else blind.codes),
        fit=fit,
        n_model=round(sample.n),
    )


def _tested(fit: UnreadableFit, sample: Ballots, n_votes: int, rng: Rng) -> Misfit | Unknown:
    plain = fit.plain
    try:
        most = min(_PATTERNS_FOR_REFITS, _CELLS_FOR_REFITS // len(sample.classes))
        small = sample_items(sample, most=most, rng=rng)
        if small is not sample:
            n_labels = len(sample.classes)
            votes = as_votes(small.codes, small.counts, n_classes=n_labels, n_votes=n_votes)
            plain = fit_plain(votes, n_labels)
        return misfit(plain, rng=rng)
    except NotIdentifiable as error:
        return Unknown(str(error))


def sample_items(ballots: Ballots, *, most: int | None = None, rng: Rng) -> Ballots:
    """Return ballots of at most *most* patterns: all of them, or *most* items drawn at random.

    By default *most* follows from `MOST_PATTERNS` and `MOST_CELLS`.

    The draw is without replacement. Weights that are not whole numbers cannot be drawn from item by
    item; patterns are then drawn with chances in proportion to their weight.

    >>> from tallystick.tally import Tally
    >>> votes = Ballots.of(Tally.of({"a": [0, 1, 2, 0], "b": [0, 0, 1, 2]}))
    >>> sample_items(votes, rng=0) is votes, sample_items(votes, most=3, rng=0).n
    (True, 3.0)
    """
    if most is None:
        most = min(MOST_PATTERNS, MOST_CELLS // len(ballots.classes))
    if len(ballots.counts) <= most:
        return ballots
    draw = as_rng(rng)
    if bool((ballots.counts == np.floor(ballots.counts)).all()):
        counts = draw.multivariate_hypergeometric(
            ballots.counts.astype(np.int64), most, method="marginals"
        ).astype(np.float64)
    else:
        counts = draw.multinomial(most, ballots.counts / ballots.n).astype(np.float64)
    kept = counts > 0
    return replace(
        ballots,
        codes=ballots.codes[kept],
        counts=counts[kept],
        truth=ballots.truth[kept],
        place=ballots.place[kept],
    )
