import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs.dynamic.attempts import (
    Attempts,
    by_annotator,
    by_round,
    change_between,
    saturation,
    trend,
)
from tallystick.verbs.dynamic.clusters import clustered_contrast, clustered_rate

X = np.array([[3, 6], [1, 0], [8, 9], [0, 2], [5, 4], [2, 0]])
N = np.array([[20, 25], [10, 0], [30, 20], [5, 10], [25, 15], [40, 0]])


def unrolled(x, n, **columns):
    """One row per attempt: the counts of the page's vectors as a log."""
    who, when, won = [], [], []
    for (a, k), tried in np.ndenumerate(n):
        who += [f"annotator {a}"] * int(tried)
        when += [k + 1] * int(tried)
        won += [True] * int(x[a, k]) + [False] * int(tried - x[a, k])
    return Attempts(annotator=np.array(who), round=np.array(when), fooled=np.array(won), **columns)


def test_the_rates_of_a_log_are_those_of_its_counts():
    log = unrolled(X, N, valid=np.ones(N.sum(), dtype=bool), cost=np.full(N.sum(), 0.5))
    first, second = by_round(log)
    assert first.validated == clustered_rate(X[:, 0], N[:, 0])
    assert second.validated == clustered_rate(X[:, 1], N[:, 1])
    assert first.fooling == first.validated == first.highest
    assert first.cost == pytest.approx(0.5 * 130 / 19)
    assert first.cost_interval.low < first.cost < first.cost_interval.high
    assert first.unchecked == 0


def test_the_change_of_a_log_is_that_of_its_counts():
    log = unrolled(X, N)
    assert change_between(log, 1, 2) == clustered_contrast(X, N, (-1, 1))
    assert trend(log).estimate == pytest.approx(change_between(log, 1, 2).estimate)


def test_the_trend_of_three_rounds_is_the_slope():
    x, n = np.array([[2, 4, 6], [3, 5, 7]]), np.full((2, 3), 10)
    assert trend(unrolled(x, n)).estimate == pytest.approx(0.2)


def test_unchecked_fooling_makes_a_range():
    votes = {"yes": np.array([2, 0, 0, 0]), "no": np.zeros(4, int)}
    log = Attempts(
        annotator=np.array(["a", "a", "b", "b"]),
        round=np.ones(4, int),
        fooled=np.array([1, 1, 1, 0]),
        **votes,
    )
    (only,) = by_round(log)
    assert only.unchecked == 2
    assert (only.validated.rate, only.highest.rate, only.fooling.rate) == (0.25, 0.75, 0.75)


def test_without_validation_only_fooling_is_known():
    (first, _) = by_round(unrolled(X, N))
    assert isinstance(first.validated, Unknown)
    assert isinstance(first.cost, Unknown)
    assert first.fooling.rate == pytest.approx(19 / 130)


def test_retracted_attempts_stay_in_the_denominator():
    log = unrolled(X, N, valid=np.ones(N.sum(), bool), retracted=np.ones(N.sum(), bool))
    assert by_round(log)[0].validated.rate == 0.0
    assert by_round(log)[0].validated.attempts == 130


def test_each_annotator_has_an_exact_interval():
    rows = by_annotator(unrolled(X, N))
    assert len(rows) == 10  # two annotators took no part in round 2
    assert rows[0].rate == 0.15
    assert rows[0].interval.low == pytest.approx(0.0321, abs=1e-4)  # Clopper-Pearson, 3 of 20
    assert rows[0].interval.high == pytest.approx(0.3789, abs=1e-4)
    assert rows[0].interval.guarantee == "under"


def test_the_models_in_the_loop_are_named():
    log = unrolled(X, N, model=np.array(["m"] * int(N.sum())))
    assert by_round(log)[0].models == ("m",)


def test_saturation_compares_the_halves_of_each_annotator():
    who = np.repeat(np.arange(10), 20)
    order = np.tile(np.arange(20), 10)[::-1]
    fooled = order < 10  # every success in the first half, though the rows run backwards
    log = Attempts(annotator=who, round=np.ones(200, int), fooled=fooled, order=order)
    assert saturation(log, 1).estimate == -1.0
    rows_only = Attempts(annotator=who, round=np.ones(200, int), fooled=fooled)
    assert saturation(rows_only, 1).estimate == 1.0


def test_one_try_per_annotator_has_no_second_half():
    log = Attempts(annotator=np.arange(3), round=np.ones(3, int), fooled=np.ones(3, int))
    with pytest.raises(InputError, match="no second half"):
        saturation(log, 1)


def test_unknown_rounds_and_single_rounds_are_refused():
    log = unrolled(X, N)
    with pytest.raises(InputError, match="no round 3"):
        change_between(log, 1, 3)
    single = Attempts(annotator=np.arange(3), round=np.ones(3, int), fooled=np.ones(3, int))
    with pytest.raises(InputError, match="two rounds or more"):
        trend(single)
    assert by_round(single)[0].fooling.rate == 1.0  # one round is enough for a rate
