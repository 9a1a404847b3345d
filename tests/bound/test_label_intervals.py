import numpy as np
import pytest

from tallystick import bound
from tallystick.papers.frechet_bounds import Summary
from tallystick.stats.adverse_forecast import share_outlook
from tallystick.table import Tally
from tallystick.verbs.bound.question import spam
from tallystick.verbs.bound.verdict import LabelledRows, labels_to_decide

# The vector of the methods page: sizes [200, 100, 60, 640], labelled [20, 10, 6, 64], of c
# [18, 5, 3, 2]; consensus by row, prediction by column.
PAGE = LabelledRows(
    sizes=np.array([[640, 100], [60, 200]]),
    gold=np.array([[[62, 2], [5, 5]], [[3, 3], [2, 18]]]),
)


def test_the_cells_come_in_the_order_of_the_page():
    sizes, labelled, hits = PAGE.cells(1)
    assert sizes.tolist() == [200, 100, 60, 640]
    assert labelled.tolist() == [20, 10, 6, 64]
    assert hits.tolist() == [18, 5, 3, 2]


@pytest.mark.parametrize(
    ("metric", "estimate", "low", "high"),
    [
        ("recall", 0.8214, 0.6977, 0.9171),
        ("f1", 0.7931, 0.6788, 0.8774),
        ("precision", 0.7667, 0.6100, 0.8833),
    ],
)
def test_ratios_are_those_of_the_page(metric, estimate, low, high):
    found = PAGE.estimate(Summary(metric, 1), alpha=0.05)
    assert found.estimate == pytest.approx(estimate, abs=5e-5)
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high), abs=6e-5)


def test_accuracy_is_that_of_the_corrections():
    rows = LabelledRows(
        sizes=np.array([[400, 150], [100, 350]]),
        gold=np.array([[[18, 1], [4, 3]], [[1, 4], [2, 17]]]),
    )
    assert [part.tolist() for part in rows.strata()] == [[750, 250], [38, 12], [35, 4]]
    found = rows.estimate(Summary("accuracy"), alpha=0.05)
    assert found.estimate == pytest.approx(0.7741, abs=5e-5)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.667, 0.863), abs=5e-4)


def test_a_macro_average_has_the_mean_of_the_ends():
    parts = [PAGE.estimate(Summary("f1", c), alpha=0.05) for c in (0, 1)]
    macro = PAGE.estimate(Summary("macro-f1"), alpha=0.05)
    assert macro.interval.low == pytest.approx(np.mean([p.interval.low for p in parts]))
    assert macro.estimate == pytest.approx(np.mean([p.estimate for p in parts]))


def test_the_outlook_is_that_of_the_metric_in_question():
    recall, f1 = (PAGE.outlook(Summary(metric, 1)) for metric in ("recall", "f1"))
    assert (recall.variance, recall.pull) == pytest.approx((0.3318, 1.2417), abs=5e-5)
    assert (f1.variance, f1.pull) == pytest.approx((0.2609, 1.0554), abs=5e-5)
    assert recall.width(200) == pytest.approx(0.1490, abs=5e-5)
    assert f1.width(200) == pytest.approx(0.1319, abs=5e-5)
    assert PAGE.outlook(Summary("macro-f1")) is None


def test_what_is_needed_is_never_more_than_the_table():
    outlook = share_outlook([3000], [50], [41])
    assert labels_to_decide(outlook, 0.8201, 0.82, rows=3000, alpha=0.05) <= 3000
    assert labels_to_decide(outlook, 0.9, 0.82, rows=3000, alpha=0.05) < 300
    assert labels_to_decide(None, 0.9, 0.82, rows=3000, alpha=0.05) is None


def test_every_metric_has_one_interval_from_labels():
    metrics = ("accuracy", "precision", "recall", "f1", "macro-f1")
    tally = Tally.of(spam(1000, rng=3, labelled=60))
    result = bound.bound(
        tally, prediction="classifier", truth="truth", target=bound.BoundTarget(metrics=metrics)
    )
    assert [one.metric for one in result.gold] == list(metrics)
    assert all(one.labels == 60 for one in result.gold)
    assert all(one.interval.low < one.estimate < one.interval.high for one in result.gold)


def test_all_rows_labelled_is_the_number_itself():
    rows = spam(400, rng=3, labelled=400)
    truth = np.mean(np.array(rows["truth"]) == rows["classifier"])
    [one] = bound.bound(Tally.of(rows), prediction="classifier", truth="truth").gold
    assert (one.interval.low, one.estimate, one.interval.high) == pytest.approx((truth,) * 3)


def test_coverage_when_the_votes_are_worthless():
    """100 draws of 40 labels; the consensus is a coin, and the interval holds all the same."""
    draw = np.random.default_rng(9)
    y = draw.integers(0, 2, 600)
    h = np.where(draw.random(600) < 0.8, y, 1 - y)
    rows = {f"w{j}": draw.integers(0, 2, 600) for j in range(3)} | {"h": h}
    truth, held = float((h == y).mean()), 0
    for _ in range(100):
        known = set(draw.choice(600, 40, replace=False).tolist())
        gold = [int(v) if i in known else None for i, v in enumerate(y)]
        table = bound.weak_table(
            Tally.of(rows | {"y": gold}), weak=["w0", "w1", "w2"], prediction="h", truth="y"
        )
        cells = LabelledRows.of(table.counts, table.gold, bound.label_models.consensus_of(table))
        held += truth in cells.estimate(Summary("accuracy"), alpha=0.05).interval
    assert held >= 88  # at 95 %, fewer has probability .002
