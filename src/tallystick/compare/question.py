"""What can be asked of models: level, bounds, population, gates and stopping."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tallystick.compare.settings import Settings
from tallystick.data import Question, option

__all__ = ["CompareQuestion"]


@dataclass(frozen=True, kw_only=True)
class CompareQuestion(Question):
    """What is asked of models that answered or were scored on the same items."""

    population: str = option(
        "items",
        "To what the answer speaks: new items (of these clusters), or new clusters.",
        choices=("items", "clusters"),
    )
    bounds: tuple[float, float] | None = option(
        None, "LO,HI: between what scores lie (0/1 scores need none)."
    )
    blanks: str = option(
        "any",
        "Items without a true label: assume nothing of them (any), or left out at random.",
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
        (), "Another file of models on the same items (needs --item); repeat."
    )
    save: Path | None = option(
        None, "Save the board (.parquet or .csv), to add models to it later."
    )
    gates: tuple[str, ...] = option(
        (), "e.g. 'new >= old - 0.01'; exit 0 holds, 10 fails, 11 open; repeat.", flag="--gate"
    )
    stop_early: bool = option(False, "Take items in random order and stop when it is clear.")

    @property
    def settings(self) -> Settings:
        """The settings of the mathematics."""
        return Settings(
            bounds=self.bounds,
            population=self.population,  # type: ignore[arg-type]  # one of the choices
            blanks=self.blanks,  # type: ignore[arg-type]  # one of the choices
            alpha=self.alpha,
            power=self.power,
            draws=self.draws,
            mid_p=self.mid_p,
        )
