"""The same rows give the same answer, or the same refusal, whatever holds them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import TallystickError
from tallystick.registry import capability
from tallystick.table import Tally, answered
from tests.corpus.formats import ASKED, CASES, FILES, MEMORY


def outcome(verb: str, source: Any, options: dict[str, Any]) -> tuple[str, Any]:
    """Return the answer's numbers, or the kind of refusal, without names of files and rows."""
    name = "dynamic analyse" if verb == "dynamic" else verb
    try:
        body = answered(capability(name), source, options).to_dict()
    except TallystickError as error:
        return type(error).__name__, None
    for field in ("notes", "seed", "unknown"):
        body.pop(field, None)
    return "answered", as_text(json.loads(json.dumps(body)))


def as_text(value: Any, name: str = "") -> Any:
    """Return labels as their text: a text file has no other, and its answer is the same."""
    if isinstance(value, dict):
        return {key: as_text(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [as_text(item, name) for item in value]
    return str(value) if name in ("classes", "labels", "positive", "slice") else value


@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("case", CASES)
def test_every_source_gives_the_same_answer_or_the_same_refusal(
    verb: str, case: str, tmp_path: Path
) -> None:
    columns, more = CASES[case]
    if "round" not in columns and verb in ("shift", "dynamic"):
        pytest.skip(f"{verb} reads no table with one row per vote")
    options = {**ASKED[verb], **more}
    # Two files and two sources in memory, in turn: each meets each verb and each case.
    turn = list(ASKED).index(verb) + list(CASES).index(case)
    found = {}
    for k, (name, write) in enumerate(FILES.items()):
        if (k + turn) % 4 == 0 and name != "bom.csv":  # which has a column more
            write(tmp_path / name, columns)
            found[name] = outcome(verb, tmp_path / name, options)
    for k, (name, make) in enumerate(MEMORY.items()):
        if (k + turn) % 3 == 0:
            found[name] = outcome(verb, make(columns), options)
    first = outcome(verb, columns, options)
    different = [name for name, one in found.items() if one != first]
    assert found
    assert not different, {name: found[name] for name in different[:1]} | {"": first}


@pytest.mark.parametrize("verb", ["judge", "bound"])
def test_a_tally_answers_like_the_rows_it_was_counted_from(verb: str) -> None:
    columns, _ = CASES["blank cells"]
    counted = Tally.of({name: columns[name] for name in ("gold", "ann", "bob", "eve", "kim")})
    rows = {name: columns[name] for name in counted.names}
    (told, one), (again, two) = (outcome(verb, held, ASKED[verb]) for held in (counted, rows))
    assert (told, {**one, "reading": None}) == (again, {**two, "reading": None})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("verb", ["judge", "bound"])
def test_spark_gives_the_same_answer(verb: str, spark: Any) -> None:
    columns, _ = CASES["NA in the truth"]
    kinds = {int: "int", str: "string"}
    schema = ", ".join(f"{name} {kinds[type(cells[0])]}" for name, cells in columns.items())
    frame = spark.createDataFrame(list(zip(*columns.values(), strict=True)), schema)
    assert outcome(verb, frame, ASKED[verb]) == outcome(verb, columns, ASKED[verb])
