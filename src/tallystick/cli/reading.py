"""Open the table that a verb was given, and say what was taken for what."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tallystick.cli.deliver import tell
from tallystick.cli.options import ShapeChoice
from tallystick.io.roles import ROWS_COUNT
from tallystick.results import Result

if TYPE_CHECKING:
    from tallystick.io import ColumnOptions, Roles, ShapeOption, Table

__all__ = ["ROWS_COUNT", "Layout", "opened", "rests_on", "write_items"]

_Result = TypeVar("_Result", bound=Result)


@dataclass(frozen=True)
class Layout:
    """How the input is laid out: what ``--shape``, ``--item``, ``--judge``, ``--vote`` and the like
    said.
    """

    shape: ShapeChoice = ShapeChoice.auto
    item: str | None = None
    judge: str | None = None
    vote: str | None = None
    delimiter: str | None = None
    metric: str | None = None


@contextmanager
def opened(
    source: list[str], layout: Layout, options: ColumnOptions, *, truth_in: str | None = None
) -> Iterator[tuple[Table, Roles]]:
    """Read *source*, decide what its columns are, tell both on stderr, and clean up behind the
    verb.

    *truth_in* names another file that may hold the truth instead: then *source* need not have the
    column.
    """
    from tallystick import io

    shape: ShapeOption = layout.shape.value
    scanned = io.scan(
        source,
        shape=shape,
        item=layout.item,
        judge=layout.judge,
        vote=layout.vote,
        delimiter=layout.delimiter,
        metric=layout.metric,
    )
    with scanned as table:
        if (
            truth_in is not None
            and options.truth is not None
            and options.truth not in table.columns
        ):
            tell(
                (
                    (
                        f"{table.source} has no column {options.truth!r}: the true labels are those"
                        f" of {truth_in}"
                    ),
                )
            )
            options = replace(options, truth=None)
        roles = io.assign(table, options)
        tell((*table.notes, *roles.notes))
        if roles.missing:
            answers = (*roles.labels, *([roles.truth] if roles.truth else []))
            tell(io.unmatched(table, answers, roles.missing))
        yield table, roles


def rests_on(result: _Result, assumption: str) -> _Result:
    """Return *result* with one more assumption, which the way of reading adds."""
    return replace(result, assumptions=(*result.assumptions, assumption))


def write_items(path: Path, result: Result, table: Table) -> None:
    """Write the items of *table* with what *result* says of each."""
    from tallystick import io
    from tallystick.tally import attach

    attached = attach(result, table)
    io.write_csv(path, {name: attached[name] for name in attached.column_names})
