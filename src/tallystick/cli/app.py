"""The list of verbs. A verb is opened when it is asked for, so ``--help`` stays instant."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import click

import tallystick
from tallystick.errors import unknown
from tallystick.registry import ENTRIES, capability

OWN = {
    "look": ("first", "Show how a table is read, and the commands that fit it."),
    "label": ("label", "Label the few items that tell most, and know when to stop."),
    "audit": ("first", "Answer every question that a table allows, on one page."),
    "tally": (
        "tables",
        "Count the vote patterns of a table once, and answer from the counts later.",
    ),
    "merge": ("tables", "Add saved tallies into one, in any order."),
    "serve": ("serve", "Run a service that takes votes and labels over HTTP and answers any time."),
    "demo": ("first", "Show a verb at work on a generated table, and write its report."),
    "explain": ("first", "Say what a word means, or how to read what a verb prints."),
    "doctor": ("first", "Show versions, the engines found, and how to get what is missing."),
}
"""Verbs that are not capabilities: the file of their command, and their sentence."""

GROUPS = {"dynamic": "Is another round of this benchmark worth it?"}
"""Verbs of two words, by the first one."""

START = """\
Tallystick says how good systems, models, judges and APIs are when labels are scarce.

  tallystick demo                                       see it at work, in half a minute
  tallystick look table.csv                             what is in this table, and what to ask?
  tallystick score outputs.csv --truth human            judges graded all outputs, people a few
  tallystick compare old.csv new.csv --metric correct   which run is better, and how sure is that?
  tallystick audit table.csv --html report.html         what can this table say?

All verbs: tallystick --help. How to read an answer: tallystick explain score.
"""
"""What ``tallystick`` alone prints: the commonest commands."""

_HELP = {"help_option_names": ["-h", "--help"]}


def summaries() -> dict[str, str]:
    """Return every verb with its sentence, a newcomer's first, without opening any of them."""
    found: dict[str, str] = {}
    for entry in ENTRIES:
        group, _, rest = entry.verb.partition(" ")
        if rest and group not in GROUPS:
            continue  # a second word of a verb that stands by itself: shift baseline
        found[group] = GROUPS[group] if rest else entry.summary
    own = {name: sentence for name, (_, sentence) in OWN.items()}
    return {"look": own["look"], **found, **own}


class _Verbs(click.Group):
    """A group that lists its verbs without opening them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show how to begin to somebody who typed the name alone."""
        if not args and not ctx.resilient_parsing:
            click.echo(START, nl=False)
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(summaries())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Take two words for a verb such as ``shift baseline``, whose first word is one, too."""
        both = " ".join(args[:2])
        if args[0] not in GROUPS and any(entry.verb == both for entry in ENTRIES if " " in both):
            from tallystick.cli.verb import command_of

            return both, command_of(capability(both)), args[2:]
        if args[0] not in summaries() and not args[0].startswith("-"):
            ctx.fail(unknown("command", args[0], summaries()))
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in summaries():
            return None
        if name in OWN:
            own: click.Command = getattr(import_module(f"tallystick.cli.{OWN[name][0]}"), name)
            return own
        return _of_capability(name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(summaries().items()))


def _of_capability(name: str) -> click.Command:
    """Build a verb from its capability; a verb of two words is a group of commands."""
    from tallystick.cli.verb import command_of

    if name not in GROUPS:
        return command_of(capability(name))
    parts = [entry.verb for entry in ENTRIES if entry.verb.startswith(f"{name} ")]
    commands = [command_of(capability(verb)) for verb in parts]
    return click.Group(name, commands=commands, help=GROUPS[name], context_settings=_HELP)


app = click.version_option(
    tallystick.__version__, message="%(version)s", help="Print the version and exit."
)(
    _Verbs(
        name="tallystick",
        help="How good your systems, models, judges and APIs are when labels are scarce, and how"
        " sure that is.",
        context_settings=_HELP,
    )
)
"""The command line."""


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show *what* is being done (``reading``, ``answering``) while the block runs.

    Examples
    --------
    >>> with working("reading"):  # a pipe: nothing is shown
    ...     2 + 2
    4
    """
    if not sys.stderr.isatty():
        yield
        return
    sys.stderr.write(f"{what} …")
    sys.stderr.flush()
    try:
        yield
    finally:  # the line is gone before anything else is written, an error message included
        sys.stderr.write("\r\x1b[K")
