"""What was learnt of patterns finds its way back to items, in the kind of frame that was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.results import Result
from tallystick.table import Tally, attach, describe

VOTES = {"a": [1, 1, 0, 5], "b": [1, 1, 1, 1]}
RESULT = describe(Tally.of({"a": [1, 1, 0], "b": [1, 1, 1]}))


@pytest.mark.parametrize(
    "make",
    [
        pa.table,
        lambda votes: pd.DataFrame(votes, index=[9, 3, 7, 1]),
        pl.DataFrame,
        lambda votes: pl.DataFrame(votes).lazy(),
        lambda votes: duckdb.connect().from_arrow(pa.table(votes)),
    ],
    ids=["arrow", "pandas", "polars", "lazy", "duckdb"],
)
def test_a_frame_comes_back_with_what_was_learnt(make: Any) -> None:
    data = make(VOTES)
    attached = attach(RESULT, data)
    if isinstance(data, pa.Table | pd.DataFrame | pl.DataFrame):
        assert type(attached) is type(data)
    else:
        assert isinstance(attached, pa.Table)
    if isinstance(attached, pd.DataFrame):
        assert attached.index.tolist() == [9, 3, 7, 1]
        column = attached["pattern_count"].tolist()
    else:
        column = (
            attached["pattern_count"].to_pylist()
            if isinstance(attached, pa.Table)
            else attached["pattern_count"].to_list()
        )
    assert column[:3] == [2, 2, 1]
    assert column[3] is None or np.isnan(column[3])


def test_a_mapping_and_a_path_come_back(tmp_path: Path) -> None:
    attached = attach(RESULT, {name: np.array(column) for name, column in VOTES.items()})
    assert attached["pattern_count"][:3].tolist() == [2, 2, 1]
    assert np.isnan(attached["pattern_count"][3])
    path = tmp_path / "v.csv"
    path.write_text("a,b\nyes,no\nyes,no\n", encoding="utf-8")
    table = attach(describe(Tally.of(path)), path)
    assert table.to_pydict() == {"a": ["yes", "yes"], "b": ["no", "no"], "pattern_count": [2, 2]}


def test_a_clash_of_names_is_refused() -> None:
    with pytest.raises(InputError, match="already has a column 'pattern_count'"):
        attach(RESULT, {**VOTES, "pattern_count": [0, 0, 0, 0]})


def test_a_result_without_patterns_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="nothing to attach"):
        attach(Result(verdict="Nothing.", n_items=0), VOTES)
