"""What would a design bring, with such a learner: many rollouts, as a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import ConvergenceError, FileError, InputError
from tallystick.papers.dynamic_benchmarks import path_floor
from tallystick.papers.dynamic_benchmarks.certificates import worst_case
from tallystick.papers.dynamic_benchmarks.designs import (
    TOLERANCE,
    Array,
    Design,
    Population,
    as_path,
    checked_epsilon,
    hierarchical,
    majority_share,
    path,
)
from tallystick.papers.dynamic_benchmarks.rollouts import (
    Build,
    Learner,
    Perfect,
    RandomErrors,
    Rollouts,
    Scripted,
    epsilon_at,
    fill,
    roll,
    similarity,
)
from tallystick.results import Interval, Unknown
from tallystick.table import Capability
from tallystick.verbs.dynamic.design_file import draw_design, load_design
from tallystick.verbs.dynamic.question import SimulateQuestion, numbers_of
from tallystick.verbs.dynamic.result import (
    NO_ADVICE_WITHOUT_LOG,
    Round,
    Signals,
    SimulationResult,
    simulation_assumptions,
    simulation_verdict,
)
from tallystick.verbs.dynamic.theory import worst_by_round

_CONTROLS = 200
"""Rollouts of each control: their means are known well enough from these."""

_Z_CELLS = 40_000_000
"""Rollouts x rounds x items whose error sets are kept for z: as many rollouts as fit into some
forty megabytes."""


@dataclass(frozen=True)
class Correlated:
    r"""A learner whose models fail together.

    .. math:: s_{it} = \sqrt\rho\, b_i + \sqrt{1-\rho}\, g_{it} - \gamma \log(d\, \mathcal D_t(i))

    The items of highest score are wrong, until their mass in :math:`\mathcal D_t` reaches
    :math:`\epsilon_t`; the item on the boundary is drawn, so that the mass is right on average.
    :math:`b_i` is difficulty, shared by all models of a rollout, and :math:`\rho` its weight;
    :math:`\gamma` is how much up-weighting protects an item. ``Correlated(epsilon)`` alone is
    :class:`RandomErrors`, but for the boundary.

    Parameters
    ----------
    epsilon
        The excess risk, in (0, 1/2], or one a round.
    rho
        Share of difficulty that models have in common, in [0, 1].
    gamma
        Protection by weight, not negative.
    """

    epsilon: float | Sequence[float]
    rho: float = 0.0
    gamma: float = 0.0

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        if not 0 <= self.rho <= 1:
            raise InputError(f"rho must be in [0, 1], got {self.rho!r}")
        if not 0 <= self.gamma < np.inf:
            raise InputError(f"gamma must be finite and not negative, got {self.gamma!r}")

    def begin(self, population: Population, rollouts: int, rng: np.random.Generator) -> Build:
        """Start *rollouts* independent careers on *population*."""
        shape, clean = (rollouts, population.size), ~population.coin
        shared = rng.standard_normal(shape, dtype=np.float32)
        shared *= np.float32(self.rho**0.5)
        own = np.float32((1 - self.rho) ** 0.5)

        def build(weights: Array, round_: int) -> Array:
            scores = rng.standard_normal(weights.shape, dtype=np.float32)
            scores *= own
            scores += shared
            if self.gamma:
                # an item without weight is not protected at all: score +inf
                with np.errstate(divide="ignore"):
                    scores -= np.float32(self.gamma) * np.log(
                        (population.size * weights).astype(np.float32)
                    )
            reach = epsilon_at(self.epsilon, round_)
            return fill(scores, weights, clean, reach, rng.random(len(weights)))

        return build


@dataclass(frozen=True)
class Collection:
    r"""How far a round of data collection falls short of :math:`\mathcal D|_{h(x) \ne y}`.

    Parameters
    ----------
    items
        How many items a round yields; None for the whole error distribution, as in the paper.
    coverage
        Share of the error set that annotators can find at all, drawn anew each round.
    duplicates
        Share of the collected items that are copies of others of the same round.
    mistakes
        Share of the collected items on which the model was right: the annotator was not.

    Examples
    --------
    >>> Collection(coverage=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: coverage must be in (0, 1], got 0
    """

    items: int | None = None
    coverage: float = 1.0
    duplicates: float = 0.0
    mistakes: float = 0.0

    def __post_init__(self) -> None:
        if self.items is not None and self.items < 1:
            raise InputError(f"items must be at least 1, got {self.items!r}")
        if not 0 < self.coverage <= 1:
            raise InputError(f"coverage must be in (0, 1], got {self.coverage!r}")
        for name in ("duplicates", "mistakes"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be in [0, 1), got {getattr(self, name)!r}")
        if self.duplicates and self.items is None:
            raise InputError(
                f"duplicates={self.duplicates} needs items: a whole distribution has no copies"
            )

    def __call__(self, weights: Array, errors: Array, rng: np.random.Generator) -> Array:
        """Collect the errors of each rollout; a row of zeros where there are none to find.

        >>> Collection()(np.full(4, 0.25), np.array([[1, 1, 0, 0], [0, 0, 0, 0]]), np.random.default_rng(0)).tolist()
        [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
        """
        mass = weights * errors
        if self.coverage < 1:
            mass = mass * (rng.random(mass.shape) < self.coverage)
        found = _normal(mass)
        empty = ~(found.sum(axis=1) > 0)
        if self.mistakes:
            others = _normal(weights * (1 - errors))
            found = (1 - self.mistakes) * found + self.mistakes * others
        if self.items is not None:
            fresh = max(1, round(self.items * (1 - self.duplicates)))
            found = _normal(rng.multinomial(fresh, _normal(found, fallback=True)).astype(float))
            if self.items > fresh:
                copies = rng.multinomial(self.items - fresh, _normal(found, fallback=True))
                found = (fresh * found + copies) / self.items
        found[empty] = 0
        return found


IDEAL = Collection()
"""The annotators of the paper: they return the whole error distribution."""


def _normal(mass: Array, *, fallback: bool = False) -> Array:
    """Scale each row to one; an empty row stays zero, or becomes uniform where something is to be
    drawn.
    """
    total = mass.sum(axis=1, keepdims=True)
    out = np.divide(mass, total, out=np.zeros(mass.shape), where=total > 0)
    if fallback:
        out[total[:, 0] <= 0] = 1 / mass.shape[1]
    return np.asarray(out)


# The simulation, as a result.


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
        Any.
    learner
        Any learner, as :mod:`tallystick.papers.dynamic_benchmarks.rollouts` describes them.
    collection
        What annotators really bring back.
    early
        The round whose z and risk are held against the final risk (Figure 5).

    Examples
    --------
    >>> result = simulate(path(5), RandomErrors(0.1), Population.uniform(400), rollouts=100, rng=0)
    >>> [round(each.risk, 3) for each in result.rounds]
    [0.1, 0.101, 0.026, 0.027, 0.007]
    """
    generator = as_rng(rng)
    seed = int(generator.integers(2**31))
    shape = as_path(design)
    kept = max(4, min(rollouts, _Z_CELLS // (design.rounds * population.size)))

    run = partial(roll, population, design, learner, rng=seed, annotators=collection)
    done = run(rollouts=rollouts, keep_errors=kept >= rollouts)
    sample = done if kept >= rollouts else run(rollouts=kept, keep_errors=True)
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
    >>> people, learner = Population.uniform(400), Correlated(0.1, rho=0.6)
    >>> static = control_risk(people, learner, rounds=9, rollouts=50, rng=0).mean(axis=0)
    >>> on_path = roll(people, path(9), learner, rollouts=50, rng=0).risk.mean(axis=0)
    >>> bool(on_path[8] < static[8] < static[0] + 1e-9)
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


# What an early round says about the end, over rollouts: Figure 5 of [SAH23]_.


def early_signals(
    errors: Array,
    risk: Array,
    *,
    early: int,
    weights: Array | None = None,
    majority: Array | None = None,
) -> Signals:
    """Correlate :math:`z` and majority risk at round *early* (counted from 1) with the final
    majority risk.

    [SAH23]_, section B.2 and Figure 5. A correlation is None where one side does not vary.

    Parameters
    ----------
    errors
        (rollouts, rounds, items).
    risk
        (rollouts, rounds), majority risk by round.
    majority
        Error share of the vote of the first *early* models, (rollouts, items), where *risk* is not
        that of the binary majority: a plurality of many labels, say.
    """
    rollouts, rounds = risk.shape
    if not 2 <= early < rounds:
        raise InputError(f"early must be a round from 2 to {rounds - 1}, got {early!r}")
    if rollouts < 4:
        raise InputError(f"a correlation over rollouts needs at least 4 of them, got {rollouts}")
    z = similarity(errors[:, :early], weights=weights, majority=majority)
    by_z, by_risk = _pearson(z, risk[:, -1]), _pearson(risk[:, early - 1], risk[:, -1])
    return Signals(
        early=early,
        final=rounds,
        z_correlation=by_z[0],
        z_interval=by_z[1],
        risk_correlation=by_risk[0],
        risk_interval=by_risk[1],
        rollouts=rollouts,
    )


def rank_persistence(risk: Array) -> Array:
    """Return the rank correlation of the rollouts' risk at each round with their final risk: do bad
    ones stay bad.

    NaN where all rollouts are alike.

    >>> rank_persistence(np.array([[0.3, 0.2], [0.4, 0.1], [0.5, 0.3]])).round(2).tolist()
    [0.5, 1.0]
    """
    ranks = np.column_stack([_ranks(column) for column in risk.T])
    centred = ranks - ranks.mean(axis=0)
    scale = np.sqrt((centred**2).sum(axis=0))
    product = centred.T @ centred[:, -1]
    out = np.full(risk.shape[1], np.nan)
    return np.asarray(np.divide(product, scale * scale[-1], out=out, where=scale * scale[-1] > 0))


def _ranks(values: Array) -> Array:
    """Ranks from 1, ties sharing their mean."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place])


def _pearson(x: Array, y: Array) -> tuple[float | None, Interval | None]:
    """Pearson's r with Fisher's interval."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None, None
    r = float(np.corrcoef(x, y)[0, 1])
    half = 1.959964 / np.sqrt(x.size - 3)
    low, high = np.tanh(np.arctanh(np.clip(r, -0.9999999, 0.9999999)) + np.array([-half, half]))
    return r, Interval(
        float(min(low, r)),
        float(max(high, r)),
        level=0.95,
        guarantee="approximate",
        method="fisher",
    )
