import pytest

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks import path_bound
from tallystick.verbs.dynamic.theory import worst_by_round


def test_seven_rounds_are_far_below_the_closed_form():
    worst = worst_by_round(0.1, 7)
    assert worst[2] == pytest.approx(0.05)
    assert worst[6] < 0.09 < path_bound(0.1, 7)
    assert all(ours <= path_bound(0.1, t) for t, ours in enumerate(worst, start=1))


def test_a_path_that_nobody_runs_is_refused():
    for rounds in (0, 201):
        with pytest.raises(InputError, match="rounds must be from 1 to 200"):
            worst_by_round(0.1, rounds)
