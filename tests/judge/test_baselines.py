"""What no vote can show."""

import numpy as np
import pytest

from tallystick.errors import NotIdentifiable
from tallystick.papers.noisy_judges import rank_one
from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
from tallystick.papers.noisy_judges.trio_quadratic import trio_moments
from tallystick.table import Tally
from tallystick.verbs.judge import independent


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
    assert result.judges[0].accuracy == pytest.approx(0.8)
    hidden = np.random.default_rng(2).random(len(seen["truth"])) < 0.1
    truth = np.where(hidden, np.where(seen["truth"] == "a", "b", "a"), seen["truth"])
    assert (votes["w"] == truth).mean() < 0.76
    assert any("no trace" in warning for warning in result.warnings)


def test_votes_of_which_no_three_covary_are_refused_not_divided_by_rounding():
    rows = [[0, 1, 0, 1], [1, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 0], [0, 1, 1, 1]]
    with pytest.raises(NotIdentifiable, match="do not covary"):
        rank_one(trio_moments(np.array(rows), np.ones(6)))
