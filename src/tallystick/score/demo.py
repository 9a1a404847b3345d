"""A table for the demonstration: three systems, three judges who like the wrong one, 60 grades."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.data import Demo

__all__ = ["demo", "judged_outputs"]

QUESTIONS = 667
GRADED = 20
"""Questions on which people graded all three systems."""

PASSES = {"system-a": 0.50, "system-b": 0.88, "system-c": 0.66}
"""How many outputs are good."""

JUDGES = {
    "gpt": {"system-a": (0.97, 0.90), "system-b": (0.90, 0.20), "system-c": (0.88, 0.25)},
    "claude": {"system-a": (0.97, 0.80), "system-b": (0.93, 0.15), "system-c": (0.92, 0.20)},
    "llama": {"system-a": (0.95, 0.85), "system-b": (0.88, 0.35), "system-c": (0.85, 0.35)},
}
"""How often each judge passes good outputs and bad ones: all three fall for system-a."""


def demo(rng: Rng) -> Demo:
    """Return 2,001 outputs of three systems, of which people graded 60."""
    return judged_outputs(rng)[0]


def judged_outputs(rng: Rng) -> tuple[Demo, list[str]]:
    """Return the same with what a person would say about every output, which the table hides."""
    draw = as_rng(rng)
    truth: list[str] = []
    names = np.array(["fail", "pass"])
    columns: dict[str, list[object]] = {
        name: [] for name in ("question", "system", "topic", *JUDGES, "human")
    }
    topics = draw.choice(["billing", "delivery", "returns"], QUESTIONS, p=[0.5, 0.3, 0.2])
    hard = draw.standard_normal(QUESTIONS)
    graded = set(draw.choice(QUESTIONS, GRADED, replace=False).tolist())
    for question in range(QUESTIONS):
        for system, rate in PASSES.items():
            # Part of the luck is the question's own, so systems fail on the same questions.
            luck = 0.4 * hard[question] + 0.917 * draw.standard_normal()
            good = bool(luck < _quantile(rate))
            columns["question"].append(f"q{question:03d}")
            columns["system"].append(system)
            columns["topic"].append(str(topics[question]))
            for judge, rates in JUDGES.items():
                passed = draw.random() < rates[system][0 if good else 1]
                columns[judge].append(str(names[int(passed)]))
            truth.append(str(names[int(good)]))
            columns["human"].append(truth[-1] if question in graded else "")
    shown = Demo(
        story=(
            "Three language models grade every answer of three support bots; people graded 60"
            " answers. Which bot is best, and how good is it really?"
        ),
        table=columns,
        options={
            "item": "question",
            "system": "system",
            "judges": tuple(JUDGES),
            "truth": "human",
        },
    )
    return shown, truth


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))
