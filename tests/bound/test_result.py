from tallystick import bound
from tallystick.results import Interval
from tallystick.verbs.bound.question import spam


def test_the_range_that_decides_stands_first_and_every_row_names_its_label_model():
    result = bound.evaluate(spam(800, rng=1), prediction="classifier")
    rows = result.rows()
    assert rows[0]["label_model"] == "family of seven"
    assert len({row["label_model"] for row in rows}) == len(rows)
    assert all(row["low"] <= row["lower"] <= row["upper"] <= row["high"] for row in rows)


def test_with_labels_the_first_row_trusts_no_label_model():
    result = bound.evaluate(spam(800, rng=1, labelled=60), prediction="classifier", truth="truth")
    first, gold = result.rows()[0], result.gold[0]
    assert first["label_model"].startswith("none:")
    assert isinstance(gold.interval, Interval)
    assert (first["low"], first["high"]) == tuple(gold.interval)


def test_every_row_is_attached_to_items_by_its_votes():
    result = bound.evaluate(spam(300, rng=1), prediction="classifier")
    table = result.patterns()
    assert table is not None
    assert {"consensus", "label_from_votes"} <= set(table.columns)
