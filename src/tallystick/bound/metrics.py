r"""Metrics as functions of three vectors: T_c = P(h = c, Y = c), H_c = P(h = c) and Y_c = P(Y = c).

Each comes with its slopes, which is all that the delta method needs: H and Y are estimated as well,
and Corollary 3.1 of [MP23]_ leaves their part out (and forgets to square the denominator of F1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from tallystick.bound.blocks import FloatArray
from tallystick.errors import InputError
from tallystick.stats.transport import Side

__all__ = ["METRICS", "Metric", "Slopes", "Summary", "moved", "summary"]

Metric: TypeAlias = Literal[
    "accuracy",
    "precision",
    "recall",
    "f1",
    "macro-precision",
    "macro-recall",
    "macro-f1",
    "micro-f1",
]
METRICS: tuple[Metric, ...] = get_args(Metric)
_NOTHING = 1e-12
"""A class of less probability does not occur."""
_LEAST = 1e-9
"""What an error of δ leaves at least of a class: enough for its ratios to exist."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """A metric's value, its derivatives by T, H and Y, each (…, classes)."""

    value: FloatArray
    by_t: FloatArray
    by_h: FloatArray
    by_y: FloatArray


@dataclass(frozen=True, slots=True)
class Summary:
    """Which number is meant: a *metric* and, for precision, recall and F1 of one class, that
    *positive* class.
    """

    metric: Metric
    positive: int | None = None

    def slopes(self, t: FloatArray, h: FloatArray, y: FloatArray) -> Slopes:
        r"""Return the value and its slopes; NaN where a denominator is 0, or rounding that is left
        of it.

        .. math:: \text{accuracy} = \sum_c T_c, \quad \text{precision}_c = T_c/H_c, \quad
                  \text{recall}_c = T_c/Y_c, \quad F_c = 2T_c/(H_c + Y_c)
        """
        none = np.zeros_like(t)
        # with one label an item all micro averages are the accuracy
        if self.metric in ("accuracy", "micro-f1"):
            return Slopes(t.sum(axis=-1), np.ones_like(t), none, none)
        kind = self.metric.removeprefix("macro-")
        below = {"precision": h, "recall": y, "f1": (h + y) / 2}[kind]
        below = np.where(below > _NOTHING, below, np.nan)
        ratio, up = t / below, 1 / below
        down = -ratio * up
        if self.positive is None:
            share: FloatArray = np.full(t.shape[-1], 1 / t.shape[-1])
        else:
            share = np.eye(t.shape[-1])[self.positive]
        ratio, up, down = (np.where(share > 0, part, 0.0) for part in (ratio, up, down))
        by_h = {"precision": down, "recall": none, "f1": down / 2}[kind]
        by_y = {"precision": none, "recall": down, "f1": down / 2}[kind]
        return Slopes((share * ratio).sum(axis=-1), share * up, share * by_h, share * by_y)


def summary(metric: str, positive: int | None) -> Summary:
    """Check that the metric exists and that it is said of which class it is."""
    named: dict[str, Metric] = {known: known for known in METRICS}
    if metric not in named:
        raise InputError(f"metric must be one of {', '.join(METRICS)} or risk, got {metric!r}")
    single = metric in ("precision", "recall", "f1")
    if single and positive is None:
        raise InputError(
            f"{metric} is that of one class: name it with positive (or ask for macro-{metric})"
        )
    return Summary(named[metric], positive if single else None)


def moved(
    wanted: Summary, t: FloatArray, h: FloatArray, y: FloatArray, *, side: Side, delta: float
) -> tuple[FloatArray, FloatArray]:
    r"""Let the label model be wrong by δ on average: the worst vertex of what T_c and Y_c can then
    be.

    An error that raises p by e raises T by at most e and Y by e; one that lowers it lowers Y by e
    and T by nothing, seen from above. A ratio of linear functions is largest at a vertex, (T + δ, Y
    + δ) or (T, Y - δ); below they are (T - δ, Y - δ) and (T, Y + δ).
    """
    if delta == 0:
        return t, y
    sign = 1.0 if side == "upper" else -1.0
    if wanted.metric in ("accuracy", "micro-f1"):
        classes = t.shape[-1]
        return t + sign * delta / classes, y  # the sum over classes moves by δ
    pairs = [
        (np.maximum(t + sign * delta, 0), np.maximum(y + sign * delta, _LEAST)),
        (t, np.maximum(y - sign * delta, _LEAST)),
    ]
    ratios = []
    for a, b in pairs:
        below = {"precision": h, "recall": b, "f1": (h + b) / 2}[
            wanted.metric.removeprefix("macro-")
        ]
        ratios.append(a / np.maximum(below, _LEAST))
    pick = ratios[0] >= ratios[1] if side == "upper" else ratios[0] <= ratios[1]
    return np.where(pick, pairs[0][0], pairs[1][0]), np.where(pick, pairs[0][1], pairs[1][1])
