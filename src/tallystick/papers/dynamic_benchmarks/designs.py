r"""Populations, the four operations upon them, and the graphs that combine these into a benchmark.

[SAH23]_, sections 2 to 4. A *distribution* is ``initial`` (that is :math:`\mathcal D_0`), the
errors collected from a model, or a mixture of distributions; a *model* is trained on a
distribution, or is a vote of models. Three operations are plain arithmetic: :func:`collect`,
:func:`mix` and :func:`vote`. The fourth, model building, is what a learner does
(:mod:`tallystick.papers.dynamic_benchmarks.rollouts`).

A model is known by its *error share* at every item: 0 right, 1 wrong, 1/2 where its label is a coin
toss (a tie of a vote, or an item whose own label is random). Arrays may carry leading axes
(rollouts); the last axis is always the items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

Array: TypeAlias = npt.NDArray[Any]
Operation: TypeAlias = Literal["train", "collect", "mix", "vote"]
Mixing: TypeAlias = Literal["flat", "nested"]

INITIAL = "initial"
"""The name under which a design speaks of the initial distribution."""

TOLERANCE = 1e-9
"""How far weights may be from one, and a risk from its limit, before it counts: above rounding,
below any item."""

_MAKES_MODEL = {"train": True, "collect": False, "mix": False, "vote": True}
_TAKES_MODEL = {"train": False, "collect": True, "mix": False, "vote": True}


@dataclass(frozen=True, eq=False)
class Population:
    r"""All instances of interest, with the weight of each: the distribution :math:`\mathcal D` of
    [SAH23]_.

    Parameters
    ----------
    weights
        :math:`\mathcal D`, one weight per item, summing to one.
    initial
        :math:`\mathcal D_0`, where the benchmark starts; :math:`\mathcal D` itself if not given.
        Its support must lie in that of :math:`\mathcal D`.
    noisy
        Items whose label is a fair coin at every look (:math:`\mathcal X^\delta`, section 3.1).
        Every model is wrong on half of such an item's mass. A label drawn once and kept is not
        noise in this sense: Theorem 3.6 fails for it (ERRATA).

    Examples
    --------
    >>> people = Population(np.array([0.5, 0.25, 0.25]), noisy=np.array([False, False, True]))
    >>> people.size, people.noise
    (3, 0.25)
    >>> Population(np.array([0.5, 0.4]))
    Traceback (most recent call last):
    tallystick.errors.InputError: weights must sum to one, got a sum of 0.9: divide them by it
    """

    weights: Array
    initial: Array | None = None
    noisy: Array | None = None

    def __post_init__(self) -> None:
        weights = checked_weights(self.weights, "weights")
        initial = weights if self.initial is None else checked_weights(self.initial, "initial")
        noisy = np.zeros(weights.size) if self.noisy is None else self.noisy
        noisy = np.array(noisy, dtype=bool)
        if initial.shape != weights.shape or noisy.shape != weights.shape:
            raise InputError(
                "weights, initial and noisy need one entry an item, "
                f"got {weights.size}, {initial.size} and {noisy.size}"
            )
        outside = np.flatnonzero((initial > 0) & (weights == 0))
        if outside.size:
            raise InputError(
                f"initial puts weight on item {outside[0]}, which has none in weights: drop it or"
                " give it weight"
            )
        for name, value in (("weights", weights), ("initial", initial), ("noisy", noisy)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def uniform(cls, size: int, *, noise: float = 0.0) -> Population:
        """Return *size* items of equal weight, the last share *noise* of them with random
        labels.
        """
        if size < 1:
            raise InputError(f"size must be at least 1, got {size!r}")
        if not 0 <= noise < 1:
            raise InputError(f"noise must be in [0, 1), got {noise!r}")
        return cls(np.full(size, 1 / size), noisy=np.arange(size) >= size - round(noise * size))

    @property
    def size(self) -> int:
        """How many items there are."""
        return int(self.weights.size)

    @property
    def start(self) -> Array:
        r"""The initial distribution :math:`\mathcal D_0`, given or not."""
        return self.weights if self.initial is None else self.initial

    @property
    def coin(self) -> Array:
        """True where the label is random, given or not."""
        return np.zeros(self.size, dtype=bool) if self.noisy is None else self.noisy

    @property
    def noise(self) -> float:
        r"""The share :math:`\delta` of the population whose labels are random."""
        return float(self.weights[self.coin].sum())


def risk(weights: Array, errors: Array) -> Array:
    r"""How much of a distribution does a model get wrong: :math:`R_{\mathcal P}(h) = \Pr_{\mathcal
    P}(E_h)`.

    >>> risk(np.array([0.5, 0.3, 0.2]), np.array([0, 1, 0.5])).item()
    0.4
    """
    return np.asarray(np.einsum("...i,...i->...", weights, np.asarray(errors, dtype=float)))


def collect(weights: Array, errors: Array) -> Array:
    r"""Collect data: the distribution of a model's failures, :math:`\overline{\mathcal D} =
    \mathcal D|_{h(x) \ne y}`.

    [SAH23]_, section 2; in vectors Eq (14), whose factor has to read :math:`1/(2\mathcal D(\mathcal
    K_t))` (ERRATA).

    >>> collect(np.array([0.5, 0.3, 0.2]), np.array([0, 1, 1])).tolist()
    [0.0, 0.6, 0.4]
    >>> collect(np.array([0.5, 0.5]), np.array([0, 0]))
    Traceback (most recent call last):
    tallystick.errors.InputError: the error set is empty, so there is nothing to collect: this model ends the benchmark
    """
    mass = risk(weights, errors)
    if np.any(mass <= 0):
        raise InputError(
            "the error set is empty, so there is nothing to collect: this model ends the benchmark"
        )
    return np.asarray(weights * errors / mass[..., None])  # (14), with the factor corrected


def mix(distributions: Sequence[Array], weights: Sequence[float] | Array) -> Array:
    """Combine data: the mixture of *distributions* in the proportions *weights* (Eq 15).

    >>> mix([np.array([1.0, 0.0]), np.array([0.0, 1.0])], [0.25, 0.75]).tolist()
    [0.25, 0.75]
    """
    shares = checked_weights(weights, "mixture weights")
    if len(distributions) != shares.size:
        raise InputError(
            f"{len(distributions)} distributions need as many mixture weights, got {shares.size}"
        )
    parts = (share * part for share, part in zip(shares, distributions, strict=True))
    return np.asarray(sum(parts))  # (15)


def vote(errors: Sequence[Array], weights: Sequence[float] | Array | None = None) -> Array:
    r"""Combine models: where is the weighted majority of these models wrong.

    A tie is broken by a coin, so it counts one half. ([SAH23]_ counts a tie as an error in
    Proposition 3.2 and leaves it open elsewhere.) A model whose own error share is 1/2 casts half a
    vote.

    >>> vote([np.array([1, 1, 0]), np.array([1, 0, 0])]).tolist()
    [1.0, 0.5, 0.0]
    """
    if not len(errors):
        raise InputError("a vote needs at least one model, got none")
    ballots = np.ones(len(errors)) if weights is None else np.asarray(weights, dtype=float)
    if ballots.shape != (len(errors),) or not np.all(ballots >= 0) or not ballots.sum() > 0:
        raise InputError(
            f"a vote of {len(errors)} models needs as many weights, none negative and not all zero,"
            f" got {weights!r}"
        )
    wrong = sum(ballot * np.asarray(own) for ballot, own in zip(ballots, errors, strict=True))
    return majority_share(np.asarray(wrong), ballots.sum())


def majority_share(wrong: Array, total: float | Array) -> Array:
    """Return 1 where more than half of *total* votes are wrong, 1/2 where it is exactly half, else
    0.
    """
    margin = wrong / total - 0.5
    return np.asarray(np.where(np.abs(margin) < TOLERANCE, 0.5, margin > 0))


def checked_weights(weights: Sequence[float] | Array, name: str) -> Array:
    """Return *weights* as floats that are not negative and sum to one, or say which of them does
    not fit.
    """
    values = np.array(weights, dtype=float)
    if values.ndim != 1 or not values.size:
        raise InputError(
            f"{name} must be a non-empty list of numbers, got an array of shape {values.shape}"
        )
    bad = np.flatnonzero(~(values >= 0) | ~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"{name} must be finite and not negative, got {values[bad[0]]} at position {bad[0]}"
        )
    total = float(values.sum())
    if abs(total - 1) > TOLERANCE:
        raise InputError(f"{name} must sum to one, got a sum of {total:.10g}: divide them by it")
    return values


def checked_epsilon(epsilon: float | Fraction | Sequence[float]) -> None:
    """Refuse an excess risk outside (0, 1/2]: at 1/2 and beyond a model knows nothing."""
    values = (epsilon,) if isinstance(epsilon, int | float | Fraction) else epsilon
    for value in values:
        if not 0 < value <= 0.5:
            raise InputError(f"epsilon must be in (0, 1/2], got {value!r}")
    if not len(values):
        raise InputError("epsilon needs at least one value, got none")


def checked_mixing(mixing: str) -> None:
    """Refuse a way of mixing that is neither flat nor nested."""
    if mixing not in ("flat", "nested"):
        raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")


# The graph of the four operations, with any mixture and vote weights: section 2 of [SAH23]_.


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
    """Named steps and the model that they lead to: a directed acyclic graph.

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
            self._check(f"design {self.name!r}, step {name!r}", step)
        if not self._is_model(self.output):
            raise InputError(
                f"design {self.name!r}: output {self.output!r} is not one of its models"
            )
        _ = self.order  # a cycle is refused here, not at the first use

    def _is_model(self, name: str) -> bool:
        return name in self.steps and _MAKES_MODEL[self.steps[name].operation]

    def _check(self, where: str, step: Step) -> None:
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
            if self._is_model(source) != _TAKES_MODEL[step.operation]:
                kind = "models" if _TAKES_MODEL[step.operation] else "distributions"
                raise InputError(
                    f"{where}: {step.operation} takes {kind}, and {source!r} is not one"
                )
        if step.weights is None:
            return
        if len(step.weights) != len(step.inputs):
            raise InputError(
                f"{where}: {len(step.inputs)} inputs need as many weights, got {len(step.weights)}"
            )
        if step.operation == "mix":
            checked_weights(step.weights, f"{where}: weights")
        elif not (min(step.weights) >= 0 and sum(step.weights) > 0):
            raise InputError(
                f"{where}: weights of a vote are not negative and not all zero, got {step.weights}"
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
        written = list(self.steps)
        ready, out = list(graph.get_ready()), []
        while ready:
            name = min(ready, key=written.index)
            ready.remove(name)
            out.append(name)
            graph.done(name)
            ready += graph.get_ready()
        return tuple(out)

    @cached_property
    def trained(self) -> tuple[str, ...]:
        """The models that are trained, one per round of model building, in order."""
        return tuple(name for name in self.order if self.steps[name].operation == "train")

    @property
    def rounds(self) -> int:
        """How many models are trained: the price of the design (``width ** depth`` for a hierarchy,
        section 4).
        """
        return len(self.trained)

    @cached_property
    def ballots(self) -> Array:
        """Weight of each trained model in the majority of all so far: its vote on a path, else
        one.
        """
        shape = as_path(self)
        return np.ones(self.rounds) if shape is None else shape[1]


def as_path(design: Design) -> tuple[list[Array], Array] | None:
    """Return the mixture rows and the votes of a design that is a path in shape; None for any
    other.

    >>> table, votes = as_path(path(2, mixture=0.75))
    >>> [row.tolist() for row in table], votes.tolist()
    ([[1.0], [0.75, 0.25]], [0.5, 0.5])
    >>> as_path(hierarchical()) is None
    True
    """
    steps = design.steps
    collected = {one.inputs[0]: name for name, one in steps.items() if one.operation == "collect"}
    table, parts = [], [INITIAL]
    for model in design.trained:
        source = steps[model].inputs[0]
        data = steps.get(source)
        if data is None or data.operation != "mix":
            data = Step("mix", (source,))
        if list(data.inputs) != parts:
            return None
        table.append(np.array(data.shares))
        if model in collected:
            parts.append(collected[model])
    last = steps[design.output]
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
            parts = (INITIAL, *(f"e{s + 1}" for s in range(t)))
            steps[f"D{t + 1}"] = Step("mix", parts, tuple(table[t]))
        steps[f"h{t + 1}"] = Step("train", (f"D{t + 1}" if t else INITIAL,))
    votes = None if majority is None else tuple(float(weight) for weight in majority)
    steps["majority"] = Step("vote", tuple(f"h{t + 1}" for t in range(rounds)), votes)
    return Design(f"path of {rounds} rounds", steps, output="majority")


def mixture_table(rounds: int, mixture: Sequence[Sequence[float]] | float | None) -> list[Array]:
    """Return one row of mixture weights per round, checked; see :func:`path`."""
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
        rest = (1 - mixture) / np.arange(1, rounds)
        return [np.ones(1), *(np.array([mixture, *[r] * t]) for t, r in enumerate(rest, 1))]
    if len(mixture) != rounds:
        raise InputError(f"mixture needs one row a round, {rounds} in all, got {len(mixture)}")
    table = []
    for t, given in enumerate(mixture, start=1):
        row = checked_weights(given, f"mixture, round {t}: weights")
        if row.size != t:
            raise InputError(f"mixture, round {t}, mixes {t} distributions, got {row.size} weights")
        table.append(row)
    return table


def hierarchical(*, depth: int = 2, width: int = 3, mixing: Mixing = "nested") -> Design:
    r"""Return the hierarchy of section 4: paths of *width* models, voted, *depth* layers of it
    (Figure 2).

    ``nested`` is the recursive definition: a layer's mixture is the initial distribution of the
    layer below. ``flat`` is what the proof of Theorem 4.1 uses, Eqs (39) to (46): every component
    of a mixture, from whichever layer, has the same weight. They differ, and so do their bounds
    (ERRATA). The price is ``width ** depth`` rounds of model building.

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
    checked_mixing(mixing)
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
            given = (distribution(inputs),) if mixing == "nested" else inputs
            models.append(build(given, level - 1))
        made[level] += 1
        name = f"{'g' * level}{made[level]}" if level < depth else "majority"
        steps[name] = Step("vote", tuple(models))
        return name

    build((INITIAL,), depth)
    name = f"{mixing} hierarchy of depth {depth} and width {width}"
    return Design(name, steps, output="majority")


# Could these error sets have come out of this benchmark? Eqs (16) and (19) of [SAH23]_.


@dataclass(frozen=True)
class Consistency:
    """Whether every model keeps its promise.

    Parameters
    ----------
    consistent
        Whether all rounds do.
    violated_round
        The first round that does not, counted from 1; None if all do.
    violated_step
        The name of its model in the design.
    risks
        Each model's risk on the distribution that it was trained on, to be held against *epsilon*.
    """

    consistent: bool
    violated_round: int | None
    violated_step: str | None
    risks: tuple[float, ...]
    epsilon: float

    def __str__(self) -> str:
        if self.violated_round is None:
            return (
                f"consistent: every model has risk at most {self.epsilon:g} on its own distribution"
            )
        risk = self.risks[self.violated_round - 1]
        where = f"round {self.violated_round} ({self.violated_step})"
        return f"{where} has risk {risk:.4g} > {self.epsilon:g} on its distribution"


def check(design: Design, errors: Array, population: Population, *, epsilon: float) -> Consistency:
    r"""Could these error sets have come out of this benchmark? Name the round that gives them away.

    They are consistent with an :math:`\epsilon`-approximate risk minimiser if and only if the left
    side of Eq (19), that is :func:`training_risks`, is at most :math:`\epsilon` in every round.

    Parameters
    ----------
    design
        Any design.
    errors
        One row of booleans per trained model, in the order of ``design.trained``.
    population
        The distributions :math:`\mathcal D` and :math:`\mathcal D_0`.
    epsilon
        The promise, in (0, 1/2].

    Examples
    --------
    >>> same = np.array([[1, 0, 0, 0]] * 2, dtype=bool)
    >>> print(check(path(2), same, Population.uniform(4), epsilon=0.25))
    round 2 (h2) has risk 0.625 > 0.25 on its distribution
    """
    checked_epsilon(epsilon)
    script = np.asarray(errors, dtype=bool)
    if script.shape != (design.rounds, population.size):
        raise InputError(
            f"errors need the shape ({design.rounds}, {population.size}), got {script.shape}"
        )
    risks, _ = training_risks(design, population.weights, population.start, script)
    first = next((t for t, risk in enumerate(risks) if risk > epsilon + TOLERANCE), None)
    return Consistency(
        consistent=first is None,
        violated_round=None if first is None else first + 1,
        violated_step=None if first is None else design.trained[first],
        risks=tuple(map(float, risks)),
        epsilon=epsilon,
    )


def training_risks(
    design: Design, mass: Array, initial: Array, errors: Array
) -> tuple[list[Any], Array]:
    r"""Return each model's risk on the data it was trained on, and the errors of what is delivered.

    .. math:: w_{t,0} \mathcal D_0(\mathcal K_t) + \sum_{t' < t} \overline w_{t,t'}
              \frac{\mathcal D(\mathcal K_t \cap \mathcal K_{t'})}{\mathcal D(\mathcal K_{t'})}

    [SAH23]_, the left side of Eq (19); Eq (16) is its first round. (Eq (17) means :math:`\mathcal
    D_0(\mathcal K_t)`, and the last line of (18) lacks a factor of two: ERRATA.) The risk on a
    mixture is the mixture of risks, so any design is evaluated in the same way. An empty error set
    is left out of the mixture. Errors of the output are counted in halves: a tie is 1.

    Parameters
    ----------
    mass, initial
        :math:`\mathcal D` and :math:`\mathcal D_0`, to any scale. Python's whole numbers in arrays
        of objects give exact fractions, if the weights of every mixture are equal.
    errors
        One row of booleans per trained model.

    Examples
    --------
    >>> tenths = np.array([1, 1, 8], dtype=object)
    >>> risks, output = training_risks(path(2), tenths, tenths, np.array([[1, 0, 0], [1, 1, 0]]))
    >>> [str(risk) for risk in risks], output.tolist()
    (['1/10', '3/5'], [2, 1, 0])
    """
    risks: list[Any] = []
    halves: dict[str, Array] = {}
    found = {INITIAL: (initial, initial.sum())}  # what was collected, and its mass

    def risk_on(source: str, own: Array) -> Any:
        """Return the risk on a distribution; None if nothing was collected there."""
        if source in found:
            part, whole = found[source]
            return _ratio(part @ own, 2 * whole) if whole else None
        step = design.steps[source]
        shares = (1,) * len(step.inputs) if len(set(step.shares)) == 1 else step.shares
        parts = (
            (share, risk_on(name, own)) for share, name in zip(shares, step.inputs, strict=True)
        )
        known = [(share, part) for share, part in parts if share and part is not None]
        return sum(w * part for w, part in known) / sum(w for w, _ in known) if known else None

    for name in design.order:
        step = design.steps[name]
        if step.operation == "train":
            halves[name] = 2 * np.asarray(errors[len(risks)], dtype=np.int64)
            risk = risk_on(step.inputs[0], halves[name])
            risks.append(risk_on(INITIAL, halves[name]) if risk is None else risk)
        elif step.operation == "vote":
            voted = vote([halves[model] / 2 for model in step.inputs], step.shares)
            halves[name] = (2 * voted).astype(np.int64)
        elif step.operation == "collect":
            errs = mass * halves[step.inputs[0]]
            found[name] = errs, errs.sum()
    return risks, halves[design.output]


def _ratio(part: Any, whole: Any) -> Any:
    return Fraction(part, whole) if isinstance(part, int) else part / whole
