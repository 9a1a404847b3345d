"""What can be asked of a dynamic benchmark: before it is run, of a simulated one, of a real log."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.table import Data, Demo, Question, option, options_of
from tallystick.table.capability import draw_answers, draw_truth
from tallystick.verbs.dynamic.columns import Columns, columns_of

MOST_ROUNDS = 200
"""Longer paths are refused: nobody runs them, and their bounds exceed 1 anyway."""

_USUAL = options_of(Question)
_ROUNDS = f"Rounds of the path, up to {MOST_ROUNDS}."


@dataclass(frozen=True, kw_only=True)
class _Quiet(Question):
    """A question whose level and seed only Python can change."""

    alpha: float = option(0.05, _USUAL["alpha"].help, within=(0, 1), hidden=True)
    seed: Rng = option(0, _USUAL["seed"].help, low=0, hidden=True)


@dataclass(frozen=True, kw_only=True)
class TheoryQuestion(_Quiet):
    """What is proved of a path and of a hierarchy of such models, before anything is run."""

    epsilon: float | None = option(
        None, "Risk of each model on the data it was trained on, in (0, 1/2]."
    )
    rounds: int = option(3, _ROUNDS, low=1, high=MOST_ROUNDS)


@dataclass(frozen=True, kw_only=True)
class SimulateQuestion(_Quiet):
    """What a path or a hierarchy would bring, with models that err in a stated way."""

    design: str = option(
        "path",
        "path, or hierarchical (depth 2, width 3: nine models).",
        choices=("path", "hierarchical"),
    )
    rounds: int = option(5, _ROUNDS, low=1, high=MOST_ROUNDS)
    epsilon: float = option(0.1, "Risk of each model on its own data, in (0, 1/2].")
    learner: str = option(
        "random",
        "How models err: at random; worst, the worst that a path of up to 8 rounds allows; or by"
        " the construction of a theorem, 3.5 for paths and 4.2 for hierarchies.",
        choices=("random", "worst", "theorem-3.5", "theorem-4.2"),
    )
    seed: Rng = option(0, _USUAL["seed"].help, low=0)
    rollouts: int = option(1000, "How often to simulate.", low=1, high=10_000)


@dataclass(frozen=True, kw_only=True)
class AnalyseQuestion(_Quiet):
    """What the log of a real dynamic benchmark says.

    Parameters
    ----------
    columns
        What the columns are, once the whole table has been looked at: slices are read alike.
    """

    pays: float = option(
        0.0,
        "Fall of the vote's risk that pays for more models: .01 is one point.",
        low=0,
        high=1,
        hidden=True,
    )
    columns: Columns | None = None

    def settled(self, data: Data) -> tuple[Question, tuple[str, ...]]:
        """Return the question with the columns of the whole table."""
        return replace(self, columns=columns_of(data)), ()


# A table for the demonstration: three rounds of a benchmark that collects models' errors.


_SIZES, _EASE = (800, 700, 600), (0.9, 0.72, 0.64)


def demo(rng: Rng) -> Demo:
    """Return a wide log of five models; later rounds are harder for all of them alike."""
    draw = as_rng(rng)
    names = np.array(["entailment", "neutral", "contradiction"])
    rounds = np.repeat(np.arange(1, 4), _SIZES)
    truth = draw_truth(len(rounds), (1 / 3, 1 / 3, 1 / 3), draw)
    hard = draw.standard_normal(len(rounds))
    parts, answers = [rounds == number for number in (1, 2, 3)], {}
    for k, name in enumerate("abcde"):
        said = [
            draw_answers(truth[here], ease - 0.02 * k, 3, draw, hard=hard[here], shared=0.5)
            for here, ease in zip(parts, _EASE, strict=True)
        ]
        answers[f"model_{name}"] = names[np.concatenate(said)]
    return Demo(
        story=(
            "People wrote 2,100 items over three rounds to fool a model; five models tried them"
            " all. Is another round worth it?"
        ),
        table={"item": np.arange(len(rounds)), "round": rounds, "gold": names[truth], **answers},
        options={"truth": "gold"},
    )
