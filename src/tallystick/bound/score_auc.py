"""The AUC of a score: from labels where there are 20, otherwise the robust range over label models.

It needs the rows, since the score was cut into bins when it was counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from tallystick._rng import as_rng
from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.label_intervals import ENOUGH
from tallystick.bound.label_models import family_of
from tallystick.bound.prepared import fitted
from tallystick.bound.question import BoundQuestion
from tallystick.bound.ranking import AucEnds, auc_ends
from tallystick.bound.result import Bound, BoundResult, GoldEstimate
from tallystick.bound.robust import robust_bound
from tallystick.bound.row_patterns import class_codes, row_patterns
from tallystick.bound.weak_votes import weak_table
from tallystick.data import Data
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse import adverse_auc
from tallystick.tally import Tally

__all__ = ["with_auc"]

_METHOD = "Fréchet bounds of the AUC, forward dual"


def with_auc(
    data: Data, question: BoundQuestion, result: BoundResult, shared: Mapping[str, Any]
) -> BoundResult:
    """Add the AUC to the answer for a score; a saved tally has no scores, only bins."""
    if isinstance(data.held, Tally) or data.roles.score is None or data.roles.weight is not None:
        return result
    score = data.numbers(data.roles.score, low=0.0, high=1.0).reshape(-1)
    table = weak_table(
        data.tally("weak", "truth"), weak=result.weak, truth=None, classes=result.classes
    )
    positive = (
        1 if question.positive is None else table.class_of(question.positive, role="positive")
    )
    label = result.classes[positive]

    # Labels first: they need no label model.
    truth = shared["truth"]
    if truth is not None:
        codes = class_codes(data, (truth,), result.classes)[:, 0]
        known = codes >= 0
        if known.sum() >= ENOUGH:
            yes = known & (codes == positive)
            found = adverse_auc(score[yes], score[known & ~yes], alpha=question.alpha)
            one = GoldEstimate(
                metric="auc",
                positive=label,
                labels=int(known.sum()),
                estimate=found.estimate,
                interval=found.interval,
                worth=Unknown("votes are not used for the AUC"),
            )
            return replace(result, gold=(*result.gold, one))

    place = row_patterns(data, table)
    fitting = question.fitting()
    family = family_of(table, balance=fitting.balance)
    streams = as_rng(question.seed).spawn(len(family.models) + len(shared["label_models"]) + 3)[3:]
    laws = [law[:, positive] for law in family.laws]
    rows = (score, place, table.weight)
    members = [
        _bound(_ends(rows, law, stream), model.name, label, question.alpha, family.distance, law)
        for model, law, stream in zip(family.models, laws, streams, strict=False)
    ]
    bounds = [robust_bound(members)]
    for named, stream in zip(shared["label_models"], streams[len(laws) :], strict=True):
        model = fitted(named, table, fitting)
        law = model.probabilities(table)[:, positive]
        bounds.append(_bound(_ends(rows, law, stream), model.name, label, question.alpha, 0.0, law))
    return replace(result, bounds=(*result.bounds, *bounds))


def _ends(
    rows: tuple[FloatArray, IntArray, FloatArray], law: FloatArray, stream: np.random.Generator
) -> AucEnds | None:
    score, place, weight = rows
    if not np.isfinite(law).all():
        return None
    return auc_ends(score, place, law, weight, rng=stream)


def _bound(
    ends: AucEnds | None,
    name: str,
    label: Any,
    alpha: float,
    distance: float,
    law: Sequence[float] | FloatArray,
) -> Bound:
    r"""Turn the ends into a bound, widened by what an error of *distance* can do.

    An error δ in P(Y | Z) moves the law of the positives by at most :math:`\delta/\pi` and that of
    the negatives by :math:`\delta/(1 - \pi)`, and the AUC by at most the sum.
    """
    shared = {"metric": "auc", "positive": label, "threshold": None, "label_model": name}
    if ends is None:
        reason = Unknown("the label model leaves a class without rows, or patterns unknown")
        blank: dict[str, Any] = dict.fromkeys(
            ("lower", "upper", "lower_interval", "upper_interval"), reason
        )
        blank |= dict.fromkeys(("independent_estimate", "plugin_lower", "plugin_upper"), reason)
        return Bound(**shared, **blank, method=_METHOD)
    pi = min(max(float(np.mean(law)), 1e-9), 1 - 1e-9)
    slack = distance * (1 / pi + 1 / (1 - pi))
    low, high = ends.edges(NormalDist().inv_cdf(1 - alpha / 2))
    low, high = max(0.0, low - slack), min(1.0, high + slack)
    lower = float(np.clip(ends.lower - slack, low, high))
    upper = float(np.clip(ends.upper + slack, lower, high))
    assumption = f"the label model {name} is right"
    return Bound(
        **shared,
        lower=lower,
        upper=upper,
        lower_interval=Interval(low, lower, 1 - alpha, "under", assumption, _METHOD),
        upper_interval=Interval(upper, high, 1 - alpha, "under", assumption, _METHOD),
        method=_METHOD,
        independent_estimate=ends.independent,
        plugin_lower=ends.sharp[0],
        plugin_upper=ends.sharp[1],
    )
