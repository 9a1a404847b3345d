"""What can be asked of a dynamic benchmark: before it is run, of a simulated one, of a real log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallystick._rng import Rng
from tallystick.data import Question, option
from tallystick.dynamic.advice import RoundPrices
from tallystick.dynamic.design import Design
from tallystick.errors import InputError

__all__ = ["AnalyseQuestion", "SimulateQuestion", "TheoryQuestion", "numbers_of"]

_MIXING = ("flat", "nested")
_LEVEL = "One minus the level of every interval: .05 gives 95 %."
_SEED = "Seed of everything that is drawn."
_MIXING_HELP = "How a hierarchy mixes: every part alike (flat), or layer within layer (nested)."
_NOISE_HELP = "Share of the population with random labels."
_VALUE_HELP = (
    "Worth of taking the risk from one to zero. Default: taking away 5 % of the risk is worth the"
    " price of a round."
)


def numbers_of(given: Any, flag: str) -> list[float]:
    """Return numbers given as text with commas, as one number, or as a sequence.

    >>> numbers_of(".3,.1", "--epsilon"), numbers_of(0.2, "--epsilon")
    ([0.3, 0.1], [0.2])
    """
    pieces = given.split(",") if isinstance(given, str) else given
    try:
        return [float(one) for one in (pieces if isinstance(pieces, Iterable) else [pieces])]
    except (TypeError, ValueError) as error:
        raise InputError(f"{flag} wants numbers with commas, got {given!r}") from error


@dataclass(frozen=True, kw_only=True)
class TheoryQuestion(Question):
    """What is proved of a path and of a hierarchy of such models, before anything is run."""

    alpha: float = option(0.05, _LEVEL, within=(0.0, 1.0), hidden=True)
    seed: Rng = option(0, _SEED, low=0, hidden=True)
    epsilon: float | None = option(
        None, "Risk of each model on the data it was trained on, in (0, 1/2]."
    )
    rounds: int = option(3, "Rounds of the path.", low=1)
    distance: float = option(0.0, "How far D_0 is from D (the H-delta-H distance).")
    noise: float = option(0.0, _NOISE_HELP)
    mixing: str = option("nested", _MIXING_HELP, choices=_MIXING)


@dataclass(frozen=True, kw_only=True)
class _Priced(Question):
    """The prices that an advice rests on."""

    price: float = option(1.0, "Price of one round, in any currency.")
    cleaning_price: float = option(1.0, "Price of checking every label.")
    value: float | None = option(None, _VALUE_HELP)

    @property
    def prices(self) -> RoundPrices:
        """The prices of the advice."""
        return RoundPrices(round=self.price, cleaning=self.cleaning_price, value=self.value)


@dataclass(frozen=True, kw_only=True)
class SimulateQuestion(_Priced):
    """What a design would bring, with such a learner, over a population.

    In Python *design* also takes a `Design`, *epsilon* and *majority* sequences of numbers, and
    *initial* a number.
    """

    alpha: float = option(0.05, _LEVEL, within=(0.0, 1.0), hidden=True)
    design: str | Design = option("path", "path, hierarchical, or a TOML file.")
    rounds: int = option(5, "Rounds of the path.", low=1)
    width: int = option(3, "Hierarchy: models in a vote.")
    depth: int = option(2, "Hierarchy: layers.")
    mixing: str = option("nested", _MIXING_HELP, choices=_MIXING)
    epsilon: str | float | Sequence[float] = option(
        ".1",
        "Risk of each model on its own data, in (0, 1/2]; with commas one per round, the last one"
        " staying.",
    )
    learner: str = option(
        "random", "How models err.", choices=("perfect", "random", "correlated", "adversarial")
    )
    rho: float = option(0.5, "Correlated learner: difficulty that models share.")
    gamma: float = option(0.0, "Correlated learner: protection by up-weighting.")
    noise: float = option(0.0, _NOISE_HELP)
    initial: str | float | None = option(
        None, "D_0: a share of the items that it covers, or a file with one weight per line."
    )
    mixture: float | None = option(
        None, "Weight that D_0 keeps in every mixture. Default: equal weights."
    )
    majority: str | Sequence[float] | None = option(
        None, "Weights of the votes, with commas. Default: equal."
    )
    items: int | None = option(None, "Items of the population. Default: 800.", low=1)
    found: int | None = option(
        None, "Items that a round of collection yields. Default: all errors."
    )
    coverage: float = option(1.0, "Share of the errors that can be found.")
    duplicates: float = option(0.0, "Share of the collected items that are copies.")
    mistakes: float = option(0.0, "Share of the collected items that are not errors.")
    rollouts: int = option(1000, "How often to simulate.", low=1)
    draw: Path | None = option(None, "Draw the design into this SVG file.", writes=True)


@dataclass(frozen=True, kw_only=True)
class AnalyseQuestion(_Priced):
    """What the log of a real dynamic benchmark says, and whether another round is worth it."""

    chain: tuple[str, ...] = option(
        (), "Models in the loop, in order, for forgetting; repeat, or use commas."
    )
    rollouts: int = option(200, "How often to simulate.", low=1)
    permutations: int = option(999, "Permutations of the null of the overlap.", low=1, hidden=True)

    def __post_init__(self) -> None:
        given = (self.chain,) if isinstance(self.chain, str) else self.chain
        loop = tuple(name.strip() for text in given for name in text.split(",") if name.strip())
        object.__setattr__(self, "chain", loop)
        super().__post_init__()
