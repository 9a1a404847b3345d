"""Begin a session in a new file, or open one that was begun before."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import FileError, InputError
from tallystick.registry import ENTRIES, capability
from tallystick.results import Json, Result, count
from tallystick.sampling.label_accuracies import AnyInts, Ints, coded_votes
from tallystick.sampling.label_means import crossed
from tallystick.sampling.label_strata import FIRST, LabelStrata, next_batch
from tallystick.sampling.label_task import (
    LabelTask,
    answer_code,
    class_measure,
    label_of,
    votes_task_strata,
)
from tallystick.table import (
    Capability,
    Data,
    Door,
    Label,
    Question,
    identifier,
    is_never_true,
    is_no_answer,
    option,
    read,
)
from tallystick.table.data import RowMemory
from tallystick.table.doubts import Look, label_doubt
from tallystick.table.session import (
    IN_FILE,
    Answer,
    Ask,
    Session,
    SessionFile,
    SessionHead,
    open_session,
    packed,
)
from tallystick.table.session_rows import check_fingerprint, fingerprint, keep_rows, kept_rows
from tallystick.verbs.label.outcome import LabelResult, fields_of, outcome, reading_of, refused
from tallystick.verbs.label.work import (
    RowCells,
    Standing,
    batches_of_labels,
    blindness,
    drawn_event,
    standing,
    telling,
)

_LOOKED = 5_000
"""Rows that are looked at to see whether the table shows the outputs."""


def begin(
    path: str | Path,
    source: Any,
    *,
    question: str,
    reading: Mapping[str, Any] | None = None,
    options: Mapping[str, Any] | None = None,
    settings: SessionSettings | None = None,
) -> Work:
    """Begin a session in a new file.

    Parameters
    ----------
    path
        The file, which must not exist yet.
    source
        Whatever `tallystick.table.door` takes; a path can be opened again by itself later.
    question
        score, compare, judge, bound or prevalence.
    reading
        Roles and the options of reading.
    options
        The fields of the question.
    settings
        How the session is run.
    """
    how = settings or SessionSettings()
    asked = label_question(question)
    given = dict(options or {})
    if Path(path).exists() and Path(path).stat().st_size:
        raise FileError(f"{path} exists already: open it without a question, or name another file")
    chosen = asked.options(given)
    data = _read(source, asked, dict(reading or {}))
    task: LabelTask = asked.task(data, chosen)
    known = find_existing(data, task)
    use = use_existing(task, known, how.origin)
    if use.strata is not None:
        # The session keeps these strata: it has to begin as it will be opened again.
        task = asked.task(data, chosen, use.strata)
    show = _show(data, task, how.show)
    notes = use.notes
    if not how.show and data.roles.system in show:
        notes = (*notes, f"readers see column {data.roles.system!r}: no other says which output")
    task = _finished(task, how.epsilon, notes)
    target = how.target
    limits = any(measure.limit is not None for measure in task.measures)
    if target is None and task.claim == "share" and not limits:
        target = 0.05
    paths = _paths(source)
    held = {**_plain(reading or {}), **({"item": data.roles.item} if data.roles.item else {})}
    group = asked.door.want
    if group is not None and getattr(data.roles, group):
        held[group] = list(getattr(data.roles, group))
    head = SessionHead(
        question=question,
        options={
            "reading": held,
            "how": dict(data.how),
            "fields": _plain(given),
            "target": target,
            "truth": data.roles.truth,
            "epsilon": how.epsilon,
            "notes": list(notes),
        },
        source=paths,
        columns=task.columns,
        fingerprint=fingerprint(data.table, task.columns),
        strata=_digest(task.strata),
        n_units=task.strata.n_items,
        classes=task.classes,
        scale=task.scale,
        units="rows" if task.rows.shape[1] == 1 else "items",
        target=target or 0.05,
        alpha=how.alpha,
        seed=how.seed,
        budget=how.budget,
        item=data.roles.item,
        system=data.roles.system,
        show=show,
        ask=how.ask or task.ask,
        instructions=how.instructions,
        readers=tuple(str(k + 1) for k in range(how.readers)),
        origin=use.origin,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    file = SessionFile(path, head.to_event())
    try:
        strata: dict[str, Json] = {"strata": packed(task.strata.of)}
        if use.apart:
            strata["apart"] = [[row, label] for row, label in use.apart.items()]
        file.append([strata])
        work = Work(data, asked, task, open_session(path, file.events), file)
        if use.origin != "unknown":
            take_existing(work, known, use.among)
        keep_rows(path, head, data)
    except BaseException:
        file.close()
        raise
    return work


def reopen(path: str | Path, source: Any = None, *, write: bool = True) -> Work:
    """Open a session that was begun before.

    Parameters
    ----------
    path
        The file.
    source
        The table; by default the files that the session names.
    write
        Whether to lock the file for writing. Reading needs no lock.
    """
    file = SessionFile(path) if write else None
    try:
        session = open_session(path, None if file is None else file.events)
        head = session.head
        asked = label_question(head.question)
        paths: Any = list(head.source) if source is None else source
        if not paths:
            raise InputError(f"{path} was begun from a frame: give that frame (or a file) again")
        gone = [] if source is not None else [one for one in head.source if _is_gone(one)]
        if gone:
            raise FileError(
                f"{path} was begun with {gone[0]}, which is not there. Name the table where it is"
                f" now: tallystick label FILE --session {path}"
            )
        # A table whose files have not changed was checked before, and need not be read again.
        kept = kept_rows(path, head, _paths(paths))
        data = kept.data if kept is not None else None
        if data is None:
            data = _read(paths, asked, reading_of(head))
        if kept is None:
            check_fingerprint(data.table, session)
        else:
            data = replace(data, memory=kept.memory)
        # What was found when the session began is still found, though it is named from then on.
        data = replace(data, how=head.options.get("how", data.how))
        strata = session.strata()
        task: LabelTask = asked.task(data, asked.options(fields_of(head)), strata)
        task = _finished(task, head.options.get("epsilon"), head.options.get("notes", ()))
        if kept is None and file is not None:
            keep_rows(path, head, data)
        return Work(data, asked, task, session, file, rows=None if kept is None else kept.file)
    except BaseException:
        if file is not None:
            file.close()
        raise


def _finished(task: LabelTask, epsilon: float | None, notes: Sequence[str]) -> LabelTask:
    """Return the task with what only the session knows."""
    task = replace(task, notes=(*task.notes, *notes))
    return task if epsilon is None else replace(task, epsilon=epsilon)


def _read(source: Any, asked: LabelQuestion, reading: Mapping[str, Any]) -> Data:
    door = replace(asked.door, collects=True)
    return replace(read(source, door, **reading), memory=RowMemory())


def _is_gone(path: str) -> bool:
    """Say whether a plain file is not there; globs and addresses are not looked at."""
    return not any(sign in path for sign in "*?[:") and not Path(path).exists()


def _paths(source: Any) -> tuple[str, ...]:
    if isinstance(source, str | Path):
        return (str(source),)
    several = isinstance(source, Sequence) and all(isinstance(one, str | Path) for one in source)
    return tuple(map(str, source)) if several else ()


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as JSON types."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value is not None and value != ()
    }


def _digest(strata: LabelStrata) -> str:
    return hashlib.sha256(np.ascontiguousarray(strata.of, dtype="<i2").tobytes()).hexdigest()[:32]


def _show(data: Data, task: LabelTask, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a reader sees; by default those that leave the reader blind."""
    columns = data.table.columns
    for name in wanted:
        if name not in columns:
            raise InputError(
                f"show names column {name!r}, which {data.source} does not have: it has"
                f" {', '.join(columns[:8])}"
            )
    if wanted:
        return tuple(wanted)
    # The item comes first: it may be the question itself, and without it nobody finds the output.
    named = tuple(name for name in (data.roles.item,) if name is not None)
    others = [name for name in columns if name not in named]
    hidden = telling(data, task, others)
    found = named + tuple(name for name in others if name not in hidden)
    system = data.roles.system
    if system is not None and not _tells_apart(data, found):
        # Readers are blind to the system, unless nothing else says which output is meant.
        return (*found, system)
    return found


def _tells_apart(data: Data, show: Sequence[str]) -> bool:
    """Say whether some column besides the item differs between the outputs of an item.

    The first rows are looked at: either the table holds the outputs, or it does not.
    """
    item, system = data.roles.item, data.roles.system
    others = [name for name in show if name != item]
    if not others or item is None or system is None:
        return False
    looked = f"select * from rows limit {_LOOKED}"
    many = " or ".join(f"count(distinct {identifier(name)}) > 1" for name in others)
    rows = data.table.query(
        f"select count(*), count(*) filter (differ) from (select {many} as differ from ({looked})"
        f" group by {identifier(item)} having count(distinct {identifier(system)}) > 1)"
    )
    items, differ = rows[0]
    return not items or differ > 0


# Labels that the table holds already: counted apart, or the first draws of a session.


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

    See `tallystick.table.doubts.label_doubt`: what the votes say of an item is its side.
    """
    strata = task.strata
    all_of = np.bincount(strata.of[strata.of >= 0], minlength=len(strata)).astype(np.float64)
    own = np.bincount(strata.of[list(units)], minlength=len(strata)).astype(np.float64)
    sides = np.unique(strata.side)
    codes = np.searchsorted(sides, strata.side)[:, None]
    named = task.rows.shape[1] == 1 and sides.max(initial=0) < len(task.classes)
    look = Look(
        kind="votes",
        names=("the consensus",),
        codes=np.concatenate([codes, codes]),
        labels=[
            str(task.classes[side]) if named else f"group {k} of {len(sides)}"
            for k, side in enumerate(sides.tolist(), start=1)
        ],
        known=np.repeat([False, True], len(strata)),
        counts=np.concatenate([all_of - own, own]),
    )
    found = label_doubt([look])
    return None if found is None else f"{found.seen}. They are taken as labels of unknown origin"


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


# How a session is run: everything that is fixed when it begins.


@dataclass(frozen=True, kw_only=True)
class SessionSettings:
    """How a session is run; everything here is fixed when it begins.

    Parameters
    ----------
    target
        The half-width that is wanted; None where only a verdict is.
    budget
        The most labels that may be bought.
    alpha, seed
        The level and the seed of the draws.
    show
        The columns that a person sees; by default all but votes, labels, judges and systems.
    ask, instructions
        What a person is asked, and what counts as which answer.
    readers
        How many people read: 1, 2, or 3 (the third reads only disagreements).
    origin
        How labels that the table holds already came to be: random, disagreements or unknown.
    epsilon
        For the best of several models: how far behind the best is good enough.
    """

    target: float | None = None
    budget: int | None = None
    alpha: float = 0.05
    seed: int = 0
    show: tuple[str, ...] = ()
    ask: str = ""
    instructions: str = ""
    readers: int = 1
    origin: str = "unknown"
    epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.target is not None and not 0 < self.target < 1:
            raise InputError(
                f"target must be in (0, 1), got {self.target!r}: .05 asks for ± 5 points"
            )
        if self.readers not in (1, 2, 3):
            raise InputError(f"readers must be 1, 2 or 3, got {self.readers!r}")
        if self.origin not in ("random", "disagreements", "unknown"):
            raise InputError(
                "the origin of labels must be random, disagreements or unknown, got"
                f" {self.origin!r}"
            )
        if self.budget is not None and self.budget < 1:
            raise InputError(f"budget must be at least 1 label, got {self.budget!r}")


# What to label in order to know how common a label is.


@dataclass(frozen=True, kw_only=True)
class PrevalenceLabels(Question):
    """Ask how common a label is among these items."""

    positive: Label = option(
        None, "The label whose share you want to know; by default all of them."
    )
    at_least: float | None = option(
        None, "Claim to settle: the share is at least this.", within=(0.0, 1.0)
    )


def labelling(data: Data, question: PrevalenceLabels, strata: Ints | None = None) -> LabelTask:
    """Return the task: the share of one label, or of every label.

    Examples
    --------
    >>> from tallystick.table import read
    >>> data = read({"gpt": ["spam", "ham"] * 40}, judges=("gpt",))
    >>> task = labelling(data, PrevalenceLabels(positive="spam"))
    >>> [measure.name for measure in task.measures]
    ['spam']
    """
    judges = data.roles.judges
    votes = coded_votes(data, judges)
    made, _ = votes_task_strata(votes.codes, len(votes.classes), strata)
    codes = [votes.code(question.positive)] if question.positive is not None else []
    # The shares of two labels are one number: the second is one minus the first.
    wanted = codes or ([1] if len(votes.classes) == 2 else range(len(votes.classes)))
    measures = tuple(
        class_measure(str(votes.classes[code]), code, made, limit=question.at_least)
        for code in wanted
    )
    return LabelTask(
        claim="share",
        classes=votes.classes,
        strata=made,
        rows=np.arange(votes.codes.shape[0])[:, None],
        measures=measures,
        columns=judges,
        disagree=(votes.codes != votes.codes[:, :1]).any(axis=1),
    )


# The questions that labels can answer, found through the registry.
#
# A capability with a `labelling` hook says itself what a person should label. How common a label is
# has no capability of its own, so that question lives here.


QUESTIONS = (*(entry.verb for entry in ENTRIES if entry.labels), "prevalence")
"""What can be asked, in the order of ``--help``."""


@dataclass(frozen=True, kw_only=True)
class LabelQuestion:
    """One question: what it reads, what its options are, and the task that it makes.

    Parameters
    ----------
    name
        What the user types.
    question
        The class of its options.
    reads, door
        The roles that it reads, and what it needs of the reading.
    task
        From data, the options and the strata that a session keeps (or None) to a `LabelTask`.
    capability
        Whose own result the labels end in; None if no capability answers this question.
    """

    name: str
    question: type[Question]
    reads: tuple[str, ...]
    door: Door
    task: Callable[..., Any]
    capability: Capability[Result] | None = None

    def options(self, given: Mapping[str, Any]) -> Question:
        """Make the options, and refuse one that this question does not have."""
        known = {one.name for one in fields(self.question)}
        for name in given:
            if name not in known:
                raise InputError(
                    f"question {self.name} has no option {name!r}: it has"
                    f" {', '.join(sorted(known))}"
                )
        return self.question(**given)


_PREVALENCE = LabelQuestion(
    name="prevalence",
    question=PrevalenceLabels,
    reads=("judges", "truth", "item"),
    door=Door(verb="judge", want="judges"),
    task=labelling,
)


def label_question(name: str) -> LabelQuestion:
    """Return a question by its name.

    >>> label_question("judge").reads[:2]
    ('judges', 'truth')
    """
    if name not in QUESTIONS:
        raise InputError(f"question must be one of {', '.join(QUESTIONS)}, got {name!r}")
    if name == _PREVALENCE.name:
        return _PREVALENCE
    found = capability(name)
    if found.labelling is None:
        raise InputError(f"{name} has no question for people to label")
    return LabelQuestion(
        name=name,
        question=found.question,
        reads=tuple(role for role in found.reads if role not in ("count", "weight")),
        door=found.door,
        task=found.labelling,
        capability=found,
    )


# A session at work: draw, show, take answers, take them back, and say where it stands.


class Work:
    """A session that is open: its data, its task, and its file if it may be written.

    Make one with `begin` or `reopen`, and close it.
    """

    def __init__(
        self,
        data: Data,
        asked: LabelQuestion,
        task: LabelTask,
        session: Session,
        file: SessionFile | None,
        *,
        rows: tuple[Path, str] | None = None,
    ) -> None:
        self.data, self.asked, self.task, self.session = data, asked, task, session
        self._file = file
        head = session.head
        self.cells = RowCells(data, head.item, head.system, head.show, file=rows)
        self._standing: Standing | None = None

    @cached_property
    def _in_table(self) -> Mapping[int, Label]:
        """Labels of the table, by row: an item that has one need not be read again."""
        return find_existing(self.data, self.task).labels

    # -- what a reader sees

    def shown(self, asks: Sequence[Ask]) -> list[tuple[str, ...]]:
        """Return the cells of the columns to show, as text, for each ask."""
        self.cells.fetch(ask.row for ask in asks)
        return [self.cells.shown(ask.row) for ask in asks]

    @cached_property
    def blindness(self) -> str:
        """Whether readers are blind: the sentence that stands beside what they see."""
        head = self.session.head
        return blindness(
            telling(self.data, self.task, [one for one in head.show if one != head.item])
        )

    # -- writing

    def write(self, events: Sequence[Mapping[str, Json]]) -> None:
        """Add lines to the file; when this returns they are on the disk."""
        if not events:
            return
        if self._file is None:
            raise FileError(f"{self.session.path} was opened for reading only")
        self._file.append(events)
        self.session = self.session.then(events)
        self._standing = None

    def next(self, size: int | None = None) -> tuple[Ask, ...]:
        """Return the asks of the first reader that come next, drawing as many as are missing.

        Asks that were drawn and not answered come first. Without *size* the forecast decides.
        """
        reader = self.session.head.readers[0]
        waiting = self.session.open_asks(reader)
        where = self.standing()
        parts = self.task.rows.shape[1]
        if parts > 1 and where.best is not None:
            parts = int(where.best.live.sum())
        wanted = size
        if wanted is None:
            # The first batch is a fixed number; after it the forecast has something to go by.
            more = FIRST - where.read.n if where.read.n < FIRST else next_batch(where.progress)
            wanted = 0 if waiting else more * parts
        missing = -(-(wanted - len(waiting)) // parts)
        # The contested items are settled batch by batch, so a batch has to be finished first.
        may_draw = not (waiting and self.task.claim == "best-of")
        budget = self.session.head.budget
        if budget is not None:
            missing = min(missing, (budget - len(self.session.asks)) // parts)
        missing = min(missing, where.left)
        if missing > 0 and may_draw:
            drawn = drawn_event(self.session, self.task, where, self.cells, missing)
            asks = self.session.then([drawn]).asks[len(self.session.asks) :]
            self.write([drawn, *answers_in_table(self._in_table, asks)])
            waiting = self.session.open_asks(reader)
        return tuple(waiting if size is None else waiting[:size])

    def answer(
        self, ask: int, label: Label, *, reader: str, note: str = "", seconds: float | None = None
    ) -> None:
        """Take one answer; *label* None skips the ask."""
        self.write([self.event(ask, label, reader=reader, note=note, seconds=seconds)])

    def event(
        self, ask: int, label: Label, *, reader: str, note: str = "", seconds: float | None = None
    ) -> dict[str, Json]:
        """Return the line of one answer, checked."""
        if not 0 <= ask < len(self.session.asks):
            raise InputError(f"ask {ask} was never drawn: {len(self.session.asks)} were")
        if reader not in self.session.head.readers:
            raise InputError(
                f"reader must be one of {', '.join(self.session.head.readers)}, got {reader!r}"
            )
        event: dict[str, Json] = {"skip": ask} if label is None else {"answer": ask}
        event |= {"reader": reader, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        if label is not None:
            answer_code(self.task, label)
            event["label"] = label
        if note:
            event["note"] = note
        if seconds is not None:
            event["seconds"] = round(seconds, 1)
        return event

    def undo(self, reader: str) -> Answer | None:
        """Take back the latest answer of a reader; return it, or None if there is none."""
        last = self.session.last_answer(reader)
        if last is not None:
            self.write([{"undo": last.ask, "reader": reader}])
        return last

    def label_of(self, text: str) -> Label:
        """Return the label that a text stands for; anything else raises `InputError`."""
        return label_of(self.task, text)

    # -- reading

    def standing(self) -> Standing:
        """Say where the session stands, from the answers so far."""
        if self._standing is None:
            found = standing(self.session, self.task)
            # What cannot be claimed from these labels is no reason to stop drawing others.
            early = found.stop in ("precision", "verdict", "not-worth-it")
            if early and refused(self.session, self.task, found) is not None:
                found = replace(found, stop=None, forecast=None)
            self._standing = found
        return self._standing

    def result(self, batch: Sequence[Ask] = (), *, final: bool = True) -> LabelResult:
        """Return the answer so far; *final* also asks the capability itself."""
        return outcome(self, batch, final=final)

    def close(self) -> None:
        """Let go of the session's file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
