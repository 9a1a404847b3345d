"""Begin a session in a new file, or open one that was begun before."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from tallystick._rng import spawn
from tallystick.errors import FileError, InputError, unknown
from tallystick.registry import ENTRIES, capability
from tallystick.results import Result, count
from tallystick.sampling.planned import share_estimator
from tallystick.sampling.tasks import (
    LabelTask,
    class_measure,
    label_of,
    votes_task_strata,
)
from tallystick.sampling.votes import AnyInts, Ints, class_code, coded_votes
from tallystick.table import (
    Capability,
    Data,
    Door,
    Label,
    Question,
    is_never_true,
    is_no_answer,
    option,
    read,
)
from tallystick.table.doubts import LabelView, label_doubt
from tallystick.table.session import RANDOM, SessionFile, SessionHead, open_session, packed
from tallystick.table.session_rows import (
    added_rows,
    fingerprint,
)
from tallystick.verbs.label.shown import shown_columns
from tallystick.verbs.label.work import Work, answers_in_table, batch_event

USUAL_TARGET = 0.05
"""The half-width that is wanted where nobody says otherwise."""


@dataclass(frozen=True, kw_only=True)
class SessionSettings(Question):
    """How a session is run; everything here is fixed when it begins.

    Parameters
    ----------
    target
        The half-width that is wanted; None where only a verdict is. For the best of several: how
        far behind the best is good enough.
    budget
        The most labels that may be bought.
    alpha, seed
        The level and the seed of the draws.
    show
        The columns that a person sees; by default the item and its texts.
    ask, instructions
        What a person is asked, and what counts as which answer.
    readers
        How many people read: 1, 2, or 3 (the third reads only disagreements).
    origin
        How labels that the table holds already came to be: random or unknown.
    """

    target: float | None = option(None, "", within=(0.0, 1.0))
    budget: int | None = option(None, "", low=1)
    seed: int = option(0, "", low=0)
    show: tuple[str, ...] = ()
    ask: str = ""
    instructions: str = ""
    readers: int = option(1, "", low=1, high=3)
    origin: str = option("unknown", "", choices=("random", "unknown"))


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
    how, asked = settings or SessionSettings(), label_question(question)
    if _exists(path):
        raise FileError(f"{path} exists already: open it without a question, or name another file")
    chosen = options_of(asked, dict(options or {}))
    data = _read(source, asked, dict(reading or {}))
    task = task_of(asked, data, chosen)
    known = labels_in(data, task)
    draws, strata, notes = _known(data, task, known, how.origin)
    if strata is not None:
        # The session keeps these strata: it has to begin as it will be opened again.
        task = task_of(asked, data, chosen, strata)
    show, seen = shown_columns(data, task, how.show)
    random = how.origin == "random"
    head = _head(data, asked, task, how)
    head = replace(
        head,
        options={
            "reading": _held_reading(data, asked, reading or {}),
            "how": dict(data.how),
            "fields": _plain(options or {}),
            "truth": data.roles.truth,
            "notes": [*notes, *seen],
            "rows": data.n_rows,
            **head.options,
        },
        source=_paths(source),
        show=show,
        origin="random" if draws is not None or (random and not known) else "unknown",
    )
    file = SessionFile(path, head.to_event())
    try:
        fixed: dict[str, Any] = {"strata": packed(task.strata.of), "stamp": _stamp(head.source)}
        if strata is not None:
            fixed["apart"] = [[row, label] for row, label in known.items()]
        file.append([fixed])
        work = Work(data, _finished(task, head), open_session(path), file)
        # Labels that are counted apart are no part of the draws.
        work.in_table = known if strata is None else {}
        if draws is not None:
            _take_known(work, draws, known)
    except BaseException:
        file.close()
        raise
    return work


def _held_reading(
    data: Data, asked: Capability[Result], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a session reads its table by, every column named."""
    held = _plain(given)
    if data.roles.item:
        held["item"] = data.roles.item
    group = asked.door.want
    if group is not None and getattr(data.roles, group):
        held[group] = list(getattr(data.roles, group))
    return held


def _head(
    data: Data, asked: Capability[Result], task: LabelTask, how: SessionSettings
) -> SessionHead:
    """Return what is fixed when the session begins."""
    share, best, target = task.claim == "share", task.claim == "best-of", how.target
    if target is None and share and not any(one.limit is not None for one in task.measures):
        target = USUAL_TARGET
    aims = {"target": None if best else target, "epsilon": target if best else None}
    strata = np.ascontiguousarray(task.strata.of, dtype="<i2").tobytes()
    return SessionHead(
        question=asked.verb,
        options={**aims, **({"rule": RANDOM} if share else {})},
        columns=task.columns,
        fingerprint=fingerprint(data.table, task.columns),
        strata=hashlib.sha256(strata).hexdigest()[:32],
        n_units=task.strata.n_items,
        classes=task.classes,
        scale=task.scale,
        units="rows" if task.rows.shape[1] == 1 else "items",
        target=target or USUAL_TARGET,
        alpha=how.alpha,
        seed=how.seed,
        budget=how.budget,
        item=data.roles.item,
        system=data.roles.system,
        ask=how.ask or task.ask,
        instructions=how.instructions,
        readers=tuple(str(k + 1) for k in range(how.readers)),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def reopen(path: str | Path, source: Any = None, *, write: bool = True) -> Work:
    """Open a session that was begun before.

    Rows that were added at the end of the table since are no part of the session: it goes on with
    the rows that it was begun with.

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
        data = _read(paths, asked, given_to(head, "reading"))
        strata = session.strata()
        notes: tuple[str, ...] = ()
        stamp = _stamp(_paths(paths))
        same = stamp is not None and stamp == session.packed.get("stamp")
        added = 0 if same else added_rows(data.table, session)
        if added:
            strata = np.concatenate((strata, np.full(added, -1, strata.dtype)))
            notes = (f"rows added since this session began: {count(added)}, no part of it",)
        # What was found when the session began is still found, though it is named from then on.
        data = replace(data, how=head.options.get("how", data.how))
        chosen = options_of(asked, given_to(head, "fields"))
        task = _finished(task_of(asked, data, chosen, strata), head)
        task = replace(task, notes=(*task.notes, *notes))
        work = Work(data, task, session, file)
        work.in_table = labels_in(data, task)
        return work
    except BaseException:
        if file is not None:
            file.close()
        raise


def _finished(task: LabelTask, head: SessionHead) -> LabelTask:
    """Return the task with what only the session knows."""
    task = replace(task, notes=(*task.notes, *head.options.get("notes", ())))
    epsilon = head.options.get("epsilon")
    return task if epsilon is None else replace(task, epsilon=epsilon)


def _read(source: Any, asked: Capability[Result], reading: Mapping[str, Any]) -> Data:
    door = replace(asked.door, collects=True)
    return read(source, door, **reading)


def _paths(source: Any) -> tuple[str, ...]:
    if isinstance(source, str | Path):
        return (str(source),)
    several = isinstance(source, Sequence) and all(isinstance(one, str | Path) for one in source)
    return tuple(map(str, source)) if several else ()


_BLOCK, _BLOCKS = 1 << 16, 64
"""Bytes of a file that are hashed at once, and at how many places: all of a file up to 4 MB."""


def _stamp(paths: Sequence[str]) -> str | None:
    """Return what tells whether files were written again: size, time, and a hash of blocks.

    Reading every vote of a large table again takes longer than drawing a batch from it. None where
    a name is no single file.
    """
    digest = hashlib.sha256()
    for path in map(Path, paths):
        if not path.is_file():
            return None
        held = path.stat()
        digest.update(f"{held.st_size} {held.st_mtime_ns}".encode())
        with path.open("rb") as stream:
            for k in range(_BLOCKS):
                stream.seek(max(0, held.st_size - _BLOCK) * k // (_BLOCKS - 1))
                digest.update(stream.read(_BLOCK))
    return digest.hexdigest()[:32] if paths else None


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as JSON types."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value is not None and value != ()
    }


def given_to(head: SessionHead, part: str) -> dict[str, Any]:
    """Return what a session was begun with: options of *reading*, or *fields* of its question."""
    # Sessions of earlier versions name a shape, which every table shows by itself.
    given = {name: value for name, value in head.options[part].items() if name != "shape"}
    return {n: tuple(value) if isinstance(value, list) else value for n, value in given.items()}


# Labels that the table holds already: counted apart, or the first draws of a session.


def labels_in(data: Data, task: LabelTask) -> dict[int, Label]:
    """Return the labels of the table by row, as answers of the task; an unknown word raises."""
    truth = data.roles.truth
    if truth is None:
        return {}
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
    inside = task.rows[task.strata.of >= 0].ravel()
    codes = coded.codes[inside, 0]
    labelled = np.isin(codes, list(words))
    return {
        row: words[code]
        for row, code in zip(inside[labelled].tolist(), codes[labelled].tolist(), strict=True)
    }


def _known(
    data: Data, task: LabelTask, labels: Mapping[int, Label], origin: str
) -> tuple[Ints | None, AnyInts | None, tuple[str, ...]]:
    """Return what may honestly be done with the labels that are there, and notes on it.

    Random ones are the first draws: the units that are labelled in every row. Labels of unknown
    origin leave the population, which then has strata of its own: they are known, and say nothing
    of the rest. Where the outputs of an item are labelled together, or several models compete, such
    a label counts when its item is drawn: it is what a person would say.
    """
    if not labels:
        return None, None, ()
    units = np.flatnonzero((task.strata.of >= 0) & np.isin(task.rows, list(labels)).all(axis=1))
    held = f"{count(len(labels))} labels of column {data.roles.truth!r}"
    doubt = _no_random_draw(task, units) if origin == "random" else None
    if origin == "random" and doubt is None:
        return units, None, (f"{held}: {count(units.size)} items are the first draws",)
    notes = (doubt,) if doubt is not None else ()
    if task.rows.shape[1] > 1 or task.claim == "best-of":
        note = (
            f"{held} count when their item is drawn. If they were drawn at random, begin with"
            " --label-draw random"
        )
        return None, None, (*notes, note)
    rest = task.strata.without(units)
    if not rest.n_items:
        raise InputError(
            f"every item has a label in column {data.roles.truth!r} already, so none is left to"
            " draw: ask the question itself"
        )
    return None, rest.of, notes


def _no_random_draw(task: LabelTask, units: Ints) -> str | None:
    """Return why labels that were declared random can not be, None if they may be.

    See `tallystick.table.doubts.label_doubt`: what the votes say of an item is its side.
    """
    side, of = task.strata.side, task.strata.of
    n = int(side.max(initial=0)) + 1
    each, own = (
        np.bincount(side[of[part]], minlength=n).astype(np.float64)
        for part in (np.flatnonzero(of >= 0), units)
    )
    named = task.rows.shape[1] == 1 and n <= len(task.classes)
    look = LabelView(
        kind="votes",
        names=("the consensus",),
        codes=np.tile(np.arange(n)[:, None], (2, 1)),
        labels=[str(task.classes[k]) if named else f"group {k + 1} of {n}" for k in range(n)],
        known=np.repeat([False, True], n),
        counts=np.concatenate([each - own, own]),
    )
    found = label_doubt([look])
    return None if found is None else f"{found.shown}. They are taken as labels of unknown origin"


_KNOWN = 10
"""Labels of the table are read in batches of so many."""


def _take_known(work: Work, units: Ints, labels: Mapping[int, Label]) -> None:
    """Write labels that were drawn at random before as the first draws of the session."""
    task, contest = work.task, work.task.contest
    # Guesses learn from one batch to the next.
    size = _KNOWN
    if contest is not None:
        # Only items on which the models differ are ever drawn. A contest settles who is left by
        # whole batches, and these items were drawn before anybody was.
        contested = contest.items(np.ones(len(task.names), np.bool_), units[:0])
        units = units[np.isin(units, contested)]
        size = max(1, units.size)
    order = spawn(work.session.head.seed + 2, 1)[0].permutation(units)  # theirs is not known
    for at in range(0, units.size, size):
        drawn = batch_event(work.session, task, work.cells, order[at : at + size])
        asks = work.session.then([drawn]).asks[len(work.session.asks) :]
        work.write([drawn, *answers_in_table(labels, asks)])


# The questions that labels can answer, found through the registry.
#
# A capability with a `labelling` hook says itself what a person should label. How common a label is
# has no capability of its own, so that question lives here.


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
    made, _ = votes_task_strata(votes, strata)
    classes = votes.labels
    named = question.positive is not None
    codes = [class_code(classes, question.positive)] if named else []
    # The shares of two labels are one number: the second is one minus the first.
    wanted = codes or ([1] if len(classes) == 2 else range(len(classes)))
    measures = tuple(
        class_measure(str(classes[code]), code, made, limit=question.at_least) for code in wanted
    )
    return LabelTask(
        claim="share",
        classes=classes,
        strata=made,
        rows=np.arange(votes.place.size)[:, None],
        measures=measures,
        columns=judges,
        shared=share_estimator(votes, made, wanted),
    )


QUESTIONS = (*(entry.verb for entry in ENTRIES if entry.labels), "prevalence")
"""What can be asked, in the order of ``--help``."""


def _unanswered(data: Any, question: Any) -> Result:
    raise InputError("prevalence has no result of its own beside the numbers of the session")


PREVALENCE: Capability[Result] = Capability(
    verb="prevalence",
    question=PrevalenceLabels,
    answer=_unanswered,
    door=Door(verb="judge", want="judges"),
    labelling=labelling,
)


def label_question(name: str) -> Capability[Result]:
    """Return a question that labels can answer, by its name.

    >>> label_question("judge").verb
    'judge'
    """
    if name not in QUESTIONS:
        raise InputError(unknown("question", name, QUESTIONS))
    return PREVALENCE if name == "prevalence" else capability(name)


def options_of(asked: Capability[Result], given: Mapping[str, Any]) -> Question:
    """Make the options of a question, and refuse one that it does not have."""
    known = sorted(one.name for one in fields(asked.question))
    for name in given:
        if name not in known:
            raise InputError(f"{asked.verb}: {unknown('option', name, known)}")
    return asked.question(**given)


def task_of(
    asked: Capability[Result], data: Data, question: Question, *strata: AnyInts
) -> LabelTask:
    """Return what a person should label; a session gives the strata that it keeps."""
    assert asked.labelling is not None
    task: LabelTask = asked.labelling(data, question, *strata)
    return task


def label(
    data: Any,
    session: str | Path,
    *,
    question: str | None = None,
    write: bool = True,
    **given: Any,
) -> Work:
    """Begin a labelling session in the file *session*, or continue it if it is there.

    Parameters
    ----------
    data
        A frame, a path, a list: what `read` takes. None for the files that a session names.
    session
        The file that holds the draws and the answers.
    question
        score, compare, judge, bound or prevalence.
    write
        Whether to lock a session that is there for writing.
    **given
        The columns of the question, its options, the options of reading, and how the session is
        run (`SessionSettings`): ``target=.05``, ``show=("text",)``. A session that is there was
        begun with these or without any.
    """
    if _exists(session):
        work = reopen(session, data, write=write)
        try:
            _check_same(work, question, given)
        except InputError:
            work.close()
            raise
        return work
    if data is None or question is None:
        raise InputError(f"{session} does not exist yet: give the table and question to begin it")
    kinds = (SessionSettings, label_question(question).question)
    names = [{one.name for one in fields(kind)} for kind in kinds]
    how, own = ({name: given.pop(name) for name in list(given) if name in part} for part in names)
    return begin(
        session,
        data,
        question=question,
        reading=given,
        options=own,
        settings=SessionSettings(**how),
    )


def _exists(path: str | Path) -> bool:
    return Path(path).exists() and bool(Path(path).stat().st_size)


def _check_same(work: Work, question: str | None, given: Mapping[str, Any]) -> None:
    """Refuse what says something else than the session was begun with."""
    head = work.session.head
    fixed = head.options
    kept = {"question": head.question, "readers": len(head.readers), "truth": fixed.get("truth")}
    kept |= {name: getattr(head, name) for name in ("alpha", "seed", "budget", "show")}
    kept |= {"target": fixed.get("epsilon") or fixed.get("target")}
    kept |= {**fixed["reading"], **fixed["fields"]}
    asked = {} if question is None else {"question": question}
    for name, value in {**asked, **given}.items():
        if name in ("ask", "instructions", "origin"):
            continue
        said, own = _words(value), _words(kept.get(name))
        if said != own and not any(sign in word for word in said for sign in "*?["):
            raise InputError(
                f"{work.session.path} was begun with {name} {', '.join(own) or 'none'}, and not"
                f" with {', '.join(said)}: leave {name} out, or name another session"
            )


def _words(value: Any) -> list[str]:
    """Return what an option names, one by one: a comma and a list mean the same."""
    several = value if isinstance(value, tuple | list) else () if value is None else (value,)
    return [part.strip() for one in several for part in str(one).split(",") if part.strip()]
