r"""Who is wrong together, and on which items: where a vote of these models cannot help.

A vote repairs an error only if the others get the item right. For each pair of models the share of
items that both get wrong is held against the share if their errors were independent,

.. math:: \hat p_{ij} = \frac1n \sum_x 1\{i, j \text{ wrong on } x\}
          \qquad\text{beside}\qquad \hat p_i \hat p_j.  \tag{W1}

Some excess is normal: hard items are hard for everyone. A pair far above the other pairs adds
little to a vote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.errors import InputError
from tallystick.results import Interval

__all__ = ["PairErrors", "WrongTogether", "wrong_together"]


@dataclass(frozen=True, kw_only=True)
class PairErrors:
    """How often two models are wrong on the same item.

    Parameters
    ----------
    both, interval
        Share of items that both get wrong, with its exact interval.
    independent
        The share if their errors were independent (W1).
    excess
        *both* minus *independent*.
    """

    first: str
    second: str
    both: float
    interval: Interval
    independent: float
    excess: float


@dataclass(frozen=True, kw_only=True)
class WrongTogether:
    """Pairs and items that decide what a vote of these models can do.

    Parameters
    ----------
    pairs
        All pairs, the largest excess first.
    everyone, everyone_interval
        Share of items that all models get wrong.
    hopeless
        Those items.
    repairable
        Items on which the majority is wrong by the narrowest margin (for an even panel: tied), so
        that one or two more models could repair them.
    fragile
        Items on which it is right by the narrowest margin, so that they could break.
    """

    pairs: tuple[PairErrors, ...]
    everyone: float
    everyone_interval: Interval
    hopeless: tuple[str, ...]
    repairable: tuple[str, ...]
    fragile: tuple[str, ...]


def wrong_together(
    errors: Array,
    *,
    models: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    alpha: float = 0.05,
) -> WrongTogether:
    """List the pairs of models that fail together, and the items on which a vote hangs.

    Parameters
    ----------
    errors
        Booleans of shape (models, items): True where a model is wrong.
    models, items
        Their names; numbered from 1 if not given.
    alpha
        One minus the level of the intervals.

    Examples
    --------
    >>> errors = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 1, 0]], dtype=bool)
    >>> found = wrong_together(errors, models=["a", "b", "c"])
    >>> found.pairs[0].first, found.pairs[0].second, round(found.pairs[0].excess, 2)
    ('a', 'b', 0.16)
    >>> found.hopeless, found.repairable, found.fragile
    (('1',), ('2',), ('3', '4'))
    """
    from tallystick.stats.intervals import clopper_pearson

    wrong = np.asarray(errors, dtype=bool)
    if wrong.ndim != 2 or len(wrong) < 2 or not wrong.shape[1]:
        raise InputError(
            f"errors need the shape (models, items) with two models or more, got {wrong.shape}"
        )
    count, size = wrong.shape
    names = _named(models, count, "models")
    labels = _named(items, size, "items")

    pairs = []
    for i, j in combinations(range(count), 2):
        both = int((wrong[i] & wrong[j]).sum())
        alone = float(wrong[i].mean() * wrong[j].mean())  # (W1)
        pairs.append(
            PairErrors(
                first=names[i],
                second=names[j],
                both=both / size,
                interval=clopper_pearson(both, size, alpha=alpha),
                independent=alone,
                excess=both / size - alone,
            )
        )

    total = wrong.sum(axis=0)
    middle = (count + 1) // 2
    everyone = total == count
    # An even panel's edge is the tie, which one more model turns either way.
    tied = count % 2 == 0
    return WrongTogether(
        pairs=tuple(sorted(pairs, key=lambda pair: -pair.excess)),
        everyone=float(everyone.mean()),
        everyone_interval=clopper_pearson(int(everyone.sum()), size, alpha=alpha),
        hopeless=_where(labels, everyone),
        repairable=_where(labels, total == middle),
        fragile=_where(labels, total == (middle if tied else middle - 1)),
    )


def _named(given: Sequence[str] | None, size: int, what: str) -> tuple[str, ...]:
    if given is None:
        return tuple(str(k + 1) for k in range(size))
    if len(given) != size:
        raise InputError(f"{what}: {size} names are needed, got {len(given)}")
    return tuple(str(name) for name in given)


def _where(labels: tuple[str, ...], mask: Array) -> tuple[str, ...]:
    return tuple(labels[k] for k in np.flatnonzero(mask))
