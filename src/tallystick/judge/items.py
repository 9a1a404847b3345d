"""What was learnt of each item, and a random order in which to label what is not labelled."""

from __future__ import annotations

from typing import Any

from tallystick._rng import as_rng
from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.judge.result import JudgeResult
from tallystick.results import Result
from tallystick.tally import attach

__all__ = ["item_columns"]


def item_columns(result: Result, data: Data) -> dict[str, Any]:
    """Return the rows of *data* with consensus and probability, and the order of labelling."""
    if not isinstance(result, JudgeResult):
        raise InputError("this method grades no judge and says nothing of single items")
    attached = attach(result, data.table)
    columns = {name: attached[name].to_pylist() for name in attached.column_names}

    # A random order is what the intervals from labels need: an order by doubt would bias them.
    truth = data.roles.truth
    known = data.label_lists(truth)[truth] if truth is not None else [None] * attached.num_rows
    unlabelled = [row for row, label in enumerate(known) if label is None]
    order: list[int | None] = [None] * attached.num_rows
    ranks = as_rng(result.seed or 0).permutation(len(unlabelled)).tolist()
    for rank, place in enumerate(ranks, start=1):
        order[unlabelled[place]] = rank
    return {**columns, "label_order": order}
