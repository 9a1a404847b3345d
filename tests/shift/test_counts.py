import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sampling import FAILED, Strata
from tallystick.verbs.shift.noise import collapse, count


def test_cells_are_counted_before_and_now(items):
    asked = np.arange(100)
    counts = count(items, Strata(items.truth), asked, items.truth[asked])
    assert counts.seen.new.sum() == 100
    assert counts.before.sum() == len(items)
    right = counts.seen.new[:, counts.right].sum()
    assert right == 100


def test_a_failed_call_is_asked_and_not_answered(items):
    asked = np.arange(10)
    codes = items.truth[asked].copy()
    codes[3] = FAILED
    counts = count(items, Strata(np.zeros(len(items), int)), asked, codes)
    assert counts.seen.asked.tolist() == [10]
    assert counts.seen.answered.tolist() == [9]


def test_what_is_possible_follows_from_the_past(items):
    counts = count(items, Strata(items.truth), np.arange(5), items.truth[:5])
    for cell, (i, j) in enumerate(zip(counts.true, counts.answer, strict=True)):
        for k in range(3):
            there = (items.truth == k) & (items.truth == i)
            assert counts.can_lose[cell, k] == (there & (items.old == j)).any()
            assert counts.can_gain[cell, k] == (there & (items.old != j)).any()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(0, 999))
def test_collapsed_strata_all_have_two_answers_or_are_whole(sizes, seed):
    rng = np.random.default_rng(seed)
    strata = Strata(np.repeat(np.arange(len(sizes)), sizes), rng.integers(0, 2, len(sizes)))
    answered = np.array([rng.integers(0, size + 1) for size in sizes])
    joined = collapse(strata, answered)
    got = np.bincount(
        joined.of,
        weights=np.concatenate(
            [np.r_[np.ones(a), np.zeros(s - a)] for a, s in zip(answered, sizes, strict=True)]
        ),
    )
    assert len(joined) == 1 or (got >= np.minimum(2, joined.sizes)).all()
