import numpy as np
import pytest

from tallystick import bound
from tallystick.table import Tally
from tallystick.verbs.bound.label_model_checks import Fitting, prepared
from tallystick.verbs.bound.metric_bounds import bounds_under
from tallystick.verbs.bound.question import spam
from tallystick.verbs.bound.robust import robust_bounds

WEAK = ["links", "words", "sender", "caps"]
QUIET = Fitting(refits=0)


def table(n=1200, seed=2, **more):
    truth = "truth" if more.get("labelled") else None
    tally = Tally.of(spam(n, rng=seed, **more))
    return bound.weak_table(tally, weak=WEAK, prediction="classifier", truth=truth)


def test_the_range_of_accuracy_is_the_union_widened_by_the_distance():
    held = table()
    found = robust_bounds(held, bound.BoundTarget(), QUIET, rng=1)
    d = found.family.distance
    lows, highs = [], []
    for model in found.family.models:
        [one] = bounds_under(prepared(model, held), bound.BoundTarget(), np.random.default_rng(5))
        lows.append(one.low)
        highs.append(one.high)
    [robust] = found.bounds
    assert robust.low == pytest.approx(max(0, min(lows) - d), abs=0.01)  # other random orders
    assert robust.high == pytest.approx(min(1, max(highs) + d), abs=0.01)


def test_ratios_and_risk_have_a_range_too_and_it_holds_the_truth():
    rows = spam(1200, rng=2, labelled=1200)
    y, h = np.array(rows["truth"]), np.asarray(rows["classifier"])
    target = bound.BoundTarget(metrics=("precision", "recall", "f1", "risk"), cost=1 - np.eye(2))
    found = robust_bounds(table(), target, QUIET, rng=1).bounds
    hit = float(((h == 1) & (y == 1)).sum())
    truth = [hit / (h == 1).sum(), hit / y.sum(), 2 * hit / ((h == 1).sum() + y.sum())]
    for one, value in zip(found, [*truth, float((h != y).mean())], strict=True):
        assert one.method == "robust"
        assert one.low <= value <= one.high


def test_labels_do_not_move_the_range():
    blind = robust_bounds(table(), bound.BoundTarget(), QUIET, rng=1).bounds[0]
    seen = robust_bounds(table(labelled=100), bound.BoundTarget(), QUIET, rng=1).bounds[0]
    assert (blind.low, blind.high) == (seen.low, seen.high)


def test_a_copied_vote_no_longer_decides_a_wrong_number():
    """40 % copied votes: Dawid-Skene alone is confident and wrong, the robust range is not."""
    draw = np.random.default_rng(11)
    y = draw.integers(0, 2, 3000)
    first = np.where(draw.random(3000) < 0.7, y, 1 - y)
    rows = {"w0": first}
    for j in range(1, 5):
        own = np.where(draw.random(3000) < 0.7, y, 1 - y)
        rows[f"w{j}"] = np.where(draw.random(3000) < 0.4, first, own)
    rows["h"] = np.where(draw.random(3000) < 0.9, y, 1 - y)
    truth = float((rows["h"] == y).mean())
    claim = bound.BoundTarget(at_least=round(truth - 0.02, 3))
    models = ("dawid-skene",)
    result = bound.bound(Tally.of(rows), prediction="h", label_models=models, target=claim)
    robust, single = result.bounds
    assert not single.low <= truth <= single.high
    assert robust.low <= truth <= robust.high
    assert result.decision == "undecided"
    # All copy one: a latent class that is the first weak label explains the votes perfectly, and
    # no test of the votes can see it.
    assert result.label_models[0].votes_contradict is False


def test_a_pair_that_copies_is_seen_by_the_votes_and_the_verdict_says_so():
    draw = np.random.default_rng(11)
    y = draw.integers(0, 2, 3000)
    rows = {f"w{j}": np.where(draw.random(3000) < 0.7, y, 1 - y) for j in range(5)}
    rows["w1"] = np.where(draw.random(3000) < 0.4, rows["w0"], rows["w1"])
    rows["h"] = np.where(draw.random(3000) < 0.9, y, 1 - y)
    result = bound.bound(Tally.of(rows), prediction="h", label_models=("dawid-skene",))
    assert result.label_models[0].votes_contradict is True
    assert "the votes contradict that" in result.verdict
    assert any("the votes contradict the label model" in text for text in result.warnings)
    assert result.rows()[1]["contradicted_by"] == "votes"


def test_the_test_has_a_stream_of_its_own():
    """Null draws that shared their uniforms with the data would be worthless."""
    held = table()
    for_range = [
        robust_bounds(held, bound.BoundTarget(), fitting, rng=1) for fitting in (QUIET, Fitting())
    ]
    assert for_range[0].bounds[0].low == for_range[1].bounds[0].low
    assert for_range[0].test is None
    assert for_range[1].test is not None
