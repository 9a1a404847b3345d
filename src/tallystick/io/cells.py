"""Tokens that stand nowhere, and columns of numbers that hold something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallystick.errors import InputError
from tallystick.io.nearest import missing_column
from tallystick.io.table import Table
from tallystick.values.label import Label
from tallystick.values.missing import as_number, is_missing, without_missing
from tallystick.values.sql import Kind

__all__ = ["check_numbers", "unmatched", "unmatched_labels"]

_AT_ONCE = 200
"""Columns that one query looks at: an expression of thousands is too deep for the engine."""


def unmatched(
    table: Table, columns: Sequence[str], tokens: Sequence[str], *, option: str = "--missing"
) -> tuple[str, ...]:
    """Return one sentence for each token of *option* that stands in none of *columns*.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> table = scan(pa.table({"gpt": ["yes", "NA"], "claude": ["-1.0", "no"]}))
    >>> unmatched(table, table.columns, ("NA", "-1", "none"))
    ("--missing none: no cell of 'gpt', 'claude' is 'none' (upper and lower case matter)",)
    """
    kinds = table.kinds

    def stands(token: str) -> bool:
        return any(
            _stands_in(
                table, {name: kinds[name] for name in columns[start : start + _AT_ONCE]}, token
            )
            for start in range(0, len(columns), _AT_ONCE)
        )

    absent = [token for token in tokens if token and not stands(token)]
    return _not_there(columns, absent, option)


def unmatched_labels(
    labels: Mapping[str, Sequence[Label]], columns: Sequence[str], tokens: Sequence[str]
) -> tuple[str, ...]:
    """Return what `unmatched` says of a table, from the different labels of its columns.

    >>> unmatched_labels({"gpt": ("yes", "NA", None)}, ["gpt"], ("NA", "none"))
    ("--missing none: no cell of 'gpt' is 'none' (upper and lower case matter)",)
    """

    def stands(token: str) -> bool:
        only = frozenset((token,))
        held = (label for name in columns for label in labels[name])
        return any(is_missing(label, only) and not is_missing(label) for label in held)

    absent = [token for token in tokens if token and not stands(token)]
    return _not_there(columns, absent, "--missing")


def _not_there(columns: Sequence[str], tokens: Sequence[str], option: str) -> tuple[str, ...]:
    shown = ", ".join(map(repr, columns[:4])) + (
        f" … ({len(columns)} in all)" if len(columns) > 4 else ""
    )
    return tuple(
        f"{option} {token}: no cell of {shown} is {token!r} (upper and lower case matter)"
        for token in tokens
    )


def _stands_in(table: Table, kinds: Mapping[str, Kind], token: str) -> bool:
    found = [
        f"({without_missing(name, kind, ())} is not null and"
        f" {without_missing(name, kind, (token,))} is null)"
        for name, kind in kinds.items()
    ]
    return bool(table.query(f"select 1 from rows where {' or '.join(found)} limit 1"))


def check_numbers(
    table: Table,
    column: str,
    *,
    missing: Sequence[str] | None = None,
    low: float | None = None,
    high: float | None = None,
) -> None:
    """Refuse a column of numbers that holds anything but finite numbers within bounds.

    Parameters
    ----------
    table, column
        What to check.
    missing
        Tokens for "no number", besides blank and NaN; None means that no number may be missing.
    low, high
        The bounds, themselves allowed.
    """
    if column not in table.columns:
        raise InputError(missing_column(column, table.columns, table.source))
    cell = without_missing(column, table.kinds[column], missing or ())
    number = as_number("cell", table.kinds[column])
    faults = ["number is null and cell is not null", "not isfinite(number)"]
    faults += ["cell is null"] if missing is None else []
    faults += [f"number < {float(low)!r}"] if low is not None else []
    faults += [f"number > {float(high)!r}"] if high is not None else []
    found = table.query(
        f"select place, cell from (select row_number() over () as place, cell, {number} as number"
        f" from (select {cell} as cell from rows)) where {' or '.join(faults)} order by place"
        " limit 1"
    )
    if not found:
        return
    [(row, value)] = found
    ends = [
        f"{word} {end:g}" for word, end in (("at least", low), ("at most", high)) if end is not None
    ]
    wanted = ", ".join(["a finite number", *ends])
    told = "is missing" if value is None else f"is {value!r}"
    # A probability of 57.8 is one in per cent: every row is off, not this one.
    hint = "; if the column is in per cent, divide it by 100" if high == 1.0 and low == 0.0 else ""
    is_token = missing is not None and value is not None and "," not in str(value)
    token = f", or add --missing={value} if it means no answer" if is_token else ""
    raise InputError(
        f"{table.place(row)}: column {column!r} {told}, but must be {wanted}: correct the cell, or"
        f" remove the row{token}{hint}"
    )
