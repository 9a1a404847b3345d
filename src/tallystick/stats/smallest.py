"""The smallest whole number at which a condition begins to hold: how every sample size here is
found.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.errors import NotIdentifiable

__all__ = ["smallest"]


def smallest(holds: Callable[[int], bool], *, start: int = 1, limit: int = 10**12) -> int:
    r"""Return the smallest :math:`n \ge` *start* with ``holds(n)``, for a condition that stays true
    once it is.

    Steps double until the condition holds, then halve: about :math:`2 \log_2 (n - start)`
    evaluations. Asking the very function that will be reported, rather than rounding a closed form,
    keeps :math:`n` consistent with it to the last bit.

    Parameters
    ----------
    holds
        False below the answer and true from it on. If it is not, what comes back is a number where
        it changes from false to true.
    start
        Where to begin; returned at once if the condition holds there.
    limit
        Beyond this the question is refused.

    Examples
    --------
    >>> smallest(lambda n: n * n >= 1000)
    32
    >>> smallest(lambda n: False)
    Traceback (most recent call last):
    tallystick.errors.NotIdentifiable: no n up to 1,000,000,000,000 is enough: ask for less or allow more error
    """
    if holds(start):
        return start
    below, step = start, 1
    while not holds(below + step):
        below, step = below + step, 2 * step
        if below + step > limit:
            raise NotIdentifiable(
                f"no n up to {limit:,} is enough: ask for less or allow more error"
            )
    above = below + step
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above
