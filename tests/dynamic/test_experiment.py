import os
import threading

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.experiment import (
    EstimatorTrainer,
    curves,
    learner_rollouts,
    run_experiment,
)

X, Y = load_digits(return_X_y=True)
X, Y = X[:600], Y[:600]
TREE = DecisionTreeClassifier(max_depth=4, max_features="log2")


def test_the_path_beats_the_static_ensemble_and_both_beat_one_model():
    done = run_experiment(TREE, X, Y, rounds=9, rollouts=4, rng=0)
    path, static = done.path.risk.mean(axis=0), done.static.risk.mean(axis=0)
    assert path[-1] < static[-1] < static[0]
    assert done.kept.sum() == done.labels.size == done.predictions.shape[2]
    assert done.path.epsilon.mean() > 0.1


def test_a_rollout_is_the_same_with_or_without_its_control_and_on_any_number_of_processes():
    kept = np.arange(200)
    trainer = EstimatorTrainer(TREE, X[kept], Y[kept])
    alone, none = learner_rollouts(trainer, Y[kept], rounds=3, rollouts=2, rng=5, static=False)
    both, control = learner_rollouts(trainer, Y[kept], rounds=3, rollouts=2, rng=5)
    assert none is None
    assert control.shape == both.shape
    assert np.array_equal(alone, both)


def noted_tree(folder):
    """A tree that leaves a note of where it was trained; local, so that it can travel to workers
    without this file."""
    tree = EstimatorTrainer(TREE, X[:100], Y[:100])

    def train(weights, rng):
        where = "main" if threading.current_thread() is threading.main_thread() else "other"
        (folder / f"{os.getpid()} {where} thread").touch()
        return tree(weights, rng)

    return train


def places(folder):
    """Where models were trained since the last look."""
    notes = [path.name for path in folder.iterdir()]
    for path in folder.iterdir():
        path.unlink()
    return notes


def on_cluster(folder, backend):
    """Compare rollouts at home with those on the cluster that is up, and say where the latter ran.

    Two slots at least: with one, joblib stays at home. The look whether a learner heeds weights is
    always at home."""
    trainer, home = noted_tree(folder), f"{os.getpid()} main thread"
    here, _ = learner_rollouts(trainer, Y[:100], rounds=2, rollouts=3, rng=5, static=False)
    assert places(folder) == [home]
    with joblib.parallel_config(backend=backend):
        there, _ = learner_rollouts(
            trainer,
            Y[:100],
            rounds=2,
            rollouts=3,
            rng=5,
            static=False,
            jobs=-1,
        )
    assert np.array_equal(here, there)
    return [place for place in places(folder) if place != home]


@pytest.mark.parametrize("processes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_rollouts_run_on_the_worker_of_a_dask_cluster(processes, tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {
        "n_workers": 1,
        "threads_per_worker": 2,
        "processes": processes,
        "dashboard_address": None,
    }
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster):
        away = on_cluster(tmp_path, "dask")
    assert away
    assert all(place.startswith(str(os.getpid())) != processes for place in away)


@pytest.mark.slow
def test_rollouts_run_on_the_workers_of_ray(tmp_path):
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    try:
        away = on_cluster(tmp_path, "ray")
    finally:
        ray.shutdown()
    assert away
    assert not any(place.startswith(str(os.getpid())) for place in away)


def test_any_function_of_weights_can_be_the_learner():
    truth = np.arange(60) % 2

    def learner(weights, rng):
        """Errs on a random fifth of the mass, as an approximate risk minimiser may."""
        order = rng.permutation(60)
        wrong = order[np.cumsum(weights[order]) <= 0.2]
        calls = truth.copy()
        calls[wrong] = 1 - calls[wrong]
        return calls

    path, _ = learner_rollouts(learner, truth, rounds=5, rollouts=20, rng=0)
    seen = curves(path, truth)
    assert np.all(seen.epsilon <= 0.2 + 1e-9)
    assert seen.risk[:, 2].mean() < seen.risk[:, 0].mean()


def test_bad_numbers_are_refused():
    with pytest.raises(InputError, match="at least 1"):
        run_experiment(TREE, X[:100], Y[:100], rounds=0, rollouts=2, rng=0)


def test_a_base_model_that_learns_nothing_is_refused():
    with pytest.raises(InputError, match="base model gets only"):
        run_experiment(
            DecisionTreeClassifier(max_depth=1),
            np.zeros((40, 1)),
            np.arange(40) % 2,
            rounds=2,
            rollouts=1,
            rng=0,
        )
