"""A table for the demonstration: five language models judge the answers of a chat bot."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.data import Demo
from tallystick.data.generated import draw_answers, draw_truth

__all__ = ["demo"]

_ACCURACY = {"gpt": 0.91, "claude": 0.9, "llama": 0.82, "gemini": 0.86, "mistral": 0.74}


def demo(rng: Rng) -> Demo:
    """Return votes of five judges on 3,000 answers, of which people checked 150."""
    draw = as_rng(rng)
    n = 3000
    truth = draw_truth(n, (0.7, 0.3), draw)
    names = np.array(["good", "bad"])
    gold = np.full(n, "", dtype=object)
    known = draw.choice(n, 150, replace=False)
    gold[known] = names[truth[known]]
    votes = {name: names[draw_answers(truth, a, 2, draw)] for name, a in _ACCURACY.items()}
    return Demo(
        story=(
            "Five language models judge 3,000 answers of a chat bot; people checked 150 of them."
            " How good are the judges?"
        ),
        table={"item": np.arange(n), "gold": gold, **votes},
        options={"truth": "gold"},
    )
