"""What is known of each item: a support without labels, a calibrated probability with 20 or more.

The posterior of a latent-class model is not a probability of being right: on real panels of
language models it said .96 to .98 where .47 to .72 were right. With labels drawn at random the
support and the votes are calibrated (U8, U9, U11); how well that went is measured on folds that
were left out (U10).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tallystick._rng import Rng
from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.parts import CalibrationBin, CalibrationCheck
from tallystick.stats.latent import (
    Support,
    calibrate,
    cross_fitted,
    expected_calibration_error,
)

__all__ = [
    "LEAST_LABELS",
    "ItemSupport",
    "item_support",
    "labels_by_pattern",
    "noise_floor",
    "support_by_shares",
]

LEAST_LABELS = 20
"""Labels that a calibration needs."""

_BINS = 10
_SHOWN_BINS = 5


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSupport:
    """Columns for each pattern of the tally of judges, and how well they are calibrated.

    Parameters
    ----------
    columns
        ``consensus``, then ``probability`` (with labels) or ``support`` (without).
    calibration
        The check on labels that were left out; None without a calibration.
    """

    columns: Mapping[str, Sequence[Any]]
    calibration: CalibrationCheck | None


def item_support(
    ballots: Ballots, given: Support, *, trusted: bool = True, rng: Rng = 0
) -> ItemSupport:
    """Return what is known of the items of every vote pattern.

    Parameters
    ----------
    ballots
        Votes with the truth where it is known.
    given
        The support of every pattern of ``ballots.blind``.
    trusted
        Whether the labels look like a random draw. A calibration by labels that were chosen would
        be wrong for the other items.
    rng
        For the folds of the check.

    Examples
    --------
    >>> from tallystick.tally import Tally
    >>> votes = {"a": [0, 1] * 20, "b": [0, 1, 1, 1] * 10, "gold": [0, 1, 0, 0] * 10}
    >>> ballots = Ballots.of(Tally.of(votes), truth="gold")
    >>> found = item_support(ballots, support_by_shares(ballots.blind))
    >>> list(found.columns), found.calibration.n_labels
    (['consensus', 'probability'], 40)
    """
    blind = ballots.blind
    truth = labels_by_pattern(ballots)
    if truth.sum() < LEAST_LABELS or not trusted or (truth != np.floor(truth)).any():
        level = given.support[np.arange(len(given.consensus)), given.consensus]
        return ItemSupport(
            columns=_placed(blind, given.consensus, "support", level), calibration=None
        )

    found = calibrate(given, truth, votes=blind.codes)
    level = found.probability[np.arange(len(found.consensus)), found.consensus]
    stated, right = cross_fitted(given, truth, votes=blind.codes, rng=rng)
    return ItemSupport(
        columns=_placed(blind, found.consensus, "probability", level),
        calibration=CalibrationCheck(
            error=expected_calibration_error(stated, right, n_bins=_BINS),
            noise_floor=noise_floor(stated),
            n_labels=int(truth.sum()),
            bins=_bins(stated, right),
        ),
    )


def support_by_shares(blind: Ballots) -> Support:
    """Return the support where no model can be fitted: the vote shares themselves.

    >>> from tallystick.tally import Tally
    >>> support_by_shares(Ballots.of(Tally.of({"a": [0, 1], "b": [0, 0]}))).support.tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    n_labels = len(blind.classes)
    cast = np.stack([(blind.codes == c).sum(axis=1) for c in range(n_labels)], axis=1)
    total = cast.sum(axis=1, keepdims=True)
    share = np.where(total > 0, cast / np.maximum(total, 1), 1 / n_labels)
    return Support(support=share, share=share, consensus=share.argmax(axis=1))


def labels_by_pattern(ballots: Ballots) -> Floats:
    """Return patterns of the blind ballots x labels: labelled items that are truly of each label.

    >>> from tallystick.tally import Tally
    >>> votes = Tally.of({"a": [0, 0, 1, 1], "gold": [0, 1, None, 1]})
    >>> labels_by_pattern(Ballots.of(votes, truth="gold")).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    where = np.full(ballots.votes.patterns, -1)
    where[ballots.blind.place] = np.arange(len(ballots.blind.place))
    known = ballots.truth >= 0
    table = np.zeros((len(ballots.blind.counts), len(ballots.classes)))
    np.add.at(table, (where[ballots.place[known]], ballots.truth[known]), ballots.counts[known])
    return table


def _placed(blind: Ballots, consensus: Any, name: str, level: Floats) -> dict[str, Sequence[Any]]:
    """Return columns with one entry per pattern of the tally, None where no item shows it."""
    labels: list[Any] = [None] * blind.votes.patterns
    levels: list[Any] = [None] * blind.votes.patterns
    spoken = (blind.codes >= 0).any(axis=1)
    for i in np.flatnonzero(spoken).tolist():
        place = int(blind.place[i])
        labels[place], levels[place] = blind.classes[int(consensus[i])], float(level[i])
    return {"consensus": labels, name: levels}


def noise_floor(stated: Floats) -> float:
    """Return about what a perfect forecast would score on as many labels."""
    edges = np.linspace(0, stated.size, min(_BINS, stated.size) + 1).round().astype(np.int64)
    ordered = np.sort(stated)
    parts = [ordered[a:b] for a, b in pairwise(edges) if b > a]
    spread = [len(p) * np.sqrt(2 / np.pi * p.mean() * (1 - p.mean()) / len(p)) for p in parts]
    return float(np.sum(spread) / stated.size)


def _bins(stated: Floats, right: Floats) -> tuple[CalibrationBin, ...]:
    order = np.argsort(stated, kind="stable")
    parts = np.array_split(order, min(_SHOWN_BINS, max(1, stated.size // 4)))
    return tuple(
        CalibrationBin(
            stated=float(stated[p].mean()), right=float(right[p].mean()), labels=int(p.size)
        )
        for p in parts
    )
