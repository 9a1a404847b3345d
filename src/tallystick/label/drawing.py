"""The next batch: which items a person should label now."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import spawn
from tallystick.data.session import Session
from tallystick.label.row_cells import RowCells
from tallystick.label.standing import Standing
from tallystick.results import Json
from tallystick.sampling.labels import DrawJournal, contested_draws, draw_batch
from tallystick.sampling.labels.answers import journal_of, measured
from tallystick.sampling.labels.consensus import Floats, Ints
from tallystick.sampling.labels.journal import drawing_probabilities
from tallystick.sampling.labels.readers import LEAST_TWICE
from tallystick.sampling.labels.task import LabelTask

__all__ = ["batch_event", "batches_of_labels", "drawn_event"]

LEARN_EVERY = 10
"""Labels that were there are read in batches of this size, so that guesses learn on the way."""


def drawn_event(
    session: Session, task: LabelTask, where: Standing, cells: RowCells, size: int
) -> dict[str, Json]:
    """Draw *size* further units and return the line that records them."""
    number = len(session.batches)
    rng = spawn(session.head.seed, number + 1)[number]
    if task.claim == "best-of":
        assert where.best is not None
        units = contested_draws(where.best, size=size, rng=rng)
        spread = np.ones(len(task.strata))
        if task.rows.shape[1] > 1:
            # Only the outputs of systems that may still be the best are worth a label.
            task = replace(task, rows=task.rows[:, where.best.live])
        return batch_event(session, task, cells, units=units, spread=spread, q=None)
    journal = journal_of(session, task.strata)
    spread = _spread(task, where, journal)
    after = draw_batch(task.strata, journal, size=size, spread=spread, rng=rng)
    new = slice(journal.n_draws, None)
    return batch_event(session, task, cells, units=after.item[new], spread=spread, q=after.q[new])


def _spread(task: LabelTask, where: Standing, journal: DrawJournal) -> Floats:
    """Return one spread per stratum from the answers that were read; skips teach nothing."""
    read = where.read
    known = ~read.skipped
    stratum = journal.stratum[: read.n][known]
    if task.rule is None:
        values = read.answers[known, 0, 0]
    else:
        values = measured(read, task.measures[0])[0][known]
    return task.spread(stratum, values, len(task.strata))


def batch_event(
    session: Session,
    task: LabelTask,
    cells: RowCells,
    *,
    units: Ints,
    spread: Floats,
    q: Floats | None,
) -> dict[str, Json]:
    """Return the line of one batch.

    The second reader reads as many as make max(20, a tenth of all) with those before, taken from
    the batch at random.
    """
    strata = task.strata.of[units]
    draws: list[Json] = [
        [int(unit), int(h), None if q is None else float(q[k])]
        for k, (unit, h) in enumerate(zip(units, strata, strict=True))
    ]
    cells.fetch(task.rows[units].ravel().tolist())
    asks: list[Json] = [
        [k, int(row), *cells.name(int(row))]
        for k, unit in enumerate(units)
        for row in task.rows[unit]
    ]
    event: dict[str, Json] = {
        "batch": session.n_draws,
        "spread": [float(s) for s in spread],
        "draws": draws,
        "asks": asks,
    }
    if len(session.head.readers) > 1:
        marked = sum(ask.twice for ask in session.asks)
        wanted = max(LEAST_TWICE, -(-(len(session.asks) + len(asks)) // 10)) - marked
        rng = spawn(session.head.seed + 1, len(session.batches) + 1)[-1]
        count = int(np.clip(wanted, 0, len(asks)))
        event["twice"] = sorted(rng.choice(len(asks), size=count, replace=False).tolist())
    return event


def batches_of_labels(
    session: Session, task: LabelTask, cells: RowCells, units: Ints, among: NDArray[np.bool_] | None
) -> list[dict[str, Json]]:
    """Return labels that were drawn at random before, as the first batches of a session.

    Their order is not known, so a random one is drawn. *among* flags the strata that they were
    drawn from, where these are not all.
    """
    order = spawn(session.head.seed + 2, 1)[0].permutation(units)
    spread = np.ones(len(task.strata))
    if among is not None:
        spread = among.astype(np.float64)
    left = task.strata.sizes.astype(np.int64).copy()
    cells.fetch(task.rows[units].ravel().tolist())  # one scan for all of them
    # Models that have left a contest change what it is drawn from, so these labels are one batch:
    # they were drawn before anybody could leave.
    models = task.claim == "best-of" and task.passing is None
    size = max(order.size, 1) if models else LEARN_EVERY
    events = []
    for start in range(0, order.size, size):
        part = order[start : start + size]
        q = np.empty(part.size)
        for k, unit in enumerate(part):
            h = int(task.strata.of[unit])
            q[k] = drawing_probabilities(left, spread)[h]
            left[h] -= 1
        event = batch_event(session, task, cells, units=part, spread=spread, q=q)
        events.append(event)
        session = session.then([event])
    return events
