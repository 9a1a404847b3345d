"""A table for the demonstration: three rounds of a benchmark that collects models' errors."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.data import Demo
from tallystick.data.generated import draw_answers, draw_truth

__all__ = ["demo"]

_SIZES, _EASE = (800, 700, 600), (0.9, 0.72, 0.64)
_MODELS = ("model_a", "model_b", "model_c", "model_d", "model_e")


def demo(rng: Rng) -> Demo:
    """Return a wide log of five models; later rounds are harder for all of them alike."""
    draw = as_rng(rng)
    names = np.array(["entailment", "neutral", "contradiction"])
    rounds = np.repeat(np.arange(1, 4), _SIZES)
    truth = draw_truth(len(rounds), (1 / 3, 1 / 3, 1 / 3), draw)
    hard = draw.standard_normal(len(rounds))
    answers = {}
    for k, name in enumerate(_MODELS):
        said = np.empty(len(rounds), dtype=np.int64)
        for number, accuracy in enumerate(_EASE, start=1):
            here = rounds == number
            said[here] = draw_answers(
                truth[here], accuracy - 0.02 * k, 3, draw, hard=hard[here], shared=0.5
            )
        answers[name] = names[said]
    return Demo(
        story=(
            "People wrote 2,100 items over three rounds to fool a model; five models tried them"
            " all. Is another round worth it?"
        ),
        table={"item": np.arange(len(rounds)), "round": rounds, "gold": names[truth], **answers},
        options={"truth": "gold"},
    )
