"""The owner's questions, on logs whose answers are known."""

import json
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from tallystick.results import Unknown
from tallystick.verbs.dynamic.analyse import analyse, paired_change
from tallystick.verbs.dynamic.log import RoundLog
from tallystick.verbs.dynamic.question import AnalyseQuestion


def path(errors, **fields):
    errors = np.asarray(errors, dtype=bool)
    rounds, items = errors.shape
    plain = {
        "kind": "path",
        "items": tuple(map(str, range(items))),
        "rounds": np.zeros(items, dtype=int),
        "round_names": tuple(range(1, rounds + 1)),
        "models": tuple(f"m-r{k + 1}" for k in range(rounds)),
        "errors": errors,
        "answered": np.ones_like(errors),
        "held_out": True,
        "built_as": ("m",) * rounds,
    }
    return RoundLog(**{**plain, **fields})


def campaign(seed=0, items=500, rounds=3):
    rng = np.random.default_rng(seed)
    hard = rng.standard_normal(items)
    return np.stack([0.8 * hard + 0.6 * rng.standard_normal(items) > 0.8 for _ in range(rounds)])


def test_the_answer_comes_in_the_owners_order():
    found = analyse(path(campaign()))
    text = found.verdict
    places = [
        text.index(word) for word in ("The latest model", "A vote of 3", "Certain", "Forecast")
    ]
    assert places == sorted(places)
    assert text.count("annot tell") <= 1


@pytest.mark.parametrize(("better", "worse"), list(product((0, 3, 12, 40), repeat=2)))
def test_a_change_is_settled_by_the_exact_test_where_its_interval_says_so(better, worse):
    before, after = np.zeros(400), np.zeros(400)
    before[:better], after[400 - worse :] = 1, 1
    change = paired_change(before, after, "round 1")
    assert change.estimate == pytest.approx((better - worse) / 400)
    if change.settled:
        assert (change.settled == "better") == (better > worse)
        assert binomtest(better, better + worse).pvalue < 0.1
    else:
        assert 0 in change.interval
        assert binomtest(better, better + worse).pvalue > 0.02 if better + worse else True


def test_what_is_certain_holds_for_every_pair_of_new_models():
    errors = campaign(items=8)
    low, high = analyse(path(errors)).advice.certain
    now = (2 * errors.sum(axis=0) > 3).mean()
    for bits in product((0, 1), repeat=16):
        more = np.vstack([errors, np.reshape(bits, (2, 8)).astype(bool)])
        gain = now - (2 * more.sum(axis=0) > 5).mean()
        assert low - 1e-12 <= gain <= high + 1e-12


def test_without_a_declared_held_out_set_there_is_no_forecast():
    hidden = analyse(path(campaign(), held_out=False))
    assert isinstance(hidden.advice.gain.interval, Unknown)
    assert hidden.advice.decision == "cannot tell"
    assert "--all-held-out" in hidden.opening.next
    shown = analyse(path(campaign(), held_out=False), AnalyseQuestion(all_held_out=True))
    assert shown.advice.gain.interval.level == 0.9


def test_small_sets_get_no_decision_of_two_more_rounds():
    small = analyse(path(campaign(items=100)))
    assert small.advice.decision == "cannot tell"
    assert "at least 400" in small.opening.next


def test_what_is_needed_would_settle_the_change_that_was_seen():
    errors = campaign(seed=3)
    errors[2, :8] = False
    found = analyse(path(errors))
    if found.change.settled is None and found.needed is not None:
        times = (found.needed.count + 500) / 500
        half = (found.change.interval.high - found.change.interval.low) / 2
        assert half / times**0.5 == pytest.approx(abs(found.change.estimate), rel=0.02)


def test_the_answer_is_json_and_a_picture():
    found = analyse(path(campaign()))
    body = json.loads(json.dumps(found.to_dict()))
    assert body["schema"] == 2
    assert {"round", "model", "items", "accuracy", "risk", "change"} <= set(body["rounds"][2])
    assert "log" not in body
    assert found.figures()[0].columns["right"] == [each.accuracy for each in found.rounds]
    assert set(found.units()) >= {"right", "against_round_before"}


def test_a_sparse_round_takes_the_models_and_items_with_the_most_answers_together():
    answered = np.ones((3, 6), dtype=bool)
    answered[0, :4] = False  # two models on six items are more answers than three on two
    panel = path(np.zeros((3, 6)), kind="panel", round_names=(1,), answered=answered)
    found = analyse(panel)
    assert found.vote.models == ("m-r2", "m-r3")
    assert any("The vote of round 1 is without m-r1" in text for text in found.warnings)
