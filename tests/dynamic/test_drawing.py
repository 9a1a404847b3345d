import xml.etree.ElementTree as ElementTree

from tallystick.dynamic import Design, Step, draw_design, hierarchical, path

SVG = "{http://www.w3.org/2000/svg}"


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
