"""What a comparison is asked for: level, bounds, population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from tallystick.compare.pairing import Bounds
from tallystick.compare.partial import Blanks
from tallystick.errors import InputError
from tallystick.stats.ranges import open_unit, whole

__all__ = ["Population", "Settings"]

Population = Literal["items", "clusters"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the caller asked for, once.

    Parameters
    ----------
    bounds
        Between what every score must lie. None: 0/1 scores are found by themselves, others are
        taken as unbounded.
    population
        ``items``: new items (of these clusters, if there are any). ``clusters``: new clusters.
    blanks
        What is assumed of items without a true label: nothing (``any``), or that they were left out
        at ``random``.
    alpha, power
        One minus the level of intervals and the family-wise error; the power of the detectable
        difference.
    draws
        Normal draws of max-T.
    mid_p
        Whether McNemar's test counts the observed outcome by half (then it is no longer exact).
    """

    bounds: Bounds | None = None
    population: Population = "items"
    blanks: Blanks = "any"
    alpha: float = 0.05
    power: float = 0.8
    draws: int = 10_000
    mid_p: bool = False

    def __post_init__(self) -> None:
        open_unit(alpha=self.alpha, power=self.power)
        whole(1, draws=self.draws)
        if self.population not in get_args(Population):
            raise InputError(f"population must be 'items' or 'clusters', got {self.population!r}")
        if self.blanks not in get_args(Blanks):
            raise InputError(f"blanks must be 'any' or 'random', got {self.blanks!r}")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise InputError(f"bounds must be two numbers, the lower first, got {self.bounds!r}")
