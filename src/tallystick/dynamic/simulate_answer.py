"""From the options of a simulation to its design, population and learner, and to its result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.data import Capability
from tallystick.dynamic.collection import Collection
from tallystick.dynamic.design import Design, hierarchical, path
from tallystick.dynamic.design_file import draw_design, load_design
from tallystick.dynamic.learners import Correlated, Learner, Perfect, RandomErrors
from tallystick.dynamic.population import Array, Population
from tallystick.dynamic.question import SimulateQuestion, numbers_of
from tallystick.dynamic.simulate import simulate
from tallystick.errors import ConvergenceError, FileError, InputError

if TYPE_CHECKING:
    from tallystick.dynamic.result import SimulationResult

__all__ = ["SIMULATE", "simulate_answer"]

_ITEMS = 800

_WORST_ROUNDS, _WORST_BOXES = 8, 60
"""The search climbs to the worst patterns known of up to so many rounds within a few boxes."""


def simulate_answer(data: None, question: SimulateQuestion) -> SimulationResult:
    """Simulate what the question describes, and draw its design if a file is named."""
    del data  # a simulation reads no table
    design = _design(question)
    if question.learner != "worst":
        question.check_work(design.rounds, question.items or _ITEMS)
    population, learner = _population_and_learner(question)
    result = simulate(
        design,
        learner,
        population,
        rollouts=question.rollouts,
        rng=question.seed,
        collection=Collection(
            question.found, question.coverage, question.duplicates, question.mistakes
        ),
    )
    if question.draw is not None:
        from tallystick.io import atomic

        with atomic(question.draw) as stream:
            stream.write(draw_design(design).encode("utf-8"))
    return result


def _design(question: SimulateQuestion) -> Design:
    if isinstance(question.design, Design):
        return question.design
    weights = question.majority
    majority = None if weights is None else numbers_of(weights, "--majority")
    if question.design == "path":
        return path(question.rounds, mixture=question.mixture, majority=majority)
    if question.mixture is not None or majority is not None:
        raise InputError(
            "--mixture and --majority are for --design path: any other design states its weights in"
            " a file"
        )
    if question.design == "hierarchical":
        mixing: Any = question.mixing  # one of the choices
        return hierarchical(depth=question.depth, width=question.width, mixing=mixing)
    return load_design(question.design)


def _population_and_learner(question: SimulateQuestion) -> tuple[Population, Learner]:
    risks = numbers_of(question.epsilon, "--epsilon")
    if question.learner == "worst":
        return _worst(question, risks)
    population = _population(question)
    lightest = float(population.weights.min())
    if question.learner == "random" and 0 < min(risks) < lightest:
        raise InputError(
            f"an item of {population.size} weighs {lightest:.3g}, more than a model may get wrong"
            f" (--epsilon {min(risks):g}): it could never err, so take more items (--items)"
        )
    if question.learner == "perfect":
        return population, Perfect()
    epsilon = risks[0] if len(risks) == 1 else risks
    if question.learner == "random":
        return population, RandomErrors(epsilon)
    return population, Correlated(epsilon, question.rho, question.gamma)


def _worst(question: SimulateQuestion, risks: Sequence[float]) -> tuple[Population, Learner]:
    """Return the population and the error sets that cost a path most, of all that are allowed."""
    from tallystick.dynamic.worst_case import worst_case

    given = {
        "--noise": question.noise or None,
        "--initial": question.initial,
        "--items": question.items,
        "--majority": question.majority,
    }
    for flag in (flag for flag, value in given.items() if value is not None):
        raise InputError(f"--learner worst brings its own population and equal votes: drop {flag}")
    if len(risks) > 1:
        raise InputError(f"--learner worst needs one epsilon, got {question.epsilon}")
    if question.design != "path" or question.rounds > _WORST_ROUNDS:
        raise InputError(
            f"--learner worst is known for --design path of up to {_WORST_ROUNDS} --rounds"
        )
    try:
        found = worst_case(
            risks[0], question.rounds, mixture=question.mixture, gap=1e-3, nodes=_WORST_BOXES
        )
    except ConvergenceError as error:
        raise ConvergenceError(
            f"--learner worst: no worst case was found for --epsilon {risks[0]:g} and"
            f" {question.rounds} rounds: lower --rounds"
        ) from error
    proof = found.certificate()
    return proof.population, proof.learner()


def _population(question: SimulateQuestion) -> Population:
    size, initial = question.items or _ITEMS, question.initial
    if initial is None:
        return Population.uniform(size, noise=question.noise)
    try:
        share = float(initial)
    except ValueError:
        weights = _weights_file(Path(initial))  # type: ignore[arg-type]  # a number has no error
        plain = Population.uniform(weights.size, noise=question.noise)
        return Population(plain.weights, initial=weights, noisy=plain.noisy)
    if not 0 < share <= 1:
        raise InputError(f"--initial, a share of the items, must be in (0, 1], got {initial}")
    plain = Population.uniform(size, noise=question.noise)
    covered = np.arange(size) < max(1, round(share * size))
    return Population(plain.weights, initial=covered / covered.sum(), noisy=plain.noisy)


def _weights_file(file: Path) -> Array:
    try:
        return np.array([float(line) for line in file.read_text(encoding="utf-8").split()])
    except OSError as error:
        raise FileError(f"cannot read --initial {str(file)!r}: {error}") from error
    except ValueError as error:
        raise InputError(f"--initial {str(file)!r} needs one number per line: {error}") from error


SIMULATE = Capability(
    verb="dynamic simulate",
    summary="What would a design of rounds bring, with such a learner?",
    question=SimulateQuestion,
    answer=simulate_answer,
    input="none",
)
