from pathlib import Path

import numpy as np
import pytest

from tallystick.dynamic import AnalyseQuestion, SimulateQuestion, TheoryQuestion
from tallystick.dynamic.question import numbers_of
from tallystick.errors import InputError


def test_numbers_come_as_text_with_commas_as_one_number_or_as_a_sequence():
    assert numbers_of("1, 2.5", "--x") == [1.0, 2.5]
    assert numbers_of(0.5, "--x") == [0.5]
    assert numbers_of(np.array([1, 2]), "--x") == [1.0, 2.0]
    with pytest.raises(InputError, match="--x wants numbers with commas, got '1,x'"):
        numbers_of("1,x", "--x")


def test_a_chain_is_names_with_commas():
    assert AnalyseQuestion(chain="a, b").chain == ("a", "b")
    assert AnalyseQuestion(chain=("a,b", "c")).chain == ("a", "b", "c")


def test_prices_are_gathered():
    prices = SimulateQuestion(price=2, cleaning_price=3, value=4).prices
    assert (prices.round, prices.cleaning, prices.value) == (2, 3, 4)


def test_what_cannot_be_asked_is_refused_by_name():
    with pytest.raises(InputError, match="rounds must be at least 1, got 0"):
        TheoryQuestion(rounds=0)
    with pytest.raises(InputError, match=r"learner must be one of .*did you mean 'random'"):
        SimulateQuestion(learner="randon")
    with pytest.raises(InputError, match="mixing must be one of flat, nested"):
        TheoryQuestion(mixing="deep")
    assert SimulateQuestion(draw=Path("p.svg")).draw == Path("p.svg")
