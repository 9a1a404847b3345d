import numpy as np
import pytest

from tallystick import compare
from tallystick.errors import AskError, InputError


def _rows(n=40):
    rng = np.random.default_rng(0)
    return [
        (
            i,
            model,
            metric,
            float(rng.integers(2)) if metric == "correct" else 1 + (model == "A") + rng.random(),
        )
        for i in range(n)
        for model in "AB"
        for metric in ("correct", "latency")
    ]


def _tidy():
    names = ("id", "model", "metric", "value")
    return dict(zip(names, map(list, zip(*_rows(), strict=True)), strict=True))


def test_a_tidy_table_asks_for_its_metric_and_reads_it():
    with pytest.raises(InputError, match=r"which metric\? metric holds correct, latency"):
        compare(_tidy())
    found = compare(_tidy(), metric="latency")
    assert (found.n_items, found.better, found.models[0].name) == (40, "lower", "B")
    assert compare(_tidy(), metric="correct").better == "higher"


def test_items_that_start_again_in_each_task_are_named_by_both():
    rng = np.random.default_rng(0)
    rows = [
        (i, m, int(rng.integers(2)), t) for t in ("gsm8k", "mmlu") for m in "AB" for i in range(30)
    ]
    names = ("id", "model", "correct", "task")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    with pytest.raises(AskError, match="id and model repeat, and task tells the rows apart"):
        compare(table)
