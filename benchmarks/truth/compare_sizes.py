"""Null sizes and powers of ``compare`` beside paired z, t and Wilcoxon.

Right or wrong, grades, skewed and clustered scores; two and ten models; 8 to 1,000 rows. Ten equal
models err if any pair is told apart; the peers are adjusted by Holm.

Run: ``python -m benchmarks.truth.compare_sizes [--write] [--draws 20000]``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.record import record
from tallystick._rng import as_rng
from tallystick.stats.maxt import holm
from tallystick.stats.pairs import (
    bounded_p_value,
    pairs_of_items,
    sign_flip_table,
    t_p_value,
)
from tallystick.stats.skewed import skewed_board
from tallystick.stats.two_accuracies import paired_test
from tallystick.verbs.compare import Board, CompareQuestion, rank
from tallystick.verbs.compare.board import are_measured

Floats = NDArray[np.float64]
Told = tuple[NDArray[np.bool_], NDArray[np.bool_]]
SIZES = (8, 20, 50, 200, 1000)
ALPHA = 0.05
PER_CLUSTER = 5
HELD, AT_ONCE = 5, 500
"""Draws of each cell on which the verb itself is asked too, and those that are tested at once."""


def binary(n: int, models: int, gap: float, rng: np.random.Generator) -> Floats:
    """Right or wrong: items differ in difficulty, models share most of it."""
    hard = rng.normal(0, 1, (n, 1))
    skill = np.r_[0.8 + gap, np.full(models - 1, 0.8)]
    return np.asarray(hard + rng.normal(0, 1, (n, models)) < skill, dtype=np.float64)


def graded(n: int, models: int, gap: float, rng: np.random.Generator) -> Floats:
    """Grades 0, .25, .5, .75, 1."""
    level = rng.normal(0, 1, (n, 1)) + rng.normal(0, 0.7, (n, models))
    level[:, 0] += gap
    return np.clip(np.round(2 * level + 2), 0, 4) / 4


def skewed(n: int, models: int, gap: float, rng: np.random.Generator) -> Floats:
    """Latencies: lognormal items, lognormal noise."""
    level = rng.normal(0, 1, (n, 1)) + rng.normal(0, 0.5, (n, models))
    level[:, 0] += gap
    return np.exp(level)


def clustered(n: int, models: int, gap: float, rng: np.random.Generator) -> Floats:
    """Right or wrong in n documents of 5 items, each of which favours some models."""
    own = np.repeat(rng.normal(0, 0.5, (n, models)), PER_CLUSTER, axis=0)
    hard = rng.normal(0, 1, (n * PER_CLUSTER, 1))
    skill = np.r_[0.8 + gap, np.full(models - 1, 0.8)]
    return np.asarray(hard + own + rng.normal(0, 1, own.shape) < skill, dtype=np.float64)


KINDS: dict[str, tuple[Callable[..., Floats], dict[int, float]]] = {
    "binary": (binary, {8: 2.5, 20: 1.2, 50: 0.7, 200: 0.3, 1000: 0.13}),
    "graded": (graded, {8: 1.3, 20: 0.7, 50: 0.42, 200: 0.2, 1000: 0.09}),
    "skewed": (skewed, {8: 0.8, 20: 0.5, 50: 0.35, 200: 0.17, 1000: 0.08}),
    "clustered": (clustered, {8: 1.2, 20: 0.9, 50: 0.5, 200: 0.25, 1000: 0.11}),
}
"""How each is drawn, and a difference that about two thirds of the runs show, by rows."""


@dataclass(frozen=True, eq=False)
class _Scores:
    """Sums of scores, as `pairs_of_items` reads them."""

    x: Floats
    exact: bool
    weighted: bool = False

    @property
    def n(self) -> int:
        return len(self.x)

    @property
    def sums(self) -> Floats:
        return np.asarray(self.x.sum(axis=0))

    @property
    def products(self) -> Floats:
        return np.asarray(self.x.T @ self.x)

    @property
    def centred(self) -> Floats:
        apart = self.x - self.x.mean(axis=0)
        return np.asarray(apart.T @ apart)


def ours(kind: str, draws: Floats) -> Told:
    """Say in which draws any pair, and the first model above the second, is told apart.

    Counts and grades of two models are tested all at once, by the functions that the verb calls;
    `cell` holds the two to equality.
    """
    n, models = draws.shape[1:]
    if models == 2 and kind in ("binary", "graded"):
        gap = draws[..., 0] - draws[..., 1]
        b, c = (gap > 0).sum(axis=1), (gap < 0).sum(axis=1)
        if kind == "binary":
            p = paired_test(b, c, n)
        else:
            mean, variance = gap.mean(axis=1), gap.var(axis=1, ddof=1)
            error = np.where(variance > 0, np.sqrt(variance / n), np.inf)
            spread = np.concatenate([are_measured(x) for x in draws])
            plain, pseudo = t_p_value(mean, error, n - 1), bounded_p_value(mean, variance, n, 1.0)
            p = np.where(spread, plain, pseudo)
        return p <= ALPHA, (p <= ALPHA) & (gap.sum(axis=1) > 0)
    return _each(partial(_table, kind), draws)


def _table(kind: str, x: Floats) -> tuple[bool, bool]:
    """Return the same of one draw, from the table on which the verb rests its verdict."""
    if kind == "skewed":
        table = skewed_board(x, alpha=ALPHA).table
    elif kind == "clustered":
        means = x.reshape(-1, PER_CLUSTER, x.shape[1]).mean(axis=1)
        table = sign_flip_table(means, bounds=(0.0, 1.0), alpha=ALPHA, rng=0)
    else:
        table = pairs_of_items(
            _Scores(x, exact=kind == "binary"),
            bounds=(0.0, 1.0),
            alpha=ALPHA,
            rng=as_rng(0),
            draws=1000,
            measured=are_measured(x) if kind == "graded" else None,
        )
    told = table.adjusted_p <= ALPHA
    lead = x[:, 0].mean() - x[:, 1].mean()
    return bool(told.any()), bool(told[0] and lead > 0)


def _each(method: Callable[[Floats], tuple[bool, bool]], draws: Floats) -> Told:
    found = np.array([method(x) for x in draws])
    return found[:, 0], found[:, 1]


def through_the_verb(kind: str, x: Floats) -> tuple[bool, bool]:
    """Return the same from the answer of the verb."""
    names = tuple(f"m{j}" for j in range(x.shape[1]))
    groups = tuple(i // PER_CLUSTER for i in range(len(x))) if kind == "clustered" else None
    bounds = None if kind == "skewed" else (0.0, 1.0)
    question = CompareQuestion(bounds=bounds, draws=1000)
    found = rank(Board(names=names, scores=x, clusters=groups), question)
    first = any(
        row.verdict == "m0 is better" and {row.a, row.b} == {"m0", "m1"} for row in found.pairs
    )
    return found.pairs_told > 0, first


def peer(test: Callable[[Floats], Floats], kind: str, draws: Floats) -> Told:
    """Return the same of a test of paired differences (of cluster means), adjusted by Holm."""
    y = draws
    if kind == "clustered":
        y = y.reshape(len(y), -1, PER_CLUSTER, y.shape[2]).mean(axis=2)
    first, second = np.triu_indices(y.shape[2], 1)
    gaps = (y[..., first] - y[..., second]).swapaxes(1, 2)
    p = np.where(gaps.any(axis=2), test(gaps), 1.0)
    adjusted = np.stack([holm(one) for one in p])
    told = adjusted <= ALPHA
    ahead = gaps[:, 0].sum(axis=1) > 0
    return np.asarray(told.any(axis=1)), np.asarray(told[:, 0] & ahead)


def _t(gaps: Floats, freedom: float = 0.0) -> Floats:
    n = gaps.shape[-1]
    error = gaps.std(axis=-1, ddof=1) / np.sqrt(n)
    ratio = np.abs(gaps.mean(axis=-1)) / np.where(error > 0, error, np.inf)
    return np.asarray(2 * stats.t.sf(ratio, freedom or n - 1))


def _wilcoxon(gaps: Floats) -> Floats:
    return np.asarray(stats.wilcoxon(gaps, method="approx", axis=-1).pvalue)


METHODS: dict[str, Callable[[str, Floats], Told]] = {
    "compare": ours,
    "paired z": partial(peer, partial(_t, freedom=np.inf)),
    "paired t": partial(peer, _t),
    "Wilcoxon": partial(peer, _wilcoxon),
}


def worst(n: int) -> dict[str, float]:
    """Return the largest size over all disagreements of tests of right and wrong, by enumeration.

    Every outcome (b, c) on n items is listed, at 60 shares of disagreement.
    """
    m = np.repeat(np.arange(n + 1), np.arange(n + 1) + 1)
    c = np.concatenate([np.arange(k + 1) for k in range(n + 1)])
    lead = m - 2 * c
    variance = np.maximum(m - lead**2 / n, 0.0) / (n - 1)
    ratio = np.abs(lead) / n / np.where(variance > 0, np.sqrt(variance / n), np.inf)
    ratio = np.where((variance == 0) & (lead != 0), np.inf, ratio)
    bars = {"paired z": stats.norm.isf(ALPHA / 2), "paired t": stats.t.isf(ALPHA / 2, n - 1)}
    told = {"compare": paired_test(m - c, c, n) <= ALPHA}
    told |= {name: ratio >= bar for name, bar in bars.items()}
    split = stats.binom.pmf(c, m, 0.5)
    by_m = {name: np.bincount(m, weights=split * one) for name, one in told.items()}
    shares = np.sin(np.linspace(0, np.pi / 2, 61)[1:]) ** 2
    law = stats.binom.pmf(np.arange(n + 1), n, shares[:, None])
    return {name: float((law @ one).max()) for name, one in by_m.items()}


def cell(kind: str, n: int, models: int, draws: int) -> dict[str, object]:
    """Return sizes and powers of all methods on the same draws."""
    draw, gaps = KINDS[kind]
    rng = np.random.default_rng([n, models, *kind.encode()])
    names = [name for name in METHODS if models == 2 or name != "Wilcoxon"]
    counted = {name: np.zeros(2) for name in names}
    for start in range(0, draws, AT_ONCE):
        some = range(min(AT_ONCE, draws - start))
        null, real = (np.stack([draw(n, models, by, rng) for _ in some]) for by in (0.0, gaps[n]))
        if not start:
            kept = [through_the_verb(kind, x) for x in null[:HELD]]
            assert kept == list(zip(*ours(kind, null[:HELD]), strict=True)), (kind, n, models)
        for name in names:
            counted[name] += METHODS[name](kind, null)[0].sum(), METHODS[name](kind, real)[1].sum()
    row: dict[str, object] = {"scores": kind, "rows": n, "models": models, "draws": draws}
    for name in METHODS:
        for k, what in enumerate(("size", "power")):
            row[f"{what}, {name}"] = f"{counted[name][k] / draws:.3f}" if name in names else ""
    for name, size in (worst(n) if kind == "binary" and models == 2 else {}).items():
        row[f"worst size, {name}"] = f"{size:.3f}"
    return row


def main() -> None:
    """Draw every cell and record the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--models", default="2,10")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for models in map(int, given.models.split(",")):
        for kind in given.kinds.split(","):
            for n in SIZES:
                slow = kind in ("skewed", "clustered") or models > 2
                if kind == "clustered" and n > 200:
                    continue
                rows.append(cell(kind, n, models, given.draws // (40 if slow else 1)))
                print(rows[-1], flush=True)
    record(
        "compare-sizes",
        "Null sizes and powers of compare, beside paired z, t and Wilcoxon",
        rows,
        notes=[
            f"{given.draws:,} draws per cell, a fortieth of them with skewed or clustered scores or"
            " ten models; of ten equal models, any pair told apart is an error. Rows of clustered"
            " scores are documents of five items, and the peers see document means. Peers are"
            " adjusted by Holm, Wilcoxon's test is the asymptotic one"
        ],
    )


if __name__ == "__main__":
    main()
