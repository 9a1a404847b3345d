"""The parts of a result of judge: scores, shares, estimates, alarms, agreement, forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tallystick.results import Interval, Unknown

__all__ = [
    "AgreementPair",
    "AgreementTable",
    "Alarm",
    "CalibrationBin",
    "CalibrationCheck",
    "CovariateEffect",
    "Estimate",
    "JudgeScore",
    "LabelScore",
    "LabelsNeeded",
    "Number",
    "Range",
    "Share",
    "Solution",
    "Statement",
]

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
class Estimate:
    """What one method says of all judges.

    ``rejected`` is True where labels refute it, False where they do not, None where nothing could
    (``why`` says so).
    """

    method: str
    assumption: str
    accuracy: Mapping[str, Number]
    prevalence: Mapping[str, Number] = field(default_factory=dict)
    rejected: bool | None = None
    why: str = ""


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
