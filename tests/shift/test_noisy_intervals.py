"""The vectors were computed apart from this code, by the formulas of docs/theory/shift.md."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.verbs.shift.design import StratumSample, SumBounds, minus, sum_bounds
from tallystick.verbs.shift.noise import noise_share
from tallystick.verbs.shift.noisy import (
    Moves,
    blind_gap,
    change_bounds,
    flip_rate_bounds,
    new_item_bounds,
    stretched,
    sum_ends,
    widened,
)

SIZES = np.array([800.0, 200.0])  # right and wrong old answers


def sample(asked):
    n = np.array(asked, float)
    return StratumSample(SIZES / 1000, n, n / SIZES)


def moves(gain, loss):
    return Moves(
        gain=np.array([0.0, gain]),
        loss=np.array([loss, 0.0]),
        can_gain=np.array([False, True]),
        can_lose=np.array([True, False]),
    )


def ends(bounds):
    return [round(float(x), 4) for x in (bounds.value, bounds.low, bounds.high)]


def accuracy(asked, gain, loss, share):
    return change_bounds(moves(gain, loss), sample(asked), share=share, items=1000, alpha=0.05)


@pytest.mark.parametrize(
    ("share", "low", "high"),
    [(noise_share(30, 9), -0.0424, 0.0097), (1, -0.0446, 0.0120), (0, -0.0364, 0.0035)],
)
def test_the_printed_accuracy_vectors_come_out(share, low, high):
    assert ends(accuracy([400, 100], 22, 30, share)) == [-0.0160, low, high]


def test_new_items_come_out():
    found = new_item_bounds(moves(22.0, 30.0), sample([400, 100]), items=1000, alpha=0.05)
    assert ends(found) == [-0.0160, -0.0459, 0.0123]


def test_with_every_item_asked_and_confirmed_little_doubt_is_left():
    assert ends(accuracy([800, 200], 44, 60, noise_share(30, 0))) == [-0.0160, -0.0207, -0.0113]
    assert ends(accuracy([800, 200], 44, 60, 0)) == [-0.0160, -0.0160, -0.0160]


def flip_vector(share):
    seen = sample([300, 150])
    flips = np.array([12.0, 60.0])
    found = flip_rate_bounds(flips, seen, share=share, items=1000, alpha=0.05)
    gap = blind_gap(flips, seen, np.array([12.0, 27.0]), np.array([240.0, 60.0]))
    return stretched(found, gap, part=1.0, move=True)


def test_the_printed_flip_vectors_come_out():
    assert ends(flip_vector(noise_share(30, 0))) == [0.1300, 0.0957, 0.1500]
    assert ends(flip_vector(noise_share(39, 20))) == [0.1300, 0.0878, 0.1590]
    found = flip_rate_bounds(
        np.array([272.0, 100.0]),
        sample([800, 200]),
        share=noise_share(50, 12),
        items=1000,
        alpha=0.05,
    )
    assert ends(found) == [0.3720, 0.3439, 0.4008]


counts = st.tuples(st.integers(2, 799), st.integers(2, 199), st.floats(0, 1), st.floats(0, 1))


@given(counts)
def test_without_noise_the_intervals_are_those_of_a_deterministic_api(drawn):
    right, wrong, up, down = drawn
    seen, moved = sample([right, wrong]), moves(np.floor(up * wrong), np.floor(down * right))
    plain = minus(
        sum_bounds(moved.gain, seen, alpha=0.05, possible=moved.can_gain),
        sum_bounds(moved.loss, seen, alpha=0.05, possible=moved.can_lose),
        seen,
    )
    found = change_bounds(moved, seen, share=0, items=1000, alpha=0.05)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    flips = moved.gain + moved.loss
    rate = flip_rate_bounds(flips, seen, share=0, items=1000, alpha=0.05)
    old = sum_bounds(flips, seen, alpha=0.05)
    assert (rate.low, rate.high) == pytest.approx((old.low, old.high))


@given(counts)
def test_more_noise_never_narrows_an_interval(drawn):
    right, wrong, up, down = drawn
    seen, moved = sample([right, wrong]), moves(np.floor(up * wrong), np.floor(down * right))
    shares = np.linspace(0, 1, 6)
    found = [change_bounds(moved, seen, share=s, items=1000, alpha=0.05) for s in shares]
    widths = [float(one.high - one.low) for one in found]
    assert np.all(np.diff(widths) >= -1e-12)
    for one in found:
        assert -1 <= one.low <= one.value <= one.high <= 1


def test_many_runs_side_by_side_equal_one_at_a_time():
    rng = np.random.default_rng(0)
    asked = np.array([[400, 100], [300, 180]])
    gain, loss = rng.integers(0, 50, 2), rng.integers(0, 50, 2)
    many = Moves(
        gain=np.stack([np.zeros(2), gain], axis=1),
        loss=np.stack([loss, np.zeros(2)], axis=1),
        can_gain=np.array([False, True]),
        can_lose=np.array([True, False]),
    )
    seen = StratumSample(SIZES / 1000, asked.astype(float), asked / SIZES)
    together = change_bounds(many, seen, share=np.array([0.3, 0.8]), items=1000, alpha=0.05)
    for run, share in enumerate((0.3, 0.8)):
        alone = accuracy(asked[run], gain[run], loss[run], share)
        assert (together.low[run], together.high[run]) == pytest.approx((alone.low, alone.high))


def test_exhausted_strata_and_strata_without_blind_answers_show_no_gap():
    seen = sample([800, 100])
    events = np.array([80.0, 20.0])
    full = blind_gap(events, seen, np.array([40.0, 10.0]), np.array([100.0, 40.0]))
    assert full == pytest.approx(0.2 * (10 / 40 - 20 / 100))
    assert blind_gap(events, seen, np.array([40.0, 0.0]), np.array([100.0, 0.0])) == 0


def test_the_hull_stretches_one_end_and_moves_the_estimate_only_if_asked():
    one = SumBounds(*(np.asarray(x) for x in (0.10, 0.05, 0.20, 0.0, 0.0)))
    up = stretched(one, 0.02, part=0.5)
    assert (up.value, up.low, up.high) == pytest.approx((0.10, 0.05, 0.21))
    down = stretched(one, -0.02, part=1, move=True)
    assert (down.value, down.low, down.high) == pytest.approx((0.08, 0.03, 0.20))


def test_a_difference_stays_inside_its_range():
    wide = widened(SumBounds(*(np.asarray(x) for x in (0.9, 0.8, 0.95, 0.0, 0.0))), 1.0, alpha=0.05)
    assert (wide.low, wide.high) == (-1, 1)


def test_a_sum_that_is_possible_nowhere_is_zero():
    zero = np.asarray(0.0)
    assert sum_ends(zero, zero, zero, mass=zero, alpha=0.05) == (0, 0)


def test_an_unchanged_noisy_api_asked_in_full_is_covered():
    """The present interval has width 0 here; 300 runs of 400 items with noise .15."""
    rng = np.random.default_rng(3)
    inside = flips_inside = 0
    rate = np.clip(rng.choice([0.15, 0.5, 0.85], 400, p=[0.2, 0.1, 0.7]), 0, 1)
    truth_flips = np.mean(2 * rate * (1 - rate))
    for _ in range(300):
        old, first, second = (rng.random(400) < rate for _ in range(3))
        order = rng.permutation(np.flatnonzero(old != first))[:40]
        share = noise_share(len(order), int((second[order] != first[order]).sum()))
        sizes = np.array([old.sum(), (~old).sum()], float)
        seen = StratumSample(sizes / 400, sizes, np.ones(2))
        gain, loss = float((first & ~old).sum()), float((~first & old).sum())
        found = change_bounds(moves(gain, loss), seen, share=share, items=400, alpha=0.05)
        # "These items, over fresh noise": the old answers are one draw too, so the truth is 0.
        inside += found.low <= 0 <= found.high
        flips = np.array([loss, gain])
        rates = flip_rate_bounds(flips, seen, share=share, items=400, alpha=0.05)
        flips_inside += rates.low <= truth_flips <= rates.high
    assert inside >= 272  # 1e-3 quantile at .95
    assert flips_inside >= 272
