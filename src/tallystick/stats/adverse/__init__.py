"""The adverse likelihood: intervals from few labels that cannot collapse.

Each end is a likelihood-ratio bound that first sees a fraction of one more label at the worst
possible value. Judges, grades or votes on every item make it narrower; they are never trusted.

| question | call |
|---|---|
| how many items pass? | :func:`adverse_share`, :func:`adverse_share_weighted` |
| what is the mean score? | :func:`adverse_mean` |
| the same, from labels drawn by strata | :func:`adverse_stratified_mean` |
| how much better is A than B, on the same items? | :func:`adverse_difference` |
| the same, on different or partly common items | :func:`difference_of_estimates` |
| which order of several systems is proved? | :func:`compare_systems` |
| accuracy, precision, recall, F1, AUC of a classifier | :func:`adverse_accuracy` and so on |
| the same promises without "approximate" | :func:`certified_share`, :func:`certified_mean` |
| how many labels would be enough? | :func:`share_outlook`, :func:`labels_to_settle` and so on |

All of it needs labels that were drawn at random, or with known probabilities.
"""

from __future__ import annotations

from tallystick.stats.adverse.adjust import Adjusted, adjust
from tallystick.stats.adverse.auc import AucEstimate, AucPilot, adverse_auc, auc_pilot
from tallystick.stats.adverse.binary import (
    adverse_share,
    adverse_share_weighted,
    adverse_shares,
    raw_share_ends,
)
from tallystick.stats.adverse.certified import (
    CertifiedRows,
    certified_difference,
    certified_mean,
    certified_share,
)
from tallystick.stats.adverse.estimate import AdverseEstimate, AdverseEstimates
from tallystick.stats.adverse.forecast import (
    LabelRange,
    Outlook,
    labels_to_settle,
    mean_outlook,
    share_outlook,
)
from tallystick.stats.adverse.inclusion import WeightedStrata, label_weights, weighted_strata
from tallystick.stats.adverse.levels import (
    LevelEnds,
    Levels,
    certified_mean_levels,
    certified_share_levels,
    exact_levels,
    mean_levels,
    share_levels,
)
from tallystick.stats.adverse.numbers import (
    adverse_difference,
    adverse_mean,
    adverse_means,
    raw_mean_ends,
)
from tallystick.stats.adverse.pair import (
    CommonItems,
    difference_ends,
    difference_of_estimates,
    mover_reach,
)
from tallystick.stats.adverse.population import Population
from tallystick.stats.adverse.ratio_forecast import f1_outlook, precision_outlook, recall_outlook
from tallystick.stats.adverse.ratios import (
    adverse_accuracy,
    adverse_f1,
    adverse_precision,
    adverse_recall,
)
from tallystick.stats.adverse.spread import Spread
from tallystick.stats.adverse.strata import (
    certified_strata,
    graded_strata,
    stratum_counts,
    vote_strata,
)
from tallystick.stats.adverse.stratified import StratifiedMean, adverse_stratified_mean
from tallystick.stats.adverse.systems import (
    SystemPairs,
    compare_systems,
    mean_over_systems,
    pair_statistics,
)

__all__ = [
    "Adjusted",
    "AdverseEstimate",
    "AdverseEstimates",
    "AucEstimate",
    "AucPilot",
    "CertifiedRows",
    "CommonItems",
    "LabelRange",
    "LevelEnds",
    "Levels",
    "Outlook",
    "Population",
    "Spread",
    "StratifiedMean",
    "SystemPairs",
    "WeightedStrata",
    "adjust",
    "adverse_accuracy",
    "adverse_auc",
    "adverse_difference",
    "adverse_f1",
    "adverse_mean",
    "adverse_means",
    "adverse_precision",
    "adverse_recall",
    "adverse_share",
    "adverse_share_weighted",
    "adverse_shares",
    "adverse_stratified_mean",
    "auc_pilot",
    "certified_difference",
    "certified_mean",
    "certified_mean_levels",
    "certified_share",
    "certified_share_levels",
    "certified_strata",
    "compare_systems",
    "difference_ends",
    "difference_of_estimates",
    "exact_levels",
    "f1_outlook",
    "graded_strata",
    "label_weights",
    "labels_to_settle",
    "mean_levels",
    "mean_outlook",
    "mean_over_systems",
    "mover_reach",
    "pair_statistics",
    "precision_outlook",
    "raw_mean_ends",
    "raw_share_ends",
    "recall_outlook",
    "share_levels",
    "share_outlook",
    "stratum_counts",
    "vote_strata",
    "weighted_strata",
]
