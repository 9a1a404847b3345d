"""A table for the demonstration: one team's table that answers several questions."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.data import Demo
from tallystick.data.generated import draw_answers, draw_truth

__all__ = ["demo"]

_TICKETS = ("billing", "bug", "login", "refund")
_ACCURACY = {"model_a": 0.87, "model_b": 0.83, "model_c": 0.76}


def demo(rng: Rng) -> Demo:
    """Return 2,400 support tickets: three rounds, three models, and an API in two versions."""
    draw = as_rng(rng)
    n = 2400
    truth, hard = draw_truth(n, (0.4, 0.3, 0.2, 0.1), draw), draw.standard_normal(n)
    names = np.array(_TICKETS)
    sure = np.clip(0.75 - 0.12 * hard + 0.05 * draw.standard_normal(n), 0.01, 0.99)
    old = draw_answers(truth, 0.84, 4, draw, hard=hard, shared=0.6)
    moved = (draw.random(n) < 0.3) & (truth == 3)
    answers = {
        name: names[draw_answers(truth, right, 4, draw, hard=hard, shared=0.6)]
        for name, right in _ACCURACY.items()
    }
    return Demo(
        story=(
            "A team's table of 2,400 support tickets: three rounds, three models, an API in two"
            " versions."
        ),
        table={
            "item": np.arange(n),
            "round": np.repeat(np.arange(1, 4), n // 3),
            "truth": names[truth],
            "pred_old": names[old],
            "pred_new": names[np.where(moved, 0, old)],
            "conf_old": np.round(sure, 4),
            **answers,
        },
    )
