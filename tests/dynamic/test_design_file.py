import pytest

from tallystick.dynamic import design_text, hierarchical, load_design, parse_design, path
from tallystick.errors import FileError, InputError

TWO = """
name = "two"
output = "best"

[steps.h1]
train = "initial"
[steps.e1]
collect = "h1"
[steps.D2]
mix = ["initial", "e1"]
weights = [0.7, 0.3]
[steps.h2]
train = "D2"
[steps.best]
vote = ["h1", "h2"]
weights = [2.0, 1.0]
"""


@pytest.mark.parametrize(
    "design", [path(4), path(3, mixture=0.4, majority=[1, 2, 3]), hierarchical(mixing="flat")]
)
def test_a_design_survives_the_round_trip_through_its_file(design, tmp_path):
    file = tmp_path / "design.toml"
    file.write_text(design_text(design), encoding="utf-8")
    again = load_design(file)
    assert again == design
    assert again.order == design.order


def test_a_readable_file_gives_the_design():
    design = parse_design(TWO)
    assert design.trained == ("h1", "h2")
    assert design.steps["D2"].shares == (0.7, 0.3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        (
            TWO.replace('train = "D2"', 'train = "D2"\nvote = ["h1"]'),
            "steps.h2: a step does exactly one of",
        ),
        (
            TWO.replace('collect = "h1"', 'collect = "h1"\nweights = [1.0]'),
            "steps.e1: collect has no weights",
        ),
        (TWO.replace("output", "outcome"), "output: Field required"),
        (TWO.replace("[0.7, 0.3]", "[0.7, 0.4]"), "step 'D2': weights must sum to one"),
        (TWO.replace('train = "initial"', 'train = "D2"'), "has a cycle"),
    ],
)
def test_a_bad_file_is_refused_by_the_place_in_it(text, message):
    with pytest.raises(InputError, match=message):
        parse_design(text)


def test_an_absent_file_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="cannot read the design"):
        load_design(tmp_path / "absent.toml")
