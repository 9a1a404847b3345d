"""What theory and simulations of a dynamic benchmark hold: rounds, and what bounds them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from tallystick.dynamic.similarity import Signals
from tallystick.results import Figure, Interval, Result, Unknown

__all__ = [
    "Action",
    "DynamicResult",
    "Round",
    "SimulationResult",
    "TheoryResult",
]

Action: TypeAlias = Literal["theory", "simulate"]

_HEADS = {"worst_case": "at_worst", "lower_bound": "nothing_promised_below"}
"""What the table calls the two bounds, so that nobody reads them as an interval."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round; the first one is 1.

    Parameters
    ----------
    risk, interval
        Majority risk of the models so far, with what *interval* says of it.
    epsilon
        Risk of the round's own model on the distribution it was trained on.
    worst_case, lower_bound
        No path of such models has a higher majority risk; nothing is promised below the other
        (single rollouts may well lie there).
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
    """What theory or a simulation says of a design, by round."""

    verb: ClassVar[str] = "dynamic"

    action: Action
    design: str
    rounds: tuple[Round, ...]
    advice: Unknown

    def summary(self) -> str:
        """Return plain text to paste, the details at its end."""
        return "\n".join([super().summary(), *self.details()])

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
        return [
            {_HEADS.get(name, name): getattr(each, name) for name in names} for each in self.rounds
        ]

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
                {"y": "majority risk", "outer_low": "nothing promised below, to the worst case"},
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


def _number(value: float | Unknown) -> float | None:
    return None if isinstance(value, Unknown) else value
