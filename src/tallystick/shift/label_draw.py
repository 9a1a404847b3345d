"""True labels on items that were not drawn at random say nothing about the others.

Where people only confirm old answers, every labelled item has a right old answer, and any other new
answer is a loss: "worse by 23 points" where nothing changed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick.data import Data
from tallystick.results import Needed
from tallystick.sampling.random_draw import OddDraw, if_drawn, odd_draw
from tallystick.shift.result import ShiftResult
from tallystick.values.label import identity, in_order

__all__ = ["label_draw", "with_label_draw"]

_MOST_LABELS = 200
"""Different answers above which they are texts and not labels."""


def label_draw(data: Data) -> OddDraw | None:
    """Return what old and new answers show of labels that were not drawn at random.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"old": ["a", "b"] * 50, "new": ["a", "b"] * 50, "y": ["a", None] * 50}
    >>> label_draw(read(table, truth="y", old="old", new="new")).columns
    ('old',)
    """
    roles = data.roles
    columns = [name for name in (roles.old, roles.new) if name is not None]
    if roles.truth is None or not columns or data.session is not None:
        return None
    cells = data.cells(*columns, roles.truth)
    labels = in_order({one for name in columns for one in cells[name] if one is not None})
    if len(labels) > _MOST_LABELS:
        return None
    place = {identity(label): code for code, label in enumerate(labels)}
    codes = [[-1 if one is None else place[identity(one)] for one in cells[n]] for n in columns]
    return odd_draw(
        np.array(codes, dtype=np.int64).T,
        np.ones(len(codes[0])),
        np.array([label is not None for label in cells[roles.truth]], dtype=bool),
        columns=columns,
        labels=[str(label) for label in labels],
    )


def with_label_draw(result: ShiftResult, found: OddDraw | None) -> ShiftResult:
    """Return the result; if the labels are no random draw they decide nothing, and it says so.

    Gates stay open, too: all of them count labelled items only.
    """
    if found is None:
        return result
    first = "The labels decide nothing, because they were not drawn at random."
    why = "but the labels were not drawn at random"
    return replace(
        result,
        verdict=f"{first} {if_drawn(result.verdict)}",
        decision="undecided",
        needed=Needed(None, "labels on items drawn at random"),
        gates=tuple(
            gate if gate.passed is None else replace(gate, passed=None, text=f"{gate.text}, {why}")
            for gate in result.gates
        ),
        warnings=(found.warning, *result.warnings),
    )
