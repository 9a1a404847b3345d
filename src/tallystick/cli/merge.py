"""``tallystick merge T… -o T``: add saved tallies, in any order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tallystick.cli.deliver import deliver
from tallystick.cli.options import AsJson, Html, Output

__all__ = ["merge"]


def merge(
    tallies: Annotated[
        list[str], typer.Argument(metavar="TALLY…", help="Files written by `tallystick tally -o`.")
    ],
    output: Output,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Add saved tallies into one; the order does not matter."""
    from tallystick.tally import Tally, describe

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
    deliver(result, as_json=as_json, html=html)
