"""Populations of clusters, generated and real, on which models are equal or lead by design."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(
    os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)


@dataclass(frozen=True)
class Clusters:
    """Items per cluster and sums of scores by cluster and model, once for each estimand.

    ``equal`` has models whose means of cluster means are as planned, ``items`` models whose means
    over items are: with unequal clusters one shift cannot do both.
    """

    counts: np.ndarray
    equal: np.ndarray
    items: np.ndarray


Draw = Callable[[np.random.Generator, int, int], Clusters]
"""From a generator, G and k to a sample of G clusters scored by k models."""


def documents(effects: str, sizes: str, *, lead: float = 0.0) -> Draw:
    """Right/wrong answers to questions on documents: each model has an effect on each document."""

    def draw(rng: np.random.Generator, clusters: int, models: int) -> Clusters:
        counts = (
            rng.integers(5, 16, clusters)
            if sizes == "even"
            else np.ceil(rng.lognormal(1.8, 1.0, clusters)).astype(int)
        )
        base = rng.normal(0.6, 1.0, (clusters, 1))
        shape = (clusters, models)
        own = {
            "normal": lambda: rng.normal(0, 0.8, shape),
            "t3": lambda: 0.6 * rng.standard_t(3, shape),
            "uniform": lambda: rng.uniform(-1.5, 1.5, shape),
        }[effects]()
        own[:, 0] += lead
        right = rng.binomial(counts[:, None], 1 / (1 + np.exp(-base - own))).astype(float)
        return Clusters(counts, right, right)

    return draw


def collapse(share: float, depth: float, noise: float) -> Draw:
    """One model loses *depth* on a share of clusters, and makes up for it on the others."""

    def draw(rng: np.random.Generator, clusters: int, models: int) -> Clusters:
        means = 0.5 + rng.normal(0, noise, (clusters, models))
        fails = rng.random(clusters) < share
        means[:, 0] += share * depth - depth * fails
        counts = np.full(clusters, 20)
        sums = counts[:, None] * means
        return Clusters(counts, sums, sums)

    return draw


def restless(spread: float) -> Draw:
    """One model varies far more between documents than the other, on a bounded, skewed scale."""

    def draw(rng: np.random.Generator, clusters: int, models: int) -> Clusters:
        means = rng.beta(40, 10, (clusters, models))
        a = 0.8 / spread
        means[:, 0] = rng.beta(a, a / 4, clusters)  # the same mean, .8
        counts = np.full(clusters, 20)
        sums = counts[:, None] * means
        return Clusters(counts, sums, sums)

    return draw


@dataclass(frozen=True)
class Population:
    """Real clusters, to be resampled: items per cluster and sums of scores."""

    counts: np.ndarray
    sums: np.ndarray

    def draw(self, *, null: bool) -> Draw:
        """Sample clusters with replacement and take k neighbours in rank, made equal if *null*."""
        means = self.sums / self.counts[:, None]
        by_cluster = means.mean(axis=0)
        by_item = self.sums.sum(axis=0) / self.counts.sum()
        order = np.argsort(-by_cluster)

        def draw(rng: np.random.Generator, clusters: int, models: int) -> Clusters:
            start = rng.integers(0, len(order) - models + 1)
            chosen = order[start : start + models] if null else rng.permutation(order)[:models]
            at = rng.integers(0, len(self.counts), clusters)
            n, s = self.counts[at], self.sums[np.ix_(at, chosen)]
            if not null:
                return Clusters(n, s, s)
            equal = s - n[:, None] * (by_cluster[chosen] - by_cluster[chosen].mean())
            items = s - n[:, None] * (by_item[chosen] - by_item[chosen].mean())
            return Clusters(n, equal, items)

        return draw


def helm() -> Population:
    """HELM Lite: 20 scenarios of 30 to 1000 items, 30 models, right or wrong."""
    import pyarrow.parquet as pq

    table = pq.read_table(DATA / "compare" / "helm_lite_binary.parquet")
    names = [name for name in table.column_names if name not in ("scenario", "item_id")]
    scores = np.stack([table[name].to_numpy() for name in names], axis=1).astype(float)
    return _grouped(scores, np.unique(table["scenario"].to_pylist(), return_inverse=True)[1])


def alpaca() -> Population:
    """AlpacaEval 2: win rates of 58 models, items cut into 40 blocks of unequal size."""
    import pyarrow.parquet as pq

    table = pq.read_table(DATA / "compare" / "alpaca_eval2_winrate_805x.parquet")
    names = [name for name in table.column_names if name not in ("item_id", "dataset")]
    scores = np.stack([table[name].to_numpy() for name in names], axis=1).astype(float)
    scores = scores[~np.isnan(scores).any(axis=1)]
    cuts = np.random.default_rng(40).choice(len(scores) - 1, 39, replace=False) + 1
    return _grouped(scores, np.searchsorted(np.sort(cuts), np.arange(len(scores)), side="right"))


def _grouped(scores: np.ndarray, codes: np.ndarray) -> Population:
    sums = np.zeros((codes.max() + 1, scores.shape[1]))
    np.add.at(sums, codes, scores)
    return Population(np.bincount(codes), sums)
