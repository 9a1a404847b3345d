"""``tallystick compare FILE…``: which model is better, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cli.deliver import deliver, leave_by_gates, tell
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
    Metric,
    Missing,
    Models,
    Seed,
    ShapeChoice,
    TableShape,
    Truth,
    VoteColumn,
    Weight,
)
from tallystick.cli.reading import Layout, opened, write_items
from tallystick.errors import InputError
from tallystick.results import GateOutcome, Slice, check_gates, parse_gate

if TYPE_CHECKING:
    from tallystick.compare import Board, CompareResult, Settings
    from tallystick.io import Roles, Table
    from tallystick.results import Result

__all__ = ["compare"]


class PopulationChoice(StrEnum):
    """To what the answer speaks."""

    items = "items"
    clusters = "clusters"


class BlanksChoice(StrEnum):
    """What is assumed of items without a true label."""

    any = "any"
    random = "random"


def compare(
    source: Input,
    models: Models = None,
    truth: Truth = None,
    item: Item = None,
    cluster: Annotated[
        str | None, typer.Option("--cluster", help="Column of what items belong to.")
    ] = None,
    population: Annotated[
        PopulationChoice,
        typer.Option("--population", help="items: new items; clusters: new clusters."),
    ] = PopulationChoice.items,
    weight: Weight = None,
    bounds: Annotated[
        str | None,
        typer.Option("--bounds", help="LO,HI: between what scores lie (0/1 scores need none)."),
    ] = None,
    blanks: Annotated[
        BlanksChoice,
        typer.Option("--blanks", help="Blank truth: any (nothing assumed), or left out at random."),
    ] = BlanksChoice.any,
    metric: Metric = None,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", help="Another file of models on the same items (needs --item)."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save", help="Save the board (.parquet or .csv), to add models to it later."
        ),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option("--gate", help="e.g. 'new >= old - 0.01'; exit 0 holds, 10 fails, 11 open."),
    ] = None,
    stop_early: Annotated[
        bool,
        typer.Option("--stop-early", help="Take items in random order and stop when it is clear."),
    ] = False,
    by: By = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
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
    """Say which model is better, how sure that is, and what would settle the rest.

    Columns are models; cells are scores (0/1, or numbers), or answers if --truth names the column
    of true answers.
    """
    from tallystick.compare import Settings
    from tallystick.compare.reading import read_board
    from tallystick.compare.settings import Population
    from tallystick.io import ColumnOptions, assign, check_truth, scan

    if add and by is not None:
        raise InputError(
            f"--by {by} cuts the rows of one table and --add brings models from another: put all"
            " models into one table, or leave out one of the two"
        )
    asked_of: Population = population.value
    settings = Settings(
        bounds=_bounds(bounds), population=asked_of, blanks=blanks.value, alpha=alpha
    )
    others = {
        role: name for role, name in (("item", item), ("cluster", cluster)) if name is not None
    }
    options = ColumnOptions(
        truth=truth,
        weight=weight,
        by=by,
        labels=tuple(models or ()),
        others=others,
        missing=tuple(missing or ()),
        coerce=coerce,
    )
    layout = Layout(shape, item if vote or judge else None, judge, vote, delimiter, metric)
    with opened(source, layout, options) as (table, roles):
        check_truth(table, roles)
        board = read_board(table, roles, bounds=settings.bounds)
        for more in add or ():
            with scan(more, delimiter=delimiter, metric=metric) as other:
                more_roles = assign(other, replace(options, labels=(), by=None))
                check_truth(other, more_roles)
                board = board.beside(read_board(other, more_roles, bounds=settings.bounds))
        if save is not None:
            board.save(save)
        for text in gate or ():  # a typing error is refused before the work, not after it
            parse_gate(text, known=board.names, measures=("score",))
        result = _answer(board, settings, seed, stop_early)
        outcomes = _gates(board, settings, seed, gate or ())
        result = replace(result, gates=outcomes)
        slices = _slices(table, roles, by, settings, seed) if by is not None else ()
        if items_out is not None:
            if add:
                raise InputError(
                    "--items-out shows the rows of one table: save the board (--save) and compare"
                    " that"
                )
            write_items(items_out, result, table)
        deliver(result, as_json=as_json, slices=slices, html=html, table=table)
    if outcomes:
        tell(map(str, outcomes))
        leave_by_gates(outcomes)


def _gates(
    board: Board, settings: Settings, seed: int, texts: Sequence[str]
) -> tuple[GateOutcome, ...]:
    """Check every gate on the surest interval that its scores allow."""
    from tallystick.compare.margins import gate_estimate

    return check_gates(
        texts,
        known=board.names,
        measures=("score",),
        margin=lambda one: gate_estimate(board, one.left, one.right, settings=settings, rng=seed),
    )


def _answer(board: Board, settings: Settings, seed: int, stop_early: bool) -> Result:
    from tallystick.compare import evaluate
    from tallystick.compare.stopping import stop_when_clear

    if not stop_early:
        return evaluate(board, settings=settings, rng=seed)
    return stop_when_clear(board, settings=settings, rng=seed)


def _slices(
    table: Table, roles: Roles, by: str, settings: Settings, seed: int
) -> tuple[Slice, ...]:
    """Return the same answer for every slice, each at alpha divided by their number."""
    from tallystick.cli.slices import by_slice
    from tallystick.compare import evaluate
    from tallystick.compare.reading import read_board

    def run(part: Table, alpha: float) -> CompareResult:
        return evaluate(read_board(part, roles), settings=replace(settings, alpha=alpha), rng=seed)

    return by_slice(table, by, run, alpha=settings.alpha)


def _bounds(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(end) for end in text.split(","))
    except ValueError:
        raise InputError(f"--bounds wants LO,HI with two numbers, got {text!r}") from None
    return low, high
