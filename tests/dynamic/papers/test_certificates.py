from dataclasses import replace

import numpy as np
import pytest

from tallystick.verbs.dynamic.design import path
from tallystick.verbs.dynamic.papers import Certificate
from tallystick.verbs.dynamic.population import Population

ERRORS = np.array(
    [
        [1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    ],
    dtype=bool,
)


def certificate(epsilon: float = 0.4) -> Certificate:
    return Certificate(
        theorem="by hand",
        population=Population.uniform(10),
        design=path(3),
        errors=ERRORS,
        epsilon=epsilon,
        bound=0.2,
    )


def test_the_risk_of_each_round_is_that_of_the_majority_so_far():
    """One model: 2 of 10. Two: item 1 is wrong, items 0 and 3 tie. Three: items 1 and 3."""
    assert certificate().risk_by_round() == pytest.approx((0.2, 0.2, 0.2))
    last = replace(certificate(), errors=np.roll(ERRORS, 5, axis=1) & ERRORS)
    assert last.risk_by_round() == (0.0, 0.0, 0.0)
    assert certificate().output_risk() == pytest.approx(0.2)


def test_the_promise_of_eq_19_is_checked_at_its_epsilon():
    """Round two errs on 2/10 of D_0 and on half of the errors before: (.2 + .5)/2 = .35."""
    assert certificate(0.36).check().consistent
    assert not certificate(0.34).check().consistent


def test_the_learner_plays_the_error_sets_as_they_are():
    learner = certificate().learner()
    people = Population.uniform(10)
    build = learner.begin(people, 1, np.random.default_rng(0))
    for t in range(3):
        assert np.array_equal(np.asarray(build(people.start[None], t), bool)[0], ERRORS[t])


def test_intervals_are_counted_in_the_worst_error_set():
    assert certificate().intervals == 2
    striped = np.zeros((3, 10), dtype=bool)
    striped[1, [0, 2, 3, 9]] = True
    assert replace(certificate(), errors=striped).intervals == 3
