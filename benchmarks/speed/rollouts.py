"""Rollouts of a dynamic benchmark here, on a Dask cluster and on Ray, each in local mode.

The same rollouts run in one process, in two processes of joblib, on two Dask workers and on two Ray
workers; the predictions must be equal. Wall seconds: the start of a cluster is counted apart. Ray
is not an extra of Tallystick (``pip install ray``); it is left out where it is absent.
Run: ``python -m benchmarks.speed.rollouts [--write]``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import joblib
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.record import record
from tallystick.papers.dynamic_benchmarks.experiment import run_experiment

ITEMS, FEATURES, ROUNDS, ROLLOUTS = 1_000, 10, 5, 16


@contextmanager
def _here() -> Iterator[None]:
    yield


@contextmanager
def _dask() -> Iterator[None]:
    from dask.distributed import Client

    with (
        Client(n_workers=2, threads_per_worker=1, dashboard_address=None),
        joblib.parallel_config(backend="dask"),
    ):
        yield


@contextmanager
def _ray() -> Iterator[None]:
    import ray
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    try:
        with joblib.parallel_config(backend="ray"):
            yield
    finally:
        ray.shutdown()


WAYS = (
    ("one process", _here, 1),
    ("joblib, 2 processes", _here, 2),
    ("Dask, 2 workers", _dask, 2),
    ("Ray, 2 workers", _ray, 2),
)


def main() -> None:
    """Measure every way that is installed."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ITEMS, FEATURES))
    y = (x[:, :5].sum(axis=1) + 0.5 * rng.standard_normal(ITEMS) > 0).astype(int)
    rows, first = [], None
    for name, way, jobs in WAYS:
        try:
            began = time.perf_counter()
            with way():
                started = time.perf_counter()
                done = run_experiment(
                    DecisionTreeClassifier(max_depth=6, random_state=0),
                    x,
                    y,
                    rounds=ROUNDS,
                    rollouts=ROLLOUTS,
                    rng=0,
                    jobs=jobs,
                )
                ended = time.perf_counter()
        except ImportError:
            continue
        first = done.predictions if first is None else first
        same = "yes" if np.array_equal(done.predictions, first) else "NO"
        print(name, round(started - began, 1), round(ended - started, 1), same, flush=True)
        rows.append(
            {
                "where": name,
                "start of the cluster, s": round(started - began, 1),
                f"{ROLLOUTS} rollouts, s": round(ended - started, 1),
                "same numbers": same,
            }
        )
    note = (
        f"A decision tree on {ITEMS:,} items of {FEATURES} columns, {ROUNDS} rounds and the static"
        " control. Wall seconds, on two cores in local mode: what the way costs, not what a cluster"
        " saves."
    )
    record("rollouts", "Rollouts on Dask and Ray", rows, notes=[note])


if __name__ == "__main__":
    main()
