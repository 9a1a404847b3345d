"""What a comparison is asked for: level, bounds, population, direction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from tallystick.compare.metric import Better, PassMetric
from tallystick.compare.pairing import Bounds
from tallystick.compare.partial import Blanks
from tallystick.errors import InputError
from tallystick.stats.clusters import ClusterWeight
from tallystick.stats.ranges import open_unit, whole

__all__ = ["Population", "Settings"]

Population = Literal["items", "clusters"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the caller asked for, once.

    Parameters
    ----------
    bounds
        Between what every score must lie. None: 0/1 scores are recognised, others are taken as
        unbounded.
    population
        ``items``: new items (of these clusters, if there are any). ``clusters``: new clusters.
        None: new clusters if there are clusters, else new items.
    cluster_weight
        New clusters: whether every cluster counts once (``equal``) or every item does (``items``).
    blanks
        What is assumed of items without a true label: nothing (``any``), or that they were left out
        at ``random``.
    better
        Whether a ``higher`` or a ``lower`` score is better.
    metric
        What the scores are called; None if nobody said.
    passes
        pass@k or pass^k of several runs per item; None for their mean.
    alpha, power
        One minus the level of intervals and the family-wise error; the power of the detectable
        difference.
    draws
        Normal draws of max-T.
    mid_p
        Whether McNemar's test counts the observed outcome by half (then it is no longer exact).
    """

    bounds: Bounds | None = None
    population: Population | None = None
    cluster_weight: ClusterWeight = "equal"
    blanks: Blanks = "any"
    better: Better = "higher"
    metric: str | None = None
    passes: PassMetric | None = field(default=None)
    alpha: float = 0.05
    power: float = 0.8
    draws: int = 10_000
    mid_p: bool = False

    def __post_init__(self) -> None:
        open_unit(alpha=self.alpha, power=self.power)
        whole(1, draws=self.draws)
        for name, value, kind in (
            ("population", self.population, Population),
            ("cluster_weight", self.cluster_weight, ClusterWeight),
            ("blanks", self.blanks, Blanks),
            ("better", self.better, Better),
        ):
            words = get_args(kind)
            if value not in words and not (name == "population" and value is None):
                listed = " or ".join(map(repr, words))
                raise InputError(f"{name} must be {listed}, got {value!r}")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise InputError(f"bounds must be two numbers, the lower first, got {self.bounds!r}")

    @property
    def sign(self) -> float:
        """1 where a higher score is better, -1 where a lower one is."""
        return 1.0 if self.better == "higher" else -1.0
