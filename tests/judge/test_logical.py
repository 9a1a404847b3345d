from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge import logical
from tallystick.verbs.judge.logical import Logic, joint_bound


def truths(n_labels, n):
    return np.array(list(product(range(n_labels), repeat=n)))


def votes_of(n_labels, judges, n):
    return st.lists(
        st.lists(st.integers(0, n_labels - 1), min_size=n, max_size=n),
        min_size=judges,
        max_size=judges,
    ).filter(lambda rows: len({v for row in rows for v in row}) == n_labels)


cases = st.one_of(
    *(
        votes_of(labels, judges, n)
        for labels, judges, n in ((2, 2, 8), (2, 3, 7), (3, 2, 6), (3, 3, 5))
    )
)


def brute(rows, every, j, keep):
    """Fewest and most right votes, and shares by label, over the truths kept."""
    vote = np.array(rows[j])
    right = (every[keep] == vote).mean(axis=1)
    shares = {}
    for c in range(int(every.max()) + 1):
        have = (every[keep] == c).sum(axis=1)
        hit = ((every[keep] == c) & (vote == c)).sum(axis=1)
        with np.errstate(invalid="ignore"):
            found = hit[have > 0] / have[have > 0]
        shares[c] = (found.min(), found.max()) if found.size else (0.0, 1.0)
    return (right.min(), right.max()), shares


@settings(max_examples=25)
@given(cases)
def test_single_judge_bounds_equal_brute_force_at_every_prevalence(rows):
    n_labels, n = max(map(max, rows)) + 1, len(rows[0])
    every = truths(n_labels, n)
    panel = Panel.of(Tally.of({f"j{j}": row for j, row in enumerate(rows)}))
    counts = np.stack([(every == c).sum(axis=1) for c in range(n_labels)], axis=1)
    for q in range(n + 1):
        keep = counts[:, 0] == q
        logic = Logic.of(panel, {0: (q / n, q / n)})
        for j in range(len(rows)):
            overall, shares = brute(rows, every, j, keep)
            assert logic.overall(j) == pytest.approx(overall)
            for c in range(n_labels):
                assert logic.on_label(j, c) == pytest.approx(shares[c])


@settings(max_examples=25)
@given(cases, st.data())
def test_bounds_with_ranges_and_labels_equal_brute_force(rows, data):
    n_labels, n = max(map(max, rows)) + 1, len(rows[0])
    every = truths(n_labels, n)
    known = data.draw(st.lists(st.integers(-1, n_labels - 1), min_size=n, max_size=n))
    low, high = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    mask = np.array(known)
    keep = ((every == mask) | (mask < 0)).all(axis=1)
    share = (every == 0).sum(axis=1)
    keep &= (share >= low) & (share <= high)
    columns = {f"j{j}": row for j, row in enumerate(rows)}
    votes = Tally.of({**columns, "gold": [None if v < 0 else v for v in known]})
    panel = Panel.of(votes, truth="gold", labels=range(n_labels))
    if not keep.any():
        with pytest.raises(InputError, match="contradict"):
            Logic.of(panel, {0: (low / n, high / n)})
        return
    logic = Logic.of(panel, {0: (low / n, high / n)})
    for j in range(len(rows)):
        overall, shares = brute(rows, every, j, keep)
        assert logic.overall(j) == pytest.approx(overall)
        for c in range(n_labels):
            assert logic.on_label(j, c) == pytest.approx(shares[c])


@settings(max_examples=15)
@given(cases, st.integers(0, 8))
def test_joint_bounds_are_safe(rows, q):
    n_labels, n = max(map(max, rows)) + 1, len(rows[0])
    q = min(q, n)
    every = truths(n_labels, n)
    keep = (every == 0).sum(axis=1) == q
    accuracy = np.stack([(every[keep] == np.array(row)).mean(axis=1) for row in rows])
    panel = Panel.of(Tally.of({f"j{j}": row for j, row in enumerate(rows)}))
    ranges = {0: (q / n, q / n)}
    top, bottom = accuracy.min(axis=0).max(), accuracy.max(axis=0).min()
    # Fractions of items may widen a bound, by no more than an item for each judge.
    slack = len(rows) / n + 1e-9
    assert top - 1e-9 <= joint_bound(panel, ranges) <= top + slack
    assert bottom - slack <= joint_bound(panel, ranges, at_least=True) <= bottom + 1e-9


def test_two_judges_that_disagree_cannot_both_be_good():
    result = logical(Tally.of({"x": [0] * 8 + [1] * 2, "y": [1] * 8 + [1] * 2}))
    assert result.statements[0].bound == pytest.approx(0.6)
    assert "disagree on 80.0%" in result.verdict


def test_weights_are_refused():
    with pytest.raises(InputError, match="weighted"):
        logical(Tally.of({"x": [0, 1], "w": [0.5, 1.0]}, weight="w"))
