r"""A benchmark design: a directed acyclic graph of the four operations.

Steps are named. A *distribution* is ``initial`` (that is :math:`\mathcal D_0`), the errors
collected from a model, or a mixture of distributions; a *model* is trained on a distribution, or is
a vote of models ([SAH23]_, section 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Literal, TypeAlias

import numpy as np

from tallystick.dynamic.population import checked_weights
from tallystick.errors import InputError

__all__ = ["INITIAL", "Design", "Mixing", "Operation", "Step", "hierarchical", "path"]

INITIAL = "initial"
"""The name under which a design speaks of the initial distribution."""

Operation: TypeAlias = Literal["train", "collect", "mix", "vote"]
Mixing: TypeAlias = Literal["flat", "nested"]

_MAKES_MODEL = {"train": True, "collect": False, "mix": False, "vote": True}
_TAKES_MODEL = {"train": False, "collect": True, "mix": False, "vote": True}


@dataclass(frozen=True)
class Step:
    """One operation: what it takes, by name, and in which proportions (equal ones if none are
    given).
    """

    operation: Operation
    inputs: tuple[str, ...]
    weights: tuple[float, ...] | None = None

    @property
    def shares(self) -> tuple[float, ...]:
        """The weights, equal ones if none were given."""
        return self.weights or (1 / len(self.inputs),) * len(self.inputs)


@dataclass(frozen=True)
class Design:
    """Named steps and the model that they lead to.

    Parameters
    ----------
    name
        What to call it.
    steps
        Name to step, in any order.
    output
        The model that the benchmark delivers.

    Examples
    --------
    >>> design = path(3)
    >>> design.order
    ('h1', 'e1', 'D2', 'h2', 'e2', 'D3', 'h3', 'majority')
    >>> design.trained
    ('h1', 'h2', 'h3')
    >>> Design("loop", {"h": Step("train", ("D",)), "D": Step("collect", ("h",))}, output="h")
    Traceback (most recent call last):
    tallystick.errors.InputError: design 'loop' has a cycle: D -> h -> D; ...
    """

    name: str
    steps: Mapping[str, Step]
    output: str

    def __post_init__(self) -> None:
        if INITIAL in self.steps:
            raise InputError(
                f"design {self.name!r}: {INITIAL!r} is the given distribution, no step may take"
                " that name"
            )
        for name, step in self.steps.items():
            self._check(name, step)
        if self.output not in self.steps or not _MAKES_MODEL[self.steps[self.output].operation]:
            raise InputError(
                f"design {self.name!r}: output {self.output!r} is not one of its models"
            )
        _ = self.order  # a cycle is refused here, not at the first use

    def _check(self, name: str, step: Step) -> None:
        where = f"design {self.name!r}, step {name!r}"
        if not step.inputs:
            raise InputError(f"{where}: {step.operation} needs an input, got none")
        if step.operation in ("train", "collect") and len(step.inputs) != 1:
            raise InputError(
                f"{where}: {step.operation} takes one input, got {list(step.inputs)}; mix or vote"
                " first"
            )
        for source in step.inputs:
            if source != INITIAL and source not in self.steps:
                raise InputError(f"{where} takes {source!r}, which is no step of this design")
            is_model = source != INITIAL and _MAKES_MODEL[self.steps[source].operation]
            if is_model != _TAKES_MODEL[step.operation]:
                kind = "models" if _TAKES_MODEL[step.operation] else "distributions"
                raise InputError(
                    f"{where}: {step.operation} takes {kind}, and {source!r} is not one"
                )
        if step.weights is not None:
            if len(step.weights) != len(step.inputs):
                raise InputError(
                    f"{where}: {len(step.inputs)} inputs need as many weights, got"
                    f" {len(step.weights)}"
                )
            if step.operation == "mix":
                checked_weights(step.weights, f"{where}: weights")
            elif not (min(step.weights) >= 0 and sum(step.weights) > 0):
                raise InputError(
                    f"{where}: weights of a vote are not negative and not all zero, got"
                    f" {step.weights}"
                )

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The steps in an order in which each comes after what it takes, as first written where
        there is a choice.
        """
        graph = TopologicalSorter(
            {n: [s for s in step.inputs if s != INITIAL] for n, step in self.steps.items()}
        )
        try:
            graph.prepare()
        except CycleError as error:
            cycle = " -> ".join(error.args[1])
            raise InputError(
                f"design {self.name!r} has a cycle: {cycle}; a step may only take what was made"
                " before it"
            ) from error
        written = {name: k for k, name in enumerate(self.steps)}
        ready, out = list(graph.get_ready()), []
        while ready:
            name = min(ready, key=written.__getitem__)
            ready.remove(name)
            out.append(name)
            graph.done(name)
            ready += graph.get_ready()
        return tuple(out)

    @cached_property
    def trained(self) -> tuple[str, ...]:
        """The models that are trained, one a round of model building, in order."""
        return tuple(name for name in self.order if self.steps[name].operation == "train")

    @property
    def rounds(self) -> int:
        """How many models are trained: the price of the design (``width ** depth`` for a hierarchy,
        section 4).
        """
        return len(self.trained)


def as_path(design: Design) -> tuple[list[np.ndarray], np.ndarray] | None:
    """Return the mixture rows and the votes of a design that is a path in shape; None for any
    other.

    >>> table, votes = as_path(path(2, mixture=0.75))
    >>> [row.tolist() for row in table], votes.tolist()
    ([[1.0], [0.75, 0.25]], [0.5, 0.5])
    >>> as_path(hierarchical()) is None
    True
    """
    collected = {
        step.inputs[0]: name for name, step in design.steps.items() if step.operation == "collect"
    }
    table, parts = [], [INITIAL]
    for model in design.trained:
        source = design.steps[model].inputs[0]
        if source in design.steps and design.steps[source].operation == "mix":
            step = design.steps[source]
            inputs, shares = list(step.inputs), list(step.shares)
        else:
            inputs, shares = [source], [1.0]
        if inputs != parts:
            return None
        table.append(np.array(shares))
        if model in collected:
            parts.append(collected[model])
    last = design.steps[design.output]
    if last.operation != "vote" or last.inputs != design.trained:
        return None
    return table, np.array(last.shares)


def path(
    rounds: int,
    *,
    mixture: Sequence[Sequence[float]] | float | None = None,
    majority: Sequence[float] | None = None,
) -> Design:
    """Return the path of section 3: train, collect the errors, mix them in, train again (Figure 1).

    Parameters
    ----------
    rounds
        How many models are built.
    mixture
        Row t holds the weights of (initial, errors of model 1, ..., errors of model t), for t = 0,
        1, ...; one number is the weight that the initial distribution keeps in every mixture, the
        rest being shared equally; equal weights if not given.
    majority
        Weight of each model's vote; equal if not given.
    """
    table = mixture_table(rounds, mixture)
    steps: dict[str, Step] = {}
    for t in range(rounds):
        if t:
            steps[f"e{t}"] = Step("collect", (f"h{t}",))
            steps[f"D{t + 1}"] = Step(
                "mix", (INITIAL, *(f"e{s + 1}" for s in range(t))), tuple(table[t])
            )
        steps[f"h{t + 1}"] = Step("train", (f"D{t + 1}" if t else INITIAL,))
    models = tuple(f"h{t + 1}" for t in range(rounds))
    steps["majority"] = Step(
        "vote", models, None if majority is None else tuple(float(w) for w in majority)
    )
    return Design(f"path of {rounds} rounds", steps, output="majority")


def mixture_table(
    rounds: int, mixture: Sequence[Sequence[float]] | float | None
) -> list[np.ndarray]:
    """Return one row of mixture weights a round, checked; see :func:`path`."""
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    if mixture is None:
        return [np.full(t + 1, 1 / (t + 1)) for t in range(rounds)]
    if isinstance(mixture, int | float):
        if not 0 <= mixture <= 1:
            raise InputError(
                "mixture, the weight of the initial distribution, must be in [0, 1], got"
                f" {mixture!r}"
            )
        return [
            np.array([mixture, *[(1 - mixture) / t] * t]) if t else np.ones(1)
            for t in range(rounds)
        ]
    if len(mixture) != rounds:
        raise InputError(f"mixture needs one row a round, {rounds} in all, got {len(mixture)}")
    table = [
        checked_weights(row, f"mixture, round {t + 1}: weights") for t, row in enumerate(mixture)
    ]
    for t, row in enumerate(table):
        if row.size != t + 1:
            raise InputError(
                f"mixture, round {t + 1}, mixes {t + 1} distributions, got {row.size} weights"
            )
    return table


def hierarchical(*, depth: int = 2, width: int = 3, mixing: Mixing = "nested") -> Design:
    r"""Return the hierarchy of section 4: paths of *width* models, voted, *depth* layers of it
    (Figure 2).

    ``nested`` is the recursive definition: a layer's mixture is the initial distribution of the
    layer below. ``flat`` is what the proof of Theorem 4.1 uses: every component of a mixture, from
    whichever layer, has the same weight. They differ, and so do their bounds (ERRATA). The price is
    ``width ** depth`` rounds of model building.

    >>> hierarchical().trained
    ('h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8', 'h9')
    >>> hierarchical(mixing="flat").steps["D5"].inputs
    ('initial', 'e.g1', 'e.h4')
    >>> hierarchical(mixing="nested").steps["D5"].inputs
    ('D4', 'e.h4')
    """
    if depth < 1 or width < 2:
        raise InputError(
            f"a hierarchy needs depth >= 1 and width >= 2, got depth {depth!r} and width {width!r}"
        )
    if mixing not in ("flat", "nested"):
        raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")
    steps: dict[str, Step] = {}
    made = dict.fromkeys(range(depth + 1), 0)  # how many models each layer has made

    def distribution(parts: tuple[str, ...]) -> str:
        if len(parts) == 1:
            return parts[0]
        name = f"D{made[0] + 1}"  # after the model that is trained on it
        steps[name] = Step("mix", parts)
        return name

    def build(parts: tuple[str, ...], level: int) -> str:
        if level == 0:
            source = distribution(parts)
            made[0] += 1
            steps[f"h{made[0]}"] = Step("train", (source,))
            return f"h{made[0]}"
        models: list[str] = []
        for t in range(width):
            if t:
                steps[f"e.{models[-1]}"] = Step("collect", (models[-1],))
            inputs = (*parts, *(f"e.{model}" for model in models))
            models.append(
                build((distribution(inputs),) if mixing == "nested" else inputs, level - 1)
            )
        made[level] += 1
        name = f"{'g' * level}{made[level]}" if level < depth else "majority"
        steps[name] = Step("vote", tuple(models))
        return name

    build((INITIAL,), depth)
    return Design(
        f"{mixing} hierarchy of depth {depth} and width {width}", steps, output="majority"
    )
