"""Null sizes and powers of ``compare`` beside paired z, t and Wilcoxon.

Right or wrong, grades, skewed and clustered scores; two and ten models; 8 to 1,000 rows. Ten equal
models err if any pair is told apart; the peers are adjusted by Holm.

Run: ``python -m benchmarks.truth.compare_sizes [--write] [--draws 4000]``.
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
from tallystick.stats.pairs import pairs_of_items, sign_flip_table
from tallystick.stats.skewed import skewed_board
from tallystick.verbs.compare import Board, CompareQuestion, rank
from tallystick.verbs.compare.board import are_measured

Floats = NDArray[np.float64]
SIZES = (8, 20, 50, 200, 1000)
ALPHA = 0.05
PER_CLUSTER = 5
HELD = 5
"""Draws of each cell on which the verb itself is asked too."""


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


def ours(kind: str, x: Floats) -> tuple[bool, bool]:
    """Say whether any pair, and whether the first model above the second, is told apart.

    From the tables on which the verb rests its verdicts; `main` holds the two to equality.
    """
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
            measured=kind == "graded" and are_measured(x),
        )
    told = table.adjusted_p <= ALPHA
    lead = x[:, 0].mean() - x[:, 1].mean()
    return bool(told.any()), bool(told[0] and lead > 0)


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


def peer(test: Callable[[Floats], float], kind: str, x: Floats) -> tuple[bool, bool]:
    """Return the same of a test of paired differences (of cluster means), adjusted by Holm."""
    y = x.reshape(-1, PER_CLUSTER, x.shape[1]).mean(axis=1) if kind == "clustered" else x
    first, second = np.triu_indices(x.shape[1], 1)
    gaps = (y[:, first] - y[:, second]).T
    p = np.array([test(gap) if gap.any() else 1.0 for gap in gaps])
    adjusted = holm(p)
    return bool((adjusted <= ALPHA).any()), bool(adjusted[0] <= ALPHA and gaps[0].mean() > 0)


def _z(gap: Floats) -> float:
    error = gap.std(ddof=1) / np.sqrt(gap.size)
    return float(2 * stats.norm.sf(abs(gap.mean()) / error)) if error else 0.0


def _t(gap: Floats) -> float:
    error = gap.std(ddof=1) / np.sqrt(gap.size)
    return float(2 * stats.t.sf(abs(gap.mean()) / error, gap.size - 1)) if error else 0.0


def _wilcoxon(gap: Floats) -> float:
    return float(stats.wilcoxon(gap, method="approx").pvalue)


METHODS: dict[str, Callable[[str, Floats], tuple[bool, bool]]] = {
    "compare": ours,
    "paired z": partial(peer, _z),
    "paired t": partial(peer, _t),
    "Wilcoxon": partial(peer, _wilcoxon),
}


def cell(kind: str, n: int, models: int, draws: int) -> dict[str, object]:
    """Return sizes and powers of all methods on the same draws."""
    draw, gaps = KINDS[kind]
    size, power = dict.fromkeys(METHODS, 0), dict.fromkeys(METHODS, 0)
    rng = np.random.default_rng([n, models, *kind.encode()])
    for turn in range(draws):
        null, real = draw(n, models, 0.0, rng), draw(n, models, gaps[n], rng)
        if turn < HELD:
            assert [ours(kind, x) for x in (null, real)] == [
                through_the_verb(kind, x) for x in (null, real)
            ], (kind, n, models, turn)
        for name, method in METHODS.items():
            if models > 2 and name == "Wilcoxon":
                continue
            size[name] += method(kind, null)[0]
            power[name] += method(kind, real)[1]
    row: dict[str, object] = {"scores": kind, "rows": n, "models": models, "draws": draws}
    for name in METHODS:
        blank = models > 2 and name == "Wilcoxon"
        row[f"size, {name}"] = "" if blank else f"{size[name] / draws:.3f}"
        row[f"power, {name}"] = "" if blank else f"{power[name] / draws:.3f}"
    return row


def main() -> None:
    """Draw every cell and record the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--models", default="2,10")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for models in map(int, given.models.split(",")):
        for kind in given.kinds.split(","):
            for n in SIZES:
                slow = (models > 2) + (kind == "clustered" and n >= 200)
                if kind == "clustered" and n > 200:
                    continue
                rows.append(cell(kind, n, models, given.draws // 4**slow))
                print(rows[-1], flush=True)
    record(
        "compare-sizes",
        "Null sizes and powers of compare, beside paired z, t and Wilcoxon",
        rows,
        notes=[
            f"{given.draws:,} draws per cell, a quarter of them with ten models and with 200"
            " clusters; of ten equal models, any pair told apart is an error. Rows of clustered"
            " scores are documents of five items, and the peers see document means. Peers are"
            " adjusted by Holm, Wilcoxon's test is the asymptotic one"
        ],
    )


if __name__ == "__main__":
    main()
