"""What would a design bring, with such a learner: many rollouts, as a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import ConvergenceError, FileError, InputError
from tallystick.results import Interval, Unknown
from tallystick.table import Capability
from tallystick.verbs.dynamic.design import (
    IDEAL,
    Collection,
    Design,
    as_path,
    draw_design,
    hierarchical,
    load_design,
    path,
)
from tallystick.verbs.dynamic.population import (
    TOLERANCE,
    Array,
    Population,
    Signals,
    early_signals,
    majority_share,
    rank_persistence,
    similarity,
)
from tallystick.verbs.dynamic.question import SimulateQuestion, numbers_of
from tallystick.verbs.dynamic.result import (
    NO_ADVICE_WITHOUT_LOG,
    Round,
    SimulationResult,
    simulation_assumptions,
    simulation_verdict,
)
from tallystick.verbs.dynamic.rollouts import (
    Correlated,
    Learner,
    Perfect,
    RandomErrors,
    Rollouts,
    Scripted,
    roll,
)
from tallystick.verbs.dynamic.theory import path_floor, worst_by_round

_CONTROLS = 200
"""Rollouts of each control: their means are known well enough from these."""

_Z_CELLS = 40_000_000
"""Rollouts x rounds x items whose error sets are kept for z: as many rollouts as fit into some
forty megabytes."""


def simulate(
    design: Design,
    learner: Learner,
    population: Population,
    *,
    rollouts: int = 1000,
    rng: Rng,
    collection: Collection = IDEAL,
    early: int = 4,
) -> SimulationResult:
    """Run a design many times over a population and say what came of it.

    Parameters
    ----------
    design
        Any; a path in shape takes the fast lane.
    learner
        Any learner of :mod:`tallystick.verbs.dynamic.rollouts`.
    collection
        What annotators really bring back.
    early
        The round whose z and risk are held against the final risk (Figure 5).

    Examples
    --------
    >>> from tallystick.verbs.dynamic.design import path
    >>> from tallystick.verbs.dynamic.rollouts import RandomErrors
    >>> result = simulate(path(5), RandomErrors(0.1), Population.uniform(400), rollouts=100, rng=0)
    >>> [round(each.risk, 3) for each in result.rounds]
    [0.1, 0.101, 0.026, 0.027, 0.007]
    """
    generator = as_rng(rng)
    seed = int(generator.integers(2**31))
    shape = as_path(design)
    kept = max(4, min(rollouts, _Z_CELLS // (design.rounds * population.size)))

    whole = kept >= rollouts
    done = roll(
        population,
        design,
        learner,
        rollouts=rollouts,
        rng=seed,
        collection=collection,
        keep_errors=whole,
    )
    sample = done
    if not whole:
        sample = roll(
            population,
            design,
            learner,
            rollouts=kept,
            rng=seed,
            collection=collection,
            keep_errors=True,
        )
    low_high = _spread(done.risk)
    # The bounds hold for equal parts of the data and for equal votes, and for nothing else.
    uniform = shape is not None and all(np.ptp(row) < TOLERANCE for row in (*shape[0], shape[1]))
    bounds = _bounds(design, learner, population, uniform and collection == IDEAL)
    controls = _controls(design, learner, population, min(rollouts, _CONTROLS), seed)
    rounds = tuple(
        Round(
            round=t + 1,
            risk=float(done.risk[:, t].mean()),
            interval=low_high[t],
            epsilon=float(done.epsilon[:, t].mean()),
            worst_case=bounds[0][t],
            lower_bound=bounds[1][t],
            z=_mean_z(sample, t + 1),
            noise_share=float(done.noise_share[:, t].mean()),
            control=controls["static"][t],
            fresh=controls["fresh"][t],
        )
        for t in range(design.rounds)
    )
    output = _spread(done.output_risk[:, None])[0]
    mean = float(done.output_risk.mean())
    return SimulationResult(
        verdict=simulation_verdict(design.name, (mean, output), rollouts=rollouts, rounds=rounds),
        n_items=population.size,
        assumptions=simulation_assumptions(type(learner).__name__, collection),
        seed=seed_of(rng),
        action="simulate",
        design=design.name,
        rounds=rounds,
        advice=Unknown(NO_ADVICE_WITHOUT_LOG),
        output_risk=mean,
        output_interval=output,
        price=design.rounds,
        rollouts=rollouts,
        signals=_signals(sample, early),
        persistence=tuple(
            Unknown("all rollouts are alike") if np.isnan(value) else float(value)
            for value in rank_persistence(done.risk)
        ),
    )


def _controls(
    design: Design, learner: Learner, population: Population, rollouts: int, seed: int
) -> dict[Control, list[float | Unknown]]:
    """Mean risk by round of as many models without adversarial data, or why there is none."""
    if isinstance(learner, Scripted):
        reason = Unknown("the learner plays given error sets, whatever it is trained on")
        return dict.fromkeys(("static", "fresh"), [reason] * design.rounds)

    def by_round(kind: Control) -> list[float | Unknown]:
        risk = control_risk(
            population, learner, kind=kind, rounds=design.rounds, rollouts=rollouts, rng=seed
        )
        return [float(mean) for mean in risk.mean(axis=0)]

    static = by_round("static")
    same = np.array_equal(population.start, population.weights)
    return {"static": static, "fresh": static if same else by_round("fresh")}


def _bounds(
    design: Design, learner: Learner, population: Population, uniform: bool
) -> tuple[list[float | Unknown], list[float | Unknown]]:
    """Worst case and floor of each round, or why there is none."""
    epsilon = getattr(learner, "epsilon", None)
    if not isinstance(epsilon, float | int):
        reason = Unknown("the learner promises no single epsilon")
    elif population.noise:
        reason = Unknown("labels are random in part: the bounds are for realisable problems")
    elif not uniform or not np.array_equal(population.start, population.weights):
        reason = Unknown(
            "the bounds are for equal mixing, equal votes, all errors found and D_0 = D"
        )
    else:
        floor = [float(epsilon), 0.0, *[path_floor(epsilon)] * design.rounds][: design.rounds]
        return list(worst_by_round(float(epsilon), design.rounds)), list(floor)
    return [reason] * design.rounds, [reason] * design.rounds


def _spread(risk: Array) -> tuple[Interval, ...]:
    """Return where 90 % of the rollouts lie, by column."""
    low, high = np.quantile(risk, (0.05, 0.95), axis=0)
    return tuple(
        Interval(
            float(a),
            float(b),
            level=0.9,
            guarantee="under",
            assumption="errors fall as simulated",
            method="rollouts",
        )
        for a, b in zip(low, high, strict=True)
    )


def _mean_z(sample: Rollouts, rounds: int) -> float | Unknown:
    if rounds < 2:
        return Unknown("z needs two models")
    z = similarity(sample.error_sets[:, :rounds], weights=sample.population.weights)
    known = z[~np.isnan(z)]
    return float(known.mean()) if known.size else Unknown("no two models share an error")


def _signals(sample: Rollouts, early: int) -> Signals | Unknown:
    if not 2 <= early < sample.rounds or len(sample.risk) < 4:
        return Unknown(
            f"a correlation needs an early round before the last ({sample.rounds}) and four"
            " rollouts"
        )
    return early_signals(
        sample.error_sets, sample.risk, early=early, weights=sample.population.weights
    )


# From the options of a simulation to its design, population and learner, and to its result.


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
        from tallystick.table import atomic

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
    from tallystick.verbs.dynamic.theory import worst_case

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

# From predictions to curves: majority risk, plurality risk and excess risk by round, whoever made
# the predictions.
#
# Digits trees, a GPU's neural networks and a real log all end here: an array of predictions of
# shape
# (rollouts, rounds, items).


@dataclass(frozen=True, eq=False)
class Curves:
    """Rollouts in rows, rounds in columns, on equally weighted items.

    Parameters
    ----------
    risk
        Of the plurality vote of all models so far; ties are split by chance. With two labels it is
        the majority.
    binary_risk
        Of the binary majority, which knows only right from wrong: at least half of the models wrong
        (a tie counts 1/2).
    model_risk
        Of the round's own model.
    epsilon
        Of the round's own model, on the uniform mixture that it was trained on.
    """

    risk: Array
    binary_risk: Array
    model_risk: Array
    epsilon: Array


def curves(predictions: Array, labels: Array, *, trained_on_path: bool = True) -> Curves:
    """Follow the votes through the rounds.

    Parameters
    ----------
    predictions
        (rollouts, rounds, items), any labels.
    labels
        The true label of each item.
    trained_on_path
        Whether round t was trained on the uniform mixture of a path (else on the plain data, as a
        static control is).

    Examples
    --------
    >>> calls = np.array([[[0, 1, 2], [0, 1, 1], [0, 0, 1]]])
    >>> curves(calls, np.array([0, 1, 2])).risk.round(3).tolist()
    [[0.0, 0.167, 0.333]]
    """
    calls = np.asarray(predictions)
    truth = np.asarray(labels)
    if calls.ndim != 3 or calls.shape[2] != truth.size:
        raise InputError(
            f"predictions need the shape (rollouts, rounds, {truth.size}), got {calls.shape}"
        )
    errors = calls != truth
    classes = np.unique(np.concatenate([np.unique(calls), np.unique(truth)]))
    place, own = np.searchsorted(classes, calls), np.searchsorted(classes, truth)
    rollouts, rounds, items = calls.shape
    risk, binary, excess = (np.empty((rollouts, rounds)) for _ in range(3))
    for b in range(rollouts):
        votes = np.zeros((items, classes.size), dtype=np.int32)
        wrong = np.zeros(items)
        total = np.full(items, 1 / items)
        for t in range(rounds):
            votes[np.arange(items), place[b, t]] += 1
            top = votes == votes.max(axis=1, keepdims=True)
            risk[b, t] = np.mean(1 - top[np.arange(items), own] / top.sum(axis=1))
            wrong += errors[b, t]
            binary[b, t] = majority_share(wrong, t + 1).mean()
            excess[b, t] = (
                total / total.sum() if trained_on_path else np.full(items, 1 / items)
            ) @ errors[b, t]
            if errors[b, t].any():
                total = total + errors[b, t] / errors[b, t].sum()
    return Curves(risk=risk, binary_risk=binary, model_risk=errors.mean(axis=2), epsilon=excess)


def plurality(predictions: Array, labels: Array) -> Array:
    """Return where the plurality vote of these models is wrong: (..., items), ties split by chance.

    Parameters
    ----------
    predictions
        (..., models, items), any labels.
    labels
        The true label of each item.

    Examples
    --------
    >>> plurality(np.array([[0, 1, 2], [0, 1, 1], [0, 0, 1]]), np.array([0, 1, 2])).tolist()
    [0.0, 0.0, 1.0]
    >>> plurality(np.array([[0, 1, 2], [0, 0, 1]]), np.array([0, 1, 2])).tolist()
    [0.0, 0.5, 0.5]
    """
    calls, truth = np.asarray(predictions), np.asarray(labels)
    classes = np.unique(np.concatenate([np.unique(calls), np.unique(truth)]))
    votes = np.stack([(calls == label).sum(axis=-2) for label in classes], axis=-1)
    top = votes == votes.max(axis=-1, keepdims=True)
    return np.asarray(1 - (top & (truth[:, None] == classes)).any(axis=-1) / top.sum(axis=-1))


# Controls at the same price: what as many models achieve that never see an adversarial item.


Control: TypeAlias = Literal["static", "fresh"]


def control_risk(
    population: Population,
    learner: Learner,
    *,
    kind: Control = "static",
    rounds: int,
    rollouts: int,
    rng: Rng,
) -> Array:
    r"""Return the majority risk, (rollouts, rounds), of models that are trained without adversarial
    data.

    ``static``: every model is trained on :math:`\mathcal D_0`, an ensemble at the price of as many
    trainings. ``fresh``: each round mixes in random data from :math:`\mathcal D` where the path
    mixes in errors, so that as many labels are bought; the same as ``static`` where :math:`\mathcal
    D_0 = \mathcal D`. [SAH23]_ has no control.

    Examples
    --------
    >>> from tallystick.verbs.dynamic.rollouts import Correlated
    >>> from tallystick.verbs.dynamic.rollouts import roll_path
    >>> people, learner = Population.uniform(400), Correlated(0.1, rho=0.6)
    >>> static = control_risk(people, learner, rounds=9, rollouts=50, rng=0).mean(axis=0)
    >>> path = roll_path(people, learner, rounds=9, rollouts=50, rng=0).risk.mean(axis=0)
    >>> bool(path[8] < static[8] < static[0] + 1e-9)
    True
    """
    if rounds < 1 or rollouts < 1:
        raise InputError(f"rounds and rollouts must be at least 1, got {rounds!r} and {rollouts!r}")
    if kind not in ("static", "fresh"):
        raise InputError(f"kind must be 'static' or 'fresh', got {kind!r}")
    build = learner.begin(population, rollouts, as_rng(rng))
    clean = np.where(population.coin, 0.0, population.weights)
    clean = clean / clean.sum()
    wrong = np.zeros((rollouts, population.size))
    out = np.empty((rollouts, rounds))
    for t in range(rounds):
        share = 1 / (t + 1) if kind == "fresh" else 1.0
        now = share * population.start + (1 - share) * population.weights
        wrong += build(np.ascontiguousarray(np.broadcast_to(now, wrong.shape)), t)
        out[:, t] = majority_share(wrong, t + 1) @ clean
    return out
