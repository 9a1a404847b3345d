"""Whether the human grades can speak for all outputs: which outputs were chosen for grading."""

from __future__ import annotations

import math

import numpy as np

from tallystick.errors import InputError
from tallystick.score.outputs import Floats, Outputs

__all__ = ["check_draw", "chosen_by_consensus", "split_outputs"]

BEYOND_CHANCE = 1e-4
"""A draw that chance makes more rarely than this was not a random one."""


def split_outputs(outputs: Outputs) -> Floats:
    """Return 1 for entries on which the judges disagree, 0 for the others."""
    low, high = np.full(len(outputs.counts), np.inf), np.full(len(outputs.counts), -np.inf)
    for j in range(len(outputs.judges)):
        low = np.fmin(low, outputs.grades[:, j])
        high = np.fmax(high, outputs.grades[:, j])
    return np.where(high > low, 1.0, 0.0)


def check_draw(outputs: Outputs, draw: str) -> None:
    """Refuse labels from which no mean can be learnt.

    Labels that stand only where judges disagree say nothing about the outputs on which the judges
    agree, which are usually most of them. With known probabilities they would.
    """
    if draw == "all":
        blank = outputs.n - outputs.n_labels
        if blank:
            raise InputError(
                f"label_draw all says that every output has a human grade, and {blank:,} of"
                f" {outputs.n:,} have none: fill them in, or say how they were chosen"
                " (--label-draw random or unknown)"
            )
        return
    if outputs.probability is not None or not outputs.n_labels:
        return
    split = split_outputs(outputs) > 0
    total, apart = outputs.n, float(outputs.counts[split].sum())
    labels = outputs.n_labels
    on_split = float(outputs.counts[split & outputs.known].sum())
    if on_split < labels or apart == total:
        return
    if _all_inside(total, apart, labels) < BEYOND_CHANCE:
        raise InputError(
            f"all {labels:,} human grades are on outputs where the judges disagree, which are"
            f" {100 * apart / total:.0f} % of the {total:,} outputs: they say nothing about the"
            " rest, so no score can be made of them. Grade outputs drawn at random, or give the"
            " probability with which each was chosen (--probability)"
        )


def _all_inside(total: float, inside: float, labels: int) -> float:
    """Return the chance that a random draw falls inside a part with every label."""
    if labels > inside:
        return 0.0
    lg = math.lgamma
    return math.exp(
        lg(inside + 1) - lg(inside - labels + 1) - lg(total + 1) + lg(total - labels + 1)
    )


def chosen_by_consensus(outputs: Outputs, values: Floats) -> tuple[float, float] | None:
    """Return the share of judged passes among graded and among all outputs, if chance cannot
    explain the difference; None if it can.
    """
    if outputs.probability is not None or not 0 < outputs.n_labels < outputs.n:
        return None
    # System by system: that people graded one system only is said elsewhere.
    passed, k = values > 0.5, len(outputs.systems)
    n, m, inside, seen = (
        np.bincount(outputs.system[mask], weights=outputs.counts[mask], minlength=k)
        for mask in (
            np.ones(len(values), np.bool_),
            outputs.known,
            passed,
            passed & outputs.known,
        )
    )
    share = np.divide(inside, n, out=np.zeros(k), where=n > 0)
    left = np.divide(n - m, np.maximum(1, n - 1))
    spread = math.sqrt(float((m * share * (1 - share) * left).sum()))
    expected, found = float((m * share).sum()), float(seen.sum())
    if spread == 0 or abs(found - expected) < 4.0 * spread + 0.5:
        return None
    return found / float(m.sum()), expected / float(m.sum())
