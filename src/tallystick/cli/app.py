"""The list of verbs. A verb's file is read when the verb is asked for, so ``--help`` stays
instant.
"""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import tallystick

__all__ = ["SUMMARIES", "app"]

SUMMARIES = {
    "audit": (
        "Look at a table, say what its columns are taken for and why, and run all that applies."
    ),
    "compare": "Say which model is better, how sure that is, and what would settle the rest.",
    "judge": "Grade noisy judges from their votes: with no labels, or with a few.",
    "bound": (
        "Bound the accuracy (or precision, recall, F1, risk) of a classifier never tested on true"
        " labels."
    ),
    "shift": "Assess how an API changed, for the fewest paid calls.",
    "dynamic": (
        "Is another round of this benchmark worth it: theory, simulation, and the log of a real"
        " one."
    ),
    "plan": "Say how many items show a difference, by each method and with what guarantee.",
    "tally": (
        "Count the decision patterns of a table, once; conclude from the counts as often as you"
        " like."
    ),
    "merge": "Add saved tallies into one; the order does not matter.",
    "demo": "Make a table such as people bring, answer a question from it, and write the report.",
    "doctor": "Show versions, engines found, what is missing and how to get it.",
}
"""Verb to the first sentence of its own help: ``tallystick.cli.VERB`` holds a function or a Typer
of that name."""


class _Verbs(UserDict[str, Any]):
    """Every verb's command under its name; the file of a verb is opened when its command is asked
    for.
    """

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(SUMMARIES))

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            verb = getattr(import_module(f"tallystick.cli.{name}"), name)
            if not isinstance(verb, typer.Typer):
                alone = typer.Typer(add_completion=False, rich_markup_mode=None)
                alone.command()(verb)
                verb = alone
            self.data[name] = typer.main.get_command(verb)
        return self.data[name]


class _Group(TyperGroup):
    """A group that lists its verbs without opening their files."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Verbs()

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


app = typer.Typer(
    name="tallystick",
    cls=_Group,
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
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    del version  # acted on by its callback
