from __future__ import annotations

import itertools

import numpy as np
import pytest

from tallystick.sampling.bets import (
    anytime_share,
    capital,
    evidence,
    mirrored,
    moments_before,
    rectified_steps,
)
from tallystick.sampling.draws import (
    DrawJournal,
    LabelStrata,
    draw_batch,
    share_spread,
)

FREEZE = [0, *range(20, 200, 10)]


@pytest.fixture
def page(scripted):
    """The sequence of the printed vector."""

    def stratum(t):
        return 1 if t % 3 == 2 else 0

    def value(t):
        return (t // 3) % 2 == 0 if t % 3 == 2 else t != 10

    def steps(n):
        journal, values = scripted([400, 100], stratum, value, n, freeze=FREEZE)
        return rectified_steps(journal, values, [0.95, 0.3])

    return steps


@pytest.mark.parametrize(
    ("n", "low", "high"), [(20, 0.4220, 0.9920), (60, 0.7673, 0.9780), (120, 0.8379, 0.9514)]
)
def test_the_intervals_are_those_of_the_page(page, n, low, high):
    found = anytime_share(page(n))
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)
    assert found.guarantee == "anytime"


@pytest.mark.parametrize(
    ("n", "printed", "digits"), [(20, 1.2550, 4), (60, 10.2813, 4), (120, 1062.5, 1)]
)
def test_the_capital_against_point_eight_is_that_of_the_page(page, n, printed, digits):
    steps = page(n)
    bets = 1.25 * 0.05 / moments_before(steps.z)[1][:-1]
    assert round(capital(steps.z, steps.low, bets, 0.8)[-1], digits) == printed


def test_capital_falls_as_the_mean_grows_also_where_bets_are_cut(page):
    steps = page(60)
    for bets in (np.full(60, 0.3), np.full(60, 50.0)):
        money = [capital(steps.z, steps.low, bets, m)[-1] for m in np.linspace(0.0, 1.0, 101)]
        assert (np.diff([min(one, 1e300) for one in money]) <= 1e-9).all()


def test_no_labels_leave_everything_open():
    steps = rectified_steps(DrawJournal.empty([5, 5]), [], [0.5, 0.5])
    assert tuple(anytime_share(steps)) == (0.0, 1.0)
    assert evidence(steps, 0.5).verdict is None


def _tree(sizes, truth, batches):
    """Yield every path: strata in draw order, their values, and where each batch begins."""
    H = len(sizes)
    orders = [list(itertools.permutations(truth[h])) for h in range(H)]
    paths = [()]
    for _ in range(sum(batches)):
        paths = [(*p, h) for p in paths for h in range(H) if p.count(h) < sizes[h]]
    begins = np.repeat(np.cumsum([0, *batches[:-1]]), batches)
    for path in paths:
        for order in itertools.product(*orders):
            seen, values = [0] * H, []
            for h in path:
                values.append(order[h][seen[h]])
                seen[h] += 1
            yield path, values, begins


def test_the_code_itself_plays_the_fair_game_that_was_enumerated():
    """The same tree through the library in floats: both gamblers keep an expected capital of 1."""
    sizes, truth, batches, guess = [3, 2], [(1, 1, 0), (1, 0)], [1, 2], [0.8, 0.3]
    weight = 1 / 12
    expected = np.zeros(3)
    for path, values, _ in _tree(sizes, truth, batches):
        stratum = np.array(path)
        spreads, done = [], 0
        for size in batches:
            spreads.append(share_spread(stratum[:done], np.array(values[:done], dtype=float), 2))
            done += size
        journal = DrawJournal(
            sizes=np.array(sizes), item=np.arange(3), stratum=stratum, q=np.ones(3),
            batch=np.repeat([0, 1], batches), spreads=np.array(spreads),
        )  # fmt: skip
        chance = weight * journal.probabilities()[np.arange(3), stratum].prod()
        steps = rectified_steps(journal, values, guess)
        bets = 1.25 * 0.2 / moments_before(steps.z)[1][:-1]
        mirror = mirrored(steps)
        up = capital(steps.z, steps.low, bets, 0.6)[-1]
        down = capital(mirror.z, mirror.low, bets, 0.4)[-1]
        expected += chance * np.array([1.0, up, down])
    assert expected == pytest.approx([1.0, 1.0, 1.0], abs=1e-12)


def test_a_verdict_that_logic_gives_needs_no_bets():
    strata = LabelStrata(of=[0] * 10, side=[1], guess=[[0.5, 0.5]])
    start = DrawJournal.empty(strata.sizes)
    journal = draw_batch(strata, start, size=7, spread=[1.0], rng=0)
    steps = rectified_steps(journal, np.ones(7), [0.5])
    assert evidence(steps, 0.6).verdict == "above"
    assert evidence(steps, 0.6).certain


def test_skips_widen_the_interval_both_ways(scripted):
    journal, values = scripted([60, 40], lambda t: t % 2, lambda t: t % 3 > 0, 60, freeze=FREEZE)
    at_zero, at_one = values.copy(), values.copy()
    at_zero[5:10], at_one[5:10] = 0.0, 1.0
    low, high = (rectified_steps(journal, part, [0.6, 0.6]) for part in (at_zero, at_one))
    plain = anytime_share(rectified_steps(journal, values, [0.6, 0.6]))
    both = anytime_share(low, skipped=high)
    assert both.low <= plain.low
    assert both.high >= plain.high
    assert both.width > plain.width


def test_a_limit_that_no_mean_can_reach_is_settled_at_once(page):
    assert evidence(page(3), 1.2).verdict == "below"
    assert evidence(page(3), -0.1).verdict == "above"


def test_labelling_everything_never_refutes_the_share_itself():
    rng = np.random.default_rng(6)
    for seed in range(30):
        n = int(rng.integers(6, 40))
        strata = LabelStrata(of=rng.integers(0, 3, n), side=[0] * 3, guess=[[0.6, 0.4]] * 3)
        truth = rng.integers(0, 2, n)
        journal = DrawJournal.empty(strata.sizes)
        while journal.n_draws < n:
            spread = share_spread(journal.stratum, truth[journal.item].astype(float), 3)
            journal = draw_batch(strata, journal, size=5, spread=spread, rng=seed)
        steps = rectified_steps(journal, truth[journal.item], [0.4] * 3)
        found = evidence(steps, float(truth.mean()))
        assert np.isfinite([found.above.max(initial=1), found.below.max(initial=1)]).all()
