"""One panel: wherever the rows lie, however they were counted, the votes are coded alike."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tallystick.table import Tally, TallySink, read
from tallystick.table.door import Door
from tallystick.table.panel import Panel
from tallystick.table.session import SessionFile, SessionHead, packed
from tallystick.table.session_rows import fingerprint

JUDGES = ("gpt", "claude", "llama")
ROLES: dict[str, Any] = {"judges": JUDGES, "truth": "gold"}
DOOR = Door(verb="judge", want="judges", reads=("item", "judges", "truth"))
Columns = dict[str, list[Any]]


def table(seed: int, words: tuple[Any, ...]) -> Columns:
    """Votes with gaps, labels on some items, a vote that is never true."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(40, 90)), len(words)
    truth = rng.integers(0, k, n)
    columns: Columns = {"id": [f"q{i:03d}" for i in range(n)]}
    for name in JUDGES:
        said = np.where(rng.random(n) < 0.8, truth, rng.integers(0, k, n))
        columns[name] = [None if rng.random() < 0.1 else words[int(c)] for c in said]
    columns["gold"] = [words[int(c)] if rng.random() < 0.4 else None for c in truth]
    return columns


def meaning(panel: Panel) -> tuple[Any, ...]:
    """Return all that a panel says, whatever the order of its entries."""
    words = (*panel.labels, None)
    entries: Counter[Any] = Counter()
    for votes, truth, n in zip(panel.codes, panel.truth, panel.counts, strict=True):
        entries[(*(words[c] for c in votes), words[truth])] += float(n)
    return panel.names, panel.classes, panel.extras, entries, panel.weight is None


def seen(source: Any, **more: Any) -> tuple[Any, ...]:
    with read(source, DOOR, **{**ROLES, **more}) as data:
        return meaning(data.panel("judges"))


def test_frames_files_and_relations_give_the_panel_of_the_columns(tmp_path: Path) -> None:
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    for seed in range(3):
        own = table(seed, ("bad", "fair", "good"))
        frame, arrow = pd.DataFrame(own), pa.table(own)
        frame.to_csv(tmp_path / "t.csv", index=False)
        pq.write_table(arrow, tmp_path / "t.parquet")
        rows = [json.dumps(row) for row in arrow.to_pylist()]
        (tmp_path / "t.jsonl").write_text("\n".join(rows))
        sources = {
            "rows": arrow.to_pylist(),
            "pandas": frame,
            "Arrow": arrow,
            "Polars": pl.DataFrame(own),
            "lazy Polars": pl.LazyFrame(own),
            "DuckDB": duckdb.from_arrow(arrow),
            **{end: str(tmp_path / f"t.{end}") for end in ("csv", "parquet", "jsonl")},
        }
        want = seen(own)
        for name, source in sources.items():
            assert seen(source) == want, name


@pytest.mark.filterwarnings("ignore")
def test_frames_of_other_engines_give_the_panel_of_their_rows(spark: Any) -> None:
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    own = table(3, (0, 1))
    text = {name: [None if x is None else str(x) for x in cells] for name, cells in own.items()}
    schema = ", ".join(f"{name} string" for name in text)
    held = spark.createDataFrame(list(zip(*text.values(), strict=True)), schema)
    want = seen(text)
    assert seen(held) == want
    assert seen(Tally.of(held, columns=(*JUDGES, "gold"))) == want  # counted there
    assert seen(dd.from_pandas(pd.DataFrame(text), npartitions=3)) == want


def test_counts_shards_files_and_streams_give_the_panel_of_the_rows(tmp_path: Path) -> None:
    for seed, words in ((4, ("no", "yes")), (5, (0, 1, 2))):
        own = table(seed, words)
        counted = {name: own[name] for name in (*JUDGES, "gold")}
        whole, want = Tally.of(counted), seen(own)
        parts = [{n: cells[k::3] for n, cells in counted.items()} for k in (2, 0, 1)]
        shards = Tally() + sum((Tally.of(part) for part in parts), Tally())
        whole.save(tmp_path / f"{seed}.tally")
        sink = TallySink(path=tmp_path / f"{seed}-stream.tally", stream="s")
        for number, part in enumerate(parts):
            sink(part, number)
        assert seen(whole) == want
        assert seen(shards) == want
        assert seen(str(tmp_path / f"{seed}.tally")) == want
        assert seen(str(tmp_path / f"{seed}-stream.tally")) == want


def test_one_row_per_vote_gives_the_panel_of_one_row_per_item() -> None:
    own = table(6, ("bad", "good"))
    names = ("item", "judge", "vote", "gold")
    rows = [
        (own["id"][k], judge, own[judge][k], own["gold"][k])
        for k in range(len(own["id"]))
        for judge in JUDGES
    ]
    long = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    found = seen(long, judges=(), item="item", judge="judge", vote="vote")
    order = [found[0].index(name) for name in JUDGES]
    entries = Counter({(*(key[j] for j in order), key[-1]): n for key, n in found[3].items() if n})
    assert (JUDGES, *found[1:3], entries) == seen(own)[:4]


def test_a_labelling_session_gives_the_panel_of_a_table_with_its_labels(tmp_path: Path) -> None:
    own = table(7, ("bad", "good"))
    truth = own.pop("gold")
    units = [k for k, one in enumerate(truth) if one is not None]
    with read(own, judges=JUDGES) as data:
        mark = fingerprint(data.table, JUDGES)
    head = SessionHead(question="judge", columns=JUDGES, fingerprint=mark)
    batch = {
        "batch": 0,
        "spread": [1.0],
        "draws": [[unit, 0, 0.5] for unit in units],
        "asks": [[k, unit, own["id"][unit], None] for k, unit in enumerate(units)],
        "twice": [],
    }
    answers = [{"answer": k, "label": truth[unit], "reader": "1"} for k, unit in enumerate(units)]
    with SessionFile(tmp_path / "s.label", head.to_event()) as file:
        file.append([{"strata": packed(np.zeros(len(truth), int))}, batch, *answers])
    found = seen(own, truth=None, truth_file=str(tmp_path / "s.label"))
    assert found == seen({**own, "gold": truth})
