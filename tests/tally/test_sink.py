"""A stream is counted once, however often it dies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import Tally, TallySink

BATCHES = 5
COLUMNS = ["gpt", "claude"]


def _batch(number: int) -> dict[str, list[str]]:
    draw = np.random.default_rng(number)
    return {name: draw.choice(["yes", "no"], size=40).tolist() for name in COLUMNS}


def _all() -> Tally:
    total = Tally()
    for number in range(BATCHES):
        total = total + Tally.of(_batch(number))
    return total


class _Killed(Exception):
    """What stands for the death of the driver."""


class _Mortal:
    """A sink that dies once at each of two moments: before and after it has saved."""

    def __init__(self, sink: TallySink) -> None:
        self.sink = sink
        self.left = {1: "before", 3: "after"}

    def __call__(self, frame: Any, batch: int) -> None:
        moment = self.left.pop(batch, None)
        if moment == "before":
            raise _Killed
        self.sink(frame, batch)
        if moment == "after":
            raise _Killed


def test_a_batch_that_is_repeated_is_counted_once(tmp_path: Path) -> None:
    mortal = _Mortal(TallySink(path=tmp_path / "t.tally", stream="s"))
    number = 0
    while number < BATCHES:
        try:
            mortal(_batch(number), number)
            number += 1
        except _Killed:
            continue
    found = Tally.load(tmp_path / "t.tally")
    assert found.n == BATCHES * 40
    assert found.counts.tolist() == _all().counts.tolist()
    assert found.sources.batches == tuple(f"s:{i}" for i in range(BATCHES))


def test_batches_of_another_stream_are_other_batches(tmp_path: Path) -> None:
    for name in ("old", "new", "new"):
        TallySink(path=tmp_path / "t.tally", stream=name)(_batch(0), 0)
    assert Tally.load(tmp_path / "t.tally").n == 80


def test_an_empty_batch_changes_nothing_and_one_without_a_stream_is_refused(tmp_path: Path) -> None:
    sink = TallySink(path=tmp_path / "t.tally", stream="s")
    for number, batch in enumerate([_batch(0), {name: [] for name in COLUMNS}, _batch(1)]):
        sink(batch, number)
    assert Tally.load(tmp_path / "t.tally").n == 80
    with pytest.raises(InputError, match="which stream it belongs to"):
        TallySink(path=tmp_path / "t.tally")(_batch(0), 0)


@pytest.mark.filterwarnings("ignore")
def test_a_spark_stream_that_dies_twice_counts_every_batch_once(spark: Any, tmp_path: Path) -> None:
    spark_errors = pytest.importorskip("pyspark.errors")
    source = tmp_path / "in"
    source.mkdir()
    for number in range(BATCHES):
        rows = _batch(number)
        lines = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (source / f"{number}.json").write_text(text, encoding="utf-8")
    mortal = _Mortal(TallySink(path=tmp_path / "t.tally", columns=COLUMNS))

    deaths = 0
    for _ in range(4):
        stream = (
            spark.readStream.schema("gpt string, claude string")
            .option("maxFilesPerTrigger", 1)
            .json(str(source))
        )
        query = (
            stream.writeStream.foreachBatch(mortal)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            query.awaitTermination()
            break
        except spark_errors.StreamingQueryException as error:
            if "_Killed" not in str(error):
                raise
            deaths += 1
    found = Tally.load(tmp_path / "t.tally")
    assert deaths == 2
    assert len(found.sources.batches) == BATCHES
    assert found.counts.tolist() == _all().counts.tolist()
