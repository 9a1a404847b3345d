"""A table for the demonstration: four models route support tickets, and two of them are close."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.data import Demo
from tallystick.data.generated import draw_answers, draw_truth

__all__ = ["demo"]

_TICKETS = ("billing", "bug", "login", "refund")
_ACCURACY = {"large": 0.86, "distilled": 0.85, "medium": 0.8, "small": 0.7}


def demo(rng: Rng) -> Demo:
    """Return the answers of four models to 1,200 tickets, with the truth."""
    draw = as_rng(rng)
    n = 1200
    truth, hard = draw_truth(n, (0.4, 0.3, 0.2, 0.1), draw), draw.standard_normal(n)
    names = np.array(_TICKETS)
    answers = {
        name: names[draw_answers(truth, accuracy, 4, draw, hard=hard, shared=0.6)]
        for name, accuracy in _ACCURACY.items()
    }
    return Demo(
        story="Four models route 1,200 support tickets. Which is better?",
        table={"item": np.arange(n), "truth": names[truth], **answers},
        options={"truth": "truth"},
    )
