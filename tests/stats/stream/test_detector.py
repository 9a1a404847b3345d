"""Ranks, bets and the bound on false alarms."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ndtri

from tallystick.stats import stream as module
from tallystick.stats.stream import Detector, hashed_uniform, rank_bet, slowdown

FALLS = np.array([1 / 3, 1 / 3, 1 / 6, 1 / 6])
EVEN = np.full(4, 0.25)


def ranks(monkeypatch, values, theta):
    """Return the U of (S1), read from the last Z."""
    from scipy.special import ndtr

    monkeypatch.setattr(module, "hashed_uniform", lambda *_: theta)
    detector, found = Detector.start(["x"], key="k"), []
    for value in values:
        detector.update([value])
        found.append(float(ndtr(detector.lags[0, 0])))
    return found


def bets(us, v, *, kappa=1.0):
    capital, found = np.zeros((1, 4)), []
    kappas = np.broadcast_to(kappa, len(us))
    for u, k in zip(us, kappas, strict=True):
        capital = rank_bet(capital, np.array([ndtri(u)]), np.array([k]))
        found.append(float(capital[0] @ v))
    return found


def test_printed_ranks(monkeypatch):
    found = ranks(monkeypatch, [0.80, 0.84, 0.76, 0.80, 0.64], 0.5)
    assert found == pytest.approx([0.5, 0.75, 0.1667, 0.5, 0.1], abs=5e-5)
    found = ranks(monkeypatch, [0.80, 0.84, 0.84], 0.3)
    assert found == pytest.approx([0.3, 0.65, 0.5333], abs=5e-5)


def test_printed_bets():
    us = [0.5, 0.1, 0.05, 0.02]
    assert bets(us, FALLS) == pytest.approx([0.6846, 2.3456, 8.0167, 38.8781], abs=5e-5)
    assert bets(us, EVEN) == pytest.approx([0.6846, 1.8881, 6.1132, 29.2324], abs=5e-5)
    slowed = bets([0.9, 0.3, 0.02], EVEN, kappa=[1, 1, 1.5275])
    assert slowed == pytest.approx([1.1275, 1.3381, 2.7474], abs=5e-5)


def test_printed_slowdowns():
    assert slowdown(10, 15, 100) == pytest.approx(1.5275, abs=5e-5)
    assert slowdown(10, 11, 16) == 1
    assert slowdown(10, 25, 100) == pytest.approx(4.3589, abs=5e-5)
    assert slowdown(10, 25, 9) == 1
    assert slowdown(0, 0, 50) == 1


def test_sums_hold_differences_of_lag_one_and_two_from_the_third_block_on():
    detector, seen = Detector.start(["x"], key="k"), []
    for value in np.random.default_rng(1).random(30):
        detector.update([value])
        seen.append(detector.lags[0, 0])
    z = np.array(seen)
    known = [((z[2:] - z[1:-1]) ** 2).sum(), ((z[2:] - z[:-2]) ** 2).sum()]
    assert detector.sums[0] == pytest.approx(known)
    assert detector.terms[0] == 28


def test_a_skipped_block_changes_nothing_of_its_series():
    """The hash takes the number of blocks of the series where no number is given."""
    plain, gapped = Detector.start(["x"], key="k"), Detector.start(["x"], key="k")
    for value in (0.5, 0.6, 0.4, 0.7):
        one = plain.update([value])
        gapped.update([np.nan])
        other = gapped.update([value])
    assert (one == other).all()


def test_clean_streams_alarm_no_more_often_than_promised():
    """400 series of 60 blocks, alpha = .2: the share that reaches the bar is at most .2."""
    rng = np.random.default_rng(7)
    alpha, blocks = 0.2, 60
    detector = Detector.start([f"s{i}" for i in range(400)], key="clean")
    bar = blocks / alpha
    alarmed = np.zeros(400, dtype=bool)
    for _ in range(blocks):
        alarmed |= detector.update(rng.binomial(25, 0.8, 400) / 25) >= bar
    assert alarmed.mean() <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / 400)
    assert alarmed.any()  # the bound is not reached by a detector that never speaks


def test_a_reference_is_ranked_against_and_not_bet_on():
    detector = Detector.start(["x"], key="k", reference=[[0.5], [0.6], [np.nan]])
    assert detector.histogram.sum() == 2
    assert detector.evidence[0] == 0


def test_a_checkpoint_goes_on_without_changing_a_digit():
    rng = np.random.default_rng(6)
    values = rng.binomial(25, 0.7, (80, 3)) / 25
    values[rng.random(values.shape) < 0.1] = np.nan
    whole = Detector.start("abc", key="k", falls=[True, False, False])
    part = Detector.start("abc", key="k", falls=[True, False, False])
    for row in values:
        one = whole.update(row)
        part = Detector.from_dict(json.loads(json.dumps(part.to_dict(), allow_nan=False)))
        other = part.update(row)
        assert (one == other).all()
    assert (whole.histogram == part.histogram).all()
    assert part.to_dict() == whole.to_dict()


def test_evidence_mixes_the_bets_with_falls_counting_double():
    detector = Detector.start(["a", "b"], key="k", falls=[True, False])
    for value in (0.9, 0.8, 0.85, 0.3):
        evidence = detector.update([value, value])
    assert evidence == pytest.approx([detector.capital[0] @ FALLS, detector.capital[1] @ EVEN])


def test_evidence_never_overflows():
    detector = Detector.start(["x"], key="k", reference=np.full((10_000, 1), 0.9))
    for _ in range(2000):
        evidence = detector.update([0.0])
    assert np.isfinite(evidence).all()


def test_random_ranks_depend_on_stream_series_and_block():
    base = hashed_uniform("s", "a", 1)
    assert 0 < base < 1
    assert base == hashed_uniform("s", "a", 1)
    others = {hashed_uniform("t", "a", 1), hashed_uniform("s", "b", 1), hashed_uniform("s", "a", 2)}
    assert len(others | {base}) == 4
    many = np.array([hashed_uniform("s", "a", k) for k in range(2000)])
    assert abs(many.mean() - 0.5) < 0.03
