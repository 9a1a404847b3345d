"""The owner's questions, in the owner's order, on logs whose answers are known; and the items."""

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.results import Unknown
from tallystick.stats.two_accuracies import paired_test
from tallystick.table import read
from tallystick.verbs.dynamic import evaluate
from tallystick.verbs.dynamic.analyse import analyse, paired_change
from tallystick.verbs.dynamic.columns import columns_of
from tallystick.verbs.dynamic.log import RoundLog, log_of
from tallystick.verbs.dynamic.reading import DOOR, item_rows


def path(errors, **fields):
    errors = np.asarray(errors, dtype=bool)
    rounds, items = errors.shape
    plain = {
        "kind": "path", "items": tuple(map(str, range(items))), "rounds": np.zeros(items, dtype=int),
        "round_names": tuple(range(1, rounds + 1)), "errors": errors, "held_out": True,
        "models": tuple(f"m-r{k + 1}" for k in range(rounds)), "built_as": ("m",) * rounds,
        "answered": np.ones_like(errors),
    }  # fmt: skip
    return RoundLog(**{**plain, **fields})


def campaign(seed=0, items=500, rounds=3):
    rng = np.random.default_rng(seed)
    hard = rng.standard_normal(items)
    return np.stack([0.8 * hard + 0.6 * rng.standard_normal(items) > 0.8 for _ in range(rounds)])


def test_the_answer_comes_in_the_owners_order_and_is_json_and_a_picture():
    found = analyse(path(campaign()))
    starts = (
        "The latest model",
        "A vote of 3",
        "Certain",
        "Forecast for two more rounds like these",
    )
    places = [found.verdict.index(word) for word in starts]
    assert places == sorted(places)
    assert found.verdict.count("annot tell") == 1
    assert found.verdict.count("more than half") == 1
    body = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {"round", "model", "items", "accuracy", "risk", "change"} <= set(body["rounds"][2])
    assert {"decision", "gain", "certain", "pays", "reason"} <= set(body["advice"])
    assert "log" not in body
    assert found.figures()[0].columns["right"] == [each.accuracy for each in found.rounds]
    assert set(found.units()) >= {"right", "against_round_before"}
    assert found.rows()[0]["against_round_before"] is None
    assert found.rows()[2]["vote_so_far_wrong"] == found.vote.risk


@settings(max_examples=60)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(81, 400))
@example(15, 6, 100).via("the interval alone would settle it")
@example(4, 0, 400).via("the interval alone would settle it")
def test_a_change_is_settled_where_its_own_test_says_so_and_turns_with_its_ends(better, worse, n):
    before, after = np.zeros(n), np.zeros(n)
    before[:better], after[n - worse :] = 1, 1
    change, back = paired_change(before, after, "a"), paired_change(after, before, "a")
    assert change.estimate == pytest.approx((better - worse) / n) == -back.estimate
    assert change.interval.low == pytest.approx(-back.interval.high)
    if float(paired_test(better, worse, n)) > 0.05:
        assert change.settled is None
        assert 0 in change.interval
    if change.settled:
        assert (change.settled == "better") == (better > worse)


def test_ties_of_a_vote_have_an_interval_and_one_item_says_nothing():
    ties = paired_change(np.tile([1.0, 0.0], 50), np.full(100, 0.5), "m")
    assert ties.estimate == 0
    assert -0.2 < ties.interval.low < 0 < ties.interval.high < 0.2
    assert tuple(paired_change(np.array([1.0]), np.array([0.5]), "m").interval) == (-1, 1)


def test_what_is_certain_holds_for_every_pair_of_new_models():
    errors = campaign(items=8)
    low, high = analyse(path(errors)).advice.certain
    now = (2 * errors.sum(axis=0) > 3).mean()
    for bits in product((0, 1), repeat=16):
        more = np.vstack([errors, np.reshape(bits, (2, 8)).astype(bool)])
        assert low - 1e-12 <= now - (2 * more.sum(axis=0) > 5).mean() <= high + 1e-12


def test_a_forecast_needs_a_declared_held_out_set_and_400_items_of_it():
    hidden = analyse(path(campaign(), held_out=False))
    assert isinstance(hidden.advice.gain.interval, Unknown)
    assert hidden.advice.decision == "cannot tell"
    assert "--held-out COLUMN" in hidden.opening.next
    shown = analyse(path(campaign()))
    assert shown.advice.gain.interval.level == 0.9
    small = analyse(path(campaign(items=100)))
    assert (small.advice.decision, "at least 400" in small.opening.next) == ("cannot tell", True)


def test_what_is_needed_would_settle_the_change_that_was_seen():
    errors = campaign(seed=3)
    errors[2] = errors[0]
    errors[2, np.flatnonzero(errors[0])[:6]] = False
    errors[2, np.flatnonzero(~errors[0])[:2]] = True
    found = analyse(path(errors))
    assert found.change.settled is None
    half = (found.change.interval.high - found.change.interval.low) / 2
    times = (found.needed.count + 500) / 500
    assert half / times**0.5 == pytest.approx(abs(found.change.estimate), rel=0.02)


def test_a_sparse_round_takes_the_models_and_items_with_the_most_answers_together():
    answered = np.ones((3, 6), dtype=bool)
    answered[0, :4] = False  # two models on six items are more answers than three on two
    found = analyse(path(np.zeros((3, 6)), kind="panel", round_names=(1,), answered=answered))
    assert found.vote.models == ("m-r2", "m-r3")
    assert any("The vote of round 1 is without m-r1" in text for text in found.warnings)
    nobody = path(np.zeros((2, 4)), kind="panel", round_names=(1, 2), answered=np.array([[1, 1, 0, 0]] * 2, bool), rounds=np.array([0, 0, 1, 1]))  # fmt: skip
    assert isinstance(analyse(nobody).rounds[1].accuracy, Unknown)


# The items: what --items-out writes.


def rows(table, **options):
    data = read(table, DOOR, **options)
    return item_rows(log_of(data, columns_of(data))[0]).columns


def test_items_on_which_all_models_err_come_first_and_the_vote_says_what_most_answer():
    table = {
        "round": [1, 1, 2, 2],
        "gold": ["x"] * 4,
        "m": list("xyxy"),
        "n": list("xyyx"),
        "o": list("xzxx"),
    }
    found = rows(table, truth="gold", models=["m", "n", "o"])
    assert (found["wrong"], found["vote_error"]) == ([0, 3, 1, 1], [0, 1, 0, 0])
    assert found["vote"] == ["x", "y", "x", "x"]
    assert found["check_order"] == [4, 1, 2, 3]
    assert found["truth"] == ["x"] * 4
    path_rows = rows({"item": [1, 2] * 2, "round": [1, 1, 2, 2], "correct": [1, 0, 1, 1]})
    assert (path_rows["round"], path_rows["vote"]) == ([None, None], ["right", "right | wrong"])


def test_the_errors_of_the_vote_average_to_the_risk_of_a_round_and_long_logs_say_the_same():
    rng = np.random.default_rng(0)
    right = rng.random((4, 80)) < 0.7
    wide = {"item": [f"i{k}" for k in range(80)], "round": [1 + k // 40 for k in range(80)]}
    wide |= {name: right[m].astype(int).tolist() for m, name in enumerate("abcd")}
    long = {"item": np.repeat(wide["item"], 4), "round": np.repeat(wide["round"], 4)}
    long |= {"model": list("abcd") * 80, "correct": right.T.astype(int).ravel()}
    found = rows(wide, models=list("abcd"))
    assert found == rows(long)
    for each in evaluate(wide, models=list("abcd")).rounds:
        where = np.array(found["round"]) == each.round
        assert np.mean(np.array(found["vote_error"])[where]) == pytest.approx(each.risk)
