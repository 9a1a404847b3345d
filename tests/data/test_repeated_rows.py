"""Copies of a row count once, criteria are told apart, and anything else is said."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tallystick import judge, score
from tallystick.errors import AskError, InputError
from tallystick.table import scan
from tallystick.table.roles import Roles
from tallystick.table.weights import without_copies

ITEMS = 100


def outputs(better: str) -> pa.Table:
    rng = np.random.default_rng(len(better))
    system = ["new", "old"] * ITEMS
    good = [int(rng.random() < (0.8 if one == better else 0.5)) for one in system]
    return pa.table(
        {
            "question_id": [f"q{k // 2}" for k in range(2 * ITEMS)],
            "system": system,
            "gpt": [one if rng.random() < 0.9 else 1 - one for one in good],
            "human": [one if k % 3 else None for k, one in enumerate(good)],
        }
    )


def test_rows_that_were_appended_twice_count_once() -> None:
    once = outputs("new")
    twice = pa.concat_tables([once, once.slice(0, 60)])
    result, plain = score(twice), score(once)
    assert result.n_labels == plain.n_labels
    assert [row.interval for row in result.systems] == [row.interval for row in plain.systems]
    assert any("left out: 60" in note for note in result.notes)
    named = score(twice, item="question_id")
    assert named.n_labels == plain.n_labels


def test_copies_count_once_for_judges_too() -> None:
    votes = pa.table(
        {
            "id": range(90),
            "gpt": [k % 2 for k in range(90)],
            "claude": [int(k % 3 == 0) for k in range(90)],
        }
    )
    result = judge(pa.concat_tables([votes, votes.slice(0, 30)]), judges=("gpt", "claude"))
    assert result.n_items == 90


def test_rows_that_may_be_equal_by_accident_stay() -> None:
    passed = pa.table({"id": [*range(40), 0, 1], "gpt": [1, 0] * 21})
    table = scan(passed)
    assert without_copies(table, Roles(), ())[0] is table
    # A column of few values names tasks, not items.
    tasks = scan(pa.table({"task": ["x", "y"] * 20, "gpt": [1, 0] * 20}))
    assert without_copies(tasks, Roles(), ())[0] is tasks


def test_rows_of_one_item_that_differ_are_kept() -> None:
    table = scan(pa.table({"id": [1, 2, 1], "gpt": ["yes", "no", "no"]}))
    assert without_copies(table, Roles(), ()) == (table, ())
    weighed = scan(pa.table({"id": [1, 1], "gpt": ["yes", "yes"], "w": [1, 1]}))
    assert without_copies(weighed, Roles(weight="w"), ())[0] is weighed


def test_criteria_are_asked_about_and_answered_one_by_one() -> None:
    name = "Dimension"
    parts = [outputs("new"), outputs("older"), outputs("old")]
    kinds = ["helpful", "clear", "harmless"]
    table = pa.concat_tables(
        [
            part.append_column(name, pa.array([kind] * part.num_rows))
            for part, kind in zip(parts, kinds, strict=True)
        ]
    )
    with pytest.raises(AskError, match="Dimension tells the rows apart") as asked:
        score(table)
    assert asked.value.calls == ("--criterion Dimension",)
    result = score(table, criterion=name)
    assert sorted(str(part.label) for part in result.criteria) == sorted(kinds)


def test_a_column_that_does_not_tell_the_rows_apart_is_no_criterion() -> None:
    table = outputs("new").append_column("metric", pa.array(["a", "b", "a", "a"] * (ITEMS // 2)))
    assert not score(table).warnings


def test_several_rows_per_output_that_nothing_tells_apart_are_refused() -> None:
    table = pa.concat_tables([outputs("new"), outputs("older")])
    with pytest.raises(InputError, match="occur twice, at row 1 of the table and row 201"):
        score(table)
    assert not score(outputs("new")).warnings
