"""What the log of a panel or a path says: rounds, advice, and who is wrong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tallystick.dynamic.log import LogKind
from tallystick.dynamic.panel import PanelDecision, PanelForecast
from tallystick.dynamic.path_forecast import PathDecision, PathForecast
from tallystick.dynamic.plan_rounds import PathPlan
from tallystick.dynamic.rounds import round_name
from tallystick.dynamic.step_change import StepChange
from tallystick.dynamic.validators import NoiseShare
from tallystick.dynamic.verdict import log_lines, log_table
from tallystick.dynamic.wrong_together import PairErrors
from tallystick.results import Figure, Interval, Result, Unit, Unknown

__all__ = ["Advice", "Gain", "LogResult", "PanelRound", "PathRound"]


@dataclass(frozen=True, kw_only=True)
class Gain:
    """A fall of the vote's risk: the estimate and its 90 % range."""

    estimate: float | Unknown
    interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Whether more models, or two more rounds, are worth it.

    Parameters
    ----------
    decision
        Panel: ``worth it``, ``not worth it`` or ``cannot tell``. Path: ``go on``, ``stop`` or
        ``cannot tell``.
    gain
        By how much the risk of the vote would fall.
    certain
        Panel: the gain is in here whatever the new models are.
    pays
        The gain that pays, as the user stated it.
    more
        How many models, or rounds, are meant.
    reason
        Why nothing can be told, where the range alone does not say it.
    teams
        Path: why the rounds count as built by different teams, which gives a wider range; None for
        one learner that is retrained.
    """

    decision: PanelDecision | PathDecision
    gain: Gain
    certain: tuple[float, float] | None
    pays: float
    more: int
    reason: str | None = None
    teams: str | None = None


@dataclass(frozen=True, kw_only=True)
class PanelRound:
    """One round of a panel: its items, and what the models do on them.

    Parameters
    ----------
    models, items, left_out
        Models that answered all of these items, and items that were left out because some of these
        models did not answer them.
    risk, interval
        Share of items that the vote gets wrong.
    model_risk
        Mean risk of the single models.
    all_wrong, all_wrong_interval, independent
        Share of items that every model gets wrong, and what independent errors would give.
    forecast
        What more models in the vote would bring on these items.
    pairs
        Which models are wrong together, the largest excess first.
    repairable, fragile
        How many items the next models could repair, or break.
    noise_share, noise_range
        Share of random labels, from validators.
    """

    round: Any
    models: tuple[str, ...]
    items: int
    left_out: int
    risk: float
    interval: Interval
    model_risk: float
    all_wrong: float
    all_wrong_interval: Interval
    independent: float
    forecast: PanelForecast
    pairs: tuple[PairErrors, ...]
    repairable: int
    fragile: int
    noise_share: float | Unknown
    noise_range: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class PathRound:
    """One round of a path, on the same items as all the others.

    Parameters
    ----------
    risk, interval
        Share of items that the vote of all models so far gets wrong.
    model_risk
        Risk of the round's own model.
    change, change_interval
        Vote against the vote two rounds before, paired by item; negative is better.
    model_change, model_change_interval
        The round's model against the model before, paired by item.
    """

    round: Any
    model: str
    items: int
    risk: float
    interval: Interval
    model_risk: float
    change: float | Unknown
    change_interval: Interval | Unknown
    model_change: float | Unknown
    model_change_interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class LogResult(Result):
    """What the log of a panel or a path says.

    Parameters
    ----------
    rounds
        By round.
    advice
        Whether more models (panel, on the last round's items) or two more rounds (path) are worth
        it.
    last_step
        Path: whether the last two rounds changed the risk, tested after the fact.
    plan
        Path: how many rounds to plan at the stated price.
    """

    verb: ClassVar[str] = "dynamic"

    action: str = "analyse"
    kind: LogKind
    models: tuple[str, ...]
    rounds: tuple[PanelRound | PathRound, ...]
    advice: Advice
    forecast: PanelForecast | PathForecast
    last_step: StepChange | Unknown
    plan: PathPlan | Unknown
    cost: float | Unknown
    noise: tuple[NoiseShare, ...] = field(default=(), repr=False, metadata={"private": True})

    def terminal(self, width: int) -> list[tuple[str, str]]:
        """Return the lines that a terminal shows, each with its style."""
        del width
        return log_lines(self)

    def summary(self) -> str:
        """Return plain text to paste."""
        from tallystick.results import harmless

        return "\n".join(harmless(text) for text, _ in log_lines(self))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round."""
        return log_table(self)

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        shares: dict[str, Unit] = dict.fromkeys(
            ("risk", "model_risk", "all_wrong", "independent"), "share"
        )
        return {**shares, "change": "points", "gain": "points"}

    def figures(self) -> tuple[Figure, ...]:
        """Return the risk by round; for panels also who is wrong together in the last one."""
        known = self.rounds
        risks = Figure(
            "rounds",
            "Share of items that the vote gets wrong, by round",
            {
                "round": [str(each.round) for each in known],
                "risk": [each.risk for each in known],
                "low": [each.interval.low for each in known],
                "high": [each.interval.high for each in known],
            },
            {"x": "round", "y": "risk", "low": "low", "high": "high"},
            {"y": "risk of the vote"},
            unit="share",
        )
        last = known[-1]
        if not isinstance(last, PanelRound):
            return (risks,)
        sides = [(pair.first, pair.second, pair.excess) for pair in last.pairs]
        sides += [(second, first, excess) for first, second, excess in sides]
        together = Figure(
            "matrix",
            f"Wrong together more often than independent models would be, {round_name(last.round)}",
            {
                "model": [first for first, _, _ in sides],
                "and": [second for _, second, _ in sides],
                "excess": [excess for _, _, excess in sides],
            },
            {"row": "model", "column": "and", "value": "excess"},
            unit="points",
        )
        return risks, together
