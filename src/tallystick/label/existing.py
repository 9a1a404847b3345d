"""Labels that the table holds already: counted apart, or the first draws of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tallystick.data import Data
from tallystick.data.session import IN_FILE, Ask
from tallystick.errors import InputError
from tallystick.label.drawing import batches_of_labels
from tallystick.results import Json, count
from tallystick.sampling.labels import crossed
from tallystick.sampling.labels.answers import label_of
from tallystick.sampling.labels.consensus import AnyInts, Ints
from tallystick.sampling.labels.task import LabelTask
from tallystick.sampling.random_draw import odd_draw
from tallystick.values import Label, is_never_true, is_no_answer

if TYPE_CHECKING:
    from tallystick.label.work import Work

__all__ = [
    "Existing",
    "Use",
    "answers_in_table",
    "find_existing",
    "take_existing",
    "use_existing",
]


@dataclass(frozen=True, kw_only=True, eq=False)
class Existing:
    """Labels that the table holds, for the units that can be drawn.

    Parameters
    ----------
    column
        The column that they stand in.
    labels
        Row to label.
    units
        Unit to the labels of all its rows, for units that are labelled in every row.
    """

    column: str = ""
    labels: Mapping[int, Label] = field(default_factory=dict)
    units: Mapping[int, tuple[Label, ...]] = field(default_factory=dict)

    @property
    def others(self) -> int:
        """How many labels stand on units that are not labelled in every row."""
        return len(self.labels) - sum(len(one) for one in self.units.values())


def find_existing(data: Data, task: LabelTask) -> Existing:
    """Return the labels of the table, as answers of the task; an unknown word raises."""
    truth = data.roles.truth
    if truth is None:
        return Existing()
    coded = data.words(truth)
    words: dict[int, Label] = {}
    for code, word in enumerate(coded.labels):
        if is_no_answer(word) or (is_never_true(word) and word not in task.classes):
            continue
        try:
            words[code] = label_of(task, word)
        except InputError as error:
            row = int((coded.codes[:, 0] == code).argmax())
            raise InputError(f"{data.place(row + 1)}, column {truth!r}: {error}") from error

    labelled = np.isin(coded.codes[:, 0], list(words))
    within = task.strata.of >= 0
    inside = task.rows[within]
    known = {int(row): words[int(coded.codes[row, 0])] for row in inside[labelled[inside]]}
    whole = np.flatnonzero(within & labelled[task.rows].all(axis=1))
    units = {int(unit): tuple(known[int(row)] for row in task.rows[unit]) for unit in whole}
    return Existing(column=truth, labels=known, units=units)


@dataclass(frozen=True, kw_only=True, eq=False)
class Use:
    """What the labels of a table are used for.

    Parameters
    ----------
    origin
        How they are taken to have been chosen.
    strata
        The strata to draw from, where those of the task had to change.
    among
        Which strata labels were drawn from that are the first draws; None for all.
    apart
        Row to label, for labels that are counted apart.
    notes
        What the user should know of it.
    """

    origin: str
    strata: AnyInts | None = None
    among: NDArray[np.bool_] | None = None
    apart: Mapping[int, Label] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def use_existing(task: LabelTask, known: Existing, origin: str) -> Use:
    """Return what may honestly be done with the labels that are there.

    Labels of unknown origin leave the population. Labels that are random among disagreements cut
    every stratum in two, unless disagreements are all that is drawn from. Where the outputs of an
    item are labelled together, or several models compete, a label of unknown origin counts when its
    item is drawn: it is what a person would say.
    """
    if not known.labels:
        return Use(origin=origin)
    together = task.rows.shape[1] > 1
    notes: list[str] = []
    if origin == "random":
        doubt = _no_random_draw(task, list(known.units))
        if doubt is not None:
            notes.append(doubt)
            origin = "unknown"
    if origin == "disagreements" and together:
        notes.append(
            "labels that were drawn where judges disagree say nothing about the other items"
        )
        origin = "unknown"
    said = (*notes, *_notes(task, known, origin))
    if origin == "unknown":
        if together or task.claim == "best-of":
            return Use(origin=origin, notes=said)
        rest = task.strata.without(list(known.units))
        if not rest.n_items:
            raise InputError(
                f"every item has a label in column {known.column!r} already, so none is left to"
                " draw: ask the question itself"
            )
        return Use(origin=origin, strata=rest.of, apart=known.labels, notes=said)
    everything = task.claim in ("classifiers", "best-of") or origin == "random"
    if everything or task.disagree is None or not known.units:
        return Use(origin=origin, notes=said)
    cut = crossed(task.strata, task.disagree)
    flags = np.asarray(task.disagree, dtype=np.bool_)
    stray = [unit for unit in known.units if not flags[unit]]
    if stray:
        raise InputError(
            f"{len(stray)} labels are on items where the votes agree, so they were not drawn among"
            " disagreements: say --label-draw unknown"
        )
    among = np.zeros(len(cut), np.bool_)
    among[cut.of[flags & (cut.of >= 0)]] = True
    return Use(origin=origin, strata=cut.of, among=among, notes=said)


def _notes(task: LabelTask, known: Existing, origin: str) -> list[str]:
    """Say which labels of the table count, and when the others will."""
    column, held = known.column, count(len(known.labels))
    later = "when the session draws their item"
    if origin == "unknown":
        if task.rows.shape[1] == 1 and task.claim != "best-of":
            return []  # they are counted apart, and a warning says so after each batch
        return [
            f"{held} labels of column {column!r} count only {later}: nobody said how they were"
            " chosen. If they were drawn at random, begin with --label-draw random"
        ]
    if task.rows.shape[1] == 1:
        return [f"{held} labels of column {column!r} count as the first draws"]
    whole, others = len(known.units), known.others
    found = []
    if whole:
        items = "1 item" if whole == 1 else f"{count(whole)} items"
        found.append(
            f"{items} whose outputs are all labelled in column {column!r} count as the first draws"
        )
    if others:
        found.append(
            f"{count(others)} labels of column {column!r} on items with an output that has none"
            f" count {later}"
        )
    return found


def _no_random_draw(task: LabelTask, units: Sequence[int]) -> str | None:
    """Return why labels that were declared random can not be, None if they may be.

    See :func:`tallystick.sampling.random_draw.odd_draw`: what the votes say of an item is its side.
    """
    strata = task.strata
    all_of = np.bincount(strata.of[strata.of >= 0], minlength=len(strata)).astype(np.float64)
    own = np.bincount(strata.of[list(units)], minlength=len(strata)).astype(np.float64)
    sides = np.unique(strata.side)
    codes = np.searchsorted(sides, strata.side)[:, None]
    named = task.rows.shape[1] == 1 and sides.max(initial=0) < len(task.classes)
    found = odd_draw(
        np.concatenate([codes, codes]),
        np.concatenate([all_of - own, own]),
        np.repeat([False, True], len(strata)),
        columns=("the consensus",),
        labels=[
            str(task.classes[side]) if named else f"group {k} of {len(sides)}"
            for k, side in enumerate(sides.tolist(), start=1)
        ],
    )
    return None if found is None else f"{found}. They are taken as labels of unknown origin"


def take_existing(work: Work, known: Existing, among: NDArray[np.bool_] | None) -> None:
    """Write labels that were drawn at random before as the first draws of the session."""
    task = work.task
    units: Ints = np.array(list(known.units), dtype=np.int64)
    if task.claim == "best-of" and task.disagree is not None and units.size:
        units = units[np.asarray(task.disagree, dtype=np.bool_)[units]]
    if not units.size:
        return
    events = batches_of_labels(work.session, task, work.cells, units, among)
    asks = work.session.then(events).asks
    work.write([*events, *answers_in_table(known.labels, asks)])


def answers_in_table(labels: Mapping[int, Label], asks: Sequence[Ask]) -> list[dict[str, Json]]:
    """Return the answers that the table holds already to some asks: nobody need give them again."""
    return [
        {"answer": ask.number, "reader": IN_FILE, "label": labels[ask.row], "at": ""}
        for ask in asks
        if ask.row in labels
    ]
