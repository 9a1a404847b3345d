"""``tallystick tally FILE -o T``: count the patterns of a table once."""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
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
    reading_options,
    role_options,
    sorted_options,
)
from tallystick.errors import InputError, MergeError
from tallystick.results import to_json
from tallystick.table import (
    Data,
    Door,
    LabelRules,
    Roles,
    Tally,
    read,
    reading_of,
    two_vocabularies,
    with_reading,
)
from tallystick.table.reading_names import ROLE_NAMES, is_truth_name, plain
from tallystick.table.roles import expand
from tallystick.verbs.judge import JudgeQuestion, JudgeResult, Window, Windows, graded
from tallystick.verbs.judge.windows import load_state, save_state

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

_READS = ("item", "count", "weight", "by")


def _run(
    source: tuple[str, ...],
    output: Path | None,
    cut: tuple[str, ...],
    **given: Any,
) -> None:
    """Count the vote patterns of a table once, and answer from the counts later.

    With --by the slice is one more column of the tally, and with --weight the weight is.
    """
    from tallystick.table import describe

    reading, delivery = sorted_options(given)
    reading = with_reading(reading, reads=_READS)
    delivery.check(source, output=output)
    with read(list(source), Door(), **reading) as data:
        tell(data.notes)
        roles = data.roles.with_columns("judges", _counted(data, reading))
        # Only a tally that is saved can be merged with another.
        data = replace(data, roles=roles, sketch_items=output is not None)
        edges = _edges(cut)
        with working("counting"):
            # A weight is one more column, so rows stay rows and weights need no total.
            counted = data.tally("judges", "by", "weight", cut=edges)
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


def _edges(options: tuple[str, ...]) -> dict[str, list[float]]:
    """Read ``COLUMN=EDGE,EDGE,…``; the column's name may itself hold an equals sign."""
    cut: dict[str, list[float]] = {}
    for option in options:
        column, equals, edges = option.rpartition("=")
        try:
            cut[column] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            equals = ""
        if not (column and equals):
            raise InputError(
                f"--cut must be COLUMN=EDGE,EDGE,… with numbers for edges, got {option!r}"
            )
    return cut


tally = Verb(
    "tally",
    callback=_run,
    help=_run.__doc__,
    params=[
        click.Argument(["source"], nargs=-1, required=True, metavar="INPUT..."),
        out_option("Save the tally to this file."),
        click.Option(
            ["--cut"],
            multiple=True,
            help="Bin a score: COLUMN=EDGE,EDGE,… (repeat for more columns).",
        ),
        *role_options(_READS),
        *reading_options(_READS),
        *options(Delivery, without=("junit", "post")),
    ],
)

# ``tallystick merge T… -o T``: add saved tallies, in any order.


def _merge_run(tallies: tuple[str, ...], output: Path, allow_overlap: bool, **given: Any) -> None:
    """Add saved tallies into one, in any order.

    Tallies that have counted the same file, stream, batch or rows are refused.
    """
    from tallystick.table import describe

    _, delivery = sorted_options(given)
    delivery.check(tallies, output=output)
    with working("adding"):
        total, same = _total(tallies, allow_overlap=allow_overlap)
    result = describe(total)
    result = replace(result, warnings=(*result.warnings, *same, *_two_vocabularies(total)))
    total.save(output)
    deliver(result, delivery)


def _total(tallies: Sequence[str], *, allow_overlap: bool) -> tuple[Tally, tuple[str, ...]]:
    """Return the sum of saved tallies, and which of them are the same file."""
    from tallystick.table import Tally

    parts = [Tally.load(path) for path in tallies]
    nameless = [path for path, part in zip(tallies, parts, strict=True) if not part.sources.names]
    same = _same(nameless)
    if same and not allow_overlap:
        raise MergeError(f"{same[0]}. Leave one out, or give --allow-overlap")

    total = Tally()
    for place, (path, part) in enumerate(zip(tallies, parts, strict=True)):
        if total.sources.clash(part.sources) is not None and not allow_overlap:
            first, clash = _clash(part, tallies[:place], parts) or (
                "the sum of the others",
                total.sources.clash(part.sources),
            )
            raise MergeError(
                f"{first} and {path} both count {clash}. Leave one tally out, or give"
                " --allow-overlap"
            )
        total = total.merge(part, allow_overlap=allow_overlap)
    return total, same


def _two_vocabularies(total: Tally) -> tuple[str, ...]:
    """Warn of columns that say right and wrong in two ways: the tables were written differently."""
    found = {name: two_vocabularies(labels) for name, labels in total.labels.items()}
    odd = {name: pairs for name, pairs in found.items() if pairs is not None}
    if not odd:
        return ()
    first, second = next(iter(odd.values()))
    columns = f"column{'s' * (len(odd) > 1)} {', '.join(odd)}"
    return (
        f"{columns}: the labels are {first}, and also {second}. If they mean the same, no verb can"
        " use this tally: write them alike in the tables, count them again, and merge those",
    )


def _clash(part: Tally, paths: Sequence[str], parts: Sequence[Tally]) -> tuple[str, str] | None:
    """Return the first tally that shares something with *part*, and what it is."""
    for path, other in zip(paths, parts, strict=False):
        clash = other.sources.clash(part.sources)
        if clash is not None:
            return path, clash
    return None


def _same(tallies: Sequence[str]) -> tuple[str, ...]:
    """Name files of one content: tallies of data in memory do not know what they counted."""
    seen: dict[str, str] = {}
    found = []
    for path in tallies:
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        if digest in seen:
            both = (
                f"{path} is given more than once"
                if seen[digest] == path
                else f"{seen[digest]} and {path} are byte for byte the same"
            )
            found.append(f"{both}: its rows are counted again")
        seen.setdefault(digest, path)
    return tuple(dict.fromkeys(found))


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
    rules = LabelRules(
        missing=tuple(
            piece for token in call.reading.get("missing", ()) for piece in token.split(",")
        ),
        coerce=bool(call.reading.get("coerce")),
    )
    _follow_stdin(roles, rules, question)


def _follow_stdin(roles: Roles, rules: LabelRules, question: JudgeQuestion) -> None:
    """Evaluate stdin window by window until it ends; the last one may be partial."""
    names: tuple[str, ...] | None = None

    def grade(votes: Tally) -> JudgeResult:
        data = Data(held=votes, roles=roles, rules=rules, source="stdin")
        judges = [name for name in votes.names if name != roles.truth]
        read_as = replace(data, roles=replace(roles, item=None).with_columns("judges", judges))
        return replace(graded(votes, read_as, question), reading=reading_of(read_as))

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
    for record in records(sys.stdin):
        if names is None:
            names = _columns(tuple(record), roles.judges, roles.truth, roles.item)
        absent = [name for name in names if name not in record]
        if absent:
            raise InputError(f"a row lacks column {absent[0]!r}: every row needs {list(names)}")
        for window in stream.push({name: [record[name]] for name in names}):
            _print(window)
            # Written after the line: a crash in between repeats a window and loses none.
            if question.state is not None:
                save_state(stream, question.state)
    for window in stream.finish():
        _print(window)
    if question.state is not None:
        save_state(stream, question.state)


def _print(window: Window) -> None:
    sys.stdout.write(to_json(window.to_dict()) + "\n")
    sys.stdout.flush()  # whoever follows wants it now


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
    if first.lstrip().startswith("{"):
        number = 0
        while first:
            number += 1
            if first.strip():
                try:
                    row = json.loads(first)
                except ValueError as error:
                    raise InputError(
                        f"line {number} of stdin is not a JSON object ({error})"
                    ) from error
                if not isinstance(row, dict):
                    raise InputError(
                        f"line {number} of stdin is {first.strip()[:40]!r}, not a JSON object"
                    )
                yield row
            first = lines.readline()
        return
    header = next(csv.reader([first]), [])
    if len(set(header)) != len(header) or not header:
        raise InputError(f"the header of stdin must name different columns, got {header}")
    for number, cells in enumerate(csv.reader(iter(lines.readline, "")), start=2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise InputError(
                f"line {number} of stdin has {len(cells)} cells, the header has {len(header)}"
            )
        yield {
            name: cell if cell.strip() else None for name, cell in zip(header, cells, strict=True)
        }


def _columns(
    header: tuple[str, ...], judges: Sequence[str], truth: str | None, item: str | None
) -> tuple[str, ...]:
    others = [name for name in header if name not in (truth, item)]
    if judges:
        patterns = [piece for option in judges for piece in option.split(",")]
        chosen = tuple(
            name for name in others if any(fnmatchcase(name, pattern) for pattern in patterns)
        )
    else:
        chosen = tuple(
            name
            for name in others
            if plain(name) not in ROLE_NAMES["item"] and not is_truth_name(name, whole=True)
        )
    if not chosen or (truth is not None and truth not in header):
        raise InputError(
            f"stdin has columns {list(header)}: no judge among them, or no truth {truth!r}"
        )
    return (*chosen, *([truth] if truth is not None else []))
