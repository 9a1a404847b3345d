"""What an agreement statistic returns."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.results import Interval, Unknown

__all__ = ["Agreement"]


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """One agreement statistic, for these items and for new ones.

    Parameters
    ----------
    name
        What was computed, for instance ``fleiss-kappa`` or ``krippendorff-alpha (ordinal)``.
    estimate
        The exact number for the given items, or why there is none.
    interval
        A range for the same number on new items of the same kind, or why there is none.
    n_items
        Items with at least two ratings: only they say anything about agreement.
    n_raters
        Raters.
    second_commonest
        Ratings of the second commonest label. Below about 5 items a chance-corrected statistic is
        hardly determined: show raw agreement and AC1 beside it.
    """

    name: str
    estimate: float | Unknown
    interval: Interval | Unknown
    n_items: int
    n_raters: int
    second_commonest: int
