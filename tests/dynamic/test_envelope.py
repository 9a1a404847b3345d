import pytest

from tallystick.dynamic import worst_case
from tallystick.dynamic.envelope import envelope, worst_by_round
from tallystick.errors import InputError


def test_the_cases_are_ordered_from_the_floor_to_the_worst():
    ahead = envelope(0.1, rounds=7, rho=0.7, rng=0, size=400, rollouts=60)
    # at three rounds shared difficulty still helps: the benchmark weighs it up at once
    for t in (4, 6):
        assert ahead.random[t] < ahead.fitted[t] < ahead.worst[t]
        assert ahead.floor[t] < ahead.worst[t]
        assert ahead.fitted[t] in ahead.fitted_range[t]
    (figure,) = ahead.figures()
    assert figure.kind == "rounds"
    assert len(figure.columns["risk"]) == 14


def test_the_worst_case_by_round_is_the_sharp_one_where_it_is_known():
    worst = worst_by_round(0.1, 6)
    assert worst[0] == pytest.approx(0.1)
    assert worst[2] == pytest.approx(0.05)
    assert 0.0556 < worst[4] < 0.0595
    with pytest.raises(InputError):
        worst_by_round(0.1, 0)


@pytest.mark.parametrize("epsilon", [0.3, 0.405, 0.4083333333333334, 0.495, 0.5])
def test_the_worst_case_by_round_is_bounded_where_no_bad_pattern_was_found(epsilon):
    worst = worst_by_round(epsilon, 5)
    assert worst[0] == pytest.approx(epsilon)
    assert all(epsilon <= each <= 1 for each in worst)
    assert worst_case(epsilon, 3, gap=0.02, nodes=60, search=False).gap >= 0
