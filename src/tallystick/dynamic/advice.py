"""Is another round worth it: what each way to go on would bring, and what it costs.

The rule is plain: simulate every option with the fitted learner, from where the benchmark stands;
the one with the highest ``value * expected gain - price`` wins, and stopping costs nothing. Two
lessons are built in. Rounds are judged at the next *odd* count, because ties make even counts
nearly worthless. And the decision rests on the expected gain, because the simulated probability of
no gain, though reported, did not predict better than its base rate on real learners.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.design import hierarchical, mixture_table
from tallystick.dynamic.learners import Learner
from tallystick.dynamic.population import Array, Population
from tallystick.dynamic.rollouts import PathWeights, roll_design, roll_path
from tallystick.dynamic.verdict import advice_text, go_on_reason, stop_reason
from tallystick.errors import InputError
from tallystick.results import Interval

__all__ = ["Advice", "Background", "Course", "CourseOption", "RoundPrices", "advise"]

Course: TypeAlias = Literal[
    "stop", "one more round", "reset the weight of D_0", "go hierarchical", "clean labels"
]

_STRETCH = 1.25
"""Simulated 90 % ranges of the risk held 79 % of real ones; multiplied and divided by this they
held 87-91 %."""


@dataclass(frozen=True, kw_only=True)
class RoundPrices:
    """What things are worth, in any one currency.

    Parameters
    ----------
    round
        Price of one round: collecting, validating, training.
    cleaning
        Price of having all labels of the benchmark checked.
    value
        Worth of bringing the risk from one to zero on the population; None: a round is worth its
        price if it takes away at least 5 % of the present risk.
    """

    round: float = 1.0
    cleaning: float = 1.0
    value: float | None = None

    def __post_init__(self) -> None:
        for name in ("round", "cleaning", "value"):
            given = getattr(self, name)
            if given is not None and not 0 <= given < np.inf:
                raise InputError(f"the price {name} must be finite and not negative, got {given!r}")


@dataclass(frozen=True, kw_only=True)
class CourseOption:
    """One way to go on.

    Parameters
    ----------
    gain, interval
        Expected fall of the majority risk, and a 90 % prediction interval, widened for what the
        simulator misses.
    no_gain
        Share of simulated futures without any gain.
    price, rounds
        In the currency of :class:`RoundPrices`, and in rounds.
    net
        value * gain - price.
    note
        What speaks against it besides; such an option is never advised.
    """

    course: Course
    gain: float
    interval: Interval
    no_gain: float
    rounds: int
    price: float
    net: float
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What to do, why, and what else was weighed."""

    course: Course
    reason: str
    gain: float
    interval: Interval | None
    no_gain: float
    price: float
    options: tuple[CourseOption, ...]

    def __str__(self) -> str:
        return advice_text(self)


@dataclass(frozen=True, kw_only=True)
class Background:
    """What is known of the benchmark besides its fitted learner.

    Parameters
    ----------
    beginner
        The learner without its past, for the hierarchy, which starts afresh; the learner itself if
        not given.
    reusable
        Rounds that a hierarchy can take over: the three of its first path, or none if the models so
        far are no path.
    doubt
        A reason not to trust the simulator (its fit was refuted, say), to be repeated in the
        advice.
    """

    beginner: Learner | None = None
    reusable: int = 3
    doubt: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.reusable <= 3:
            raise InputError(f"reusable must be from 0 to 3 rounds, got {self.reusable!r}")


FRESH_PATH = Background()
"""A path whose learner has no past of its own, and no reason to doubt the simulator."""


def advise(
    population: Population,
    learner: Learner,
    *,
    rounds: int,
    rng: Rng,
    prices: RoundPrices | None = None,
    rollouts: int = 200,
    background: Background = FRESH_PATH,
) -> Advice:
    """Weigh all ways to go on after so many rounds of a path.

    Parameters
    ----------
    population
        With its random labels, if there are any.
    learner
        The fitted learner; :class:`Continued` if the past is known.
    rounds
        Rounds so far.
    background
        The learner without its past, the rounds a hierarchy can reuse, and any doubt to repeat.

    Examples
    --------
    >>> from tallystick.dynamic.learners import Correlated
    >>> advise(Population.uniform(400), Correlated(0.1, rho=0.3), rounds=3, rng=0, rollouts=100).course
    'one more round'
    >>> advise(Population.uniform(400), Correlated(0.1), rounds=25, rng=0, rollouts=20).course
    'stop'
    """
    if rounds < 1 or rollouts < 20:
        raise InputError(
            f"advice needs a round and 20 rollouts at least, got {rounds!r} and {rollouts!r}"
        )
    costs = prices or RoundPrices()
    # one seed for all options: they share their past, draw by draw
    seed = int(as_rng(rng).integers(2**31))
    ahead = 1 if rounds % 2 == 0 else 2
    climb = 9 - min(
        rounds, background.reusable
    )  # the first path of a 3 x 3 hierarchy may be there already
    plain = roll_path(population, learner, rounds=rounds + climb, rollouts=rollouts, rng=seed).risk
    now = plain[:, rounds - 1]
    present = float(now.mean())
    value = (
        costs.value
        if costs.value is not None
        else (costs.round / (0.05 * present) if present > 0 else 0.0)
    )
    reset = [*mixture_table(rounds, None), *mixture_table(rounds + ahead, 0.5)[rounds:]]

    def reset_risk() -> Array:
        table = PathWeights(mixture=[row.tolist() for row in reset])
        return roll_path(
            population, learner, rounds=rounds + ahead, rollouts=rollouts, rng=seed, weights=table
        ).risk[:, -1]

    def hierarchical_risk() -> Array:
        fresh = learner if background.beginner is None else background.beginner
        return roll_design(
            population, hierarchical(), fresh, rollouts=rollouts, rng=seed
        ).output_risk

    def clean_risk() -> Array:
        cleaned = Population(population.weights, population.initial)
        return roll_path(cleaned, learner, rounds=rounds + ahead, rollouts=rollouts, rng=seed).risk[
            :, -1
        ]

    ways: list[tuple[Course, Callable[[], Array], int, float]] = [
        ("one more round", lambda: plain[:, rounds + ahead - 1], ahead, 0.0),
        ("reset the weight of D_0", reset_risk, ahead, 0.0),
        ("go hierarchical", hierarchical_risk, climb, 0.0),
    ]
    if population.noise:
        ways.append(("clean labels", clean_risk, ahead, costs.cleaning))
    options = tuple(
        _option(course, now, future(), count, count * costs.round + extra, value)
        for course, future, count, extra in ways
    )
    straight = float((now - plain[:, rounds + climb - 1]).mean())
    options = tuple(
        (
            replace(option, note=f"a path of as many rounds gains {straight:.3g}, no less")
            if option.course == "go hierarchical" and option.gain <= straight
            else option
        )
        for option in options
    )
    best = max((option for option in options if not option.note), key=lambda option: option.net)
    if best.net <= 0:
        return Advice(
            course="stop",
            reason=stop_reason(best, present, value, background.doubt),
            gain=0.0,
            interval=None,
            no_gain=1.0,
            price=0.0,
            options=options,
        )
    return Advice(
        course=best.course,
        reason=go_on_reason(best, present, value, rounds=rounds, doubt=background.doubt),
        gain=best.gain,
        interval=best.interval,
        no_gain=best.no_gain,
        price=best.price,
        options=options,
    )


def _option(
    course: Course, now: Array, future: Array, rounds: int, price: float, value: float
) -> CourseOption:
    gain = now - future
    best, worst = np.quantile(future, (0.05, 0.95))
    low, high = np.quantile(gain, (0.05, 0.95))
    interval = Interval(
        float(low - (_STRETCH - 1) * worst),  # now - stretch * worst, if now is known
        float(high + (1 - 1 / _STRETCH) * best),
        level=0.9,
        guarantee="under",
        assumption="the simulator describes the learner",
        method="rollouts",
    )
    mean = float(gain.mean())
    return CourseOption(
        course=course,
        gain=mean,
        interval=interval,
        no_gain=float((gain <= 1e-12).mean()),
        rounds=rounds,
        price=price,
        net=value * mean - price,
    )
