"""What an answer about a dynamic benchmark holds: rounds, advice, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from tallystick.dynamic.advice import Advice
from tallystick.dynamic.envelope import Envelope
from tallystick.dynamic.probit import ProbitFit
from tallystick.dynamic.similarity import OverlapTest, Signals
from tallystick.dynamic.validators import NoiseShare
from tallystick.dynamic.verdict import forgetting_line, noise_line, overlap_line
from tallystick.results import Figure, Interval, Result, Unknown

__all__ = [
    "Action",
    "DynamicResult",
    "Forgetting",
    "LogResult",
    "Overlap",
    "Round",
    "SimulationResult",
    "TheoryResult",
]

Action: TypeAlias = Literal["theory", "simulate", "analyse"]


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round; the first one is 1.

    Parameters
    ----------
    risk, interval
        Majority risk of the models so far, with what *interval* says of it.
    epsilon
        Risk of the round's own model on the distribution it was trained on (of a log: mean risk of
        its models).
    worst_case, lower_bound
        No path of such models has a higher majority risk; none can promise a lower one.
    z
        Similarity to the bad sequence of Theorem 3.5.
    noise_share
        Share of the round's data whose labels are random.
    control
        Majority risk of as many models trained on the plain data: a static ensemble.
    fresh
        The same with fresh random data mixed in where a path mixes in errors, at the same number of
        labels.
    """

    round: int
    risk: float | Unknown
    interval: Interval | Unknown
    epsilon: float | Unknown
    worst_case: float | Unknown
    lower_bound: float | Unknown
    z: float | Unknown
    noise_share: float | Unknown
    control: float | Unknown = field(
        default_factory=lambda: Unknown("only a simulation has a control")
    )
    fresh: float | Unknown = field(
        default_factory=lambda: Unknown("only a simulation has a control")
    )


@dataclass(frozen=True, kw_only=True)
class DynamicResult(Result):
    """An answer of the verb ``dynamic``: rounds and advice."""

    verb: ClassVar[str] = "dynamic"

    action: Action
    design: str
    rounds: tuple[Round, ...]
    advice: Advice | Unknown

    def summary(self) -> str:
        """Return plain text to paste, the details and the advice at its end."""
        parts = [super().summary(), *self.details()]
        if isinstance(self.advice, Advice):
            parts.append(f"Advice: {self.advice.course}; {self.advice.reason}")
        else:
            parts.append(f"No advice: {self.advice.reason}.")
        return "\n".join(parts)

    def details(self) -> tuple[str, ...]:
        """Return what the table of rounds has no room for, line by line."""
        return ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round; controls only where there are any."""
        names = [
            name
            for name in Round.__dataclass_fields__
            if name not in ("control", "fresh")
            or not all(isinstance(getattr(each, name), Unknown) for each in self.rounds)
        ]
        return [{name: getattr(each, name) for name in names} for each in self.rounds]

    def figures(self) -> tuple[Figure, ...]:
        """Return majority risk by round, between its bounds."""
        known = [each for each in self.rounds if not isinstance(each.risk, Unknown)]
        shown = known or list(self.rounds)
        columns: dict[str, list[float | None]] = {
            "round": [each.round for each in shown],
            "risk": [_number(each.risk) for each in shown],
            "low": [
                each.interval.low if isinstance(each.interval, Interval) else None for each in shown
            ],
            "high": [
                each.interval.high if isinstance(each.interval, Interval) else None
                for each in shown
            ],
            "worst_case": [_number(each.worst_case) for each in shown],
            "lower_bound": [_number(each.lower_bound) for each in shown],
        }
        roles = {"x": "round", "y": "risk", "low": "low", "high": "high"}
        roles |= {"outer_high": "worst_case", "outer_low": "lower_bound"}
        return (
            Figure(
                "rounds",
                f"Majority risk by round: {self.design}",
                columns,
                roles,
                {"y": "majority risk"},
            ),
        )


@dataclass(frozen=True, kw_only=True)
class TheoryResult(DynamicResult):
    """What is proved before anything is run.

    Parameters
    ----------
    statements
        Every theorem that applies, in words, with its number.
    """

    epsilon: float
    statements: tuple[str, ...]

    def details(self) -> tuple[str, ...]:
        """Return the statements."""
        return self.statements


@dataclass(frozen=True, kw_only=True)
class SimulationResult(DynamicResult):
    """What happened in many rollouts.

    Parameters
    ----------
    output_risk, output_interval
        Risk of the model that the design delivers: mean over rollouts, and where 90 % of them lie.
    price
        Rounds of model building that the design costs.
    signals
        What an early round told of the final risk, over rollouts.
    persistence
        Rank correlation of the rollouts' risk at each round with their final risk.
    """

    output_risk: float
    output_interval: Interval
    price: int
    rollouts: int
    signals: Signals | Unknown
    persistence: tuple[float | Unknown, ...]


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How the models of a log fail together on the items of one round.

    Parameters
    ----------
    all_wrong, interval
        Share of items that every model gets wrong.
    independent, predicted
        What it would be if errors were independent, and what the fitted correlation predicts.
    rho, rho_interval, gamma, fit_p
        The fit, and the p-value of its goodness.
    test
        z and erring pairs against their null.
    """

    round: int
    n_items: int
    all_wrong: float
    interval: Interval
    independent: float
    predicted: float | Unknown
    rho: float | Unknown
    rho_interval: Interval | Unknown
    gamma: float | Unknown
    fit_p: float | Unknown
    test: OverlapTest

    @classmethod
    def known(cls, fit: ProbitFit | Unknown) -> dict[str, Any]:
        """Return the fields that come from a fit, or the reason why there is none."""
        if isinstance(fit, Unknown):
            return dict.fromkeys(("predicted", "rho", "rho_interval", "gamma", "fit_p"), fit)
        return {
            "predicted": fit.all_wrong_predicted,
            "rho": fit.rho,
            "rho_interval": fit.interval,
            "gamma": (
                Unknown("the log does not say what its models were trained on")
                if fit.gamma is None
                else fit.gamma
            ),
            "fit_p": fit.fit_p,
        }


@dataclass(frozen=True, kw_only=True)
class Forgetting:
    """Did a later model in the loop lose what an earlier one knew, on the items of the first round.

    Parameters
    ----------
    change, interval
        Risk of *model* minus risk of *before*, paired by item; positive means it got worse.
    forgotten, learnt
        Share of items that only the earlier, only the later model gets right.
    """

    before: str
    model: str
    change: float
    interval: Interval
    forgotten: float
    learnt: float


@dataclass(frozen=True, kw_only=True)
class LogResult(DynamicResult):
    """What a real log says.

    Parameters
    ----------
    fits, noise
        By part of the log, what :func:`tallystick.dynamic.item_rows` needs in order to speak of
        single items.
    """

    models: tuple[str, ...]
    overlap: tuple[Overlap, ...]
    forgetting: tuple[Forgetting, ...] | Unknown
    noise_sets: tuple[Interval | Unknown, ...]
    envelope: Envelope | Unknown
    cost: float | Unknown
    fits: tuple[ProbitFit | Unknown, ...] = field(
        default=(), repr=False, metadata={"private": True}
    )
    noise: tuple[NoiseShare, ...] = field(default=(), repr=False, metadata={"private": True})

    def details(self) -> tuple[str, ...]:
        """Return joint errors against chance and fit, random labels, and forgetting."""
        lines = [overlap_line(each) for each in self.overlap]
        lines += [
            noise_line(each.round, noise)
            for each, noise in zip(self.overlap, self.noise_sets, strict=True)
            if isinstance(noise, Interval)
        ]
        if not isinstance(self.forgetting, Unknown):
            lines += [forgetting_line(each) for each in self.forgetting]
        return tuple(lines)

    def figures(self) -> tuple[Figure, ...]:
        """Return risk by round, joint errors, and the envelopes of what may come."""
        names = [f"round {each.round}" for each in self.overlap]
        joint = Figure(
            "forest",
            "Items that every model gets wrong, and what independent errors would give",
            {
                "round": names,
                "share": [each.all_wrong for each in self.overlap],
                "low": [each.interval.low for each in self.overlap],
                "high": [each.interval.high for each in self.overlap],
                "independent": [each.independent for each in self.overlap],
            },
            {
                "name": "round",
                "value": "share",
                "low": "low",
                "high": "high",
                "mark": "independent",
            },
        )
        ahead = self.envelope.figures() if isinstance(self.envelope, Envelope) else ()
        return (*super().figures(), joint, *ahead)


def _number(value: float | Unknown) -> float | None:
    return None if isinstance(value, Unknown) else value
