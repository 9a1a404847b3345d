"""What labels would bring, before any is bought."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, log
from types import SimpleNamespace

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.verbs.label.plan import _sign_plan, plan
from tests.label.conftest import JUDGES


def test_good_votes_save_labels_and_the_curve_falls(table):
    with read(str(table), judges=JUDGES) as data:
        found = plan(data, ("judge", "prevalence"))
    assert [one.of for one in found.plans] == [*JUDGES, "pass"]
    for one in found.plans:
        assert one.labels < one.labels_alone
        assert one.labels <= one.anytime_labels
        widths = [width for _, width, _ in one.curve]
        assert widths[0] > 0.05 >= widths[-1]
        assert sum(b > a + 1e-9 for a, b in pairwise(widths)) < 5
    assert found.figures()[0].kind == "curve"
    found.to_dict()


def test_a_pair_is_planned_on_its_disagreements(table):
    with read(str(table), models=("gpt", "llama")) as data:
        [one] = plan(data, ("compare",)).plans
    assert one.target is None
    assert one.items < 300


def test_one_question_that_does_not_fit_is_an_error_and_several_are_notes(table):
    with read(str(table), judges=JUDGES) as data:
        with pytest.raises(InputError, match="prediction"):
            plan(data, ("bound",))
        found = plan(data, ("bound", "judge"))
        assert any(note.startswith("bound is left out") for note in found.notes)
        assert plan(data, ("bound", "compare")).decision == "unknowable"


def test_the_labels_of_a_sign_follow_from_the_spread_of_its_strata():
    """Of a difference between -1 and 1, guessed .5 in each of 400 items: p = .75, lead .5."""
    measure = SimpleNamespace(name="a - b", bounds=(-1.0, 1.0), guess=np.array([0.5, 0.5]))
    strata = SimpleNamespace(sizes=np.array([100, 300]))
    one = _sign_plan("compare", SimpleNamespace(measures=[measure], strata=strata), 0.05)
    growth = 0.5 * 0.5**2 / (0.75 * 0.25 * 4 + 0.5**2)
    assert one.labels == ceil(log(2 / 0.05) / growth)
    alone = 0.5 * 0.5**2 / (0.25 * 4 + 0.5**2)
    assert one.labels_alone == ceil(log(2 / 0.05) / alone)
