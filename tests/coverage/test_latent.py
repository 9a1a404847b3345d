"""Coverage of the latent-class model's intervals when the model is true."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.stats.latent_fit import fit, information, simulate
from tallystick.stats.latent_model import LatentModel

REPETITIONS = 2000


def model_of(first: float, pairs) -> LatentModel:
    return LatentModel([first, 1 - first], [[[a, 1 - a], [1 - b, b]] for a, b in pairs])


def three_classes() -> LatentModel:
    return LatentModel(
        [0.5, 0.3, 0.2],
        [np.eye(3) * (1.5 * a - 0.5) + (1 - a) / 2 for a in (0.85, 0.8, 0.75, 0.8, 0.7)],
    )


def twenty_judges() -> LatentModel:
    return model_of(0.6, np.random.default_rng(1).uniform(0.6, 0.9, size=(20, 2)))


CASES = {
    "three judges": (model_of(0.6, [(0.9, 0.8), (0.8, 0.85), (0.75, 0.8)]), 1000),
    "five judges": (
        model_of(0.6, [(0.9, 0.8), (0.85, 0.75), (0.7, 0.8), (0.65, 0.9), (0.8, 0.8)]),
        500,
    ),
    "five judges, uneven classes": (
        model_of(0.85, [(0.9, 0.8), (0.85, 0.75), (0.8, 0.8), (0.75, 0.9), (0.8, 0.8)]),
        1000,
    ),
    "eight judges, the last two weak": (
        model_of(0.5, [(0.8, 0.8)] * 6 + [(0.55, 0.6), (0.6, 0.55)]),
        400,
    ),
    "five judges, three classes": (three_classes(), 1000),
    "twenty judges": (twenty_judges(), 100),
}


def inside(ends, truth):
    """1 and 0 for covered and not; NaN where no interval was given."""
    low, high = ends
    return np.where(np.isnan(low), np.nan, (low <= truth) & (truth <= high))


def drawn(model, n, seed):
    codes, counts = np.unique(simulate(model, n, rng=seed)[0], axis=0, return_counts=True)
    return fit(codes, counts, n_classes=model.n_classes)


def rows_of(case, kind):
    model, n = CASES[case]
    diagonal = np.arange(model.n_classes)
    hits = {"accuracy": [], "confusion": [], "balance": []}
    refused = 0
    for seed in range(REPETITIONS):
        try:
            info = information(drawn(model, n, seed), kind=kind)
        except NotIdentifiable:
            refused += 1
            continue
        hits["accuracy"].append(inside(info.accuracy_interval(), model.accuracy))
        hits["confusion"].append(
            inside(info.confusion_interval(), model.confusion)[:, diagonal, diagonal]
        )
        hits["balance"].append(inside(info.balance_interval(), model.balance))
    for of, hit in hits.items():
        rate = np.nanmean(np.array(hit, dtype=float), axis=0)
        found = {
            "mean coverage": float(rate.mean()),
            "worst": float(rate.min()),
            "refused": refused,
        }
        yield {"case": case, "items": n, "information": kind, "of": of} | found


@pytest.mark.slow
def test_information_covers_as_promised_when_the_model_is_true(publish_coverage) -> None:
    rows = [row for case in CASES for kind in ("observed", "outer") for row in rows_of(case, kind)]
    publish_coverage(
        "latent",
        f"Share of {REPETITIONS:,} data sets drawn from the model whose 95 % interval holds the"
        " truth: mean and worst over judges (accuracy), judges and classes (confusion: the chance"
        " to be right on each class), classes (balance). *Refused* counts data sets with singular"
        " information. Off the model these intervals fail.",
        rows,
    )
    for row in rows:
        assert row["mean coverage"] >= (0.94 if row["information"] == "observed" else 0.93), row
        assert row["worst"] >= 0.93, row
        assert row["refused"] <= REPETITIONS // 100, row
