"""One generic runner: a verb of the command line is its capability's question, nothing more.

Options come from three places, in this order in ``--help``: the roles that the capability reads,
the fields of its question, and what every verb shares (reading, output).
"""

from __future__ import annotations

import dataclasses
import typing
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

import click

from tallystick.cli.app import working
from tallystick.cli.deliver import (
    Delivery,
    deliver,
    tell,
    with_label_command,
    with_progress,
)
from tallystick.errors import InputError
from tallystick.registry import ENTRIES, READING, SEVERAL, reading_keywords, summary
from tallystick.results import GateOutcome, Result, exit_code
from tallystick.table import (
    GROUPS,
    ROLE_HELP,
    Capability,
    Door,
    Question,
    Tally,
    conclude,
    options_of,
    read,
    with_reading,
)
from tallystick.table.logs import Loss
from tallystick.table.roles import ALL_ROLES


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call:
    """One call of a verb, sorted: what to read, what to ask, where to write."""

    capability: Capability[Result]
    source: tuple[str, ...]
    reading: Mapping[str, Any]
    question: Question
    delivery: Delivery


_INSTEAD = {"shift": "--data", "compare": "--run", "plan": "--run"}
"""Verb to the option that names the input instead of the plain argument."""


def command_of(capability: Capability[Result]) -> click.Command:
    """Build the command of a verb from its capability."""
    params: list[click.Parameter] = []
    table, other = capability.input != "none", _INSTEAD.get(capability.verb)
    if table:
        required = capability.input == "required" and other is None
        params.append(click.Argument(["source"], nargs=-1, required=required, metavar="INPUT..."))
    if other == "--data":
        params.append(click.Option([other], metavar="FILE", help="The input file, as an option."))
    params += table_options(
        capability.reads,
        only=READING if table else (),
        door=capability.door,
        question=capability.question,
    )
    params += options(capability.question)
    idle = [] if table else ["items_out"]
    idle += [] if "gates" in options_of(capability.question) else ["junit"]
    idle += [] if capability.verb == "shift" else ["post"]
    params += options(Delivery, without=idle)

    def callback(**given: Any) -> None:
        run(sorted_call(capability, given))

    name = capability.verb.rpartition(" ")[2]
    return Verb(
        name,
        params=params,
        callback=callback,
        help=summary(capability.verb),
        short_help=summary(capability.verb),  # whole, where a group lists its commands
        epilog=_example(capability.verb),
    )


class Verb(click.Command):
    """A verb: its options for one column, address or text take one, and its help fits a screen."""

    def __init__(self, name: str, **given: Any) -> None:
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
        super().__init__(name, context_settings=settings, **given)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse such an option given twice."""
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param, times in Counter(order).items():
            one_text = isinstance(param, click.Option) and param.type is click.STRING
            if times < 2 or not one_text or param.multiple:
                continue
            draws = param.name == "old" and any(one.name == "old_draws" for one in self.params)
            way = ", or write --old A --old-draws B for answers of one API" if draws else "."
            raise click.UsageError(
                f"Option '{param.opts[0]}' takes one value and was given {times} times: name one"
                + way,
                ctx,
            )
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return all parameters; every verb can show those that ``--help`` leaves out."""
        found = super().get_params(ctx)
        more = click.Option(
            ["--help-all"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_all,
            help="Show every option and exit.",
        )
        return [*found[:-1], more, *found[-1:]]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example first, then the options in groups, the most used ones only."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_epilog(ctx, formatter)
        shown, left = grouped(self.get_params(ctx), whole=bool(ctx.meta.get(_WHOLE)))
        for title, params in shown.items():
            rows = [row for one in params if (row := one.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
        if left:
            formatter.write_paragraph()
            formatter.write_text(f"{left} more options: --help-all")


_WHOLE = "tallystick.whole_help"
_MOST_SHOWN = 18
_USUAL = ("as_json", "html", "items_out", "missing", "reading", "gates", "alpha")
"""Options that ``--help`` always shows."""


def _show_all(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_WHOLE] = True
        click.echo(ctx.get_help())
        ctx.exit()


def grouped(
    params: Sequence[click.Parameter], *, whole: bool
) -> tuple[dict[str, list[click.Parameter]], int]:
    """Sort options into the groups of ``--help``."""
    outputs = {one.name for one in dataclasses.fields(Delivery)}
    homes = {"Your columns": {*ALL_ROLES}, "The question": set(), "Output": outputs}
    homes |= {"Reading": {*READING}}
    groups: dict[str, list[click.Parameter]] = {title: [] for title in homes}
    last: list[click.Parameter] = []
    for one in params:
        if isinstance(one, click.Option) and not one.hidden:
            home = next((title for title, names in homes.items() if one.name in names), "")
            own = last if one.name in ("help", "help_all") else groups[home or "The question"]
            own.append(one)
    # What every verb has stands behind what is the verb's own.
    groups["The question"].sort(key=lambda one: one.name in ("alpha", "seed"))
    every = [one for group in groups.values() for one in group]
    if whole or len(every) <= _MOST_SHOWN:
        return {**groups, "Help": last}, 0
    usual = [one for one in every if one.name in _USUAL]
    own = [*groups["Your columns"], *groups["The question"]][: _MOST_SHOWN - len(usual)]
    kept = {id(one) for one in (*own, *usual)}
    shown = {title: [one for one in group if id(one) in kept] for title, group in groups.items()}
    return shown, len(every) - len(kept)


def _example(verb: str) -> str | None:
    """Return a call to start from, one line that is not wrapped, for the end of ``--help``."""
    [found] = [one.example for one in ENTRIES if one.verb == verb] or [""]
    return f"\b\nExample:\n  tallystick {found}" if found else None


def run(call: Call) -> None:
    """Read, answer, deliver; leave with the exit code of the gates."""
    call.delivery.check(_inputs(call), **call.question.outputs())
    if getattr(call.question, "follow", False):
        from tallystick.cli.tables import follow

        follow(call)
        return
    call = with_progress(call)
    if not call.source and not call.reading.get("run"):
        if call.capability.input == "required":
            other = _INSTEAD[call.capability.verb]
            raise click.UsageError(f"Missing argument 'INPUT...' (or option '{other}').")
        with working("answering"):
            result = conclude(call.capability, None, call.question)
        deliver(result, call.delivery)
        _leave(result.gates)
        return
    more = call.question.reading()
    with working("reading"):
        opened = read(list(call.source), call.capability.door, **call.reading, **more)
    with opened as data:
        # What was lost while reading is a warning of most answers: said once, there.
        early = [note for note in data.notes if not isinstance(note, Loss)]
        tell(early)
        if call.delivery.items_out is not None and isinstance(data.held, Tally):
            raise InputError(
                f"--items-out needs the rows, and {data.source} holds counts: give the table itself"
            )
        # Verbs that ask an API have a bar of their own.
        own_bar = getattr(call.question, "progress", None) is not None
        with nullcontext() if own_bar else working("answering"):
            result = with_label_command(conclude(call.capability, data, call.question), call)
        told = {*early, *result.warnings}
        tell(note for note in result.notes if note not in told)
        deliver(result, call.delivery, data=data, capability=call.capability)
    _leave(result.gates)


def _inputs(call: Call) -> list[str | Path]:
    """Return all that may name a file which is read."""
    named = [text.partition("=")[2] for text in call.reading.get("run", ())]
    truth = [call.reading["truth_file"]] if "truth_file" in call.reading else []
    return [*call.source, *named, *truth, *call.question.inputs()]


def _leave(gates: Sequence[GateOutcome]) -> None:
    """Say how each gate went, and leave with the exit code of all of them."""
    tell(map(str, gates))
    code = exit_code(gates)
    if code:
        raise SystemExit(code)


def sorted_call(capability: Capability[Result], given: dict[str, Any]) -> Call:
    """Sort what the parser gives into reading, question and delivery."""
    fields = {one.name for one in dataclasses.fields(capability.question)}
    question = {name: given.pop(name) for name in list(given) if name in fields}
    named = given.pop("data", None)
    source = (*given.pop("source", ()), *([named] if named else []))
    reading, delivery = sorted_options(given)
    return Call(
        capability=capability,
        source=source,
        reading=with_reading(reading, reads=capability.reads, want=capability.door.want),
        question=capability.question(**question),
        delivery=delivery,
    )


def sorted_options(given: Mapping[str, Any]) -> tuple[dict[str, Any], Delivery]:
    """Tell the options of reading that were given from those of output."""
    outputs = {one.name for one in dataclasses.fields(Delivery)}
    delivery = Delivery(**{name: value for name, value in given.items() if name in outputs})
    reading = {
        name: value
        for name, value in given.items()
        if name not in outputs and value not in (None, (), False)
    }
    return reading, delivery


def options(declared: type[Any], *, without: Collection[str] = ()) -> list[click.Parameter]:
    """Make an option of each declared field."""
    hints = typing.get_type_hints(declared)
    defaults = {one.name: one.default for one in dataclasses.fields(declared)}
    found: list[click.Parameter] = []
    for name, one in options_of(declared).items():
        if one.hidden or name in without:
            continue
        kind, several = _kind(hints[name], name)
        if one.choices:
            kind = click.Choice(one.choices)
        default = defaults[name]
        found.append(
            click.Option(
                [*(one.flag or f"--{name.replace('_', '-')}").split(), name],
                type=None if kind is bool else kind,
                is_flag=kind is bool or None,  # False would take "-1" for an option
                multiple=several,
                default=default,
                show_default=kind is not bool and default not in (None, (), ""),
                metavar=one.metavar,
                help=one.help,
            )
        )
    return found


def _kind(hint: Any, name: str) -> tuple[Any, bool]:
    """Return the parser's type of a field, and whether the option repeats."""
    if name == "seed":
        return click.IntRange(min=0), False
    origin = typing.get_origin(hint)
    if origin in (typing.Union, UnionType):
        inner = [one for one in typing.get_args(hint) if one is not NoneType]
        # A field that also takes text is text on the command line, whatever Python may pass.
        return _kind(str if str in inner else inner[0], name)
    if origin is tuple:
        args = typing.get_args(hint)
        if len(args) == 2 and args[1] is Ellipsis:
            return _kind(args[0], name)[0], True
        return Pair(), False
    if origin is typing.Literal:
        return click.Choice(typing.get_args(hint)), False
    if hint is Path:
        return click.Path(path_type=Path), False
    return (hint if hint in (int, float, bool) else str), False


class Pair(click.ParamType[tuple[float, float]]):
    """Two numbers with a comma between them: ``LO,HI``."""

    name = "LO,HI"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[float, float]:
        """Split the text; a tuple has been split already."""
        if isinstance(value, tuple):
            return value
        try:
            low, high = (float(end) for end in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is not LO,HI with two numbers", param, ctx)
        return low, high


def table_options(
    reads: Sequence[str],
    *,
    only: Collection[str] = tuple(READING),
    door: Door | None = None,
    question: type[Question] = Question,
) -> list[click.Parameter]:
    """Return the options of a table: its columns, and how it is read."""
    flags = [one.flag or name for name, one in options_of(question).items()]
    taken = [flag.removeprefix("--").replace("-", "_") for flag in flags]
    columns = {role: ROLE_HELP[role] for role in reads if role in ROLE_HELP}
    ways = {n: READING[n] for n in reading_keywords(reads, door, taken) if n in only}
    metavars = {role: "COLUMNS" if role in GROUPS else "COLUMN" for role in columns}
    return [
        click.Option(
            [f"--{name.replace('_', '-')}", name],
            is_flag=name == "coerce" or None,
            multiple=name in GROUPS or (name in SEVERAL and name != "reading"),
            metavar="FILE" if name == "reading" else metavars.get(name),
            help=text,
        )
        for name, text in {**columns, **ways}.items()
    ]


JSON = options(Delivery, without=[one for one in options_of(Delivery) if one != "as_json"])
"""The one option of output that every verb has."""


def out_option(help_: str, **given: Any) -> click.Option:
    """Return the option that names what a verb writes."""
    kind = click.Path(path_type=Path)
    return click.Option(["--out", "-o", "output"], type=kind, help=help_, **given)
