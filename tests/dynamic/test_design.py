import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic import hierarchical, path
from tallystick.verbs.dynamic.design import Design, Step, as_path


def test_a_cycle_is_refused_and_drawn():
    steps = {
        "h": Step("train", ("D",)),
        "e": Step("collect", ("h",)),
        "D": Step("mix", ("initial", "e")),
    }
    with pytest.raises(
        InputError, match=r"has a cycle: (D -> h -> e -> D|h -> e -> D -> h|e -> D -> h -> e);"
    ):
        Design("loop", steps, output="h")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({"h": Step("train", ("nowhere",))}, "takes 'nowhere', which is no step"),
        (
            {"h": Step("train", ("initial",)), "g": Step("train", ("h",))},
            "train takes distributions, and 'h' is not one",
        ),
        ({"h": Step("collect", ("initial",))}, "collect takes models, and 'initial' is not one"),
        ({"h": Step("train", ("initial", "initial"))}, "train takes one input"),
        ({"h": Step("train", ("initial",)), "m": Step("vote", ())}, "vote needs an input"),
        (
            {"h": Step("train", ("D",)), "D": Step("mix", ("initial",), (0.9,))},
            r"step 'D': weights must sum to one, got a sum of 0\.9",
        ),
        ({"h": Step("train", ("initial",)), "m": Step("vote", ("h",), (0.0,))}, "not all zero"),
        (
            {"h": Step("train", ("initial",)), "m": Step("vote", ("h",), (1.0, 1.0))},
            "as many weights",
        ),
        ({"initial": Step("train", ("initial",))}, "no step may take that name"),
    ],
)
def test_a_step_that_makes_no_sense_is_refused_by_name(steps, message):
    with pytest.raises(InputError, match=message):
        Design("bad", steps, output="h")


def test_the_output_has_to_be_a_model():
    with pytest.raises(InputError, match="output 'e' is not one of its models"):
        Design("bad", {"h": Step("train", ("initial",)), "e": Step("collect", ("h",))}, output="e")


def test_a_path_mixes_the_initial_distribution_with_all_errors_so_far():
    design = path(4)
    assert design.steps["D4"].inputs == ("initial", "e1", "e2", "e3")
    assert design.steps["D4"].shares == (0.25,) * 4
    assert design.rounds == 4


def test_a_number_as_mixture_is_the_weight_of_the_initial_distribution():
    assert path(3, mixture=0.5).steps["D3"].shares == (0.5, 0.25, 0.25)


@pytest.mark.parametrize(("depth", "width"), [(1, 3), (2, 3), (2, 5), (3, 2), (3, 3)])
@pytest.mark.parametrize("mixing", ["flat", "nested"])
def test_a_hierarchy_costs_width_to_the_depth_rounds(depth, width, mixing):
    design = hierarchical(depth=depth, width=width, mixing=mixing)
    assert design.rounds == width**depth
    assert sum(step.operation == "vote" for step in design.steps.values()) == sum(
        width**k for k in range(depth)
    )


def test_flat_mixing_weighs_every_part_alike_and_nested_by_layer():
    flat, nested = hierarchical(mixing="flat"), hierarchical(mixing="nested")
    assert flat.steps["D9"].inputs == ("initial", "e.g1", "e.g2", "e.h7", "e.h8")
    assert nested.steps["D9"].inputs == ("D7", "e.h7", "e.h8")
    assert nested.steps["D7"].inputs == ("initial", "e.g1", "e.g2")


def test_a_path_is_recognised_by_its_shape_whatever_its_names():
    steps = {
        "a": Step("train", ("initial",)),
        "wrong": Step("collect", ("a",)),
        "data": Step("mix", ("initial", "wrong"), (0.2, 0.8)),
        "b": Step("train", ("data",)),
        "m": Step("vote", ("a", "b"), (1.0, 3.0)),
    }
    table, votes = as_path(Design("mine", steps, output="m"))
    assert [row.tolist() for row in table] == [[1.0], [0.2, 0.8]]
    assert votes.tolist() == [1.0, 3.0]
    assert as_path(Design("mine", steps, output="b")) is None


def test_mixture_tables_are_checked_row_by_row():
    with pytest.raises(InputError, match="round 2, mixes 2 distributions, got 3 weights"):
        path(2, mixture=[[1.0], [0.2, 0.3, 0.5]])
    with pytest.raises(InputError, match="one row a round, 3 in all, got 2"):
        path(3, mixture=[[1.0], [0.5, 0.5]])
    with pytest.raises(InputError, match="rounds must be at least 1"):
        path(0)
    assert np.isclose(sum(path(3, mixture=0.7).steps["D3"].shares), 1)
