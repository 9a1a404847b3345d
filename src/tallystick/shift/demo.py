"""A table for the demonstration: a sentiment API in two versions."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.data import Demo
from tallystick.data.generated import draw_answers, draw_truth

__all__ = ["demo"]

_BUDGET = 600


def demo(rng: Rng) -> Demo:
    """Return answers of two versions on 8,000 reviews; 600 of the new ones may be looked at.

    The new version calls more neutral reviews negative, where the old one was not sure.
    """
    draw = as_rng(rng)
    n = 8000
    truth = draw_truth(n, (0.5, 0.3, 0.2), draw)
    names = np.array(["positive", "negative", "neutral"])
    sure = draw.beta(5, 2, n)
    old = draw_answers(truth, 0.88, 3, draw, hard=-(sure - 0.71) / 0.16, shared=0.5)
    moved = (draw.random(n) < 0.25) & (truth == 2) & (sure < 0.7)
    new = np.where(moved, 1, old)
    return Demo(
        story=(
            "A sentiment API has a new version. You have 8,000 labelled reviews and pay for"
            f" {_BUDGET} calls. What changed?"
        ),
        table={
            "item": np.arange(n),
            "truth": names[truth],
            "pred_old": names[old],
            "pred_new": names[new],
            "conf_old": np.round(sure, 4),
        },
        options={
            "truth": "truth",
            "old": "pred_old",
            "confidence": "conf_old",
            "api": "replay:pred_new",
            "budget": _BUDGET,
            "deterministic": True,
        },
    )
