"""Begin a session in a new file, or open one that was begun before."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from tallystick.data import Data, read
from tallystick.data.cautions import ask_about_codes
from tallystick.data.fingerprint import fingerprint
from tallystick.data.row_memory import RowMemory
from tallystick.data.session import SessionHead, open_session, packed
from tallystick.data.session_file import SessionFile
from tallystick.data.session_rows import keep_rows, kept_rows
from tallystick.data.session_truth import check_fingerprint
from tallystick.errors import FileError, InputError
from tallystick.io import identifier
from tallystick.label.blind import telling
from tallystick.label.existing import find_existing, take_existing, use_existing
from tallystick.label.outcome import fields_of, reading_of
from tallystick.label.questions import LabelQuestion, label_question
from tallystick.label.settings import SessionSettings
from tallystick.label.work import Work
from tallystick.results import Json
from tallystick.sampling.labels.strata import LabelStrata
from tallystick.sampling.labels.task import LabelTask

__all__ = ["begin", "reopen"]

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
    ask_about_codes(data, chosen)
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
    return replace(read(source, asked.door, **reading), memory=RowMemory())


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
