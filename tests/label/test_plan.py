"""What labels would bring, before any is bought."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tallystick.data import read
from tallystick.errors import InputError
from tallystick.label.plan import plan
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
