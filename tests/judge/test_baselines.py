"""Spectral, agreement, the containing variety, sensitivity."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Unknown
from tallystick.stats.latent_triplet import solve_trios, trio_moments
from tallystick.table import Tally
from tallystick.verbs.judge import (
    Point,
    agreement,
    agreement_gap,
    correlated,
    evaluate,
    independence,
    independent,
    sensitivity,
    simulate,
    spectral,
    variety_distance,
    variety_projection,
)
from tallystick.verbs.judge.ballots import Ballots
from tallystick.verbs.judge.independence import rank_one, spectral_errors, spectral_point
from tallystick.verbs.judge.majority import agreement_accuracy, agreement_ends

QUALITY = {"w": ("9/10", "4/5"), "x": ("3/4", "17/20"), "y": ("4/5", "3/4"), "z": ("7/10", "4/5")}


def test_spectral_recovers_an_independent_point():
    result = spectral(simulate(Point(prevalence="1/3", accuracy=QUALITY)).tally, truth="truth")
    for name, score in zip(QUALITY, result.judges, strict=True):
        a, b = (float(part) for part in Point(prevalence="1/3", accuracy=QUALITY).accuracy[name])
        assert score.per_label["a"].estimate == pytest.approx(a, abs=1e-6)
        assert score.per_label["b"].estimate == pytest.approx(b, abs=1e-6)


def test_agreement_fails_for_independent_judges_by_the_gap_that_is_derived():
    point = Point(prevalence="1/2", accuracy=dict.fromkeys("xyz", ("1", "3/5")))
    joint = simulate(point).tally
    ballots = Ballots.of(joint, truth="truth")
    wrong = ballots.codes != ballots.truth[:, None]
    share = ballots.counts / ballots.n
    e_x, e_y = share @ wrong[:, 0], share @ wrong[:, 1]
    assert share @ (wrong[:, 0] & wrong[:, 1]) - e_x * e_y == pytest.approx(
        agreement_gap(0.5, (1, 0.6), (1, 0.6))
    )
    estimate = agreement(joint, truth="truth").judges[0].accuracy
    assert abs(estimate - 0.8) > 0.05
    with pytest.raises(NotIdentifiable, match="three judges"):
        agreement(Tally.of({"x": [0, 1], "y": [1, 1]}))


@settings(max_examples=40)
@given(st.lists(st.integers(0, 30), min_size=8, max_size=8).filter(lambda c: sum(c) > 10))
def test_the_distance_of_the_independent_estimate_is_zero_correlated_or_not(cells):
    """Figure 3 of the paper cannot gauge correlation: Eq 22 is the vote marginal rearranged."""
    patterns = np.array([[k >> j & 1 for j in range(3)] for k in range(8)])
    trios = solve_trios(patterns, cells)
    if not np.isfinite(trios.balance[0]):
        return
    votes = Tally.from_patterns({f"j{j}": patterns[:, j].tolist() for j in range(3)}, cells)
    if any(len(set(patterns[np.array(cells) > 0, j].tolist())) < 2 for j in range(3)):
        return
    accuracy = {f"j{j}": tuple(trios.accuracy[0, j].tolist()) for j in range(3)}
    size = 1 + max(abs(value) for pair in accuracy.values() for value in pair)
    assert variety_distance(votes, float(trios.balance[0]), accuracy) < 1e-7 * size


def test_the_variety_judges_foreign_estimates_and_moves_them():
    votes = simulate(Point(prevalence="1/3", accuracy=QUALITY)).tally
    foreign = dict.fromkeys(QUALITY, (0.9, 0.9))
    assert variety_distance(votes, 1 / 3, foreign) > 0.05
    moved = variety_projection(votes, 1 / 3, foreign)
    assert variety_distance(votes, 1 / 3, moved.accuracy) < 1e-12
    assert all(0 <= value <= 1 for pair in moved.accuracy.values() for value in pair)
    grid = np.linspace(0, 1, 2001)
    f = votes.marginal(["w"]).counts[0] / votes.n
    line = (grid - f) * (1 / 3) / (2 / 3) + (1 - f)
    inside = (line >= 0) & (line <= 1)
    best = np.hypot(grid[inside] - 0.9, line[inside] - 0.9).min()
    assert np.hypot(*(np.array(moved.accuracy["w"]) - 0.9)) == pytest.approx(best, abs=1e-3)
    with pytest.raises(InputError, match="prevalence must be"):
        variety_projection(votes, 1.0, foreign)


def test_sensitivity_is_the_derivative_by_a_real_correlation():
    quality = {"x": ("9/10", "4/5"), "y": ("3/4", "17/20"), "z": ("4/5", "3/4")}
    at = sensitivity(simulate(Point(prevalence="2/5", accuracy=quality)).tally, truth="truth")
    step = 1e-5
    for label, column in (("a", 0), ("b", 1)):
        for a, pair in enumerate((("y", "z"), ("x", "z"), ("x", "y"))):
            moved = []
            for sign in (1, -1):
                point = Point(
                    prevalence="2/5",
                    accuracy=quality,
                    correlations={(label, pair): f"{sign}/100000"},
                )
                shares = correlated(point)
                patterns = np.array([["ab".index(vote) for vote in pattern] for pattern in shares])
                trio = solve_trios(patterns, [float(share) for share in shares.values()])
                moved.append(trio.balance[0])
            slope = (moved[0] - moved[1]) / (2 * step)
            assert at.prevalence[0, a, column] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_a_judge_near_its_blind_spot_has_a_large_condition_number():
    numbers = []
    for weak in ("1/2", "11/20", "3/5", "4/5"):
        quality = {"x": ("9/10", "9/10"), "y": ("4/5", "4/5"), "z": (weak, "3/5")}
        numbers.append(
            sensitivity(
                simulate(Point(prevalence="2/5", accuracy=quality)).tally, truth="truth"
            ).condition[0]
        )
    assert numbers == sorted(numbers, reverse=True)
    assert sensitivity(
        simulate(Point(prevalence="2/5", accuracy=quality)).tally, truth="truth"
    ).worst()[0] == (
        "x",
        "y",
        "z",
    )


def test_a_shared_bias_is_invisible():
    """Every judge sees one label where the truth is another on a tenth of items: no vote shows
    it."""
    quality = {
        "w": ("4/5", "4/5"),
        "x": ("9/10", "4/5"),
        "y": ("4/5", "9/10"),
        "z": ("4/5", "7/10"),
    }
    seen = simulate(Point(prevalence="2/5", accuracy=quality)).stream(rng=1)
    votes = {name: seen[name] for name in quality}
    result = independent(Tally.of(votes))
    assert result.trios["sensible"] == result.trios["trios"] == 4
    assert not independence(Tally.of(votes)).rejected
    assert result.judges[0].accuracy == pytest.approx(0.8)
    hidden = np.random.default_rng(2).random(len(seen["truth"])) < 0.1
    truth = np.where(hidden, np.where(seen["truth"] == "a", "b", "a"), seen["truth"])
    assert (votes["w"] == truth).mean() < 0.76
    assert any("no trace" in warning for warning in result.warnings)


def counted(n=500, rng=3):
    data = simulate(Point(prevalence="1/4", accuracy=QUALITY)).independent_draws(n, rng=rng)
    return Ballots.of(Tally.of({name: data[name] for name in QUALITY}))


def slopes(ballots, function, step=1e-3):
    """Standard errors from numerical derivatives in the count of every pattern."""
    moved = []
    for p in range(len(ballots.counts)):
        ends = [ballots.counts.copy(), ballots.counts.copy()]
        ends[0][p] -= step
        ends[1][p] += step
        low, high = (function(replace(ballots, counts=counts)) for counts in ends)
        moved.append((high - low) / (2 * step))
    return np.sqrt(ballots.counts @ np.array(moved) ** 2)


def test_errors_of_the_spectral_method_are_those_of_its_numerical_derivatives():
    ballots = counted()
    moments = trio_moments(ballots.codes, ballots.counts)
    balance, by_label, overall = spectral_errors(ballots, moments, *rank_one(moments))

    def point(these):
        share, accuracy = spectral_point(trio_moments(these.codes, these.counts))
        return np.concatenate(([share], accuracy.ravel(), accuracy @ [share, 1 - share]))

    assert np.concatenate(([balance], by_label.ravel(), overall)) == pytest.approx(
        slopes(ballots, point), rel=1e-4
    )


def test_ends_of_agreement_are_those_of_its_numerical_derivatives():
    ballots = counted()
    estimate = agreement_accuracy(ballots)
    low, high = agreement_ends(ballots, alpha=0.05)
    half = (np.log(high / (1 - high)) - np.log(low / (1 - low))) / 2 / 1.959964
    assert half * estimate * (1 - estimate) == pytest.approx(
        slopes(ballots, agreement_accuracy), rel=1e-4
    )


def test_intervals_of_baselines_name_their_assumption_or_say_why_there_is_none():
    data = simulate(Point(prevalence="1/4", accuracy=QUALITY)).independent_draws(500, rng=3)
    votes = {name: data[name].tolist() for name in QUALITY}
    found = spectral(Tally.of(votes))
    assert all(score.accuracy in score.interval for score in found.judges)
    assert {
        score.interval.guarantee for score in (*found.judges, *agreement(Tally.of(votes)).judges)
    } == {"under"}
    votes["w"][0] = None
    gap = spectral(Tally.of(votes))
    assert isinstance(gap.judges[0].interval, Unknown)
    assert any("missing" in warning for warning in gap.warnings)


def test_votes_that_put_every_item_into_one_class_are_refused_not_divided_by_zero():
    rows = [[0, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1]]
    votes = dict(zip("wxyz", map(list, zip(*rows, strict=True)), strict=True))
    with pytest.raises(NotIdentifiable, match="every item into one class"):
        spectral(Tally.of(votes))
    # It is one of several estimates of the verb, which answers without it.
    found = evaluate(votes)
    assert "spectral" not in [estimate.method for estimate in found.estimates]
