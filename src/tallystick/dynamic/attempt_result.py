"""What a log of attempts to fool a model says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tallystick.dynamic.annotator_effects import AnnotatorEffects
from tallystick.dynamic.attempt_rates import AnnotatorRate, RoundAttempts
from tallystick.dynamic.attempt_verdict import attempt_lines
from tallystick.dynamic.clustered_contrast import RateContrast
from tallystick.dynamic.clustered_rate import ClusteredRate
from tallystick.dynamic.rounds import round_name
from tallystick.dynamic.transfer import TransferRate
from tallystick.dynamic.validator_error import ValidatorError
from tallystick.results import Figure, Interval, Result, Unit, Unknown

__all__ = ["AttemptResult", "CampaignRound", "ModelRate"]


@dataclass(frozen=True, kw_only=True)
class CampaignRound:
    """One round of an attempt log.

    Parameters
    ----------
    rates
        Fooling and validated attempts, with costs.
    success
        The rate that the answer is about: validated where the log has validations, else fooling.
    attempts_per_success
        One over the ends of its interval.
    corrected, corrected_interval
        The validated rate with the validators' own errors taken out.
    effects
        Whether annotators differ more than luck explains.
    saturation
        Each annotator's second half of attempts against the first.
    """

    round: Any
    rates: RoundAttempts
    success: ClusteredRate
    attempts_per_success: Interval | Unknown
    corrected: float | Unknown
    corrected_interval: Interval | Unknown
    effects: AnnotatorEffects
    saturation: RateContrast | Unknown


@dataclass(frozen=True, kw_only=True)
class ModelRate:
    """How often one model was fooled, over all rounds."""

    model: str
    rate: ClusteredRate


@dataclass(frozen=True, kw_only=True)
class AttemptResult(Result):
    """What a log of attempts says.

    Parameters
    ----------
    checked
        Whether anything in the log says which labels are valid.
    annotators
        How many people (or probes) made the attempts; None if the log does not name them.
    rounds
        By round.
    by_annotator, by_model
        Rates of each annotator in each round, and of each model where there are several.
    change, trend
        From the first round to the last, and per round, with shared annotators paired.
    validators
        How well validators see whether a label is valid, from their votes.
    transfer
        How often a round's items fool models that were not in its loop.
    cost_unit
        The column that the cost was read from.
    """

    verb: ClassVar[str] = "dynamic"

    action: str = "analyse"
    kind: str = "attempts"
    checked: bool
    attempts: int
    annotators: int | None
    rounds: tuple[CampaignRound, ...]
    by_annotator: tuple[AnnotatorRate, ...]
    by_model: tuple[ModelRate, ...]
    change: RateContrast | Unknown
    trend: RateContrast | Unknown
    validators: ValidatorError | Unknown
    transfer: tuple[TransferRate, ...] | Unknown
    cost_unit: str | None

    def terminal(self, width: int) -> list[tuple[str, str]]:
        """Return the lines that a terminal shows, each with its style."""
        del width
        return attempt_lines(self)

    def summary(self) -> str:
        """Return plain text to paste."""
        from tallystick.results import harmless

        return "\n".join(harmless(text) for text, _ in attempt_lines(self))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round."""
        return [
            {
                "round": each.round,
                "annotators": each.success.annotators if self.annotators else None,
                "attempts": each.success.attempts,
                "fooled": each.rates.fooling.successes,
                "validated": each.success.successes if self.checked else None,
                "unchecked": each.rates.unchecked if self.checked else None,
                "rate": each.success.rate,
                "interval": each.success.interval,
                "attempts_per_success": each.attempts_per_success,
                "cost_per_success": each.rates.cost,
                "cost_interval": each.rates.cost_interval,
            }
            for each in self.rounds
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        return {"rate": "share"}

    def figures(self) -> tuple[Figure, ...]:
        """Return the rates by round, and by annotator in the last round."""
        title = "Validated model error rate" if self.checked else "Share of attempts that fooled"
        by_round = _forest(
            f"{title}, by round",
            [
                (round_name(each.round), each.success.rate, each.success.interval)
                for each in self.rounds
            ],
        )
        last = self.rounds[-1].round
        people = [each for each in self.by_annotator if each.round == last]
        if self.annotators is None or len(people) < 2:
            return (by_round,)
        people.sort(key=lambda each: -each.attempts)
        own = _forest(
            f"{title} of the 30 most active annotators, {round_name(last)}",
            [(each.annotator, each.rate, each.interval) for each in people[:30]],
        )
        return by_round, own


def _forest(title: str, rows: list[tuple[str, float, Interval | Unknown]]) -> Figure:
    ends = [tuple(span) if isinstance(span, Interval) else (None, None) for _, _, span in rows]
    return Figure(
        "forest",
        title,
        {
            "name": [name for name, _, _ in rows],
            "rate": [rate for _, rate, _ in rows],
            "low": [low for low, _ in ends],
            "high": [high for _, high in ends],
        },
        {"name": "name", "value": "rate", "low": "low", "high": "high"},
        unit="share",
    )
