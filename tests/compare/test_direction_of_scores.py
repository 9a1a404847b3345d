"""Which model is better does not depend on whether the caller knows of --lower-is-better."""

import numpy as np
import pytest

from tallystick import compare
from tallystick.errors import InputError


def _long(metric, low, high):
    n = len(low)
    return {
        "doc": [*range(n), *range(n)],
        "model": ["zephyr"] * n + ["olmo"] * n,
        metric: [*low, *high],
    }


@pytest.fixture(scope="module")
def losses():
    rng = np.random.default_rng(1)
    return rng.normal(2.5, 0.3, 200).round(3), rng.normal(2.8, 0.3, 200).round(3)


@pytest.mark.parametrize("options", [{}, {"metric": "loss"}])
def test_a_long_table_of_losses_names_the_lower_one(losses, options):
    result = compare(_long("loss", *losses), item="doc", **options)
    assert result.models[0].name == "zephyr"
    assert any("lower is better, by the name 'loss'" in note for note in result.notes)


def _ranked(rng, names, n=120):
    strength = rng.normal((0.0, 1.0, 2.0), 1.0, (n, 3))
    order = np.argsort(np.argsort(strength, axis=1), axis=1) + 1
    return {name: order[:, j] for j, name in enumerate(names)}


def test_the_first_place_is_the_best():
    ranks = _ranked(np.random.default_rng(2), ["rank_A", "rank_B", "rank_C"])
    result = compare(ranks)
    assert [row.name for row in result.models] == ["rank_A", "rank_B", "rank_C"]
    assert any("by the name 'rank'" in note for note in result.notes)


def test_ranks_without_a_name_are_asked_about():
    ranks = _ranked(np.random.default_rng(2), ["A", "B", "C"])
    models = ("A", "B", "C")
    with pytest.raises(InputError, match="--lower-is-better"):
        compare(ranks, models=models)
    assert compare(ranks, models=models, lower_is_better=True).models[0].name == "A"
    assert compare(ranks, models=models, lower_is_better=False).models[0].name == "C"


def test_shares_of_a_model_that_is_called_rank_are_not_places():
    rng = np.random.default_rng(3)
    scores = {"rank_x": rng.random(80).round(2), "rank_y": (rng.random(80) * 0.5).round(2)}
    assert compare(scores).models[0].name == "rank_x"


def test_answers_held_against_a_truth_are_right_or_wrong_whatever_their_columns_are_called():
    truth = ["a", "b"] * 60
    table = {
        "loss_clf_1": truth,
        "loss_clf_2": ["a"] * 120,
        "truth": truth,
    }
    with pytest.warns(UserWarning, match="'truth' equals 'loss_clf_1' on all 120 rows"):
        result = compare(table, truth="truth", models=("loss_clf_1", "loss_clf_2"))
    assert result.models[0].name == "loss_clf_1"
    assert result.better == "higher"
