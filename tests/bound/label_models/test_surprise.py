import numpy as np
import pytest

from tallystick.verbs.bound.label_model_checks import surprise


def exact(p):
    """Return mean and standard deviation of the null, by hand."""
    p = np.maximum(np.asarray(p), 0.001)
    p = p / p.sum(axis=1, keepdims=True)
    mean = (p * np.log(p)).sum(axis=1)
    spread = (p * np.log(p) ** 2).sum(axis=1) - mean**2
    return mean.sum(), np.sqrt(spread.sum())


@pytest.mark.parametrize(
    ("p", "y", "statistic", "mean", "sd"),
    [
        ([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], [1, 0, 1, 1], -3.7987, -2.1094, 0.9655),
        ([[0.5, 0.3, 0.2], [1, 0, 0], [0.1, 0.1, 0.8]], [2, 1, 2], -8.7423, -1.6845, 0.9591),
    ],
)
def test_the_vectors_of_the_methods_page_and_its_corrections(p, y, statistic, mean, sd):
    p = np.array(p, dtype=float)
    found = surprise(p, np.eye(p.shape[1], dtype=int)[y], draws=100_000, rng=1)
    assert found.statistic == pytest.approx(statistic, abs=5e-5)
    assert exact(p) == pytest.approx((mean, sd), abs=5e-5)
    assert found.null.mean() == pytest.approx(mean, abs=0.02)
    assert found.null.std() == pytest.approx(sd, abs=0.03)


def test_a_wrong_model_is_refuted_and_the_right_one_seldom():
    draw = np.random.default_rng(1)
    p = draw.dirichlet([1, 1], 50)
    wrong, right = 0, 0
    for seed in range(200):
        gold = draw.multinomial(1, p)
        right += surprise(p, gold, rng=seed).p_value <= 0.05
        wrong += surprise(p[:, ::-1], gold, rng=seed).p_value <= 0.05
    assert right <= 20  # .07 was measured; 20 of 200 is four standard errors above
    assert wrong == 200


def test_labels_that_are_too_good_are_as_suspicious():
    p = np.full((200, 2), 0.5) + np.array([0.2, -0.2])
    gold = np.tile([1, 0], (200, 1))
    assert surprise(p, gold, rng=1).p_value < 0.01


def test_patterns_of_which_nothing_is_known_are_left_out():
    p = np.array([[np.nan, np.nan], [0.5, 0.5]])
    assert surprise(p, np.array([[3, 0], [0, 0]]), rng=1) is None
    assert surprise(p, np.array([[3, 0], [1, 1]]), rng=1).labels == 2
