import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.verbs.bound.label_models import one_coin
from tallystick.verbs.bound.weak_votes import weak_table


def votes(n, classes, accuracy, seed, silent=0.0):
    draw = np.random.default_rng(seed)
    y = draw.integers(0, classes, n)
    rows = {}
    for j, right in enumerate(accuracy):
        wrong = (y + draw.integers(1, classes, n)) % classes
        said = np.where(draw.random(n) < right, y, wrong)
        rows[f"w{j}"] = [
            None if s else int(v) for v, s in zip(said, draw.random(n) < silent, strict=True)
        ]
    return weak_table(Tally.of(rows), weak=list(rows), classes=range(classes))


@pytest.mark.parametrize("silence_votes", [False, True])
@pytest.mark.parametrize(("classes", "silent"), [(2, 0.0), (3, 0.3)])
def test_the_posterior_is_that_of_the_true_accuracies(classes, silent, silence_votes):
    accuracy = np.array([0.8, 0.7, 0.65, 0.75])
    table = votes(20_000, classes, accuracy, 1, silent)
    p = one_coin(table, silence_votes=silence_votes).probabilities(table)
    score = np.zeros((len(table.votes), classes))
    for c in range(classes):
        weights = np.log(accuracy * (classes - 1) / (1 - accuracy))
        score[:, c] = (table.votes == c) @ weights
    truth = np.exp(score)
    truth /= truth.sum(axis=1, keepdims=True)
    assert table.weight @ np.abs(p - truth).sum(axis=1) / table.n < 0.05


def test_a_known_balance_is_the_law_of_a_row_without_votes():
    table = votes(500, 2, [0.8, 0.7, 0.7], 2, 0.2)
    model = one_coin(table, balance=[0.9, 0.1])
    assert model.predict(np.array([[-1, -1, -1]]))[0] == pytest.approx([0.9, 0.1])


def test_a_weak_label_that_never_votes_is_taken_for_a_coin():
    """Its accuracy is the prior's, 1 / classes: one vote of it must tell nothing."""
    rows = {"a": [0, 1] * 50, "b": [0, 1] * 50, "never": [None] * 100}
    table = weak_table(Tally.of(rows), weak=list(rows), classes=range(2))
    with np.errstate(all="raise"):
        model = one_coin(table, balance=[0.5, 0.5])
    assert model.predict(np.array([[-1, -1, 1]]))[0] == pytest.approx([0.5, 0.5])
