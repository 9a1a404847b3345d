import numpy as np
import pytest

from tallystick import bound
from tallystick.table import Tally
from tallystick.verbs.bound.question import spam
from tallystick.verbs.bound.selection import compare_classifiers

WEAK = ["links", "words", "sender", "caps"]


def rivals(n=2000, labelled=0, seed=4):
    data = spam(n, rng=seed, labelled=labelled)
    draw = np.random.default_rng(seed)
    best = np.asarray(data.pop("classifier"))
    for name, rate in {"best": 0.0, "close": 0.01, "poor": 0.35}.items():
        data[name] = np.where(draw.random(n) < rate, 1 - best, best)
    return data


def ask(data, **more):
    truth = "truth" if "truth" in data else None
    return compare_classifiers(
        Tally.of(data), predictions=["best", "close", "poor"], weak=WEAK, truth=truth, **more
    )


def test_labels_tell_the_poor_one_apart_and_leave_the_close_pair_open():
    found = ask(rivals(labelled=300))
    better = {(pair.a, pair.b): pair.better for pair in found.pairs}
    assert better == {("best", "close"): None, ("best", "poor"): "best", ("close", "poor"): "close"}
    assert all(pair.interval.guarantee == "approximate" for pair in found.pairs)
    assert found.gold["best"].labels == 300
    assert found.decision == "undecided"
    assert "2 of 3 pairs are told apart by 300 random labels" in found.verdict


def test_the_difference_from_labels_is_the_paired_one():
    data = rivals(labelled=2000)
    y = np.array(data["truth"])
    data["truth"] = [int(v) if i < 1000 else None for i, v in enumerate(y)]
    for pair in ask(data).pairs:
        truth = float((data[pair.a] == y).mean() - (data[pair.b] == y).mean())
        assert truth in pair.interval
        assert pair.estimate == pytest.approx(truth, abs=0.02)


def test_without_labels_the_range_of_a_pair_is_that_of_all_label_models():
    found = ask(rivals())
    single = bound.select(Tally.of(rivals()), predictions=["best", "close", "poor"], weak=WEAK)
    for robust, one in zip(found.pairs, single.pairs, strict=True):
        assert robust.interval.method == "robust"
        assert robust.interval.low <= one.interval.low
        assert one.interval.high <= robust.interval.high
    assert all(b.method == "robust" for b in found.models.values())
    assert found.needed.count == 20


def test_a_named_label_model_decides_nothing():
    found = ask(rivals(), label_models=("dawid-skene",))
    assert found.decision == "undecided"
    assert "If the label model is right, best is" in found.verdict


def test_a_single_selection_decides_nothing_either():
    """Before, every pair told apart under one label model was called decided."""
    data = rivals()
    found = bound.select(Tally.of(data), predictions=["best", "poor"], weak=WEAK)
    assert found.decision == "undecided"
