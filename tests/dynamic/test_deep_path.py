import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra [torch] is not installed")

from benchmarks.truth.dynamic_networks import (  # noqa: E402  after the skip  # noqa: E402
    RunControl,
    StackedCNN,
    TrainingRecipe,
    mixture,
    path_rollouts,
    predict,
    train,
)
from tallystick.errors import FormatError  # noqa: E402

RECIPE = TrainingRecipe(epochs=2, batch=16)


def coloured_squares(n=64):
    """Images whose class is the brightest channel: learnable in a few steps."""
    draw = np.random.default_rng(0)
    labels = torch.as_tensor(draw.integers(3, size=n))
    images = torch.as_tensor(draw.random((n, 3, 32, 32)) * 0.3, dtype=torch.float32)
    images[torch.arange(n), labels] += 0.5
    return images - 0.4, labels


def build(models, rng):
    return StackedCNN(models, classes=3, rng=rng)


def test_the_mixture_is_a_distribution_and_up_weights_past_errors():
    errors = np.random.default_rng(1).random((5, 4, 30)) < 0.2
    weights = mixture(errors)
    assert np.allclose(weights.sum(1), 1)
    often, never = errors.sum(1) >= 2, errors.sum(1) == 0
    assert weights[often].min() > weights[never].max()


def test_a_perfect_round_adds_the_first_distribution_again():
    assert np.allclose(mixture(np.zeros((2, 3, 10), bool)), 0.1)


def test_a_model_in_a_stack_learns_what_it_learns_alone():
    items, labels = coloured_squares()
    recipe = dataclasses.replace(RECIPE, epochs=1)
    stack = StackedCNN(3, classes=3, dropout=0.0, rng=torch.Generator().manual_seed(5))
    alone = StackedCNN(1, classes=3, dropout=0.0, rng=torch.Generator().manual_seed(6))
    with torch.no_grad():
        for mine, theirs in zip(alone.parameters(), stack.parameters(), strict=True):
            mine.copy_(theirs[1:2])
    weights = torch.as_tensor(
        np.random.default_rng(2).dirichlet(np.ones(64), size=3), dtype=torch.float32
    )
    train(stack, items, labels, weights, recipe, seed=9)
    train(alone, items, labels, weights[1:2], recipe, seed=9)
    for mine, theirs in zip(alone.parameters(), stack.parameters(), strict=True):
        assert torch.allclose(mine[0], theirs[1], atol=1e-5)


def test_the_weights_of_the_items_steer_the_training():
    items, labels = coloured_squares()
    flipped = labels.clone()
    # half of the labels lie, and one model is told to ignore exactly them
    flipped[:32] = (labels[:32] + 1) % 3
    weights = torch.zeros(2, 64)
    weights[0, 32:], weights[1, :32] = 1 / 32, 1 / 32
    stack = StackedCNN(2, classes=3, rng=torch.Generator().manual_seed(0))
    train(stack, items, flipped, weights, dataclasses.replace(RECIPE, epochs=25, rate=3e-3), seed=1)
    said = predict(stack, items, RECIPE)
    truth = labels.numpy()
    assert (said[0] == truth).mean() > 0.9
    assert (said[1] == (truth + 1) % 3).mean() > 0.9


def test_a_run_that_was_cut_ends_like_one_that_was_not(tmp_path):
    items, labels = coloured_squares()
    whole = path_rollouts(build, items, labels, rollouts=2, rounds=3, recipe=RECIPE, seed=4)
    checkpoint = tmp_path / "run.npz"
    calls = iter([False, True])
    cut = path_rollouts(
        build,
        items,
        labels,
        rollouts=2,
        rounds=3,
        recipe=RECIPE,
        seed=4,
        run=RunControl(checkpoint=checkpoint, enough=lambda: next(calls)),
    )
    assert cut.predictions.shape[1] == 1
    assert not cut.complete
    resumed = path_rollouts(
        build,
        items,
        labels,
        rollouts=2,
        rounds=3,
        recipe=RECIPE,
        seed=4,
        run=RunControl(checkpoint=checkpoint),
    )
    assert resumed.complete
    assert np.array_equal(resumed.predictions, whole.predictions)


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    items, labels = coloured_squares()
    checkpoint = tmp_path / "run.npz"
    path_rollouts(
        build,
        items,
        labels,
        rollouts=2,
        rounds=1,
        recipe=RECIPE,
        seed=4,
        run=RunControl(checkpoint=checkpoint),
    )
    with pytest.raises(FormatError, match="belongs to another run"):
        path_rollouts(
            build,
            items,
            labels,
            rollouts=2,
            rounds=2,
            recipe=RECIPE,
            seed=5,
            run=RunControl(checkpoint=checkpoint),
        )
