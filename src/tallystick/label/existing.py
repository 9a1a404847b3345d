"""Labels that the table holds already: counted apart, or the first draws of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tallystick.data import Data
from tallystick.data.session import IN_FILE
from tallystick.errors import InputError
from tallystick.label.drawing import batches_of_labels
from tallystick.label.work import Work
from tallystick.results import Json
from tallystick.sampling.labels import crossed
from tallystick.sampling.labels.consensus import Ints
from tallystick.sampling.labels.strata import LabelStrata
from tallystick.sampling.labels.task import LabelTask
from tallystick.values import Label

__all__ = ["labelled_units", "take_existing", "with_existing", "with_unused_note"]


def labelled_units(data: Data, task: LabelTask) -> dict[int, Label]:
    """Return unit to label, for the rows whose truth is in the table."""
    truth = data.roles.truth
    if truth is None or task.rows.shape[1] > 1:
        return {}
    coded = data.labels(truth)
    codes = coded.codes[task.rows[:, 0], 0]
    return {int(unit): coded.labels[codes[unit]] for unit in np.flatnonzero(codes >= 0)}


def with_unused_note(data: Data, task: LabelTask) -> LabelTask:
    """Say that labels of the table are not used, where the outputs of an item are one unit."""
    truth = data.roles.truth
    if truth is None or task.rows.shape[1] == 1:
        return task
    held = int((data.labels(truth).codes >= 0).sum())
    if not held:
        return task
    note = (
        f"{held:,} labels of column {truth!r} are not used: this session draws its own items and"
        " has all their outputs labelled"
    )
    return replace(task, notes=(*task.notes, note))


def with_existing(
    task: LabelTask, known: Mapping[int, Label], origin: str
) -> tuple[LabelTask, LabelStrata | None, dict[int, Label]]:
    """Return the task with the labels that are there, as their origin allows.

    Labels of unknown origin leave the population. Labels that are random among disagreements cut
    every stratum in two, unless disagreements are all that is drawn from.
    """
    inside = {unit: label for unit, label in known.items() if task.strata.of[unit] >= 0}
    if not inside:
        return task, None, {}
    if origin == "unknown":
        if task.claim == "best-of":
            note = "labels of unknown origin say nothing in a contest of models and are not used"
            return replace(task, notes=(*task.notes, note)), None, {}
        rest = task.strata.without(list(inside))
        rows = {int(task.rows[unit, 0]): label for unit, label in inside.items()}
        return _restratified(task, rest), None, rows
    everything = task.claim in ("classifiers", "best-of") or origin == "random"
    if everything or task.disagree is None:
        return task, None, {}
    cut = crossed(task.strata, task.disagree)
    flags = np.asarray(task.disagree, dtype=np.bool_)
    stray = [unit for unit in inside if not flags[unit]]
    if stray:
        raise InputError(
            f"{len(stray)} labels are on items where the votes agree, so they were not drawn among"
            " disagreements: say --label-draw unknown"
        )
    of = np.where(flags, cut.of, -1)
    among = LabelStrata(of=of, side=cut.side, guess=cut.guess)
    return _restratified(task, cut), among, {}


def _restratified(task: LabelTask, strata: LabelStrata) -> LabelTask:
    """Return the task on other strata; guesses and cells follow the strata that an item was in."""
    before, after = task.strata.of, strata.of
    origin = np.zeros(len(strata), np.int64)
    inside = after >= 0
    origin[after[inside]] = before[inside]
    measures = []
    for measure in task.measures:
        cell = measure.cell
        if cell is not None:
            # A cell is an old cell inside a new stratum; units that left the population have none.
            width = int(cell.max()) + 1
            fresh = np.where(inside & (cell >= 0), after.astype(np.int64) * width + cell, -1)
            _, place = np.unique(fresh[fresh >= 0], return_inverse=True)
            cell = fresh.copy()
            cell[fresh >= 0] = place
        counts = None if measure.counts is None else measure.counts[origin]
        measures.append(replace(measure, guess=measure.guess[origin], cell=cell, counts=counts))
    return replace(task, strata=strata, measures=tuple(measures))


def take_existing(
    work: Work,
    known: Mapping[int, Label],
    among: LabelStrata | None,
    apart: Mapping[int, Label],
) -> None:
    """Write labels that were drawn at random before as the first draws of the session."""
    task = work.task
    if not known or apart or work.session.head.origin == "unknown":
        return
    units: Ints = np.array([u for u in known if task.strata.of[u] >= 0], dtype=np.int64)
    if task.claim == "best-of" and task.disagree is not None:
        units = units[np.asarray(task.disagree, dtype=np.bool_)[units]]
    if not units.size:
        return
    events = batches_of_labels(work.session, task, work.cells, units, among)
    after = work.session.then(events)
    order = [unit for batch in after.batches for unit in batch.units]
    answers: list[Mapping[str, Json]] = [
        {"answer": k, "reader": IN_FILE, "label": known[unit], "at": ""}
        for k, unit in enumerate(order)
    ]
    work.write([*events, *answers])
