"""``tallystick judge FILE``: grade judges with no labels, or with a few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.cli.deliver import deliver, tell
from tallystick.cli.judge_question import GRADING, MethodChoice, Question, Recorded
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
    Seed,
    ShapeChoice,
    TableShape,
    VoteColumn,
    Weight,
)
from tallystick.cli.reading import ROWS_COUNT, Layout, opened, rests_on
from tallystick.cli.saved import is_saved, load_saved
from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.io import Roles, Table
    from tallystick.judge import JudgeResult
    from tallystick.results import Result

__all__ = ["judge"]


def judge(
    source: Input,
    judges: Annotated[
        list[str] | None,
        typer.Option("--judges", help="Columns that judge; repeat, or use commas and globs."),
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option("--truth", help="Column of true labels; it may be blank where nobody knows."),
    ] = None,
    prevalence: Annotated[
        list[str] | None,
        typer.Option(
            "--prevalence", help="LABEL=LOW,HIGH: the label's share is known to lie there."
        ),
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(
            "--known", help="JSON file {judge: {label: accuracy}} of judges of known quality."
        ),
    ] = None,
    method: Annotated[
        MethodChoice,
        typer.Option(
            "--method", help="How to grade; or a diagnostic: independence, search, position-bias, …"
        ),
    ] = MethodChoice.evaluate,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--labels",
            help="Labels that are possible although nobody voted for them; repeat, or use commas.",
        ),
    ] = None,
    recorded: Annotated[
        Recorded | None,
        typer.Option(
            "--recorded",
            help="For position-bias: whether votes name the answer (default) or its position.",
        ),
    ] = None,
    certified: Annotated[
        bool,
        typer.Option(
            "--certified", help="Exact intervals from labels instead of shorter approximate ones."
        ),
    ] = False,
    window: Annotated[
        int | None,
        typer.Option(
            "--window", min=1, help="Also evaluate every N items in order, and watch for change."
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", help="Read stdin as it comes; one JSON line a window, until it ends."
        ),
    ] = False,
    item: Item = None,
    weight: Weight = None,
    by: By = None,
    missing: Missing = None,
    coerce: Coerce = False,
    shape: TableShape = ShapeChoice.auto,
    judge_column: JudgeColumn = None,
    vote: VoteColumn = None,
    delimiter: Delimiter = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    items_out: ItemsOut = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Grade noisy judges from their votes: with no labels, or with a few.

    Label-free numbers rest on an assumption, which is named; a bias that all judges share shows in
    labels only.
    """
    from tallystick.io import ColumnOptions, check_truth, check_truth_labels
    from tallystick.judge import JudgeResult
    from tallystick.tally import blank_looking

    question = Question(
        truth,
        tuple(prevalence or ()),
        known,
        method,
        certified,
        recorded,
        tuple(labels or ()),
        alpha,
        seed,
    )
    if method not in GRADING and (follow or window is not None or items_out is not None):
        raise InputError(
            f"--method {method.value} grades no judge: it has no --window, --follow and --items-out"
        )
    if window is not None:
        _refuse_with("--window", {"--weight": weight})
    if follow:
        from tallystick.cli.follow import follow_stdin

        if window is None or source != ["-"]:
            raise InputError(
                "--follow reads votes from stdin in windows: give INPUT as - and --window N"
            )
        _refuse_with(
            "--follow",
            {"--weight": weight, "--by": by, "--html": html, "--items-out": items_out}
            | {"--judge": judge_column, "--vote": vote, "--delimiter": delimiter}
            | {"--shape long": shape is ShapeChoice.long},
        )
        tokens = tuple(piece for token in missing or () for piece in token.split(","))
        follow_stdin(
            window,
            judges or [],
            truth,
            item,
            question.grade,
            alpha=alpha,
            missing=tokens,
            coerce=coerce,
        )
        return
    if is_saved(source):
        rows_only = {
            "--by": by,
            "--weight": weight,
            "--window": window,
            "--items-out": items_out,
            "--missing": missing,
        }
        votes, _ = load_saved(source, columns=judges or (), beside=[truth], rows_only=rows_only)
        if truth is not None:
            check_truth_labels(truth, votes.labels)
        found = question.ask(votes)
        deliver(
            rests_on(found, ROWS_COUNT) if votes.weighted else found, as_json=as_json, html=html
        )
        return
    options = ColumnOptions(
        item=item,
        truth=truth,
        weight=weight,
        by=by,
        labels=tuple(judges or ()),
        missing=tuple(missing or ()),
        coerce=coerce,
    )
    with opened(source, Layout(shape, item, judge_column, vote, delimiter), options) as (
        table,
        roles,
    ):
        columns = (*roles.labels, *([truth] if truth else []))
        check_truth(table, roles)

        def run(part: Table, level: float) -> Result:
            from tallystick.tally import Tally

            votes = Tally.of(
                part, columns=columns, weight=weight, missing=roles.missing, coerce=coerce
            )
            found = question.ask(votes, alpha=level)
            return found if weight is None else rests_on(found, ROWS_COUNT)

        slices: Any = ()
        if by is not None:
            from tallystick.cli.slices import by_slice

            slices = by_slice(table, by, run, alpha=alpha)
        result = run(table, alpha)
        result = replace(result, warnings=(*_replicates(table, roles), *result.warnings))
        if isinstance(result, JudgeResult) and result.votes is not None:
            tell(blank_looking(result.votes))
        if window is not None and isinstance(result, JudgeResult):
            result = _windowed(result, table, columns, window, question, roles.missing, coerce)
        if items_out is not None and isinstance(result, JudgeResult):
            _write_items(items_out, result, table, truth, roles.missing, seed)
        deliver(result, as_json=as_json, slices=slices, html=html, table=table)


def _refuse_with(option: str, others: Mapping[str, object]) -> None:
    """Refuse options that *option* would leave unread."""
    given = next((name for name, value in others.items() if value), None)
    if given is not None:
        raise InputError(f"{option} does not take {given}: leave one of the two out")


def _replicates(table: Table, roles: Roles) -> tuple[str, ...]:
    """Say if rows are counted as items of their own although a column that is named like the items
    repeats.
    """
    from tallystick.io.shapes import ITEM_NAMES

    used = {*roles.labels, roles.truth, roles.weight, roles.by}
    if roles.item is not None:
        return ()
    return tuple(
        f"column {name!r} is named like the items but repeats or has blanks, and every row was"
        " counted as an item of its own: keep one row an item, or rename the column if its rows"
        " are items"
        for name in table.columns
        if name.strip().lower() in ITEM_NAMES and name not in used and name not in table.left_out
    )


def _windowed(
    result: JudgeResult,
    table: Table,
    columns: tuple[str, ...],
    size: int,
    question: Question,
    missing: tuple[str, ...],
    coerce: bool,
) -> JudgeResult:
    """Add one entry a window to the result of the whole table."""
    from tallystick.io import identifier
    from tallystick.judge import Windows

    stream = Windows(
        size=size,
        evaluation=question.grade,
        alpha=question.alpha,
        truth=question.truth,
        missing=missing,
        coerce=coerce,
    )
    rows = table.relation.project(", ".join(identifier(name) for name in columns))
    found = []
    for batch in rows.to_arrow_reader(10_000):
        found += stream.push(batch.to_pydict())
    told = tuple(window.summary() for window in found)
    tell(
        [
            f"items {row['start']:,} to {row['end']:,}: {row['change']}"
            for row in told
            if row["change"]
        ]
    )
    return replace(result, windows=told)


def _write_items(
    path: Path,
    result: JudgeResult,
    table: Table,
    truth: str | None,
    missing: tuple[str, ...],
    seed: int,
) -> None:
    """Write items with consensus, probability and doubt, and a random order in which to label what
    is not labelled.
    """
    from tallystick import io
    from tallystick._rng import as_rng
    from tallystick.tally import attach
    from tallystick.tally.labels import is_missing

    attached = attach(result, table)
    rows, tokens = range(attached.num_rows), frozenset(missing)
    open_items = [
        i for i in rows if truth is None or is_missing(attached[truth][i].as_py(), tokens)
    ]
    order: list[int | None] = [None] * attached.num_rows
    for rank, place in enumerate(as_rng(seed).permutation(len(open_items)).tolist(), start=1):
        order[open_items[place]] = rank
    columns = {name: attached[name].to_pylist() for name in attached.column_names}
    io.write_csv(path, {**columns, "label_order": order})
