"""A million items: ten judges, or ten systems in ten million rows."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from tallystick.verbs.label import begin

pytestmark = pytest.mark.slow

_ITEMS, _SYSTEMS = 1_000_000, 10

_SESSION = r"""
import re, sys
from tallystick.verbs.label import begin
goal = {"goal": sys.argv[2]}
with begin("s.label", [sys.argv[1]], question="score", options=goal) as work:
    parts = work.task.rows.shape[1]
    for ask in work.next(2 * parts):
        work.answer(ask.number, 1, reader="1")
    assert len(work.next(2 * parts)) == 2 * parts
    work.result()
# Unlike ru_maxrss, this does not begin at the size of the process that started this one.
print(re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1])
"""


def test_the_next_batch_of_a_million_items_takes_less_than_a_second(tmp_path):
    import pyarrow as pa

    rng = np.random.default_rng(0)
    truth = rng.random(_ITEMS) < 0.7
    columns = {
        f"j{k}": np.where(rng.random(truth.size) < 0.8 + k / 100, truth, ~truth).astype(np.int8)
        for k in range(10)
    }
    with begin(
        tmp_path / "s.label",
        pa.table(columns),
        question="judge",
        reading={"judges": tuple(columns)},
    ) as work:
        for ask in work.next(20):  # the first one compiles
            work.answer(ask.number, int(truth[ask.row]), reader="1")
        began = time.process_time()  # on the processor: the machine may have other work
        asks = work.next(20)
        taken = time.process_time() - began
    assert len(asks) == 20
    assert taken < 1.0


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    truth = rng.random((_ITEMS, _SYSTEMS)) < np.linspace(0.6, 0.85, _SYSTEMS)
    items = np.char.add("item-", np.char.zfill(np.arange(_ITEMS).astype(str), 7))
    votes = [np.where(rng.random(truth.shape) < 0.85, truth, ~truth) for _ in range(3)]
    systems = [f"sys{s}" for s in range(_SYSTEMS)]
    long = {
        "item": pa.array(np.repeat(items, _SYSTEMS)),
        "system": pa.array(np.tile(systems, _ITEMS)),
        **{f"j{j}": pa.array(one.ravel().astype(np.int8)) for j, one in enumerate(votes)},
    }
    pq.write_table(pa.table(long), folder / "long.parquet")
    return folder / "long.parquet"


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("goal", ["mean", "best"])
def test_ten_million_outputs_take_less_than_a_gigabyte(outputs, tmp_path, goal):
    done = subprocess.run(
        [sys.executable, "-c", _SESSION, str(outputs), goal],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert 1024 * float(done.stdout) < 1e9
