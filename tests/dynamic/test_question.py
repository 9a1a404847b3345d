from pathlib import Path

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.question import (
    AnalyseQuestion,
    SimulateQuestion,
    TheoryQuestion,
    numbers_of,
)


def test_numbers_come_as_text_with_commas_as_one_number_or_as_a_sequence():
    assert numbers_of("1, 2.5", "--x") == [1.0, 2.5]
    assert numbers_of(0.5, "--x") == [0.5]
    assert numbers_of(np.array([1, 2]), "--x") == [1.0, 2.0]
    with pytest.raises(InputError, match="--x wants numbers with commas, got '1,x'"):
        numbers_of("1,x", "--x")


def test_what_cannot_be_asked_is_refused_by_name():
    with pytest.raises(InputError, match="rounds must be at least 1, got 0"):
        TheoryQuestion(rounds=0)
    with pytest.raises(InputError, match=r"learner must be one of .*did you mean 'random'"):
        SimulateQuestion(learner="randon")
    with pytest.raises(InputError, match="mixing must be one of flat, nested"):
        TheoryQuestion(mixing="deep")
    with pytest.raises(InputError, match="pays must be at most 1"):
        AnalyseQuestion(pays=2.0)
    assert SimulateQuestion(draw=Path("p.svg")).draw == Path("p.svg")


def test_what_would_take_hours_is_refused_with_its_limit():
    with pytest.raises(InputError, match="rounds must be at most 200"):
        SimulateQuestion(rounds=10_000)
    with pytest.raises(InputError, match="items must be at most 100000"):
        SimulateQuestion(items=10**7)
    with pytest.raises(InputError, match=r"trains 3,486,784,401 models.*--width or --depth"):
        SimulateQuestion(design="hierarchical", depth=20)
    SimulateQuestion(design="hierarchical", depth=5)
    with pytest.raises(InputError, match=r"at most 200 --rollouts"):
        SimulateQuestion(rounds=100, items=100_000).check_work(100, 100_000)
    SimulateQuestion().check_work(5, 800)
