"""Frames of another engine: the same answers as from rows, and no row leaves the engine."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tallystick import bound, compare, judge, read, score
from tallystick.errors import InputError
from tallystick.table import engines
from tallystick.table.engines import distinct, fetch, first_repeat_in, part, row_count, sampled

N = 400
pl = pytest.importorskip("polars")
read_module = importlib.import_module("tallystick.table.door")


def _votes(seed: int = 5) -> dict[str, list[Any]]:
    draw = np.random.default_rng(seed)
    truth = draw.random(N) < 0.6
    rows: dict[str, list[Any]] = {"id": [f"q{i}" for i in range(N)]}
    for name, right in (("x", 0.9), ("y", 0.8), ("z", 0.75), ("w", 0.7)):
        said = np.where(draw.random(N) < right, truth, ~truth)
        rows[name] = ["yes" if one else "no" for one in said]
    rows["gold"] = ["yes" if one else "no" for one in truth]
    return rows


def _outputs(seed: int = 7) -> dict[str, list[Any]]:
    draw = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for i in range(N):
        graded = draw.random() < 0.15
        for system, good in (("a", 0.6), ("b", 0.8), ("c", 0.62)):
            right = draw.random() < good
            grades = [
                "pass" if (right if draw.random() < sharp else not right) else "fail"
                for sharp in (0.9, 0.8, 0.75)
            ]
            human = ("pass" if right else "fail") if graded else None
            seen = None if draw.random() < 0.03 else grades[1]
            rows.append((f"q{i}", system, grades[0], seen, grades[2], human))
    names = ("question", "system", "gpt", "claude", "llama", "human")
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}


def _long(rows: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    who = ("x", "y", "z", "w")
    return {
        "review": [rows["id"][i] for i in range(N) for _ in who],
        "by": [name for _ in range(N) for name in who],
        "said": [rows[name][i] for i in range(N) for name in who],
        "gold": [rows["gold"][i] for i in range(N) for _ in who],
    }


def _partly(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    gold = [one if i % 4 == 0 else None for i, one in enumerate(rows["gold"])]
    return {**rows, "gold": gold, "lang": ["de" if i % 3 else "en" for i in range(N)]}


def _right(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    marks = {
        name: [int(a == b) for a, b in zip(rows[name], rows["gold"], strict=True)]
        for name in ("x", "y", "z")
    }
    return {"id": rows["id"], **marks}


SCORED = {
    "system": "system",
    "judges": "gpt,claude,llama",
    "truth": "human",
    "item": "question",
}

ASKED: dict[str, tuple[Any, dict[str, list[Any]], dict[str, Any]]] = {
    "judge": (
        judge,
        _partly(_votes()),
        {"truth": "gold", "judges": "x,y,z,w", "by": "lang"},
    ),
    "bound": (
        bound,
        _partly(_votes()),
        {"truth": "gold", "prediction": "w", "weak": "x,y,z", "label_model": "majority"},
    ),
    "compare": (compare, _votes(), {"truth": "gold"}),
    "compare, right or wrong": (compare, _right(_votes()), {"models": "x,y,z"}),
}


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at 120 rows only, and let no row leave the engine."""

    def refused(*_: Any) -> Any:
        raise AssertionError("rows were fetched")

    monkeypatch.setattr(read_module, "_SAMPLE", 120)
    monkeypatch.setattr(importlib.import_module("tallystick.table.data"), "fetch", refused)
    monkeypatch.setattr(read_module, "fetch", refused)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at 120 rows only, and have no room for more."""

    def refused(*_: Any) -> Any:
        raise InputError("no memory")

    monkeypatch.setattr(read_module, "_SAMPLE", 120)
    monkeypatch.setattr(importlib.import_module("tallystick.table.data"), "fetch", refused)


def _same(found: Any, expected: Any, path: str = "") -> None:
    """Compare two answers: numbers to rounding, everything else exactly."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), path
        for name in expected:
            _same(found[name], expected[name], f"{path}/{name}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), path
        for i, (one, other) in enumerate(zip(found, expected, strict=True)):
            _same(one, other, f"{path}/{i}")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), path
    else:
        assert found == expected, path


def _body(result: Any) -> Any:
    body = json.loads(json.dumps(result.to_dict()))
    body.pop("notes")
    body.pop("reading")  # what it would take another job to know is left out
    return body


def _lazy_polars(columns: Mapping[str, list[Any]]) -> Any:
    return pl.LazyFrame(columns)


def _dask(columns: Mapping[str, list[Any]]) -> Any:
    dd = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    return dd.from_pandas(pandas.DataFrame(columns), npartitions=3)


@pytest.mark.parametrize("engine", [_lazy_polars, _dask], ids=["polars", "dask"])
@pytest.mark.parametrize("name", ASKED)
def test_a_large_frame_is_counted_in_its_engine(name: str, engine: Any, far: None) -> None:
    evaluate, columns, options = ASKED[name]
    expected = _body(evaluate(columns, **options))
    _same(_body(evaluate(engine(columns), **options)), expected)


@pytest.mark.parametrize("population", [None, "new"])
@pytest.mark.parametrize("engine", [_lazy_polars, _dask], ids=["polars", "dask"])
def test_outputs_beyond_memory_are_counted_and_only_their_pairs_unknown(
    engine: Any, population: str | None, full: None
) -> None:
    """Pairs of systems need the items one by one; what a system scores does not."""
    here, far_away = (
        score(rows, population=population, **SCORED) for rows in (_outputs(), engine(_outputs()))
    )
    for one, other in zip(far_away.systems, here.systems, strict=True):
        assert (one.name, one.n_outputs, one.n_labels) == (
            other.name,
            other.n_outputs,
            other.n_labels,
        )
        assert one.score == pytest.approx(other.score)
    assert len(here.pairs) == 3
    assert "memory" in far_away.pairs.reason


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["judge", "bound", "compare"])
def test_spark_counts_for_every_verb(name: str, spark: Any, far: None) -> None:
    evaluate, columns, options = ASKED[name]
    schema = ", ".join(f"{column} string" for column in columns)
    frame = spark.createDataFrame(list(zip(*columns.values(), strict=True)), schema)
    _same(_body(evaluate(frame, **options)), _body(evaluate(columns, **options)))


def test_an_item_that_stands_twice_far_down_is_refused(far: None) -> None:
    rows = _votes()
    rows["id"][-1] = rows["id"][0]
    with pytest.raises(InputError, match="duplicate item 'q0'"):
        judge(pl.LazyFrame(rows), truth="gold", item="id")
    found = judge(pl.LazyFrame(rows), truth="gold")
    assert found.reading.item is None
    assert found.reading == judge(rows, truth="gold").reading


def test_two_outputs_of_one_system_on_an_item_are_refused(full: None) -> None:
    rows = _outputs()
    rows["question"][-1] = rows["question"][2]
    with pytest.raises(InputError, match="'q0' and 'c' occur twice"):
        score(pl.LazyFrame(rows), **SCORED)


def test_rows_that_do_not_fit_into_memory_are_refused_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_module, "_SAMPLE", 120)
    monkeypatch.setenv("TALLYSTICK_MEMORY", "20KB")
    monkeypatch.setattr("tallystick.table.engine.engine_memory", lambda: 10**9)
    frame = pl.LazyFrame({**_outputs(), "p": [0.15] * (3 * N)})
    with pytest.raises(InputError, match="1,200 rows, and this question needs them one by one"):
        score(frame, probability="p", **SCORED)


def test_numbers_beyond_memory_are_compared_by_their_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(2)
    n = 2_400  # fewer rows at hand are looked at for ties, which sums do not show
    columns = {"id": list(range(n)), "x": draw.random(n), "y": draw.random(n) * 0.7}
    near = compare(columns, models="x,y", item="id", bounds=(0.0, 1.0))
    monkeypatch.setattr(read_module, "_SAMPLE", 120)
    monkeypatch.setattr(engines, "fits", lambda size: False)
    far_away = compare(pl.LazyFrame(columns), models="x,y", item="id", bounds=(0.0, 1.0))
    assert far_away.pairs[0].difference == pytest.approx(near.pairs[0].difference)
    assert far_away.pairs[0].interval.low == pytest.approx(near.pairs[0].interval.low)
    assert any("added up where they are stored" in one for one in far_away.assumptions)
    with pytest.raises(InputError, match=r"outside 0 to 0\.5"):
        compare(pl.LazyFrame(columns), models="x,y", item="id", bounds=(0.0, 0.5))


@pytest.mark.parametrize("engine", [_lazy_polars, _dask], ids=["polars", "dask"])
def test_a_long_frame_is_turned_round_here_as_a_table_is(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _body(judge(_long(_votes()), truth="gold"))
    monkeypatch.setattr(read_module, "_SAMPLE", 120)
    _same(_body(judge(engine(_long(_votes())), truth="gold")), expected)


@pytest.mark.parametrize("engine", [_lazy_polars, _dask], ids=["polars", "dask"])
def test_a_frame_is_told_by_rows_from_all_of_it(engine: Any) -> None:
    """A judge who votes from row 1,000 on, and two systems in turn, are both seen."""
    late = {"late": [None] * 1000 + ["x"] * 1000, "system": ["a", "b"] * 1000, "n": range(2000)}
    first, drawn = sampled(engine(late), 200)
    assert first["n"].to_pylist() == list(range(100))
    assert drawn is not None
    assert 120 < drawn.num_rows < 300
    assert set(drawn["late"].to_pylist()) == {None, "x"}
    assert set(drawn["system"].to_pylist()) == {"a", "b"}
    steps = np.diff(sorted(drawn["n"].to_pylist()))
    assert len(set(steps.tolist())) > 5
    assert len(set(drawn["n"].to_pylist())) == drawn.num_rows
    assert sampled(engine(late), 5000)[1] is None


def test_parts_and_values_of_a_column_are_found_in_the_engine() -> None:
    frame = pl.LazyFrame({"lang": ["en", None, "de", "en", " "], "n": [1, 2, 3, 4, 5]})
    assert distinct(frame, "lang", 10) == ["de", "en", None]
    assert part(frame, "lang", "en").collect()["n"].to_list() == [1, 4]
    assert part(frame, "lang", None).collect()["n"].to_list() == [2, 5]
    assert row_count(frame) == 5
    assert first_repeat_in(frame, "n") is None
    assert fetch(frame, ["n"], "a test").column_names == ["n"]


def test_the_row_numbers_of_pandas_are_no_column() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(_right(_votes()))
    kept = frame[frame.index % 2 == 1]
    assert [row.name for row in compare(kept, models=("x", "y", "z")).models] == [
        "x",
        "y",
        "z",
    ]


def test_series_whose_indexes_differ_are_refused_by_name() -> None:
    pd = pytest.importorskip("pandas")
    gold = pd.Series([0, 1, 1, 0] * 10)
    votes = pd.Series([0, 1, 0, 0] * 10)
    same = {"gold": gold, "gpt": votes, "claude": votes.to_numpy()}
    assert read(same, truth="gold").n_rows == 40
    for other in (votes[::-1], votes[:20]):
        with pytest.raises(InputError, match=r"'gold' and 'gpt'.*different indexes.*DataFrame"):
            read({"gold": gold, "gpt": other}, truth="gold")
