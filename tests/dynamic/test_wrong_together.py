import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.panel import wrong_together


def test_a_clone_has_the_largest_excess():
    rng = np.random.default_rng(0)
    errors = rng.random((4, 400)) < 0.2
    errors[3] = errors[1]
    found = wrong_together(errors, models=["a", "b", "c", "d"])
    first = found.pairs[0]
    assert {first.first, first.second} == {"b", "d"}
    assert first.both == pytest.approx(errors[1].mean())
    assert first.independent == pytest.approx(errors[1].mean() ** 2)
    assert first.both in first.interval
    assert len(found.pairs) == 6
    assert found.pairs[1].excess < 0.1 < first.excess


def test_the_edge_of_an_odd_panel_is_one_vote_wide():
    errors = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)
    found = wrong_together(errors, items=["w", "x", "y", "z"])
    assert found.hopeless == ("w",)
    assert found.repairable == ("x",)
    assert found.fragile == ("y",)
    assert found.everyone == 0.25


def test_the_edge_of_an_even_panel_is_its_ties():
    errors = np.array([[1, 1, 0], [1, 0, 0]], dtype=bool)
    found = wrong_together(errors)
    assert found.repairable == found.fragile == ("2",)


@pytest.mark.parametrize(
    "errors", [np.zeros((1, 5), bool), np.zeros((3, 0), bool), np.zeros(4, bool)]
)
def test_fewer_than_two_models_or_no_items_are_refused(errors):
    with pytest.raises(InputError, match="models, items"):
        wrong_together(errors)


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="models: 2 names are needed, got 1"):
        wrong_together(np.zeros((2, 3), bool), models=["a"])
