"""The vectors were computed apart from this code, by the formulas of docs/theory/shift.md."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.sampling import Strata
from tallystick.verbs.shift.design import minus, sum_bounds
from tallystick.verbs.shift.grades import (
    GradedAnswers,
    grade_moves,
    grade_noise_share,
    graded_change,
)

OLD = np.repeat([0.5, 1.0], [60, 40])
STRATA = Strata(np.repeat([0, 1], [60, 40]))
ASKED = np.r_[0:30, 60:80]
CHANGE = np.r_[[0.25] * 3, [-0.25] * 2, -0.5, np.zeros(24), [-0.25] * 4, -1, np.zeros(15)]


def answers(change=CHANGE, asked=ASKED, old=OLD, blind=None):
    return GradedAnswers(asked=asked, grade=old[asked] + change, blind=blind)


def ends(bounds):
    return [round(float(x), 4) for x in (bounds.value, bounds.low, bounds.high)]


def repeated(reverted):
    moved = np.flatnonzero(CHANGE)
    old, first = OLD[ASKED][moved], (OLD[ASKED] + CHANGE)[moved]
    second = first.copy()
    second[reverted] = old[reverted]
    return old, first, second


def test_the_printed_noise_share_comes_out():
    # one +.25 and one -.25 reverted
    assert round(grade_noise_share(*repeated([0, 3])), 4) == 0.2098


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.2098, [-0.0450, -0.1118, 0.0179]),
        (0, [-0.0450, -0.1089, 0.0149]),
        (1, [-0.0450, -0.1216, 0.0282]),
    ],
)
def test_the_printed_vector_comes_out(share, expected):
    assert ends(graded_change(STRATA, OLD, answers(), share=share)) == expected


def test_a_third_grade_counts_half_of_a_reverted_one():
    def share(second):
        return grade_noise_share([0.0] * 9, [0.5] * 9, [second] + [0.5] * 8)

    # g1 - g2 = ± .5 either way; back to the old grade counts twice
    d2, q = 9 * 0.25, 0.25
    assert share(0.0) == pytest.approx(2 * (0.25 + q / 2) / (d2 + q))
    assert share(1.0) == pytest.approx(2 * (0.125 + q / 2) / (d2 + q))


def test_weights_move_the_share_to_the_strata_they_stand_for():
    old, first, second = repeated([0, 3])
    heavy = np.where(np.arange(11) == 10, 20.0, 1.0)  # the flip by a whole grade, confirmed
    assert grade_noise_share(old, first, second, weight=heavy) < grade_noise_share(
        old, first, second
    )
    same = grade_noise_share(old, first, second, weight=np.full(11, 7.0))
    assert same == pytest.approx(grade_noise_share(old, first, second))


def test_without_a_repeat_all_change_may_be_noise():
    assert grade_noise_share([], [], []) == 1
    with pytest.raises(InputError, match="equally long"):
        grade_noise_share([0], [1], [1, 1])


def test_right_and_wrong_as_grades_come_close_to_the_interval_of_labels():
    old = np.repeat([1.0, 0.0], [800, 200])
    strata = Strata(np.repeat([0, 1], [800, 200]))
    asked = np.r_[0:400, 800:900]
    change = np.zeros(500)
    change[:30], change[400:422] = -1, 1
    graded = graded_change(strata, old, answers(change, asked, old), share=0)
    moves, sample = grade_moves(strata, old, answers(change, asked, old))
    plain = minus(
        sum_bounds(moves.gain, sample, alpha=0.05, possible=moves.can_gain),
        sum_bounds(moves.loss, sample, alpha=0.05, possible=moves.can_lose),
        sample,
    )
    # X² = X, so only the prior of the second moment differs: f̃ itself.
    assert (graded.low, graded.high) == pytest.approx((plain.low, plain.high), abs=2e-5)


def test_the_blind_gap_stretches_the_interval_by_half():
    blind = np.ones(50, bool)
    blind[:3] = False  # the three gains came later, by choice
    plain = graded_change(STRATA, OLD, answers(), share=0)
    wide = graded_change(STRATA, OLD, answers(blind=blind), share=0)
    gap = 0.6 * ((-1.0 / 27) - (-0.25 / 30))
    assert wide.value == plain.value
    assert wide.low - plain.low == pytest.approx(gap / 2)
    assert wide.high == pytest.approx(plain.high)


def test_no_change_at_all_leaves_a_small_doubt():
    found = graded_change(STRATA, OLD, answers(np.zeros(50)), share=0)
    assert found.value == 0
    assert -0.2 < found.low < -0.02 < 0.02 < found.high < 0.2


def test_grades_that_cannot_rise_give_no_gains():
    old = np.ones(40)
    strata = Strata(np.zeros(40, int))
    asked = np.arange(20)
    found = graded_change(strata, old, answers(np.zeros(20), asked, old), share=0)
    assert found.high == 0
    assert found.low < 0


@pytest.mark.parametrize(
    ("old", "change", "named"),
    [(OLD * 5, CHANGE, "old must hold 100 grades"), (OLD, CHANGE + 1, "grade must hold 50 grades")],
)
def test_grades_out_of_range_are_refused(old, change, named):
    with pytest.raises(InputError, match=named):
        graded_change(STRATA, old, answers(change), share=0)


def test_a_stratum_without_an_answer_is_refused():
    with pytest.raises(InputError, match="stratum 1 has no answer"):
        graded_change(STRATA, OLD, answers(CHANGE[:30], ASKED[:30]), share=0)
