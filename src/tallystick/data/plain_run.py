"""A plain result file as the log of one run: one row per item, and a column for each metric.

Items are called by their name or, where no column names them, by a hash of what was asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tallystick.data.detect.names import (
    ITEM_NAMES,
    REPLICATE_NAMES,
    is_identifier,
    is_truth,
    plain,
)
from tallystick.data.detect.profile import Profile, look
from tallystick.data.detect.sample import draw
from tallystick.data.layout import Layout
from tallystick.data.named_truth import named_truth
from tallystick.data.numbers import read_numbers
from tallystick.data.roles import Roles
from tallystick.errors import InputError
from tallystick.io import Table, identifier
from tallystick.io.logs.log import Log
from tallystick.io.nearest import missing_column
from tallystick.values import is_missing, whole

__all__ = ["MODEL_COLUMNS", "AskedOfRuns", "cells_of", "item_column", "plain_run", "what_was_asked"]

MODEL_COLUMNS = frozenset({"model", "model_name", "system"})
"""Columns that name the model of a row."""

_NUMERIC = 0.5
"""Share of a column's values that are numbers, at least, for it to be a metric."""


@dataclass(frozen=True)
class AskedOfRuns:
    """What the caller says of every file."""

    layout: Layout
    given: Roles
    missing: tuple[str, ...]


def plain_run(table: Table, name: str, asked: AskedOfRuns) -> tuple[Log, tuple[str, ...]]:
    """Return a result file as the log of one run: every column of numbers is a metric."""
    layout, given = asked.layout, asked.given
    ignored = ",".join(layout.ignore).split(",")
    left = [name for name in table.columns if any(fnmatchcase(name, one) for one in ignored)]
    table = replace(table, left_out={**table.left_out, **dict.fromkeys(left, "left out")})
    profiles = look(draw(table))
    item = item_column(table, given)
    metrics = _metrics(table, profiles, layout, given, item)
    items, note = _item_names(table, item, profiles, metrics, given)
    scores = {}
    unscored = 0
    truth = _truth(table, metrics, asked)
    if truth != given.truth:
        note += (f"{table.source}: column {truth!r} holds the true answers, by its name",)
    for metric in metrics:
        values = _values(table, metric, truth, asked.missing)
        held: dict[str, list[float]] = {}
        for key, value in zip(items, values, strict=True):
            # An item without a score is kept: that it has none may turn a gate.
            found = held.setdefault(key, [])
            if value == value:  # not NaN
                found.append(value)
        if metric == layout.metric or len(metrics) == 1:
            unscored = sum(value != value for value in values)
        scores[metric] = held
    groups = {
        column: dict(zip(items, map(str, cells_of(table, column)), strict=True))
        for column in given.columns("cluster", "by", "weight")
        if column in table.columns
    }
    model = _model(table, profiles) or Path(name).name.removesuffix(".gz").rpartition(".")[0]
    return Log(model or name, "", name, scores, unscored, groups=groups), note


def item_column(table: Table, given: Roles) -> str | None:
    """Return the column that names the items: the one given, or one with a usual name."""
    if given.item is not None:
        if given.item not in table.columns:
            raise InputError(missing_column(given.item, table.columns, table.source))
        return given.item
    usual = [name for name in table.columns if name.strip().lower() in ITEM_NAMES]
    return usual[0] if usual else None


def _metrics(
    table: Table,
    profiles: Mapping[str, Profile],
    layout: Layout,
    given: Roles,
    item: str | None,
) -> list[str]:
    """Return the columns that hold scores; the one that was asked for comes first."""
    if layout.metric is not None and layout.metric not in table.columns:
        raise InputError(missing_column(layout.metric, table.columns, table.source))
    if layout.metric is not None:
        return [layout.metric]
    held = {*given.holders(), item}
    found = [
        name
        for name, profile in profiles.items()
        if name not in held
        and not is_identifier(name)
        and not is_truth(name)
        and plain(name) not in REPLICATE_NAMES
        and (profile.numeric >= _NUMERIC or _is_mark(profile))
    ]
    if not found:
        raise InputError(
            f"{table.source}: no column holds scores. Name the one to compare (--metric C); it has"
            f" {', '.join(table.columns[:8])}"
        )
    return found


def _is_mark(profile: Profile) -> bool:
    from tallystick.values import as_pass_fail

    labels = sorted(profile.values, key=repr)
    return bool(labels) and as_pass_fail(labels) is not None


def _item_names(
    table: Table,
    item: str | None,
    profiles: Mapping[str, Profile],
    metrics: Sequence[str],
    given: Roles,
) -> tuple[list[str], tuple[str, ...]]:
    """Return what each row's item is called: its name, or a hash of what was asked."""
    if item is not None:
        blank = table.row_of(item, None)
        if blank is not None:
            raise InputError(f"{blank}: the item column {item!r} is blank. Name every item")
        return [str(whole(value)) for value in cells_of(table, item)], ()
    # What was asked is text that a run does not change; what was answered it does.
    asked = [name for name in what_was_asked(table) if name not in given.holders()]
    if not asked:
        raise InputError(
            f"{table.source}: no column names the items, so runs cannot be matched. Name it"
            f" (--item C); it has {', '.join(table.columns[:8])}"
        )
    cells = [cells_of(table, name) for name in asked]
    keys = [
        hashlib.sha256("\x1f".join(map(str, row)).encode()).hexdigest()[:12]
        for row in zip(*cells, strict=True)
    ]
    return keys, (f"{table.source}: items are matched by the content of {', '.join(asked)}",)


_ASKED = frozenset(
    {
        "input",
        "inputs",
        "prompt",
        "prompts",
        "question",
        "questions",
        "query",
        "user_input",
        "instruction",
        "context",
        "text",
        "problem",
        "task",
        "expected",
        "target",
        "reference",
    }
)
"""Columns that say what was asked: the content by which items without a name are matched."""


def what_was_asked(table: Table) -> list[str]:
    """Return the columns that say what was asked of a model."""
    return [name for name in table.columns if plain(name) in _ASKED]


def _truth(table: Table, metrics: Sequence[str], asked: AskedOfRuns) -> str | None:
    """Return the column of true answers: the one given, or one with such a name that fits."""
    given = asked.given
    if given.truth is not None and given.truth not in table.columns:
        raise InputError(missing_column(given.truth, table.columns, table.source))
    if given.truth is not None or len(metrics) > 1:
        return given.truth
    return named_truth(table, given, metrics, asked.missing)


def _values(table: Table, metric: str, truth: str | None, missing: Sequence[str]) -> list[float]:
    """Return the scores of a column; answers are held against the truth where there is one."""
    if truth is None:
        return [float(value) for value in read_numbers(table, [metric], missing)[:, 0]]
    silent = frozenset(missing)
    pairs = zip(cells_of(table, metric), cells_of(table, truth), strict=True)
    return [
        float("nan")
        if is_missing(true, silent) or is_missing(said, silent)
        else float(str(whole(said)) == str(whole(true)))
        for said, true in pairs
    ]


def cells_of(table: Table, column: str) -> list[Any]:
    """Return the cells of one column, in the order of the rows."""
    return [cell for (cell,) in table.query(f"select {identifier(column)} from rows")]


def _model(table: Table, profiles: Mapping[str, Profile]) -> str | None:
    """Return the model that a file names in a column of its own, if it names one only."""
    for name in table.columns:
        if plain(name) in MODEL_COLUMNS and name in profiles and profiles[name].distinct == 1:
            return str(next(cell for cell in cells_of(table, name) if cell is not None))
    return None
