"""Coverage of [L, U] by the forward dual and, beside it, by the plug-in of the paper."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tallystick.bound.blocks import Scheme, label_bins
from tallystick.bound.forward import Evidence, LabelDoubt, forward
from tallystick.bound.metrics import Summary
from tallystick.bound.plug_in import plug_in_interval
from tallystick.errors import NotIdentifiable
from tallystick.stats import latent
from tallystick.stats.transport import agreement, joint_event

pytestmark = pytest.mark.slow

REPETITIONS = 2000
Z = 1.959963984540054
ACCURACY, F1 = Summary("accuracy"), Summary("f1", 1)


def world(weak, classes, kink, seed):
    """Weak labels independent given the class; the classifier leans on them as the label does, or on itself."""
    draw = np.random.default_rng(seed)
    votes = np.array(list(itertools.product(range(classes), repeat=weak)))
    joint = np.full((len(votes), classes), 1 / classes)
    confusion = []
    for j in range(weak):
        right = draw.uniform(0.6, 0.8)
        table = np.full((classes, classes), (1 - right) / (classes - 1))
        np.fill_diagonal(table, right)
        confusion.append(table)
        joint *= table[:, votes[:, j]].T
    share = joint.sum(axis=1)
    p = joint / share[:, None]
    own = draw.dirichlet(np.ones(classes), size=len(votes))
    q = p if kink else 0.75 * p + 0.25 * own
    return votes, share, p, q


def sharp(share, p, q, wanted):
    if wanted.metric == "accuracy":
        return agreement(q, p).mean(share)
    ends = joint_event(q[:, 1], p[:, 1]).mean(share)
    below = (share @ q[:, 1] + share @ p[:, 1]) / 2
    return ends[0] / below, ends[1] / below


def batches(draw, n, share, q, size):
    """Yield counts by (repetition, pattern, prediction)."""
    cells = (share[:, None] * q).ravel()
    for start in range(0, REPETITIONS, size):
        found = draw.multinomial(n, cells / cells.sum(), size=min(size, REPETITIONS - start))
        yield found.reshape(-1, *q.shape)


def hits(low, high, target):
    inside = (low <= target[0]) & (target[1] <= high)
    return np.atleast_1d(inside), np.atleast_1d(np.clip(high, 0, 1) - np.clip(low, 0, 1))


def row(case, n, patterns, classes, metric, method, found):
    inside, width = (np.concatenate([pair[k] for pair in found]) for k in range(2))
    return {
        "P(Y|Z)": case,
        "n": n,
        "patterns": patterns,
        "classes": classes,
        "metric": metric,
        "method": method,
        "repetitions": len(inside),
        "coverage": float(inside.mean()),
        "median width": float(np.median(width)),
    }


def simulate(case, weak, classes, n, *, kink, labels=0, wrong=False, seed=1):
    _, share, p, q = world(weak, classes, kink, seed)
    said = 0.7 * p + 0.3 * p[:, ::-1] if wrong else p
    bins = label_bins(said, share)
    single = len(share) > 300
    wanted = [ACCURACY, F1] if classes == 2 and not single else [ACCURACY]
    targets = [sharp(share, p, q, one) for one in wanted]
    draw = np.random.default_rng([seed, weak, classes, n, labels])
    found = {(one.metric, how): [] for one in wanted for how in ("forward", "plug-in")}
    for counts in batches(draw, n, share, q, 1 if single else 100):
        keep = counts[0].sum(axis=1) > 0 if single else np.ones(len(share), dtype=bool)
        gold = None
        if labels:
            cells = (share[:, None] * p).ravel()
            gold = draw.multinomial(labels, cells / cells.sum(), size=len(counts)).reshape(-1, *p.shape)
            keep = keep | (gold[0].sum(axis=1) > 0) if single else keep
        counts = counts[0][keep] if single else counts
        gold = gold[0][keep] if single and gold is not None else gold
        known = Evidence(counts=counts, p=said[keep], bins=label_bins(said[keep], share[keep]) if single else bins)
        learnt = labels and not wrong
        evidence = Evidence(counts=counts, p=None if learnt else said[keep], bins=known.bins, gold=gold)
        for one, target, (low, high) in zip(
            wanted, targets, forward(evidence, wanted, rng=draw, scheme=Scheme()), strict=True
        ):
            found[one.metric, "forward"].append(hits(low.edge(Z), high.edge(Z), target))
            if not learnt:
                found[one.metric, "plug-in"].append(hits(*plug_in_interval(known, one, alpha=0.05), target))
    return [row(case, n, len(share), classes, metric, how, pairs) for (metric, how), pairs in found.items() if pairs]


def simulate_em(case, weak, n, *, kink, seed=1):
    votes, share, p, q = world(weak, 2, kink, seed)
    wanted = [ACCURACY, F1]
    targets = [sharp(share, p, q, one) for one in wanted]
    draw = np.random.default_rng([seed, weak, n, 7])
    found = {(one.metric, how): [] for one in wanted for how in ("forward", "plug-in")}
    refused = 0
    for counts in batches(draw, n, share, q, 1):
        keep = counts[0].sum(axis=1) > 0
        counts, codes = counts[0][keep], votes[keep]
        weight = counts.sum(axis=1).astype(float)
        try:
            fitted = latent.fit(codes, weight, n_classes=2, options=latent.LatentOptions(confusion_prior=0.1))
            doubt = LabelDoubt(latent.information(fitted), codes, True)
        except NotIdentifiable:
            refused += 1
            continue
        said = fitted.posterior
        evidence = Evidence(counts=counts, p=said, bins=label_bins(said, weight), doubt=doubt)
        for one, target, (low, high) in zip(
            wanted, targets, forward(evidence, wanted, rng=draw, scheme=Scheme()), strict=True
        ):
            found[one.metric, "forward"].append(hits(low.edge(Z), high.edge(Z), target))
            found[one.metric, "plug-in"].append(hits(*plug_in_interval(evidence, one, alpha=0.05), target))
    assert refused < REPETITIONS / 100
    return [row(case, n, len(share), 2, metric, how, pairs) for (metric, how), pairs in found.items() if pairs]


CASES = [
    ("known", 4, 2, 500, False),
    ("known, kink", 4, 2, 500, True),
    ("known, kink", 6, 2, 1000, True),
    ("known", 6, 2, 5000, False),
    ("known, kink", 6, 2, 5000, True),
    ("known", 8, 2, 1000, False),
    ("known, kink", 8, 2, 1000, True),
    ("known", 12, 2, 500, False),
    ("known (the collapse)", 12, 2, 1000, False),
    ("known, kink", 12, 2, 1000, True),
    ("known", 4, 3, 1000, False),
    ("known, kink", 4, 3, 1000, True),
    ("known", 4, 6, 2000, False),
    ("known, kink", 4, 6, 2000, True),
]
LABELS = [(100, False), (300, False), (2000, False), (100, True), (300, True)]


def test_the_forward_dual_covers_the_sharp_bounds(publish_coverage):
    rows = []
    for case, weak, classes, n, kink in CASES:
        rows += simulate(case, weak, classes, n, kink=kink)
    for labels, wrong in LABELS:
        case = f"{'wrong by .3, ' if wrong else ''}{labels} labels, kink"
        rows += simulate(case, 6, 2, 1000, kink=True, labels=labels, wrong=wrong)
    rows += simulate_em("EM", 5, 1000, kink=False)
    rows += simulate_em("EM, kink", 5, 1000, kink=True)
    publish_coverage(
        "bound",
        f"How often the sharp bounds [L, U] lie inside the interval, nominal 95 %, {REPETITIONS:,} repetitions. "
        "*kink*: P(h | z) = P(Y | z), the hardest case; labels: P(Y | Z) learnt from so many labelled rows, or a wrong "
        "P(Y | Z) rectified by them; EM: fitted on the same rows.",
        rows,
    )
    forward_rows = [one["coverage"] for one in rows if one["method"] == "forward"]
    assert np.mean(forward_rows) >= 0.96
    assert min(forward_rows) >= 0.94
    collapse = {one["method"]: one["coverage"] for one in rows if "collapse" in one["P(Y|Z)"]}
    assert collapse["forward"] >= 0.94
    assert collapse["plug-in"] < 0.5
