import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.compare import Board, evaluate
from tallystick.verbs.compare.papers import wrong_pick, wrong_pick_bound
from tallystick.verbs.compare.result import union_radius


def test_the_union_bound_is_the_chapters():
    n, k, alpha = 5000, 30, 0.05
    t = union_radius(n, k, alpha=alpha) * np.sqrt(n)
    assert 2 * k * np.exp(-2 * t**2) == pytest.approx(alpha)
    assert 2 * np.exp(-2 * 2**2) == pytest.approx(0.00067, abs=1e-5)  # section 3.5: t = 2


def test_the_rule_errs_as_often_as_simulated():
    rng = np.random.default_rng(0)
    u = rng.random((20_000, 300))
    lead = (u < 0.12).sum(axis=1) - ((u >= 0.12) & (u < 0.2)).sum(axis=1)  # d = .2, difference .04
    exact = wrong_pick(300, 0.04, 0.2)
    assert np.mean(lead <= 0) == pytest.approx(exact, abs=3 * np.sqrt(exact / 20_000))


def test_the_bound_of_the_rule_is_never_below_the_truth():
    for n in (10, 100, 1000, 10_000):
        for difference in (0.01, 0.1, 0.5):
            for apart in (difference, (1 + difference) / 2, 1.0):
                assert wrong_pick(n, difference, apart) <= wrong_pick_bound(n, difference) + 1e-12
    with pytest.raises(InputError):
        wrong_pick(10, 0.5, 0.1)


def test_sharper_guarantees_tell_at_least_as_many_pairs_apart():
    difficulty = np.random.default_rng(1).random((2000, 1))
    noise = np.random.default_rng(2).random((2000, 12))
    scores = (0.8 * difficulty + 0.2 * noise < np.linspace(0.4, 0.7, 12)).astype(float)
    rows = evaluate(Board(names=tuple(map(str, range(12))), scores=scores)).guarantees
    assert [row.guarantee for row in rows] == ["exact", "exact", "approximate"]
    assert rows[0].pairs < rows[1].pairs <= rows[2].pairs + 1
    assert all(row.adjacent <= 11 for row in rows)
