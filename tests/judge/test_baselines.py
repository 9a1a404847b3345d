"""Spectral and agreement as methods of the verb, and what no vote can show."""

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
from tallystick.results import Unknown
from tallystick.table import Tally
from tallystick.verbs.judge import agreement, evaluate, independence, independent, spectral

QUALITY = {"w": ("9/10", "4/5"), "x": ("3/4", "17/20"), "y": ("4/5", "3/4"), "z": ("7/10", "4/5")}


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


def test_votes_of_which_no_three_covary_are_refused_not_divided_by_rounding():
    rows = [[0, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1]]
    votes = dict(zip("wxyz", map(list, zip(*rows, strict=True)), strict=True))
    with pytest.raises(NotIdentifiable, match="do not covary"):
        spectral(Tally.of(votes))
    # It is one of several estimates of the verb, which answers without it.
    found = evaluate(votes)
    assert "spectral" not in [estimate.method for estimate in found.estimates]
