import pytest

from tallystick.dynamic import envelope
from tallystick.dynamic.envelope import worst_by_round
from tallystick.errors import InputError


def test_the_cases_are_ordered_from_the_floor_to_the_worst():
    ahead = envelope(0.1, rounds=7, rho=0.7, rng=0, size=400, rollouts=60)
    for t in (4, 6):  # at three rounds shared difficulty still helps: the benchmark weighs it up at once
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
