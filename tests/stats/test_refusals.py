"""What the mathematics refuses: each argument outside its domain, by its name."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats import power
from tallystick.stats.adverse_binary import adverse_mean
from tallystick.stats.adverse_ratios import adverse_ratio, recalls
from tallystick.stats.agreement import as_ratings, cohen_kappa
from tallystick.stats.anytime import RateTest, betting
from tallystick.stats.battles import battles, battles_by_item
from tallystick.stats.bets import bounded_mean_log_e
from tallystick.stats.certified import certified_mean, certified_shares
from tallystick.stats.clusters import sign_flip_columns
from tallystick.stats.few_labels import Rows, accuracies, fit
from tallystick.stats.intervals import Intervals, as_counts, pseudo_t
from tallystick.stats.latent_calibrate import calibrate
from tallystick.stats.latent_headline import Support
from tallystick.stats.latent_model import LatentModel, LatentOptions, as_votes
from tallystick.stats.latent_model import fit as fit_latent
from tallystick.stats.maxt import holm
from tallystick.stats.replicates import item_values
from tallystick.stats.signs import sequential_items, sign_stopping, step_down_order
from tallystick.stats.stream import WatchOptions
from tallystick.stats.stream_watch import Watch, explain
from tallystick.stats.two_accuracies import exact_score, tango
from tallystick.stats.urns import hypergeometric

NAN = np.nan
CELLS = [200, 100, 60, 640]
CODES = np.array([[a, b] for a in (0, 1) for b in (0, 1)])


def rows(**change: Any) -> Rows:
    y = np.where(np.arange(200) < 40, np.arange(200) % 2, NAN)
    return Rows(**({"y": y, "grades": np.zeros((200, 1))} | change))


def watch(codes: Any) -> Any:
    return Watch.start(2, WatchOptions(key="p")).update(codes, ["fail", "pass"])


def latent(counts: Any = (1, 1, 1), **options: Any) -> Any:
    return fit_latent(np.eye(3, dtype=int), counts, n_classes=2, options=LatentOptions(**options))


REFUSED = [
    # Shares, means and ratios.
    (lambda: as_counts(-1, 5, names=("wins", "of")), "wins must be a whole number"),
    (lambda: as_counts(6, 5, names=("wins", "of")), "between 0 and of, got 6.0 of 5.0"),
    (lambda: as_counts(1.5, 5, names=("wins", "of")), "wins must be a whole number"),
    (lambda: as_counts(1, np.inf, names=("wins", "of")), "of must be a whole number"),
    (lambda: as_counts(NAN, 4, names=("wins", "of")), "wins must be a whole number"),
    (lambda: Intervals(np.array([0.5]), np.array([0.4])), r"low <= high, got \[0.5, 0.4\] at"),
    (lambda: Intervals(np.array([NAN]), np.array([0.4])), "low <= high"),
    (lambda: pseudo_t(0.5, 0.1, 1), "n must be at least 2"),
    (lambda: pseudo_t(0.5, -0.1, 9), "variance must be"),
    (lambda: pseudo_t(1.5, 0.1, 9), "mean must be in"),
    (lambda: betting([0.2, 1.2]), "values must be in"),
    (lambda: betting([0.2, NAN]), "values must be in"),
    (lambda: betting([0.2], alpha=2), "alpha must be"),
    (lambda: hypergeometric(6, 5, 10), "between 0 and draws"),
    (lambda: hypergeometric(2, 5, 4), "between 0 and population"),
    (lambda: hypergeometric(0, 0, 0), "population must be"),
    (lambda: certified_shares([0, 0], [0, 0], [0, 0]), "at least 1 item"),
    (lambda: certified_mean([1.0], [0.5], [0.6]), "drawn from every"),
    (lambda: certified_mean([1.0, 0.0], [0.5, 0.5], [0.5, 0.6]), "each at most once"),
    (lambda: certified_mean([1.5], [0.5], [0.5]), "labels must be in"),
    (lambda: adverse_mean([2.0], [0], [10]), "labels must be in"),
    (lambda: adverse_mean([1.0], [1], [10]), "stratum must be in"),
    (lambda: adverse_mean([1.0, 1.0], [0, 0], [1]), "labels must be between 0 and sizes"),
    (lambda: adverse_mean([], [], [10]), "one entry per label"),
    (lambda: adverse_ratio([9, 9], [5, 5], [1, 1], measure="f1"), "one entry per cell"),
    (lambda: adverse_ratio(CELLS, [1] * 4, [2, 0, 0, 0], measure="f1"), "between 0 and labelled"),
    (lambda: recalls(CELLS, [201, 0, 0, 0], [0] * 4), "between 0 and sizes"),
    (lambda: recalls(CELLS, [1] * 4, [0] * 4, population=cast("Any", "every")), "population must"),
    (lambda: recalls(CELLS, [1] * 4, [0] * 4, alpha=2), r"alpha must be in \(0, 1\)"),
    # Few labels.
    (lambda: fit(rows(y=np.full(200, NAN)), pass_fail=True), "labels must be"),
    (lambda: fit(rows(y=np.full(200, 2.0)), pass_fail=False), "y must be in"),
    (lambda: fit(rows(y=np.full(200, np.inf)), pass_fail=False), "y must be in"),
    (lambda: fit(rows(y=np.full(200, 0.5)), pass_fail=True), "y must be 0 or 1"),
    (lambda: fit(rows(y=np.ones((200, 2))), pass_fail=True), "y must be one entry per row"),
    (lambda: fit(rows(grades=np.full((200, 1), np.inf)), pass_fail=True), "grades must be"),
    (lambda: fit(rows(grades=np.ones((9, 1))), pass_fail=True), "grades must be"),
    (lambda: fit(rows(system=np.full(200, 0.5)), pass_fail=True), "system must be"),
    (lambda: fit(rows(system=np.zeros(3)), pass_fail=True), "system must be one entry"),
    (lambda: fit(rows(count=np.full(200, 1.5)), pass_fail=True), "count must be"),
    (lambda: fit(rows(weight=np.full(200, -1.0)), pass_fail=True), "weight must be"),
    (lambda: fit(rows(weight=np.full(200, np.inf)), pass_fail=True), "weight must be"),
    (lambda: fit(rows(probability=np.zeros(200)), pass_fail=True), "probability must be in"),
    (lambda: fit(rows(probability=np.ones(3)), pass_fail=True), "probability must be one entry"),
    (lambda: fit(rows(item=np.ones(3)), pass_fail=True), "item must be one entry"),
    (
        lambda: fit(rows(item=np.arange(200) // 2, count=1 + np.arange(200)), pass_fail=True),
        "count must be equal",
    ),
    (lambda: fit(rows(), pass_fail=True, population=cast(Any, "some")), "population"),
    (lambda: fit(rows(), pass_fail=True).means(alpha=0), "alpha"),
    (lambda: fit(rows(), pass_fail=True).difference(0, -1), "second"),
    (
        lambda: fit(rows(), pass_fail=True).pairs(rng=0),
        "systems must be a whole number of at least 2",
    ),
    (lambda: fit(rows(), pass_fail=True).labels_for(0), "half_width"),
    (lambda: accuracies([[0.5]], [1]), "codes"),
    (lambda: accuracies([[0], [1]], [1, -1], counts=[1]), "count"),
    # Pairs, clusters, plans.
    (lambda: tango([-1], [0], 5), "first_only"),
    (lambda: tango([3], [3], 5), "same must be"),
    (lambda: tango(6, 5, 10), "at least 0"),
    (lambda: exact_score(3, 3, 5), "between 0 and n"),
    (lambda: holm([0.1, NAN]), "p must be in"),
    (lambda: step_down_order([[1, 2], [0.5, 1]]), "p_values must be"),
    (lambda: sign_flip_columns(np.full((8, 1), NAN), width=1, rng=0), "differences must be finite"),
    (lambda: sign_flip_columns(np.full((8, 1), 0.3), width=0.2, rng=0), r"reach 0\.3 .* = 0\.2"),
    *(
        (
            lambda o=o: sign_flip_columns(np.ones((8, 1)), **({"width": 1, "rng": 0} | o)),
            next(iter(o)),
        )
        for o in ({"width": 0}, {"alpha": 1}, {"adverse": -1})
    ),
    (lambda: battles(0, 0, 0), "battles must be"),
    (lambda: battles(1, -1, 0), "ties"),
    (lambda: battles_by_item([1, 2], [0, 1], rng=0), "outcomes"),
    (lambda: battles_by_item([], [], rng=0), "outcomes"),
    (lambda: battles_by_item([1, 0], [0], rng=0), "items"),
    (lambda: bounded_mean_log_e(10, 11.0, 20.0), "within the bounds"),
    (lambda: bounded_mean_log_e(10, 5.0, 1.0), "sums over n values"),
    (lambda: item_values([3], [4], k=5), "at least k = 5 runs of every item, item 0 has 4"),
    (lambda: item_values([5], [4], k=1), "between 0 and runs"),
    (lambda: item_values([1], [4], k=0), "k must be"),
    (lambda: sequential_items(0.2, 0.1), "lean must be"),
    (lambda: sign_stopping(1.5, 10), "lean must be"),
    (lambda: power.leaderboard_items(0.2, 2, 0.1), "at most the disagreement"),
    (lambda: power.leaderboard_items(0.0, 2, 0.1), "difference must be above 0"),
    (lambda: power.leaderboard_items(0.1, 2, 0.1, power=1.0), "power"),
    # Votes and streams.
    (lambda: as_ratings([[0], [1]]), "a table of 2 columns or more"),
    (lambda: as_ratings([[0.5, 1.0]]), "codes must be a whole number"),
    (lambda: as_ratings([[0, 1]], [1, 2]), "one entry per row"),
    (lambda: as_ratings([[0, 1]], [0.5]), "whole number"),
    (lambda: as_ratings([[0, -2]]), "codes must be"),
    (lambda: as_ratings([[0, 3]], n_labels=3), "codes must be in"),
    (lambda: as_ratings([[0, 0]], n_labels=1), "n_labels must be"),
    (lambda: cohen_kappa([[0, 0, 0]]), "codes must be a table"),
    (lambda: as_votes([0, 1], [1, 1], n_classes=2), "codes must be a table"),
    (lambda: as_votes([[0, 2]], [1], n_classes=2), r"codes must be in \[-1, 1\], got 2"),
    (lambda: as_votes([[0, 1]], [0], n_classes=2), "sum_of_counts"),
    (lambda: latent([1, 2]), "counts must be one entry"),
    (lambda: latent(confusion_prior=-1.0), "confusion_prior"),
    (lambda: LatentModel([0.5, 0.6], [[[1, 0], [0, 1]]]), "balance must hold"),
    (lambda: LatentModel([0.5, 0.5], [[[1, 0.1], [0, 1]]]), "confusion must hold"),
    (lambda: LatentModel([0.5, 0.5], [[[1, 0]]]), "balance must be one entry per class"),
    (
        lambda: calibrate(
            Support(support=CODES, share=CODES, consensus=np.ones(4, dtype=int)), np.ones((4, 2))
        ),
        "labels must be at least 20",
    ),
    (lambda: RateTest(limit=0.1, population=5, side="below").update([0, NAN]), "0 or 1"),
    (
        lambda: RateTest(limit=0.1, population=5, side="below").update(np.zeros(6)),
        "population must be at least 6",
    ),
    (lambda: watch([[0, 1, 2]]), "codes must be a table of 2 columns"),
    (lambda: watch([[0.5, 1.0]]), "codes must be a whole number"),
    (lambda: watch([[0, 2]]), "codes must be in"),
    *(
        (lambda option=option: WatchOptions(key="k", **option), next(iter(option)))
        for option in (
            {"block": 1},
            {"horizon": 10},
            {"alpha": 0},
            {"memory": 5},
            {"max_labels": 0},
        )
    ),
    (lambda: Watch.from_dict({"version": 99}), "another release"),
    (lambda: explain(CODES, [1, 2], [1] * 4, n_labels=2), "before must be one entry"),
    (lambda: explain(CODES, [0] * 4, [1] * 4, n_labels=2), "before must be above 0"),
]


@pytest.mark.parametrize(("call", "named"), REFUSED)
def test_an_argument_outside_its_domain_is_refused_by_name(call, named):
    with pytest.raises(InputError, match=named):
        call()


def test_what_the_data_cannot_say_is_no_fault_of_an_argument():
    with pytest.raises(NotIdentifiable, match="5 clusters"):
        sign_flip_columns(np.full((5, 1), 0.1), width=1, rng=0)
    with pytest.raises(NotIdentifiable, match="use at least 77"):
        power.detectable_difference(76, 0.1)
    assert power.detectable_difference(77, 0.1) <= 0.1
