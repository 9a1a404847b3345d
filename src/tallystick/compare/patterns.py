"""Right/wrong scores counted as patterns in the engine: memory does not grow with rows.

Up to 20 models of 0/1 scores have at most as many patterns as matter, and all that a comparison of
independent items reads are sums and products of scores. Both follow from the counts of patterns,
exactly, so the answer is the one that the rows would give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng
from tallystick.compare.in_common import who_costs_items
from tallystick.compare.ranking import leaderboard
from tallystick.compare.settings import Settings
from tallystick.compare.shared_labels import no_shared_label
from tallystick.compare.verdict import left_out_warning, with_left_out
from tallystick.data import Data
from tallystick.data.frames import first_repeat_in, lazily
from tallystick.io import Table, identifier
from tallystick.io.logs.log import Loss
from tallystick.results import PatternTable
from tallystick.tally import Moments, Tally
from tallystick.values import Label, as_pass_fail

if TYPE_CHECKING:
    from tallystick.compare.result import CompareResult

__all__ = ["CountedScores", "counted_moments", "rank_counted"]

MOST_MODELS = 20
"""Models up to which patterns of 0/1 scores are counted."""
_GLANCE, _MOST_VALUES = 10_000, 6
"""Rows that are looked at, and different values there: 0 and 1 as numbers, booleans and words."""
FROM_ROWS = 200_000
"""Rows from which counting in the engine is worth it."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class CountedScores:
    """Scores as counts of patterns.

    Parameters
    ----------
    moments
        Sums and products, as the rows would give them.
    tally
        The patterns, by which items find their mean score.
    mean_score
        Mean score over the models, by pattern; NaN where a model has none.
    notes
        What was left out.
    lost
        Items that are left out because a model gave no answer there.
    """

    moments: Moments
    tally: Tally
    mean_score: Floats
    notes: tuple[str, ...] = ()
    lost: int = 0


def counted_moments(
    data: Data,
    *,
    bounds: tuple[float, float] | None = None,
    from_rows: int = FROM_ROWS,
) -> CountedScores | None:
    """Count *data* in its engine; None where rows are needed.

    Rows are needed for clusters, weights, replicates, blank truths, more than 20 models and scores
    other than 0 and 1. Small tables are read row by row too.

    Parameters
    ----------
    data
        What was read.
    bounds
        Bounds that the caller declared: only (0, 1) fits right/wrong scores.
    from_rows
        The rows from which patterns are counted.
    """
    roles = data.roles
    apart = roles.cluster or roles.weight or roles.replicate
    if apart or len(roles.models) > MOST_MODELS or bounds not in (None, (0.0, 1.0)):
        return None
    # Rows of another engine stay there; rows at hand are counted where that is faster.
    if isinstance(data.held, Table) and data.n_rows < from_rows:
        return None
    if roles.item is not None and not isinstance(data.held, Tally) and _items_repeat(data):
        return None
    if roles.truth is None and not isinstance(data.held, Tally) and not _few_values(data):
        return None
    tally = data.tally("models", *(("truth",) if roles.truth else ()))
    scores = _scores(tally, roles.models, roles.truth)
    return None if scores is None else _counted(tally, scores, roles.models, data)


def rank_counted(
    counted: CountedScores, *, settings: Settings | None = None, rng: Rng = 0
) -> CompareResult:
    """Rank models from counts of patterns: the same answer as from the rows."""
    chosen = settings or Settings()
    result = leaderboard(counted.moments, settings=replace(chosen, bounds=(0.0, 1.0)), rng=rng)
    result = with_left_out(result, counted.lost)
    mean = [None if np.isnan(one) else float(one) for one in counted.mean_score]
    learnt = PatternTable(counted.tally, {"mean_score": mean})
    return replace(result, warnings=(*counted.notes, *result.warnings), learnt=learnt)


def _few_values(data: Data) -> bool:
    """Say whether every column of scores starts with few values, so that patterns are few."""
    if data.in_engine:
        head = lazily(data.held).select(*data.roles.models).head(_GLANCE).collect()
        return max(int(head[name].n_unique()) for name in data.roles.models) <= _MOST_VALUES
    counts = ", ".join(f"count(distinct {identifier(name)})" for name in data.roles.models)
    [row] = data.table.query(f"select {counts} from (select * from rows limit {_GLANCE})")
    return bool(max(row) <= _MOST_VALUES)


def _items_repeat(data: Data) -> bool:
    item = str(data.roles.item)
    if data.in_engine:
        return first_repeat_in(data.held, item) is not None
    return data.table.repeats(item)


def _scores(tally: Tally, models: tuple[str, ...], truth: str | None) -> Floats | None:
    """Return the score of each pattern and model, NaN for none; None where they are not 0/1."""
    if truth is not None:
        true = tally.column(truth)
        if any(label is None for label in true):
            return None
        columns = [
            [
                np.nan if said is None else float(said == right)
                for said, right in zip(tally.column(name), true, strict=True)
            ]
            for name in models
        ]
        return np.array(columns).T
    found = []
    for name in models:
        values = _as_numbers(tally.column(name))
        if values is None:
            return None
        found.append(values)
    return np.stack(found, axis=1)


def _as_numbers(labels: list[Label]) -> Floats | None:
    """Return labels as 0 and 1, NaN for none; None if they are anything else."""
    words = {label for label in labels if isinstance(label, str)}
    marks = as_pass_fail([label for label in labels if label is not None])
    values = np.full(len(labels), np.nan)
    for place, label in enumerate(labels):
        if label is None:
            continue
        if marks is not None:
            values[place] = marks[label]
        elif words:
            try:
                values[place] = float(str(label))
            except ValueError:
                return None
        else:
            values[place] = float(label)
    known = values[~np.isnan(values)]
    return values if np.isin(known, (0.0, 1.0)).all() else None


def _counted(
    tally: Tally, scores: Floats, models: tuple[str, ...], data: Data
) -> CountedScores | None:
    """Sum the patterns in which every model has a score, and say how many items are left out."""
    counts = np.asarray(tally.counts, dtype=float)
    whole = ~np.isnan(scores).any(axis=1)
    if not whole.any():
        return None  # the rows say why
    moments = Moments.of_patterns(scores[whole], counts[whole], models)
    notes = [str(note) for note in data.notes if isinstance(note, Loss)]
    if data.roles.truth is not None:
        given = {name: tally.labels[name] for name in models}
        notes += no_shared_label(data.roles.truth, tally.labels[data.roles.truth], given)
    lost = int(counts[~whole].sum())
    if lost:
        lacking = (np.isnan(scores) * counts[:, None]).sum(axis=0)
        worst = int(np.argmax(lacking))
        notes.append(
            left_out_warning(
                lost,
                int(counts.sum()),
                most=models[worst],
                lacks=int(lacking[worst]),
                instead=who_costs_items(models, ~np.isnan(scores), counts),
            )
        )
    with np.errstate(invalid="ignore"):
        mean = np.where(whole, scores.mean(axis=1), np.nan)
    return CountedScores(
        moments=moments, tally=tally, mean_score=mean, notes=tuple(notes), lost=lost
    )
