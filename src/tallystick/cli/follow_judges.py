"""``tallystick judge - --follow``: votes from stdin as they come, one JSON line per window."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TextIO

from tallystick.data import Data, Roles
from tallystick.data.detect.names import ITEM_NAMES, is_truth
from tallystick.errors import InputError
from tallystick.judge import JudgeQuestion, JudgeResult, Window, Windows
from tallystick.judge.answer import graded
from tallystick.judge.state import load_state, save_state
from tallystick.results import to_json
from tallystick.tally import Tally
from tallystick.values import LabelRules

if TYPE_CHECKING:
    from tallystick.cli.verb import Call

__all__ = ["follow", "records"]


def follow(call: Call) -> bool:
    """Follow stdin if the question says so; return whether it did."""
    question = call.question
    if not (isinstance(question, JudgeQuestion) and question.follow):
        return False
    if question.window is None or call.source != ("-",):
        raise InputError(
            "--follow reads votes from stdin in windows: give INPUT as - and --window N"
        )
    roles = Roles.of({role: call.reading.get(role) for role in call.capability.reads})
    refused = [f"--{role}" for role in ("weight", "by", "covariate") if getattr(roles, role)]
    refused += list(call.delivery.files())
    refused += [f"--{name}" for name in ("judge", "vote", "delimiter") if name in call.reading]
    refused += ["--shape long"] if call.reading.get("shape") == "long" else []
    if refused:
        raise InputError(f"--follow does not take {refused[0]}: leave one of the two out")
    rules = LabelRules(
        missing=tuple(
            piece for token in call.reading.get("missing", ()) for piece in token.split(",")
        ),
        coerce=bool(call.reading.get("coerce")),
    )
    _follow_stdin(roles, rules, question)
    return True


def _follow_stdin(roles: Roles, rules: LabelRules, question: JudgeQuestion) -> None:
    """Evaluate stdin window by window until it ends; the last one may be partial."""
    names: tuple[str, ...] | None = None

    def grade(votes: Tally) -> JudgeResult:
        return graded(votes, Data(held=votes, roles=roles, rules=rules, source="stdin"), question)

    stream = Windows(
        size=question.window or 1,
        evaluation=grade,
        alpha=question.alpha,
        truth=roles.truth,
        missing=rules.missing,
        coerce=rules.coerce,
        block=question.block,
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
            name for name in others if name.strip().lower() not in ITEM_NAMES and not is_truth(name)
        )
    if not chosen or (truth is not None and truth not in header):
        raise InputError(
            f"stdin has columns {list(header)}: no judge among them, or no truth {truth!r}"
        )
    return (*chosen, *([truth] if truth is not None else []))
