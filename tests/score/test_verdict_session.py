"""The sentences about a session that asked who is better: they give it as the reason."""

from dataclasses import replace

import numpy as np
import pytest

from tallystick.results import Sentences
from tallystick.sampling.duels import NEITHER, SessionOrder
from tallystick.verbs.score import evaluate
from tallystick.verbs.score.result import Units
from tallystick.verbs.score.sessions import needed_draws, with_session
from tests.score.tables import ROLES, drawn

ORDER = SessionOrder(
    names=("a", "b", "c"),
    winner="b",
    certain=False,
    live=np.array([False, True, True]),
    p_values=np.ones((3, 3)),
    labelled=52,
    left=148,
    missing=None,
    epsilon=0.02,
)
SAID = Sentences(answer="b leads.", open="Not settled: much.", next="Next: more.")


@pytest.fixture(scope="module")
def rows():
    return evaluate(drawn(), **ROLES).systems


def test_the_best_within_two_points_is_named_with_the_session_as_reason(rows):
    said = with_session(SAID, ORDER, rows, (), Units(None), 0.05)
    assert said.answer.startswith("b is the best of three systems, or within 2 points of the best:")
    assert said.answer.endswith(
        "The labelling session settled it after 52 items (95%, whenever you stop)."
    )
    assert (said.open, said.next) == ("", "")


def test_what_no_label_can_change_is_certain(rows):
    sure = replace(ORDER, certain=True, labelled=1)
    said = with_session(SAID, sure, rows, (), Units(None), 0.05)
    assert said.answer.endswith("settled it after 1 item (certain, on these items).")


def test_a_tie_names_nobody(rows):
    tie = replace(ORDER, names=("a", "b"), winner=NEITHER)
    said = with_session(SAID, tie, rows, (), Units(None), 0.05)
    assert said.answer.startswith("Neither a nor b is better on these items.")


def test_an_open_session_goes_on(rows):
    going = replace(ORDER, winner=None, missing=60)
    said = with_session(SAID, going, rows, (), Units(None), 0.05)
    assert said.answer == "b leads."
    assert said.next == "Next: go on with the labelling session: at most about 60 more items."
    assert needed_draws(going).count == 60
    far = replace(going, missing=900)
    assert "only 148 of these are left" in str(needed_draws(far))
