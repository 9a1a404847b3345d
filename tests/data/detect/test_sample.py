"""A few rows of a large table say the same of its columns as all of them."""

import numpy as np
import pyarrow as pa
import pytest
from tallystick.table.detect_doubts import look
from tallystick.table.detect_sample import beyond_chance, kappas, plurality

from tallystick.table import detect_sample as sample
from tallystick.table import scan
from tests.data.detect.seen import seen


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr(sample, "MOST_ROWS", 300)


def large():
    draw = np.random.default_rng(0)
    n = 20_000
    truth = draw.choice(["a", "b"], n)
    votes = {f"judge_{k}": np.where(draw.random(n) < 0.8, truth, "a") for k in range(3)}
    gold = np.full(n, None, dtype=object)
    gold[5:2000:50] = truth[5:2000:50]
    return {"id": np.arange(n), "gold": gold, **votes}


def test_a_truth_that_is_known_on_few_rows_is_looked_at_where_it_is_known(small_samples):
    columns = scan(pa.table(large()))
    drawn = sample.draw(columns)
    assert (drawn.rows, drawn.filled["gold"], drawn.cells.num_rows) == (20_000, 40, 298)
    profile = look(drawn)["gold"]
    assert (profile.nature, profile.values, profile.filled) == ("labels", {"a", "b"}, 40)


def test_a_large_table_is_read_as_if_it_were_looked_at_whole(monkeypatch):
    columns = large()
    whole = seen(columns)
    monkeypatch.setattr(sample, "MOST_ROWS", 2000)
    part = seen(columns)
    assert (
        (part.item, part.truth, part.votes)
        == (whole.item, whole.truth, whole.votes)
        == ("id", "gold", part.votes)
    )


def test_tokens_that_mean_nothing_are_blank():
    drawn = sample.draw(scan(pa.table({"a": ["x", "NA", " "]})), missing=("NA",))
    assert drawn.filled == {"a": 1}


@pytest.mark.parametrize(
    ("values", "nature"),
    [
        ([None, None], "empty"),
        (["x", "x"], "constant"),
        ([0.5, 0.5, 1.0], "numbers"),
        (["0.5", "1", "0.5", "1"], "numbers"),
        (["1", "2", "1", "2"], "labels"),
        ([float("inf"), 1.0, 1.0, 1.0], "numbers"),
        ([True, False, True], "labels"),
        (["a", "b", "c"], "text"),
        ([1, 2, 3], "numbers"),
    ],
)
def test_the_nature_of_a_column_is_its_values(values, nature):
    assert look(sample.draw(scan(pa.table({"c": values}))))["c"].nature == nature


def test_agreement_by_chance_is_no_agreement():
    draw = np.random.default_rng(1)
    codes = draw.integers(0, 3, (5000, 4)).astype(np.int32)
    off = kappas(codes)[np.triu_indices(4, 1)]
    assert np.abs(off).max() < 0.05
    assert np.abs(beyond_chance(codes[:, 0], codes[:, 1:])[1]).max() < 4


def test_nothing_in_common_is_nothing_said():
    codes = np.array([[0, -1], [-1, 1]], np.int32)
    assert np.isnan(kappas(codes)[0, 1])
    agreement, z = beyond_chance(codes[:, 0], codes[:, 1:])
    assert np.isnan(agreement[0])
    assert z[0] == 0
    assert plurality(np.full((2, 2), -1, np.int32)).tolist() == [-1, -1]


def test_more_columns_than_one_query_takes_are_all_looked_at(monkeypatch) -> None:
    monkeypatch.setattr(sample, "_AT_ONCE", 3)
    cells = {f"c{k}": ["yes", "", "no"] for k in range(8)}
    looked = sample.draw(scan(pa.table(cells)))
    assert looked.cells.column_names == list(cells)
    assert set(looked.filled.values()) == {2}
