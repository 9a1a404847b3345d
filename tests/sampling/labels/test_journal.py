from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import BudgetError
from tallystick.sampling.draws import drawing_probabilities


@pytest.fixture
def journal(scripted):
    return scripted([6, 4], lambda t: t % 2, lambda t: t % 2, 6, freeze=[0, 3])[0]


def test_half_of_every_draw_is_plain_random():
    q = drawing_probabilities([50, 30, 20], [1e-6, 0.5, 0.5])
    assert q.sum() == pytest.approx(1.0)
    assert q[0] > 0.25
    assert q[0] == pytest.approx(0.25, abs=1e-4)


def test_equal_spreads_draw_uniformly():
    assert drawing_probabilities([7, 3], [0.3, 0.3]) == pytest.approx([0.7, 0.3])


def test_rows_of_probabilities_are_computed_at_once():
    rows = drawing_probabilities([[7, 3], [3, 3]], [0.3, 0.3])
    assert rows == pytest.approx(np.array([[0.7, 0.3], [0.5, 0.5]]))


def test_nothing_left_to_draw_is_refused():
    with pytest.raises(BudgetError):
        drawing_probabilities([0, 5], [1.0, 0.0])


def test_what_is_left_falls_with_every_draw(journal):
    assert journal.remaining()[0].tolist() == [6, 4]
    assert journal.remaining()[-1].tolist() == [3, 2]
    at = np.arange(journal.n_draws), journal.stratum
    assert journal.probabilities()[at] == pytest.approx(journal.q)
