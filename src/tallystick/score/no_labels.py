r"""Without human grades: what the judges say, and how wrong they would have to be.

If the judges err on at most a share e of a system's outputs, its pass rate lies within e of their
mean. So A leads B unless the judges err on more than

.. math:: e = (J_A - J_B)/2   \tag{SC2}

of the outputs of each. That is arithmetic and needs no assumption. It is no interval: nothing in
the data says how large e is.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tallystick.score.outputs import Floats
from tallystick.score.result import JudgeBreakdown
from tallystick.score.units import Units

__all__ = ["breakdown"]

MOST = 20
"""Neighbours beyond this many systems are not listed."""


def breakdown(names: tuple[str, ...], judges: Floats, units: Units) -> tuple[JudgeBreakdown, ...]:
    """Return, for neighbours by the judges' means, how wrong the judges would have to be (SC2).

    Examples
    --------
    >>> [one] = breakdown(("a", "b"), np.array([0.90, 0.84]), Units(None))
    >>> one.a, round(one.lead, 3), round(one.error, 3)
    ('a', 0.06, 0.03)
    """
    order = [int(s) for s in np.argsort(-judges, kind="stable") if np.isfinite(judges[s])]
    found = []
    for a, b in pairwise(order[: MOST + 1]):
        lead = float(judges[a] - judges[b])
        found.append(JudgeBreakdown(a=names[a], b=names[b], lead=units.size(lead), error=lead / 2))
    return tuple(found)
