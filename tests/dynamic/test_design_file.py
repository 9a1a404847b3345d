import xml.etree.ElementTree as ElementTree

import pytest

from tallystick.errors import FileError, InputError
from tallystick.papers.dynamic_benchmarks.designs import Design, Step
from tallystick.verbs.dynamic import hierarchical, path
from tallystick.verbs.dynamic.design_file import (
    draw_design,
    load_design,
    parse_design,
)

SVG = "{http://www.w3.org/2000/svg}"

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


def test_a_readable_file_gives_the_design(tmp_path):
    file = tmp_path / "design.toml"
    file.write_text(TWO, encoding="utf-8")
    design = load_design(file)
    assert design == parse_design(TWO)
    assert design.trained == ("h1", "h2")
    assert design.steps["D2"].shares == (0.7, 0.3)
    as_built = TWO.replace('"two"', '"path of 2 rounds"').replace("best", "majority")
    assert parse_design(as_built.replace("0.7, 0.3", "0.5, 0.5")) == path(2, majority=[2, 1])


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
        (
            TWO.replace("output", "outcome"),
            "outcome is not known: a design holds name, output, steps",
        ),
        (TWO.replace('output = "best"', ""), "output must be a text, got None"),
        (TWO.replace("[2.0, 1.0]", '["two", 1.0]'), "steps.best.weights must be a list of numbers"),
        (TWO.replace('["h1", "h2"]', '"h1"'), "steps.best.vote must be a list of names, got 'h1'"),
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


def test_figure_1_shows_every_operation_of_a_path():
    image = ElementTree.fromstring(draw_design(path(3)))
    signs = [text.text for text in image.iter(f"{SVG}text")]
    assert [signs.count(sign) for sign in ("A", "H", "⊕", "M", "D₀")] == [3, 2, 2, 1, 1]


def test_figure_2_shows_three_votes_and_the_vote_of_votes():
    image = ElementTree.fromstring(draw_design(hierarchical()))
    assert [text.text for text in image.iter(f"{SVG}text")].count("M") == 4
    assert len(list(image.iter(f"{SVG}circle"))) == 1 + len(hierarchical().steps)


def test_edges_are_the_inputs_of_the_steps():
    design = hierarchical()
    drawn = [
        p
        for p in ElementTree.fromstring(draw_design(design)).iter(f"{SVG}path")
        if p.get("marker-end")
    ]
    assert len(drawn) == sum(len(step.inputs) for step in design.steps.values())


def test_names_are_escaped():
    design = Design("<b>", {"<h>": Step("train", ("initial",))}, output="<h>")
    assert "<h>" not in draw_design(design).replace("<h", "", 0).split("</title>")[1]
    ElementTree.fromstring(draw_design(design))
