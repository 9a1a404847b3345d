"""The words of the answer."""

from tallystick.results import Interval, percent_interval

__all__ = ["verdict"]


def verdict(side: str, share: float, interval: Interval, fair: float) -> str:
    """Return the one sentence."""
    word = "looks fair" if fair in interval else "is not fair"
    return f"The coin {word}: {side} in {percent_interval(share, interval)}."
