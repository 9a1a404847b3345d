import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs.dynamic.attempts import Attempts
from tallystick.verbs.dynamic.validators import annotator_effects


def log(won, tried):
    who = np.repeat(np.arange(len(tried)), tried)
    fooled = np.concatenate([np.arange(n) < x for x, n in zip(won, tried, strict=True)])
    return Attempts(annotator=who, round=np.ones(len(who), int), fooled=fooled)


def test_a_star_among_equals_is_found():
    found = annotator_effects(log([18, 2, 3, 2], [20, 20, 20, 20]), 1, rng=0)
    assert found.p_value == 0.001
    assert found.dispersion > 5
    assert found.half_made_by == 1


def test_the_dispersion_is_the_formula():
    x, n = np.array([4, 7, 1]), np.array([10, 20, 5])
    rate = x.sum() / n.sum()
    expected = ((x - rate * n) ** 2 / (n * rate * (1 - rate))).sum() / 2
    assert annotator_effects(log(x, n), 1, rng=0).dispersion == pytest.approx(expected)


def test_equal_annotators_are_rarely_called_different():
    rng = np.random.default_rng(0)
    n = np.full(12, 15)
    p = [annotator_effects(log(rng.binomial(n, 0.3), n), 1, rng=1).p_value for _ in range(200)]
    # At level .05, 200 exact tests reject more than 20 times once in 1000.
    assert sum(value <= 0.05 for value in p) <= 20


def test_without_contrast_there_is_no_test():
    found = annotator_effects(log([0, 0], [5, 5]), 1, rng=0)
    assert isinstance(found.p_value, Unknown)
    assert found.half_made_by is None
    assert isinstance(annotator_effects(log([2], [5]), 1, rng=0).dispersion, Unknown)


def test_too_few_permutations_are_refused():
    with pytest.raises(InputError, match="permutations"):
        annotator_effects(log([1, 2], [5, 5]), 1, rng=0, permutations=5)
