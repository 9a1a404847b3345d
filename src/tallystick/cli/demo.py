"""``tallystick demo [VERB]``: see a verb at work on a generated table, with its report."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from tallystick.cli.deliver import Delivery, deliver, tell
from tallystick.cli.working import working
from tallystick.data import Demo, Door, conclude, read
from tallystick.errors import InputError
from tallystick.registry import ENTRIES, capability

__all__ = ["demo"]


def _run(
    verb: str | None, to: Path | None, open_report: bool, seed: int | None, as_json: bool
) -> None:
    """Make a table such as people bring, answer a question from it, and write the report.

    Without a verb: the whole way, from judges who name the wrong winner to a settled question.
    """
    if verb is None:
        from tallystick.cli.story import SEED, tell_story

        page = tell_story(_folder(to), seed=SEED if seed is None else seed, as_json=as_json)
        _opened(page, open_report)
        return
    _one(verb, to, open_report, seed or 0, as_json)


def _opened(page: Path, open_report: bool) -> None:
    if open_report:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def _one(verb: str, to: Path | None, open_report: bool, seed: int, as_json: bool) -> None:
    """Show one verb."""
    from tallystick.io import write_csv

    made, ask = _audit(seed) if verb == "audit" else _of_capability(verb, seed)
    folder = _folder(to)
    name = verb.replace(" ", "-")
    table, page = folder / f"{name}.csv", folder / f"{name}.html"
    write_csv(table, made.table)
    tell([made.story, f"table: {table}"])
    ask(table, Delivery(as_json=as_json, html=page))
    words = [*(_found(verb) if verb != "audit" else verb).split(), str(table), *made.command()]
    tell([f"do it yourself: {shlex.join(['tallystick', *words])} --html report.html"])
    _opened(page, open_report)


def _audit(seed: int) -> tuple[Demo, Callable[[Path, Delivery], None]]:
    from tallystick.audit import audit
    from tallystick.audit.cases import cases_of
    from tallystick.audit.demo import demo as audit_demo

    def ask(table: Path, delivery: Delivery) -> None:
        with read(table, Door(repeats=True)) as data:
            with working("answering all that applies"):
                result = audit(data, rng=seed)
            deliver(result, delivery, data=data, cases=cases_of)

    return audit_demo(seed), ask


def _of_capability(verb: str, seed: int) -> tuple[Demo, Callable[[Path, Delivery], None]]:
    shown = capability(_found(verb))
    if shown.demo is None:
        raise InputError(f"{verb} has no demonstration")
    made = shown.demo(seed)
    fields = {one for one in made.options if one in shown.question.__dataclass_fields__}
    question = shown.question(seed=seed, **{one: made.options[one] for one in fields})
    roles = {one: value for one, value in made.options.items() if one not in fields}

    def ask(table: Path, delivery: Delivery) -> None:
        with read(table, shown.door, **roles) as data:
            with working("answering"):
                result = conclude(shown, data, question)
            deliver(result, delivery, data=data, capability=shown)

    return made, ask


def _found(verb: str) -> str:
    """Return the verb of a capability that has a demonstration, by its first word."""
    for entry in ENTRIES:
        if verb == entry.verb or (
            entry.verb.startswith(f"{verb} ") and capability(entry.verb).demo
        ):
            return entry.verb
    able = [entry.verb for entry in ENTRIES if capability(entry.verb).demo]
    shown = ", ".join(dict.fromkeys([*(name.partition(" ")[0] for name in able), "audit"]))
    raise InputError(f"there is nothing to show for {verb!r}: there are {shown}")


def _folder(to: Path | None) -> Path:
    if to is None:
        import tempfile

        return Path(tempfile.mkdtemp(prefix="tallystick-demo-"))
    to.mkdir(parents=True, exist_ok=True)
    return to


def _params() -> list[click.Parameter]:
    return [
        click.Argument(["verb"], required=False),
        click.Option(
            ["--to"],
            type=click.Path(path_type=Path),
            help="Folder for the table and the report. Default: a new temporary one.",
        ),
        click.Option(
            ["--open", "open_report"], is_flag=True, help="Open the report in the browser."
        ),
        click.Option(["--seed"], type=click.IntRange(min=0), help="Seed for the random draws."),
        click.Option(
            ["--json", "as_json"],
            is_flag=True,
            help="Print one JSON object on stdout and nothing else.",
        ),
    ]


demo: Any = click.Command(
    "demo",
    callback=_run,
    help=_run.__doc__,
    params=_params(),
    context_settings={"help_option_names": ["-h", "--help"]},
)
