import numpy as np
import pytest

from tallystick.report import plot
from tallystick.errors import InputError
from tallystick.sampling import Strata
from tallystick.verbs.shift import Answers, assess, fleet


@pytest.fixture
def results(items, rows):
    new = np.array([items.code(row["new"]) for row in rows])
    asked = np.arange(len(items))
    return {
        (api, "digits"): assess(items, Strata(items.truth), Answers.of(asked, answers), alpha=0.02)
        for api, answers in (("old", items.old), ("new", new))
    }


def test_a_fleet_is_one_signed_matrix(results):
    view = fleet(results)
    assert view.verdict.startswith("1 of 2 changed in accuracy: new on digits −")
    [figure] = view.figures()
    assert figure.kind == "matrix"
    assert figure.columns["api"] == ["old", "new"]
    assert figure.columns["accuracy change"][0] == 0
    assert not view.warnings
    assert [row["data"] for row in view.rows()] == ["digits", "digits"]
    view.to_dict()
    assert figure.columns["text"][1] in plot(view).svg()


def test_cells_at_a_looser_level_are_noted(results):
    assert fleet(results, alpha=0.03).warnings


def test_an_empty_fleet_is_refused():
    with pytest.raises(InputError):
        fleet({})
