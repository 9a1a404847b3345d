"""``tallystick tally FILE -o T``: count the patterns of a table once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tallystick.cli.deliver import deliver, tell
from tallystick.cli.options import (
    AsJson,
    By,
    Coerce,
    Columns,
    Delimiter,
    Html,
    Input,
    Item,
    ItemsOut,
    JudgeColumn,
    Missing,
    ShapeChoice,
    TableShape,
    VoteColumn,
    Weight,
)
from tallystick.cli.reading import Layout, opened, write_items
from tallystick.errors import InputError

__all__ = ["tally"]


def tally(
    source: Input,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save the tally to this file.")
    ] = None,
    columns: Columns = None,
    cut: Annotated[
        list[str] | None,
        typer.Option("--cut", help="Bin a score: COLUMN=EDGE,EDGE,… (repeat for more columns)."),
    ] = None,
    item: Item = None,
    weight: Weight = None,
    by: By = None,
    missing: Missing = None,
    coerce: Coerce = False,
    shape: TableShape = ShapeChoice.auto,
    judge: JudgeColumn = None,
    vote: VoteColumn = None,
    delimiter: Delimiter = None,
    items_out: ItemsOut = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Count the decision patterns of a table, once; conclude from the counts as often as you like.

    With --by the slice is one more column of the tally.
    """
    from tallystick.io import ColumnOptions
    from tallystick.tally import Tally, blank_looking, describe

    options = ColumnOptions(
        item=item,
        weight=weight,
        by=by,
        labels=tuple(columns or ()),
        missing=tuple(missing or ()),
        coerce=coerce,
    )
    with opened(source, Layout(shape, item, judge, vote, delimiter), options) as (table, roles):
        counted = Tally.of(
            table,
            columns=(*roles.labels, *([by] if by else [])),
            cut=_edges(cut or []),
            weight=weight,
            missing=roles.missing,
            coerce=coerce,
            apart=(by,) if by else (),
        )
        tell(blank_looking(counted))
        result = describe(counted)
        if output is not None:
            counted.save(output)
        if items_out is not None:
            write_items(items_out, result, table)
        deliver(result, as_json=as_json, html=html, table=table)


def _edges(options: list[str]) -> dict[str, list[float]]:
    """Read ``COLUMN=EDGE,EDGE,…``; the column's name may itself hold an equals sign."""
    cut: dict[str, list[float]] = {}
    for option in options:
        column, equals, edges = option.rpartition("=")
        try:
            cut[column] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            equals = ""
        if not (column and equals):
            raise InputError(
                f"--cut wants COLUMN=EDGE,EDGE,… with numbers for edges, got {option!r}"
            )
    return cut
