"""Whether annotators differ in how well they fool the model, or were lucky."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.attempts import Attempts
from tallystick.errors import InputError
from tallystick.results import Unknown

__all__ = ["AnnotatorEffects", "annotator_effects"]


@dataclass(frozen=True, kw_only=True)
class AnnotatorEffects:
    """Whether annotators differ more than luck explains.

    Parameters
    ----------
    dispersion
        Mean squared distance of the annotators' rates from the round's, 1 if they are alike (B2).
    p_value
        By dealing the successes out to the attempts at random.
    half_made_by
        The fewest annotators who made half of all successes; None without any.
    """

    annotators: int
    dispersion: float | Unknown
    p_value: float | Unknown
    half_made_by: int | None


def annotator_effects(
    log: Attempts, number: Any, *, rng: Rng, permutations: int = 999
) -> AnnotatorEffects:
    r"""Test whether some annotators fool the model more often than others.

    .. math:: \frac1{G-1} \sum_a \frac{(x_a - \theta n_a)^2}{n_a\, \theta(1-\theta)}  \tag{B2}

    Parameters
    ----------
    number
        The round.
    permutations, rng
        Draws of the null, in which successes fall on attempts at random.

    Examples
    --------
    >>> who = np.repeat(["ann", "bob"], 20)
    >>> log = Attempts(annotator=who, round=np.ones(40, int), fooled=who == "ann")
    >>> found = annotator_effects(log, 1, rng=0)
    >>> found.p_value, found.half_made_by
    (0.001, 1)
    """
    if permutations < 19:
        raise InputError(f"permutations must be at least 19, got {permutations!r}")
    here = log.within(number)
    tried, won = log.per_annotator(here), log.per_annotator(here, log.success)
    total = int(won.sum())
    half = int(np.searchsorted(np.cumsum(np.sort(won)[::-1]), total / 2)) + 1 if total else None
    if tried.size < 2 or total in (0, int(tried.sum())):
        none = Unknown("it needs two annotators, and attempts of both outcomes")
        return AnnotatorEffects(
            annotators=tried.size, dispersion=none, p_value=none, half_made_by=half
        )

    rate = total / tried.sum()
    scale = tried * rate * (1 - rate) * (tried.size - 1)
    drawn = as_rng(rng).multivariate_hypergeometric(tried.astype(int), total, permutations)
    null = ((drawn - rate * tried) ** 2 / scale).sum(axis=1)
    seen = float(((won - rate * tried) ** 2 / scale).sum())  # (B2)
    return AnnotatorEffects(
        annotators=tried.size,
        dispersion=seen,
        p_value=float((1 + (null >= seen * (1 - 1e-12)).sum()) / (1 + permutations)),
        half_made_by=half,
    )
