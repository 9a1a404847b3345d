from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tallystick.errors import BudgetError, InputError
from tallystick.sampling.draws import DrawJournal, drawing_probabilities


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


def test_records_and_arrays_are_the_same_journal(journal):
    again = DrawJournal.of([6, 4], list(journal.draws()), journal.spreads)
    assert (again.item == journal.item).all()
    assert (again.probabilities() == journal.probabilities()).all()
    assert journal.remaining()[0].tolist() == [6, 4]
    assert journal.remaining()[-1].tolist() == [3, 2]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"q": 0.123}, "probability"),
        ({"item": 0}, "twice"),
        ({"t": 7}, "numbered"),
        ({"batch": 5}, "batches"),
        ({"stratum": 9}, "strata"),
    ],
)
def test_a_changed_journal_is_refused(journal, change, match):
    draws = list(journal.draws())
    draws[4] = replace(draws[4], **change)
    with pytest.raises((InputError, IndexError), match=match):
        DrawJournal.of([6, 4], draws, journal.spreads)
