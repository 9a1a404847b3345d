"""What can be asked of a dynamic benchmark: before it is run, of a simulated one, of a real log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Design
from tallystick.table import Demo, Question, option
from tallystick.table.frames import draw_answers, draw_truth
from tallystick.verbs.dynamic.theory import MOST_ROUNDS

_MIXING = ("flat", "nested")
_LEVEL = "One minus the level of every interval: .05 gives 95 %."
_SEED = "Seed of everything that is drawn."
_MIXING_HELP = "How a hierarchy mixes: every part alike (flat), or layer within layer (nested)."
_NOISE_HELP = "Share of the population with random labels."

_MOST_CELLS = 2_000_000_000
"""Rollouts x rounds x items that a simulation takes: some minutes of one core."""

_MOST_MODELS = 243


def numbers_of(given: Any, flag: str) -> list[float]:
    """Return numbers given as text with commas, as one number, or as a sequence.

    >>> numbers_of(".3,.1", "--epsilon"), numbers_of(0.2, "--epsilon")
    ([0.3, 0.1], [0.2])
    """
    pieces = given.split(",") if isinstance(given, str) else given
    try:
        return [float(one) for one in (pieces if isinstance(pieces, Iterable) else [pieces])]
    except (TypeError, ValueError) as error:
        raise InputError(f"{flag} wants numbers with commas, got {given!r}") from error


@dataclass(frozen=True, kw_only=True)
class TheoryQuestion(Question):
    """What is proved of a path and of a hierarchy of such models, before anything is run."""

    alpha: float = option(0.05, _LEVEL, within=(0.0, 1.0), hidden=True)
    seed: Rng = option(0, _SEED, low=0, hidden=True)
    epsilon: float | None = option(
        None, "Risk of each model on the data it was trained on, in (0, 1/2]."
    )
    rounds: int = option(3, f"Rounds of the path, up to {MOST_ROUNDS}.", low=1, high=MOST_ROUNDS)
    distance: float = option(0.0, "How far D_0 is from D (the H-delta-H distance).")
    noise: float = option(0.0, _NOISE_HELP)
    mixing: str = option("nested", _MIXING_HELP, choices=_MIXING)


@dataclass(frozen=True, kw_only=True)
class SimulateQuestion(Question):
    """What a design would bring, with such a learner, over a population.

    In Python *design* also takes a `Design`, *epsilon* and *majority* sequences of numbers, and
    *initial* a number.
    """

    alpha: float = option(0.05, _LEVEL, within=(0.0, 1.0), hidden=True)
    design: str | Design = option("path", "path, hierarchical, or a TOML file.")
    rounds: int = option(5, f"Rounds of the path, up to {MOST_ROUNDS}.", low=1, high=MOST_ROUNDS)
    width: int = option(3, "Hierarchy: models in a vote.")
    depth: int = option(2, "Hierarchy: layers.")
    mixing: str = option("nested", _MIXING_HELP, choices=_MIXING)
    epsilon: str | float | Sequence[float] = option(
        ".1",
        "Risk of each model on its own data, in (0, 1/2]; with commas one per round, the last one"
        " staying.",
    )
    learner: str = option(
        "random",
        "How models err. worst: the worst that a path of up to 8 rounds allows.",
        choices=("perfect", "random", "correlated", "worst"),
    )
    rho: float = option(0.5, "Correlated learner: difficulty that models share.")
    gamma: float = option(0.0, "Correlated learner: protection by up-weighting.")
    noise: float = option(0.0, _NOISE_HELP)
    initial: str | float | None = option(
        None, "D_0: a share of the items that it covers, or a file with one weight per line."
    )
    mixture: float | None = option(
        None, "Weight that D_0 keeps in every mixture. Default: equal weights."
    )
    majority: str | Sequence[float] | None = option(
        None, "Weights of the votes, with commas. Default: equal."
    )
    items: int | None = option(
        None, "Items of the population, up to 100,000. Default: 800.", low=1, high=100_000
    )
    found: int | None = option(
        None, "Items that a round of collection yields. Default: all errors."
    )
    coverage: float = option(1.0, "Share of the errors that can be found.")
    duplicates: float = option(0.0, "Share of the collected items that are copies.")
    mistakes: float = option(0.0, "Share of the collected items that are not errors.")
    rollouts: int = option(1000, "How often to simulate.", low=1)
    draw: Path | None = option(None, "Draw the design into this SVG file.", writes=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.design == "hierarchical" and self.width > 1 and self.depth > 0:
            models = self.width ** min(self.depth, 64)
            if models > _MOST_MODELS:
                raise InputError(
                    f"a hierarchy of width {self.width} and depth {self.depth} trains {models:,} "
                    f"models, more than {_MOST_MODELS}: lower --width or --depth"
                )

    def check_work(self, rounds: int, items: int) -> None:
        """Refuse a simulation that would take hours, naming what to lower."""
        cells = self.rollouts * rounds * items
        if cells > _MOST_CELLS:
            most = max(1, _MOST_CELLS // (rounds * items))
            raise InputError(
                f"{self.rollouts:,} rollouts of {rounds} rounds over {items:,} items would take "
                f"too long: lower --items or --rounds, or take at most {most:,} --rollouts"
            )


@dataclass(frozen=True, kw_only=True)
class AnalyseQuestion(Question):
    """What the log of a real dynamic benchmark says, and whether another round is worth it."""

    pays: float = option(
        0.0,
        "Fall of the vote's risk that would pay for two more rounds or models: .01 is one point.",
        low=0.0,
        high=1.0,
    )
    price: float | None = option(
        None,
        "Paths: what a round costs, as a share of what it would be worth to remove the risk left"
        " after three rounds. Prints how many rounds to plan.",
        low=0.0,
    )
    all_held_out: bool = option(
        False, "Paths: all items are a random set that no round trained on or collected from."
    )
    teams: bool = option(
        False,
        "Paths: rounds were built by different teams or model families (a wider range). Models of"
        " different names, or of error rates far apart, count as such without it.",
    )


# A table for the demonstration: three rounds of a benchmark that collects models' errors.


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
