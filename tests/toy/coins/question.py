"""What can be asked of a coin."""

from dataclasses import dataclass

from tallystick.table import Question, option

__all__ = ["CoinQuestion"]


@dataclass(frozen=True, kw_only=True)
class CoinQuestion(Question):
    """Which side is meant, and what share is fair."""

    side: str = option("heads", "The side whose share is asked for.")
    fair: float = option(0.5, "The share of a fair coin.", within=(0.0, 1.0))
