"""Did the last two rounds lower the risk? An exact test after the fact, which is not a forecast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError

__all__ = ["StepChange", "step_change"]

_FEWEST_ROUNDS = 3


@dataclass(frozen=True, kw_only=True)
class StepChange:
    """Whether the last two rounds changed the risk: an exact sign test, not a forecast.

    Parameters
    ----------
    repaired, broken
        Items whose majority verdict changed from wrong to right, and from right to wrong.
    p_lower, p_higher
        One-sided p-values of "the risk is lower" and "the risk is higher".
    level
        The level at this look.
    proved
        ``lower``, ``higher`` or None.
    """

    repaired: int
    broken: int
    p_lower: float
    p_higher: float
    level: float
    proved: Literal["lower", "higher"] | None


def step_change(errors: Array, *, alpha: float = 0.05, look: int | None = None) -> StepChange:
    r"""Test after the fact whether the last two rounds lowered the risk.

    Among the items whose majority verdict changed, b repaired and c broken, b is binomial with
    probability 1/2 if the risk did not change:

    .. math:: p = \Pr(\mathrm{Bin}(b+c, \tfrac12) \ge b).  \tag{Q4}

    Parameters
    ----------
    errors
        Booleans of shape (rounds, items), an odd number of rounds from three on.
    alpha
        The level of a single look.
    look
        Which look this is, from 1, if you test after every step and want to be right over all
        looks: the level becomes :math:`\alpha/(j(j+1))`.

    Examples
    --------
    >>> errors = np.zeros((3, 100), dtype=bool)
    >>> errors[0, :9] = True  # rounds 2 and 3 get all of these right
    >>> found = step_change(errors)
    >>> found.repaired, found.broken, round(found.p_lower, 4), found.proved
    (9, 0, 0.002, 'lower')
    """
    from scipy.special import bdtrc

    wrong = np.asarray(errors, dtype=bool)
    if wrong.ndim != 2 or len(wrong) < _FEWEST_ROUNDS or len(wrong) % 2 == 0:
        raise InputError(
            "errors need an odd number of rounds, three or more, so that no vote is tied: "
            f"got the shape {wrong.shape}"
        )
    if not 0 < alpha < 1 or (look is not None and look < 1):
        raise InputError(f"alpha must be in (0, 1) and look from 1 on, got {alpha!r}, {look!r}")

    now = 2 * wrong.sum(axis=0) > len(wrong)
    before = 2 * wrong[:-2].sum(axis=0) > len(wrong) - 2
    repaired, broken = int((before & ~now).sum()), int((~before & now).sum())
    changed = repaired + broken
    # (Q4): bdtrc(k, n, p) is the probability of more than k.
    lower = float(bdtrc(repaired - 1, changed, 0.5)) if repaired else 1.0
    higher = float(bdtrc(broken - 1, changed, 0.5)) if broken else 1.0
    level = alpha if look is None else alpha / (look * (look + 1))
    return StepChange(
        repaired=repaired,
        broken=broken,
        p_lower=lower,
        p_higher=higher,
        level=level,
        proved="lower" if lower <= level else "higher" if higher <= level else None,
    )
