r"""How many labels next, about how many in all, and when to stop.

With k labels and an interval of half-width e, a half-width of w takes about

.. math:: k (e/w)^2 - k   \tag{W9}

more. The forecast is high (1.1 to 2.2 times the labels that were needed, seen from 20 labels; 1.0
to 1.1 times from 80), so it is printed as "at most about". The next batch is half of it: fewer
labels than with fixed batches of 10, in a third of the batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log
from typing import Literal, TypeAlias

from tallystick.errors import InputError

__all__ = [
    "LabelProgress",
    "StopReason",
    "forecast",
    "next_batch",
    "stop_reason",
    "verdict_forecast",
]

StopReason: TypeAlias = Literal["precision", "verdict", "certain", "budget", "not-worth-it"]
"""Why a session may stop; the same words stand in the JSON of ``label``."""

FIRST, STEP, LARGEST = 20, 5, 50
"""The first batch, and the step and the largest size of the others."""


@dataclass(frozen=True, kw_only=True)
class LabelProgress:
    """What is known when a batch ends.

    Parameters
    ----------
    labelled
        Labels that were read.
    left
        Items that can still be drawn.
    half_width
        Half the width of the approximate interval; None where the question has no interval.
    target
        The half-width that is asked for; None if only a verdict is.
    verdict
        Whether the anytime verdict is reached.
    certain
        Whether the labels settle the question whatever the rest holds, or nothing is left to draw.
    budget
        The most labels that may be bought; None for no limit.
    """

    labelled: int
    left: int
    half_width: float | None = None
    target: float | None = None
    verdict: bool = False
    certain: bool = False
    budget: int | None = None

    def __post_init__(self) -> None:
        if self.labelled < 0 or self.left < 0:
            raise InputError(f"labelled and left must not be negative, got {self}")
        if self.target is not None and not 0 < self.target < 1:
            raise InputError(f"target must be in (0, 1), got {self.target!r}")
        if self.budget is not None and self.budget < 1:
            raise InputError(f"budget must be at least 1 label, got {self.budget!r}")


def forecast(labelled: int, half_width: float, target: float, *, items: int | None = None) -> int:
    r"""Return at most about how many more labels the target half-width takes (W9).

    Of *items* in all, the squared half-width falls like :math:`1/k - 1/N` instead of :math:`1/k`,
    so all of them would always do. Without that, N = 150 items look hopeless after 20 labels,
    although 86 were enough.

    >>> forecast(40, 0.1, 0.05)
    120
    >>> forecast(40, 0.04, 0.05)
    0
    >>> forecast(20, 0.2, 0.05, items=150)
    87
    """
    if not target > 0:
        raise InputError(f"target must be positive, got {target!r}")
    if items is not None and 0 < labelled < items:
        rest = (1 / labelled - 1 / items) * (target / half_width) ** 2 if half_width > 0 else 1.0
        return max(0, ceil(1 / (rest + 1 / items) - labelled - 1e-9))
    return max(0, ceil(labelled * (half_width / target) ** 2 - labelled - 1e-9))


def verdict_forecast(log_e: float, growth: float, *, alpha: float = 0.05) -> int | None:
    r"""Return about how many more labels a verdict takes, or None if the evidence does not grow.

    A bet of (W5) against a mean that is e away from the limit is expected to add about
    :math:`\tfrac12 e^2/(\hat\sigma^2 + e^2)` to the log e-value, which needs
    :math:`\log(2/\alpha)`.

    A rough figure: seen from 20 to 80 labels, its median was 1.0 to 2.7 times the labels that were
    needed, with 80 % of the forecasts between .2 and 7 times. Print one digit, "at most about".

    >>> verdict_forecast(1.0, 0.05)
    54
    >>> verdict_forecast(1.0, 0.0) is None
    True
    """
    if not growth > 0:
        return None
    return max(0, ceil((log(2 / alpha) - log_e) / growth))


def next_batch(progress: LabelProgress) -> int:
    """Return how many items to draw next; 0 if there is no room or money for more.

    The first batch has 20. Then half of what is missing by the forecast, in fives, between 5 and
    50; a verdict without a target is asked in batches of 10.

    >>> next_batch(LabelProgress(labelled=0, left=500, target=0.05))
    20
    >>> next_batch(LabelProgress(labelled=20, left=480, half_width=0.12, target=0.05))
    50
    >>> next_batch(LabelProgress(labelled=100, left=400, half_width=0.053, target=0.05))
    5
    """
    allowed = inf if progress.budget is None else max(0, progress.budget - progress.labelled)
    if progress.labelled == 0:
        wanted = FIRST
    elif progress.target is None or progress.half_width is None:
        wanted = 2 * STEP
    else:
        missing = forecast(progress.labelled, progress.half_width, progress.target)
        wanted = min(LARGEST, max(STEP, STEP * round(missing / 2 / STEP)))
    return int(min(wanted, progress.left, allowed))


def stop_reason(progress: LabelProgress) -> StopReason | None:
    """Return why to stop now, or None to go on; the first reason that holds, in this order.

    *certain*: no label can change the answer. *verdict*: the anytime evidence settles it.
    *precision*: the planned half-width is reached, with at least 20 labels, since a planned stop of
    the approximate interval was measured from there on. *budget*: the labels are spent.
    *not-worth-it*: the forecast takes more than is left of the budget; all items would always do.

    Examples
    --------
    >>> stop_reason(LabelProgress(labelled=80, left=400, half_width=0.049, target=0.05))
    'precision'
    >>> stop_reason(LabelProgress(labelled=40, left=400, half_width=0.15, target=0.05, budget=60))
    'not-worth-it'
    """
    if progress.certain or not progress.left:
        return "certain"
    if progress.verdict:
        return "verdict"
    missing = _missing(progress)
    if missing == 0:
        return "precision"
    room = progress.left
    if progress.budget is not None:
        room = min(room, progress.budget - progress.labelled)
        if room <= 0:
            return "budget"
    return "not-worth-it" if missing is not None and missing > room else None


def _missing(progress: LabelProgress) -> int | None:
    """Return the forecast, or None where there is no target or nothing to forecast from yet."""
    if progress.half_width is None or progress.target is None or progress.labelled < FIRST:
        return None
    items = progress.labelled + progress.left
    return forecast(progress.labelled, progress.half_width, progress.target, items=items)
