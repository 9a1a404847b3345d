"""Coverage of the intervals of the two baselines, on votes drawn from populations in which their
assumption holds."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tallystick.errors import ConvergenceError, NotIdentifiable
from tallystick.papers.noisy_judges.baselines import rank_one
from tallystick.papers.noisy_judges.trio_quadratic import trio_moments
from tallystick.results import Interval
from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge.independence import interval_ends
from tallystick.verbs.judge.majority import agreement_ends

REPETITIONS = 2000
EVEN = ((0.9, 0.9), (0.8, 0.8), (0.7, 0.7), (0.75, 0.75), (0.65, 0.65))
UNEVEN = (
    (0.9, 0.75),
    (0.7, 0.85),
    (0.8, 0.65),
    (0.6, 0.8),
    (0.75, 0.75),
    (0.85, 0.6),
    (0.65, 0.7),
    (0.7, 0.8),
)
LENIENT = ((0.95, 0.65), (0.9, 0.6), (0.92, 0.7), (0.85, 0.6), (0.9, 0.7))
"""All lean to the first label, so that (J7) has one sign and nothing cancels."""
CELLS = [
    *(("spectral", UNEVEN[:judges], 0.3, n) for judges in (3, 5, 8) for n in (300, 2000)),
    *(("spectral", UNEVEN[:5], 0.5, n) for n in (300, 2000)),
    *(
        ("agreement", EVEN[:judges], share, n)
        for judges in (3, 5)
        for share in (0.5, 0.3)
        for n in (300, 2000)
    ),
    *(("agreement, off its assumption", LENIENT, share, 2000) for share in (0.5, 0.3)),
]


def population(accuracy, share):
    """Return every pattern as panel, the chance of each, and the judges' accuracies overall."""
    patterns = np.array(list(itertools.product((0, 1), repeat=len(accuracy))))
    tally = Tally.of({f"j{k}": patterns[:, k] for k in range(len(accuracy))})
    panel = Panel.of(tally)
    right = np.array(accuracy)
    chance = sum(
        weight * np.where(panel.codes == c, right[:, c], 1 - right[:, c]).prod(axis=1)
        for c, weight in enumerate((share, 1 - share))
    )
    return panel, chance, right @ [share, 1 - share]


def ends(method, panel):
    """Return low and high ends of accuracy, NaN where there is no interval."""
    try:
        if method.startswith("agreement"):
            return agreement_ends(panel, alpha=0.05)
        rank = rank_one(trio_moments(panel.codes, panel.counts))
        found = interval_ends(panel, rank, alpha=0.05)[2]
    except (NotIdentifiable, ConvergenceError):
        return np.full((2, len(panel.names)), np.nan)
    return np.array(
        [tuple(one) if isinstance(one, Interval) else (np.nan, np.nan) for one in found]
    ).T


def measure(method, accuracy, share, n, seed):
    panel, chance, truth = population(accuracy, share)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, chance / chance.sum(), REPETITIONS)
    found = np.array(
        [ends(method, replace(panel, counts=counts.astype(float))) for counts in drawn]
    )
    low, high = found[:, 0], found[:, 1]
    given = np.isfinite(low)
    covered = (given & (low <= truth) & (truth <= high)).sum(axis=0) / given.sum(axis=0)
    return {
        "method": method,
        "judges": len(accuracy),
        "prevalence": share,
        "items": n,
        "draws": REPETITIONS,
        "mean": float(covered.mean()),
        "worst": float(covered.min()),
        "interval given": float(given.mean()),
        "median width": float(np.nanmedian(high - low)),
    }


@pytest.mark.slow
def test_intervals_of_the_baselines_cover_where_their_assumption_holds(publish_coverage):
    rows = [measure(*cell, seed) for seed, cell in enumerate(CELLS)]
    publish_coverage(
        "judge-baselines",
        f"Coverage of 95 % intervals for accuracy on new items, {REPETITIONS} draws a row, where"
        " one is given (an estimate on the edge has none). Mean and worst are over judges. The"
        " spectral method assumes independent errors given the label; agreement rates assume more,"
        " and the last rows show judges that are independent given the label, all lenient in one"
        " direction, and break it: there the intervals fail, as `agreement` says.",
        rows,
    )
    held = [row for row in rows if "off" not in row["method"]]
    large = [row for row in held if row["items"] == 2000]
    assert min(row["worst"] for row in large) >= 0.93
    assert np.mean([row["mean"] for row in held]) >= 0.93
    assert max(row["worst"] for row in rows if "off" in row["method"]) < 0.9
