"""Labels that lie together in time or in the numbers of the items are said to."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np

from tallystick import judge
from tallystick.results import percent
from tallystick.table import read
from tallystick.table.label_doubts import label_order

ROLES = {"judges": ("x", "y", "z"), "truth": "gold"}
N = 600


def table(rng: np.random.Generator, known: np.ndarray, **more: list[Any]) -> dict[str, list[Any]]:
    """Votes of three judges; *known* says which rows have a label."""
    truth = rng.integers(0, 2, N)
    columns = {
        name: np.where(rng.random(N) < 0.8, truth, 1 - truth).tolist() for name in ("x", "y", "z")
    }
    gold = [int(y) if one else None for y, one in zip(truth, known, strict=True)]
    return {**more, **columns, "gold": gold}


def test_the_last_answers_are_found_by_time_in_a_shuffled_table() -> None:
    rng = np.random.default_rng(1)
    age = rng.permutation(N)
    made = [str(datetime(2026, 1, 1) + timedelta(hours=int(hour))) for hour in age]
    given = table(rng, age >= N - 80, created_at=made)
    result = judge.evaluate(given, **ROLES)
    told = [one for one in result.warnings if "'created_at' from 2026-01-22" in one]
    assert len(told) == 1
    assert f"{percent(80 / N)} of the table" in told[0]
    assert "nothing changes with 'created_at'" in result.assumptions


def test_running_numbers_written_as_text_are_an_order() -> None:
    rng = np.random.default_rng(2)
    number = rng.permutation(N)
    given = table(rng, number < 60, uid=[str(one) for one in number])
    found = label_order(read(given, item="uid", **ROLES))
    assert found is not None
    assert (found.low, found.high, found.share) == ("0", "59", 0.1)


def test_labels_drawn_at_random_and_what_labelling_itself_writes_are_no_order() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        number = rng.permutation(N)
        given = table(rng, rng.random(N) < 0.15, uid=number.tolist())
        assert label_order(read(given, item="uid", **ROLES)) is None
    known = rng.random(N) < 0.15
    stamps = np.where(known, 10_000 + np.arange(N), np.arange(N)).tolist()
    assert label_order(read(table(rng, known, updated_at=stamps), **ROLES)) is None
    only = [int(one) if seen else None for one, seen in zip(stamps, known, strict=True)]
    assert label_order(read(table(rng, known, seen_at=only), **ROLES)) is None
