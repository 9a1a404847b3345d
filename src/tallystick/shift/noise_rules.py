"""The numbers that noisy shift rests on, in one place, each with its reason.

They were measured together (docs/theory/shift.md): change one only with a new measurement
(``benchmarks/truth/shift_noise.py``).
"""

from __future__ import annotations

from tallystick.stats.ranges import whole

__all__ = [
    "ACCURACY_HULL",
    "BLIND_SHARE",
    "CHANCE_REFUTED",
    "CLEAN_REPEATS",
    "FEWEST_REPEATS",
    "FLIP_HULL",
    "REPEAT_SHARE",
    "WIDELY_ASKED",
    "more_repeats",
    "repeats_planned",
]

BLIND_SHARE = 0.7
"""Share of the budget that is drawn proportionally, without regard to answers.

With .6 the flip rate covered .904 on real version changes, with .7 and the whole hull .942.
"""
FLIP_HULL = 1.0
"""Part of δ, the gap to the blind estimate, by which a flip rate and its interval move."""
ACCURACY_HULL = 0.5
"""Part of δ by which the interval of an accuracy (or a mean grade) is stretched."""
REPEAT_SHARE, FEWEST_REPEATS = 0.1, 30
"""Flips that are asked again: a tenth of the budget, at least 30."""
CLEAN_REPEATS = 30
"""If this many repeats all confirm, the API shows no noise and repeating stops."""
CHANCE_REFUTED = 0.05
"""Below this p-value the repeats refute that chance explains every flip between right and wrong.

Until then λ of the accuracy is 1. An estimated λ is below 1 in a third of all runs on an unchanged
API, by luck alone, and its narrower interval then says "changed" too often: with every item asked
in .052 of runs, with this rule in .047 (8 simulated populations, 900 runs each); the power against
a change of 3 points goes from .460 to .447. Adding two standard errors to λ instead of one leaves
.049 and .439.
"""
WIDELY_ASKED = 0.2
"""From this share of items on, an interval with λ < 1 leans on "the old API was as noisy"."""


def repeats_planned(budget: int) -> int:
    """Return how many flips to ask again at most: max(30, budget/10).

    Examples
    --------
    >>> repeats_planned(200), repeats_planned(1000)
    (30, 100)
    """
    whole(1, budget=budget)
    return max(FEWEST_REPEATS, budget // round(1 / REPEAT_SHARE))


def more_repeats(repeated: int, unconfirmed: int, *, budget: int) -> bool:
    """Say whether the next flip of the blind phase should be asked again.

    Flips are repeated in the order in which they were asked, which must be uniformly random over
    the blind items: in proportional order large strata come first and noise looks like change.

    Parameters
    ----------
    repeated, unconfirmed
        Repeats so far, and how many of them did not give the flipped answer again.
    budget
        Calls in all; repeats count against it.

    Examples
    --------
    >>> more_repeats(29, 0, budget=1000), more_repeats(30, 0, budget=1000)
    (True, False)
    >>> more_repeats(30, 1, budget=1000), more_repeats(100, 1, budget=1000)
    (True, False)
    """
    whole(0, repeated=repeated, unconfirmed=unconfirmed)
    if repeated >= CLEAN_REPEATS and not unconfirmed:
        return False
    return repeated < repeats_planned(budget)
