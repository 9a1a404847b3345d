import numpy as np
import pytest

from tallystick import bound
from tallystick.results import Unknown
from tallystick.table import Tally

WEAK = [f"w{j}" for j in range(4)]
EDGES = bound.edges_of([0.25, 0.5, 0.75])


def scored(n=1500, seed=3, labelled=0):
    """Return votes, a score that is roughly calibrated, and the truth."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 2, n)
    rows = {name: np.where(draw.random(n) < 0.9, y, 1 - y) for name in WEAK}
    rows["score"] = np.clip(draw.normal(0.35 + 0.3 * y, 0.2), 0, 1)
    if labelled:
        rows["y"] = [int(v) if i < labelled else None for i, v in enumerate(y)]
    return rows, y


def swept(labelled=0, **more):
    rows, y = scored(labelled=labelled)
    truth = "y" if labelled else None
    quiet = bound.Fitting(refits=0)
    tally = Tally.of(rows, cut={"score": EDGES})
    return bound.sweep(tally, score="score", weak=WEAK, truth=truth, fitting=quiet, **more), rows, y


@pytest.mark.parametrize("labelled", [0, 100])
def test_roc_and_reliability_hold_the_truth(labelled):
    result, rows, y = swept(labelled)
    method = "labels" if labelled else "robust"
    for point in result.roc:
        above = rows["score"] >= point.threshold
        assert above[y == 1].mean() in point.true_positive_rate
        assert above[y == 0].mean() in point.false_positive_rate
        assert point.method == method
    for one in result.reliability:
        last = one.high == 1  # the last bin holds its upper edge
        below = rows["score"] <= one.high if last else rows["score"] < one.high
        inside = (rows["score"] >= one.low) & below
        assert inside.sum() == one.rows
        assert y[inside].mean() in one.share


def test_a_sweep_puts_the_robust_range_first_and_decides_nothing():
    result, rows, y = swept()
    first = result.bounds[:3]
    assert [b.method for b in first] == ["robust"] * 3
    for one in first:
        truth = float(((rows["score"] >= one.threshold) == (y == 1)).mean())
        assert one.low <= truth <= one.high
    assert result.decision == "undecided"
    assert result.needed.count == 20


def test_every_threshold_has_its_estimate_from_labels():
    target = bound.BoundTarget(metrics=("accuracy", "f1"), positive=1)
    result, rows, y = swept(100, target=target)
    assert [g.threshold for g in result.gold] == [0.25, 0.5, 0.75] * 2
    assert result.decision == "decided"
    accuracy = result.gold[1]
    assert ((rows["score"] >= 0.5) == (y == 1)).mean() in accuracy.interval


def test_a_bin_without_rows_says_so():
    rows, _ = scored()
    rows["score"] = np.where(rows["score"] < 0.25, 0.3, rows["score"])
    quiet = bound.Fitting(refits=0)
    tally = Tally.of(rows, cut={"score": EDGES})
    result = bound.sweep(tally, score="score", weak=WEAK, fitting=quiet)
    assert isinstance(result.reliability[0].share, Unknown)
    assert result.reliability[0].rows == 0


def test_the_other_class_mirrors_the_curve():
    result, _, _ = swept(100)
    rows, _ = scored(labelled=100)
    turned = {name: 1 - np.asarray(rows[name]) for name in WEAK} | {"score": rows["score"]}
    turned["y"] = [None if v is None else 1 - v for v in rows["y"]]
    tally = Tally.of(turned, cut={"score": EDGES})
    mirror = bound.sweep(
        tally,
        score="score",
        weak=WEAK,
        truth="y",
        fitting=bound.Fitting(refits=0),
        target=bound.BoundTarget(positive=0),
    )
    for a, b in zip(result.roc, mirror.roc, strict=True):
        assert tuple(a.true_positive_rate) == pytest.approx(tuple(b.true_positive_rate))
        assert tuple(a.false_positive_rate) == pytest.approx(tuple(b.false_positive_rate))
