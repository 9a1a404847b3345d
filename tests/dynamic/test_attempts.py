import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.attempts import Attempts


def log(**columns):
    base = {
        "annotator": ["a", "a", "b", "b"],
        "round": [1, 1, 1, 2],
        "fooled": [True, True, False, True],
    }
    return Attempts(**{name: np.asarray(values) for name, values in {**base, **columns}.items()})


def test_votes_decide_by_majority_and_ties_stay_open():
    seen = log(yes=[2, 1, 0, 0], no=[1, 1, 0, 2])
    assert seen.validated.tolist() == [True, False, False, False]
    assert seen.unchecked.tolist() == [False, True, False, False]


def test_validity_may_be_given_and_may_be_missing():
    seen = log(valid=np.array([True, None, True, False], dtype=object))
    assert seen.validated.tolist() == [True, False, False, False]
    assert seen.unchecked.tolist() == [False, True, False, False]
    assert log(valid=[1, 0, 1, 1]).validated.tolist() == [True, False, False, True]


def test_a_retracted_attempt_stays_an_attempt_and_fools_nobody():
    seen = log(valid=[1, 1, 1, 1], retracted=[True, False, False, False])
    assert seen.size == 4
    assert seen.fooling.tolist() == [False, True, False, True]
    assert seen.validated.tolist() == [False, True, False, True]


def test_without_validation_fooling_is_what_counts():
    seen = log()
    assert not seen.checked
    assert seen.success.tolist() == [True, True, False, True]


def test_rounds_may_be_dates():
    seen = log(round=["2024-05", "2024-05", "2023-11", "2024-05"])
    assert seen.rounds == ("2023-11", "2024-05")
    assert seen.within("2023-11").tolist() == [False, False, True, False]


def test_sums_by_annotator_follow_their_order():
    seen = log(cost=[1.0, 2.0, 4.0, 8.0])
    everywhere = np.ones(4, dtype=bool)
    assert seen.per_annotator(everywhere).tolist() == [2, 2]
    assert seen.per_annotator(everywhere, seen.cost).tolist() == [3.0, 12.0]


def test_an_unknown_round_is_named():
    with pytest.raises(InputError, match="no round 7"):
        log().within(7)
