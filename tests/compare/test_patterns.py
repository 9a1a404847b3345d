"""Counting patterns in the engine gives the answer of the rows."""

import dataclasses

import numpy as np
import pytest

from tallystick.table import Tally, read
from tallystick.verbs.compare import CAPABILITY, CompareQuestion, rank
from tallystick.verbs.compare.answer import rank_counted
from tallystick.verbs.compare.board import read_board

DOOR = CAPABILITY.door
PLAIN = ("models", "pairs", "contenders", "tiers", "verdict", "detectable_difference")


def table(rows=500, models=5, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.random(rows)
    return {
        f"m{j}": ((0.6 * z + 0.4 * rng.random(rows)) < share).astype(int)
        for j, share in enumerate(np.linspace(0.4, 0.7, models))
    }


def both(data):
    counted = rank_counted(data, CompareQuestion(), from_rows=0)
    assert counted is not None
    return counted, rank(read_board(data))


@pytest.mark.parametrize("kind", ["numbers", "booleans", "words", "truth"])
def test_pair_tables_ranks_and_intervals_equal_those_of_the_rows(kind):
    held = table()
    options = {}
    if kind == "booleans":
        held = {name: column.astype(bool) for name, column in held.items()}
    if kind == "words":
        held = {name: np.where(column, "pass", "fail") for name, column in held.items()}
    if kind == "truth":
        held = {**held, "gold": np.random.default_rng(1).integers(0, 2, 500)}
        options = {"truth": "gold"}
    with read(held, DOOR, **options) as data:
        counted, rows = both(data)
    for name in PLAIN:
        assert getattr(counted, name) == getattr(rows, name), name


def test_items_without_a_score_are_left_out_alike():
    held = {name: column.astype(float) for name, column in table().items()}
    held["m1"][:7] = np.nan
    held["m2"][5:9] = np.nan
    with read(held, DOOR) as data:
        counted, rows = both(data)
    assert counted.n_items == rows.n_items == 491
    assert counted.warnings == rows.warnings
    assert counted.warnings[0].startswith("9 of 500 items are left out")
    assert counted.pairs == rows.pairs


def test_what_is_not_right_or_wrong_is_read_row_by_row():
    halves = {**table(), "m4": np.random.default_rng(0).choice([0, 0.5, 1], 500)}
    with read(halves, DOOR, models=tuple(halves)) as data:
        assert rank_counted(data, CompareQuestion(), from_rows=0) is None
    with read(table(), DOOR) as data:
        assert rank_counted(data, CompareQuestion()) is None  # small tables are read row by row
        clustered = dataclasses.replace(data, roles=dataclasses.replace(data.roles, cluster="m0"))
        assert rank_counted(clustered, CompareQuestion(), from_rows=0) is None


def test_repeated_items_need_rows():
    held = {"item": np.repeat(np.arange(250), 2), **table()}
    with read(held, DOOR, item="item") as data:
        assert rank_counted(data, CompareQuestion(), from_rows=0) is None


def test_a_saved_tally_is_compared_from_its_counts():
    held = table()
    tally = Tally.of(held)
    with read(held, DOOR) as data:
        _, rows = both(data)
    counted = rank_counted(read(tally, DOOR), CompareQuestion())
    assert counted.pairs == rows.pairs
    assert counted.patterns() is not None


def test_counts_warn_of_a_model_without_a_true_label_as_rows_do():
    rng = np.random.default_rng(3)
    truth = rng.choice(["cat", "dog"], 300)
    held = {name: rng.choice(["cat", "dog"], 300) for name in ("a", "b")}
    held["gold"] = truth
    held["c"] = np.where(truth == "cat", "A", "B")
    with read(held, DOOR, truth="gold", models=("a", "b", "c")) as data:
        counted, rows = both(data)
    assert counted.warnings == rows.warnings
    assert any(one.startswith("'c' answers 'A', 'B' and the truth") for one in counted.warnings)
