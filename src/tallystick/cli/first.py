"""``tallystick demo [VERB]``: see a verb at work on a generated table, with its report."""

from __future__ import annotations

import platform
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

import click

import tallystick
from tallystick.cli.app import working
from tallystick.cli.deliver import Delivery, deliver, tell
from tallystick.cli.verb import (
    Verb,
    json_option,
    output_options,
    question_options,
    reading_options,
    role_options,
    sorted_options,
)
from tallystick.errors import InputError
from tallystick.registry import ENTRIES, capability
from tallystick.report.terminal import glossary
from tallystick.results import Result
from tallystick.table import (
    GROUPS,
    Demo,
    Door,
    Question,
    Reading,
    answered,
    atomic,
    conclude,
    read,
    with_reading,
)


def _run(
    verb: str | None, to: Path | None, open_report: bool, seed: int | None, as_json: bool
) -> None:
    """Make a table such as people bring, answer a question from it, and write the report.

    Without a verb: the whole way, from judges who name the wrong winner to a settled question.
    """
    if verb is None:
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
    from tallystick.table import write_csv

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
    from tallystick.verbs.audit import audit
    from tallystick.verbs.audit.answer import cases_of
    from tallystick.verbs.audit.answer import demo as audit_demo

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
            ["--folder", "to"],
            type=click.Path(path_type=Path),
            help="Folder for the table and the report. Default: a new temporary one.",
        ),
        click.Option(
            ["--open", "open_report"], is_flag=True, help="Open the report in the browser."
        ),
        click.Option(["--seed"], type=click.IntRange(min=0), help="Seed for the random draws."),
        json_option(),
    ]


demo = Verb("demo", callback=_run, help=_run.__doc__, params=_params())

# ``tallystick demo``: from judges who name the wrong winner to a settled question.


SEED = 15
"""A draw on which 60 grades settle one pair and leave the other open, as they often do."""

BATCH = 40
MOST = 400
"""Grades that the person of this story would give at most."""


def tell_story(folder: Path, *, seed: int = SEED, as_json: bool = False) -> Path:
    """Score three bots, label what is open, say who was right; return the page of the answer."""
    from tallystick.registry import capability
    from tallystick.table import write_csv
    from tallystick.verbs.score.question import judged_outputs

    made, truth = judged_outputs(seed)
    table, page = folder / "outputs.csv", folder / "report.html"
    write_csv(table, made.table)

    tell([made.story, f"table: {table}", ""])
    command = shlex.join(["tallystick", "score", table.name, *made.command()])
    tell([f"$ {command}", ""])
    with working("answering"):
        result = answered(capability("score"), table, {**made.options, "seed": seed})
    deliver(result, Delivery(as_json=as_json, html=page))

    pair = _open_pair(result)
    if pair is None:
        tell(["", "Nothing is left to label: every pair with the best system is settled."])
    else:
        with working("labelling"):
            lines = _labelled(folder, made.table, made.options, truth, pair)
        tell(["", *lines])
    tell(["", *_truth(made.table["system"], truth)])
    return page


def _open_pair(result: Any) -> tuple[str, str] | None:
    """Return the best system and the strongest one that it was not told apart from."""
    best = result.systems[0].name
    rivals = [row.name for row in result.systems[1:] if row.name in result.contenders]
    return (best, rivals[0]) if rivals else None


def _labelled(
    folder: Path,
    columns: Mapping[str, Sequence[Any]],
    options: Mapping[str, Any],
    truth: Sequence[str],
    pair: tuple[str, str],
) -> list[str]:
    """Let `label` choose what to grade, answer as a person would, and say when it stopped."""
    from tallystick.table import write_csv
    from tallystick.verbs import label

    # Only the two systems whose order is open need more grades.
    rows = [n for n, name in enumerate(columns["system"]) if name in pair]
    table = {
        name: [held[n] for n in rows] for name, held in columns.items() if name != options["truth"]
    }
    path, session = folder / "open.csv", folder / "open.label"
    write_csv(path, table)
    reading = {name: value for name, value in options.items() if name != "truth"}
    words = ["label", path.name, "--question", "score", "--goal", "difference"]
    words += ["--session", session.name, "--next", str(BATCH), "--out", "batch.csv"]
    lines = [f"$ {shlex.join(['tallystick', *words])}", ""]

    session.unlink(missing_ok=True)
    settings = label.SessionSettings(budget=MOST)
    with label.begin(
        session,
        path,
        question="score",
        settings=settings,
        reading=reading,
        options={"goal": "difference"},
    ) as work:
        asks = work.next(BATCH)
        first = dict.fromkeys(table["question"][ask.row] for ask in asks)
        lines.append(
            f"It asks for the outputs of both systems on {len(first)} questions first:"
            f" {', '.join(list(first)[:6])}, …"
        )
        given = 0
        while asks:
            for ask in asks:
                work.answer(ask.number, truth[rows[ask.row]], reader="1")
                given += 1
            asks = () if work.standing().stop is not None else work.next(BATCH)
        lines.append(f"A person grades {given}; here the demonstration knows what they would say.")
        lines += ["", work.result().verdict]
    return lines


def _truth(systems: Sequence[Any], truth: Sequence[str]) -> list[str]:
    """Return what all outputs would have shown: nobody knows it outside a demonstration."""
    shares = {
        name: sum(t == "pass" for s, t in zip(systems, truth, strict=True) if s == name)
        / sum(s == name for s in systems)
        for name in dict.fromkeys(systems)
    }
    ranked = sorted(shares, key=lambda name: -shares[name])
    told = ", ".join(f"{name} {100 * shares[name]:.1f}%" for name in ranked)
    return [f"The truth, which only a demonstration knows: {told}."]


# ``tallystick look FILE``: what the columns are, and what can be asked.


def _look_run(
    source: tuple[str, ...], output: Path | None, reading: str | None, as_json: bool
) -> None:
    """Show what each column is, how the table is read, and the commands that it can answer."""
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
    help=_look_run.__doc__,
    params=[
        click.Argument(["source"], nargs=-1, required=True, metavar="INPUT..."),
        click.Option(
            ["--out", "-o", "output"],
            type=click.Path(path_type=Path),
            help="Write the reading to this file; every verb takes it as --reading FILE.toml.",
        ),
        *[one for one in reading_options(()) if one.name == "reading"],
        json_option(),
    ],
)

# ``tallystick audit FILE``: look at a table and run all that applies to it.


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
    "cluster",
    "count",
    "weight",
    "by",
)


def _audit_run(source: tuple[str, ...], alpha: float, seed: int, **given: Any) -> None:
    """Look at a table, say what its columns are taken for and why, and run all that applies.

    What cannot be told is asked by naming the option that answers it; nothing is guessed.
    """
    from tallystick.table import Door, read
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
        with working("answering all that applies"):
            result = look(data, alpha=alpha, rng=seed, **ignored, **groups)
        deliver(result, delivery, data=data, cases=cases_of)


audit = Verb(
    "audit",
    callback=_audit_run,
    help=_audit_run.__doc__,
    params=[
        click.Argument(["source"], nargs=-1, required=True, metavar="INPUT..."),
        *role_options(_READS),
        *question_options(Question),
        *reading_options(_READS),
        *output_options(items=True),
    ],
)

# ``tallystick doctor``: versions, engines found, what is missing and how to get it.


_NEEDED = (
    "numpy",
    "scipy",
    "pyarrow",
    "duckdb",
    "narwhals",
    "click",
    "rich",
    "jinja2",
    "httpx",
    "stamina",
)
_OPTIONAL = {
    "pandas": "pip install pandas",
    "polars": "pip install polars",
    "dask": "pip install 'tallystick[dask]'",
    "pyspark": "pip install 'tallystick[spark]'",
    "torch": "pip install 'tallystick[torch]'",
    "resvg-py": "pip install 'tallystick[png]'",
}


@dataclass(frozen=True)
class Component:
    """One library or program: its version, or None and the way to get it."""

    name: str
    version: str | None
    required: bool
    remedy: str


@dataclass(frozen=True, kw_only=True)
class DoctorResult(Result):
    """What this installation can do."""

    verb: ClassVar[str] = "doctor"

    version: str
    python: str
    platform: str
    parts: tuple[Component, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per part."""
        return [
            {
                "part": p.name,
                "version": p.version or "missing",
                "needed": "yes" if p.required else "optional",
                "how to get it": "" if p.version else p.remedy,
            }
            for p in self.parts
        ]


def examine() -> DoctorResult:
    """Look at this installation without loading anything heavy."""
    parts = [Component(name, _version(name), True, f"pip install {name}") for name in _NEEDED]
    parts += [Component(name, _version(name), False, remedy) for name, remedy in _OPTIONAL.items()]
    if _version("pyspark") is not None:
        java = "found" if shutil.which("java") else None
        parts.append(
            Component("java", java, False, "install a Java 17 runtime: Spark frames need it")
        )
    lacking = [part.name for part in parts if part.version is None]
    broken = [part.name for part in parts if part.version is None and part.required]
    if broken:
        verdict = f"Tallystick cannot work here: {', '.join(broken)} missing."
    else:
        verdict = "Tallystick is ready" + (
            f"; optional parts missing: {', '.join(lacking)}." if lacking else "."
        )
    return DoctorResult(
        verdict=verdict,
        n_items=0,
        version=tallystick.__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        parts=tuple(parts),
    )


def _doctor_run(**given: Any) -> None:
    """Show versions, engines found, what is missing and how to get it."""
    result = examine()
    _, delivery = sorted_options(given)
    deliver(result, delivery)
    if any(part.required and part.version is None for part in result.parts):
        sys.exit(1)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


doctor = Verb("doctor", callback=_doctor_run, help=_doctor_run.__doc__, params=[json_option()])

# ``tallystick explain WORD|VERB``: what a word means, or how to read what a verb prints.


@cache
def pages() -> Mapping[str, str]:
    """Return how to read each verb's answer, as Markdown."""
    return {
        path.name.removesuffix(".md"): path.read_text(encoding="utf-8")
        for path in sorted(_explain_folder().iterdir(), key=lambda path: path.name)
        if path.name.endswith(".md")
    }


def _explain_folder() -> Any:
    return files("tallystick.cli") / "explained"


def explained(term: str) -> str:
    """Return what is to be said about a word or a verb; refuse an unknown one with the nearest.

    >>> explained("Flips").partition(":")[0]
    'flip'
    >>> explained("compare").splitlines()[0]
    'How to read tallystick compare'
    """
    wanted = " ".join(term.lower().replace("_", " ").split())
    if wanted.partition(" ")[0] in pages():
        parts = [_plain(pages()[wanted.partition(" ")[0]])]
        # Some verbs are words of the glossary as well: score, judge, label.
        if wanted in glossary():
            parts.append(_word(wanted))
        return "\n\n".join(parts)
    for name in (wanted, wanted.removesuffix("s"), wanted.replace("-", " ")):
        if name in glossary():
            return _word(name)
    known = list(dict.fromkeys([*pages(), *glossary()]))
    near = get_close_matches(wanted, known, n=3)
    hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "There are:"
    listed = "" if near else f" {', '.join(known)}"
    raise InputError(f"there is no explanation of {term!r}. {hint}{listed}")


def _word(name: str) -> str:
    import textwrap

    return textwrap.fill(f"{name}: {glossary()[name]}", 96, break_on_hyphens=False)


def _plain(markdown: str) -> str:
    """Return Markdown as a terminal shows it: the signs go, paragraphs are filled to 96 columns."""
    import textwrap

    text = re.sub(r"^# ", "", markdown.replace("**", "").replace("`", ""), flags=re.MULTILINE)
    paragraphs = [" ".join(block.split()) for block in text.split("\n\n") if block.strip()]
    return "\n\n".join(textwrap.fill(block, 96, break_on_hyphens=False) for block in paragraphs)


def _explain_run(term: tuple[str, ...]) -> None:
    """Explain a word of the answers, or how to read what a verb prints."""
    if not term:
        click.echo(f"Verbs: {', '.join(pages())}\n")
        click.echo(f"Words: {', '.join(sorted(glossary()))}\n")
        click.echo("tallystick explain WORD tells what one means.")
        return
    click.echo(explained(" ".join(term)))


explain = Verb(
    "explain",
    callback=_explain_run,
    help=_explain_run.__doc__,
    params=[click.Argument(["term"], nargs=-1)],
)
