"""About how many labels a question takes, before any is bought."""

from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.table import read
from tallystick.verbs.label.plan import plan
from tests.label.conftest import JUDGES, fill


def test_the_forecast_is_near_what_a_session_needs(table, start, truth):
    with read(str(table), judges=JUDGES) as data:
        [one] = plan(data, ("prevalence",)).plans
    with start("prevalence") as work:
        fill(work, truth)
        needed = work.result().asked
    assert one.low <= needed <= one.high


def test_models_do_not_stand_in_for_the_truth(table):
    with read(str(table), models=("gpt", "llama")) as data:
        [one] = plan(data, ("compare",)).plans
    assert one.target is None
    assert one.items < 300
    assert isinstance(one.labels, Unknown)


def test_one_question_that_does_not_fit_is_an_error_and_several_are_notes(table):
    with read(str(table), judges=JUDGES) as data:
        with pytest.raises(InputError, match="prediction"):
            plan(data, ("bound",))
        found = plan(data, ("bound", "judge"))
        assert any(note.startswith("bound is left out") for note in found.notes)
        assert plan(data, ("bound", "compare")).decision == "unknowable"
