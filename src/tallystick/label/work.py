"""A session at work: begin it, open it again, draw, take answers, and say where it stands."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tallystick.data import Data, conclude, read
from tallystick.data.fingerprint import fingerprint
from tallystick.data.session import (
    IN_FILE,
    Answer,
    Ask,
    Session,
    SessionHead,
    open_session,
    packed,
)
from tallystick.data.session_file import SessionFile
from tallystick.data.session_truth import check_fingerprint
from tallystick.errors import FileError, InputError, TallystickError
from tallystick.io import identifier
from tallystick.label.drawing import Names, batches_of_labels, drawn_event
from tallystick.label.questions import LabelQuestion, label_question
from tallystick.label.result import LabelResult, Readers
from tallystick.label.standing import Standing, standing
from tallystick.label.verdict import ASSUMPTIONS, needed_of, verdict_of, warnings_of
from tallystick.results import Interval, Json, Result, Unknown
from tallystick.sampling.labels import (
    crossed,
    next_batch,
    reader_error,
    refused_claim,
    too_noisy,
)
from tallystick.sampling.labels.answers import answer_code
from tallystick.sampling.labels.batches import FIRST
from tallystick.sampling.labels.consensus import Ints
from tallystick.sampling.labels.strata import LabelStrata
from tallystick.sampling.labels.task import LabelTask
from tallystick.values import Label

__all__ = ["SessionSettings", "Work", "begin", "reopen"]


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
        The columns that a person sees; by default all that are neither votes nor the truth.
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
    ) -> None:
        self.data, self.asked, self.task, self.session = data, asked, task, session
        self._file = file
        item, system = session.head.item, session.head.system
        cells = data.cells(*(name for name in (item, system) if name is not None))
        self.names = Names(cells.get(item or ""), cells.get(system or ""))
        self._standing: Standing | None = None
        self._cells: dict[int, tuple[str, ...]] = {}

    # -- what a reader sees

    def shown(self, asks: Sequence[Ask]) -> list[tuple[str, ...]]:
        """Return the cells of the columns to show, as text, for each ask."""
        rows = sorted({ask.row for ask in asks} - self._cells.keys())
        show = self.session.head.show
        if rows and show:
            # Only these rows leave the engine: a table of a million texts stays where it is.
            columns = ", ".join(f"cast({identifier(name)} as varchar)" for name in show)
            listed = ", ".join(map(str, rows))
            numbered = f"select {columns}, row_number() over () - 1 as place_ from rows"
            named = ", ".join(f"c{k}" for k in range(len(show)))
            for *cells, row in self.data.table.query(
                f"select * from ({numbered}) as t({named}, place_) where place_ in ({listed})"
            ):
                self._cells[int(row)] = tuple("" if one is None else str(one) for one in cells)
        return [self._cells.get(ask.row, ()) for ask in asks]

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
            missing = min(missing, budget - self.session.n_draws)
        missing = min(missing, where.left)
        if missing > 0 and may_draw:
            self.write([drawn_event(self.session, self.task, where, self.names, missing)])
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
        word = str(text).strip()
        if self.task.scale is not None:
            answer_code(self.task, word)
            return float(word)
        found = [one for one in self.task.classes if str(one) == word]
        found = found or [one for one in self.task.classes if str(one).lower() == word.lower()]
        if len(found) != 1:
            shown = ", ".join(map(str, self.task.classes[:12]))
            raise InputError(f"an answer must be one of {shown}, or skip, got {text!r}")
        return found[0]

    # -- reading

    def standing(self) -> Standing:
        """Say where the session stands, from the answers so far."""
        if self._standing is None:
            found = standing(self.session, self.task)
            # What cannot be claimed from these labels is no reason to stop drawing others.
            early = found.stop in ("precision", "verdict", "not-worth-it")
            if early and self._refused(found) is not None:
                found = replace(found, stop=None, forecast=None)
            self._standing = found
        return self._standing

    def result(self, batch: Sequence[Ask] = (), *, final: bool = True) -> LabelResult:
        """Return the answer so far; *final* also asks the capability itself."""
        where, session = self.standing(), self.session
        done = [ask for ask in session.asks if session.done(ask.number)]
        skipped = sum(session.skipped(ask.number) for ask in done)
        after = sum(ask.draw >= where.read.n for ask in done)
        widest = max(where.measures, key=_width, default=None)
        readers, noisy = self._readers(where)
        reason = self._refused(where)
        nothing = Unknown(reason or "this question has a verdict and no interval")
        warnings = warnings_of(
            where,
            readers,
            noisy=noisy,
            apart=len(session.apart),
            pending_after=after,
        )
        timed = [one.seconds for one in session.answers.values() if one.seconds is not None]
        needed = needed_of(where)
        items = self.task.strata.n_items
        return LabelResult(
            verdict=reason
            or verdict_of(where, names=self.task.names, claim=self.task.claim, items=items),
            decision="decided" if needed is None and reason is None else "undecided",
            needed=needed,
            n_items=items + len(session.apart),
            assumptions=ASSUMPTIONS,
            warnings=warnings,
            seed=session.head.seed,
            session=session.path,
            question=session.head.question,
            asked=len(session.asks),
            answered=len(done) - skipped,
            skipped=skipped,
            pending=len(session.asks) - len(done),
            read=where.read.n,
            of=None if widest is None else widest.name,
            estimate=nothing if widest is None or reason else widest.estimate,
            interval=nothing if widest is None or reason else widest.interval,
            anytime_interval=nothing if widest is None or reason else widest.anytime_interval,
            measures=where.measures,
            winner=where.winner,
            forecast=Unknown("too few labels to forecast from")
            if where.forecast is None
            else where.forecast,
            stop=where.stop,
            result=self._own_result() if final else Unknown("not asked for"),
            batch=tuple(_shown_ask(ask) for ask in batch),
            readers=readers,
            labels_apart=len(session.apart),
            seconds_per_label=median(timed) if timed else Unknown("no label was timed"),
            notes=self.task.notes,
        )

    def _refused(self, where: Standing) -> str | None:
        """Return why the claim cannot rest on the labels that there are, or None if it can."""
        claims: Mapping[str, Any] = {
            "share": "accuracies" if self.asked.name == "judge" else "share",
            "classifiers": "difference",
            "judged": "difference",
            "best-of": "best-of",
        }
        session = self.session
        drawn = sum(
            (ask.number, IN_FILE) not in session.answers and ask.draw < where.read.n
            for ask in session.asks
        )
        if drawn == where.read.n and not session.apart:
            return None
        origin: Any = session.head.origin
        text = refused_claim(origin, claims[self.task.claim], target="these", drawn=drawn)
        return None if text is None else f"{text[0].upper()}{text[1:]}."

    def _readers(self, where: Standing) -> tuple[Readers | None, bool]:
        """Return what double reading says, and whether readers are noisier than the precision."""
        session = self.session
        if len(session.head.readers) < 2:
            return None, False
        first, second = session.head.readers[:2]
        both = [
            ask.number
            for ask in session.asks
            if all(
                (ask.number, who) in session.answers
                and not session.answers[ask.number, who].skipped
                for who in (first, second)
            )
        ]
        apart = sum(session.disagree(ask) for ask in both)
        if not both:
            none = Unknown("nothing was read twice yet")
            return Readers(
                twice=0, disagreed=0, unresolved=0, error=none, error_interval=none
            ), False
        found = reader_error(apart, len(both), alpha=session.head.alpha)
        noisy = any(
            too_noisy(found.estimate, min(max(one.estimate, 0.0), 1.0), session.head.target)
            for one in where.measures
            if isinstance(one.estimate, float) and self.task.claim == "share"
        )
        readers = Readers(
            twice=len(both),
            disagreed=apart,
            unresolved=where.read.unresolved,
            error=found.estimate,
            error_interval=found.interval,
        )
        return readers, noisy

    def _own_result(self) -> Result | Unknown:
        """Ask the capability itself, with this session as its truth."""
        found = self.asked.capability
        if found is None:
            return Unknown(f"{self.asked.name} has no result of its own beside these numbers")
        if not self.standing().read.n:
            return Unknown("nothing is labelled yet")
        try:
            options = self.asked.options(_fields(self.session.head))
            given = {**_reading(self.session.head), "truth_file": self.session.path}
            source: Any = list(self.session.head.source) or self.data
            if not self.session.head.source:
                return Unknown("the session was begun from a frame: pass it to the capability")
            with read(source, found.door, **given) as data:
                return conclude(found, data, replace(options, alpha=self.session.head.alpha))
        except TallystickError as error:
            return Unknown(f"{self.asked.name} could not answer from these labels: {error}")

    def close(self) -> None:
        """Let go of the session's file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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
        Whatever `tallystick.data.read` takes; a path can be opened again by itself later.
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
    if how.epsilon is not None:
        task = replace(task, epsilon=how.epsilon)
    known = _labelled(data, task)
    task, among, apart = _existing(task, known, how.origin)
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
            "fields": _plain(given),
            "target": target,
            "truth": data.roles.truth,
            "epsilon": how.epsilon,
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
        show=_show(data, task, how.show),
        ask=how.ask or task.ask,
        instructions=how.instructions,
        readers=tuple(str(k + 1) for k in range(how.readers)),
        origin=how.origin,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    file = SessionFile(path, head.to_event())
    try:
        strata: dict[str, Json] = {"strata": packed(task.strata.of)}
        if apart:
            strata["apart"] = [[row, label] for row, label in apart.items()]
        file.append([strata])
        work = Work(data, asked, task, open_session(path, file.events), file)
        _take_existing(work, known, among, apart)
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
        data = _read(paths, asked, _reading(head))
        check_fingerprint(data.table, session)
        strata = session.strata().astype(np.int64)
        task: LabelTask = asked.task(data, asked.options(_fields(head)), strata)
        if head.options.get("epsilon") is not None:
            task = replace(task, epsilon=head.options["epsilon"])
        return Work(data, asked, task, session, file)
    except BaseException:
        if file is not None:
            file.close()
        raise


def _read(source: Any, asked: LabelQuestion, reading: Mapping[str, Any]) -> Data:
    return read(source, asked.door, **reading)


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


def _reading(head: SessionHead) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in head.options["reading"].items()
    }


def _fields(head: SessionHead) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in head.options["fields"].items()
    }


def _digest(strata: LabelStrata) -> str:
    return hashlib.sha256(np.ascontiguousarray(strata.of, dtype="<i2").tobytes()).hexdigest()[:32]


def _show(data: Data, task: LabelTask, wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a reader sees; by default what is neither a vote nor the truth."""
    columns = data.table.columns
    for name in wanted:
        if name not in columns:
            raise InputError(
                f"show names column {name!r}, which {data.source} does not have: it has"
                f" {', '.join(columns[:8])}"
            )
    if wanted:
        return tuple(wanted)
    hidden = {*task.columns, *data.roles.columns("truth", "system", "item", "judges", "models")}
    found = tuple(name for name in columns if name not in hidden)
    return found or tuple(name for name in (data.roles.item,) if name is not None)


def _labelled(data: Data, task: LabelTask) -> dict[int, Label]:
    """Return unit to label, for the rows whose truth is in the table."""
    truth = data.roles.truth
    if truth is None or task.rows.shape[1] > 1:
        return {}
    labels = data.label_lists(truth)[truth]
    return {
        unit: labels[row]
        for unit, row in enumerate(task.rows[:, 0].tolist())
        if labels[row] is not None
    }


def _existing(
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
    before, after = task.strata.of.astype(np.int64), strata.of.astype(np.int64)
    origin = np.zeros(len(strata), np.int64)
    inside = after >= 0
    origin[after[inside]] = before[inside]
    measures = []
    for measure in task.measures:
        cell = measure.cell
        if cell is not None:
            # A cell is an old cell inside a new stratum; units that left the population have none.
            width = int(cell.max()) + 1
            fresh = np.where(inside & (cell >= 0), after * width + cell, -1)
            _, place = np.unique(fresh[fresh >= 0], return_inverse=True)
            cell = fresh.copy()
            cell[fresh >= 0] = place
        measures.append(replace(measure, guess=measure.guess[origin], cell=cell))
    return replace(task, strata=strata, measures=tuple(measures))


def _take_existing(
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
    events = batches_of_labels(work.session, task, work.names, units, among)
    after = work.session.then(events)
    order = [unit for batch in after.batches for unit in batch.units]
    answers: list[Mapping[str, Json]] = [
        {"answer": k, "reader": IN_FILE, "label": known[unit], "at": ""}
        for k, unit in enumerate(order)
    ]
    work.write([*events, *answers])


def _width(one: Any) -> float:
    return one.interval.width if isinstance(one.interval, Interval) else float("inf")


def _shown_ask(ask: Ask) -> dict[str, Any]:
    probability: Any = ask.probability
    if probability is None:
        probability = Unknown("uniform among the items on which the models that are left differ")
    return {
        "item": ask.item if ask.item is not None else str(ask.row + 1),
        "system": ask.system,
        "order": ask.number + 1,
        "probability": probability,
    }
