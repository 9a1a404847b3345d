"""What every verb must pass, named or not: one list of checks, each a function of a subject.

A subject is what the registry holds of a verb: its capability and the table of its demonstration,
cut to some 200 items so that a check is quick. A new verb passes these checks unseen, or fails them.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from tallystick import registry
from tallystick.cli import main
from tallystick.cli.app import app
from tallystick.errors import InputError
from tallystick.table import answered

ITEMS = 200
DECISIONS = {"decided", "undecided", "unknowable"}
SAID = ("schema", "verb", "verdict", "decision", "needed", "n_items", "assumptions", "warnings")
KEPT = Path(__file__).with_name("fields.json")
"""The fields of every verb's JSON and its schema; written again by ``python -m tests.checks``."""

_OF_THE_SOURCE = {"reading", "data_hash", "asked_hash"}
"""What may differ where the same rows lie elsewhere."""

Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Subject:
    """A verb with a table: what the checks ask of it."""

    verb: str

    @cached_property
    def capability(self) -> Any:
        return registry.capability(self.verb)

    @cached_property
    def given(self) -> tuple[Columns, dict[str, Any]]:
        """The rows of some items of the demonstration, drawn at random, and its options."""
        shown = self.capability.demo(0)
        columns = {name: np.asarray(cells).tolist() for name, cells in shown.table.items()}
        # As every format can hold it: a truth that is blank somewhere is None there.
        columns = {
            name: [None if cell in ("", None) or cell != cell else cell for cell in cells]
            for name, cells in columns.items()
        }
        items = next(iter(columns.values()))
        every = list(dict.fromkeys(items))
        draw = np.random.default_rng(1).permutation(len(every))[:ITEMS]
        some = {every[k] for k in draw}
        keep = [k for k, item in enumerate(items) if item in some]
        return (
            {name: [cells[k] for k in keep] for name, cells in columns.items()},
            dict(shown.options),
        )

    @cached_property
    def known(self) -> dict[str, Any]:
        """What is answered of the table as it is."""
        return self.answer(*self.given)

    @cached_property
    def named(self) -> dict[str, Any]:
        """The options with every role named that was found."""
        columns, options = self.given
        found = answered(self.capability, columns, options).reading
        roles = {role: getattr(found, role, None) for role in self.capability.reads}
        return {**{role: held for role, held in roles.items() if held}, **options}

    def answer(self, source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Answer, as strict JSON."""
        result = answered(self.capability, source, dict(options))
        held: dict[str, Any] = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        return held

    def words(self, table: Path, folder: Path) -> list[str]:
        """The command that asks a file what the demonstration asks."""
        words = [*self.verb.split(), str(table), *self.capability.demo(0).command(), "--json"]
        if "-o" in [name for one in command_of(self.verb).params for name in one.opts]:
            words += ["-o", str(folder / "out.csv")]  # what is paid for has to be kept
        return words

    def run(self, folder: Path, *more: str) -> Result:
        """Answer on the command line, from a CSV."""
        path = as_csv(self.given[0], folder)
        return CliRunner().invoke(app, [*self.words(path, folder), *more])


def command_of(verb: str) -> click.Command:
    command: click.Command = app
    for word in verb.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return command


def as_csv(columns: Columns, folder: Path) -> Path:
    import pandas as pd

    pd.DataFrame(columns, dtype=object).to_csv(folder / "t.csv", index=False)
    return folder / "t.csv"


def as_parquet(columns: Columns, folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def as_jsonl(columns: Columns, folder: Path) -> Path:
    rows = (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "t.jsonl").write_text(text, encoding="utf-8")
    return folder / "t.jsonl"


def as_pandas(columns: Columns, folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def as_polars(columns: Columns, folder: Path) -> Any:
    import polars as pl

    return pl.DataFrame(columns)


HOLDERS: tuple[Callable[[Columns, Path], Any], ...] = (
    as_csv,
    as_parquet,
    as_jsonl,
    as_pandas,
    as_polars,
)


def differences(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """Name the places at which two answers differ, but for what names their source."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other} - _OF_THE_SOURCE):
            yield from differences(one.get(key), other.get(key), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for k, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{place}[{k}]")
    elif isinstance(one, float | int) and isinstance(other, float | int):
        if not math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-9):
            yield f"{place}: {one!r}, {other!r}"
    elif one != other and str(one) != str(other):  # a text file holds "1" where a frame holds 1
        yield f"{place}: {one!r}, {other!r}"


def numbers(answer: Any) -> list[float]:
    """Return every number of an answer, sorted: all that holds where columns are called otherwise."""
    if isinstance(answer, dict):
        parts = [numbers(held) for key, held in answer.items() if key not in _OF_THE_SOURCE]
    elif isinstance(answer, list):
        parts = [numbers(held) for held in answer]
    else:
        plain = isinstance(answer, float | int) and not isinstance(answer, bool)
        return [round(float(answer), 7)] if plain else []
    return sorted(number for part in parts for number in part)


def it_answers_its_own_table_in_full(subject: Subject, folder: Path) -> None:
    held = subject.known
    assert set(SAID) | {"reading"} <= set(held)
    assert held["decision"] in DECISIONS
    assert held["verb"] == subject.verb.split()[0]
    assert held["verdict"].strip()
    assert held["reading"]["line"].startswith("read: ")
    assert held["decision"] == "decided" or held["needed"] is None or held["needed"]


def it_answers_twice_alike(subject: Subject, folder: Path) -> None:
    assert not list(differences(subject.known, subject.answer(*subject.given)))


def it_refuses_a_keyword_that_it_does_not_have(subject: Subject, folder: Path) -> None:
    columns, options = subject.given
    with pytest.raises(InputError, match="nonsense"):
        subject.answer(columns, {**options, "nonsense": 1})
    for name, verb in registry.FUNCTIONS.items():
        if verb == subject.verb:
            with pytest.raises(InputError, match="nonsense"):
                registry.function(name)(columns, nonsense=1)


def it_says_the_same_whatever_holds_the_rows(subject: Subject, folder: Path) -> None:
    columns, _ = subject.given
    for holder in HOLDERS:
        found = subject.answer(holder(columns, folder), subject.named)
        assert not list(differences(subject.known, found)), holder.__name__


def it_says_the_same_in_any_order_of_the_rows(subject: Subject, folder: Path) -> None:
    columns, _ = subject.given
    order = np.random.default_rng(5).permutation(len(next(iter(columns.values()))))
    mixed = {name: [cells[k] for k in order] for name, cells in columns.items()}
    assert numbers(subject.answer(mixed, subject.named)) == numbers(subject.known)


def it_says_the_same_in_any_order_of_the_columns(subject: Subject, folder: Path) -> None:
    columns, _ = subject.given
    turned = dict(reversed(columns.items()))
    assert numbers(subject.answer(turned, subject.named)) == numbers(subject.known)


def it_says_the_same_of_columns_that_are_called_otherwise(subject: Subject, folder: Path) -> None:
    columns, _ = subject.given
    other = {name: f"zz {name} zz" for name in columns}
    # Longest first, so that no name is taken for a part of another.
    names = sorted(other, key=len, reverse=True)

    def renamed(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return tuple(map(renamed, value))
        if not isinstance(value, str):
            return value
        head, mark, tail = value.rpartition(":")
        held = next((name for name in names if tail == name), None)
        return value if held is None else f"{head}{mark}{other[held]}"

    options = {key: renamed(value) for key, value in subject.named.items()}
    table = {other[name]: cells for name, cells in columns.items()}
    assert numbers(subject.answer(table, options)) == numbers(subject.known)


def a_constant_column_changes_nothing(subject: Subject, folder: Path) -> None:
    columns, options = subject.given
    for cell in ("x", 7, None):
        table = {**columns, "remark": [cell] * len(next(iter(columns.values())))}
        found = subject.answer(table, options)
        assert not list(differences(subject.known, found)), cell


def its_command_says_what_the_function_says(subject: Subject, folder: Path) -> None:
    done = subject.run(folder)
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert not list(differences(subject.known, shown))
    assert set(SAID) <= set(shown)


def its_command_leaves_with_the_code_of_what_went_wrong(subject: Subject, folder: Path) -> None:
    assert subject.run(folder, "--nonsense").exit_code == 2
    said = io.StringIO()
    with pytest.raises(SystemExit) as left, redirect_stderr(said):
        main(subject.words(folder / "absent.csv", folder))
    assert left.value.code == 1
    assert "absent.csv" in said.getvalue()
    assert "Traceback" not in said.getvalue()


def its_fields_stay_or_its_schema_rises(subject: Subject, folder: Path) -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8")).get(subject.verb)
    if kept is None:
        return
    gone = set(kept["fields"]) - set(subject.known)
    assert not gone or subject.known["schema"] > kept["schema"], sorted(gone)


CHECKS: tuple[Callable[[Subject, Path], None], ...] = (
    it_answers_its_own_table_in_full,
    it_answers_twice_alike,
    it_refuses_a_keyword_that_it_does_not_have,
    it_says_the_same_whatever_holds_the_rows,
    it_says_the_same_in_any_order_of_the_rows,
    it_says_the_same_in_any_order_of_the_columns,
    it_says_the_same_of_columns_that_are_called_otherwise,
    a_constant_column_changes_nothing,
    its_command_says_what_the_function_says,
    its_command_leaves_with_the_code_of_what_went_wrong,
    its_fields_stay_or_its_schema_rises,
)


def shown() -> list[str]:
    """Return every verb that has a table to show."""
    return [entry.verb for entry in registry.ENTRIES if registry.capability(entry.verb).demo]
