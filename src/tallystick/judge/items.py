"""What is known of each item, and in which order to label or to check items."""

from __future__ import annotations

from typing import Any

from tallystick._rng import as_rng
from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.judge.result import JudgeResult
from tallystick.results import Result
from tallystick.tally import Tally, attach

__all__ = ["item_columns"]


def item_columns(result: Result, data: Data) -> dict[str, Any]:
    """Return the rows of *data* with what is known of each, and two orders.

    ``label_next`` numbers the unlabelled rows at random: labels for grading judges must be a random
    draw. ``check_next`` numbers them by the lowest probability or support: to correct single items,
    read these first. A row with a label keeps it, with probability 1.
    """
    if not isinstance(result, JudgeResult):
        raise InputError("this method grades no judge and says nothing about single items")
    if isinstance(data.held, Tally):
        raise InputError(
            "--items-out needs the rows, and a saved tally holds counts: give the table"
        )
    attached = attach(result, data.table)
    columns = {name: attached[name].to_pylist() for name in attached.column_names}
    level = "probability" if "probability" in result.learnt else "support"

    truth = data.roles.truth
    known = data.label_lists(truth)[truth] if truth is not None else [None] * attached.num_rows
    unlabelled = [row for row, label in enumerate(known) if label is None]
    for row, label in enumerate(known):
        if label is not None:
            columns["consensus"][row], columns[level][row] = label, 1.0

    # A random order is what the intervals from labels need: an order by doubt would bias them.
    ranks = as_rng(result.seed or 0).permutation(len(unlabelled)).tolist()
    label_next = _numbered([unlabelled[place] for place in ranks], attached.num_rows)
    doubtful = [row for row in unlabelled if columns[level][row] is not None]
    doubtful.sort(key=lambda row: float(columns[level][row]))
    check_next = _numbered(doubtful, attached.num_rows)
    return {**columns, "label_next": label_next, "check_next": check_next}


def _numbered(order: list[int], rows: int) -> list[int | None]:
    """Return the place of each row in *order*, None for the others."""
    found: list[int | None] = [None] * rows
    for rank, row in enumerate(order, start=1):
        found[row] = rank
    return found
