"""The same rows give the same answer, or the same refusal, whatever holds them.

Every verb that reads a table x every source x every way in which tables are awkward.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tallystick.errors import TallystickError
from tallystick.registry import capability
from tallystick.table import answered

N = 120
SEED = 11


def _rows() -> dict[str, list[Any]]:
    """Return ids, a truth, four columns of votes and the answers of an API, all without blanks."""
    draw = np.random.default_rng(SEED)
    truth = draw.random(N) < 0.55
    votes = {
        name: np.where(draw.random(N) < right, truth, ~truth)
        for name, right in (("ann", 0.9), ("bob", 0.85), ("eve", 0.8), ("kim", 0.75))
    }
    words = {name: ["yes" if v else "no" for v in column] for name, column in votes.items()}
    return {
        "qid": [f"q{i}" for i in range(N)],
        "gold": ["yes" if v else "no" for v in truth],
        **words,
        "round": [1 + i % 2 for i in range(N)],
    }


def _numbers(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the same votes as 0 and 1."""
    number = {"yes": 1, "no": 0}
    return {name: [number.get(cell, cell) for cell in column] for name, column in columns.items()}


def na_in_truth() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    rows = _rows()
    rows["gold"] = ["NA" if i % 6 == 0 else cell for i, cell in enumerate(rows["gold"])]
    return rows, {}


def minus_one_token() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    rows = _numbers(_rows())
    rows["eve"] = [-1 if i % 10 == 0 else cell for i, cell in enumerate(rows["eve"])]
    return rows, {"missing": "-1"}


def two_spellings() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    rows = _rows()
    rows["bob"] = ["Yes" if cell == "yes" and i % 2 else cell for i, cell in enumerate(rows["bob"])]
    return rows, {}


def blank_cells() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    rows = _numbers(_rows())
    rows["gold"] = [None if i % 5 == 0 else cell for i, cell in enumerate(rows["gold"])]
    return rows, {}


def _long(names: tuple[str, str, str]) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    rows = _rows()
    item, who, vote = names
    voters = ("ann", "bob", "eve", "kim")
    return {
        item: [rows["qid"][i] for i in range(N) for _ in voters],
        who: [name for _ in range(N) for name in voters],
        vote: [rows[name][i] for i in range(N) for name in voters],
        "gold": [rows["gold"][i] for i in range(N) for _ in voters],
    }, {}


def long_form() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    return _long(("item", "judge", "vote"))


def long_form_with_other_headers() -> tuple[dict[str, list[Any]], dict[str, Any]]:
    return _long(("review", "wer", "urteil"))


CASES = (
    na_in_truth,
    minus_one_token,
    two_spellings,
    blank_cells,
    long_form,
    long_form_with_other_headers,
)

ASKED: dict[str, dict[str, Any]] = {
    "compare": {"truth": "gold", "blanks": "random"},
    "judge": {"truth": "gold"},
    "bound": {"truth": "gold", "prediction": "kim", "label_models": ("majority",)},
    "shift": {"truth": "gold", "old": "ann", "new": "bob"},
    "dynamic analyse": {"truth": "gold", "round": "round"},
}
"""What each verb is asked; a long table has no prediction, no versions and no rounds."""

TALLY_VERBS = ("judge", "bound")
WIDE_ONLY = ("shift", "dynamic analyse")


def as_csv(columns: dict[str, list[Any]], folder: Path) -> Any:
    import csv

    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def as_ndjson(columns: dict[str, list[Any]], folder: Path) -> Any:
    path = folder / "rows.ndjson"
    lines = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def as_json_array(columns: dict[str, list[Any]], folder: Path) -> Any:
    path = folder / "rows.json"
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return path


def as_parquet(columns: dict[str, list[Any]], folder: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(columns), folder / "rows.parquet")
    return folder / "rows.parquet"


def as_arrow(columns: dict[str, list[Any]], folder: Path) -> Any:
    import pyarrow as pa

    return pa.table(columns)


def as_pandas(columns: dict[str, list[Any]], folder: Path) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(columns)


def as_polars(columns: dict[str, list[Any]], folder: Path) -> Any:
    polars = pytest.importorskip("polars")
    return polars.DataFrame(columns)


def as_duckdb(columns: dict[str, list[Any]], folder: Path) -> Any:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect()
    return connection.from_arrow(pa.table(columns))


def as_dict(columns: dict[str, list[Any]], folder: Path) -> Any:
    return columns


SOURCES: tuple[Callable[[dict[str, list[Any]], Path], Any], ...] = (
    as_csv,
    as_ndjson,
    as_json_array,
    as_parquet,
    as_arrow,
    as_pandas,
    as_polars,
    as_duckdb,
    as_dict,
)


def outcome(verb: str, source: Any, options: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the answer's numbers, or the kind of refusal, without names of files and rows."""
    try:
        body = answered(capability(verb), source, options).to_dict()
    except TallystickError as error:
        return type(error).__name__, _kind(str(error))
    for name in ("notes", "seed", "unknown"):
        body.pop(name, None)
    return "answered", _plain_labels(json.loads(json.dumps(body)))


def _plain_labels(value: Any, name: str = "") -> Any:
    """Return labels as their text: a text file has no other, and its answer is the same."""
    if isinstance(value, dict):
        return {key: _plain_labels(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_labels(item, name) for item in value]
    return str(value) if name in ("classes", "labels", "positive", "slice") else value


def _kind(message: str) -> str:
    """Return what a refusal is about: two sources may name the place differently."""
    for words in ("spelled in two ways", "no column", "can be a label", "row per vote"):
        if words in message:
            return words
    return message.partition(":")[2][:40] or message[:40]


@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_every_source_gives_the_same_answer_or_the_same_refusal(
    verb: str, case: Callable[[], tuple[dict[str, list[Any]], dict[str, Any]]], tmp_path: Path
) -> None:
    columns, more = case()
    if "round" not in columns and verb in WIDE_ONLY:
        pytest.skip(f"{verb} reads no table with one row per vote")
    options = {**ASKED[verb], **more}
    # Every second source, in turn: each meets each verb, and each case, two or three times.
    turn = list(ASKED).index(verb) + CASES.index(case)
    chosen = (as_csv, *SOURCES[1 + turn % 2 :: 2])
    found = {make.__name__: outcome(verb, make(columns, tmp_path), options) for make in chosen}
    first = found["as_csv"]
    different = [name for name, one in found.items() if one != first]
    assert not different, {name: found[name] for name in ("as_csv", *different[:1])}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", TALLY_VERBS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_spark_gives_the_same_answer_or_the_same_refusal(
    verb: str, case: Callable[[], tuple[dict[str, list[Any]], dict[str, Any]]], spark: Any
) -> None:
    columns, more = case()
    if "round" not in columns and verb in WIDE_ONLY:
        pytest.skip(f"{verb} reads no table with one row per vote")
    options = {**ASKED[verb], **more}
    kinds = {int: "int", str: "string"}
    first = {
        name: next(cell for cell in column if cell is not None) for name, column in columns.items()
    }
    schema = ", ".join(f"{name} {kinds[type(cell)]}" for name, cell in first.items())
    frame = spark.createDataFrame(list(zip(*columns.values(), strict=True)), schema)
    assert outcome(verb, frame, options) == outcome(verb, columns, options)


def test_a_truth_that_says_na_is_counted_as_unknown_by_every_verb(tmp_path: Path) -> None:
    columns, _ = na_in_truth()
    known = sum(cell != "NA" for cell in columns["gold"])
    judged = answered(capability("judge"), columns, {"truth": "gold"}).to_dict()
    assert judged["n_labels"] == known
    bounded = answered(capability("bound"), columns, ASKED["bound"]).to_dict()
    assert bounded["gold"][0]["labels"] == known


@pytest.mark.parametrize("verb", TALLY_VERBS)
def test_a_tally_answers_like_the_rows_it_was_counted_from(verb: str) -> None:
    from tallystick.table import Tally

    columns, _ = blank_cells()
    counted = Tally.of({name: columns[name] for name in ("gold", "ann", "bob", "eve", "kim")})
    rows = {name: columns[name] for name in counted.names}
    (told, one), (again, two) = (outcome(verb, held, ASKED[verb]) for held in (counted, rows))
    assert (told, {**one, "reading": None}) == (again, {**two, "reading": None})
