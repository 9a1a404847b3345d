import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic import Population, hierarchical, path
from tallystick.verbs.dynamic.papers import check
from tallystick.verbs.dynamic.rollouts import RandomErrors, roll_design


def test_the_left_side_of_equation_19_is_computed_term_by_term():
    rng = np.random.default_rng(0)
    population = Population(rng.dirichlet(np.ones(30)), initial=rng.dirichlet(np.ones(30)))
    table = [rng.dirichlet(np.ones(t + 1)) for t in range(5)]
    sets = rng.random((5, 30)) < 0.3
    d, d0 = population.weights, population.start
    expected = [
        table[t][0] * d0[sets[t]].sum()
        + sum(table[t][1 + s] * d[sets[t] & sets[s]].sum() / d[sets[s]].sum() for s in range(t))
        for t in range(5)
    ]
    seen = check(path(5, mixture=[row.tolist() for row in table]), sets, population, epsilon=0.5)
    assert seen.risks == pytest.approx(expected)


def test_what_an_approximate_learner_did_is_accepted_in_any_design():
    population = Population.uniform(80)
    for design in (path(6), hierarchical(mixing="flat"), hierarchical(mixing="nested")):
        done = roll_design(
            population, design, RandomErrors(0.15), rollouts=1, rng=0, keep_errors=True
        )
        assert check(design, done.error_sets[0], population, epsilon=0.15).consistent


def test_the_first_violated_round_is_named():
    population = Population.uniform(100)
    sets = np.zeros((4, 100), dtype=bool)
    sets[0, :10] = sets[1, 10:20] = sets[2, 20:30] = True
    sets[3, :10] = True
    seen = check(path(4), sets, population, epsilon=0.1)
    assert (seen.consistent, seen.violated_round, seen.violated_step) == (False, 4, "h4")
    assert str(seen) == "round 4 (h4) has risk 0.275 > 0.1 on its distribution"


def test_wrong_shapes_and_promises_are_refused():
    with pytest.raises(InputError, match=r"shape \(3, 5\), got \(2, 5\)"):
        check(path(3), np.zeros((2, 5)), Population.uniform(5), epsilon=0.1)
    with pytest.raises(InputError, match="epsilon"):
        check(path(2), np.zeros((2, 5)), Population.uniform(5), epsilon=0.7)
