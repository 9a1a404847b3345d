"""``tallystick demo [VERB]``: see a verb at work on a generated table, with its report."""

from __future__ import annotations

import platform
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import click

import tallystick
from tallystick.cli.app import OWN, working
from tallystick.cli.deliver import Delivery, deliver, tell
from tallystick.cli.verb import (
    JSON,
    Verb,
    options,
    out_option,
    sorted_options,
    table_options,
)
from tallystick.errors import InputError, unknown
from tallystick.registry import ENTRIES, capability
from tallystick.report.terminal import glossary
from tallystick.results import Result
from tallystick.table import (
    GROUPS,
    Demo,
    Door,
    Question,
    Reading,
    atomic,
    read,
    with_reading,
    write_csv,
)


def _run(verb: str, output: Path | None, open_report: bool, seed: int, as_json: bool) -> None:
    """Write the table of a demonstration."""
    from tallystick.cli.app import app

    words, made = _shown(verb, seed)
    to = output or Path(tempfile.mkdtemp(prefix="tallystick-demo-"))
    to.mkdir(parents=True, exist_ok=True)
    name = verb.replace(" ", "-")
    table, page = to / f"{name}.csv", to / f"{name}.html"
    write_csv(table, made.table)
    tell([made.story, f"table: {table}"])

    words += [str(table), *made.command()]
    given = ["--html", str(page), *(["--json"] if as_json else [])]
    command = app.get_command(click.Context(app), words[0])
    names = {one.name for one in command.params} if command is not None else set()
    given += ["--seed", str(seed)] if "seed" in names else []
    given += ["-o", str(to / "answers.csv")] if "out" in names else []
    app.main([*words, *given], "tallystick", standalone_mode=False)
    tell([f"do it yourself: {shlex.join(['tallystick', *words])} --html report.html"])
    if open_report:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())


def _shown(verb: str, seed: int) -> tuple[list[str], Demo]:
    """Return the words of a verb, which may be named by its first word, and its demonstration."""
    from tallystick.verbs.audit.answer import demo as of_audit

    held = [(entry.verb, capability(entry.verb).demo) for entry in ENTRIES]
    able = {name: made for name, made in (*held, ("audit", of_audit)) if made is not None}
    for name, made in able.items():
        if verb in (name, name.partition(" ")[0]):
            return name.split(), made(seed)
    shown = dict.fromkeys(name.partition(" ")[0] for name in able)
    raise InputError(unknown("demonstration", verb, shown))


demo = Verb(
    "demo",
    callback=_run,
    help=OWN["demo"][1],
    params=[
        click.Argument(["verb"], default="score"),
        out_option("Folder for the table and the report. Default: a new temporary one."),
        click.Option(
            ["--open", "open_report"], is_flag=True, help="Open the report in the browser."
        ),
        *(one for one in options(Question) if one.name == "seed"),
        *JSON,
    ],
)

# ``tallystick look FILE``: what the columns are, and what can be asked.


def _look_run(
    source: tuple[str, ...], output: Path | None, reading: str | None, as_json: bool
) -> None:
    """Show how a table is read, and the commands that fit it."""
    from tallystick.verbs.look import look as looked

    if "-" in source:
        raise InputError("look reads a table several times: save the stream to a file first")
    delivery = Delivery(as_json=as_json)
    delivery.check(source, output=output)
    with working("reading"):
        result = looked(list(source), reading=reading)
    if output is not None:
        if not isinstance(result.reading, Reading):
            raise InputError(f"{source[0]}: nothing was read that could be written to {output}")
        with atomic(output) as stream:
            stream.write(result.reading.to_toml(" ".join(source)).encode("utf-8"))
        tell([f"reading: {output}"])
    deliver(result, delivery)


look = Verb(
    "look",
    callback=_look_run,
    help=OWN["look"][1],
    params=[
        click.Argument(["source"], nargs=-1, required=True, metavar="INPUT..."),
        out_option("Write the reading to this file; every verb takes it as --reading FILE.toml."),
        *table_options((), only=("reading",)),
        *JSON,
    ],
)

# ``tallystick audit FILE``: look at a table and run all that applies to it.


_READS = (
    *("item", "truth", "judges", "models", "weak", "prediction", "score", "old", "new"),
    *("confidence", "round", "cluster", "count", "weight", "by"),
)


def _audit_run(source: tuple[str, ...], alpha: float, seed: int, **given: Any) -> None:
    """Answer every question that a table allows, on one page.

    What cannot be told is asked by naming the option that answers it; nothing is guessed.
    """
    from tallystick.verbs.audit import audit as look
    from tallystick.verbs.audit.answer import cases_of

    reading, delivery = sorted_options(given)
    reading = with_reading(reading, reads=_READS)
    delivery.check((*source, *([reading["truth_file"]] if "truth_file" in reading else [])))
    # Groups may be globs, which pass over columns that turn out to be something else.
    groups = {role: reading.pop(role) for role in list(reading) if role in GROUPS}
    ignored = {name: reading.pop(name) for name in ("ignore",) if name in reading}
    with working("reading"):
        opened = read(list(source), Door(repeats=True), **reading)
    with opened as data:
        tell(data.notes)
        with working("answering"):
            result = look(data, alpha=alpha, rng=seed, **ignored, **groups)
        deliver(result, delivery, data=data, cases=cases_of)


audit = Verb(
    "audit",
    callback=_audit_run,
    help=_audit_run.__doc__,
    params=[
        click.Argument(["source"], nargs=-1, required=True, metavar="INPUT..."),
        *table_options(_READS),
        *options(Question),
        *options(Delivery, without=("junit", "post")),
    ],
)

# ``tallystick doctor``: versions, engines found, what is missing and how to get it.


def _requirements() -> Iterator[tuple[str, str]]:
    """Yield each package that is used, with the extra that brings it; none for a needed one."""
    for one in metadata.requires("tallystick") or ():
        name, extra = re.match(r"[\w.-]+", one), re.search(r"extra == '(\w+)'", one)
        if name is not None:
            yield name[0], extra[1] if extra else ""


@dataclass(frozen=True, kw_only=True)
class DoctorResult(Result):
    """What this installation can do."""

    verb: ClassVar[str] = "doctor"

    version: str
    python: str
    platform: str
    parts: tuple[dict[str, Any], ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per part."""
        return [
            part | {"version": part["version"] or "missing", "remedy": part["remedy"] * lacks}
            for part in self.parts
            for lacks in [part["version"] is None]
        ]


def examine() -> DoctorResult:
    """Look at this installation without loading anything heavy."""
    parts = [
        {
            "name": name,
            "version": _version(name),
            "required": not extra,
            "remedy": f"pip install 'tallystick[{extra}]'" if extra else f"pip install {name}",
        }
        for name, extra in _requirements()
    ]
    broken = [str(one["name"]) for one in parts if one["required"] and one["version"] is None]
    return DoctorResult(
        verdict=f"Tallystick lacks {', '.join(broken)}." if broken else "Tallystick is ready.",
        n_items=0,
        version=tallystick.__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        parts=tuple(parts),
    )


def _doctor_run(**given: Any) -> None:
    result = examine()
    deliver(result, Delivery(**given))
    if any(part["required"] and part["version"] is None for part in result.parts):
        sys.exit(1)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


doctor = Verb("doctor", callback=_doctor_run, help=OWN["doctor"][1], params=[*JSON])

# ``tallystick explain WORD|VERB``: what a word means, or how to read what a verb prints.


@cache
def pages() -> Mapping[str, str]:
    """Return how to read each verb's answer, as Markdown."""
    return {
        path.name.removesuffix(".md"): path.read_text(encoding="utf-8")
        for path in sorted((files("tallystick.cli") / "explained").iterdir(), key=str)
        if path.name.endswith(".md")
    }


def explained(term: str) -> str:
    """Return what is to be said about a word or a verb; refuse an unknown one with the nearest.

    >>> explained("Flips").partition(":")[0]
    'flip'
    >>> explained("compare").splitlines()[0]
    'How to read tallystick compare'
    """
    wanted = " ".join(term.lower().replace("_", " ").split())
    verb, words = wanted.partition(" ")[0], glossary()
    found = [_plain(pages()[verb])] if verb in pages() else []
    # Some verbs are words of the glossary as well: score, judge, label.
    near = () if found else (wanted.removesuffix("s"), wanted.replace("-", " "))
    name = next((one for one in (wanted, *near) if one in words), None)
    if name is not None:
        found.append(_filled(f"{name}: {words[name]}"))
    if found:
        return "\n\n".join(found)
    raise InputError(unknown("explanation", wanted, dict.fromkeys([*pages(), *words])))


def _filled(text: str) -> str:
    return textwrap.fill(text, 96, break_on_hyphens=False)


def _plain(markdown: str) -> str:
    """Return Markdown as a terminal shows it."""
    text = re.sub(r"^# ", "", markdown.replace("**", "").replace("`", ""), flags=re.MULTILINE)
    return "\n\n".join(_filled(" ".join(b.split())) for b in text.split("\n\n") if b.strip())


def _explain_run(term: tuple[str, ...]) -> None:
    listed = f"Verbs: {', '.join(pages())}\n\nWords: {', '.join(sorted(glossary()))}"
    click.echo(explained(" ".join(term)) if term else listed)


explain = Verb(
    "explain",
    callback=_explain_run,
    help=OWN["explain"][1],
    params=[click.Argument(["term"], nargs=-1)],
)
