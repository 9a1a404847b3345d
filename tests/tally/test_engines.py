"""Every engine gives the counts that NumPy gives, and a lazy one gives nothing but counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tallystick.errors import InputError
from tallystick.table import Moments, Tally

EDGES = [0.0, 0.25, 0.5, 1.0]


def votes(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(7)
    text = np.array(["yes", "no", "", None], object)
    return pa.table(
        {
            "small": pa.array(rng.integers(-1, 2, n), pa.int8()),
            "flag": pa.array(rng.integers(0, 2, n).astype(bool)),
            "text": pa.array(text[rng.integers(0, 4, n)], pa.string()),
            "score": pa.array(np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 9, n) / 8)),
            "w": pa.array(rng.integers(0, 9, n) / 4),
        }
    )


def plain(table: pa.Table) -> dict[str, Any]:
    """The same rows as NumPy arrays and lists."""
    out: dict[str, Any] = {name: table[name].to_numpy() for name in ("small", "flag", "score", "w")}
    return {**out, "text": table["text"].to_pylist()}


ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda t: t,
    "arrow chunks": lambda t: pa.concat_tables([t.slice(0, 100), t.slice(100)]),
    "record batch": lambda t: t.combine_chunks().to_batches()[0],
    "pandas": lambda t: t.to_pandas(),
    "pandas with its own index": (
        lambda t: t.to_pandas().set_index(pd.RangeIndex(5, 5 + 3 * len(t), 3))
    ),
    "pandas on arrow": lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "polars lazy": lambda t: pl.from_arrow(t).lazy(),
    "duckdb": lambda t: duckdb.connect().from_arrow(t),
    "dask": lambda t: dd.from_pandas(t.to_pandas(), npartitions=3),
}


OPTIONS: tuple[dict[str, Any], ...] = (
    {"columns": ["small", "text"], "apart": ["small"]},
    {"columns": ["small", "flag", "text"], "missing": ["-1", "no"], "apart": ["flag"]},
    {"columns": ["score", "text"], "cut": {"score": EDGES}},
    # a number that means no answer is in no bin
    {"columns": ["score", "small", "text"], "cut": {"score": EDGES}, "missing": ["no", "0.25"]},
    {"columns": ["text", "small"], "weight": "w"},
)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_counts_and_locates_as_numpy_does(engine: str) -> None:
    data = ENGINES[engine](votes())
    for options in OPTIONS:
        assert Tally.of(data, **options) == Tally.of(plain(votes()), **options), options
        some = Tally.of(plain(votes(200)), **options)
        assert some.locate(data).tolist() == some.locate(plain(votes())).tolist()


@pytest.mark.parametrize("engine", ["arrow chunks", "pandas", "polars lazy", "duckdb", "dask"])
@pytest.mark.parametrize("options", [{}, {"by": "text"}, {"missing": [-1]}])
def test_an_engine_adds_up_as_numpy_does(engine: str, options: dict[str, Any]) -> None:
    options = {"columns": ["small", "score", "flag"], **options}
    found, want = (
        Moments.of(source, **options) for source in (ENGINES[engine](votes()), plain(votes()))
    )
    for name in ("n", "dropped", "groups", "exact"):
        assert getattr(found, name) == getattr(want, name)
    for name in ("group_sums", "products", "centred"):
        np.testing.assert_allclose(getattr(found, name), getattr(want, name), rtol=1e-10)


def gaps() -> pa.Table:
    """The same votes as floats with a gap and as integers; fractions beside whole numbers."""
    return pa.table(
        {
            "gap": pa.array([1.0, float("nan"), 0.0, 1.0, -0.0, 0.0]),
            "full": pa.array([1, 1, 0, 1, 0, 1]),
            "half": pa.array([0.5, 1.0, 0.0, 0.5, 2.0, -1.0]),
        }
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_a_whole_float_is_its_integer_in_every_engine(engine: str, tmp_path: Path) -> None:
    rows = {
        "gap": [1, None, 0, 1, 0, 0],
        "full": [1, 1, 0, 1, 0, 1],
        "half": [0.5, 1, 0, 0.5, 2, None],
    }
    want = Tally.of(rows)
    data = ENGINES[engine](gaps())
    tally = Tally.of(data, missing=["-1"])
    labels = {"gap": (0, 1, None), "full": (0, 1), "half": (0, 0.5, 1, 2, None)}
    assert repr(tally.labels) == repr(want.labels) == repr(labels)
    assert (tally.counts.tolist(), tally.codes.tolist()) == (
        want.counts.tolist(),
        want.codes.tolist(),
    )
    assert tally.locate(data).tolist() == want.locate(rows).tolist()
    assert repr(Moments.of(data, columns=["full"], by="gap").groups) == "(0, 1, None)"
    tally.save(tmp_path / "votes.tally")
    assert repr(Tally.load(tmp_path / "votes.tally").labels) == repr(labels)


@pytest.mark.parametrize("engine", ["polars lazy", "duckdb", "dask"])
def test_only_counts_are_collected_from_a_lazy_engine(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ENGINES[engine](votes(5000))
    tall: list[int] = []

    def watched(kind: Any, name: str) -> None:
        way = getattr(kind, name)

        def watch(self: Any, *args: Any, **kwargs: Any) -> Any:
            got = way(self, *args, **kwargs)
            tall.append(got.num_rows if hasattr(got, "num_rows") else len(got))
            return got

        monkeypatch.setattr(kind, name, watch)

    watched(nw.LazyFrame, "collect")
    watched(duckdb.DuckDBPyRelation, "to_arrow_table")
    watched(duckdb.DuckDBPyRelation, "fetchall")
    tally = Tally.of(data, columns=["small", "text"])
    assert tally.n == 5000
    assert tall
    assert max(tall) <= 3 * 4  # patterns before blank and null become one


def test_files_are_counted_as_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,yes\n0,\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("x,y\n1,yes\n", encoding="utf-8")
    want = Tally.of({"x": ["1", "0", "1"], "y": ["yes", None, "yes"]})
    assert Tally.of(str(tmp_path / "*.csv")) == want
    assert Tally.of([tmp_path / "a.csv", tmp_path / "b.csv"]) == want
    assert Tally.of(tmp_path / "a.csv") + Tally.of(tmp_path / "b.csv") == want
    assert want.locate(tmp_path / "a.csv").tolist() == [1, 0]


def test_numbers_in_a_text_file_can_be_cut_and_weigh(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("s,w\n0.1,1\n0.9,2.5\nNA,1\n1,0.5\n", encoding="utf-8")
    tally = Tally.of(tmp_path / "a.csv", cut={"s": [0, 0.5, 1]}, weight="w", missing=["NA"])
    assert tally.labels == {"s": (0, 1, None)}
    assert tally.counts.tolist() == [1, 3, 1]
    with pytest.raises(InputError, match=r"asked for as numbers .cut., but .*NA"):
        Tally.of(tmp_path / "a.csv", cut={"s": [0, 0.5, 1]})
    with pytest.raises(InputError, match=r"holds 1\.0, outside"):
        Tally.of(tmp_path / "a.csv", cut={"s": [0, 0.5, 0.95]}, missing=["NA"])


def test_a_number_with_underscores_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("s,v\n1_000,a\n2,b\n", encoding="utf-8")
    for data in (tmp_path / "a.csv", {"s": ["1_000", "2"], "v": ["a", "b"]}):
        with pytest.raises(InputError, match="'s'"):
            Tally.of(data, cut={"s": [0, 2000]})
        with pytest.raises(InputError, match="'s'"):
            Tally.of(data, weight="s")


def test_a_parquet_file_keeps_its_types(tmp_path: Path) -> None:
    pq.write_table(votes(), tmp_path / "v.parquet")
    columns = ["small", "text"]
    assert Tally.of(tmp_path / "v.parquet", columns=columns) == Tally.of(
        plain(votes()), columns=columns
    )
    found = Moments.of(tmp_path / "v.parquet", columns=["small", "score"])
    assert found == Moments.of(votes(), columns=["small", "score"])


@pytest.mark.parametrize("known", [[1.0, 0.0], [1.0, 1.0]])
def test_nan_in_a_relation_on_parquet_is_missing_whatever_its_statistics_say(
    tmp_path: Path, known: list[float]
) -> None:
    values = pa.array([*known, float("nan")], from_pandas=False)
    pq.write_table(pa.table({"a": values}), tmp_path / "v.parquet")
    relation = duckdb.connect().read_parquet(str(tmp_path / "v.parquet"))
    for options in ({}, {"cut": {"a": [0, 0.5, 1]}}):
        assert Tally.of(relation, **options) == Tally.of({"a": values.to_numpy()}, **options)


def test_164_judges_from_a_real_file(shared_data: Path) -> None:
    path = shared_data / "judge" / "rte.csv.gz"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    judges = [name for name in frame.columns if name.startswith("w")]
    tally = Tally.of(path, columns=judges)
    assert len(judges) == 164
    assert tally.n == len(frame) == 800
    assert tally == Tally.of(frame[judges])
    assert (
        np.bincount(tally.locate(frame), minlength=tally.patterns).tolist() == tally.counts.tolist()
    )


@pytest.mark.parametrize("engine", ["arrow", "pandas", "polars", "polars lazy", "duckdb", "dask"])
def test_text_is_refused_early_and_by_name(engine: str) -> None:
    text = pa.table(
        {"vote": pa.array([0, 1] * 6000), "essay": pa.array([f"essay {i}" for i in range(12_000)])}
    )
    with pytest.raises(InputError, match=r"'essay' has more than 10,000 distinct values"):
        Tally.of(ENGINES[engine](text))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("columns", "options", "named"),
    [
        ({"s": [0.1, 1.5]}, {"cut": {"s": EDGES}}, r"holds 1\.5, outside cut\['s'\]"),
        ({"s": [0.1, -0.1]}, {"cut": {"s": EDGES}}, r"holds -0\.1, outside cut\['s'\]"),
        ({"s": ["0.5", "low"]}, {"cut": {"s": EDGES}}, "asked for as numbers .cut., but .*low"),
        ({"a": [1]}, {"columns": ["b"]}, "no column 'b'"),
        *(
            ({"a": [1, 0], "w": [1.0, w]}, {"weight": "w"}, "weight 'w' must hold numbers that")
            for w in (-0.5, float("nan"), float("inf"), None)
        ),
    ],
)
def test_what_cannot_be_counted_is_refused_by_its_column(
    engine: str, columns: dict[str, Any], options: dict[str, Any], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        Tally.of(ENGINES[engine](pa.table(columns)), **options)


@pytest.mark.parametrize("engine", ["arrow", "pandas", "polars", "polars lazy", "duckdb"])
def test_nested_cells_are_no_labels(engine: str) -> None:
    with pytest.raises(InputError, match=r"'a'.*(has type|holds a)"):
        Tally.of(ENGINES[engine](pa.table({"a": [[1], [2]]})))


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)
def test_spark_counts_as_numpy_does(spark: Any) -> None:
    table = votes(60)
    rows = [tuple(None if v != v else v for v in row.values()) for row in table.to_pylist()]
    frame = spark.createDataFrame(
        rows, "small tinyint, flag boolean, text string, score double, w double"
    )
    options: dict[str, Any] = {
        "columns": ["small", "score", "text"],
        "cut": {"score": EDGES},
        "weight": "w",
    }
    assert Tally.of(frame, **options) == Tally.of(plain(table), **options)
    gapped = spark.createDataFrame(gaps().to_pandas())
    assert repr(Tally.of(gapped).labels) == repr(Tally.of(gaps()).labels)
    found, want = (Moments.of(data, columns=["small", "score"]) for data in (frame, plain(table)))
    assert (found.n, found.dropped) == (want.n, want.dropped)
    np.testing.assert_allclose(found.centred, want.centred, rtol=1e-10)
