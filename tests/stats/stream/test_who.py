"""Naming what changed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.stats.stream_watch import explain

CODES = np.array(list(itertools.product([0, 1], repeat=3)))
BEFORE = [610, 50, 60, 30, 40, 45, 55, 610]


def p_values(found):
    return [one.p_value for one in found.tested]


def test_printed_p_values_when_the_first_judge_changed():
    found = explain(CODES, BEFORE, [175, 17, 20, 45, 42, 15, 18, 168], n_labels=2)
    first, *rest = p_values(found)
    assert first == pytest.approx(0.9999, abs=5e-5)
    assert all(p < 1e-4 for p in rest)  # the other judges, mix, fair draws
    assert [one.judge for one in found.kept] == [0]


def test_printed_p_values_when_the_mix_changed():
    found = explain(CODES, BEFORE, [260, 18, 22, 22, 16, 24, 28, 390], n_labels=2)
    known = [0.0001, 0.0003, 0.0004, 0.8763, 0.0008]
    assert p_values(found) == pytest.approx(known, abs=5e-5)
    assert found.likely.kind == "mix"


def test_printed_p_values_when_items_got_harder():
    found = explain(CODES, BEFORE, [172, 28, 33, 24, 22, 26, 31, 164], n_labels=2)
    *others, hard = p_values(found)
    assert all(p < 1e-4 for p in others)
    assert hard == pytest.approx(0.9883, abs=5e-5)
    assert found.likely.kind == "difficulty"
    assert found.likely.size[0] == pytest.approx(0.249, abs=5e-4)


def test_when_nothing_is_kept_more_than_one_thing_changed():
    found = explain(CODES, BEFORE, [100, 60, 70, 60, 20, 15, 35, 140], n_labels=2)
    assert found.kept == ()
    assert found.likely is None
    assert found.several


def counts(votes, all_codes):
    lookup = {tuple(code): k for k, code in enumerate(all_codes.tolist())}
    out = np.zeros(len(all_codes))
    for row in votes.tolist():
        out[lookup[tuple(row)]] += 1
    return out


def draw(rng, n, accuracy, share=0.5, hard=0.0):
    truth = (rng.random(n) < share).astype(int)
    right = rng.random((n, len(accuracy))) < accuracy
    coin = rng.random((n, len(accuracy))) < 0.5
    right = np.where((rng.random(n) < hard)[:, None], coin, right)
    return np.where(right, truth[:, None], 1 - truth[:, None])


@pytest.mark.parametrize(
    ("kind", "accuracy", "share", "hard"),
    [
        ("judge", [0.7, 0.85, 0.8, 0.85], 0.5, 0.0),
        ("mix", [0.9, 0.85, 0.8, 0.85], 0.75, 0.0),
        ("difficulty", [0.9, 0.85, 0.8, 0.85], 0.5, 0.3),
    ],
)
def test_the_right_one_is_kept_in_nearly_all_draws(kind, accuracy, share, hard):
    rng = np.random.default_rng(12)
    codes = np.array(list(itertools.product([0, 1], repeat=4)))
    kept = right = 0
    for _ in range(60):
        a = counts(draw(rng, 3000, [0.9, 0.85, 0.8, 0.85]), codes)
        b = counts(draw(rng, 1000, accuracy, share, hard), codes)
        found = explain(codes, a, b, n_labels=2)
        match = [one for one in found.kept if one.kind == kind and one.judge in (None, 0)]
        kept += bool(match)
        right += found.likely is not None and found.likely in match
    assert kept >= 55
    assert right >= 52


def test_three_labels_leave_cells_less_three_degrees_of_freedom():
    rng = np.random.default_rng(3)
    codes = np.array(list(itertools.product([0, 1, 2], repeat=3)))

    def votes(n, shares):
        truth = rng.choice(3, n, p=shares)
        return np.where(rng.random((n, 3)) < 0.85, truth[:, None], rng.integers(0, 3, (n, 3)))

    ps = []
    for _ in range(40):
        a, b = votes(4000, [0.4, 0.3, 0.3]), votes(2000, [0.6, 0.2, 0.2])
        mix = explain(codes, counts(a, codes), counts(b, codes), n_labels=3).tested[3]
        ps.append(mix.p_value)
        assert mix.size == pytest.approx([0.6, 0.2, 0.2], abs=0.08)
    assert np.mean(np.array(ps) >= 0.01) > 0.9
    assert 0.25 < np.mean(ps) < 0.75


def test_two_judges_cannot_name_the_mix():
    codes = [[0, 0], [0, 1], [1, 0], [1, 1]]
    found = explain(codes, [400, 100, 100, 400], [300, 50, 50, 600], n_labels=2)
    mix = found.tested[2]
    assert mix.kind == "mix"
    assert isinstance(mix.p_value, Unknown)
    assert not mix.kept


def test_patterns_unseen_before_go_into_the_merged_cell():
    codes = np.array(list(itertools.product([0, 1], repeat=3)))
    before = np.array([500, 0, 60, 30, 40, 45, 0, 500])
    found = explain(codes, before, [250, 40, 30, 15, 20, 22, 30, 250], n_labels=2)
    assert all(np.isfinite(p) for p in p_values(found))
    assert found.tested[3].p_value < 1e-4


def test_one_judge_names_nothing():
    found = explain([[0], [1]], [50, 50], [20, 80], n_labels=2)
    assert found.tested == ()
    assert not found.several
