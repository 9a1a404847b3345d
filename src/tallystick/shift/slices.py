"""How the API changed on a part of the items, from the calls of the whole run."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError, NotIdentifiable
from tallystick.sampling import Strata
from tallystick.shift.assess import Answers, assess
from tallystick.shift.noise_shares import AnswersAre
from tallystick.shift.result import ShiftResult

__all__ = ["part_of"]


def part_of(result: ShiftResult, chosen: ArrayLike, *, alpha: float = 0.05) -> ShiftResult:
    """Assess the *chosen* items alone, by the answers to those of them that were asked.

    Given how many of a stratum's chosen items were asked, they are a random draw from all of its
    chosen items, as the whole is from the stratum: so the part is assessed by the same estimator on
    the part of each stratum. No call is made, and a part in which fewer than two items were asked
    is refused.

    Parameters
    ----------
    result
        What :func:`~tallystick.shift.run` or :func:`~tallystick.shift.assess` returned, with old
        answers by item.
    chosen
        One boolean per item.
    alpha
        One minus the level; divide it by the number of parts that you look at.

    Examples
    --------
    >>> from tallystick.shift import Items
    >>> items = Items.of(["a"] * 60 + ["b"] * 40, old=["a"] * 100)
    >>> asked = np.arange(0, 100, 2)
    >>> whole = assess(items, Strata([0] * 100), Answers.of(asked, np.where(asked < 60, 0, 1)))
    >>> part_of(whole, items.truth == 1).accuracy_change.estimate, part_of(whole, items.truth == 0).n_items
    (1.0, 30)
    """
    if result.evidence is None:
        raise InputError(
            "this result does not hold the answers that it was made from: pass what run or assess"
            " returned"
        )
    items, strata, answers = result.evidence
    keep = np.asarray(chosen)
    if keep.dtype != bool or keep.shape != (len(items),):
        raise InputError(
            f"chosen must hold one boolean for each of the {len(items)} items, got {keep.dtype}"
            f" {keep.shape}"
        )
    if items.old is None:
        raise InputError(
            "a part needs the old answer to every item (old=…): a matrix of the past says nothing"
            " about parts"
        )
    mine = keep[answers.asked]
    if mine.sum() < 2:
        raise NotIdentifiable(
            f"{int(mine.sum())} of its {int(keep.sum())} items were asked: too few to say anything"
        )
    place = np.cumsum(keep) - 1
    present, of = np.unique(strata.of[keep], return_inverse=True)
    family = (
        None if strata.family is None else np.unique(strata.family[present], return_inverse=True)[1]
    )
    asked = Answers.of(
        place[answers.asked[mine]],
        answers.codes[mine],
        blind=None if answers.blind is None else answers.blind[mine],
        unclear=None if answers.unclear is None else answers.unclear[mine],
        again={
            int(place[item]): int(code)
            for item, code in zip(answers.repeated, answers.second, strict=True)
            if keep[item]
        },
    )
    return assess(
        items.part(np.flatnonzero(keep)),
        Strata(of, family=family),
        asked,
        strategy=result.strategy,
        alpha=alpha,
        simultaneous=result.simultaneous,
        seed=result.seed,
        answers_are=_kind(result),
    )


def _kind(result: ShiftResult) -> AnswersAre:
    """Return what is known of the API's randomness, as the whole result has it."""
    kind = "random" if result.noise is None else result.noise.answers_are
    return cast(AnswersAre, kind)
