import pytest

from tallystick.errors import FileError, InputError
from tallystick.table import conclude
from tallystick.verbs.dynamic import SIMULATE, Correlated, Population, path, simulate
from tallystick.verbs.dynamic.question import SimulateQuestion

FEW = {"rollouts": 20, "items": 100, "rounds": 3}


def test_options_describe_what_the_function_takes():
    asked = SimulateQuestion(**FEW, learner="correlated", epsilon=".2", rho=0.4, gamma=0.1)
    same = simulate(path(3), Correlated(0.2, 0.4, 0.1), Population.uniform(100), rollouts=20, rng=0)
    assert conclude(SIMULATE, None, asked) == same


def test_python_takes_designs_and_numbers_where_the_command_line_takes_text():
    text = SimulateQuestion(**FEW, epsilon=".3,.1", majority="1,2,3", initial=".5")
    rich = SimulateQuestion(**FEW, epsilon=[0.3, 0.1], majority=[1, 2, 3], initial=0.5)
    assert conclude(SIMULATE, None, text) == conclude(SIMULATE, None, rich)
    own = SimulateQuestion(**FEW, design=path(2))
    assert len(conclude(SIMULATE, None, own).rounds) == 2


def test_the_initial_distribution_may_come_from_a_file(tmp_path):
    (tmp_path / "start.txt").write_text("\n".join(["0.5", *["0.01"] * 50]), encoding="utf-8")
    asked = SimulateQuestion(rollouts=5, rounds=2, initial=str(tmp_path / "start.txt"))
    assert conclude(SIMULATE, None, asked).n_items == 51
    (tmp_path / "start.txt").write_text("a\n", encoding="utf-8")
    with pytest.raises(InputError, match="needs one number per line"):
        conclude(SIMULATE, None, asked)


def test_a_picture_that_cannot_be_written_is_a_file_error(tmp_path):
    asked = SimulateQuestion(**FEW, draw=tmp_path / "absent" / "p.svg")
    with pytest.raises(FileError, match="cannot be written"):
        conclude(SIMULATE, None, asked)
