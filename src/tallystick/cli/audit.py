"""``tallystick audit FILE``: look at the columns, say what they are taken for, run all that
applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tallystick.cli.deliver import deliver, tell
from tallystick.cli.options import (
    Alpha,
    AsJson,
    By,
    Coerce,
    Delimiter,
    Html,
    Input,
    Item,
    ItemsOut,
    JudgeColumn,
    Missing,
    Models,
    Seed,
    ShapeChoice,
    TableShape,
    Truth,
    VoteColumn,
    Weight,
)
from tallystick.cli.reading import write_items

if TYPE_CHECKING:
    from tallystick.audit import AuditResult
    from tallystick.io import ShapeOption, Table

__all__ = ["audit"]

Group: TypeAlias = list[str] | None
Column: TypeAlias = str | None


def audit(
    source: Input,
    item: Item = None,
    truth: Truth = None,
    judges: Annotated[
        Group, typer.Option("--judges", help="Columns that vote for labels; commas and globs.")
    ] = None,
    models: Models = None,
    weak: Annotated[
        Group, typer.Option("--weak", help="Columns of weak labels; commas and globs.")
    ] = None,
    prediction: Annotated[
        Column, typer.Option("--prediction", help="Column of a classifier's answers.")
    ] = None,
    score: Annotated[
        Column, typer.Option("--score", help="Column of a classifier's scores in [0, 1].")
    ] = None,
    old: Annotated[Column, typer.Option("--old", help="Column of an API's old answers.")] = None,
    new: Annotated[Column, typer.Option("--new", help="Column of its new answers.")] = None,
    confidence: Annotated[
        Column, typer.Option("--confidence", help="Column whose rank foretells change.")
    ] = None,
    round_: Annotated[
        Column, typer.Option("--round", help="Column of the round of a dynamic benchmark.")
    ] = None,
    validators: Annotated[
        Column, typer.Option("--validators", help="Column of validators' labels (cnc).")
    ] = None,
    cluster: Annotated[
        Column, typer.Option("--cluster", help="Column of what items belong to.")
    ] = None,
    weight: Weight = None,
    ignore: Annotated[
        Group, typer.Option("--ignore", help="Columns to leave out; commas and globs.")
    ] = None,
    rows_are_items: Annotated[
        bool,
        typer.Option(
            "--rows-are-items", help="Every row is an item of its own, whatever is named like one."
        ),
    ] = False,
    by: By = None,
    missing: Missing = None,
    coerce: Coerce = False,
    shape: TableShape = ShapeChoice.auto,
    judge: JudgeColumn = None,
    vote: VoteColumn = None,
    delimiter: Delimiter = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    items_out: ItemsOut = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Look at a table, say what its columns are taken for and why, and run all that applies.

    What cannot be told is asked by naming the option that answers it; nothing is guessed.
    """
    from tallystick import io
    from tallystick.audit import Named, detect
    from tallystick.audit import audit as run_audit
    from tallystick.cli.slices import by_slice

    tokens = (
        None
        if missing is None
        else tuple(p.strip() for token in missing for p in token.split(",") if p.strip())
    )
    named = Named(
        item=item,
        truth=truth,
        prediction=prediction,
        score=score,
        old=old,
        new=new,
        confidence=confidence,
        round=round_,
        validators=validators,
        weight=weight,
        cluster=cluster,
        judges=tuple(judges or ()),
        models=tuple(models or ()),
        weak=tuple(weak or ()),
        ignore=tuple(ignore or ()),
        missing=tokens,
        rows_are_items=rows_are_items,
        coerce=coerce,
    )
    layout: ShapeOption = shape.value
    long_item = item if judge or vote else None
    with io.scan(
        source, shape=layout, item=long_item, judge=judge, vote=vote, delimiter=delimiter
    ) as table:
        tell(table.notes)
        if tokens:
            tell(
                io.unmatched(
                    table, [name for name in table.columns if name not in table.left_out], tokens
                )
            )
        reading = detect(table, named)
        if as_json:  # otherwise it is part of the answer
            tell(map(str, reading.taken))

        def run(part: Table, level: float) -> AuditResult:
            return run_audit(part, reading, alpha=level, rng=seed)

        result = run(table, alpha)
        slices = by_slice(table, by, run, alpha=alpha) if by is not None else ()
        if items_out is not None:
            write_items(items_out, result, table)
        deliver(result, as_json=as_json, slices=slices, html=html, table=table)
