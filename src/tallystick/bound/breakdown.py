"""How wrong the label model may be before a claim is no longer proved."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np

from tallystick.bound.blocks import Scheme
from tallystick.bound.forward import forward
from tallystick.bound.metrics import Summary
from tallystick.bound.prepared import Prepared
from tallystick.bound.result import Bound, Breakdown
from tallystick.bound.target import BoundTarget
from tallystick.results import Unknown
from tallystick.stats.transport import agreement, breakdown

__all__ = ["breakdown_of"]

_SWEEP = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
_HALVINGS = 12


def breakdown_of(
    one: Prepared, bound: Bound, target: BoundTarget, generator: np.random.Generator
) -> Breakdown | None:
    r"""Return the δ at which the lower end, with confidence, reaches the claim; None if nothing is
    claimed.

    *bound* allows for no error of the label model: δ is the whole of it, whatever part the shown
    bounds allow for.

    An average error δ moves the ends of accuracy by exactly δ, so its breakdown is their distance;
    for ratios it is found by halving. If every pattern may be wrong by δ, it solves :math:`\sum_z
    P(z)(l_z - \delta)_+ = c` over the label model's bins, which may only make it smaller (a coarser
    z). [MP23]_, Theorem A.3, has the rate only.
    """
    if (
        target.at_least is None
        or target.metrics[0] == "risk"
        or bound.low is None
        or bound.high is None
    ):
        return None
    wanted = target.summaries(one.table)[0]
    claim = target.at_least
    seed = int(generator.integers(2**31))
    critical = NormalDist().inv_cdf(1 - target.alpha / 2)
    plain = wanted.metric in ("accuracy", "micro-f1")

    def ends(delta: float) -> tuple[float, float]:
        if plain:
            return max(0.0, (bound.low or 0.0) - delta), min(1.0, (bound.high or 1.0) + delta)
        evidence = replace(one.evidence, delta=delta)
        [(low, high)] = forward(evidence, [wanted], rng=seed, scheme=Scheme.fitting(one.table.n))
        return float(np.clip(low.edge(critical), 0, 1)), float(np.clip(high.edge(critical), 0, 1))

    sweep = tuple({"delta": d, **dict(zip(("low", "high"), ends(d), strict=True))} for d in _SWEEP)
    if plain:
        average = max(0.0, bound.low - claim)
    elif ends(0.0)[0] <= claim:
        average = 0.0
    else:
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if ends(middle)[0] > claim else (low, middle)
        average = low
    return Breakdown(
        claim=f"{wanted.metric} ≥ {claim:g}",
        on_average=average,
        in_every_pattern=_in_every_pattern(one, wanted, bound.low, claim, average),
        sweep=sweep,
    )


def _in_every_pattern(
    one: Prepared, wanted: Summary, low: float, claim: float, average: float
) -> float | Unknown:
    """Return the breakdown if every pattern may be wrong by δ, never below that *on average*.

    An error of δ in every pattern is also one of δ on average, so the claim survives whatever it
    survives on average. Only the coarser bins used here could give less.
    """
    if wanted.metric != "accuracy":
        return Unknown(f"known in closed form for accuracy, not for {wanted.metric}")
    if low <= claim:
        return 0.0
    bins = one.evidence.bins
    member = np.eye(int(bins.max()) + 1)[bins] * one.table.weight[:, None]
    size = member.sum(axis=0)
    share = (member / np.maximum(size, 1))[:, size > 0].T
    p = np.where(np.isfinite(one.p), one.p, 1 / one.p.shape[1])
    q = one.table.counts / np.maximum(one.table.weight, 1)[:, None]
    end = agreement(share @ q, share @ p).lower
    # What chance and coarsening leave between this end and the proved one is taken off the room for
    # error.
    margin = max(0.0, end.mean(size[size > 0]) - low)
    return max(average, breakdown(end, claim + margin, size[size > 0]))
