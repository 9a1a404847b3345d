"""A generated table for examples: spam, weak labels that err independently, and a classifier."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.bound.blocks import IntArray
from tallystick.data import Demo
from tallystick.data.generated import draw_answers, draw_truth

__all__ = ["demo", "spam"]

_WEAK = {"links": 0.85, "words": 0.8, "sender": 0.75, "caps": 0.7}


def spam(
    n: int, *, rng: Rng, accuracy: float = 0.85, labelled: int = 0
) -> dict[str, IntArray | list[int | None]]:
    """Return *n* rows: four weak labels, a classifier and, with *labelled* > 0, the truth of so
    many of the rows.

    >>> sorted(spam(3, rng=0))
    ['caps', 'classifier', 'links', 'sender', 'words']
    """
    draw = as_rng(rng)
    truth = (draw.random(n) < 0.4).astype(np.int64)
    table: dict[str, IntArray | list[int | None]] = {
        name: np.where(draw.random(n) < right, truth, 1 - truth) for name, right in _WEAK.items()
    }
    table["classifier"] = np.where(draw.random(n) < accuracy, truth, 1 - truth)
    if labelled:
        table["truth"] = [int(y) if i < labelled else None for i, y in enumerate(truth)]
    return table


_RULES = {
    "lf_link": (0.85, 0.5),
    "lf_money": (0.9, 0.35),
    "lf_sender": (0.8, 0.7),
    "lf_length": (0.7, 0.9),
    "lf_caps": (0.78, 0.4),
}
"""Accuracy and coverage of each rule."""


def demo(rng: Rng) -> Demo:
    """Return votes of five rules on 6,000 e-mails, and the score of a classifier."""
    from scipy.special import expit

    draw = as_rng(rng)
    n = 6000
    truth = draw_truth(n, (0.65, 0.35), draw)
    names = np.array(["ham", "spam"])
    votes = {
        name: np.where(draw.random(n) < cover, names[draw_answers(truth, right, 2, draw)], "")
        for name, (right, cover) in _RULES.items()
    }
    score = expit(2 * (2 * truth - 1) + 1.7 * draw.standard_normal(n))
    return Demo(
        story=(
            "Five rules vote on 6,000 e-mails and nobody has true labels. How good is the"
            " classifier, at which threshold?"
        ),
        table={"item": np.arange(n), **votes, "score": np.round(score, 4)},
        options={"score": "score", "weak": ("lf_*",)},
    )
