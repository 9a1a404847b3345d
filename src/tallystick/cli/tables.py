"""``tallystick tally FILE -o T``: count the patterns of a table once."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from tallystick.cli.app import working
from tallystick.cli.deliver import Delivery, deliver, tell
from tallystick.cli.verb import (
    JSON,
    Verb,
    options,
    out_option,
    sorted_options,
    table_options,
)
from tallystick.errors import InputError, MergeError
from tallystick.results import to_json
from tallystick.table import (
    Data,
    Door,
    LabelRules,
    Roles,
    Tally,
    describe,
    read,
    reading_of,
    with_reading,
)
from tallystick.table.reading_names import ROLE_NAMES, is_truth_name, plain
from tallystick.table.roles import expand
from tallystick.verbs.judge import JudgeQuestion, JudgeResult, Window, Windows, graded
from tallystick.verbs.judge.windows import load_state, save_state

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

_READS = ("item", "count", "weight", "by")


def _run(source: tuple[str, ...], output: Path | None, **given: Any) -> None:
    """Count the vote patterns of a table once, and answer from the counts later.

    With --by the slice is one more column of the tally, and with --weight the weight is.
    """
    reading, delivery = sorted_options(given)
    reading = with_reading(reading, reads=_READS)
    delivery.check(source, output=output)
    with read(list(source), Door(), **reading) as data:
        tell(data.notes)
        roles = data.roles.with_columns("judges", _counted(data, reading))
        # Only a tally that is saved can be merged with another.
        data = replace(data, roles=roles, sketch_items=output is not None)
        with working("counting"):
            # A weight is one more column, so rows stay rows and weights need no total.
            counted = data.tally("judges", "by", "weight")
        tell(data.meaning_notes)
        if output is not None:
            counted.save(output)
        result = replace(describe(counted), reading=reading_of(data))
        deliver(result, delivery, data=data)


def _counted(data: Data, reading: dict[str, Any]) -> tuple[str, ...]:
    """Return the columns to count: those that are named, or all that have no other role."""
    if "columns" in reading:
        return expand(reading["columns"], data.table)
    if data.roles.judges:  # one row per vote has become one column per judge
        return data.roles.judges
    held = {*data.roles.columns(), *data.table.left_out}
    return tuple(name for name in data.table.columns if name not in held)


tally = Verb(
    "tally",
    callback=_run,
    help=_run.__doc__,
    params=[
        click.Argument(["source"], nargs=-1, required=True, metavar="INPUT..."),
        out_option("Save the tally to this file."),
        *table_options(_READS),
        *options(Delivery, without=("junit", "post")),
    ],
)

# ``tallystick merge T… -o T``: add saved tallies, in any order.


def _merge_run(tallies: tuple[str, ...], output: Path, allow_overlap: bool, **given: Any) -> None:
    """Add saved tallies into one, in any order.

    Tallies that have counted the same file, stream, batch or rows are refused.
    """
    _, delivery = sorted_options(given)
    delivery.check(tallies, output=output)
    with working("adding"):
        total, same = _total(tallies, allow_overlap=allow_overlap)
    result = describe(total)
    result = replace(result, warnings=(*result.warnings, *same))
    total.save(output)
    deliver(result, delivery)


def _total(tallies: Sequence[str], *, allow_overlap: bool) -> tuple[Tally, tuple[str, ...]]:
    """Return the sum of saved tallies, and which of them are the same file."""
    parts = [Tally.load(path) for path in tallies]
    total, same = Tally(), []
    for place, (path, part) in enumerate(zip(tallies, parts, strict=True)):
        # Which two of them share rows is looked for only if the sum does, or cannot know.
        suspect = not part.sources.names or total.clash(part) is not None
        before = zip(tallies[:place], parts, strict=False) if suspect else ()
        for first, other in before:
            told = _overlap((first, other), (path, part))
            if told and not allow_overlap:
                raise MergeError(f"{told}. Leave one tally out, or give --allow-overlap")
            if told and not part.sources.names:
                same.append(f"{told}: its rows are counted again")
        total = total.merge(part, allow_overlap=allow_overlap)
    return total, tuple(same)


def _overlap(one: tuple[str, Tally], other: tuple[str, Tally]) -> str:
    """Say what two saved tallies share; nothing if they share nothing."""
    clash = one[1].clash(other[1])
    # Tallies of data in memory do not know what they counted: all there is to compare is the file.
    named = clash is not None or one[1].sources.names
    if not named and Path(one[0]).read_bytes() == Path(other[0]).read_bytes():
        clash = "the same: they are equal byte for byte"
    return f"{one[0]} and {other[0]} both count {clash}" if clash is not None else ""


merge = Verb(
    "merge",
    callback=_merge_run,
    help=_merge_run.__doc__,
    params=[
        click.Argument(["tallies"], nargs=-1, required=True, metavar="TALLY..."),
        out_option("File for the merged tally.", required=True),
        click.Option(
            ["--allow-overlap"],
            is_flag=True,
            help="Add tallies that have counted the same rows; the result says so.",
        ),
        *JSON,
    ],
)

# ``tallystick judge - --follow``: votes from stdin as they come, one JSON line per window.


def follow(call: Call) -> None:
    """Answer about votes from stdin, window by window, as they come."""
    question = call.question
    assert isinstance(question, JudgeQuestion)
    if question.window is None or call.source != ("-",):
        raise InputError(
            "--follow reads votes from stdin in windows: give INPUT as - and --window N"
        )
    roles = Roles.of({role: call.reading.get(role) for role in call.capability.reads})
    refused = [f"--{role}" for role in ("count", "weight", "by") if getattr(roles, role)]
    refused += list(call.delivery.files())
    refused += [f"--{name}" for name in ("judge", "vote") if name in call.reading]
    if refused:
        raise InputError(f"--follow does not take {refused[0]}: leave one of the two out")
    missing = [piece for token in call.reading.get("missing", ()) for piece in token.split(",")]
    rules = LabelRules(missing=tuple(missing), coerce=bool(call.reading.get("coerce")))

    def grade(votes: Tally) -> JudgeResult:
        data = Data(held=votes, roles=roles, rules=rules, source="stdin")
        judges = [name for name in votes.names if name != roles.truth]
        read_as = replace(data, roles=replace(roles, item=None).with_columns("judges", judges))
        return replace(graded(read_as, question), reading=reading_of(read_as))

    stream = Windows(
        size=question.window or 1,
        evaluation=grade,
        alpha=question.alpha,
        truth=roles.truth,
        missing=rules.missing,
        coerce=rules.coerce,
    )
    if question.state is not None:
        load_state(stream, question.state)

    def windows() -> Iterator[Window]:
        names: tuple[str, ...] | None = None
        for record in records(sys.stdin):
            if names is None:
                names = _columns(tuple(record), roles.judges, roles.truth, roles.item)
            if any(name not in record for name in names):
                raise InputError(f"stdin: every row needs the columns {', '.join(names)}")
            yield from stream.push({name: [record[name]] for name in names})
        yield from stream.finish()

    for window in windows():
        sys.stdout.write(to_json(window.to_dict()) + "\n")
        sys.stdout.flush()  # whoever follows wants it now
        # Written after the line: a crash in between repeats a window and loses none.
        if question.state is not None:
            save_state(stream, question.state)
    if question.state is not None:
        save_state(stream, question.state)


def records(lines: TextIO) -> Iterator[dict[str, Any]]:
    r"""Yield rows of NDJSON, or of comma-separated text with a header, as they come.

    The first character says which of the two it is.

    >>> import io
    >>> list(records(io.StringIO('{"a": 1}\n{"a": 2}\n')))
    [{'a': 1}, {'a': 2}]
    >>> list(records(io.StringIO('a,b\n1,\n')))
    [{'a': '1', 'b': None}]
    """
    first = lines.readline()
    every = chain([first], iter(lines.readline, ""))
    if first.lstrip().startswith("{"):
        for number, line in enumerate(every, start=1):
            if line.strip():
                yield _object(line, number)
        return
    rows = csv.DictReader(every)
    header = rows.fieldnames or []
    if len(set(header)) != len(header) or not header:
        raise _wrong_line(1)
    for row in rows:
        # A cell too many has no name, and a name too many has no cell.
        if None in row or None in row.values():
            raise _wrong_line(rows.line_num)
        yield {name: cell if cell.strip() else None for name, cell in row.items()}


def _object(line: str, number: int) -> dict[str, Any]:
    """Read one line of NDJSON."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise _wrong_line(number)
    return row


def _wrong_line(number: int) -> InputError:
    return InputError(f"line {number} of stdin is no JSON object, and no row under distinct names")


def _columns(
    header: tuple[str, ...], judges: Sequence[str], truth: str | None, item: str | None
) -> tuple[str, ...]:
    """Return the judges that are named, or every column that is no item and no truth."""
    patterns = [piece for option in judges for piece in option.split(",")]

    def votes(name: str) -> bool:
        if name in (truth, item):
            return False
        if patterns:
            return any(fnmatchcase(name, pattern) for pattern in patterns)
        return plain(name) not in ROLE_NAMES["item"] and not is_truth_name(name, whole=True)

    chosen = tuple(filter(votes, header))
    if not chosen or (truth is not None and truth not in header):
        raise InputError(
            f"stdin has columns {list(header)}: no judge among them, or no truth {truth!r}"
        )
    return (*chosen, *([truth] if truth is not None else []))
