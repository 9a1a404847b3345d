"""What can be asked, and what is refused before any work."""

import pytest

from tallystick.errors import FileError, InputError
from tallystick.verbs.score import ScoreQuestion


def test_a_scale_runs_upwards():
    with pytest.raises(InputError, match="LO < HI"):
        ScoreQuestion(scale=(5.0, 1.0))


def test_one_gate_may_be_given_as_text():
    assert ScoreQuestion(gates="a >= b").gates == ("a >= b",)


def test_an_unknown_draw_is_refused_with_the_nearest_word():
    with pytest.raises(InputError, match="did you mean 'random'"):
        ScoreQuestion(label_draw="randm")


def test_a_mix_is_divided_by_its_sum():
    assert ScoreQuestion(target_mix={"en": 3, "de": 1}).mix() == {"en": 0.75, "de": 0.25}


def test_a_mix_may_come_from_a_file_with_a_heading(tmp_path):
    path = tmp_path / "mix.csv"
    path.write_text("topic,share\nen,60%\nde,40%\n")
    assert ScoreQuestion(target_mix=path).mix() == {"en": 0.6, "de": 0.4}


@pytest.mark.parametrize(
    ("text", "message"),
    [("en,1\nde,x\n", "line 2"), ("en,1\nen,2\n", "line 2"), ("en,1,2\n", "line 1")],
)
def test_a_broken_mix_names_its_line(tmp_path, text, message):
    path = tmp_path / "mix.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        ScoreQuestion(target_mix=path).mix()


@pytest.mark.parametrize("mix", [{}, {"a": -1.0}, {"a": 0.0}])
def test_a_mix_without_mass_is_refused(mix):
    with pytest.raises(InputError, match="target_mix"):
        ScoreQuestion(target_mix=mix).mix()
