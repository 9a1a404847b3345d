"""How many labels precision, recall and F1 would need."""

from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.stats.adverse_forecast import share_outlook
from tallystick.stats.adverse_ratios import f1_outlook, precision_outlook, recall_outlook

DIGITS = 5.01e-5
PILOT = [200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2]


@pytest.mark.parametrize(
    ("outlook", "variance", "pull", "width"),
    [(recall_outlook, 0.3318, 1.2417, 0.1490), (f1_outlook, 0.2609, 1.0554, 0.1319)],
)
def test_the_vectors_of_the_page_are_reached(outlook, variance, pull, width):
    found = outlook(*PILOT)
    assert found.variance == pytest.approx(variance, abs=DIGITS)
    assert found.pull == pytest.approx(pull, abs=DIGITS)
    assert found.width(200) == pytest.approx(width, abs=DIGITS)


def test_precision_is_a_share_among_the_predicted_rows():
    inside = share_outlook([200, 100], [20, 10], [18, 5])
    found = precision_outlook(*PILOT)
    assert found.width(200) == pytest.approx(inside.width(60))
    assert found.most == 1000


def test_every_answer_stays_within_the_table():
    for outlook in (precision_outlook, recall_outlook, f1_outlook):
        found = outlook(*PILOT).needed(0.01)
        assert found.low <= found.high == 1000


def test_without_a_label_of_the_class_recall_cannot_be_forecast():
    with pytest.raises(InputError, match="nothing can be forecast"):
        recall_outlook([200, 100, 60, 640], [20, 10, 6, 64], [0, 0, 0, 0])
