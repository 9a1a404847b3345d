"""Logs of attempts: the vectors of the method, its laws, and what is read of validators and costs."""

import json
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.results import Interval, Unknown
from tallystick.stats.intervals import wilson
from tallystick.table import read
from tallystick.verbs.dynamic import AttemptResult, evaluate
from tallystick.verbs.dynamic.attempt_result import analyse_attempts, attempts_of
from tallystick.verbs.dynamic.attempts import (
    Attempts,
    change_between,
    clustered_contrast,
    clustered_cost,
    clustered_rate,
)
from tallystick.verbs.dynamic.columns import columns_of
from tallystick.verbs.dynamic.reading import DOOR

X = np.array([[3, 6], [1, 0], [8, 9], [0, 2], [5, 4], [2, 0]])
N = np.array([[20, 25], [10, 0], [30, 20], [5, 10], [25, 15], [40, 0]])


def rounded(values, digits=4):
    return [round(value, digits) for value in values]


@pytest.mark.parametrize(
    ("x", "n", "rate", "df", "effective", "ends"),
    [
        (X[:, 0], N[:, 0], 0.1462, 2.739, 37.28, [0.0393, 0.4176]),
        ([0, 2, 1, 9], [12, 8, 15, 10], 0.2667, 2.538, 3.749, [0.0188, 0.8736]),
        ([0, 0, 0, 0], [12, 8, 15, 10], 0.0, None, 3.799, [0.0, 0.5028]),
        ([12, 8, 15, 10], [12, 8, 15, 10], 1.0, None, 3.799, [1 - 0.5028, 1.0]),
    ],
)
def test_rates_reach_the_vectors_of_the_method(x, n, rate, df, effective, ends):
    found = clustered_rate(x, n)
    assert rounded([found.rate]) == [rate]
    assert df is None or round(found.df, 3) == df
    assert found.effective == pytest.approx(effective, abs=5e-3)
    assert rounded(found.interval) == pytest.approx(ends)
    assert (found.annotators, found.attempts, found.successes) == (len(n), sum(n), sum(x))


def test_changes_and_costs_reach_the_vectors_of_the_corrections():
    found = clustered_contrast(X, N, (-1, 1))
    assert rounded([found.estimate, found.error]) == [0.1538, 0.0535]
    assert rounded(found.df, 3) == [3.672, 2.666]
    assert rounded(found.interval) == [-0.0292, 0.3369]
    back = clustered_contrast(X, N, (1, -1))
    assert (back.estimate, back.interval.low) == (
        -found.estimate,
        pytest.approx(-found.interval.high),
    )
    assert tuple(clustered_contrast([[0, 1], [0, 0]], [[2, 1], [1, 1]], (-1, 1)).interval) == (
        -1,
        1,
    )
    cost, interval = clustered_cost([10, 6, 12, 4, 11, 22], X[:, 0], N[:, 0])
    assert (round(cost, 3), rounded(interval, 2)) == (3.421, [0.69, 16.99])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), min_size=2, max_size=30))
def test_the_degrees_of_freedom_are_those_of_the_whole_matrix(pairs):
    """(A2) as it is printed; and annotators without attempts change nothing."""
    n = np.array([size for _, size in pairs], dtype=float)
    x = np.minimum(n, [won for won, _ in pairs])
    h, q = n / n.sum(), (n**2).sum()
    c = np.diag(n**2) - np.outer(n**2, h) - np.outer(h, n**2) + np.outer(h, h) * q
    m = c / np.sqrt(np.outer(1 - h, 1 - h))
    found = clustered_rate(x, n)
    assert found.df == pytest.approx(max(1.0, np.trace(m) ** 2 / (m**2).sum()), rel=1e-9)
    assert found.effective <= n.sum() * (1 + 1e-12)
    assert found.rate in found.interval
    assert clustered_rate([*x, 0], [*n, 0]) == found


def test_where_annotators_are_alike_or_alone():
    alike = clustered_rate([2, 4, 6], [10, 20, 30])
    assert (alike.effective, alike.interval.low > 0) == (60, True)
    assert (clustered_rate([3], [20]).rate, type(clustered_rate([3], [20]).interval)) == (
        0.15,
        Unknown,
    )
    one_round = clustered_contrast([[1, 2], [3, 0]], [[5, 5], [5, 0]], (-1, 1))
    assert one_round.estimate == pytest.approx(0.4 - 0.4)
    assert isinstance(one_round.interval, Unknown)
    assert [type(one) for one in clustered_cost([1, 2], [0, 0], [5, 5])] == [Unknown, Unknown]
    assert [type(one) for one in clustered_cost([4], [2], [5])] == [float, Unknown]
    n = np.full(400, 20)
    many = clustered_rate(np.random.default_rng(1).binomial(n, 0.2), n)
    assert many.interval.width == pytest.approx(
        wilson(many.successes, many.attempts).width, rel=0.12
    )


@pytest.mark.parametrize(
    ("rate", "annotators", "spread"), [(0.05, 8, 5), (0.3, 6, 5), (0.3, 20, 8)]
)
def test_the_interval_holds_the_rate_when_skill_varies(rate, annotators, spread):
    """The page measured .932 to 1; 400 draws at .932 give less than .885 once in 1000."""
    rng, held = np.random.default_rng(annotators), 0
    for _ in range(400):
        n = np.maximum(1, rng.lognormal(2.5, 0.8, annotators)).astype(int)
        skill = rng.beta(rate * spread, (1 - rate) * spread, annotators)
        held += rate in clustered_rate(rng.binomial(n, skill), n).interval
    assert held / 400 >= 0.885


@pytest.mark.parametrize("shared", [0.0, 0.5, 1.0])
def test_without_a_change_the_interval_holds_zero(shared):
    """The page measured .940 to .984; 400 draws at .94 give less than .90 once in 1000."""
    rng, held, people = np.random.default_rng(int(10 * shared)), 0, 16
    both = int(shared * people)
    for _ in range(400):
        size = 2 * people - both
        skill = rng.beta(0.25 * 6, 0.75 * 6, size)
        n = np.maximum(1, rng.lognormal(2.3, 0.7, (size, 2))).astype(int)
        n[people:, 0] = 0
        n[: people - both, 1] = 0
        held += 0.0 in clustered_contrast(rng.binomial(n, skill[:, None]), n, (-1, 1)).interval
    assert held / 400 >= 0.90


# What a table says.


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
        ("outcome", ["model fooled", "model not fooled", "jailbroken", "pending"], [1, 0, 1]),
    ],
)
def test_words_say_whether_the_model_was_fooled(column, cells, fooled):
    found, _ = log({"annotator": list("aabb"), "round": [1, 1, 2, 2], column: cells})
    assert found.fooled.tolist() == [bool(one) for one in fooled]


def test_the_answer_beside_the_right_one_says_it_too_whatever_the_case():
    found, _ = log(
        {"annotator": list("aab"), "gold": ["yes", "no", None], "answer": ["Yes", "yes", "x"]}
    )
    assert found.fooled.tolist() == [False, True]


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({"validated": ["valid", "", "pending", "no"]}, [1, 0, 0, -1]),
        ({"votes_yes": [2, None, 1, 0], "votes_no": [1, None, 1, 2]}, [1, 0, 0, -1]),
        ({"validators": ["correct;incorrect", "", "flagged|valid", "i"]}, [0, 0, 1, -1]),
        ({"gold": list("enen"), "prediction": list("nnee"), "validator_labels": ["e,e,n", "", "n", "e,flagged"]}, [1, 0, -1, -1]),
    ],
    ids=["marks", "counts", "words", "labels"],
)  # fmt: skip
def test_validators_are_read_and_what_is_pending_is_open(more, verdict):
    plain = {name: PLAIN[name] for name in PLAIN if name != "fooled" or "gold" not in more}
    assert log({**plain, **more})[0].verdict.tolist() == verdict


def test_clock_times_are_seconds_and_a_gap_in_the_costs_is_said():
    times = ["0:01:30", "0:00:05", "1 day, 0:00:00", "2 days, 0:00:01.5"]
    assert log({**PLAIN, "time_elapsed": times})[0].cost.tolist() == [90, 5, 86400, 172801.5]
    found, notes = log({**PLAIN, "cost": [1, 2, None, 3]})
    assert found.cost is None
    assert "1 attempts have no cost: no cost per success is given" in notes


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y", "%d.%m.%y", "%d %b %Y"])
def test_rounds_with_names_follow_the_clock_however_it_is_written(form):
    start = datetime(2023, 11, 20)
    days = [start + timedelta(days=k // 5) for k in range(400)]
    table = {
        "worker": [f"w{k % 10}" for k in range(400)],
        "fooled": [int((k * 37) % 400 < k) for k in range(400)],
        "date": [day.strftime(form) for day in days],
        "round": ["warmup" if k < 200 else "main" for k in range(400)],
    }
    back = {name: cells[::-1] for name, cells in table.items()}
    for found in map(evaluate, (table, back)):
        assert [each.round for each in found.rounds] == ["warmup", "main"]
        assert found.change.interval.low > 0.2


def test_unchecked_fooling_makes_a_range_and_retracted_attempts_stay_in_the_denominator():
    more = {"votes_yes": [2, 0, 0, 0], "votes_no": [0] * 4, "round": [1] * 4}
    (only,) = evaluate({**PLAIN, "fooled": [1, 1, 1, 0], **more}).rounds
    assert (only.unchecked, only.success.rate, only.highest) == (2, 0.25, 0.75)
    back = evaluate({**PLAIN, "retracted": [1, 0, 0, 0]}).rounds
    assert [(each.success.rate, each.success.attempts) for each in back] == [(0.0, 2), (0.5, 2)]


def test_the_rates_and_the_change_of_a_log_are_those_of_its_counts():
    cells = [(a, k, j < X[a, k]) for (a, k), many in np.ndenumerate(N) for j in range(many)]
    who, when, won = map(np.array, zip(*cells, strict=True))
    seen = Attempts(annotator=who, round=when, rounds=(1, 2), fooled=won, verdict=np.ones(len(who)), cost=np.full(len(who), 0.5))  # fmt: skip
    found = analyse_attempts(seen)
    assert [each.success for each in found.rounds] == [
        clustered_rate(X[:, k], N[:, k]) for k in (0, 1)
    ]
    assert found.rounds[0].cost == pytest.approx(0.5 * 130 / 19)
    assert found.change == clustered_contrast(X, N, (-1, 1)) == change_between(seen, 0, 1)
    assert isinstance(found, AttemptResult)
    body = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (body["kind"], body["annotators"], len(body["rounds"])) == ("attempts", 6, 2)
    assert {"rate", "interval", "cost_per_success"} <= set(found.rows()[0])
    assert isinstance(found.rounds[0].cost_interval, Interval)
    (by_round,) = found.figures()
    assert by_round.columns["rate"] == [each.success.rate for each in found.rounds]


def test_one_annotator_or_nobody_named_has_no_interval():
    alone = evaluate({"annotator": ["a"] * 6, "fooled": [1] * 6})
    nobody = evaluate({"attempt_id": range(6), "outcome": ["jailbroken", *["refused"] * 5]})
    for found in (alone, nobody):
        assert isinstance(found.rounds[0].success.interval, Unknown)
        assert found.decision == "unknowable"
    assert (alone.annotators, nobody.annotators) == (1, None)
    assert any("log all attempts" in text for text in alone.warnings)
    assert any("There are no intervals" in text for text in nobody.warnings)
