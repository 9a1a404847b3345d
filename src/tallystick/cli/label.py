"""``tallystick label FILE``: which items a person should label next, and when to stop."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.app import working
from tallystick.cli.deliver import Delivery, deliver, tell
from tallystick.cli.verb import Verb, options, sorted_options, table_options
from tallystick.errors import InputError, MissingExtra
from tallystick.registry import ENTRIES
from tallystick.table import Question, option, options_of, with_reading

if TYPE_CHECKING:
    from tallystick.verbs.label import LabelResult, Work
    from tallystick.verbs.label.exchange import Tool

_GOALS = ("difference", "best")
"""What labels of a score can be for besides the mean of each system."""
_QUESTIONS = (*(entry.verb for entry in ENTRIES if entry.labels), *_GOALS, "prevalence")
_READS = ("item", "system", "systems", "judges", "models", "weak", "prediction", "truth")
_FIELDS = ("positive", "scale", "at_least")
_TOOLS: tuple[Tool, ...] = ("label-studio", "argilla", "prodigy")
_SETTINGS = ("target", "budget", "alpha", "seed", "readers")


@dataclass(frozen=True, kw_only=True)
class LabelCall(Question):
    """What one call does: begin a session, hand out items, take answers, or say where it stands."""

    question: str | None = option(
        None,
        "What the labels are for. difference: which of two systems is better; best: the best of"
        " several.",
        choices=_QUESTIONS,
    )
    session: Path | None = option(
        None, "File that keeps the session; it is made if it does not exist."
    )
    target: float | None = option(
        None,
        "Stop when the answer is known to ± this; best of several: this close to it.",
        metavar="HALF",
    )
    next_: int | None = option(None, "Write the next N items to label.", flag="--next", low=1)
    out: Path | None = option(
        None,
        "File for the items to label (tasks of a tool: x.label-studio.json, x.argilla.json,"
        " x.prodigy.jsonl); without --next my answers, with room to correct them.",
    )
    add: Path | None = option(None, "Take the answers from the table or the tool's JSON.")
    open_: bool = option(False, "Label on a page in the browser.", flag="--open")
    terminal: bool = option(False, "Label in this terminal, item by item.")
    show: tuple[str, ...] = option(
        (),
        "Columns to show to the person who labels; repeat, or use commas.",
        metavar="COLUMNS",
    )
    instructions: Path | None = option(
        None, "Text file that says what counts as which answer; shown to the person who labels."
    )
    budget: int | None = option(None, "Most labels to ask for.", low=1)
    readers: int = option(
        1,
        "How many people label each item; a third one sees only what the first two disagree on.",
        low=1,
        high=3,
    )
    reader: str | None = option(None, "Which person answers: 1, 2 or 3.")
    label_draw: str = option(
        "unknown",
        "How the labels that the table already has were chosen.",
        choices=("random", "unknown"),
    )
    scale: tuple[float, float] | None = option(
        None, "score: people grade by numbers from LO to HI.", metavar="LO,HI"
    )
    positive: str | None = option(
        None, "prevalence: the label whose share you want to know.", metavar="LABEL"
    )
    at_least: float | None = option(None, "Claim to settle: the value is at least this.")
    seed: int = option(0, options_of(Question)["seed"].help, low=0)

    @property
    def tool(self) -> Tool | None:
        """The labelling tool that the name of the file for the items names."""
        name = "" if self.out is None else self.out.name
        return next((one for one in _TOOLS if f".{one}." in name), None)

    @property
    def asked(self) -> str | None:
        """The question of the session."""
        return "score" if self.question in _GOALS else self.question

    def fields(self) -> dict[str, Any]:
        """Return the fields of the session's question that were given."""
        given = {name: held for name in _FIELDS if (held := getattr(self, name)) is not None}
        return given | ({"goal": self.question} if self.question in _GOALS else {})

    def settings(self) -> dict[str, Any]:
        """Return how the session is run, as far as that was given."""
        usual = {name: one.default for name, one in LabelCall.__dataclass_fields__.items()}
        given = {name: getattr(self, name) for name in _SETTINGS}
        found = {name: held for name, held in given.items() if held != usual[name]}
        if self.show:
            found["show"] = tuple(part.strip() for one in self.show for part in one.split(","))
        if self.instructions is not None:
            found["instructions"] = _text(self.instructions)
        return {**found, "origin": self.label_draw}


def _run(source: tuple[str, ...], **given: Any) -> None:
    """Label the few items that tell most, and know when to stop.

    Begin: label FILE --question judge --session s.label. Go on: label --session s.label with
    --next 20 --out batch.csv, --add batch.csv, --open or --terminal; alone it says where the
    session stands. Before anything: label plan FILE.
    """
    own = LabelCall(**{name: given.pop(name) for name in options_of(LabelCall)})
    reading, delivery = sorted_options(given)
    reading = with_reading(reading, reads=_READS)
    files = (own.add, own.instructions, reading.get("truth_file"))
    read_ = [one for one in files if one is not None]
    delivery.check((*source, *read_), session=own.session, out=own.out)
    if source[:1] == ("plan",):
        _plan(source[1:], reading, own, delivery)
        return
    if own.session is None:
        raise click.UsageError("name the session's file: --session s.label")
    actions = [own.add is not None, own.open_, own.terminal]
    if sum(actions) > 1:
        raise click.UsageError("give one of --add, --open and --terminal")

    from tallystick.verbs.label.begin import label as session_of

    with working("reading"):
        opened = session_of(
            list(source) or None,
            own.session,
            question=own.asked,
            write=any(actions) or own.next_ is not None,
            **reading,
            **own.fields(),
            **own.settings(),
        )
    with opened as work:
        tell([*work.data.notes, *work.task.notes])
        batch = _act(work, own)
        with working("answering"):
            result = work.result(batch)
        deliver(_with_next(result, own.session, batch, own), delivery)


def _with_next(
    result: LabelResult, path: Path, batch: tuple[Any, ...], own: LabelCall
) -> LabelResult:
    """Return the result with what to do with the file that was just written."""
    if not batch or own.out is None or result.sentences is None:
        return result
    how = "label them in the tool" if own.tool else f"fill in the last column of {own.out}"
    then = ["tallystick", "label", "--session", str(path), "--add", str(own.out)]
    then += ["--reader", own.reader] if own.reader else []
    following = f"Next: {how}, then {shlex.join(then)}"
    return replace(result, sentences=replace(result.sentences, next=following))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise InputError(f"--instructions {path}: it cannot be read as UTF-8 text") from error


def _act(work: Work, own: LabelCall) -> tuple[Any, ...]:
    """Do what was asked for; return the asks that were handed out."""
    from tallystick.verbs.label.exchange import read_answers_of, write_answers, write_asks

    reader = own.reader or work.session.head.readers[0]
    out, size = own.out, own.next_
    if own.add:
        with working("adding answers"):
            events = read_answers_of(own.add, work, reader=reader)
            before = len(work.session.answers)
            work.write(events)
        corrected = len(events) - (len(work.session.answers) - before)
        more = f", {corrected:,} of them correct an earlier one" if corrected else ""
        tell([f"{own.add}: {len(events):,} answers added{more}"])
    if own.terminal:
        _terminal(work, reader, size)
        return ()
    if own.open_:
        _page(work)
        return ()
    if size is None:
        if out is not None:
            write_answers(out, work, reader=reader)
            tell([f"written: {out}. Type corrections into its last column, then --add {out}"])
        return ()
    if reader == work.session.head.readers[0]:
        with working("drawing"):
            asks = work.next(size)
    else:  # the others read what was drawn for the first
        asks = tuple(work.session.open_asks(reader)[:size])
    if out is not None:
        write_asks(out, work, asks, tool=own.tool)
        what = "items" if work.task.rows.shape[1] == 1 else "outputs"
        tell([f"{out}: {len(asks):,} {what} to label, in this order. {work.blindness}"])
    return asks


def _terminal(work: Work, reader: str, size: int | None) -> None:
    from tallystick.verbs.label.shown import label_in_terminal

    def line() -> str:
        text = sys.stdin.readline()
        if not text:
            raise EOFError
        return text

    label_in_terminal(work, reader=reader, lines=line, out=sys.stderr, batch=size)


def _page(work: Work) -> None:
    from tallystick.serve import serve_labels

    browser = not os.environ.get("TALLYSTICK_NO_BROWSER")
    try:
        serve_labels(work, open_browser=browser, say=lambda text: tell([text]))
    except MissingExtra:
        tell(["--terminal, and --next 20 --out batch.csv, need no page"])
        raise


def _plan(
    source: tuple[str, ...], reading: Mapping[str, Any], own: LabelCall, to: Delivery
) -> None:
    from tallystick.table import Door, read
    from tallystick.verbs.label.begin import USUAL_TARGET, label_question
    from tallystick.verbs.label.plan import plan

    if not source:
        raise click.UsageError("give the table: label plan FILE")
    asked = own.asked
    door = Door(verb="judge", want="judges", repeats=True)
    names: tuple[str, ...] = ("judge", "prevalence", "score")
    fields_: dict[str, Any] = {}
    if asked is not None:
        door, names, fields_ = label_question(asked).door, (asked,), own.fields()
    with working("reading"):
        held = read(list(source), door, **reading)
    with held as data:
        tell(data.notes)
        with working("planning"):
            target = own.target or USUAL_TARGET
            result = plan(data, names, target=target, alpha=own.alpha, **fields_)
        deliver(result, to, data=data)


_READING = ("reading", "labels", "truth_file")
"""Options of reading; a session takes the others from a reading file (look FILE -o FILE.toml)."""

label = Verb(
    "label",
    callback=_run,
    help=_run.__doc__,
    params=[
        click.Argument(["source"], nargs=-1, metavar="[plan] INPUT..."),
        *options(LabelCall),
        *table_options(_READS, only=_READING),
        *(one for one in options(Delivery) if one.name in ("html", "as_json")),
    ],
)
