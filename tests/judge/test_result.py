import numpy as np

from tallystick import judge
from tallystick.results import Unknown


def panel(labelled, seed=0, n=200):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    votes = {
        name: np.where(rng.random(n) < p, truth, ~truth).astype(int).tolist()
        for name, p in (("x", 0.9), ("y", 0.8), ("z", 0.7))
    }
    known = rng.permutation(n) < labelled
    return {**votes, "gold": [int(t) if k else None for t, k in zip(truth, known, strict=True)]}


def test_without_labels_rows_have_a_range_and_no_interval():
    row = judge(panel(0) | {"gold": [None] * 200}, judges=("x", "y", "z")).rows()[0]
    assert "range_low" in row
    assert isinstance(row["interval"], Unknown)


def test_with_labels_rows_have_an_interval_that_holds_the_estimate():
    for row in judge(panel(80), truth="gold").rows():
        assert row["accuracy"] in row["interval"]


def test_what_was_learnt_is_attached_to_items_by_their_votes():
    result = judge(panel(80), truth="gold")
    assert {"consensus", "probability"} <= set(result.patterns().columns)
    assert {figure.kind for figure in result.figures()} <= {"forest", "curve", "bands", "matrix"}
