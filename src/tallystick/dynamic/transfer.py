r"""Does an item that fooled one model fool others? Error rates of models outside the loop.

The model in the loop is wrong on its own round's items by design: they were kept for that. Only the
other models' rate on those items is informative,

.. math:: \text{transfer} = \frac{\text{validated items of the round that another model gets wrong}}
          {\text{validated items of the round that it answered}}  \tag{T1}

with the interval of :mod:`tallystick.dynamic.clustered_rate`, because one annotator's items are
alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tallystick.dynamic.attempts import Attempts
from tallystick.dynamic.clustered_rate import ClusteredRate, clustered_rate
from tallystick.dynamic.population import Array
from tallystick.errors import InputError
from tallystick.results import Unknown

__all__ = ["TransferRate", "transfer"]


@dataclass(frozen=True, kw_only=True)
class TransferRate:
    """How often a round's validated items fool a model that was not in its loop.

    Parameters
    ----------
    rate
        The share (T1) with its interval, or the reason why there is none.
    """

    round: Any
    model: str
    rate: ClusteredRate | Unknown


def transfer(
    log: Attempts, wrong: Mapping[str, Array], *, alpha: float = 0.05
) -> tuple[TransferRate, ...]:
    """Return the error rate of every model on the rounds that were not collected against it.

    Parameters
    ----------
    log
        Needs *model*, so that the models in the loop are left out of their own rounds.
    wrong
        Model to one entry per attempt: 1 wrong, 0 right, anything else (NaN, -1) not answered.

    Examples
    --------
    >>> log = Attempts(
    ...     annotator=np.array([1, 1, 2, 2]), round=np.array([1, 1, 1, 1]), fooled=np.ones(4),
    ...     model=np.array(["a"] * 4), valid=np.array([True] * 4),
    ... )
    >>> (only,) = transfer(log, {"a": np.ones(4), "b": np.array([1, 0, 0, 0])})
    >>> only.model, only.rate.rate
    ('b', 0.25)
    """
    if log.model is None:
        raise InputError("the log does not name the model in the loop: transfer needs that column")
    for name, answers in wrong.items():
        if np.asarray(answers).shape != (log.size,):
            raise InputError(f"wrong[{name!r}] needs one entry per attempt, {log.size}")

    out = []
    for number in log.rounds:
        here = log.within(number)
        in_loop = set(map(str, np.unique(log.model[here])))
        for name, answers in wrong.items():
            if str(name) in in_loop:
                continue
            known = here & log.success & np.isin(answers, (0, 1))
            if not known.any():
                rate: ClusteredRate | Unknown = Unknown(
                    "it answered no validated item of the round"
                )
            else:
                failed = log.per_annotator(known, np.asarray(answers) == 1)
                rate = clustered_rate(failed, log.per_annotator(known), alpha=alpha)
            out.append(TransferRate(round=log.name_of(number), model=str(name), rate=rate))
    return tuple(out)
