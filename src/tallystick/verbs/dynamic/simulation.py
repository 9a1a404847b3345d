"""What is proved of a dynamic benchmark before anything is run, and what a design would bring.

Both are thin: the theorems, designs and rollouts are in
:mod:`tallystick.papers.dynamic_benchmarks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError
from tallystick.papers import dynamic_benchmarks as theorems
from tallystick.papers.dynamic_benchmarks import certificates
from tallystick.papers.dynamic_benchmarks.designs import (
    TOLERANCE,
    Array,
    Design,
    Population,
    as_path,
    checked_epsilon,
    hierarchical,
    path,
)
from tallystick.papers.dynamic_benchmarks.rollouts import (
    Learner,
    RandomErrors,
    Rollouts,
    Scripted,
    control_risk,
    roll,
)
from tallystick.results import Figure, Interval, Result, Unknown
from tallystick.results.numbers import count, number
from tallystick.table import Capability
from tallystick.verbs.dynamic.log import ends_of
from tallystick.verbs.dynamic.question import SimulateQuestion, TheoryQuestion

_WORST_ROUNDS = 8
"""The search climbs to the worst patterns known of up to so many rounds within a few boxes."""

_CONTROLS = 200
"""Rollouts of the control: its spread is known well enough from these."""

_NOT_RUN = Unknown("theory bounds it, it does not predict it")
_NO_CONTROL = Unknown("only a simulation with a learner that looks at its data has a control")

_NO_PROMISE = Unknown("the learner promises no single epsilon")

_HEADS = {"worst_case": "at_worst", "lower_bound": "nothing_promised_below"}
"""What the table calls the two bounds, so that nobody reads them as an interval."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round; the first one is 1.

    Parameters
    ----------
    risk, interval
        Majority risk of the models so far, and where 90% of the rollouts lie.
    epsilon
        Risk of the round's own model on the distribution it was trained on.
    worst_case, lower_bound
        No path of such models has a higher majority risk; nothing is promised below the other
        (single rollouts may well lie there).
    control, control_interval
        Majority risk of as many models trained on the plain data: a static ensemble.
    """

    round: int
    risk: float | Unknown = _NOT_RUN
    interval: Interval | Unknown = _NOT_RUN
    epsilon: float | Unknown
    worst_case: float | Unknown
    lower_bound: float | Unknown
    control: float | Unknown = _NO_CONTROL
    control_interval: Interval | Unknown = _NO_CONTROL


@dataclass(frozen=True, kw_only=True)
class DynamicResult(Result):
    """What theory or a simulation says of a design, by round.

    Parameters
    ----------
    statements
        What the table has no room for, in words.
    output_risk, output_interval, rollouts
        Simulations: risk of the model that the design delivers, mean over rollouts and where 90%
        of them lie; and how often it was run.
    """

    verb: ClassVar[str] = "dynamic"
    schema: ClassVar[int] = 3

    action: Literal["theory", "simulate"]
    design: str
    rounds: tuple[Round, ...]
    statements: tuple[str, ...] = ()
    epsilon: float | Unknown
    output_risk: float | Unknown = _NOT_RUN
    output_interval: Interval | Unknown = _NOT_RUN
    rollouts: int | None = None

    def details(self) -> tuple[str, ...]:
        """Return the statements."""
        return self.statements

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round, without columns that nothing fills."""
        told = [dict(vars(each)) for each in self.rounds]
        names = [n for n in told[0] if not all(isinstance(row[n], Unknown) for row in told)]
        return [{_HEADS.get(name, name): row[name] for name in names} for row in told]

    def figures(self) -> tuple[Figure, ...]:
        """Return majority risk by round, between its bounds."""
        columns: dict[str, list[float | None]] = {
            name: [
                None if isinstance(v := getattr(each, name), Unknown) else v for each in self.rounds
            ]
            for name in ("round", "risk", "worst_case", "lower_bound")
        }
        columns |= ends_of([each.interval for each in self.rounds])
        roles = {"x": "round", "y": "risk", "low": "low", "high": "high"}
        roles |= {"outer_high": "worst_case", "outer_low": "lower_bound"}
        words = {"y": "majority risk", "outer_low": "nothing promised below, to the worst case"}
        return (Figure("rounds", f"Majority risk by round: {self.design}", columns, roles, words),)


def _risk(value: float) -> str:
    """Return a risk with three significant digits: proved ones can be too small for a percentage.

    >>> _risk(0.05), _risk(0.00125), _risk(0.123456)
    ('0.05', '0.00125', '0.123')
    """
    return number(float(f"{value:.3g}"))


# Theory.


def theory(epsilon: float, *, rounds: int = 3) -> DynamicResult:
    r"""Say what is proved of a path and of a hierarchy of such models before anything is run.

    Random labels (Theorem 3.6) and another first distribution (Theorem 3.4) are in
    :mod:`tallystick.papers.dynamic_benchmarks`.

    Parameters
    ----------
    epsilon
        Excess risk that the learner guarantees, in (0, 1/2].
    rounds
        Length of the path.

    Examples
    --------
    >>> known = theory(0.1, rounds=3)
    >>> round(known.rounds[2].worst_case, 6), round(known.rounds[2].lower_bound, 6)
    (0.05, 0.00125)
    """
    checked_epsilon(epsilon)
    worst = certificates.worst_by_round(epsilon, max(rounds, 3))
    floors = _floors(epsilon, rounds)
    deep = theorems.hierarchical_bound(epsilon)
    return DynamicResult(
        verdict=_what_matters(epsilon, worst[2], deep),
        n_items=0,
        assumptions=(
            "every model has risk at most epsilon above the best on its own distribution; mixing and"
            " voting are uniform, no labels random, and the first data are like the population",
        ),
        action="theory",
        design=path(rounds).name,
        rounds=tuple(
            Round(round=t + 1, epsilon=epsilon, worst_case=worst[t], lower_bound=floors[t])
            for t in range(rounds)
        ),
        statements=_statements(epsilon, worst),
        epsilon=epsilon,
    )


def _floors(epsilon: float, rounds: int) -> list[float]:
    """Return what no path can promise less than, by round."""
    return [epsilon, 0.0, *[theorems.path_floor(epsilon)] * rounds][:rounds]


def _what_matters(epsilon: float, three: float, deep: float) -> str:
    """Say whether three rounds promise more than one model, and a hierarchy more than a path."""
    one = theorems.path_bound(epsilon, 1)
    less = three < one * (1 - TOLERANCE)
    promised = "a smaller risk" if less else "no smaller risk"
    words = "worse than" if deep > three else "better than"
    return (
        f"A vote of three rounds promises {promised} than one model: at most {_risk(three)} and"
        f" {_risk(one)}. A nested hierarchy of nine rounds promises {_risk(deep)}, {words} the path"
        f" of three. No path promises less than {_risk(theorems.path_floor(epsilon))}."
    )


def _statements(epsilon: float, worst: tuple[float, ...]) -> tuple[str, ...]:
    """Return the paper's own numbers, and what nothing promises."""
    printed = theorems.three_round_bound(epsilon, printed=True)
    flat = theorems.hierarchical_bound(epsilon, mixing="flat", printed=True)
    rounds = len(worst)
    return (
        f"Theorem 3.4 prints {_risk(printed)} for three rounds, Theorem 4.1 {_risk(flat)} for the"
        " hierarchy with flat mixing; no path promises less than"
        f" {_risk(theorems.path_floor(epsilon))} (Theorem 3.5), no hierarchy less than"
        f" {_risk(theorems.hierarchical_floor(epsilon))} (Theorem 4.2), and {rounds} updates by"
        f" exponential loss at most {_risk(theorems.exponential_bound(epsilon, rounds))} (Lemma"
        " A.2).",
    )


# Simulation.


def simulate(
    design: Design, learner: Learner, population: Population, *, rollouts: int = 1000, rng: Rng
) -> DynamicResult:
    """Run a design many times over a population and say what came of it.

    Parameters
    ----------
    learner
        Any learner, as :mod:`tallystick.papers.dynamic_benchmarks.rollouts` describes them.

    Examples
    --------
    >>> result = simulate(path(5), RandomErrors(0.1), Population.uniform(400), rollouts=100, rng=0)
    >>> [round(each.risk, 3) for each in result.rounds]
    [0.1, 0.101, 0.026, 0.027, 0.007]
    """
    seed = int(as_rng(rng).integers(2**31))
    done = roll(population, design, learner, rollouts=rollouts, rng=seed)
    epsilon = getattr(learner, "epsilon", None)
    promise = float(epsilon) if isinstance(epsilon, float | int) else None
    bounds = _bounds(design, promise, population)
    spans: Sequence[Interval | Unknown] = _spread(done.risk)
    control: Sequence[float | Unknown] = [_NO_CONTROL] * design.rounds
    controls: Sequence[Interval | Unknown] = [_NO_CONTROL] * design.rounds
    if isinstance(learner, Scripted):  # it plays given errors, whatever it is trained on
        spans = [Unknown("every rollout is the same")] * design.rounds
    else:
        some = min(rollouts, _CONTROLS)
        plain = control_risk(population, learner, rounds=design.rounds, rollouts=some, rng=seed)
        control, controls = plain.mean(axis=0).tolist(), _spread(plain)
    rounds = tuple(
        Round(
            round=t + 1,
            risk=float(done.risk[:, t].mean()),
            interval=spans[t],
            epsilon=float(done.epsilon[:, t].mean()),
            worst_case=bounds[t][0],
            lower_bound=bounds[t][1],
            control=control[t],
            control_interval=controls[t],
        )
        for t in range(design.rounds)
    )
    output = _spread(done.output_risk[:, None])[0]
    return DynamicResult(
        verdict=_verdict(design.name, done, output, rounds),
        n_items=population.size,
        assumptions=(
            f"the learner is {type(learner).__name__}, and each round brings back every error; a tie"
            " of votes counts one half",
        ),
        seed=seed_of(rng),
        action="simulate",
        design=design.name,
        rounds=rounds,
        epsilon=_NO_PROMISE if promise is None else promise,
        output_risk=float(done.output_risk.mean()),
        output_interval=output,
        rollouts=rollouts,
    )


def _verdict(design: str, done: Rollouts, output: Interval, rounds: tuple[Round, ...]) -> str:
    """Say what the design, its first model and the control deliver."""
    mean, first = float(done.output_risk.mean()), float(done.risk[:, 0].mean())
    text = f"The {design} delivers a risk of {_risk(mean)}"
    if output.high - output.low > TOLERANCE:
        text += (
            f" on average over {count(len(done.output_risk))} rollouts, 90% of them between"
            f" {_risk(output.low)} and {_risk(output.high)}"
        )
    text += f"; its first model alone has {_risk(first)}"
    last = rounds[-1]
    if isinstance(last.control_interval, Interval) and isinstance(last.control, float):
        low, high = last.control_interval
        text += (
            f", and as many models on the plain data {_risk(last.control)} ({_risk(low)} to"
            f" {_risk(high)})"
        )
    return f"{text}."


def _bounds(design: Design, epsilon: float | None, population: Population) -> list[Any]:
    """Return worst case and floor of each round, or why there is none."""
    shape = as_path(design)
    # The bounds hold for equal parts of the data and for equal votes, and for nothing else.
    uniform = shape is not None and all(np.ptp(row) < TOLERANCE for row in (*shape[0], shape[1]))
    reason = Unknown("the bounds are for equal mixing, equal votes and D_0 = D")
    if epsilon is None:
        reason = _NO_PROMISE
    elif population.noise:
        reason = Unknown("labels are random in part: the bounds are for realisable problems")
    elif uniform and np.array_equal(population.start, population.weights):
        worst = certificates.worst_by_round(epsilon, design.rounds)
        return list(zip(worst, _floors(epsilon, design.rounds), strict=True))
    return [(reason, reason)] * design.rounds


def _spread(risk: Array) -> tuple[Interval, ...]:
    """Return where 90% of the rollouts lie, by column."""
    said: dict[str, Any] = {"level": 0.9, "guarantee": "under", "method": "rollouts"}
    said["assumption"] = "errors fall as simulated"
    ends = np.quantile(risk, (0.05, 0.95), axis=0).T.tolist()
    return tuple(Interval(low, high, **said) for low, high in ends)


# The verbs.


def theory_answer(_: None, question: TheoryQuestion) -> DynamicResult:
    """Say what is proved before anything is run."""
    if question.epsilon is None:
        raise InputError(
            "theory needs the risk of each model on its own data: add --epsilon, e.g. .1"
        )
    return theory(question.epsilon, rounds=question.rounds)


ITEMS = 800
"""Items of a simulated population."""


def simulate_answer(_: None, question: SimulateQuestion) -> DynamicResult:
    """Simulate what the question describes."""
    checked_epsilon(question.epsilon)
    deep = question.design == "hierarchical"
    design = hierarchical() if deep else path(question.rounds)
    if question.learner == "random":
        if question.epsilon < 1 / ITEMS:
            raise InputError(
                f"epsilon must be at least {1 / ITEMS:g}, one of {ITEMS} items, or no model could"
                f" ever err; got {question.epsilon:g}"
            )
        population = Population.uniform(ITEMS)
        learner: Learner = RandomErrors(question.epsilon)
        rollouts = question.rollouts
    else:
        # A construction plays the same error sets in every rollout: one of them is all there is.
        population, learner = _construction(question, deep)
        rollouts = 1
    return simulate(design, learner, population, rollouts=rollouts, rng=question.seed)


def _construction(question: SimulateQuestion, deep: bool) -> tuple[Population, Learner]:
    """Return the population and the error sets of the worst case, or of a theorem."""
    if deep != (question.learner == "theorem-4.2"):
        wanted = "path" if deep else "hierarchical"
        raise InputError(f"--learner {question.learner} is about --design {wanted}")
    if question.learner == "theorem-4.2":
        proof = certificates.hierarchical_certificate(question.epsilon)
    elif question.learner == "theorem-3.5":
        proof = certificates.path_certificate(question.epsilon, rounds=question.rounds)
    else:
        if question.rounds > _WORST_ROUNDS:
            raise InputError(f"--learner worst is known for up to {_WORST_ROUNDS} --rounds")
        found = certificates.worst_case(
            question.epsilon, question.rounds, gap=1e-3, nodes=certificates.FEW_BOXES
        )
        proof = found.certificate()
    return proof.population, proof.learner()


THEORY = Capability(
    verb="dynamic theory",
    question=TheoryQuestion,
    answer=theory_answer,
    input="none",
)

SIMULATE = Capability(
    verb="dynamic simulate",
    question=SimulateQuestion,
    answer=simulate_answer,
    input="none",
)
