"""The list of verbs. A verb's libraries load when the verb runs, so ``--help`` stays instant."""

from __future__ import annotations

from typing import Annotated

import typer

import tallystick
from tallystick.cli.audit import audit
from tallystick.cli.bound import bound
from tallystick.cli.compare import compare
from tallystick.cli.demo import demo
from tallystick.cli.doctor import doctor
from tallystick.cli.dynamic import dynamic
from tallystick.cli.judge import judge
from tallystick.cli.merge import merge
from tallystick.cli.plan import plan
from tallystick.cli.shift import shift
from tallystick.cli.tally import tally

__all__ = ["app"]

app = typer.Typer(
    name="tallystick",
    help="How good your models, judges and APIs are when labels are scarce, and how sure that is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: loading a renderer would take longer than reading it
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(tallystick.__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    del version  # acted on by its callback


for verb in (audit, bound, compare, judge, plan, shift, tally, merge, demo, doctor):
    app.command()(verb)
app.add_typer(dynamic, name="dynamic")
