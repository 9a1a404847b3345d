"""What was learnt of each output: the probability that it passes, and which to grade next."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick._rng import as_rng
from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.results import Result
from tallystick.score.consensus import consensus
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.reading import read_outputs
from tallystick.score.result import ScoreResult
from tallystick.score.systems import system_strata

__all__ = ["item_columns", "pass_probability"]

LEAST = 20
"""Human grades from which probabilities are calibrated."""

PSEUDO = 10.0
"""Labels' worth of trust in the consensus, per system and stratum (U9)."""


def item_columns(result: Result, data: Data) -> dict[str, Any]:
    """Return the rows of *data* with what was learnt of each output.

    ``consensus`` is the judges' view (pass, fail, or a number), ``probability`` the calibrated
    probability of a pass (``support``, below 20 human grades, the judges' own), and ``label_next``
    the order in which to grade outputs: random items, all systems of an item together.
    """
    if not isinstance(result, ScoreResult):
        raise InputError("items are written for one criterion at a time: filter the table first")
    if len(data.roles.systems) == 2:
        raise InputError("items are not written for preferences: use --json")
    outputs = read_outputs(
        data, scale=result.scale, judge_scale=result.judge_scale, turned=result.turned
    )
    values = consensus(outputs)
    kept = [name for name in data.table.columns if name not in ("consensus", "label_next")]
    columns: dict[str, Any] = {**data.cells(*kept)}
    if outputs.pass_fail:
        columns["consensus"] = ["pass" if value > 0.5 else "fail" for value in values]
        name = "probability" if outputs.n_labels >= LEAST else "support"
        columns[name] = pass_probability(outputs, values).round(4).tolist()
    else:
        low, high = result.scale or (0.0, 1.0)
        columns["consensus"] = (low + (high - low) * values).round(4).tolist()
        columns["expected"] = (low + (high - low) * _corrected(outputs, values)).round(4).tolist()
    columns["label_next"] = _order(outputs, result.seed or 0)
    return columns


def pass_probability(outputs: Outputs, values: Floats) -> Floats:
    r"""Return the probability that each output passes, calibrated per system and stratum.

    The consensus is a model's posterior and may be far off, and off by another amount for every
    system. In stratum h of system s, with k labels,

    .. math:: p_i = c_i + \frac{\sum (y - c)}{k + 10},   \tag{SC5}

    clipped to [.005, .995]. A graded output keeps its grade. Below 20 labels the consensus stays.
    """
    return np.where(outputs.known, np.nan_to_num(outputs.truth), _corrected(outputs, values))


def _corrected(outputs: Outputs, values: Floats) -> Floats:
    if outputs.n_labels < LEAST:
        return values
    cell = outputs.system * 3 + system_strata(outputs, values)
    known = outputs.known
    gap = np.where(known, np.nan_to_num(outputs.truth) - values, 0.0) * outputs.counts
    size = int(cell.max()) + 1
    total = np.bincount(cell, weights=gap, minlength=size)
    labels = np.bincount(cell, weights=known * outputs.counts, minlength=size)
    moved = values + (total / (labels + PSEUDO))[cell]  # (SC5)
    return np.asarray(np.clip(moved, 0.005, 0.995))


def _order(outputs: Outputs, seed: int) -> list[int | None]:
    """Return the order of grading; items in random order, an item's systems one after the other.

    A random order is what the intervals need: an order by doubt would bias them.
    """
    draw = as_rng(seed)
    if outputs.item is None:
        keys: tuple[Floats, ...] = (draw.permutation(len(outputs.counts)).astype(np.float64),)
    else:
        items, where = np.unique(outputs.item, return_inverse=True)
        place = draw.permutation(len(items))[where.ravel()].astype(np.float64)
        keys = (outputs.system.astype(np.float64), place)
    order: list[int | None] = [None] * len(outputs.counts)
    rank_now = 0
    for row in np.lexsort(keys):
        if not outputs.known[row]:
            rank_now += 1
            order[int(row)] = rank_now
    return order
