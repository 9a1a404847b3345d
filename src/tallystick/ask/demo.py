"""A table for the demonstration: what a judge wrote about answers, in its own words."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.data import Demo

__all__ = ["demo"]

_SAYS = {
    "good": ("The answer is good.", "I would say it is good.", "**good**", "Verdict: good"),
    "bad": ("The answer is bad.", "It is not good; it is bad.", "bad", "Label: bad"),
    "": ("I'm sorry, but I can't judge this.",),
}


def demo(rng: Rng) -> Demo:
    """Return 400 free-text replies of a judge; one in fifty is a refusal."""
    draw = as_rng(rng)
    kinds = draw.choice(["good", "bad", ""], 400, p=[0.68, 0.3, 0.02])
    replies = [str(draw.choice(_SAYS[str(kind)])) for kind in kinds]
    return Demo(
        story=(
            "A judge answered 400 times, in words. Which grade does each reply state, and which"
            " replies state none?"
        ),
        table={"item": np.arange(400), "reply": replies},
        options={
            "api": "replay:reply",
            "answer": "words",
            "labels": ("good", "bad"),
        },
    )
