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
    """Take every frame for a large one."""
    monkeypatch.setattr(read_module, "_FEW_ROWS", 120)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch, far: None) -> None:
    """Have no room for rows."""

    def refused(*_: Any) -> Any:
        raise AssertionError("rows were fetched")

    monkeypatch.setattr(read_module, "rows_fit", lambda *_: False)
    monkeypatch.setattr(read_module, "fetch", refused)


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


ENGINES = pytest.mark.parametrize("engine", [_lazy_polars, _dask], ids=["polars", "dask"])


@ENGINES
@pytest.mark.parametrize("name", ASKED)
def test_a_large_frame_gives_what_its_rows_give(name: str, engine: Any, far: None) -> None:
    evaluate, columns, options = ASKED[name]
    expected = _body(evaluate(columns, **options))
    _same(_body(evaluate(engine(columns), **options)), expected)


@ENGINES
@pytest.mark.parametrize("name", ["judge", "bound", "compare, right or wrong"])
def test_named_votes_are_counted_in_their_engine(name: str, engine: Any, full: None) -> None:
    evaluate, columns, options = ASKED[name]
    expected = _body(evaluate(columns, **options))
    _same(_body(evaluate(engine(columns), **options)), expected)


@ENGINES
def test_outputs_beyond_memory_are_counted_and_only_their_pairs_unknown(
    engine: Any, full: None
) -> None:
    """Pairs of systems need the items one by one; what a system scores does not."""
    here, far_away = (score(rows, **SCORED) for rows in (_outputs(), engine(_outputs())))
    for one, other in zip(far_away.systems, here.systems, strict=True):
        assert (one.name, one.n_outputs, one.n_labels) == (
            other.name,
            other.n_outputs,
            other.n_labels,
        )
        assert one.score == pytest.approx(other.score)
    assert len(here.pairs) == 3
    assert "which of them belong to one item" in far_away.pairs.reason


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["judge", "bound"])
def test_spark_counts_for_every_verb(name: str, spark: Any, full: None) -> None:
    evaluate, columns, options = ASKED[name]
    schema = ", ".join(f"{column} string" for column in columns)
    frame = spark.createDataFrame(list(zip(*columns.values(), strict=True)), schema)
    _same(_body(evaluate(frame, **options)), _body(evaluate(columns, **options)))


def test_an_item_that_stands_twice_far_down_is_refused(far: None) -> None:
    rows = _votes()
    rows["id"][-1] = rows["id"][0]
    with pytest.raises(InputError, match="duplicate item 'q0'"):
        judge(pl.LazyFrame(rows), truth="gold", judges="x,y", item="id")


def test_rows_that_do_not_fit_into_memory_are_refused_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, far: None
) -> None:
    monkeypatch.setenv("TALLYSTICK_MEMORY", "20KB")
    monkeypatch.setattr("tallystick.table.engine.engine_memory", lambda: 10**9)
    frame = pl.LazyFrame({**_outputs(), "p": [0.15] * (3 * N)})
    with pytest.raises(InputError, match=r"1,200 rows: fetching 6 columns.*Tally\.of\(frame"):
        score(frame, probability="p", **{**SCORED, "item": None})


@ENGINES
def test_a_long_frame_is_turned_round_here_as_a_table_is(engine: Any, far: None) -> None:
    expected = _body(judge(_long(_votes()), truth="gold"))
    _same(_body(judge(engine(_long(_votes())), truth="gold")), expected)


def test_series_whose_indexes_differ_are_refused_by_name() -> None:
    pd = pytest.importorskip("pandas")
    gold = pd.Series([0, 1, 1, 0] * 10)
    votes = pd.Series([0, 1, 0, 0] * 10)
    same = {"gold": gold, "gpt": votes, "claude": votes.to_numpy()}
    assert read(same, truth="gold").n_rows == 40
    for other in (votes[::-1], votes[:20]):
        with pytest.raises(InputError, match=r"'gold' and 'gpt'.*different indexes.*DataFrame"):
            read({"gold": gold, "gpt": other}, truth="gold")
