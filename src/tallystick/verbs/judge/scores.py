"""The parts of a result of judge: scores, shares, estimates, alarms, agreement, forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.table.cells import Label, identity
from tallystick.table.panel import Ints, Panel

Ranges: TypeAlias = Mapping[Label, tuple[float, float]]
"""Known ranges of prevalence, label to (low, high)."""

Number: TypeAlias = float | Unknown
Range: TypeAlias = Interval | Unknown

_ONLY_LABELS = Unknown("worked out from labels only, by evaluate and few_labels")
_HAS_INTERVAL = Unknown("the interval says how sure the number is")


@dataclass(frozen=True, kw_only=True)
class LabelScore:
    """How often a judge is right on items of one label, and what logic alone allows."""

    estimate: Number
    interval: Range
    logical: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class JudgeScore:
    """One judge: the share of its votes that are right, overall and by true label.

    Parameters
    ----------
    name
        The judge.
    accuracy, interval
        For these items. Without labels there is no interval, and the reason stands in its place.
    per_label
        The same on items of each label.
    votes
        How many votes it cast.
    logical
        What logic alone allows, whatever the truth is.
    new_items
        Where labels allow one, an interval for new items like the labelled ones.
    range
        Without labels: from twice the largest to half of the smallest estimate of the error rate
        (U6), (low, high). It held for most judges of comparable panels and is not an interval.
    answered, when_answered
        Where some votes can never be true (tie, refusal): the share of its votes that are possible
        labels, and the share of these that are right. None where every vote is a possible label.
    tpr, tnr
        With two labels: the true positive rate (on items of the positive label) and the true
        negative rate. None otherwise.
    """

    name: str
    accuracy: Number
    interval: Range
    per_label: Mapping[str, LabelScore] = field(default_factory=dict)
    votes: float = 0.0
    logical: Interval | None = None
    new_items: Range = _ONLY_LABELS
    range: tuple[float, float] | Unknown = _HAS_INTERVAL
    answered: float | None = None
    when_answered: Share | None = None
    tpr: LabelScore | None = None
    tnr: LabelScore | None = None


@dataclass(frozen=True, kw_only=True)
class Share:
    """How common a label is."""

    estimate: Number
    interval: Range


@dataclass(frozen=True, kw_only=True)
class AgreementPair:
    """How far two judges agree, or a judge and the truth.

    ``weighted_kappa`` (quadratic), ``within_one`` and ``bias`` (how much higher the first grades)
    are for grades in order and None elsewhere.
    """

    a: str
    b: str
    n_items: int
    raw: Share
    kappa: Share
    gwet_ac1: Share
    weighted_kappa: Share | None = None
    within_one: Share | None = None
    bias: Share | None = None


@dataclass(frozen=True, kw_only=True)
class AgreementTable:
    """Agreement of a panel.

    Parameters
    ----------
    between
        All judges together: raw agreement, Fleiss' kappa, Krippendorff's alpha, Gwet's AC1.
    pairs, with_truth
        Every pair of judges; every judge and the truth, on labelled items.
    ordinal
        Whether the labels are read as grades in order.
    note
        What limits the numbers, or nothing.
    """

    between: Mapping[str, Share]
    pairs: tuple[AgreementPair, ...]
    with_truth: tuple[AgreementPair, ...]
    ordinal: bool
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """Labelled items with like probabilities: what was stated, and how many were right."""

    stated: float
    right: float
    labels: int


@dataclass(frozen=True, kw_only=True)
class CalibrationCheck:
    """How well item probabilities are calibrated, measured on labels that were left out.

    ``noise_floor`` is about what a perfect forecast would score on as many labels.
    """

    error: float
    noise_floor: float
    n_labels: int
    bins: tuple[CalibrationBin, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LabelsNeeded:
    """Forecasts of labels, in addition to those that are there.

    Parameters
    ----------
    precision
        For an interval of ± 5 points for every judge; 0 if they have it.
    leader
        To tell the leader from every rival; 0 if it is told, None if no forecast can be made.
    left
        Items of the table without a label: no forecast exceeds it.
    enough
        Whether labelling all that is left is expected to tell the leader.
    """

    precision: int
    leader: int | None
    left: int
    enough: bool


@dataclass(frozen=True, kw_only=True)
class CovariateEffect:
    """How a judge's errors, and its lean towards the positive label, change with a covariate.

    Slopes are per standard deviation of the covariate, as shares (0.04 is 4 points). With labels
    they are absolute; without, relative to the other judges, so a bias that all share shows
    nothing. ``lean`` is for two labels and None elsewhere.
    """

    judge: str
    covariate: str
    error: Share
    error_p: Number
    lean: Share | None
    lean_p: Number
    n_items: int
    relative: bool


@dataclass(frozen=True, kw_only=True)
class Solution:
    """One point that explains the votes equally well, and why it was chosen or not."""

    prevalence: Mapping[str, Number]
    accuracy: Mapping[str, Mapping[str, Number]]
    chosen: bool
    branch: str


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """Something that the votes (or labels) prove, and what that does not prove."""

    name: str
    proves: str
    does_not_prove: str


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that holds whatever the truth is.

    One of *judges* reaches at most *bound*, or at least *bound* where *at_least* is set.
    """

    text: str
    judges: tuple[str, ...]
    bound: float
    at_least: bool = False


# Items by judge, by its vote and by the consensus, counted once for all labels.
#
# Asking for each label anew costs the patterns times the labels: with 100 labels and 80,000
# patterns that took several seconds.


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelCells:
    """Items by judge, by its vote and by the consensus; counted once for all labels.

    Parameters
    ----------
    sizes, labelled
        Judges x votes x labels of the consensus: items, and labelled ones.
    hits
        Judges x labels x 4: labelled items of each true label, in the cells of `on_label`.
    """

    sizes: Ints
    labelled: Ints
    hits: Ints

    @classmethod
    def of(cls, panel: Panel, chosen: Ints) -> LabelCells:
        """Count *panel* against *chosen*, the consensus label of each pattern.

        >>> from tallystick.table import Tally
        >>> votes = Tally.of({"a": [0, 1, 1], "b": [0, 1, 0], "gold": [0, None, 1]})
        >>> panel = Panel.of(votes, truth="gold")
        >>> LabelCells.of(panel, panel.codes[:, 0]).on_label(1)[0].tolist()
        [[2, 0, 0, 1], [1, 0, 1, 1]]
        """
        n_labels = len(panel.classes)
        n_votes = n_labels + len(panel.extras)
        known = panel.truth >= 0
        sizes, labelled, hits = [], [], []
        for column in panel.codes.T:
            voted = column >= 0
            cell = column * n_labels + chosen
            sizes.append(count_cells(panel, voted, cell, n_votes * n_labels))
            labelled.append(count_cells(panel, voted & known, cell, n_votes * n_labels))
            # Cells in the order of `on_label`: mine is the vote, theirs the consensus.
            wrong = 2 * (column != panel.truth) + (chosen != panel.truth)
            cell = panel.truth * 4 + wrong
            hits.append(count_cells(panel, voted & known, cell, n_labels * 4))
        shape = (len(panel.names), n_votes, n_labels)
        return cls(
            sizes=np.reshape(sizes, shape),
            labelled=np.reshape(labelled, shape),
            hits=np.reshape(hits, (len(panel.names), n_labels, 4)),
        )

    def on_label(self, c: int) -> tuple[Ints, Ints, Ints]:
        """Return judges x 4: items, labelled ones and those truly c.

        The cells: judge and consensus say c, only the judge, only the consensus, neither.
        """
        found = []
        for table in (self.sizes, self.labelled):
            both = table[:, c, c]
            mine, theirs = table[:, c].sum(axis=1), table[:, :, c].sum(axis=1)
            rest = table.sum(axis=(1, 2)) - mine - theirs + both
            found.append(np.stack((both, mine - both, theirs - both, rest), axis=1))
        return found[0], found[1], self.hits[:, c]


def count_cells(panel: Panel, where: NDArray[np.bool_], cell: Ints, size: int) -> Ints:
    """Return how many items lie in each cell, of those patterns *where* it is true."""
    counts = np.bincount(cell[where], weights=panel.counts[where], minlength=size)
    return counts.astype(np.int64)


def check_ranges(prevalence: Ranges | None, panel: Panel) -> dict[int, tuple[float, float]]:
    """Return prevalence ranges by label code; refuse what is no range, no label, or impossible
    together.
    """
    code = {identity(label): i for i, label in enumerate(panel.classes)}
    found: dict[int, tuple[float, float]] = {}
    for label, (low, high) in (prevalence or {}).items():
        if identity(label) not in code:
            raise InputError(
                f"prevalence names label {label!r}, which is not one of {list(panel.classes)}"
            )
        if not 0 <= low <= high <= 1 or high == 0 or low == 1:
            raise InputError(
                f"prevalence of {label!r} must be a range within (0, 1), got {low!r},{high!r}"
            )
        found[code[identity(label)]] = (float(low), float(high))
    every = [found.get(c, (0.0, 1.0)) for c in range(len(panel.classes))]
    if sum(low for low, _ in every) > 1 + 1e-12 or sum(high for _, high in every) < 1 - 1e-12:
        raise InputError(f"prevalence ranges {dict(prevalence or {})!r} cannot add up to 1")
    return found
