"""``tallystick tally FILE -o T``: count the patterns of a table once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tallystick.cli.deliver import deliver, tell
from tallystick.cli.verb import output_options, reading_options, role_options, sorted_options
from tallystick.cli.working import working
from tallystick.data import Data, Door, read
from tallystick.data.assign import expand
from tallystick.errors import InputError

__all__ = ["tally"]

_READS = ("item", "weight", "by")


def _run(
    source: tuple[str, ...],
    output: Path | None,
    cut: tuple[str, ...],
    **given: Any,
) -> None:
    """Count the decision patterns of a table, once; conclude from the counts as often as you like.

    With --by the slice is one more column of the tally.
    """
    from tallystick.tally import describe

    reading, delivery = sorted_options(given)
    delivery.check(source, output=output)
    with read(list(source), Door(), **reading) as data:
        tell(data.notes)
        roles = data.roles.with_columns("judges", _counted(data, reading))
        # Only a tally that is saved can be merged with another.
        data = replace(data, roles=roles, sketch_items=output is not None)
        edges = _edges(cut)
        with working("counting"):
            counted = data.tally("judges", "by", cut=edges)
        tell(data.meaning_notes)
        if output is not None:
            counted.save(output)
        deliver(describe(counted), delivery, data=data)


def _counted(data: Data, reading: dict[str, Any]) -> tuple[str, ...]:
    """Return the columns to count: those that are named, or all that have no other role."""
    if "columns" in reading:
        return expand(reading["columns"], data.table)
    held = {*data.roles.columns(), *data.table.left_out}
    return tuple(name for name in data.table.columns if name not in held)


def _edges(options: tuple[str, ...]) -> dict[str, list[float]]:
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
                f"--cut must be COLUMN=EDGE,EDGE,… with numbers for edges, got {option!r}"
            )
    return cut


tally = click.Command(
    "tally",
    callback=_run,
    help=_run.__doc__,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Argument(["source"], nargs=-1, required=True, metavar="INPUT..."),
        click.Option(
            ["--output", "-o"],
            type=click.Path(path_type=Path),
            help="Save the tally to this file.",
        ),
        click.Option(
            ["--cut"],
            multiple=True,
            help="Bin a score: COLUMN=EDGE,EDGE,… (repeat for more columns).",
        ),
        *role_options(_READS),
        *reading_options(_READS),
        *output_options(items=True),
    ],
)
