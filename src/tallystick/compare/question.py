"""What can be asked of models: metric, direction, population, bounds, gates and stopping."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tallystick.compare.metric import Better, split_metric
from tallystick.compare.settings import Settings
from tallystick.data import Data, Question, option
from tallystick.data.direction import lower_word

__all__ = ["CompareQuestion"]


@dataclass(frozen=True, kw_only=True)
class CompareQuestion(Question):
    """What is asked of models that answered or were scored on the same items."""

    metric: str | None = option(
        None,
        "The score to compare, if the files or logs have several; also pass@5 of repeated runs.",
    )
    lower_is_better: bool = option(
        False, "A lower score is better (guessed from names such as latency, cost and loss)."
    )
    higher_is_better: bool = option(
        False, "A higher score is better, whatever the name of the metric suggests."
    )
    population: str | None = option(
        None,
        "What the answer is about: new clusters (the default with --cluster), or new items of"
        " these clusters.",
        choices=("items", "clusters"),
    )
    cluster_weight: str = option(
        "equal",
        "With new clusters: count every cluster once (equal), or every item once (items).",
        choices=("equal", "items"),
    )
    bounds: tuple[float, float] | None = option(
        None, "Lowest and highest possible score (not needed for scores of 0 and 1)."
    )
    blanks: str = option(
        "any",
        "Items without a true label: assume nothing about them (any), or that they were left out"
        " at random (random).",
        choices=("any", "random"),
    )
    power: float = option(
        0.8, "Power of the detectable difference.", within=(0.0, 1.0), hidden=True
    )
    draws: int = option(10_000, "Normal draws of max-T.", low=1, hidden=True)
    mid_p: bool = option(
        False, "Whether McNemar's test counts the observed outcome by half.", hidden=True
    )
    add: tuple[str, ...] = option(
        (), "Another file with models on the same items (needs --item); repeat for more."
    )
    save: Path | None = option(
        None,
        "Save the results as .parquet or .csv, so that models can be added later.",
        writes=True,
    )
    gates: tuple[str, ...] = option(
        (),
        "Condition such as 'new >= old - 0.01'; exit code 0 if it holds, 10 if it fails, 11 if"
        " undecided; repeat for more.",
        flag="--gate",
    )
    stop_early: bool = option(
        False, "Take the items in random order and stop as soon as the answer is clear."
    )
    prices: tuple[float, float] | None = option(
        None,
        "What a new item and one more run of an item cost, to say which to buy.",
        metavar="ITEM,RUN",
    )
    scored_as: str | None = field(default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        split_metric(self.metric)
        if self.lower_is_better and self.higher_is_better:
            from tallystick.errors import InputError

            raise InputError("lower_is_better and higher_is_better exclude each other: give one")

    def reading(self) -> dict[str, Any]:
        """Return the score to read: what pass@k is made of, where that is asked for."""
        base = split_metric(self.metric)[1]
        return {} if base is None else {"metric": base}

    def number_range(self, data: Data) -> tuple[str, tuple[float, float] | None] | None:
        """Return the bounds of scores; beside a truth there are answers and no scores."""
        return None if data.roles.truth is not None else ("--bounds", self.bounds)

    def better(self, metric: str | None) -> tuple[Better, str]:
        """Return which way is better, and a note where that was guessed from the name."""
        if self.lower_is_better or self.higher_is_better:
            return ("lower" if self.lower_is_better else "higher"), ""
        if lower_word(metric) is None:
            return "higher", ""
        return "lower", (
            f"lower is better, by the name {metric!r}; add --higher-is-better if it is not so"
        )

    @property
    def settings(self) -> Settings:
        """The settings of the mathematics."""
        passes, _ = split_metric(self.metric)
        return Settings(
            bounds=self.bounds,
            population=self.population,  # type: ignore[arg-type]  # one of the choices
            cluster_weight=self.cluster_weight,  # type: ignore[arg-type]  # one of the choices
            blanks=self.blanks,  # type: ignore[arg-type]  # one of the choices
            better=self.better(self.scored_as)[0],
            metric=self.scored_as,
            passes=passes,
            alpha=self.alpha,
            power=self.power,
            draws=self.draws,
            mid_p=self.mid_p,
        )
