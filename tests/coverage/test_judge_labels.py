"""Coverage of the intervals from a few labels, on real votes, by drawing the labelled items again
and again."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass

import numpy as np
import pytest

from tallystick.stats.few_labels import accuracies
from tallystick.stats.intervals import score_ends
from tallystick.stats.label_rates import poststratified_ratio
from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge.models import fit_panel

REPETITIONS = 2000
FITTED = 600
"""Draws for which every judge is fitted."""
LABELS = (20, 50, 100, 200)
SETS = ("bluebirds", "rte", "dog", "llmbar_swap0", "adult_lr_judges")
WIDTHS = {"bluebirds": (0.90, 0.70), "llmbar_swap0": (1.02, 0.76)}
INSIDE = np.array([True, True, False, False])


@dataclass
class Known:
    codes: np.ndarray
    truth: np.ndarray
    chosen: np.ndarray
    n_classes: int


def read(folder, name):
    with gzip.open(folder / "judge" / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    names = rows[0][2:]
    cells = [row[2:] for row in rows[1:] if row[1]]
    truth = [row[1] for row in rows[1:] if row[1]]
    if name.startswith("llmbar"):
        full = [i for i, row in enumerate(cells) if all(row)]
        cells, truth = [cells[i] for i in full], [truth[i] for i in full]
    columns = {judge: [row[j] or None for row in cells] for j, judge in enumerate(names)}
    tally = Tally.of(columns)
    panel = Panel.of(tally)
    place = tally.locate(columns)
    order = {label: c for c, label in enumerate(panel.classes)}
    winner = fit_panel(panel).posterior.argmax(axis=1)
    return Known(
        panel.codes[place],
        np.array([order[label] for label in truth]),
        winner[place],
        len(panel.classes),
    )


def draws(n, k, repetitions, seed):
    rng = np.random.default_rng(seed)
    return np.stack([rng.choice(n, k, replace=False) for _ in range(repetitions)])


def sums(picked, mask):
    """Repetitions x judges: how many drawn items lie in the mask."""
    out = np.zeros((len(picked), mask.shape[1]), dtype=np.int32)
    for column in picked.T:
        out += mask[column]
    return out


def table(known, picked, cells, good):
    """Rows (repetition, judge) x cells: sizes, labelled, and labelled and good."""
    sizes = np.stack([cell.sum(axis=0) for cell in cells], axis=1)
    labelled = np.stack([sums(picked, cell) for cell in cells], axis=2)
    hits = np.stack([sums(picked, cell & good) for cell in cells], axis=2)
    shape = (-1, len(cells))
    return (
        np.broadcast_to(sizes, labelled.shape).reshape(shape),
        labelled.reshape(shape),
        hits.reshape(shape),
    )


def inside(low, high, truth):
    return (low <= truth + 1e-12) & (high >= truth - 1e-12)


def cover(low, high, truth, judges, usable):
    """Return the share of draws covered, one a judge; NaN for one that is usable in less than half
    of them."""
    covered, counted = inside(low, high, truth).reshape(-1, judges), usable.reshape(-1, judges)
    times = counted.sum(axis=0)
    share = np.divide(
        (covered & counted).sum(axis=0), times, out=np.full(judges, np.nan), where=times > 0
    )
    return np.where(times >= 0.5 * len(counted), share, np.nan)


def two_strata(known):
    """Return what (P1) needs: the cells agrees / differs, right votes, and each judge's
    accuracy."""
    voted = known.codes >= 0
    agree = known.codes == known.chosen[:, None]
    right = voted & (known.codes == known.truth[:, None])
    return (voted & agree, voted & ~agree), right, right.sum(axis=0) / voted.sum(axis=0)


def on_label(known, c):
    """Return what (P2) needs: the four cells, items of the label, and each judge's accuracy on
    it."""
    voted, mine, theirs = known.codes >= 0, known.codes == c, (known.chosen == c)[:, None]
    is_c = np.broadcast_to((known.truth == c)[:, None], voted.shape)
    have = (voted & is_c).sum(axis=0)
    accuracy = np.divide(
        (mine & is_c).sum(axis=0), have, out=np.full(len(have), np.nan), where=have > 0
    )
    return (
        (mine & theirs, mine & ~theirs, voted & ~mine & theirs, voted & ~mine & ~theirs),
        is_c,
        accuracy,
    )


def measure(known, k):
    """Return coverage by cell and width against labels alone, overall and per label."""
    picked = draws(len(known.truth), k, REPETITIONS, k)
    judges = known.codes.shape[1]
    cells, right, accuracy = two_strata(known)
    n, m, x = table(known, picked[:FITTED], cells, right)
    usable = m.sum(axis=1) > 0
    low, high = fitted_ends(known, picked[:FITTED])
    alone = wilson_width(x.sum(axis=1), m.sum(axis=1), n.sum(axis=1))
    overall = cover(low, high, np.tile(accuracy, FITTED), judges, usable)
    overall_width = ratio(high - low, alone, judges, usable)
    by_label, label_width = [], []
    for c in range(known.n_classes):
        cells, is_c, accuracy = on_label(known, c)
        n, m, x = table(known, picked, cells, is_c)
        truth, hits = np.tile(accuracy, REPETITIONS), x.sum(axis=1)
        usable = (hits > 0) & np.isfinite(truth)
        found = poststratified_ratio(n, m, x, inside=INSIDE)
        by_label.append(cover(found.interval.low, found.interval.high, truth, judges, usable))
        every = np.maximum(hits, np.rint(hits * n.sum(axis=1) / np.maximum(m.sum(axis=1), 1)))
        alone = wilson_width(x[:, :2].sum(axis=1), hits, every)
        label_width += ratio(found.interval.width, alone, judges, usable)
    return {
        "overall mean": float(np.nanmean(overall)),
        "overall worst": float(np.nanmin(overall)),
        "per label mean": float(np.nanmean(by_label)),
        "per label worst": float(np.nanmin(by_label)),
        "width overall": float(np.median(overall_width)),
        "width per label": float(np.median(label_width)),
    }


def fitted_ends(known, picked):
    """Return the ends of every judge's accuracy, draw by draw: each draw is a fit of its own."""
    ends = []
    for chosen in picked:
        truth = np.full(len(known.truth), -1)
        truth[chosen] = known.truth[chosen]
        found = accuracies(known.codes, truth).means().interval
        ends.append((found.low, found.high))
    low, high = np.array(ends).transpose(1, 0, 2).reshape(2, -1)
    return low, high


def wilson_width(right, labelled, items):
    """Width of Wilson's interval from the labels alone, with the finite-population size."""
    share = np.divide(right, labelled, out=np.full(len(right), 0.5), where=labelled > 0)
    size = np.divide(
        labelled * (items - 1.0),
        items - labelled,
        out=np.full(len(right), np.inf),
        where=items > labelled,
    )
    low, high = score_ends(share, size, np.array(1.959964))
    return high - low


def ratio(width, alone, judges, usable):
    """Ratio of mean widths, one a judge."""
    mine, theirs = width.reshape(-1, judges), alone.reshape(-1, judges)
    counted = usable.reshape(-1, judges)
    pairs = [(mine[counted[:, j], j].sum(), theirs[counted[:, j], j].sum()) for j in range(judges)]
    return [float(a / b) for a, b in pairs if b > 0]


COUNTED = (
    f"Labels drawn uniformly from real, fully labelled sets, {REPETITIONS} times for every row; 95"
    " % intervals for these items. A judge counts (on a label) where it has a labelled vote (of"
    " that label) in at least half of the draws. "
)


@pytest.fixture(scope="module")
def cells(shared_data):
    sets = {name: read(shared_data, name) for name in SETS}
    return [
        (name, known, k) for name, known in sets.items() for k in LABELS if k <= len(known.truth)
    ]


@pytest.mark.slow
def test_intervals_from_a_few_labels_cover_on_real_votes(cells, publish_coverage):
    rows = [
        {"set": name, "labels": k, "draws": REPETITIONS, **measure(known, k)}
        for name, known, k in cells
    ]
    sentence = (
        f"{COUNTED}Mean and worst are over judges (over judges and labels). Width is against"
        " Wilson's interval from the labels alone, median over judges."
    )
    publish_coverage("judge-labels", sentence, rows)
    assert np.mean([row["overall mean"] for row in rows]) >= 0.95
    assert min(row["overall worst"] for row in rows) >= 0.93
    assert min(row["per label worst"] for row in rows) >= 0.90
    for row in rows:
        if row["labels"] == 50 and row["set"] in WIDTHS:
            overall, per_label = WIDTHS[row["set"]]
            assert abs(row["width overall"] - overall) <= 0.03
            assert abs(row["width per label"] - per_label) <= 0.03
