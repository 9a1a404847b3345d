"""Logs as runs: what each model scored on the items of a task, read by the declarations of
`tallystick.table.logs`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.table import logs as declared
from tallystick.table.log_rows import Row, Rows, find, opened, rows_of
from tallystick.table.logs import LogFormat, ScoreFields
from tallystick.table.sources import File

Scores: TypeAlias = dict[str, dict[str, list[float]]]
"""Metric to item to scores: one score per replicate (epoch, trial)."""

_WORDS = {"yes": 1.0, "true": 1.0, "pass": 1.0, "no": 0.0, "false": 0.0, "fail": 0.0}
_LONGEST = 40
"""Signs of a prompt that go into a name."""


class Loss(str):
    """A note on what was lost when a log was read; it belongs to the answer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Log:
    """What one model scored.

    Parameters
    ----------
    model
        Its name.
    task
        What it was tried on; logs of one model on several tasks are put below each other.
    source
        The file, for messages.
    scores
        Metric to item to scores.
    unscored
        Samples that have no score (they failed).
    facts
        What else names the run, such as its prompt or the arguments of its task: two runs of one
        model are told apart by the first fact that differs.
    groups
        Groups of items that the log carries, such as the subject of a question: name of the group
        to item to value. They are offered as clusters.
    reported
        The mean that the tool itself reports, by metric.
    """

    model: str
    task: str
    source: str
    scores: Mapping[str, Mapping[str, list[float]]] = field(repr=False)
    unscored: int = 0
    facts: Mapping[str, str] = field(default_factory=dict, repr=False)
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    reported: Mapping[str, float] = field(default_factory=dict, repr=False)


def log_formats() -> dict[str, LogFormat]:
    """Return every format of logs by its name."""
    return {one.name: one for one in declared.FORMATS}


def sniff_text(head: str) -> str | None:
    """Return the format of a log that starts like this, or None.

    >>> sniff_text('{"doc_id": 0, "doc": {}, "resps": [], "doc_hash": "ab"}')
    'lm-eval'
    >>> sniff_text('{"item": 1, "gpt": 0}') is None
    True
    """
    return next((one.name for one in declared.FORMATS if one.holds(head)), None)


def sniff_archive(names: Sequence[str]) -> str | None:
    """Return the format of a log that is a zip archive with these entries, or None.

    >>> sniff_archive(["_journal/start.json", "samples/q1_epoch_1.json", "header.json"])
    'inspect-eval'
    """
    fitting = (one for one in declared.FORMATS if any(m.fit_archive(names) for m in one.marks))
    return next((one.name for one in fitting), None)


def read_logs(files: Sequence[File], formats: Sequence[str]) -> list[Log]:
    """Read every file in the format that was detected for it, and keep the order of the files."""
    known = log_formats()
    for name in formats:
        if name not in known:
            raise InputError(f"{name!r} is not a log format: it is one of {', '.join(known)}")
    found: list[Log] = []
    for file, name in zip(files, formats, strict=True):
        form = known[name]
        if form.is_table:
            raise InputError(f"{file.name} holds rows and no runs ({name}): read it on its own")
        together = [one for one, other in zip(files, formats, strict=True) if other == name]
        found += _runs(file, form, _named(file, form, together))
    return found


def read_table(files: Sequence[File], form: LogFormat) -> dict[str, list[str | None]]:
    """Return a log of rows, such as attempts or annotations, as columns of text."""
    rows: list[dict[str, Any]] = []
    for number, file in enumerate(files, start=1):
        for _, row in _rows(file, form)[1]:
            held: dict[str, Any] = dict(row)
            if form.columns:
                held = {name: find(row, path) for name, path in form.columns.items()}
            elif "round" in held:
                held["round"] = number  # every file is a round
            if form.counts is not None:
                path, counted = form.counts
                entries = [_label(one) for one in find(row, path) or ()]
                held |= {name: entries.count(label) for name, label in counted.items()}
            rows.append(held)
    names = dict.fromkeys(name for row in rows for name in row)
    cells = {
        name: [None if row.get(name) is None else str(row[name]) for row in rows] for name in names
    }
    return {name: column for name, column in cells.items() if any(c is not None for c in column)}


def _label(entry: Any) -> str:
    """Return the label of an entry, [label, mode, validator] or an object."""
    label = entry[0] if isinstance(entry, list) and entry else entry
    return str(label.get("label") if isinstance(label, Mapping) else label).lower()


def _rows(file: File, form: LogFormat) -> Rows:
    return form.read(file) if form.read is not None else rows_of(file, form.rows, form.heads)


# One file: its rows become scores by run.


@dataclass
class _Run:
    """What is known so far of one run of a file."""

    row: Row
    scores: Scores = field(default_factory=dict)
    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    unscored: int = 0


def _runs(file: File, form: LogFormat, name: Mapping[str, str]) -> list[Log]:
    """Read one file: a log per run inside."""
    head, rows = _rows(file, form)
    for path, allowed, message in form.checks if head else ():
        value = find(head, path)
        if value is None or (allowed and value not in allowed):
            raise FileError(f"{file.name} {message.format(found=value)}")

    runs: dict[str, _Run] = {}
    for place, row in rows:
        lacking = [key for key in form.needed if key not in row]
        if lacking:
            raise FileError(f"{file.name}, {place} has no {lacking[0]!r}: {form.other}")
        if form.skipped and row.get(form.skipped) is not None:
            continue
        if form.same is not None:
            one, other = (row.get(key) for key in form.same)
            if one and other and one != other:
                continue
        found = _scored(row, form)
        if not found and not form.unscored:
            continue
        # An index counts models and prompts together; without one, their names do.
        found_run = find(row, form.run) if form.run else None
        told = (form.models,) if found_run is not None else (form.model, form.models, form.variant)
        parts = [found_run, *(find(row, path) for path in told if path)]
        run = runs.setdefault(json.dumps(parts, default=str), _Run(row))
        run.unscored += not found
        if found:
            item = _item(row, form, f"{file.name}, {place}")
            for metric, value in found.items():
                run.scores.setdefault(metric, {}).setdefault(item, []).append(value)
            _add_groups(run, row, form, item)
    if not runs:
        raise FileError(f"{file.name} holds no result: copy or export it again ({form.name})")

    called = _called(list(runs.values()), head, form, name)
    for model, run in zip(called, runs.values(), strict=True):
        if not run.scores:
            raise FileError(
                f"{file.name}: {model!r} has no score that is a number: its calls failed, or"
                " nothing was scored"
            )
    _drop_twins([run.scores for run in runs.values()], form)
    return [
        Log(
            model=model,
            task=str(find(head, form.task) or "") if form.task else name.get("task", ""),
            source=file.name,
            scores=run.scores,
            unscored=run.unscored,
            facts=_facts(run.row, head, form) | {k: v for k, v in name.items() if k == "run"},
            groups=run.groups,
            reported={} if form.reported is None else _values(head, form.reported, form),
        )
        for model, run in zip(called, runs.values(), strict=True)
    ]


def _scored(row: Row, form: LogFormat) -> dict[str, float]:
    """Return the scores of a row by name; none of a call that failed."""
    found: dict[str, float] = {}
    failed = form.failed is not None and find(row, form.failed[0]) == form.failed[1]
    if failed or not all(find(row, path) for path in form.required):
        return found
    for way in form.scores:
        if way.when is None or find(row, way.when[0]) == way.when[1]:
            found |= _values(row, way, form)
    return found


def _values(row: Any, way: ScoreFields, form: LogFormat) -> dict[str, float]:
    """Return the scores that stand in a row in one of the declared ways."""
    held = opened(find(row, way.at))
    entries = _entries(held, way)
    if way.listed:
        entries = [(str(key), row.get(key)) for key in find(row, way.listed) or ()]
    more = str(find(row, way.filtered)) if way.filtered else "none"
    found = {}
    for key, cell in entries:
        matched = re.fullmatch(way.keys, key, re.DOTALL)
        if matched is None:
            continue
        name = next(part for part in matched.groups() if part is not None)
        if way.called:
            name = str(find(row, way.called) or way.called)
        name += way.suffix if more == "none" else f",{more}"
        # A score in named parts is as many scores.
        parts = cell.items() if isinstance(cell, Mapping) else ((None, cell),)
        for part, one in parts:
            value = as_score(one, form.words)
            if value is not None:
                found[name if part is None else f"{name}/{part}"] = value
    return found


def _entries(held: Any, way: ScoreFields) -> list[tuple[str, Any]]:
    if isinstance(held, Mapping):
        if not way.value:
            return [(str(key), cell) for key, cell in held.items()]
        return [(str(key), find(cell, way.value)) for key, cell in held.items()]
    if not isinstance(held, list) or not way.name:
        return []
    return [
        (str(find(one, way.name) or "score"), find(one, way.value))
        for one in held
        if isinstance(one, Mapping) and not (way.unless and find(one, way.unless) is not None)
    ]


def as_score(value: object, words: Mapping[str, float]) -> float | None:
    """Return a score as a number; None for anything else, such as other text, a list or NaN.

    >>> [as_score(one, {"C": 1.0}) for one in (True, 0.5, "C", "No", " 0.25", "?", float("nan"))]
    [1.0, 0.5, 1.0, 0.0, 0.25, None, None]
    """
    if isinstance(value, str):
        word = value.strip()
        if word in words or word.lower() in _WORDS:
            return words.get(word, _WORDS.get(word.lower()))
        try:
            value = float(word)
        except ValueError:
            return None
    return float(value) if isinstance(value, bool | int | float) and value == value else None


def _item(row: Row, form: LogFormat, place: str) -> str:
    """Return the name of an item, or a hash of what was asked."""
    named = find(row, form.item) if form.item else None
    if named is not None:
        text = (
            named
            if isinstance(named, str)
            else json.dumps(named, sort_keys=True, ensure_ascii=False)
        )
        rules = [find(row, path) for path in form.rules]
        return f"{text} #{content_key(*rules)[:6]}" if form.rules else text
    asked = [find(row, path) for path in form.asked]
    if all(one is None for one in asked):
        wanted = form.item or form.asked[0]
        raise FileError(f"{place} has a score but no {wanted.partition('|')[0]}: {form.other}")
    return content_key(*asked)


def content_key(*parts: Any) -> str:
    """Return a short hash of what was asked, by which items without a name are matched.

    >>> content_key("2 + 2", None) == content_key("2 + 2", None)
    True
    """
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _add_groups(run: _Run, row: Row, form: LogFormat, item: str) -> None:
    held = find(row, form.groups[0]) if form.groups is not None else None
    for key, value in held.items() if isinstance(held, Mapping) else ():
        plain = isinstance(value, str | int) and not isinstance(value, bool)
        if plain and form.groups is not None and re.fullmatch(form.groups[1], str(key)):
            run.groups.setdefault(str(key), {})[item] = str(value)


def _drop_twins(runs: Sequence[Scores], form: LogFormat) -> None:
    """Leave out a score that says the same as another one in every run, such as success and 1."""
    if form.twin is None:
        return
    for metric in {name for scores in runs for name in scores}:
        other = re.sub(form.twin[0], form.twin[1], metric)
        is_twin = re.fullmatch(form.twin[0], metric) and other != metric
        if is_twin and all(scores.get(metric) == scores.get(other) for scores in runs):
            for scores in runs:
                scores.pop(metric, None)


# What runs are called: by the log itself, its file or its folder, and by what differs.


def _named(file: File, form: LogFormat, together: Sequence[File]) -> dict[str, str]:
    """Return the model, and perhaps task and run, by the names of file and folder."""
    name, folder = _plain_name(file), file.path.resolve().parent.name
    if form.folder == "several":
        tasks = [re.fullmatch(form.file, _plain_name(one)) for one in together]
        apart = None not in tasks and len({one["task"] for one in tasks if one}) == len(tasks)
        own = re.fullmatch(form.file, name)
        if apart or len({one.path.parent.resolve() for one in together}) > 1:
            return {"model": folder, "task": own["task"] if own else ""}
        return {"model": name.removesuffix(".jsonl")}
    if form.folder == "always":
        own = re.fullmatch(form.file, folder)
        if own is None:
            return {"model": folder}
        return {"model": own["model"], "task": own["task"] + own["more"]}
    stem = name.partition(".")[0]
    if form.folder == stem and folder:
        return {"model": folder}
    own = re.fullmatch(form.file, name) if form.file else None
    if own is None:
        return {"model": stem}
    return {"model": own["model"].replace("__", "/"), "run": own["run"] or ""}


def _plain_name(file: File) -> str:
    return file.path.name.removesuffix(".gz")


def _called(runs: Sequence[_Run], head: Row, form: LogFormat, name: Mapping[str, str]) -> list[str]:
    """Name the runs of a file: by the model, and by what differs where that is not enough."""
    names = []
    for run in runs:
        found = find(run.row, form.model) or find(head, form.model) if form.model else None
        names.append("+".join(map(str, found)) if isinstance(found, list) else str(found or ""))
    several = {
        path: len({str(find(run.row, path)) for run in runs}) > 1
        for path in (form.models, form.run, form.variant)
        if path
    }
    called: list[str] = []
    for run, model in zip(runs, names, strict=True):
        if not model and form.models and several[form.models]:
            model = str(find(run.row, form.models) or "")
        elif not model and form.run:
            model = str(find(run.row, form.run) or "")
        model = model or name["model"]
        if form.variant and several[form.variant]:
            model = f"{model}: {_short(str(find(run.row, form.variant) or ''))}"
        called.append(f"{model} ({len(called) + 1})" if model in called else model)
    return called


def _facts(row: Row, head: Row, form: LogFormat) -> dict[str, str]:
    """Return what else names a run: a text as it is, another value with its name."""
    found: dict[str, str] = {}
    for path in form.facts:
        held = find(head, path) or find(row, path)
        for one in held if isinstance(held, list) else [held]:
            facts = one if isinstance(one, Mapping) else {path: one}
            for key, value in facts.items():
                if value is not None and str(value).strip():
                    alone = not isinstance(one, Mapping) or (
                        isinstance(value, str) and " " in value
                    )
                    found[f"{path}.{key}"] = str(value) if alone else f"{key}={value}"
    return found


def told_apart(logs: Sequence[Log]) -> list[Log]:
    """Return the logs with names such that no two runs share one.

    Runs of different models keep the names of the models. Where one model was run twice on a task
    (two prompts, two versions), its runs are told apart by the first of these that differs: a fact
    of the log (the prompt, the arguments of the task), the name of the file, its folder.

    Examples
    --------
    >>> scores = {"acc": {"q1": [1.0]}}
    >>> short = Log("gpt", "qa", "a.json", scores, facts={"prompt": "Answer."})
    >>> long = Log("gpt", "qa", "b.json", scores, facts={"prompt": "Think, then answer."})
    >>> [log.model for log in told_apart([short, long])]
    ['gpt (Answer.)', 'gpt (Think, then answer.)']
    """
    twice: set[str] = set()
    homes: dict[tuple[str, str], str] = {}
    for log in logs:
        if homes.setdefault((log.model, log.task), log.source) != log.source:
            twice.add(log.model)
    named = list(logs)
    for model in twice:
        own = [i for i, log in enumerate(logs) if log.model == model]
        for i, mark in zip(own, _marks([logs[i] for i in own]), strict=True):
            named[i] = replace(logs[i], model=f"{model} ({mark})")
    return named


def _marks(logs: Sequence[Log]) -> list[str]:
    """Return what tells the logs of one model apart."""
    ways = [[log.facts.get(fact, "") for log in logs] for fact in logs[0].facts]
    paths = [PurePath(log.source) for log in logs]
    ways += [[path.stem for path in paths], [path.parent.name for path in paths]]
    for marks in ways:
        short = [_short(mark) for mark in marks]
        # The mark has to separate every two logs of one task, and may join different tasks.
        keys = {(mark, log.task) for mark, log in zip(short, logs, strict=True)}
        if all(short) and len(keys) == len(logs):
            return short
    raise InputError(
        f"{logs[0].source} and {logs[1].source} both hold model {logs[0].model!r} on"
        f" {logs[0].task or 'one task'}, and nothing tells them apart: name the runs (--run"
        f" old={logs[0].source} --run new={logs[1].source})"
    )


def _short(mark: str) -> str:
    words = " ".join(mark.split())
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
