"""``tallystick audit FILE``: look at a table and run all that applies to it."""

from __future__ import annotations

from typing import Any

import click

from tallystick.cli.deliver import deliver, tell
from tallystick.cli.verb import (
    output_options,
    question_options,
    reading_options,
    role_options,
    sorted_options,
)
from tallystick.cli.working import working
from tallystick.data import GROUPS, Question

__all__ = ["audit"]

_READS = (
    "item",
    "truth",
    "judges",
    "models",
    "weak",
    "prediction",
    "score",
    "old",
    "new",
    "confidence",
    "round",
    "validators",
    "cluster",
    "weight",
    "by",
)


def _run(source: tuple[str, ...], alpha: float, seed: int, **given: Any) -> None:
    """Look at a table, say what its columns are taken for and why, and run all that applies.

    What cannot be told is asked by naming the option that answers it; nothing is guessed.
    """
    from tallystick.audit import audit as look
    from tallystick.audit.cases import cases_of
    from tallystick.data import Door, read

    reading, delivery = sorted_options(given)
    delivery.check((*source, *([reading["truth_file"]] if "truth_file" in reading else [])))
    # Groups may be globs, which pass over columns that turn out to be something else.
    groups = {role: reading.pop(role) for role in list(reading) if role in GROUPS}
    ignored = {name: reading.pop(name) for name in ("ignore", "rows_are_items") if name in reading}
    with working("reading"):
        opened = read(list(source), Door(repeats=True), **reading)
    with opened as data:
        tell(data.notes)
        with working("answering all that applies"):
            result = look(data, alpha=alpha, rng=seed, **ignored, **groups)
        if delivery.as_json:  # otherwise it is part of the answer
            tell(map(str, result.columns))
        deliver(result, delivery, data=data, cases=cases_of)


audit = click.Command(
    "audit",
    callback=_run,
    help=_run.__doc__,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Argument(["source"], nargs=-1, required=True, metavar="INPUT..."),
        *role_options(_READS),
        click.Option(
            ["--rows-are-items"],
            is_flag=True,
            help="Take every row as an item of its own, even if a column looks like the name of"
            " the item.",
        ),
        *question_options(Question),
        *reading_options(_READS),
        *output_options(items=True),
    ],
)
