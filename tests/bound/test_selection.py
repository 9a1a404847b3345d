import numpy as np
import pytest

from tallystick import bound
from tallystick.errors import InputError
from tallystick.table import Tally
from tallystick.verbs.bound.label_models import LabelModel
from tallystick.verbs.bound.question import spam

WEAK = ["links", "words", "sender", "caps"]


def candidates(n=2000, seed=4):
    """Return the votes of the demo with five classifiers, from the good one down to a coin."""
    data = spam(n, rng=seed)
    draw = np.random.default_rng(seed)
    best = np.asarray(data.pop("classifier"))
    flips = {"best": 0.0, "close": 0.05, "middling": 0.2, "poor": 0.35, "coin": 0.5}
    return data | {
        name: np.where(draw.random(n) < rate, 1 - best, best) for name, rate in flips.items()
    }, list(flips)


@pytest.fixture(scope="module")
def picked():
    data, names = candidates()
    return bound.select(
        Tally.of(data),
        predictions=names,
        weak=WEAK,
        target=bound.BoundTarget(metrics=("f1",), positive=1),
    )


def test_the_pairs_are_never_wider_and_decide_no_fewer_than_overlap(picked):
    assert len(picked.pairs) == 10
    for pair in picked.pairs:
        assert pair.interval.width <= pair.by_overlap[1] - pair.by_overlap[0]
        if pair.by_overlap[0] > 0 or pair.by_overlap[1] < 0:
            assert pair.better is not None
    assert sum(pair.better is not None for pair in picked.pairs) >= 1


def test_overlap_is_that_of_accuracy_whatever_metric_ranks(picked):
    data, names = candidates()
    plain = bound.select(Tally.of(data), predictions=names, weak=WEAK)
    for by_f1, by_accuracy in zip(picked.pairs, plain.pairs, strict=True):
        assert by_f1.by_overlap == pytest.approx(by_accuracy.by_overlap)
        a, b = plain.models[by_accuracy.a], plain.models[by_accuracy.b]
        assert by_accuracy.by_overlap == pytest.approx((a.low - b.high, a.high - b.low))
    assert picked.models["best"].metric == "f1"
    assert plain.models["best"].metric == "accuracy"


def test_the_rules_choose_the_good_classifiers_and_the_intervals_say_what_they_rest_on(picked):
    assert set(picked.chosen.values()) <= {"best", "close"}
    assert {pair.interval.guarantee for pair in picked.pairs} == {"under"}
    assert all("of the difference" in pair.interval.method for pair in picked.pairs)


def test_the_difference_of_a_classifier_and_its_copy_is_exactly_nothing():
    data, _ = candidates(500)
    twice = {name: data[name] for name in WEAK} | {"a": data["best"], "b": data["best"]}
    [pair] = bound.select(Tally.of(twice), predictions=["a", "b"], weak=WEAK).pairs
    assert (pair.lower, pair.upper) == (0, 0)
    assert pair.better is None


def test_constant_classifiers_are_told_apart_as_sharply_by_overlap_as_by_their_difference():
    """Nothing is learnt of a constant, so that only the shared order of the rows makes the two
    equal."""
    data, _ = candidates(500)
    constants = {name: data[name] for name in WEAK} | {
        "zero": np.zeros(500, int),
        "one": np.ones(500, int),
    }
    [pair] = bound.select(Tally.of(constants), predictions=["zero", "one"], weak=WEAK).pairs
    assert not pair.clipped
    assert (pair.interval.low, pair.interval.high) == pytest.approx(pair.by_overlap, abs=1e-12)


def test_an_accuracy_that_may_be_perfect_ends_at_one_and_that_is_said():
    draw = np.random.default_rng(3)
    law = np.array([[0.866, 0.134], [0.6, 0.4]])
    votes = (np.arange(400) < 6).astype(int)
    model = LabelModel(
        name="known",
        classes=(0, 1),
        weak=("w",),
        predict=lambda asked: law[asked[:, 0]],
        rests_on="it is known",
    )
    table = {
        "w": votes,
        "constant": np.zeros(400, int),
        "likely": (draw.random(400) < law[votes, 1]).astype(int),
    }
    result = bound.select(
        Tally.of(table),
        predictions=["constant", "likely"],
        weak=["w"],
        classes=(0, 1),
        label_model=model,
    )
    assert result.models["likely"].high == 1
    assert result.models["constant"].high < 1
    assert result.pairs[0].clipped


def test_a_class_that_neither_votes_nor_predictions_show_can_be_named():
    data, names = candidates(500)
    table = bound.weak_table(
        Tally.of({name: data[name] for name in WEAK}), weak=WEAK, classes=[0, 1, 2]
    )
    model = bound.label_models.majority(table)
    result = bound.select(
        Tally.of(data), predictions=names[:2], weak=WEAK, classes=[0, 1, 2], label_model=model
    )
    assert result.pairs[0].interval.low <= 0 <= result.pairs[0].interval.high


def test_a_ranking_by_risk_is_refused():
    data, names = candidates(500)
    question = bound.BoundTarget(metrics=("risk",), cost=[[0, 1], [1, 0]])
    with pytest.raises(InputError, match="not by risk"):
        bound.select(Tally.of(data), predictions=names, weak=WEAK, target=question)
