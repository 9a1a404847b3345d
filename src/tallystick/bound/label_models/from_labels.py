"""P(Y | Z) from labelled rows: the "oracle" of the paper, smoothed."""

from __future__ import annotations

import numpy as np

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.label_models.majority import leading
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.weak_votes import WeakTable
from tallystick.errors import InputError

__all__ = ["from_labels", "most_active"]

_GROUP_PRIOR = 2.0


def from_labels(table: WeakTable, *, strength: float = 1.0) -> LabelModel:
    r"""Take the labels of the rows that show a pattern, drawn to those of all rows with the same
    leading vote.

    .. math:: p_g = \frac{G_g + 2\,p}{m_g + 2}, \qquad p_z = \frac{G_z + s\,p_{g(z)}}{m_z + s}

    with labelled rows G of pattern z, of the group g (the class with most votes, or none) and of
    all, and *strength* s. A pattern that no label was seen for has the law of its group.
    """
    gold = table.gold_labels
    if gold is None:
        raise InputError(
            "a label model from labels needs a column of truth: name it (--truth), or choose"
            " another model"
        )
    size = len(table.classes)
    overall = (gold.sum(axis=0) + 1 / size) / (gold.sum() + 1)
    group = leading(table.votes, size)
    by_group = np.stack([gold[group == g].sum(axis=0) for g in range(size + 1)])
    laws = (by_group + _GROUP_PRIOR * overall) / (
        by_group.sum(axis=1, keepdims=True) + _GROUP_PRIOR
    )
    seen = {row.tobytes(): z for z, row in enumerate(table.votes)}
    own = (gold + strength * laws[group]) / (gold.sum(axis=1, keepdims=True) + strength)

    def predict(votes: IntArray) -> FloatArray:
        out = np.array(laws[leading(votes, size)])
        for i, row in enumerate(votes):
            z = seen.get(row.tobytes())
            if z is not None:
                out[i] = own[z]
        return out

    return LabelModel(
        name="labels",
        classes=table.classes,
        weak=table.weak,
        predict=predict,
        rests_on=f"the {int(gold.sum()):,} labelled rows are a random sample",
        labelled=(table.votes, gold),
    )


def most_active(table: WeakTable, most: int = 10) -> tuple[str, ...]:
    """Return the weak labels that vote on most rows: the paper's truncation, without which patterns
    are too many.

    [MP23]_, section 4.1, keeps ten; it does not say which.
    """
    active = ((table.votes >= 0) * table.weight[:, None]).sum(axis=0)
    kept = np.sort(np.argsort(-active, kind="stable")[:most])
    return tuple(table.weak[int(j)] for j in kept)
