import numpy as np
import pytest

from tallystick.results import Interval, Unknown
from tallystick.verbs.dynamic import evaluate
from tallystick.verbs.dynamic.attempt_result import analyse_attempts
from tallystick.verbs.dynamic.attempts import Attempts
from tallystick.verbs.dynamic.clusters import clustered_contrast, clustered_rate
from tests.dynamic_tables import attempts


def test_the_vectors_of_the_method_come_through_the_command():
    x, n = (3, 1, 8, 0, 5, 2), (20, 10, 30, 5, 25, 40)
    who = np.repeat(list("abcdef"), n)
    fooled = np.concatenate([np.arange(b) < a for a, b in zip(x, n, strict=True)])
    found = evaluate({"annotator": who, "round": [1] * 130, "fooled": fooled.astype(int)})
    (only,) = found.rounds
    assert [round(end, 4) for end in only.success.interval] == [0.0393, 0.4176]
    assert only.success == clustered_rate(x, n)


def test_rounds_change_trend_models_and_costs_are_those_of_their_methods():
    found = evaluate(attempts(rounds=3))
    assert [each.round for each in found.rounds] == [1, 2, 3]
    table = attempts(rounds=3)
    won = np.zeros((12, 3))
    for who, r, f, v in zip(
        table["annotator"], table["round"], table["fooled"], table["validated"], strict=True
    ):
        won[int(who[1:]), r - 1] += f and v == "yes"
    tried = np.full((12, 3), 15)
    known = clustered_contrast(won[:, [0, 2]], tried[:, [0, 2]], (-1, 1))
    assert tuple(found.change.interval) == pytest.approx(tuple(known.interval))
    assert found.trend.estimate == pytest.approx(found.change.estimate / 2)
    assert [each.model for each in found.by_model] == ["m1", "m2", "m3"]
    assert isinstance(found.rounds[0].rates.cost_interval, Interval)
    assert found.cost_unit == "cost"
    assert len(found.by_annotator) == 36


def test_validators_who_err_are_corrected_for_and_two_votes_leave_a_set():
    rng = np.random.default_rng(0)
    who, fooled = np.repeat(np.arange(12), 40), rng.random(480) < 0.4
    valid = rng.random(480) < 0.8
    yes = np.where(fooled, rng.binomial(3, np.where(valid, 0.9, 0.15)), 0)
    log = {"annotator": who, "round": [1] * 480, "fooled": fooled.astype(int)}
    found = evaluate({**log, "votes_yes": yes, "votes_no": np.where(fooled, 3 - yes, 0)})
    (only,) = found.rounds
    assert 0.32 in only.corrected_interval
    assert "with their errors taken out" in found.summary()
    two = evaluate({**log, "votes_yes": np.minimum(yes, 2), "votes_no": 2 - np.minimum(yes, 2)})
    assert two.validators.possible is not None
    assert "can be valid" in two.summary()


def test_transfer_leaves_the_model_in_the_loop_out():
    table = attempts()
    table |= {"m1": [0] * 360, "other": [k % 2 for k in range(360)]}
    found = evaluate(table, models=["m1", "other"], fooled="fooled")
    pairs = {(each.round, each.model) for each in found.transfer}
    assert pairs == {(1, "other"), (2, "m1"), (2, "other")}
    assert "Transfer" in found.summary()
    unnamed = {name: cells for name, cells in table.items() if name != "model"}
    more = evaluate(unnamed, models=["m1", "other"], fooled="fooled")
    assert len(more.transfer) == 4


def test_one_attempt_per_annotator_has_no_halves_and_one_annotator_no_interval():
    log = Attempts(
        annotator=np.arange(6), round=np.ones(6, int), fooled=np.array([1, 0, 1, 0, 0, 0])
    )
    found = analyse_attempts(log)
    assert isinstance(found.rounds[0].saturation, Unknown)
    alone = analyse_attempts(
        Attempts(annotator=np.zeros(6), round=np.ones(6, int), fooled=np.ones(6))
    )
    assert isinstance(alone.rounds[0].success.interval, Unknown)
    assert alone.decision == "unknowable"


def test_the_answer_does_not_depend_on_the_order_of_rows():
    table = attempts()
    order = np.random.default_rng(3).permutation(360)
    mixed = {name: [cells[k] for k in order] for name, cells in table.items()}
    one, other = evaluate(table), evaluate(mixed)
    assert [each.success for each in one.rounds] == [each.success for each in other.rounds]
    assert one.change == other.change
