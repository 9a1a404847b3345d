"""Coverage of the latent-class model's intervals when the model is true."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.stats.latent import LatentModel, bootstrap, fit, information, simulate

REPETITIONS = 2000
REPLICATES = 100


def model_of(first: float, pairs) -> LatentModel:
    return LatentModel([first, 1 - first], [[[a, 1 - a], [1 - b, b]] for a, b in pairs])


def three_classes() -> LatentModel:
    return LatentModel(
        [0.5, 0.3, 0.2], [np.eye(3) * (1.5 * a - 0.5) + (1 - a) / 2 for a in (0.85, 0.8, 0.75, 0.8, 0.7)]
    )


def twenty_judges() -> LatentModel:
    return model_of(0.6, np.random.default_rng(1).uniform(0.6, 0.9, size=(20, 2)))


CASES = {
    "three judges": (model_of(0.6, [(0.9, 0.8), (0.8, 0.85), (0.75, 0.8)]), 1000),
    "five judges": (model_of(0.6, [(0.9, 0.8), (0.85, 0.75), (0.7, 0.8), (0.65, 0.9), (0.8, 0.8)]), 500),
    "five judges, uneven classes": (
        model_of(0.85, [(0.9, 0.8), (0.85, 0.75), (0.8, 0.8), (0.75, 0.9), (0.8, 0.8)]),
        1000,
    ),
    "eight judges, the last two weak": (model_of(0.5, [(0.8, 0.8)] * 6 + [(0.55, 0.6), (0.6, 0.55)]), 400),
    "five judges, three classes": (three_classes(), 1000),
    "twenty judges": (twenty_judges(), 100),
}
RESAMPLED = ("five judges", "eight judges, the last two weak")
FLOORS = {"observed information": (0.94, 0.93), "outer information": (0.94, 0.93), "bootstrap": (0.92, 0.90)}


def inside(ends, truth):
    """1 and 0 for covered and not; NaN where no interval was given."""
    low, high = ends
    return np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high))


def row(case, method, of, hits, refused=0):
    rate = np.nanmean(np.array(hits, dtype=float), axis=0)
    summary = {"mean coverage": float(rate.mean()), "worst": float(rate.min()), "refused": refused}
    return {"case": case, "items": CASES[case][1], "method": method, "of": of} | summary


def rows_of(case):
    model, n = CASES[case]
    diagonal = np.arange(model.n_classes)
    hits = {(kind, of): [] for kind in ("observed", "outer") for of in ("accuracy", "confusion", "balance")}
    refused = {"observed": 0, "outer": 0}
    resampled = []
    for seed in range(REPETITIONS):
        codes, counts = np.unique(simulate(model, n, rng=seed)[0], axis=0, return_counts=True)
        found = fit(codes, counts, n_classes=model.n_classes)
        for kind in refused:
            try:
                info = information(found, kind=kind)
            except NotIdentifiable:
                refused[kind] += 1
                continue
            hits[kind, "accuracy"].append(inside(info.accuracy_interval(), model.accuracy))
            hits[kind, "confusion"].append(inside(info.confusion_interval(), model.confusion)[:, diagonal, diagonal])
            hits[kind, "balance"].append(inside(info.balance_interval(), model.balance))
        if case in RESAMPLED:
            sample = bootstrap(found, n_replicates=REPLICATES, rng=seed)
            resampled.append(inside(sample.percentile(sample.accuracy), model.accuracy))
    rows = [row(case, f"{kind} information", of, hit, refused[kind]) for (kind, of), hit in hits.items()]
    return [*rows, row(case, "bootstrap", "accuracy", resampled)] if resampled else rows


@pytest.mark.slow
def test_intervals_cover_as_promised_when_the_model_is_true(publish_coverage) -> None:
    rows = [row for case in CASES for row in rows_of(case)]
    publish_coverage(
        "latent",
        f"Share of {REPETITIONS:,} data sets drawn from the model whose 95 % interval holds the truth: mean and worst "
        "over judges (accuracy), judges and classes (confusion: the chance to be right on each class), classes "
        f"(balance). The bootstrap is parametric, percentile, with {REPLICATES} replicas. *Refused* counts data sets "
        "with singular information. Off the model these intervals fail.",
        rows,
    )
    for one in rows:
        mean, worst = FLOORS[one["method"]]
        assert one["mean coverage"] >= mean, one
        assert one["worst"] >= worst, one
        assert one["refused"] <= REPETITIONS // 100, one
