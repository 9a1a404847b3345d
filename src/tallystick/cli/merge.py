"""``tallystick merge T… -o T``: add saved tallies, in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tallystick.cli.deliver import deliver
from tallystick.cli.verb import output_options, sorted_options

__all__ = ["merge"]


def _run(tallies: tuple[str, ...], output: Path, **given: Any) -> None:
    """Add saved tallies into one; the order does not matter."""
    from tallystick.tally import Tally, describe

    _, delivery = sorted_options(given)
    total = Tally()
    for path in tallies:
        total = total + Tally.load(path)
    result = describe(total)
    seen = Counter(Path(path).resolve() for path in tallies)
    twice = tuple(
        f"{path} is given {k} times: its rows are counted {k} times"
        for path, k in seen.items()
        if k > 1
    )
    result = replace(result, warnings=(*result.warnings, *twice))
    total.save(output)
    deliver(result, delivery)


merge = click.Command(
    "merge",
    callback=_run,
    help=_run.__doc__,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Argument(["tallies"], nargs=-1, required=True, metavar="TALLY..."),
        click.Option(
            ["--output", "-o"],
            type=click.Path(path_type=Path),
            required=True,
            help="File to write.",
        ),
        *output_options(items=False),
    ],
)
