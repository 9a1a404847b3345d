import numpy as np
import pytest

from tallystick import Tally, bound
from tallystick.stats.adverse_ratios import adverse_auc
from tallystick.verbs.bound.answer import with_auc

WEAK = [f"w{j}" for j in range(4)]


def rows(n=800, labelled=0, seed=5):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, n)
    data = {"item": list(range(n))}
    data |= {name: np.where(draw.random(n) < 0.92, y, 1 - y) for name in WEAK}
    data["score"] = np.clip(draw.normal(0.35 + 0.3 * y, 0.2), 0, 1).round(3)
    if labelled:
        data["y"] = [int(v) if i < labelled else None for i, v in enumerate(y)]
    return data, y


def auc(score, y):
    one, zero = score[y == 1], score[y == 0]
    return float((one[:, None] > zero).mean() + 0.5 * (one[:, None] == zero).mean())


def test_without_labels_the_robust_range_of_the_auc_holds_it():
    data, y = rows()
    found = bound.evaluate(data, score="score", weak=WEAK, thresholds=[0.5])
    [robust] = [b for b in found.bounds if b.metric == "auc"]
    assert robust.method == "robust"
    assert robust.low <= auc(data["score"], y) <= robust.high


def test_a_named_label_model_has_a_shorter_range_of_its_own():
    data, _ = rows()
    found = bound.evaluate(
        data, score="score", weak=WEAK, thresholds=[0.5], label_models=("dawid-skene",)
    )
    robust, named = [b for b in found.bounds if b.metric == "auc"]
    assert named.label_model == "dawid-skene"
    assert robust.low <= named.low <= named.high <= robust.high


def test_labels_give_the_interval_of_the_labelled_scores():
    data, y = rows(labelled=60)
    found = bound.evaluate(data, score="score", weak=WEAK, truth="y", thresholds=[0.5])
    [one] = [g for g in found.gold if g.metric == "auc"]
    first = slice(0, 60)
    positives, negatives = (data["score"][first][y[first] == c] for c in (1, 0))
    assert tuple(one.interval) == pytest.approx(tuple(adverse_auc(positives, negatives).interval))
    assert auc(data["score"], y) in one.interval


def test_a_saved_tally_has_no_scores_so_no_auc():
    data, _ = rows()
    del data["item"]
    tally = Tally.of(data, cut={"score": bound.edges_of([0.5])})
    found = bound.evaluate(tally, score="score", weak=WEAK, thresholds=[0.5])
    assert all(b.metric != "auc" for b in found.bounds)
    assert callable(with_auc)
