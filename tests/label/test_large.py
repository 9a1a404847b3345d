"""A million items and ten judges."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tallystick.label import begin


@pytest.mark.slow
def test_the_next_batch_of_a_million_items_takes_less_than_a_second(tmp_path):
    import pyarrow as pa

    rng = np.random.default_rng(0)
    truth = rng.random(1_000_000) < 0.7
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
        began = time.perf_counter()
        asks = work.next(20)
        taken = time.perf_counter() - began
    assert len(asks) == 20
    assert taken < 1.0
