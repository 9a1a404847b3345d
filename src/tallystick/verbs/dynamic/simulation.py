"""What is proved of a dynamic benchmark before anything is run, and what a design would bring.

Both are thin: the theorems, designs and rollouts are in
:mod:`tallystick.papers.dynamic_benchmarks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import ConvergenceError, InputError
from tallystick.papers.dynamic_benchmarks import (
    exponential_bound,
    hierarchical_bound,
    hierarchical_floor,
    path_bound,
    path_floor,
    three_round_bound,
)
from tallystick.papers.dynamic_benchmarks.certificates import (
    hierarchical_certificate,
    path_certificate,
    worst_case,
)
from tallystick.papers.dynamic_benchmarks.designs import (
    TOLERANCE,
    Array,
    Design,
    Mixing,
    Population,
    as_path,
    checked_epsilon,
    hierarchical,
    majority_share,
    path,
)
from tallystick.papers.dynamic_benchmarks.rollouts import (
    Learner,
    RandomErrors,
    Rollouts,
    Scripted,
    roll,
)
from tallystick.results import Figure, Interval, Result, Unknown
from tallystick.results.numbers import count, number
from tallystick.table import Capability
from tallystick.verbs.dynamic.question import MOST_ROUNDS, SimulateQuestion, TheoryQuestion

_BY_PROGRAM, _BOXES = 9, 60
"""Up to so many rounds a branch and bound of a few boxes is sharper than the closed form."""

_WORST_ROUNDS = 8
"""The search climbs to the worst patterns known of up to so many rounds within a few boxes."""

_CONTROLS = 200
"""Rollouts of the control: its spread is known well enough from these."""

_NOT_RUN = Unknown("theory bounds it, it does not predict it")
_NO_CONTROL = Unknown("only a simulation with a learner that looks at its data has a control")

_HEADS = {"worst_case": "at_worst", "lower_bound": "nothing_promised_below"}
"""What the table calls the two bounds, so that nobody reads them as an interval."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round; the first one is 1.

    Parameters
    ----------
    risk, interval
        Majority risk of the models so far, and where 90 % of the rollouts lie.
    epsilon
        Risk of the round's own model on the distribution it was trained on.
    worst_case, lower_bound
        No path of such models has a higher majority risk; nothing is promised below the other
        (single rollouts may well lie there).
    noise_share
        Share of the round's data whose labels are random.
    control, control_interval
        Majority risk of as many models trained on the plain data: a static ensemble.
    """

    round: int
    risk: float | Unknown = _NOT_RUN
    interval: Interval | Unknown = _NOT_RUN
    epsilon: float | Unknown
    worst_case: float | Unknown
    lower_bound: float | Unknown
    noise_share: float | Unknown = 0.0
    control: float | Unknown = _NO_CONTROL
    control_interval: Interval | Unknown = _NO_CONTROL


@dataclass(frozen=True, kw_only=True)
class DynamicResult(Result):
    """What theory or a simulation says of a design, by round.

    Parameters
    ----------
    statements
        What the table has no room for, in words.
    output_risk, output_interval, price, rollouts
        Simulations: risk of the model that the design delivers, mean over rollouts and where 90 %
        of them lie; how many models it trains; and how often it was run.
    """

    verb: ClassVar[str] = "dynamic"
    schema: ClassVar[int] = 2

    action: Literal["theory", "simulate"]
    design: str
    rounds: tuple[Round, ...]
    statements: tuple[str, ...] = ()
    epsilon: float | Unknown
    output_risk: float | Unknown = _NOT_RUN
    output_interval: Interval | Unknown = _NOT_RUN
    price: int | None = None
    rollouts: int | None = None

    def details(self) -> tuple[str, ...]:
        """Return the statements."""
        return self.statements

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round, without columns that nothing fills."""
        names = [
            name
            for name in Round.__dataclass_fields__
            if not all(isinstance(getattr(each, name), Unknown) for each in self.rounds)
            and (name != "noise_share" or any(each.noise_share for each in self.rounds))
        ]
        return [
            {_HEADS.get(name, name): getattr(each, name) for name in names} for each in self.rounds
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return majority risk by round, between its bounds."""
        spans = [each.interval for each in self.rounds]
        columns: dict[str, list[float | None]] = {
            "round": [each.round for each in self.rounds],
            "risk": [_known(each.risk) for each in self.rounds],
            "low": [span.low if isinstance(span, Interval) else None for span in spans],
            "high": [span.high if isinstance(span, Interval) else None for span in spans],
            "worst_case": [_known(each.worst_case) for each in self.rounds],
            "lower_bound": [_known(each.lower_bound) for each in self.rounds],
        }
        roles = {"x": "round", "y": "risk", "low": "low", "high": "high"}
        roles |= {"outer_high": "worst_case", "outer_low": "lower_bound"}
        words = {"y": "majority risk", "outer_low": "nothing promised below, to the worst case"}
        return (Figure("rounds", f"Majority risk by round: {self.design}", columns, roles, words),)


def _known(value: float | Unknown) -> float | None:
    return None if isinstance(value, Unknown) else value


def _risk(value: float) -> str:
    """Return a risk with three significant digits: proved ones can be too small for a percentage.

    >>> _risk(0.05), _risk(0.00125), _risk(0.123456)
    ('0.05', '0.00125', '0.123')
    """
    return number(float(f"{value:.3g}"))


# Theory.


def theory(epsilon: float, *, rounds: int = 3, mixing: Mixing = "nested") -> DynamicResult:
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
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InputError(f"rounds must be from 1 to {MOST_ROUNDS}, got {rounds!r}")
    worst = worst_by_round(epsilon, max(rounds, 3))
    floors = _floors(epsilon, rounds)
    deep = hierarchical_bound(epsilon, mixing=mixing)
    return DynamicResult(
        verdict=_what_matters(epsilon, worst[2], deep, mixing),
        n_items=0,
        assumptions=(
            "every model has risk at most epsilon above the best on its own distribution",
            "uniform mixing and voting, no random labels, and the first data are like the population",
        ),
        action="theory",
        design=path(rounds).name,
        rounds=tuple(
            Round(round=t + 1, epsilon=epsilon, worst_case=worst[t], lower_bound=floors[t])
            for t in range(rounds)
        ),
        statements=_statements(epsilon, worst, deep, mixing),
        epsilon=epsilon,
    )


def _floors(epsilon: float, rounds: int) -> list[float]:
    """Return what no path can promise less than, by round."""
    return [epsilon, 0.0, *[path_floor(epsilon)] * rounds][:rounds]


def _what_matters(epsilon: float, three: float, deep: float, mixing: Mixing) -> str:
    """Say whether three rounds promise more than one model, and a hierarchy more than a path."""
    one = path_bound(epsilon, 1)
    if three >= one * (1 - TOLERANCE):
        path_text = (
            "Three rounds promise no more than one model: the vote's risk is at most"
            f" {_risk(three)}, one model's at most {_risk(one)}."
        )
    else:
        path_text = (
            f"Three rounds promise a vote with a risk of at most {_risk(three)}, where one model's"
            f" is at most {_risk(one)}."
        )
    words = "worse than" if deep > three else "better than"
    return (
        f"{path_text} A {mixing} hierarchy of nine rounds promises {_risk(deep)}, {words} the path"
        f" of three. No path promises less than {_risk(path_floor(epsilon))}."
    )


def _statements(
    epsilon: float, worst: tuple[float, ...], deep: float, mixing: Mixing
) -> tuple[str, ...]:
    """Return one sentence per theorem, ours with the paper's number beside it."""
    printed = three_round_bound(epsilon, printed=True)
    flat = hierarchical_bound(epsilon, mixing="flat", printed=True)
    rounds = len(worst)
    return (
        f"Three rounds guarantee a majority risk of at most {_risk(worst[2])} (ours; Theorem 3.4"
        f" prints {_risk(printed)}).",
        "No path, however long and however weighted, can promise less than"
        f" {_risk(path_floor(epsilon))} (Theorem 3.5).",
        f"A {mixing} hierarchy of depth 2 and width 3 guarantees at most {_risk(deep)} (ours;"
        f" Theorem 4.1 prints {_risk(flat)} for flat mixing) and cannot promise less than"
        f" {_risk(hierarchical_floor(epsilon))} (Theorem 4.2), for 9 rounds.",
        "Updating the model by exponential loss guarantees at most"
        f" {_risk(exponential_bound(epsilon, rounds))} after {rounds} updates (Lemma A.2), if the"
        " population can be reweighted at will.",
    )


@lru_cache(maxsize=64)
def worst_by_round(epsilon: float, rounds: int) -> tuple[float, ...]:
    """Return a proved upper bound on the majority risk after each round of a uniform path, D_0 = D.

    Three rounds are exact up to epsilon = 1/4. Four to nine come from
    :func:`tallystick.papers.dynamic_benchmarks.certificates.worst_case` with a few boxes, in some
    three seconds, or from the closed form where it is smaller; longer paths from the closed form,
    which is proved but not sharp.

    >>> [round(worst, 4) for worst in worst_by_round(0.1, 3)]
    [0.1, 0.15, 0.05]
    """
    out = []
    for t in range(1, rounds + 1):
        bound = path_bound(epsilon, t)
        if 3 < t <= _BY_PROGRAM or (t == 3 and epsilon > 0.25):
            program = worst_case(epsilon, t, gap=0.02, nodes=_BOXES, search=False)
            bound = min(bound, program.upper)
        out.append(bound)
    return tuple(out)


# Simulation.


def simulate(
    design: Design,
    learner: Learner,
    population: Population,
    *,
    rollouts: int = 1000,
    rng: Rng,
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
    plain: Array | None = None
    if not isinstance(learner, Scripted):  # it plays given errors, whatever it is trained on
        plain = control_risk(
            population, learner, rounds=design.rounds, rollouts=min(rollouts, _CONTROLS), rng=seed
        )
    worst, floor = _bounds(design, learner, population)
    scripted = isinstance(learner, Scripted)
    spans, controls = _spread(done.risk), None if plain is None else _spread(plain)
    rounds = tuple(
        Round(
            round=t + 1,
            risk=float(done.risk[:, t].mean()),
            interval=Unknown("every rollout is the same") if scripted else spans[t],
            epsilon=float(done.epsilon[:, t].mean()),
            worst_case=worst[t],
            lower_bound=floor[t],
            noise_share=float(done.noise_share[:, t].mean()),
            control=_NO_CONTROL if plain is None else float(plain[:, t].mean()),
            control_interval=_NO_CONTROL if controls is None else controls[t],
        )
        for t in range(design.rounds)
    )
    output, mean = _spread(done.output_risk[:, None])[0], float(done.output_risk.mean())
    epsilon = getattr(learner, "epsilon", None)
    return DynamicResult(
        verdict=_verdict(design.name, done, output, rounds),
        n_items=population.size,
        assumptions=(
            f"the learner is {type(learner).__name__}",
            "a tie of votes counts one half",
            "each round brings back every error",
        ),
        seed=seed_of(rng),
        action="simulate",
        design=design.name,
        rounds=rounds,
        epsilon=float(epsilon)
        if isinstance(epsilon, float | int)
        else Unknown("the learner promises no single epsilon"),
        output_risk=mean,
        output_interval=output,
        price=design.rounds,
        rollouts=rollouts,
    )


def _verdict(design: str, done: Rollouts, output: Interval, rounds: tuple[Round, ...]) -> str:
    """Say what the design, its first model and the control deliver."""
    mean, first, last = float(done.output_risk.mean()), rounds[0].risk, rounds[-1]
    text = f"The {design} delivers a risk of {_risk(mean)}"
    if output.high - output.low > TOLERANCE:
        text += (
            f" on average over {count(len(done.output_risk))} rollouts, 90 % of them between"
            f" {_risk(output.low)} and {_risk(output.high)}"
        )
    text += f"; its first model alone has {_risk(float(_known(first) or 0.0))}"
    if isinstance(last.control_interval, Interval) and isinstance(last.control, float):
        low, high = last.control_interval
        text += (
            f", and as many models on the plain data {_risk(last.control)} ({_risk(low)} to"
            f" {_risk(high)})"
        )
    return f"{text}."


def control_risk(
    population: Population, learner: Learner, *, rounds: int, rollouts: int, rng: Rng
) -> Array:
    """Return the majority risk, (rollouts, rounds), of as many models trained on the plain data.

    An ensemble at the price of as many trainings, which [SAH23]_ does not have.
    """
    build = learner.begin(population, rollouts, as_rng(rng))
    clean = np.where(population.coin, 0.0, population.weights)
    clean = clean / clean.sum()
    wrong, out = np.zeros((rollouts, population.size)), np.empty((rollouts, rounds))
    start = np.ascontiguousarray(np.broadcast_to(population.start, wrong.shape))
    for t in range(rounds):
        wrong += build(start, t)
        out[:, t] = majority_share(wrong, t + 1) @ clean
    return out


def _bounds(
    design: Design, learner: Learner, population: Population
) -> tuple[list[float | Unknown], list[float | Unknown]]:
    """Return worst case and floor of each round, or why there is none."""
    epsilon, shape = getattr(learner, "epsilon", None), as_path(design)
    # The bounds hold for equal parts of the data and for equal votes, and for nothing else.
    uniform = shape is not None and all(np.ptp(row) < TOLERANCE for row in (*shape[0], shape[1]))
    if not isinstance(epsilon, float | int):
        reason = Unknown("the learner promises no single epsilon")
    elif population.noise:
        reason = Unknown("labels are random in part: the bounds are for realisable problems")
    elif not uniform or not np.array_equal(population.start, population.weights):
        reason = Unknown("the bounds are for equal mixing, equal votes and D_0 = D")
    else:
        worst = worst_by_round(float(epsilon), design.rounds)
        return [*worst], [*_floors(float(epsilon), design.rounds)]
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


# The verbs.


def theory_answer(data: None, question: TheoryQuestion) -> DynamicResult:
    """Say what is proved before anything is run."""
    del data  # theory reads no table
    if question.epsilon is None:
        raise InputError(
            "theory needs the risk of each model on its own data: add --epsilon, e.g. .1"
        )
    mixing: Any = question.mixing  # one of the choices
    return theory(question.epsilon, rounds=question.rounds, mixing=mixing)


def simulate_answer(data: None, question: SimulateQuestion) -> DynamicResult:
    """Simulate what the question describes."""
    del data  # a simulation reads no table
    checked_epsilon(question.epsilon)
    mixing: Any = question.mixing  # one of the choices
    deep = question.design == "hierarchical"
    design = hierarchical(mixing=mixing) if deep else path(question.rounds)
    if question.learner == "random":
        question.check_work(design.rounds)
        if question.epsilon < 1 / question.items:
            raise InputError(
                f"an item of {question.items} weighs {1 / question.items:.3g}, more than a model"
                f" may get wrong (--epsilon {question.epsilon:g}): it could never err, so take more"
                " items (--items)"
            )
        population = Population.uniform(question.items)
        learner: Learner = RandomErrors(question.epsilon)
        rollouts = question.rollouts
    else:
        # A construction plays the same error sets in every rollout: one of them is all there is.
        population, learner = _construction(question, deep, mixing)
        rollouts = 1
    return simulate(design, learner, population, rollouts=rollouts, rng=question.seed)


def _construction(
    question: SimulateQuestion, deep: bool, mixing: Mixing
) -> tuple[Population, Learner]:
    """Return the population and the error sets of the worst case, or of a theorem."""
    if question.items != SimulateQuestion.items:
        raise InputError(f"--learner {question.learner} brings its own population: drop --items")
    if deep != (question.learner == "theorem-4.2"):
        wanted = "path" if deep else "hierarchical"
        raise InputError(f"--learner {question.learner} is about --design {wanted}")
    if question.learner == "theorem-4.2":
        proof = hierarchical_certificate(question.epsilon, mixing=mixing)
    elif question.learner == "theorem-3.5":
        proof = path_certificate(question.epsilon, rounds=question.rounds)
    else:
        if question.rounds > _WORST_ROUNDS:
            raise InputError(f"--learner worst is known for up to {_WORST_ROUNDS} --rounds")
        try:
            found = worst_case(question.epsilon, question.rounds, gap=1e-3, nodes=_BOXES)
        except ConvergenceError as error:
            raise ConvergenceError(
                f"--learner worst: no worst case was found for --epsilon {question.epsilon:g} and"
                f" {question.rounds} rounds: lower --rounds"
            ) from error
        proof = found.certificate()
    return proof.population, proof.learner()


THEORY = Capability(
    verb="dynamic theory",
    summary="What is proved about a dynamic benchmark, before anything is run?",
    question=TheoryQuestion,
    answer=theory_answer,
    input="none",
)

SIMULATE = Capability(
    verb="dynamic simulate",
    summary="What would a path or a hierarchy bring, if models erred in such a way?",
    question=SimulateQuestion,
    answer=simulate_answer,
    input="none",
)
