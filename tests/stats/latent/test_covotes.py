import numpy as np
import pytest

from tallystick.stats.latent_checks import covote_z, misfit, simulate
from tallystick.stats.latent_model import LatentModel, fit

MODEL = LatentModel([0.5, 0.5], [[[0.8, 0.2], [0.25, 0.75]]] * 5)


def fitted(codes, **more):
    return fit(codes, np.ones(len(codes)), n_classes=2, **more)


def test_z_is_counted_by_hand_for_two_judges_who_abstain():
    """Abstentions are votes of code 2, so that both cells are about rows on which both vote."""
    codes = np.array([[0, 0, 0]] * 30 + [[1, 1, 1]] * 30 + [[0, 1, 2]] * 20 + [[2, 2, 1]] * 20)
    found = fitted(codes, n_votes=3)
    b, m = found.model.balance, found.model.confusion
    z = []
    for j, k in ((0, 1), (0, 2), (1, 2)):
        for alike in (True, False):
            pairs = [(c, d) for c in (0, 1) for d in (0, 1) if (c == d) is alike]
            expected = 100 * sum(b[y] * m[j, y, c] * m[k, y, d] for y in (0, 1) for c, d in pairs)
            seen = sum(((codes[:, j] == c) & (codes[:, k] == d)).sum() for c, d in pairs)
            if expected >= 2:
                z.append((seen - expected) / np.sqrt(expected))
    assert np.sort(covote_z(found)) == pytest.approx(np.sort(z))


def test_rules_that_copy_and_seldom_fire_are_caught():
    draw = np.random.default_rng(3)
    y = draw.integers(0, 2, 1500)
    rules = [
        np.where(draw.random(1500) < 0.25, np.where(draw.random(1500) < 0.8, y, 1 - y), 2)
        for _ in range(5)
    ]
    honest = np.column_stack(rules)
    copy = np.where(draw.random(1500) < 0.4, rules[0], rules[1])
    copied = np.column_stack([rules[0], copy, *rules[2:]])
    assert not misfit(fitted(honest, n_votes=3), covotes=True, rng=7).rejected
    found = misfit(fitted(copied, n_votes=3), covotes=True, rng=7)
    assert found.rejected
    assert found.covote > found.covote_null.max()


def test_the_size_is_near_its_level():
    streams = np.random.default_rng(5).spawn(12)
    rejected = [
        misfit(fitted(simulate(MODEL, 300, rng=one)[0]), covotes=True, rng=one.spawn(1)[0]).rejected
        for one in streams
    ]
    assert sum(rejected) <= 5  # at a level of .10, 6 or more has probability .0005
