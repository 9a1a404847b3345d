"""Items from a table of foreign data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tallystick import io
from tallystick.clients.answers import read_label, same_label
from tallystick.errors import InputError
from tallystick.shift.items import Items
from tallystick.values.label import whole

__all__ = ["Columns", "read_items", "read_matrix"]


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns are what.

    Parameters
    ----------
    truth
        The true label.
    item
        The name of the item; None numbers the rows.
    old
        The old answer.
    confidence
        What foretells change.
    labels
        All labels; empty means those of the truth.
    other
        Old answers that mean "none of the labels".
    missing
        Tokens that mean blank.
    replay
        The column of new answers, where they are in the table already: held to the same spelling.
    coerce
        Read a label that is spelled in two ways (1 and 1.0, Cat and cat) as one, instead of
        refusing.
    """

    truth: str
    item: str | None = None
    old: str | None = None
    confidence: str | None = None
    labels: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    replay: str | None = None
    coerce: bool = False


def read_items(
    source: str | Path | Sequence[str],
    columns: Columns,
    *,
    old_file: str | Path | None = None,
    matrix: Path | None = None,
) -> tuple[Items, list[Mapping[str, Any]], tuple[str, ...]]:
    """Return the items, the row of each (what a client is given), and notes for the user.

    Parameters
    ----------
    source
        The table, or several.
    columns
        What is what.
    old_file
        A second table with the old answers, joined by the item's name: every item has to be in it,
        once.
    matrix
        A file with the old confusion matrix.
    """
    sources = [source] if isinstance(source, str | Path) else list(source)
    with io.scan(sources, shape="wide") as table:
        rows = _rows(table, columns.missing)
        # Named columns are looked up by the same code, with the same messages, as in every verb.
        named = {name: value for name, value in (("confidence", columns.confidence),) if value}
        if columns.old is not None and old_file is None:
            named["old"] = columns.old
        options = io.ColumnOptions(
            item=columns.item, truth=columns.truth, others=named, missing=columns.missing
        )
        roles = io.assign(
            table, io.ColumnOptions(**{**vars(options), "labels": (_any(table, options),)})
        )
        if columns.confidence is not None:
            io.check_numbers(table, columns.confidence)
        notes = table.notes
        names = [str(row[roles.item]) for row in rows] if roles.item else None
        truth = [whole(row[columns.truth]) for row in rows]
        for place, value in enumerate(truth):
            if value is None:
                raise InputError(
                    f"{table.place(place + 1)}: the true label {columns.truth!r} is blank: every"
                    " item needs it"
                )
    old = None
    if columns.old is not None:
        old = (
            [whole(row[columns.old]) for row in rows]
            if old_file is None
            else _joined(old_file, columns, names)
        )
    chosen, truth, old = _spelled(columns, truth, old, rows)
    items = Items.of(
        truth,
        old=old,
        matrix=None if matrix is None else read_matrix(matrix),
        confidence=(
            None if columns.confidence is None else [float(row[columns.confidence]) for row in rows]
        ),
        labels=chosen or None,
        other=columns.other,
        names=names,
    )
    return items, rows, notes


def _spelled(
    columns: Columns, truth: list[Any], old: list[Any] | None, rows: Sequence[Mapping[str, Any]]
) -> tuple[tuple[str, ...], list[Any], list[Any] | None]:
    """Return labels, truth and old answers in one spelling; refuse two spellings of a label unless
    they are coerced.
    """
    aside = {None, *columns.other}

    def texts(values: Sequence[Any]) -> list[str | None]:
        return [None if value is None else str(whole(value)).strip() for value in values]

    found: dict[str, list[str | None]] = {columns.truth: [*columns.labels, *texts(truth)]}
    earlier = f"{columns.old} (old file)" if columns.old == columns.truth else str(columns.old)
    if old is not None:
        found[earlier] = [text for text in texts(old) if text not in aside]
    if columns.replay is not None and rows and columns.replay in rows[0]:
        known = sorted({text for text in found[columns.truth] if text is not None})
        said = {text for text in texts([row[columns.replay] for row in rows]) if text not in aside}
        # Only what would not be read as the label that it is: a replayed answer may also be free
        # text.
        unread = [
            text for text in said if text is not None and read_label(text, known) == len(known)
        ]
        found[columns.replay] = [
            *found.get(columns.replay, []),
            *sorted(text for text in unread if same_label(text, known) < len(known)),
        ]
    spelling = io.check_vocabulary(
        {name: list(dict.fromkeys(v)) for name, v in found.items()}, coerce=columns.coerce
    )
    if not columns.coerce:
        return columns.labels, truth, old
    of_truth, of_old = spelling[columns.truth], spelling.get(earlier, {})
    labels = tuple(dict.fromkeys(str(of_truth[label]) for label in columns.labels))
    return (
        labels,
        [of_truth[text] for text in texts(truth)],
        None if old is None else [of_old.get(text, text) for text in texts(old)],
    )


def _any(table: io.Table, options: io.ColumnOptions) -> str:
    """Return some column for the labels' role: this verb has no votes, but the roles want one."""
    taken = {options.item, options.truth, *options.others.values()}
    return next(
        (name for name in table.columns if name not in taken and name not in table.left_out), ""
    )


def _rows(table: io.Table, missing: Sequence[str]) -> list[Mapping[str, Any]]:
    gone = {"", *missing}
    kept = [name for name in table.columns if name not in table.left_out]
    select = ", ".join(io.identifier(name) for name in kept)
    found = table.query(f"select {select} from rows")

    def cell(value: Any) -> Any:
        return (
            None if value is None or (isinstance(value, str) and value.strip() in gone) else value
        )

    return [{name: cell(value) for name, value in zip(kept, row, strict=True)} for row in found]


def _joined(path: str | Path, columns: Columns, names: Sequence[str] | None) -> list[Any]:
    """Return the old answers of a second table, in the order of the items."""
    if columns.item is None or names is None:
        raise InputError(
            "a file of old answers is joined by the name of the item: name its column (--item)"
        )
    with io.scan([str(path)], shape="wide") as table:
        for name in (columns.item, columns.old):
            if name not in table.columns:
                raise InputError(
                    f"{table.source} has no column {name!r} (columns: {list(table.columns[:8])})"
                )
        answers: dict[str, Any] = {}
        for row in _rows(table, columns.missing):
            key = str(row[columns.item])
            if key in answers:
                raise InputError(
                    f"{table.source} has item {key!r} twice: keep one old answer an item"
                )
            answers[key] = whole(row[str(columns.old)])
    for name in names:
        if name not in answers:
            raise InputError(
                f"item {name!r} is missing from the old file {path}: every item needs its old"
                " answer there"
            )
    return [answers[name] for name in names]


def read_matrix(path: Path) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a matrix of numbers from CSV without a header, rows by true label."""
    try:
        lines = path.read_text(encoding="utf-8").strip().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the matrix {path} cannot be read: {error}") from error
    try:
        rows = [[float(cell) for cell in line.replace("\t", ",").split(",")] for line in lines]
    except ValueError as error:
        raise InputError(
            f"the matrix {path} must hold numbers only, one row a true label: {error}"
        ) from error
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError(
            f"the matrix {path} must have rows of equal length, got {[len(row) for row in rows]}"
        )
    return np.array(rows)
