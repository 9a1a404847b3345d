r"""The forward dual for any cost g(atom, y): risk under a cost matrix, and the difference of two
classifiers.

As :mod:`~tallystick.bound.forward`, with potentials from the closed forms or linear programmes of
:mod:`~tallystick.stats.transport` in the place of its choices m: a row counts :math:`\max_y (g_{iy}
+ a_{zy}) - \sum_y p_{zy} a_{zy}`, and a labelled row rectifies it by :math:`\sum_y p_{zy} a_{zy} -
a_{zY}`. If P(Y | Z) may be wrong by δ on average, all of the error may lie where it counts most: an
end moves by :math:`\delta \max_z (\max_y a_{zy} - \min_y a_{zy})`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.bound.blocks import FloatArray, IntArray, Scheme, earlier, known_rows, shrunk, split
from tallystick.bound.forward import Evidence, ForwardEnd
from tallystick.errors import InputError
from tallystick.stats.transport import Side, pair_difference, programme, row_values, two_labels

_OWN_ROWS = 50
"""Earlier rows from which a pattern has potentials of its own."""
_OWN_PROGRAMMES = 900
"""Patterns, counted once per block, that have potentials of their own at most."""

__all__ = ["Learner", "cost_ends", "cost_learner", "pair_learner"]

Learner: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray, IntArray, Side], FloatArray]
"""From q (patterns, atoms), p, rows seen per pattern, bins and a side to potentials (patterns,
labels)."""


def pair_learner(
    q: FloatArray, p: FloatArray, weight: FloatArray, bins: IntArray, side: Side
) -> FloatArray:
    """Return the potentials of the difference of two classifiers, whose atoms are pairs of
    classes.
    """
    del weight, bins
    size = p.shape[1]
    bounds = pair_difference(q.reshape(len(q), size, size), p)
    return (bounds.upper if side == "upper" else bounds.lower).potentials


def cost_learner(cost: FloatArray) -> Learner:
    """Return the learner of a cost matrix: closed form for two classes, linear programmes beyond.

    With three classes or more a pattern with enough rows has potentials of its own, since the
    bound is sharp only with those; the others share the potentials of their bin. The most frequent
    patterns come first, so that the programme stays small.
    """

    def learn(
        q: FloatArray, p: FloatArray, weight: FloatArray, bins: IntArray, side: Side
    ) -> FloatArray:
        if p.shape[1] == 2:
            bounds = two_labels(q, p, cost)
            return (bounds.upper if side == "upper" else bounds.lower).potentials
        share = np.maximum(weight, 1e-9)
        member = np.eye(int(bins.max()) + 1)[bins] * share[:, None]
        member /= member.sum(axis=0)
        of_bin = programme(member.T @ q, member.T @ p, cost, side=side).potentials
        out = np.asarray(of_bin[bins])

        # A pattern with few rows would only fit their noise. Any potentials are valid.
        order = np.argsort(-weight, kind="stable")[:_OWN_PROGRAMMES]
        own = order[weight[order] >= _OWN_ROWS]
        if own.size:
            out[own] = programme(q[own], p[own], cost, side=side).potentials
        return out

    return learn


def cost_ends(
    evidence: Evidence, cost: FloatArray, learn: Learner, *, rng: Rng, scheme: Scheme
) -> tuple[ForwardEnd, ForwardEnd]:
    """Return the lower and the upper end of E[g], averaged over random orders."""
    generator = as_rng(rng)
    found: dict[Side, list[tuple[float, float]]] = {"lower": [], "upper": []}
    for _ in range(scheme.orders):
        parts = split(evidence.counts, scheme.blocks, rng=generator)
        if evidence.view is not None:
            parts = evidence.view(parts)
        weight = earlier(parts).sum(axis=2).astype(np.float64)
        gold = None if evidence.gold is None else split(evidence.gold, scheme.blocks, rng=generator)
        q = shrunk(earlier(parts), evidence.bins)
        p, known = _laws(evidence, gold, len(q))
        for side in found:
            a = _learnt(learn, q, p, weight, evidence.bins, side)
            found[side].append(_one_order(evidence, p, cost, a * known[:, None], parts, gold, side))
    ends = [ForwardEnd(side, *np.mean(pairs, axis=0)) for side, pairs in found.items()]
    return ends[0], ends[1]


def _learnt(
    learn: Learner, q: FloatArray, p: FloatArray, weight: FloatArray, bins: IntArray, side: Side
) -> FloatArray:
    """Return the potentials of every block, (blocks, patterns, labels): blocks are but more
    patterns, in bins apart.
    """
    blocks = len(q)
    apart = bins + (int(bins.max()) + 1) * np.arange(blocks)[:, None]
    a = learn(_flat(q), _flat(p), weight.reshape(-1), apart.reshape(-1), side)
    return a.reshape(p.shape)


def _flat(table: FloatArray) -> FloatArray:
    return table.reshape(-1, table.shape[-1])


def _laws(evidence: Evidence, gold: IntArray | None, blocks: int) -> tuple[FloatArray, FloatArray]:
    """Return P(Y | z) for every block but the first, and 0 for the patterns of which nothing is
    known.
    """
    if evidence.p is None:
        if gold is None:
            raise InputError(
                "evidence without p needs gold: P(Y | z) is then learnt from labelled rows"
            )
        return shrunk(earlier(gold), evidence.bins), np.ones(len(evidence.bins))
    known = known_rows(evidence.p)
    p = np.where(known[:, None], evidence.p, 1 / evidence.p.shape[1])
    return np.broadcast_to(p, (blocks, *p.shape)), known.astype(np.float64)


def _one_order(
    evidence: Evidence,
    p: FloatArray,
    cost: FloatArray,
    potentials: FloatArray,
    parts: IntArray,
    gold: IntArray | None,
    side: Side,
) -> tuple[float, float]:
    rows = parts[1:].astype(np.float64)
    values = row_values(_flat(p), cost, _flat(potentials), side=side).reshape(rows.shape)
    n = rows.sum()
    mean = float((rows * values).sum() / n)
    variance = float((rows * values**2).sum() / n - mean**2) / n
    if evidence.doubt is not None:
        doubt = evidence.doubt
        direction = -(rows.sum(axis=2)[..., None] * potentials).sum(axis=0) / n
        gradient = doubt.information.posterior_gradient(doubt.codes, direction)
        spread = doubt.information.covariance @ gradient
        own = float(gradient @ spread)
        if doubt.same_rows:
            influence = (doubt.information.scores @ spread)[:, None]
            variance = float(
                (rows * ((values - mean) / n + influence) ** 2).sum()
                + (parts[0] * influence**2).sum()
            )
        variance += own
    if gold is not None:
        later = gold[1:].astype(np.float64)
        m = max(float(later.sum()), 1.0)
        missed = (p * potentials).sum(axis=-1, keepdims=True) - potentials
        shift = float((later * missed).sum() / m)
        seen = later.sum(axis=-1, keepdims=True) > 0
        largest = float(np.abs(missed * seen).max())
        variance += (float((later * missed**2).sum()) - m * shift**2 + largest**2) / m**2
        mean += shift
    # of every block: the most that a unit of error is worth in it
    reach = np.ptp(potentials, axis=-1).max(axis=-1)
    wrong = evidence.delta * float(rows.sum(axis=(1, 2)) @ reach / n)
    return mean + (wrong if side == "upper" else -wrong), float(np.sqrt(max(variance, 0.0)))
