"""What would a design bring, with such a learner: many rollouts, as a result."""

from __future__ import annotations

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.dynamic.bounds import path_floor
from tallystick.dynamic.collection import IDEAL, Collection
from tallystick.dynamic.control import Control, control_risk
from tallystick.dynamic.design import Design, as_path
from tallystick.dynamic.learners import Learner, Scripted
from tallystick.dynamic.population import TOLERANCE, Array, Population
from tallystick.dynamic.result import Round, SimulationResult
from tallystick.dynamic.rollouts import Rollouts, roll
from tallystick.dynamic.similarity import Signals, early_signals, rank_persistence, similarity
from tallystick.dynamic.verdict import (
    NO_ADVICE_WITHOUT_LOG,
    simulation_assumptions,
    simulation_verdict,
)
from tallystick.dynamic.worst_by_round import worst_by_round
from tallystick.results import Interval, Unknown

__all__ = ["simulate"]

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
        Any learner of :mod:`tallystick.dynamic.learners`.
    collection
        What annotators really bring back.
    early
        The round whose z and risk are held against the final risk (Figure 5).

    Examples
    --------
    >>> from tallystick.dynamic.design import path
    >>> from tallystick.dynamic.learners import RandomErrors
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
