"""``tallystick demo [VERB]``: see it work on a generated table, with the report and the command
that makes it.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cli.deliver import deliver, tell
from tallystick.cli.options import AsJson, Seed

if TYPE_CHECKING:
    from tallystick.io import Table
    from tallystick.results import Result

__all__ = ["DemoVerb", "answer", "demo"]


class DemoVerb(StrEnum):
    """What can be shown."""

    audit = "audit"
    compare = "compare"
    judge = "judge"
    bound = "bound"
    shift = "shift"
    dynamic = "dynamic"


_BUDGET = 600
_STORIES = {
    DemoVerb.audit: (
        (
            "A team's table of 2,400 support tickets: three rounds, three models, an API in two"
            " versions."
        ),
        "tallystick audit {file}",
    ),
    DemoVerb.compare: (
        "Four models route 1,200 support tickets. Which is better?",
        "tallystick compare {file} --truth truth",
    ),
    DemoVerb.judge: (
        (
            "Five language models judge 3,000 answers; people checked 150 of them. How good are the"
            " judges?"
        ),
        "tallystick judge {file} --truth gold",
    ),
    DemoVerb.bound: (
        (
            "Five rules vote on 6,000 e-mails and nobody has true labels. How good is the"
            " classifier, at which threshold?"
        ),
        "tallystick bound {file} --score score --weak 'lf_*'",
    ),
    DemoVerb.shift: (
        f"A sentiment API has a new version; 8,000 reviews, {_BUDGET} paid calls. What changed?",
        (
            "tallystick shift --data {file} --truth truth --old pred_old --confidence conf_old"
            f" --api replay:pred_new --budget {_BUDGET}"
        ),
    ),
    DemoVerb.dynamic: (
        "Three rounds of items that were collected against five models. Is a fourth one worth it?",
        "tallystick dynamic analyse {file} --truth gold",
    ),
}


def demo(
    verb: Annotated[DemoVerb, typer.Argument(help="What to show.")] = DemoVerb.audit,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", help="Folder for the table and the report. Default: a new temporary one."
        ),
    ] = None,
    open_report: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser.")
    ] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Make a table such as people bring, answer a question from it, and write the report."""
    from tallystick import io
    from tallystick.audit.generated import generate

    folder = _folder(to)
    data, page = folder / f"{verb.value}.csv", folder / f"{verb.value}.html"
    io.write_csv(data, generate(verb.value, rng=seed))
    story, command = _STORIES[verb]
    tell([story, f"table: {data}"])
    with io.scan(data) as table:
        deliver(answer(verb, table, data, seed), as_json=as_json, html=page, table=table)
    tell([f"do it yourself: {command.format(file=data)} --html report.html"])
    if open_report:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def _folder(to: Path | None) -> Path:
    if to is None:
        import tempfile

        return Path(tempfile.mkdtemp(prefix="tallystick-demo-"))
    to.mkdir(parents=True, exist_ok=True)
    return to


def answer(verb: DemoVerb, table: Table, data: Path, seed: int) -> Result:
    """Return what the verb finds in its generated table."""
    from tallystick.audit import audit, detect
    from tallystick.audit.sections import SECTIONS

    if verb is DemoVerb.shift:
        return _asked(data, seed)
    reading = detect(table)
    if verb is DemoVerb.audit:
        return audit(table, reading, rng=seed)
    return SECTIONS[verb.value](table, reading, 0.05, seed)


def _asked(data: Path, seed: int) -> Result:
    """Ask the recorded answers of the new version, call by call, as a paid API would be asked."""
    from tallystick.shift import Run, run
    from tallystick.clients import ReplayClient
    from tallystick.shift.table import Columns, read_items

    columns = Columns(truth="truth", item="item", old="pred_old", confidence="conf_old")
    items, rows, _ = read_items(data, columns)
    return run(
        items, ReplayClient("pred_new", columns=list(rows[0])), rows, Run(budget=_BUDGET, seed=seed)
    )
