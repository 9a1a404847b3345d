"""The answer about a coin."""

from dataclasses import dataclass
from typing import Any, ClassVar

from tallystick.results import Figure, Interval, Result

__all__ = ["CoinResult"]


@dataclass(frozen=True, kw_only=True)
class CoinResult(Result):
    """The share of one side, with its interval."""

    verb: ClassVar[str] = "coins"

    side: str
    share: float
    interval: Interval

    def rows(self) -> list[dict[str, Any]]:
        """Return the one row."""
        return [{"side": self.side, "share": self.share, "interval": self.interval}]

    def figures(self) -> tuple[Figure, ...]:
        """Return the share with its interval."""
        columns = {
            "side": [self.side],
            "share": [self.share],
            "low": [self.interval.low],
            "high": [self.interval.high],
        }
        roles = {"name": "side", "x": "share", "low": "low", "high": "high"}
        return (Figure("forest", "Share of the side", columns, roles),)
