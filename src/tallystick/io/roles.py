"""Which column is what: item, truth, weight, slices and labels, decided once for all verbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tallystick.errors import InputError
from tallystick.io.nearest import missing_column
from tallystick.io.table import Table
from tallystick.values.sql import identifier

__all__ = ["ROWS_COUNT", "ColumnOptions", "Roles", "assign", "expand"]

ROWS_COUNT = (
    "a row of weight w stands for w items that were seen alike: these are no sampling weights"
)
"""What counting verbs take a weight for."""

_TRUTH_NAMES = frozenset(
    {
        "truth",
        "true",
        "true_label",
        "gold",
        "gold_label",
        "ground_truth",
        "groundtruth",
        "target",
        "y_true",
    }
)


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """What the caller said about the columns.

    Parameters
    ----------
    item, truth, weight, by
        One column each, or None.
    labels
        Judges, models or columns: names, several in one string with commas, and globs (``lr_*``).
        Nothing means every column that is not named otherwise. An exact name wins over commas and
        globs.
    others
        Further columns that a verb names, role to column (``{"cluster": "scenario"}``): they are
        not labels.
    missing
        Tokens that mean "no answer", several in one string with commas, compared with what is
        written; blank and NaN always do.
    coerce
        Whether several spellings of one label are read as one.
    """

    item: str | None = None
    truth: str | None = None
    weight: str | None = None
    by: str | None = None
    labels: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    coerce: bool = False


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What each column is: the options, with globs expanded, defaults filled in and everything
    checked.
    """

    labels: tuple[str, ...]
    item: str | None = None
    truth: str | None = None
    weight: str | None = None
    by: str | None = None
    others: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    coerce: bool = False
    notes: tuple[str, ...] = ()


def assign(table: Table, options: ColumnOptions | None = None) -> Roles:
    """Decide what each column of *table* is, or refuse by the name of the column.

    Where no item is named, a column with a usual name (item, id, …) whose values are all different
    is taken; one whose values repeat is left out of the labels. Both are told in the notes.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> table = scan(pa.table({"id": [1, 2], "gold": [0, 1], "lr_a": [0, 1], "lr_b": [1, 1]}))
    >>> roles = assign(table, ColumnOptions(truth="gold"))
    >>> roles.item, roles.labels
    ('id', ('lr_a', 'lr_b'))
    >>> assign(table, ColumnOptions(labels=("lr_?,gold",))).labels
    ('lr_a', 'lr_b', 'gold')
    """
    options = options or ColumnOptions()
    named = {role: getattr(options, role) for role in ("item", "truth", "weight", "by")}
    taken: dict[str, str] = {}
    for role, column in {**named, **options.others}.items():
        if column is None:
            continue
        _check_usable(table, column, options.coerce)
        if column in taken and "by" not in (role, taken[column]):  # one may slice by the truth
            raise InputError(
                f"column {column!r} is given as {taken[column]} and as {role}: name two different"
                " columns"
            )
        taken.setdefault(column, role)
    item, aside, notes = _find_item(table, options, taken)
    labels = expand(options.labels, table, taken) if options.labels else None
    if labels is None:
        skip = {*taken, *table.left_out, *([item] if item else []), *aside}
        labels = tuple(column for column in table.columns if column not in skip)
        notes += _unnamed_truth(labels, options)
    if not labels:
        raise InputError(
            f"{table.source} has no label columns left besides {sorted(taken)}: name them"
        )
    for column in labels:
        _check_usable(table, column, options.coerce)
    return Roles(
        labels=labels,
        item=item,
        truth=options.truth,
        weight=options.weight,
        by=options.by,
        others=dict(options.others),
        missing=tuple(piece.strip() for token in options.missing for piece in token.split(",")),
        coerce=options.coerce,
        notes=notes,
    )


def expand(patterns: Sequence[str], table: Table, taken: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns that names, comma lists and globs mean, each once, in the order given.

    A glob passes over columns that have another role; naming such a column outright is refused.
    """
    found: dict[str, None] = {}
    for pattern in patterns:
        pieces = [pattern] if pattern in table.columns else pattern.split(",")
        for piece in pieces:
            name = piece if piece in table.columns else piece.strip()
            if name in table.columns:
                if name in taken:
                    raise InputError(
                        f"column {name!r} is given as {taken[name]} and as a label column:"
                        " choose one"
                    )
                found[name] = None
                continue
            usable = [
                column
                for column in table.columns
                if column not in taken and column not in table.left_out
            ]
            matches = [column for column in usable if fnmatchcase(column, name)] if name else []
            if not matches:
                if not any(sign in name for sign in "*?["):
                    raise InputError(
                        _reason(table, name) or missing_column(name, table.columns, table.source)
                    )
                raise InputError(
                    f"no column of {table.source} matches {name!r} (columns:"
                    f" {list(table.columns[:8])})"
                )
            found.update(dict.fromkeys(matches))
    return tuple(found)


def _check_usable(table: Table, column: str, coerce: bool) -> None:
    if not isinstance(column, str):
        raise InputError(f"a column is named by its text, got {column!r}")
    reason = _reason(table, column)
    if reason is not None:
        raise InputError(reason)
    if column not in table.columns:
        raise InputError(missing_column(column, table.columns, table.source))
    if column in table.doubtful and not coerce:
        raise InputError(f"{table.source}: {table.doubtful[column]}")


def _reason(table: Table, column: str) -> str | None:
    return f"{table.source}: {table.left_out[column]}" if column in table.left_out else None


def _find_item(
    table: Table, options: ColumnOptions, taken: Mapping[str, str]
) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """Return the item column, the columns that look like one but are not, and notes."""
    if options.item is not None:
        blank = table.row_of(options.item, None)
        if blank is not None:
            raise InputError(
                f"{blank}: the item column {options.item!r} is blank; name every item or remove"
                " the row"
            )
        twice = _twice(table, options.item)
        if twice is not None:
            raise InputError(
                f"duplicate item {twice[0]} in column {options.item!r}, at {twice[1]} and"
                f" {twice[2]}: keep one row an item; if each row is one vote, read it as a long"
                " table (--shape long)"
            )
        return options.item, (), ()
    usual = [
        name for name in table.columns if name.strip().lower() in ITEM_NAMES and name not in taken
    ]
    named = {
        *options.labels,
        *(piece.strip() for pattern in options.labels for piece in pattern.split(",")),
    }
    for name in usual:
        if name in table.left_out or name in table.doubtful or name in named:
            continue
        if table.row_of(name, None) is None and (twice := _twice(table, name)) is None:
            others = tuple(other for other in usual if other != name and other not in named)
            notes = tuple(
                f"column {other!r} is left out of the labels: its name is that of an item"
                for other in others
            )
            return name, others, (f"column {name!r} names the items", *notes)
    aside = tuple(name for name in usual if name not in named)
    notes = tuple(
        f"column {name!r} is left out of the labels: it is named like an item, but repeats"
        for name in aside
    )
    return None, aside, notes


def _twice(table: Table, column: str) -> tuple[str, str, str] | None:
    """Return the first value that occurs twice, and the two places."""
    name = identifier(column)
    found = table.query(f"select {name} from rows group by 1 having count(*) > 1 limit 1")
    if not found:
        return None
    rows = table.query(
        "select any_value(value), list(place order by place) from "
        f"(select {name} as value, row_number() over () as place from rows) "
        f"where value in (select {name} from rows group by 1 having count(*) > 1) "
        "group by value order by min(place) limit 1"
    )
    [(value, places)] = rows
    return repr(value), str(table.place(places[0])), str(table.place(places[1]))


def _unnamed_truth(labels: Sequence[str], options: ColumnOptions) -> tuple[str, ...]:
    if options.truth is not None:
        return ()
    return tuple(
        f"column {name!r} is read as one more label column; if it holds the true labels, name it as"
        " the truth (--truth)"
        for name in labels
        if name.strip().lower() in _TRUTH_NAMES
    )
