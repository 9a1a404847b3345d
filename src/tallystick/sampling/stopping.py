r"""When a session stops, how many labels it asks for next, and how often its readers err.

With k labels and an interval of half-width e, a half-width of w takes about

.. math:: k (e/w)^2 - k   \tag{W9}

more. The forecast is high (1.1 to 2.2 times the labels that were needed, seen from 20 labels; 1.0
to 1.1 times from 80), so it is printed as "at most about". The next batch is half of it: fewer
labels than with fixed batches of 10, in a third of the batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log, sqrt
from typing import Literal, TypeAlias

from tallystick.results import Interval

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
        Draws that were read.
    left
        Units that can still be drawn.
    missing
        Labels that the precision asked for still takes, by forecast; None where there is no such
        precision, or nothing to forecast from yet.
    verdict
        Whether the anytime verdict is reached.
    certain
        Whether the labels settle the question whatever the rest holds, or nothing is left to draw.
    budget
        The most draws that may be bought; None for no limit.
    """

    labelled: int
    left: int
    missing: int | None = None
    verdict: bool = False
    certain: bool = False
    budget: int | None = None


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
    if items is not None and 0 < labelled < items:
        rest = (1 / labelled - 1 / items) * (target / half_width) ** 2 if half_width > 0 else 1.0
        return max(0, ceil(1 / (rest + 1 / items) - labelled - 1e-9))
    return max(0, ceil(labelled * (half_width / target) ** 2 - labelled - 1e-9))


def next_batch(progress: LabelProgress) -> int:
    """Return how many items to draw next; 0 if there is no room or money for more.

    The first batch makes 20. Then half of what is missing by the forecast, in fives, between 5 and
    50; a verdict without a precision is asked in batches of 10.

    >>> next_batch(LabelProgress(labelled=0, left=500))
    20
    >>> next_batch(LabelProgress(labelled=20, left=480, missing=96))
    50
    >>> next_batch(LabelProgress(labelled=100, left=400, missing=11))
    5
    """
    allowed = inf if progress.budget is None else max(0, progress.budget - progress.labelled)
    if progress.labelled < FIRST:
        wanted = FIRST - progress.labelled
    elif progress.missing is None:
        wanted = 2 * STEP
    else:
        wanted = min(LARGEST, max(STEP, STEP * round(progress.missing / 2 / STEP)))
    return int(min(wanted, progress.left, allowed))


def stop_reason(progress: LabelProgress) -> StopReason | None:
    """Return why to stop now, or None to go on; the first reason that holds, in this order.

    *certain*: no label can change the answer. *verdict*: the anytime evidence settles it.
    *precision*: the half-width is reached. *budget*: the labels are spent. *not-worth-it*: the
    forecast takes more than is left of the budget; all items would always do.

    Examples
    --------
    >>> stop_reason(LabelProgress(labelled=80, left=400, missing=0))
    'precision'
    >>> stop_reason(LabelProgress(labelled=40, left=400, missing=250, budget=60))
    'not-worth-it'
    """
    if progress.certain or not progress.left:
        return "certain"
    if progress.verdict:
        return "verdict"
    if progress.missing == 0:
        return "precision"
    room = progress.left
    if progress.budget is not None:
        room = min(room, progress.budget - progress.labelled)
        if room <= 0:
            return "budget"
    return "not-worth-it" if progress.missing is not None and progress.missing > room else None


def verdict_forecast(log_e: float, growth: float, *, alpha: float = 0.05) -> int | None:
    r"""Return about how many more labels a verdict takes, or None if the evidence does not grow.

    A bet of (W5) against a mean that is e away from the limit is expected to add about
    :math:`\tfrac12 e^2/(\hat\sigma^2 + e^2)` to the log e-value, which needs
    :math:`\log(2/\alpha)`.

    A rough figure: seen from 20 to 80 labels, its median was 1.0 to 2.7 times the labels that were
    needed, with 80% of the forecasts between .2 and 7 times. Print one digit, "at most about".

    >>> verdict_forecast(1.0, 0.05)
    54
    >>> verdict_forecast(1.0, 0.0) is None
    True
    """
    if not growth > 0:
        return None
    return max(0, ceil((log(2 / alpha) - log_e) / growth))


# Two readers: how often people err, and when that matters.
#
# If both readers err independently on a share e of the items, they disagree on
# :math:`\delta = 2 e (1 - e)` of them, so
#
# .. math:: e = \frac{1 - \sqrt{1 - 2\delta}}{2}   \tag{W10}
#
# and a share θ read by one of them is off by :math:`e |1 - 2\theta|`.


LEAST_TWICE = 20
"""At least this many items are read twice."""


def reader_error(disagreed: int, twice: int, *, alpha: float = 0.05) -> tuple[float, Interval]:
    """Return how often one reader errs (W10), and its interval.

    The interval is that of the exact interval of the share of disagreements; the estimate is 1/2
    where readers agree no more than coins do.

    Parameters
    ----------
    disagreed, twice
        How many items read twice came out differently, of how many.
    alpha
        One minus the level.

    Examples
    --------
    >>> error, interval = reader_error(4, 40)
    >>> round(error, 4), str(interval)
    (0.0528, '[0.014, 0.137] (95%, under readers who err independently and equally often)')
    """
    from tallystick.stats.intervals import clopper_pearson

    ends = clopper_pearson(disagreed, twice, alpha=alpha)
    interval = Interval(
        _error(ends.low),
        _error(ends.high),
        level=1 - alpha,
        guarantee="under",
        assumption="readers who err independently and equally often",
        method="double reading",
    )
    return _error(disagreed / twice), interval


def too_noisy(error: float, share: float, half_width: float) -> bool:
    """Say whether reader error moves the share by more than a third of the precision asked.

    >>> too_noisy(0.05, 0.9, 0.05), too_noisy(0.05, 0.5, 0.05)
    (True, False)
    """
    return error * abs(1 - 2 * share) > half_width / 3


def _error(disagree: float) -> float:
    return (1 - sqrt(max(0.0, 1 - 2 * disagree))) / 2  # (W10)
