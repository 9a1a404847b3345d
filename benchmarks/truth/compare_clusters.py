"""Comparing models on new clusters: how often equal models are told apart, and unequal ones.

    python -m benchmarks.truth.compare_clusters [SECTION…] [--runs 700] [--keep FILE] [--write]

``tables`` remakes the table of the methods page: our default, the same test without an adverse
cluster, and three peers implemented from their formulas, all on the same draws and each against its
own estimand; 5 and 30 models take a third and a fifteenth of the runs. ``documents`` measures only
ours, 1000 runs a cell, up to 120 documents of five questions. ``scenarios`` is HELM Lite: which of
its pairs are told apart, and how often equal models are, 1000 runs a cell (200 with 30 models).
--keep FILE goes on from the rows of an earlier, stopped call.

Real data: TALLYSTICK_DATA.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtr, stdtr

from benchmarks.record import kept_row, record
from benchmarks.truth.cluster_cases import (
    DATA,
    Clusters,
    Draw,
    alpaca,
    collapse,
    documents,
    helm,
    restless,
)
from tallystick.stats.clusters import sign_flip_pairs
from tallystick.stats.maxt import holm
from tallystick.stats.pairs import sign_flip_table

ALPHA = 0.05
SIZES = (8, 20, 50)
DOCUMENTS = (8, 20, 120)


def ours(sample: Clusters) -> np.ndarray:
    """Return what ``compare --cluster`` rests its verdicts on, from the same counts.

    The verb calls this function with the cluster sums of its table: tests/compare/test_new_clusters
    holds the two equal.
    """
    means = sample.equal / sample.counts[:, None]
    return sign_flip_table(means, bounds=(0.0, 1.0), rng=0).adjusted_p


def without_adverse(sample: Clusters) -> np.ndarray:
    """Flip signs in the same way, without the adverse cluster."""
    means = sample.equal / sample.counts[:, None]
    found = sign_flip_pairs(means, width=1, rng=0, adverse=0.0)
    return found.p_value if len(found.p_value) == 1 else found.adjusted_p


def student(sample: Clusters) -> np.ndarray:
    """Student's t on cluster means with G - 1 degrees of freedom, Holm."""
    means = sample.equal / sample.counts[:, None]
    first, second = np.triu_indices(means.shape[1], 1)
    d = means[:, first] - means[:, second]
    return holm(_p(d.mean(axis=0), d.std(axis=0, ddof=1) / np.sqrt(len(d)), len(d) - 1))


def statsmodels_z(sample: Clusters) -> np.ndarray:
    """OLS on a constant, cov_type="cluster" as statsmodels has it (CR1) with normal quantiles."""
    n = sample.counts[:, None]
    first, second = np.triu_indices(sample.items.shape[1], 1)
    d = sample.items[:, first] - sample.items[:, second]
    mean = d.sum(axis=0) / n.sum()
    groups = len(d)
    error = np.sqrt(groups / (groups - 1) * ((d - n * mean) ** 2).sum(axis=0)) / n.sum()
    return holm(_p(mean, error, None))


def _p(mean: np.ndarray, error: np.ndarray, freedom: int | None) -> np.ndarray:
    """Two-sided p-values; models that are the same in every cluster are never told apart."""
    same = error <= 1e-12
    ratio = np.abs(mean) / np.where(same, 1.0, error)
    tail = ndtr(-ratio) if freedom is None else stdtr(freedom, -ratio)
    return np.where(same, 1.0, np.minimum(1.0, 2 * tail))


METHODS: dict[str, Callable[[Clusters], np.ndarray]] = {
    "ours": ours,
    "sign-flip, v = 0": without_adverse,
    "t on cluster means, Holm": student,
    "statsmodels z, Holm": statsmodels_z,
}


def told_apart(draw: Draw, clusters: int, models: int, runs: int, seed: int) -> np.ndarray:
    """Return runs x methods x pairs: whether each pair was told apart."""
    rng = np.random.default_rng([seed, clusters, models])
    found = []
    for _ in range(runs):
        sample = draw(rng, clusters, models)
        found.append([method(sample) <= ALPHA for method in METHODS.values()])
    return np.array(found)


def errors(draw: Draw, clusters: int, models: int, runs: int, seed: int) -> np.ndarray:
    """Return the share of runs with any false verdict, one per method."""
    return np.asarray(told_apart(draw, clusters, models, runs, seed).any(axis=2).mean(axis=0))


class Table:
    """Rows of figures by method, with the figure of the methods page beside ours."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, title: str, figures: list[np.ndarray], page: str) -> None:
        """Add a row: one figure per column of *figures*, for every method."""
        texts = (
            " / ".join(f"{figure[j]:.3f}".lstrip("0") for figure in figures)
            for j in range(len(METHODS))
        )
        row = {
            "error (any false verdict), or power": title,
            **dict(zip(METHODS, texts, strict=True)),
        }
        self.rows.append(row | {"ours, on the page": page})
        print(self.rows[-1], flush=True)


def worst(cells: list[np.ndarray]) -> np.ndarray:
    return np.asarray(np.max(cells, axis=0))


def many(runs: int, models: int) -> int:
    return max(10, {2: runs, 5: runs // 3, 30: runs // 15}[models])


def generated(table: Table, runs: int) -> None:
    kinds = [documents("normal", "even"), documents("t3", "uneven"), documents("uniform", "uneven")]
    figures = []
    for models in (2, 5, 30):
        sizes = SIZES if models < 30 else (20,)
        cells = [
            errors(kind, clusters, models, many(runs, models), seed)
            for seed, kind in enumerate(kinds)
            for clusters in sizes
        ]
        figures.append(worst(cells))
    title = "3 generators of documents, G = 8-50 (k = 30: 20), worst cell: k = 2 / 5 / 30"
    table.add(title, figures, ".053 / .047 / .040")

    skewed = [
        collapse(0.1, 0.6, 0.04), collapse(0.2, 0.6, 0.1), collapse(0.15, 0.3, 0.1),
        restless(0.6), restless(0.2),
    ]  # fmt: skip
    for title, some, page in (
        ("one model varies far more, k = 2, worst of 2", skewed[3:], ".063 / .071 / .063 (of 5)"),
        ("one model collapses on 10-20% of clusters, worst of 3", skewed[:3], "see next row"),
        ("collapse by .6 on 10%, noise .04", skewed[:1], ".07 / .12 / .07 (corrections, 1)"),
    ):
        figures = [
            worst([errors(kind, g, 2, runs, 10 + seed) for seed, kind in enumerate(some)])
            for g in SIZES
        ]
        table.add(f"{title}: G = 8 / 20 / 50", figures, page)

    lead = documents("t3", "uneven", lead=0.7)
    power = [told_apart(lead, g, 2, runs, 20).mean(axis=(0, 2)) for g in SIZES]
    table.add("power, t_3 effects, k = 2: G = 8 / 20 / 50", power, ".19 / .56 / .96 (other lead)")


def real(table: Table, runs: int) -> None:
    scenarios = helm()
    null, drawn = scenarios.draw(null=True), scenarios.draw(null=False)
    for models, page in ((2, ".001 / .026 / .051"), (5, ".000 / .027 / .070")):
        figures = [errors(null, g, models, many(runs, models), 30) for g in SIZES]
        title = f"HELM, neighbours in rank made equal, k = {models}: G = 8 / 20 / 50"
        table.add(title, figures, page)
    table.add("the same, k = 30, G = 20", [errors(null, 20, 30, many(runs, 30), 30)], ".080")
    blocks = alpaca().draw(null=True)
    figures = [
        worst([errors(blocks, g, models, many(runs, models), 31) for g in sizes])
        for models, sizes in ((2, SIZES), (5, SIZES), (30, (20,)))
    ]
    table.add("AlpacaEval in 40 blocks, worst of G: k = 2 / 5 / 30", figures, ".049 / .054 / .040")
    power = [told_apart(drawn, 20, k, many(runs, k), 32).mean(axis=(0, 2)) for k in (2, 5, 30)]
    table.add("power, HELM resampled, G = 20: k = 2 / 5 / 30", power, ".79 / .74 / .49")


def as_it_is() -> list[str]:
    """Return what HELM says of all 435 pairs, without resampling."""
    scenarios = helm()
    whole = Clusters(scenarios.counts, scenarios.sums, scenarios.sums)
    told = {name: int((method(whole) <= ALPHA).sum()) for name, method in METHODS.items()}
    means = scenarios.sums / scenarios.counts[:, None]
    seeds = [
        int((sign_flip_pairs(means, width=1, rng=seed).adjusted_p <= ALPHA).sum())
        for seed in range(10)
    ]
    begin = process_time()
    ours(whole)
    return [
        "HELM as it is (20 scenarios), pairs told apart of 435: "
        + ", ".join(f"{name} {count}" for name, count in told.items())
        + " (page: 269, t 265, CR2 5)",
        f"ours over 10 seeds of the subsets: {min(seeds)} to {max(seeds)}",
        f"435 pairs on 20 scenarios took {process_time() - begin:.2f} s of one core",
    ]


def of_documents(runs: int) -> None:
    """How often ours tells equal models apart on documents of five questions each."""
    rows = []
    for models in (2, 5):
        for effect in (0.8, 3.0):
            parts = [
                kept_row(
                    f"documents, {models}, {effect}, {clusters}, {runs}",
                    partial(_documents_cell, clusters, models, effect, runs),
                )
                for clusters in DOCUMENTS
            ]
            items = " / ".join(f"{part['items']:.3f}" for part in parts)
            found = {
                f"{clusters} documents": part["documents"]
                for clusters, part in zip(DOCUMENTS, parts, strict=True)
            }
            title = {"models": models, "pairs": models * (models - 1) // 2, "effect": effect}
            rows.append(title | found | {"McNemar on questions, Holm": items})
    record(
        "compare-documents",
        "Documents of five questions, no true difference: any false verdict",
        rows,
        notes=[
            f"{runs} runs per cell, standard error {np.sqrt(0.05 * 0.95 / runs):.3f}. Every model has"
            " an effect of its own on every document, with this standard deviation in logits.",
            "With 8 documents a verdict needs them to agree almost without exception, so it is"
            " rare.",
            "McNemar (8 / 20 / 120 documents) takes questions for independent. It answers another"
            " question, new questions on these documents (`--population items`), so as a verdict on"
            " new documents it is wrong this often.",
        ],
    )


def _documents_cell(clusters: int, models: int, effect: float, runs: int) -> dict[str, float]:
    rng = np.random.default_rng([50, models, clusters, round(10 * effect)])
    found = [_document_run(rng, clusters, models, effect) for _ in range(runs)]
    documents, items = np.mean(found, axis=0).tolist()
    return {"documents": documents, "items": items}


def _document_run(
    rng: np.random.Generator, clusters: int, models: int, effect: float
) -> tuple[bool, bool]:
    """Draw documents once, and say whether any pair is told apart: by document, by question."""
    base = rng.normal(0.6, 1.0, (clusters, 1, 1))
    own = rng.normal(0, effect, (clusters, 1, models))
    right = rng.random((clusters, 5, models)) < 1 / (1 + np.exp(-base - own))
    sums = right.sum(axis=1).astype(float)
    by_document = ours(Clusters(np.full(clusters, 5), sums, sums))

    flat = right.reshape(-1, models)
    first, second = np.triu_indices(models, 1)
    wins = (flat[:, first] & ~flat[:, second]).sum(axis=0)
    losses = (~flat[:, first] & flat[:, second]).sum(axis=0)
    by_question = np.minimum(1.0, 2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5))
    return bool((by_document <= ALPHA).any()), bool((holm(by_question) <= ALPHA).any())


def tables(runs: int) -> None:
    """Remake the table of the methods page."""
    table = Table()
    generated(table, runs)
    notes = []
    if DATA.is_dir():
        real(table, runs)
        notes = as_it_is()
    else:
        notes = ["real data is absent (TALLYSTICK_DATA): generated populations only"]
    record(
        "compare-clusters",
        "New clusters: false verdicts and power",
        table.rows,
        notes=[
            f"{runs} runs at k = 2, {many(runs, 5)} at 5, {many(runs, 30)} at 30; 95%, all pairs.",
            "Ours and t compare means of cluster means, z means of items.",
            "The page's generators and leads are not printed there, and it resampled 28 scenarios "
            "of HELM where the file has 20: its figures compare in kind.",
            *notes,
        ],
    )


def main() -> None:
    sections = {"tables": (tables, 700), "documents": (of_documents, 1000)}
    given = int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else None
    for name in [name for name in sections if name in sys.argv[1:]] or list(sections):
        section, runs = sections[name]
        section(given or runs)
        print()


if __name__ == "__main__":
    main()
