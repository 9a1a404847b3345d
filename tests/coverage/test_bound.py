"""Coverage of [L, U] by the forward dual and, beside it, by the plug-in of the paper: about ten
minutes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.papers.frechet_bounds import Summary, plug_in_interval
from tallystick.papers.frechet_bounds.dual import agreement, class_joint
from tallystick.stats.latent_checks import information
from tallystick.stats.latent_model import LatentOptions, fit
from tallystick.verbs.bound.forward import (
    Evidence,
    LabelDoubt,
    Scheme,
    forward,
    label_bins,
)

pytestmark = pytest.mark.slow

REPETITIONS = 2000
Z = 1.959963984540054
CELLS_AT_ONCE = 6_000
"""Repetitions are batched up to so many (pattern, prediction) cells: beyond it the arrays leave the
cache."""

SINGLE = 300
"""With more patterns than this most are empty, and a repetition is counted by itself on those that
occur."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell of the grid: where P(Y | Z) comes from, how many votes of how many classes, rows,
    and the kink."""

    source: str
    weak: int
    classes: int
    n: int
    kink: bool
    metrics: tuple[str, ...] = ("accuracy",)

    def summaries(self):
        return [
            Summary(name, 1 if name in ("precision", "recall", "f1") else None)
            for name in self.metrics
        ]


def world(cell, seed=1):
    """Weak labels independent given the class; the classifier leans on them as the label does, or
    on itself."""
    draw = np.random.default_rng(seed)
    classes = cell.classes
    votes = np.array(list(itertools.product(range(classes), repeat=cell.weak)))
    joint = np.full((len(votes), classes), 1 / classes)
    for j in range(cell.weak):
        right = draw.uniform(0.6, 0.8)
        table = np.full((classes, classes), (1 - right) / (classes - 1))
        np.fill_diagonal(table, right)
        joint *= table[:, votes[:, j]].T
    share = joint.sum(axis=1)
    p = joint / share[:, None]
    own = draw.dirichlet(np.ones(classes), size=len(votes))
    q = p if cell.kink else 0.75 * p + 0.25 * own
    return votes, share, p, q


def sharp(share, p, q, wanted):
    """Return the true [L, U] of a metric."""
    if wanted.metric == "accuracy":
        return agreement(q, p).mean(share)
    h, y = share @ q, share @ p
    ends = np.array([bounds.mean(share) for bounds in class_joint(q, p)]).T
    return tuple(float(wanted.slopes(end, h, y).value) for end in ends)


def batches(draw, cell, share, q):
    """Yield counts by (repetition, pattern, prediction)."""
    cells = (share[:, None] * q).ravel()
    size = 1 if cell.source == "EM" or len(share) > SINGLE else max(1, CELLS_AT_ONCE // cells.size)
    for start in range(0, REPETITIONS, size):
        found = draw.multinomial(cell.n, cells / cells.sum(), size=min(size, REPETITIONS - start))
        yield found.reshape(-1, *q.shape)


def hits(low, high, target):
    inside = (low <= target[0]) & (target[1] <= high)
    return np.atleast_1d(inside), np.atleast_1d(np.clip(high, 0, 1) - np.clip(low, 0, 1))


def evidence_of(cell, counts, votes, share, p):
    """Return what both are given; None where the votes do not identify the model."""
    if cell.source == "EM":
        keep = counts[0].sum(axis=1) > 0
        counts, codes = counts[0][keep], votes[keep]
        weight = counts.sum(axis=1).astype(float)
        options = LatentOptions(confusion_prior=0.1)
        try:
            fitted = fit(
                codes, weight, n_classes=cell.classes, n_votes=cell.classes, options=options
            )
            doubt = LabelDoubt(information(fitted), codes)
        except NotIdentifiable:
            return None
        bins = label_bins(fitted.posterior, weight)
        return Evidence(counts=counts, p=fitted.posterior, bins=bins, doubt=doubt)
    keep = np.ones(len(share), dtype=bool)
    if len(share) > SINGLE:
        keep = counts[0].sum(axis=1) > 0
        counts = counts[0][keep]
    return Evidence(counts=counts, p=p[keep], bins=label_bins(p[keep], share[keep]))


def simulate(cell):
    votes, share, p, q = world(cell)
    wanted = cell.summaries()
    targets = [sharp(share, p, q, one) for one in wanted]
    draw = np.random.default_rng([cell.weak, cell.classes, cell.n, 0, cell.kink, len(cell.source)])
    found = {(one.metric, how): [] for one in wanted for how in ("forward", "plug-in")}
    refused = 0
    for counts in batches(draw, cell, share, q):
        held = evidence_of(cell, counts, votes, share, p)
        if held is None:
            refused += 1
            continue
        ends = forward(held, wanted, rng=draw, scheme=Scheme())
        for one, target, (low, high) in zip(wanted, targets, ends, strict=True):
            found[one.metric, "forward"].append(hits(low.edge(Z), high.edge(Z), target))
            plain = plug_in_interval(held.counts, held.p, one, alpha=0.05)
            found[one.metric, "plug-in"].append(hits(*plain, target))
    assert refused < REPETITIONS / 100
    return [row(cell, len(share), one.metric, found) for one in wanted]


def row(cell, patterns, metric, found):
    out = {
        "P(Y|Z)": cell.source + (", kink" if cell.kink else ""),
        "patterns": patterns,
        "classes": cell.classes,
        "n": cell.n,
        "metric": metric,
    }
    for how in ("forward", "plug-in"):
        name = "" if how == "forward" else "plug-in "
        inside, width = (np.concatenate(part) for part in zip(*found[metric, how], strict=True))
        if how == "forward":
            out["repetitions"] = len(inside)
        out[f"{name}coverage"] = float(inside.mean())
        out[f"{name}median width"] = float(np.median(width))
    return out


def grid():
    ratios = ("accuracy", "f1")
    for kink in (True, False):
        for n in (500, 5000):
            for weak in (4, 8):
                yield Cell(source="known", weak=weak, classes=2, n=n, kink=kink, metrics=ratios)
            yield Cell(source="known", weak=12, classes=2, n=n, kink=kink)
        yield Cell(
            source="known", weak=4, classes=3, n=5000, kink=kink, metrics=("accuracy", "macro-f1")
        )
        yield Cell(source="known", weak=4, classes=6, n=2000, kink=kink)
        yield Cell(source="known", weak=12, classes=2, n=1000, kink=kink)
        for weak, n in ((4, 500), (6, 5000)):
            yield Cell(source="EM", weak=weak, classes=2, n=n, kink=kink, metrics=ratios)
    yield Cell(source="known", weak=4, classes=6, n=5000, kink=True)
    yield Cell(
        source="known", weak=6, classes=2, n=1000, kink=True, metrics=("precision", "recall")
    )
    yield Cell(source="EM", weak=12, classes=2, n=1000, kink=True)
    yield Cell(source="EM", weak=5, classes=3, n=2000, kink=True)


def test_the_forward_dual_covers_the_sharp_bounds(publish_coverage):
    rows = [one for cell in grid() for one in simulate(cell)]
    publish_coverage(
        "bound",
        "How often the sharp bounds [L, U] lie inside the interval, nominal 95%, and the median"
        " width; beside it the plug-in of the paper, (2.7), on the same samples. *kink*: P(h | z) ="
        " P(Y | z), the hardest case; EM: fitted on the same rows.",
        rows,
    )
    forward_rows = [one["coverage"] for one in rows]
    assert np.mean(forward_rows) >= 0.96
    assert min(forward_rows) >= 0.94
    collapse = next(
        one
        for one in rows
        if one["patterns"] == 4096 and one["n"] == 1000 and one["P(Y|Z)"] == "known"
    )
    assert collapse["coverage"] >= 0.94
    assert collapse["plug-in coverage"] < 0.5
