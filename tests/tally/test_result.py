"""A tally as a result: its sentence, its JSON, its table."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tallystick.results import to_json
from tallystick.table import Tally, describe


def test_the_json_of_a_tally_has_its_columns_and_its_number_of_patterns() -> None:
    told = json.loads(
        to_json(describe(Tally.of({"a": ["yes", None], "b": ["no", "no"]})).to_dict())
    )
    assert told["verb"] == "tally"
    assert told["columns"] == {"a": ["yes", None], "b": ["no"]}
    assert told["patterns"] == 2
    assert told["n_items"] == 2
    assert told["weighted"] is False
    assert "tally" not in told


def test_rows_show_the_commonest_pattern_first() -> None:
    result = describe(Tally.of({"a": [0, 1, 1], "count": [5, 5, 5]}))
    assert result.rows()[0] == {"a": 1, "count": 5, "tally_count": 2, "share": pytest.approx(2 / 3)}
    assert result.to_frame().num_rows == 2
    assert "67%" in result.summary()


def test_a_wide_tally_names_the_votes_that_were_cast() -> None:
    columns = {f"w{j}": [1 if j == 11 else None, None] for j in range(60)}
    result = describe(Tally.of(columns))
    assert [row["pattern"] for row in result.rows()] == ["w11=1", "all missing"]


def test_weights_and_nothing_are_told() -> None:
    weighted = describe(Tally.of({"a": [1, 0], "w": [0.5, 1.0]}, weight="w"))
    assert weighted.verdict.startswith("1.5 units of weight of 1 column show 2 of 2")
    assert weighted.warnings
    nothing = describe(Tally.of({"a": np.zeros(0, np.int8)}))
    assert nothing.verdict == "No rows of 1 column were counted."
    assert nothing.rows() == []
