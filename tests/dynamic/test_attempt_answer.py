"""Logs of attempts: what is read, what is counted, and what nobody may conclude."""

import json
from datetime import datetime, timedelta

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.table import read
from tallystick.verbs.dynamic import AttemptResult, evaluate
from tallystick.verbs.dynamic.attempt_result import analyse_attempts, attempts_of
from tallystick.verbs.dynamic.attempts import (
    Attempts,
    change_between,
    clustered_contrast,
    clustered_rate,
    rate_of,
)
from tallystick.verbs.dynamic.columns import columns_of
from tallystick.verbs.dynamic.reading import DOOR
from tests.dynamic_tables import attempts

PLAIN = {"annotator": list("aabb"), "round": [1, 1, 2, 2], "fooled": ["yes", "no", "yes", "no"]}


def log(columns, **options):
    data = read(columns, DOOR, **options)
    return attempts_of(data, columns_of(data))


@pytest.mark.parametrize(
    ("column", "cells", "fooled"),
    [
        ("fooled", [True, False, True, False], [1, 0, 1, 0]),
        ("jailbroken", ["jailbroken", "refused", "success", "failed"], [1, 0, 1, 0]),
        ("correct", ["right", "wrong", "correct", "refused"], [0, 1, 0, 0]),
        ("success", ["1", "0", "1.0", "0.0"], [1, 0, 1, 0]),
    ],
)
def test_words_say_whether_the_model_was_fooled(column, cells, fooled):
    columns = {"annotator": list("aabb"), "round": [1, 1, 2, 2], column: cells}
    assert log(columns)[0].fooled.tolist() == [bool(one) for one in fooled]


def test_the_answer_beside_the_right_one_says_it_too_whatever_the_case():
    columns = {"annotator": list("aab"), "gold": ["yes", "no", None], "answer": ["Yes", "yes", "x"]}
    found, notes = log(columns)
    assert found.fooled.tolist() == [False, True]
    assert "1 of 3 attempts have no outcome and are left out" in notes


def test_a_cell_that_is_neither_yes_nor_no_is_asked_about_and_a_blank_refused_by_its_row():
    with pytest.raises(InputError, match=r"row 2.*'fooled' holds '0.73', which says neither"):
        log({**PLAIN, "fooled": ["1", "0.73", "0", "0"]})
    with pytest.raises(InputError, match=r"row 4.*'round' is blank"):
        log({**PLAIN, "round": [1, 1, 2, None]}, annotator="annotator")
    with pytest.raises(InputError, match=r"row 3.*'annotator' is blank"):
        log({**PLAIN, "annotator": ["a", "a", None, "b"]}, annotator="annotator")


def test_validity_is_read_and_what_is_pending_is_open():
    valid = log({**PLAIN, "validated": ["valid", "", "pending", "no"]})[0].verdict
    assert valid.tolist() == [1, 0, 0, -1]


def test_votes_come_as_counts_as_words_or_as_labels():
    counts = log({**PLAIN, "votes_yes": [2, None, 1, 0], "votes_no": [1, None, 0, 0]})[0]
    assert counts.verdict.tolist() == [1, 0, 1, 0]
    words = log({**PLAIN, "validators": ["correct;incorrect", "", "flagged|valid", ""]})[0]
    assert words.verdict.tolist() == [0, 0, 1, 0]
    labels = {"annotator": list("ab"), "gold": ["e", "n"], "prediction": ["n", "n"]}
    found = log({**labels, "validator_labels": ["e,e,n", ""]})[0]
    assert found.verdict.tolist() == [1, 0]
    with pytest.raises(InputError, match="'maybe'"):
        log({**PLAIN, "validators": ["maybe", "", "", ""]})


def test_clock_times_are_seconds_and_a_gap_in_the_costs_is_said():
    found, _ = log({**PLAIN, "time_elapsed": ["0:01:30", "0:00:05", "1:00:00", "0:00:01"]})
    assert found.cost.tolist() == [90, 5, 3600, 1]
    found, notes = log({**PLAIN, "cost": [1, 2, None, 3]})
    assert found.cost is None
    assert "1 attempts have no cost: no cost per success is given" in notes


def _rising(dates):
    n = len(dates)
    return {
        "worker": [f"w{k % 10}" for k in range(n)],
        "fooled": [int((k * 37) % n < k) for k in range(n)],
        "date": dates,
        "round": ["warmup" if k < n // 2 else "main" for k in range(n)],
    }


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%y", "%d %b %Y"])
def test_attempts_are_in_the_order_of_their_dates_however_those_are_written(form):
    start = datetime(2023, 11, 20)
    days = [start + timedelta(days=k // 5) for k in range(400)]
    found = evaluate(_rising([day.strftime(form) for day in days]))
    assert [each.round for each in found.rounds] == ["warmup", "main"]
    assert found.change.interval.low > 0.2


def test_dates_that_cannot_be_read_are_no_order_and_neither_are_rows():
    found = evaluate(_rising(["03/04/2024", "04/03/2024"] * 100))
    assert isinstance(found.change, Unknown)
    assert any("gives no order in time" in note for note in found.notes)


def test_rounds_with_names_follow_the_clock_and_without_one_no_change_is_claimed():
    names, months = ["extra", "pilot", "main"], {"pilot": "01", "main": "02", "extra": "03"}
    rows = [names[k % 3] for k in range(300)]
    table = {
        "worker": [f"w{k % 12}" for k in range(300)],
        "round": rows,
        "fooled": [int(name == "pilot") for name in rows],
        "created_at": [f"2024-{months[name]}-{1 + k % 28:02d}" for k, name in enumerate(rows)],
    }
    found = evaluate(table)
    assert [each.round for each in found.rounds] == ["pilot", "main", "extra"]
    assert found.change.estimate == -1.0
    del table["created_at"]
    unordered = evaluate(table)
    assert isinstance(unordered.change, Unknown)
    assert "Whether the rate changed" in unordered.verdict
    assert "is not known" in unordered.verdict


# -- numbers


X = np.array([[3, 6], [1, 0], [8, 9], [0, 2], [5, 4], [2, 0]])
TRIES = np.array([[20, 25], [10, 0], [30, 20], [5, 10], [25, 15], [40, 0]])


def unrolled(x, n, **columns):
    """One row per attempt: the counts of the page's vectors as a log."""
    who, when, won = [], [], []
    for (a, k), tried in np.ndenumerate(n):
        who += [f"annotator {a}"] * int(tried)
        when += [k] * int(tried)
        won += [True] * int(x[a, k]) + [False] * int(tried - x[a, k])
    return Attempts(
        annotator=np.array(who),
        round=np.array(when),
        rounds=(1, 2),
        fooled=np.array(won),
        **columns,
    )


def test_the_rates_and_the_change_of_a_log_are_those_of_its_counts():
    size = int(TRIES.sum())
    seen = unrolled(X, TRIES, verdict=np.ones(size, int), cost=np.full(size, 0.5))
    found = analyse_attempts(seen)
    assert found.rounds[0].success == clustered_rate(X[:, 0], TRIES[:, 0])
    assert found.rounds[1].success == clustered_rate(X[:, 1], TRIES[:, 1])
    assert found.rounds[0].cost == pytest.approx(0.5 * 130 / 19)
    assert found.rounds[0].cost_interval.low < found.rounds[0].cost
    assert found.change == clustered_contrast(X, TRIES, (-1, 1)) == change_between(seen, 0, 1)


def test_the_vectors_of_the_method_come_through_the_command():
    x, n = (3, 1, 8, 0, 5, 2), (20, 10, 30, 5, 25, 40)
    who = np.repeat(list("abcdef"), n)
    fooled = np.concatenate([np.arange(b) < a for a, b in zip(x, n, strict=True)])
    (only,) = evaluate({"annotator": who, "round": [1] * 130, "fooled": fooled.astype(int)}).rounds
    assert [round(end, 4) for end in only.success.interval] == [0.0393, 0.4176]
    assert only.success == clustered_rate(x, n)


def test_unchecked_fooling_makes_a_range_and_retracted_attempts_stay_in_the_denominator():
    seen = Attempts(
        annotator=np.array(["a", "a", "b", "b"]),
        round=np.zeros(4, int),
        rounds=(1,),
        fooled=np.array([True, True, True, False]),
        verdict=np.array([1, 0, 0, 0]),
    )
    (only,) = analyse_attempts(seen).rounds
    assert (only.unchecked, only.success.rate, only.highest) == (2, 0.25, 0.75)
    table = {**PLAIN, "retracted": [1, 0, 1, 0]}
    back = log(table)[0]
    assert rate_of(back, back.round == 0, back.success).rate == 0.0
    assert rate_of(back, back.round == 0, back.success).attempts == 2


def test_one_annotator_has_no_interval():
    one = Attempts(
        annotator=np.zeros(6), round=np.zeros(6, int), rounds=(1,), fooled=np.ones(6, bool)
    )
    alone = analyse_attempts(one)
    assert isinstance(alone.rounds[0].success.interval, Unknown)
    assert alone.decision == "unknowable"
    assert any("log all attempts" in text for text in alone.warnings)


def test_the_answer_is_json_a_table_and_a_picture_in_any_order_of_rows():
    table = attempts()
    found = evaluate(table)
    assert isinstance(found, AttemptResult)
    body = json.loads(json.dumps(found.to_dict()))
    assert (body["kind"], body["annotators"], len(body["rounds"])) == ("attempts", 12, 2)
    assert {"rate", "interval", "cost_per_success"} <= set(found.rows()[0])
    assert isinstance(found.rounds[0].cost_interval, Interval)
    (by_round,) = found.figures()
    assert by_round.columns["rate"] == [each.success.rate for each in found.rounds]
    assert "forg" not in json.dumps(body).lower()
    order = np.random.default_rng(3).permutation(360)
    mixed = evaluate({name: [cells[k] for k in order] for name, cells in table.items()})
    assert [each.success for each in found.rounds] == [each.success for each in mixed.rounds]
    assert found.change == mixed.change
