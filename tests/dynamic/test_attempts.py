import numpy as np

from tallystick.verbs.dynamic.attempts import Attempts


def log(**columns):
    base = {
        "annotator": ["a", "a", "b", "b"],
        "round": [0, 0, 0, 1],
        "fooled": [True, True, False, True],
    }
    held = {name: np.asarray(values) for name, values in {**base, **columns}.items()}
    return Attempts(**held, rounds=(1, 2))


def test_ties_and_attempts_that_nobody_looked_at_stay_open():
    seen = log(verdict=[1, 0, 0, -1])
    assert seen.success.tolist() == [True, False, False, False]
    assert seen.unchecked.tolist() == [False, True, False, False]


def test_without_validation_fooling_is_what_counts():
    seen = log()
    assert seen.success.tolist() == [True, True, False, True]
    assert not seen.unchecked.any()


def test_sums_by_annotator_follow_their_order():
    seen = log(cost=[1.0, 2.0, 4.0, 8.0])
    everywhere = np.ones(4, dtype=bool)
    assert seen.per_annotator(everywhere).tolist() == [2, 2]
    assert seen.per_annotator(everywhere, seen.cost).tolist() == [3.0, 12.0]
