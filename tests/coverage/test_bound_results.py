"""Coverage of what results report besides one metric: ranges that hold for all thresholds at once.

Asked through the public functions, on tables whose law is known. *kink*: the laws meet where the
sharp bound bends."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tallystick import bound
from tallystick.papers.frechet_bounds.dual import agreement, class_joint

pytestmark = pytest.mark.slow

REPETITIONS = 300
THRESHOLDS = (0.25, 0.5, 0.75)


def world(weak, seed=1):
    """Return votes, their law and P(Y | votes), for weak labels that err independently given the
    class."""
    draw = np.random.default_rng(seed)
    votes = np.array(list(itertools.product((0, 1), repeat=weak)))
    right = draw.uniform(0.6, 0.8, weak)
    joint = np.stack(
        [np.where(votes == c, right, 1 - right).prod(axis=1) / 2 for c in (0, 1)], axis=1
    )
    share = joint.sum(axis=1)
    return votes, share, joint / share[:, None]


def known(votes, p):
    """Return the true label model."""
    law = {row.tobytes(): one for row, one in zip(np.ascontiguousarray(votes), p, strict=True)}
    return lambda asked: np.array([law[row.tobytes()] for row in np.ascontiguousarray(asked)])


def names(votes):
    return tuple(f"w{j}" for j in range(votes.shape[1]))


def samples(draw, n, votes, share, law, columns):
    """Yield tables of n rows: votes and an atom, whose columns are given."""
    cells = (share[:, None] * law).ravel()
    for _ in range(REPETITIONS):
        counts = draw.multinomial(n, cells / cells.sum()).reshape(law.shape)
        z, atom = np.nonzero(counts)
        data = {name: votes[z, j] for j, name in enumerate(names(votes))}
        data |= {name: np.asarray(values)[atom] for name, values in columns.items()}
        yield {name: np.repeat(values, counts[z, atom]) for name, values in data.items()}


def row(what, case, patterns, n, hits):
    inside, width = np.array(hits).T
    return {
        "what": what,
        "case": case,
        "patterns": patterns,
        "n": n,
        "repetitions": len(hits),
        "coverage": float(inside.mean()),
        "median width": float(np.median(width)),
    }


def case_of(kink):
    return "kink" if kink else "plain"


def bands(weak, n, kink, metric):
    """All thresholds at once; at the kink P(score ≥ t | z) is 1 - (1 - p)², p and p²."""
    votes, share, p = world(weak)
    above = np.stack([1 - (1 - p[:, 1]) ** 2, p[:, 1], p[:, 1] ** 2])
    if not kink:
        above = 0.7 * above + 0.3 * np.array([0.8, 0.5, 0.3])[:, None]
    law = -np.diff(above, axis=0, prepend=1, append=0).T
    targets = []
    for one in above:
        q = np.column_stack([1 - one, one])
        if metric == "accuracy":
            targets.append(agreement(q, p).mean(share))
        else:
            below = (share @ q[:, 1] + share @ p[:, 1]) / 2
            # At the kink the upper end is 1, and rounding may not put it above what any interval
            # can hold.
            targets.append(tuple(min(1.0, end / below) for end in class_joint(q, p)[1].mean(share)))
    low, high = np.array(targets).T
    draw = np.random.default_rng([1, weak, n, kink])
    middles = [0.1, 0.3, 0.6, 0.9]
    hits = []
    for rows in samples(draw, n, votes, share, law, {"s": middles}):
        found = bound(
            rows,
            score="s",
            weak=names(votes),
            label_model=known(votes, p),
            thresholds=THRESHOLDS,
            metrics=(metric,),
        ).bounds
        ends = np.array([tuple(b.interval) for b in found]).T
        hits.append(
            ((ends[0] <= low).all() and (high <= ends[1]).all(), np.median(ends[1] - ends[0]))
        )
    return row(
        f"band over {len(THRESHOLDS)} thresholds, {metric}", case_of(kink), len(share), n, hits
    )


def test_the_other_figures_of_a_result_cover_what_they_bound(publish_coverage):
    rows = []
    for kink in (False, True):
        rows.append(bands(4, 500, kink, "accuracy"))
    rows += [bands(6, 2000, True, "accuracy"), bands(4, 1000, True, "f1")]
    publish_coverage(
        "bound-results",
        "How often the ranges of all thresholds of a score hold their sharp ends at once, nominal 95"
        " %, P(Y | Z) known. *kink*: the laws meet where the sharp bound bends. Precision, recall,"
        " F1 and macro-F1 are in the table of [L, U].",
        rows,
    )
    assert np.mean([one["coverage"] for one in rows]) >= 0.95
    assert min(one["coverage"] for one in rows) >= 0.94
