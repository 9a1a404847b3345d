"""``tallystick plan``: how many items a comparison, or the grading of a judge, needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from tallystick.cli.deliver import deliver
from tallystick.cli.options import Alpha, AsJson, Coerce, Html, Item, Metric, Missing, Truth
from tallystick.cli.reading import Layout, opened
from tallystick.errors import InputError

__all__ = ["plan"]


def plan(
    pilot: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PILOT…]", help="A small table of scores to learn from."),
    ] = None,
    difference: Annotated[
        float | None, typer.Option("--difference", help="The difference to be shown.")
    ] = None,
    disagreement: Annotated[
        float | None,
        typer.Option("--disagreement", help="Share of items on which exactly one model is right."),
    ] = None,
    models: Annotated[
        int, typer.Option("--models", help="How many models are compared, all pairs of them.")
    ] = 2,
    power: Annotated[float, typer.Option("--power", help="Probability of success.")] = 0.8,
    judges: Annotated[
        bool, typer.Option("--judges", help="Plan the labels that grade a judge instead.")
    ] = False,
    limit: Annotated[
        float | None, typer.Option("--limit", help="Judges: prove a failure rate below this.")
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", help="Judges: the failure rate that is expected.")
    ] = 0.0,
    half_width: Annotated[
        float | None, typer.Option("--half-width", help="Judges: know the accuracy to ± this.")
    ] = None,
    accuracy: Annotated[
        float, typer.Option("--accuracy", help="The accuracy that is expected.")
    ] = 0.5,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", help="Pilot: the columns of the models; names, commas, globs."),
    ] = None,
    population: Annotated[
        int | None, typer.Option("--population", help="Judges: how many items there are.")
    ] = None,
    alpha: Alpha = 0.05,
    truth: Truth = None,
    item: Item = None,
    metric: Metric = None,
    missing: Missing = None,
    coerce: Coerce = False,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Say how many items show a difference, by each method and with what guarantee."""
    from tallystick.compare.judge_planning import plan_judges
    from tallystick.compare.planning import pilot_of
    from tallystick.compare.planning import plan as plan_models
    from tallystick.compare.reading import read_board
    from tallystick.io import ColumnOptions

    if judges:
        if pilot or difference is not None:
            raise InputError(
                "--judges plans from --limit or --half-width: leave out the pilot and --difference"
            )
        result = plan_judges(
            limit=limit,
            rate=rate,
            half_width=half_width,
            accuracy=accuracy,
            population=population,
            alpha=alpha,
            power=power,
        )
        deliver(result, as_json=as_json, html=html)
        return
    source, mean = "", accuracy
    notes: tuple[str, ...] = ()
    if pilot:
        options = ColumnOptions(
            truth=truth,
            labels=tuple(columns or ()),
            others={"item": item} if item else {},
            missing=tuple(missing or ()),
            coerce=coerce,
        )
        with opened(pilot, Layout(metric=metric), options) as (table, roles):
            board = read_board(table, roles)
        observed, apart, seen, source = pilot_of(board)
        mean = accuracy if seen is None else seen
        notes = board.notes
        if board.answers is not None:
            blank = int((~board.known).sum())
            notes += (
                (
                    f"{blank} of {board.n} items have no true label: those with one are taken to"
                    " stand for them"
                ),
            )
        if difference is None:
            notes += (
                (
                    f"the difference of {observed:.3g} is that of the pilot, which may flatter:"
                    " plan for the smallest that matters (--difference)"
                ),
            )
            difference = observed
        disagreement = apart if disagreement is None else disagreement
        if difference <= 0:
            raise InputError(
                f"{source} are equal: say which difference is to be shown (--difference)"
            )
    if difference is None:
        raise InputError(
            "nothing to plan for: give --difference, a pilot file, or --judges with --limit"
        )
    result = plan_models(
        difference,
        disagreement=disagreement,
        models=models,
        mean=mean,
        alpha=alpha,
        power=power,
        source=source,
    )
    deliver(replace(result, warnings=(*notes, *result.warnings)), as_json=as_json, html=html)
