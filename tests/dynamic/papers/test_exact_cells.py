from fractions import Fraction

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.design import hierarchical, path
from tallystick.verbs.dynamic.papers import check
from tallystick.verbs.dynamic.population import Population
from tallystick.verbs.dynamic.sharp import ExactCells
from tallystick.verbs.dynamic.theory import hdh_distance
from tests.exact_adversaries import random_hierarchy, random_path


def population(cells, models):
    weights = np.array([m / cells.whole for m in cells.mass])
    initial = np.array([i / cells.whole for i in cells.initial])
    errors = np.array([[who >> j & 1 for who in cells.errors] for j in range(models)], dtype=bool)
    return Population(weights / weights.sum(), initial=initial / initial.sum()), errors


@pytest.mark.parametrize("mixing", ["flat", "nested"])
@pytest.mark.parametrize("seed", range(4))
def test_budgets_and_risk_equal_those_of_the_checker(mixing, seed):
    """Another program: the graph of the design, rolled out in floats."""
    cells = random_hierarchy(mixing=mixing, rng=seed, shifted=seed % 2 == 1)
    people, errors = population(cells, 9)
    if not errors.any(axis=1).all():
        pytest.skip("a model without errors ends a rollout")
    seen = check(hierarchical(mixing=mixing), errors, people, epsilon=0.5)
    assert [float(b) for b in cells.hierarchy_budgets(mixing)] == pytest.approx(
        seen.risks, rel=1e-9
    )


@pytest.mark.parametrize("seed", range(4))
def test_paths_equal_the_checker_too(seed):
    cells = random_path(5, rng=seed, shifted=seed % 2 == 1)
    people, errors = population(cells, 5)
    seen = check(path(5), errors, people, epsilon=0.5)
    assert [float(b) for b in cells.path_budgets(5)] == pytest.approx(seen.risks, rel=1e-9)
    wrong = errors.sum(axis=0)
    expected = people.weights @ (wrong >= 3)
    assert float(cells.path_risk(5)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_distance_is_the_hdh_distance(seed):
    cells = random_path(4, rng=seed, shifted=True)
    people, errors = population(cells, 4)
    labels = np.vstack([errors, np.zeros(errors.shape[1], dtype=bool)])
    expected = hdh_distance(labels.astype(int), people.start, people.weights)
    assert float(cells.distance) == pytest.approx(expected)


def test_an_empty_set_adds_nothing_to_the_mixture():
    part = Fraction(1, 10)
    cells = ExactCells.of([(part, part, {1})])
    assert cells.path_budgets(2) == (0, part)  # D_1 is D_0 alone


def test_a_tie_counts_one_half():
    part = Fraction(1, 10)
    assert ExactCells.of([(part, part, {1})]).path_risk(2) == part / 2


def test_impossible_cells_are_refused():
    with pytest.raises(InputError, match="negative"):
        ExactCells.of([(Fraction(2), Fraction(1), {0})])
    with pytest.raises(InputError, match="support"):
        ExactCells.of([(Fraction(0), Fraction(1, 2), {0})])
    with pytest.raises(InputError, match="sum"):
        ExactCells((1, 1), (1, 1), (0, 1), 3)
    with pytest.raises(InputError, match="mixing"):
        ExactCells.of([(Fraction(1, 2), Fraction(1, 2), {0})]).hierarchy_budget(0, "other")
