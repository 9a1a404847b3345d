"""The vectors were computed apart from this code, by the formulas of docs/theory/shift.md."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binomtest, hypergeom

from tallystick.verbs.shift.intervals import (
    FLIP_HULL,
    Moves,
    StratumSample,
    SumBounds,
    blind_gap,
    flip_bounds,
    mean_change,
    stretched,
    sum_bounds,
)
from tallystick.verbs.shift.noise import (
    Confirmed,
    OldDraws,
    chance_p_value,
    fresh_noise,
    old_noise,
    randomness,
    value_noise_share,
)


def noise_share(m, x):
    return Confirmed(repeats=m, confirmed=m - x, reverted=0, size=m).share


SIZES = np.array([800.0, 200.0])  # right and wrong old answers


def sample(asked, sizes=SIZES):
    n, held = np.array(asked, float), np.array(sizes, float)
    return StratumSample(held / held.sum(), n, n / held)


def moves(gain, loss):
    up, down = np.array([0.0, gain]), np.array([loss, 0.0])
    return Moves(
        gain=up,
        loss=down,
        gain_square=up,
        loss_square=down,
        can_gain=np.array([False, True]),
        can_lose=np.array([True, False]),
    )


def ends(bounds):
    return [round(float(x), 4) for x in (bounds.value, bounds.low, bounds.high)]


def accuracy(asked, gain, loss, share):
    return mean_change(moves(gain, loss), sample(asked), share=share, items=1000, alpha=0.05)


@pytest.mark.parametrize(
    ("m", "x", "expected"),
    [(30, 9, 0.6957), (30, 0, 0.0549), (39, 20, 1.0), (50, 12, 0.5504), (0, 0, 1.0)],
)
def test_the_printed_shares_come_out(m, x, expected):
    assert round(noise_share(m, x), 4) == expected


@pytest.mark.parametrize(
    ("share", "low", "high"),
    [(noise_share(30, 9), -0.0424, 0.0097), (1, -0.0446, 0.0120), (0, -0.0364, 0.0035)],
)
def test_the_printed_accuracy_vectors_come_out(share, low, high):
    assert ends(accuracy([400, 100], 22, 30, share)) == [-0.0160, low, high]


def test_with_every_item_asked_and_confirmed_little_doubt_is_left():
    assert ends(accuracy([800, 200], 44, 60, noise_share(30, 0))) == [-0.0160, -0.0207, -0.0113]
    assert ends(accuracy([800, 200], 44, 60, 0)) == [-0.0160, -0.0160, -0.0160]


def test_the_printed_flip_vectors_come_out():
    def vector(share):
        seen, flips = sample([300, 150]), np.array([12.0, 60.0])
        found = flip_bounds(flips, seen, share=float(share), items=1000, alpha=0.05)
        gap = blind_gap(flips, seen, np.array([12.0, 27.0]), np.array([240.0, 60.0]))
        return ends(stretched(found, gap, part=FLIP_HULL, move=True))

    assert vector(noise_share(30, 0)) == [0.1300, 0.0957, 0.1500]
    assert vector(noise_share(39, 20)) == [0.1300, 0.0878, 0.1590]
    flips, share = np.array([272.0, 100.0]), noise_share(50, 12)
    found = flip_bounds(flips, sample([800, 200]), share=share, items=1000, alpha=0.05)
    assert ends(found) == [0.3720, 0.3439, 0.4008]


CHANGE = np.r_[[0.25] * 3, [-0.25] * 2, -0.5, np.zeros(24), [-0.25] * 4, -1, np.zeros(15)]


def graded(share):
    """60 items of grade .5, 40 of grade 1; 30 and 20 of them asked."""
    of = np.repeat([0, 1], [30, 20])
    up, down = np.maximum(CHANGE, 0), np.maximum(-CHANGE, 0)
    total = [np.bincount(of, weights=one) for one in (up, down, up**2, down**2)]
    names = ("gain", "loss", "gain_square", "loss_square")
    held = Moves(
        **dict(zip(names, total, strict=True)),
        can_gain=np.array([True, False]),
        can_lose=np.array([True, True]),
        largest=1.0,
    )
    return ends(mean_change(held, sample([30, 20], [60, 40]), share=share, items=100, alpha=0.05))


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.2098, [-0.0450, -0.1118, 0.0179]),
        (0, [-0.0450, -0.1089, 0.0149]),
        (1, [-0.0450, -0.1216, 0.0282]),
    ],
)
def test_the_printed_vectors_of_grades_come_out(share, expected):
    assert graded(share) == expected


def test_the_printed_noise_share_of_grades_comes_out():
    moved = CHANGE[CHANGE != 0]
    h = np.zeros(11)
    h[[0, 3]] = moved[[0, 3]] ** 2  # one +.25 and one -.25 went back to the old grade
    assert round(value_noise_share(h, moved, np.ones(11)), 4) == 0.2098
    assert value_noise_share(np.empty(0), np.empty(0), np.empty(0)) == 1


def test_the_printed_vector_of_old_draws_comes_out():
    old = old_noise(np.array([[1, 0]] * 100 + [[1, 1]] * 500))
    new = fresh_noise(0.2, np.r_[np.ones(10), np.zeros(30)], np.ones(40))
    assert (round(old, 4), round(new, 4)) == (0.0833, 0.0500)
    term = ndtri(0.025) ** 2 * (new + old / 2) / 600
    assert f"{term:.3e}" == "5.869e-04"


def test_the_old_noise_is_unbiased_for_any_number_of_draws():
    rng = np.random.default_rng(0)
    rates = rng.beta(2, 1, 20_000)
    for k in (2, 5):
        draws = rng.random((20_000, k)) < rates[:, None]
        assert old_noise(draws) == pytest.approx(np.mean(rates * (1 - rates)), abs=0.004)


@given(st.integers(1, 200), st.data())
def test_more_unconfirmed_flips_mean_more_noise(m, data):
    x = data.draw(st.integers(0, m - 1))
    less, more = noise_share(m, x), noise_share(m, x + 1)
    assert 0 < less <= more <= 1


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_test_of_chance_is_the_one_sided_binomial(a, b):
    expected = binomtest(a, a + b, alternative="greater").pvalue if a + b else 1.0
    assert chance_p_value(a, b) == pytest.approx(expected)


# Intervals.


strata = st.lists(st.integers(2, 60), min_size=1, max_size=6)


@given(strata, st.integers(0, 1000))
def test_an_interval_holds_its_estimate_and_mirrors_its_complement(sizes, seed):
    rng = np.random.default_rng(seed)
    asked = np.array([rng.integers(1, size + 1) for size in sizes])
    events = rng.integers(0, asked + 1).astype(float)
    seen = sample(asked, sizes)
    one, other = (sum_bounds(x, seen, alpha=0.05) for x in (events, asked - events))
    assert 0 <= one.low <= one.value <= one.high <= 1 + 1e-12
    if abs(one.value - 0.5) > 1e-9:
        assert one.low == pytest.approx(1 - other.high, abs=1e-9)
        assert one.high == pytest.approx(1 - other.low, abs=1e-9)


def test_nothing_seen_is_bounded_about_like_the_rule_of_three():
    bounds = sum_bounds(np.array([0.0]), sample([300], [10**6]), alpha=0.05)
    assert bounds.low == 0
    assert 3 / 300 < bounds.high < 3.8 / 300  # two-sided, so above 3/n


def test_everything_asked_leaves_no_doubt_and_an_impossible_event_is_zero():
    bounds = sum_bounds(np.array([3.0, 0.0]), sample([10, 20], [10, 20]), alpha=0.05)
    assert bounds.low == bounds.high == pytest.approx(0.1)
    never = np.zeros(2, bool)
    bounds = sum_bounds(np.zeros(2), sample([5, 5], [10, 10]), alpha=0.05, possible=never)
    assert (bounds.value, bounds.low, bounds.high) == (0, 0, 0)


def test_impossible_strata_do_not_widen_the_interval():
    seen, events = sample([200, 2], [1000, 10]), np.array([4.0, 0.0])
    inside = sum_bounds(events, seen, alpha=0.05, possible=np.array([True, False]))
    assert inside.high < sum_bounds(events, seen, alpha=0.05).high


def test_exhausted_strata_and_strata_without_blind_answers_show_no_gap():
    seen = sample([800, 100])
    flips, blind = np.array([80.0, 10.0]), np.array([0.0, 9.0])
    assert blind_gap(flips, seen, blind, np.array([400.0, 0.0])) == 0
    gap = blind_gap(flips, seen, blind, np.array([400.0, 45.0]))
    assert gap == pytest.approx(0.2 * (9 / 45 - 10 / 100))


counts = st.tuples(st.integers(2, 799), st.integers(2, 199), st.floats(0, 1), st.floats(0, 1))


@given(counts)
def test_more_noise_never_narrows_an_interval(drawn):
    right, wrong, up, down = drawn
    found = [
        accuracy([right, wrong], np.floor(up * wrong), np.floor(down * right), share)
        for share in np.linspace(0, 1, 6)
    ]
    widths = [float(one.high - one.low) for one in found]
    assert np.all(np.diff(widths) >= -1e-12)
    assert all(-1 <= one.low <= one.value <= one.high <= 1 for one in found)


def test_many_cells_side_by_side_equal_one_at_a_time():
    rng = np.random.default_rng(0)
    gain, loss = (rng.integers(0, 50, (2, 2)).astype(float) for _ in range(2))
    every = np.ones((2, 2), bool)
    both = Moves(
        gain=gain, loss=loss, gain_square=gain, loss_square=loss, can_gain=every, can_lose=every
    )
    seen = sample([400, 100])
    wide = StratumSample(*(part[None] for part in (seen.shares, seen.answered, seen.fraction)))
    together = mean_change(both, wide, share=np.array([0.3, 0.8]), items=1000, alpha=0.05)
    for cell, share in enumerate((0.3, 0.8)):
        fields = {name: getattr(both, name)[cell] for name in both.__dict__ if name != "largest"}
        alone = mean_change(Moves(**fields), seen, share=share, items=1000, alpha=0.05)
        assert (together.low[cell], together.high[cell]) == pytest.approx((alone.low, alone.high))


def test_coverage_of_one_stratum_by_enumeration():
    # One stratum asked blindly is hypergeometric: every outcome can be summed up.
    size, asked = 400, 60
    x = np.arange(asked + 1.0)
    many = np.full((asked + 1, 1), float(asked))
    bounds = sum_bounds(x[:, None], StratumSample(np.ones(1), many, many / size), alpha=0.05)
    coverage = []
    for total in range(size + 1):
        inside = (bounds.low <= total / size + 1e-12) & (total / size - 1e-12 <= bounds.high)
        coverage.append(hypergeom.pmf(x, size, total, asked)[inside].sum())
    assert np.mean(coverage) > 0.95
    assert min(coverage) > 0.928


# Beyond noise, and stability.


def rate(value, low, high):
    return SumBounds(*(np.asarray(x) for x in (value, low, high, 0.0, 0.0)))


def confirmed(m, a, b, size=None):
    return Confirmed(repeats=float(m), confirmed=float(a), reverted=float(b), size=float(size or m))


def test_the_printed_vector_beyond_noise_comes_out():
    # F = .13 with the unrounded ends of the flip vector at λ = 1
    found = randomness(rate(0.13, 0.08781340, 0.15897676), confirmed(39, 19, 16)).beyond
    # Without old draws the old noise may be 0: the upper end is that of F (κ + 1)/2.
    assert [round(x, 4) for x in (found.value, found.low, found.high)] == [0.0100, 0.0, 0.0946]


def test_without_a_repeat_nothing_is_known_but_the_flips():
    found = randomness(rate(0.02, 0.01, 0.05), confirmed(0, 0, 0))
    assert (found.beyond.value, found.beyond.low, found.beyond.high) == (None, 0, 0.05)
    assert (found.new.value, found.new.low, found.new.high) == (None, 0, 0.1)
    assert not found.less_stable


def test_all_confirmed_leaves_the_flip_rate_itself_and_a_stable_api():
    found = randomness(rate(0.1, 0.08, 0.12), confirmed(200, 200, 0))
    assert found.beyond.value == pytest.approx(0.1)
    assert 0.07 < found.beyond.low < 0.08
    assert found.new.value == 0
    assert found.new.high < 0.01


def test_of_a_noisier_new_api_only_all_flips_are_an_upper_end():
    found = randomness(rate(0.4, 0.39, 0.6), confirmed(50, 10, 40))
    assert found.less_stable
    assert (found.beyond.value, found.beyond.low, found.beyond.high) == (0, 0, 0.6)
    assert found.new.value == pytest.approx(0.4 * 80 / 50)
    assert found.old.high < found.new.low  # at most what the repeats leave
    # A quarter of the items moved to a new answer for good, and the old API is known to be calm.
    calm = OldDraws(unstable=0.0, items=1000)
    known = randomness(rate(0.4, 0.39, 0.41), confirmed(500, 250, 250), old=calm)
    assert known.less_stable
    assert known.beyond.value == pytest.approx(0.2)
    assert known.beyond.low > 0.15


def test_no_flaky_api_passes_below_its_own_flips():
    few = randomness(rate(0.06, 0.03, 0.1), confirmed(4, 0, 4))
    assert not few.less_stable
    assert few.excess.high == 0.1
    calm = randomness(
        rate(0.06, 0.03, 0.1), confirmed(4, 0, 4), old=OldDraws(unstable=0.0, items=500)
    )
    assert calm.excess.low == pytest.approx(0.06 - np.hypot(0.03, calm.old.high))


def test_repeats_of_a_given_weight_are_worth_fewer():
    narrow, wide = (
        randomness(rate(0.2, 0.15, 0.25), one).beyond
        for one in (confirmed(40, 30, 5), confirmed(40, 30, 5, size=20))
    )
    assert wide.high - wide.low > narrow.high - narrow.low
