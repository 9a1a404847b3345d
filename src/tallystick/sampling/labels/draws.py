r"""Which item is labelled next: draws with known probabilities, in strata that are fixed.

Half of every draw is plain random, so nothing starves; the other half goes where labels still vary.
With :math:`R_h` items of stratum h not yet drawn and :math:`s_h` its *spread*,

.. math:: q_h = \tfrac12 \frac{R_h}{\sum_j R_j} + \tfrac12 \frac{R_h s_h}{\sum_j R_j s_j},
          \qquad s_h = \sqrt{p_h (1 - p_h)}, \quad p_h = \frac{x_h + 2}{k_h + 4}   \tag{W1}

and inside the stratum every item that was not drawn yet is equally likely. The spreads are frozen
while a batch is drawn; the :math:`R_h` are not. A stratum of spread 0 takes no part in its batch,
and equal spreads draw uniformly.

The journal keeps every draw and the spreads of every batch, so each probability can be computed
again. Values are read in draw order up to the first one that is missing: any prefix of the draws is
a valid sample, so a person may stop in the middle of a batch that is shown in draw order.
"""

from __future__ import annotations

import dataclasses
from bisect import insort
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tallystick._rng import Rng, as_rng, spawn
from tallystick.errors import BudgetError, InputError
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.journal import HALF_WIDTH, DrawJournal, drawing_probabilities
from tallystick.sampling.labels.strata import LabelStrata

__all__ = [
    "SpreadRule",
    "class_spread",
    "draw_batch",
    "replay",
    "share_spread",
    "uniform_spread",
]

SpreadRule: TypeAlias = Callable[[Ints, Floats, int], Floats]
"""Takes stratum and value of every draw so far, and H; returns one spread per stratum."""


def share_spread(stratum: Ints, values: Floats, n_strata: int) -> Floats:
    """Return the spreads of (W1) for values in [0, 1], from all draws that were read.

    >>> share_spread(np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0]), 3).round(3).tolist()
    [0.471, 0.49, 0.5]
    """
    k = np.bincount(stratum, minlength=n_strata)
    p = (np.bincount(stratum, weights=values, minlength=n_strata) + 2) / (k + 4)
    return np.asarray(np.sqrt(p * (1 - p)))


def class_spread(stratum: Ints, codes: Floats, n_strata: int, *, n_classes: int) -> Floats:
    r"""Return the spreads for labels of several classes, :math:`\sqrt{1 - \sum_c p_c^2}`.

    With two classes they are those of `share_spread` times a constant, so the draws are the same.
    Use it as a rule with ``functools.partial(class_spread, n_classes=K)``.

    >>> class_spread(np.array([0, 0]), np.array([2, 2]), 2, n_classes=3).round(3).tolist()
    [0.77, 0.816]
    """
    k = np.bincount(stratum, minlength=n_strata)
    cell = stratum * n_classes + np.asarray(codes, dtype=np.int64)
    x = np.bincount(cell, minlength=n_strata * n_classes).reshape(n_strata, n_classes)
    p = (x + 4 / n_classes) / (k[:, None] + 4)
    return np.asarray(np.sqrt(1 - (p**2).sum(axis=1)))


def uniform_spread(stratum: Ints, values: Floats, n_strata: int) -> Floats:
    """Return equal spreads: every item that is left is equally likely, whatever was seen.

    >>> uniform_spread(np.array([0]), np.array([1.0]), 2).tolist()
    [1.0, 1.0]
    """
    return np.ones(n_strata)


def draw_batch(
    strata: LabelStrata, journal: DrawJournal, *, size: int, spread: ArrayLike, rng: Rng
) -> DrawJournal:
    """Return the journal with one more batch.

    Parameters
    ----------
    strata
        Which item is where.
    journal
        The draws so far, of these strata.
    size
        How many items to draw; fewer come back if fewer are left.
    spread
        One spread per stratum, from a rule such as `share_spread`.
    rng
        A seed or generator. `replay` can draw a batch again if it got ``spawn(seed, b + 1)[b]``,
        b being the number of the batch.

    Examples
    --------
    >>> strata = LabelStrata(of=[0] * 30 + [1] * 70, side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> journal = draw_batch(strata, DrawJournal.empty(strata.sizes), size=4, spread=[1, 1], rng=1)
    >>> [(draw.item, draw.stratum, round(draw.q, 3)) for draw in journal.draws()]
    [(96, 1, 0.7), (28, 0, 0.303), (59, 1, 0.704), (57, 1, 0.701)]
    """
    if size < 1:
        raise InputError(f"size must be at least 1, got {size!r}")
    if not np.array_equal(strata.sizes, journal.sizes):
        raise InputError("strata and journal differ in size: a journal belongs to its own strata")
    s = np.asarray(spread, dtype=np.float64)
    if s.shape != journal.sizes.shape or not (np.isfinite(s) & (s >= 0)).all():
        raise InputError(
            f"spread must be one finite number per stratum, at least 0, got {spread!r}"
        )
    left = journal.sizes - np.bincount(journal.stratum, minlength=s.size)
    size = min(size, int(left[s > 0].sum()))
    if not size:
        raise BudgetError("every item that may be drawn has been drawn")

    # Two numbers per draw, all drawn at once: what comes out does not depend on what was seen.
    chance = as_rng(rng).random((size, 2))
    taken = _taken(strata, journal)
    items, where, probability = [], [], []
    for at_stratum, at_item in chance:
        q = drawing_probabilities(left, s)
        h = _pick(q, at_stratum)
        free = _free(taken[h], min(int(at_item * left[h]), int(left[h]) - 1))
        insort(taken[h], free)
        items.append(int(strata.members[strata.starts[h] + free]))
        where.append(h)
        probability.append(float(q[h]))
        left[h] -= 1

    return dataclasses.replace(
        journal,
        item=np.concatenate((journal.item, np.array(items, dtype=np.int64))),
        stratum=np.concatenate((journal.stratum, np.array(where, dtype=np.int64))),
        q=np.concatenate((journal.q, probability)),
        batch=np.concatenate((journal.batch, np.full(size, journal.n_batches))),
        spreads=np.vstack((journal.spreads, s)),
    )


def replay(
    strata: LabelStrata,
    values: ArrayLike,
    *,
    batches: Sequence[int],
    rule: SpreadRule = share_spread,
    seed: int,
    half_width: float = HALF_WIDTH,
) -> DrawJournal:
    """Draw a whole session again from its seed, its batch sizes and the values that came back.

    Batch b is drawn with ``spawn(seed, b + 1)[b]`` and by the values of all earlier batches, so a
    session that was drawn that way comes out the same, item by item.

    >>> strata = LabelStrata(of=[0] * 30 + [1] * 70, side=[0, 1], guess=[[0.5, 0.5]] * 2)
    >>> replay(strata, [1.0, 0.0], batches=[2, 2], seed=7).batch.tolist()
    [0, 0, 1, 1]
    """
    known = np.asarray(values, dtype=np.float64)
    journal = DrawJournal.empty(strata.sizes, half_width=half_width)
    for number, size in enumerate(batches):
        done = journal.n_draws
        if done > known.size:
            raise InputError(f"batch {number} needs the {done} values before it, got {known.size}")
        spread = rule(journal.stratum, known[:done], len(strata))
        rng = spawn(seed, number + 1)[number]
        journal = draw_batch(strata, journal, size=size, spread=spread, rng=rng)
    return journal


def _pick(q: Floats, u: float) -> int:
    """Return the stratum that *u* falls into; rounding at the top never picks an empty one."""
    upto = np.cumsum(q)
    return int(min(np.searchsorted(upto, u * upto[-1], side="right"), np.flatnonzero(q)[-1]))


def _taken(strata: LabelStrata, journal: DrawJournal) -> list[list[int]]:
    """Return, for each stratum, the positions in it that were drawn, in rising order."""
    taken = []
    for h, (start, size) in enumerate(zip(strata.starts, strata.sizes, strict=True)):
        inside = strata.members[start : start + size]
        mine = journal.item[journal.stratum == h]
        taken.append(np.sort(np.searchsorted(inside, mine)).tolist())
    return taken


def _free(taken: list[int], rank: int) -> int:
    """Return the position of the *rank*-th one that is not taken, both from 0."""
    if not taken:
        return rank
    # Before taken[i] there are taken[i] - i free ones; one search finds how many to step over.
    before = np.asarray(taken) - np.arange(len(taken))
    return rank + int(np.searchsorted(before, rank, side="right"))
