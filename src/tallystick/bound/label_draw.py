"""Labelled rows that were not drawn at random decide nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from tallystick.bound.result import BoundResult
from tallystick.bound.selection import SelectResult
from tallystick.results import Needed, Sentences
from tallystick.sampling.random_draw import OddDraw, if_drawn, odd_draw
from tallystick.tally import Tally
from tallystick.values.label import identity, in_order

__all__ = ["draw_of", "with_draw"]

Answer = TypeVar("Answer", bound=BoundResult | SelectResult)


def draw_of(tally: Tally, columns: Sequence[str], truth: str | None) -> OddDraw | None:
    """Return what the weak labels and predictions show of a draw that was not random.

    >>> rows = {"h": [1] * 50 + [0] * 50, "w": [0, 1] * 50, "y": [1] * 30 + [None] * 70}
    >>> draw_of(Tally.of(rows), ["h", "w"], "y").columns
    ('h',)
    """
    if truth is None or truth not in tally.names:
        return None
    # One list of labels for all columns, so that equal codes mean equal labels.
    labels = in_order(
        label for name in columns for label in tally.labels[name] if label is not None
    )
    place = {identity(label): code for code, label in enumerate(labels)}
    said = [tally.column(name) for name in columns]
    codes = [
        [-1 if label is None else place[identity(label)] for label in column] for column in said
    ]
    return odd_draw(
        np.array(codes, dtype=np.int64).T,
        np.asarray(tally.counts, dtype=np.float64),
        np.array([label is not None for label in tally.column(truth)], dtype=bool),
        columns=columns,
        labels=[str(label) for label in labels],
    )


def with_draw(result: Answer, found: OddDraw | None) -> Answer:
    """Return the result; labels that were not drawn at random decide nothing, and it says so."""
    if found is None:
        return result
    first = "The labels decide nothing, because they were not drawn at random."
    return replace(
        result,
        verdict=f"{first} {if_drawn(result.verdict)}",
        sentences=Sentences(answer=first, open=if_drawn(result.verdict)),
        decision="undecided",
        needed=Needed(None, "labels on rows drawn at random"),
        warnings=(found.warning, *result.warnings),
    )
