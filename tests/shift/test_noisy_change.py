import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling import Strata
from tallystick.verbs.shift import Items
from tallystick.verbs.shift.design import minus, sum_bounds
from tallystick.verbs.shift.noise import count
from tallystick.verbs.shift.noisy import (
    noisy_accuracy,
    noisy_entries,
    noisy_flips,
    sample_of,
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    old = np.where(rng.random(300) < 0.8, truth, rng.integers(0, 3, 300))
    new = np.where(rng.random(300) < 0.85, old, rng.integers(0, 3, 300))
    labels = np.array(["a", "b", "c"])
    items = Items.of(labels[truth].tolist(), old=labels[old].tolist())
    strata = Strata(np.unique(2 * truth + (old == truth), return_inverse=True)[1])
    asked = rng.permutation(300)[:160]
    return items, strata, asked, new[asked], rng.random(160) < 0.7


def counted(table, *, keep=None):
    items, strata, asked, new, _ = table
    return count(items, strata, asked, new, keep=keep)


def same(one, other):
    for name in ("value", "low", "high"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)


def test_without_noise_and_hull_it_is_the_change_of_a_deterministic_api(table):
    """Gains (new in the cell, old not) minus losses, each a stratified share."""
    counts = counted(table)
    seen, sample = counts.seen, sample_of(counts.seen)

    def change(new, old, same, gain, loss):
        return minus(
            sum_bounds(new - same, sample, alpha=0.05, possible=gain),
            sum_bounds(old - same, sample, alpha=0.05, possible=loss),
            sample,
        )

    right = counts.right
    was_right = np.bincount(counts.strata.of, weights=counts.items.old == counts.items.truth)
    tables = [part[:, right].sum(axis=-1).astype(float) for part in (seen.new, seen.old, seen.same)]
    same(
        noisy_accuracy(counts, share=0, alpha=0.05),
        change(*tables, was_right < counts.strata.sizes, was_right > 0),
    )
    flips = (seen.answered - seen.same.sum(axis=-1)).astype(float)
    same(noisy_flips(counts, share=0, alpha=0.05), sum_bounds(flips, sample, alpha=0.05))


def test_each_entry_gets_its_own_noise(table):
    counts = counted(table)
    shares = np.zeros(len(counts.true))
    shares[0] = 1.0
    clean, noisy = (noisy_entries(counts, shares=s, alpha=0.05) for s in (0.0, shares))
    wider = (noisy.high - noisy.low) > (clean.high - clean.low) + 1e-6
    assert np.flatnonzero(wider).tolist() == [0]


def test_the_accuracy_is_stretched_by_half_the_gap_and_the_flips_move_by_all_of_it(table):
    blind = counted(table, keep=table[-1]).seen
    counts = counted(table)
    shares = counts.strata.shares
    seen = counts.seen

    def rate(part):
        return (part.answered - part.same.sum(axis=-1)) / part.answered

    gap = float((shares * (rate(blind) - rate(seen))).sum())
    plain, moved = (noisy_flips(counts, share=0.4, alpha=0.05, blind=b) for b in (None, blind))
    assert moved.value - plain.value == pytest.approx(gap)
    assert moved.low - plain.low == pytest.approx(min(gap, 0))
    assert moved.high - plain.high == pytest.approx(max(gap, 0))

    right = counts.right

    def net(part):
        return (part.new[:, right].sum(axis=-1) - part.old[:, right].sum(axis=-1)) / part.answered

    gap = float((shares * (net(blind) - net(seen))).sum()) / 2
    plain, wide = (noisy_accuracy(counts, share=0.4, alpha=0.05, blind=b) for b in (None, blind))
    assert wide.value == plain.value
    assert wide.low - plain.low == pytest.approx(min(gap, 0))
    assert wide.high - plain.high == pytest.approx(max(gap, 0))


def test_new_items_are_about_as_uncertain_as_full_noise(table):
    counts = counted(table)
    new = noisy_accuracy(counts, share=0.1, alpha=0.05, new_items=True)
    full = noisy_accuracy(counts, share=1, alpha=0.05)
    assert new.high - new.low == pytest.approx(full.high - full.low, rel=0.15)


def test_old_answers_by_item_are_needed():
    items = Items.of(["a", "b"] * 10, matrix=[[8, 2], [3, 7]])
    counts = count(items, Strata([0, 1] * 10), np.arange(20), np.tile([0, 1], 10))
    for function in (noisy_accuracy, noisy_flips):
        with pytest.raises(InputError, match="old answers by item"):
            function(counts, share=0, alpha=0.05)
